// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/kind"
)

// PathKeeper is implemented by objects with a status that records which members of documents the operator wrote.
type PathKeeper interface {
	// ManagedPaths returns the recorded paths, and RecordPaths replaces them.
	ManagedPaths() []string
	RecordPaths(paths []string)
}

// maxPaths bounds a record of paths, in bytes.
const maxPaths = 2 << 10

// writtenPaths are the paths that the status or the intent records.
func writtenPaths(obj v1alpha1.Resource, i *Intent) []string {
	keeper, ok := obj.(PathKeeper)
	switch {
	case !ok:
		return nil
	case i == nil:
		return keeper.ManagedPaths()
	default:
		return union(keeper.ManagedPaths(), i.Paths)
	}
}

// pathsToRecord returns the paths that the intent must record before a plan runs, by the rules of tagsToRecord.
func (w Written) pathsToRecord(recorded []string, p Plan) []string {
	switch {
	case p.Cause == InSync:
		return slices.DeleteFunc(slices.Clone(recorded), func(path string) bool { return !slices.Contains(p.Written.Paths, path) })
	case p.Writes():
		return boundPaths(union(recorded,
			slices.DeleteFunc(slices.Clone(p.Written.Paths), func(path string) bool { return slices.Contains(w.Paths, path) })))
	default:
		return recorded
	}
}

// documentsOf returns the documents of a state by the names of their fields.
func documentsOf(state any) map[string]*kind.Document {
	out := map[string]*kind.Document{}
	v := reflect.ValueOf(state)
	for i := range v.NumField() {
		if f := v.Type().Field(i); f.IsExported() {
			if d, ok := v.Field(i).Interface().(*kind.Document); ok && d != nil {
				out[f.Name] = d
			}
		}
	}
	return out
}

// pathsOf returns the paths of the members that the documents of a state declare, bounded. A path is a JSON pointer that begins with the
// field of the state. Lists, and objects without members, end it.
func pathsOf(want any) []string {
	var out []string
	for field, d := range documentsOf(want) {
		for _, at := range declaredIn(nil, d.Value, d) {
			out = append(out, pointerTo(append([]string{field}, at...)))
		}
	}
	slices.Sort(out)
	return boundPaths(out)
}

func declaredIn(at []string, object map[string]any, d *kind.Document) [][]string {
	var out [][]string
	for name, value := range object {
		below := append(slices.Clone(at), name)
		members, _ := value.(map[string]any)
		switch {
		case value == nil || d.RuleAt(below).Skip:
		case len(members) > 0:
			out = append(out, declaredIn(below, members, d)...)
		default:
			out = append(out, below)
		}
	}
	return out
}

// boundPaths returns sorted paths within maxPaths. The deepest are replaced by the paths of their parents: then the removal of one of
// several members of an object from the spec goes unnoticed, but not the removal of the object.
func boundPaths(paths []string) []string {
	for sizeOf(paths) > maxPaths {
		deepest := 0
		for _, path := range paths {
			deepest = max(deepest, strings.Count(path, "/"))
		}
		if deepest <= 2 { // a field, and a member of its document
			return boundPaths(paths[:len(paths)-1])
		}
		for i, path := range paths {
			if strings.Count(path, "/") == deepest {
				paths = slices.Clone(paths)
				paths[i] = path[:strings.LastIndex(path, "/")]
			}
		}
		slices.Sort(paths)
		paths = slices.Compact(paths)
	}
	return paths
}

func sizeOf(paths []string) int {
	size := 0
	for _, path := range paths {
		size += len(path) + 3 // quotes and a comma
	}
	return size
}

// Names within a pointer are escaped: https://www.rfc-editor.org/rfc/rfc6901
var escapeName, unescapeName = strings.NewReplacer("~", "~0", "/", "~1"), strings.NewReplacer("~1", "/", "~0", "~")

func pointerTo(names []string) string {
	var b strings.Builder
	for _, name := range names {
		b.WriteString("/" + escapeName.Replace(name))
	}
	return b.String()
}

// dropUndeclared declares the absence of written members that are no longer declared: of the outermost object or member that the document
// does not have. It returns the paths of the differences that follow.
func dropUndeclared(want any, written []string) (dropped []string) {
	all := documentsOf(want)
	for _, pointer := range written {
		names := strings.Split(strings.TrimPrefix(pointer, "/"), "/")
		for i := range names {
			names[i] = unescapeName.Replace(names[i])
		}
		if d := all[names[0]]; d != nil && len(names) > 1 {
			d.Value = maps.Clone(d.Value)
			dropped = append(dropped, dropMember(d.Value, place{path: names[0]}, names[1:])...)
		}
	}
	return dropped
}

// readDocuments collects the members that the documents of the wanted state declare, and declares the absence of members that they no
// longer declare.
func (d *decider[CR, S]) readDocuments() {
	d.paths = pathsOf(d.want)
	if !d.o.Deleting && d.o.Policy.Management != v1alpha1.ManageObserve {
		d.dropped = dropUndeclared(d.want, d.o.Written.Paths)
	}
}

func dropMember(object map[string]any, at place, names []string) []string {
	at = at.member(names[0])
	value, declared := object[names[0]]
	if !declared {
		object[names[0]] = nil
		return []string{at.path}
	}
	if members, ok := value.(map[string]any); ok && len(names) > 1 {
		members = maps.Clone(members)
		object[names[0]] = members
		return dropMember(members, at, names[1:])
	}
	return nil
}

// isRemoved reports whether AWS carried out the removal of a member that is no longer declared. The value that AWS shows from then on is
// its own choice, such as a default.
func (d decider[CR, S]) isRemoved(c kind.Change) bool {
	return c.Gone && slices.Contains(d.dropped, c.Path) && slices.Contains(d.o.Recent.Removed, c.Path) && !d.hasUnreportedFailure()
}

// removed returns the paths with a removal that AWS acknowledged.
func (m *Memory) removed() []string {
	var out []string
	for path, w := range m.writes {
		if w.sum == sumOf(unset) {
			out = append(out, path)
		}
	}
	return out
}
