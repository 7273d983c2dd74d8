// SPDX-License-Identifier: Apache-2.0

package cloudcontrol

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/nexus-operator/nexus-operator/internal/awsschema"
	"github.com/nexus-operator/nexus-operator/internal/kind"
)

// hideWriteOnly returns a value with its write-only members as *kind.WriteOnly, which hold their JSON.
func hideWriteOnly(schema *awsschema.Type, uid string, at []string, value any) any {
	if len(at) > 0 && value != nil && schema.RuleAt(at...).WriteOnly {
		text, _ := json.Marshal(value) // it was read as JSON
		return kind.NewWriteOnly(uid, string(text))
	}
	switch value := value.(type) {
	case map[string]any:
		out := make(map[string]any, len(value))
		for name, member := range value {
			out[name] = hideWriteOnly(schema, uid, append(slices.Clone(at), name), member)
		}
		return out
	case []any:
		out := make([]any, len(value))
		for i, element := range value {
			out[i] = hideWriteOnly(schema, uid, append(slices.Clone(at), awsschema.Every), element)
		}
		return out
	default:
		return value
	}
}

// reveal returns a value with the write-only values themselves, for a request.
func reveal(value any) any {
	switch value := value.(type) {
	case *kind.WriteOnly:
		var out any
		_ = json.Unmarshal([]byte(value.Value()), &out) // hideWriteOnly wrote it
		return out
	case map[string]any:
		out := make(map[string]any, len(value))
		for name, member := range value {
			out[name] = reveal(member)
		}
		return out
	case []any:
		out := make([]any, len(value))
		for i, element := range value {
			out[i] = reveal(element)
		}
		return out
	default:
		return value
	}
}

// withoutNull returns a value without the members that are declared to be absent.
func withoutNull(value any) any {
	members, ok := value.(map[string]any)
	if !ok {
		return value
	}
	out := make(map[string]any, len(members))
	for name, member := range members {
		if member != nil {
			out[name] = withoutNull(member)
		}
	}
	return out
}

// operation is one operation of a JSON patch: https://www.rfc-editor.org/rfc/rfc6902
type operation struct {
	Op, Path string
	Value    any
}

// MarshalJSON implements json.Marshaler: false, 0 and "" are values, too.
func (o operation) MarshalJSON() ([]byte, error) {
	if o.Op == "remove" {
		return json.Marshal(map[string]any{"op": o.Op, "path": o.Path})
	}
	return json.Marshal(map[string]any{"op": o.Op, "path": o.Path, "value": o.Value})
}

// patch collects the operations that lead from what AWS shows to what is wanted.
type patch struct {
	want, have map[string]any
	at         [][]string
	operations []operation
}

// patchOf returns the patch of what differs. AWS applies it to what it shows, so that it repeats the write-only values.
func patchOf(want State, seen kind.Seen[State], diff kind.Diff) []operation {
	p := &patch{want: map[string]any{}, have: seen.State.Properties.Value}
	if want.Properties != nil {
		p.want = want.Properties.Value
	}
	for _, c := range diff {
		if members := membersOf(c.Path); len(members) > 0 {
			p.change(members, c.Gone)
		}
	}
	p.repeatWriteOnly(nil, p.want)
	if diff.Under("Tags") {
		set, remove := diff.Keys("Tags")
		all := kind.MergeTags(seen.Tags, kind.Only(want.Tags, set), remove)
		p.add("/"+escaped(want.schema.TagProperty()), want.schema.WriteTags(kind.Only(all, tagKeys(all))))
	}
	return p.operations
}

func (p *patch) add(path string, value any) {
	p.operations = append(p.operations, operation{Op: "add", Path: path, Value: value})
}

// change sets or removes one member. A member of an object that AWS does not show is set with the object.
func (p *patch) change(at []string, gone bool) {
	if gone {
		p.operations = append(p.operations, operation{Op: "remove", Path: pointerTo(at)})
		return
	}
	have, want := any(p.have), any(p.want)
	for i, name := range at {
		want = want.(map[string]any)[name]
		parent, _ := have.(map[string]any)
		shown, exists := parent[name]
		if _, isObject := shown.(map[string]any); i == len(at)-1 || !exists || !isObject {
			at = at[:i+1]
			break
		}
		have = shown
	}
	if slices.ContainsFunc(p.at, func(other []string) bool { return slices.Equal(other, at) }) {
		return
	}
	p.at = append(p.at, at)
	p.add(pointerTo(at), withoutNull(reveal(want)))
}

// repeatWriteOnly sets the write-only values that no other operation sets, each with the list that contains it.
func (p *patch) repeatWriteOnly(at []string, value any) {
	if slices.ContainsFunc(p.at, func(other []string) bool { return len(other) <= len(at) && slices.Equal(other, at[:len(other)]) }) {
		return
	}
	switch value := value.(type) {
	case *kind.WriteOnly:
		p.change(at, false)
	case []any:
		if slices.ContainsFunc(value, containsWriteOnly) {
			p.change(at, false)
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(value)) {
			p.repeatWriteOnly(append(slices.Clone(at), name), value[name])
		}
	}
}

func containsWriteOnly(value any) bool {
	switch value := value.(type) {
	case *kind.WriteOnly:
		return true
	case []any:
		return slices.ContainsFunc(value, containsWriteOnly)
	case map[string]any:
		return slices.ContainsFunc(slices.Collect(maps.Values(value)), containsWriteOnly)
	default:
		return false
	}
}

// membersOf returns the names that a path of a difference leads through; none for one that is not in the properties. Names that are no
// words are in brackets.
func membersOf(path string) []string {
	rest, ok := strings.CutPrefix(path, "Properties")
	if !ok {
		return nil
	}
	var out []string
	for rest != "" {
		if rest[0] == '[' {
			name, after, _ := strings.Cut(rest[1:], "]")
			out, rest = append(out, name), after
			continue
		}
		rest = rest[1:]
		end := strings.IndexAny(rest, ".[")
		if end < 0 {
			end = len(rest)
		}
		out, rest = append(out, rest[:end]), rest[end:]
	}
	return out
}

func escaped(name string) string { return strings.NewReplacer("~", "~0", "/", "~1").Replace(name) }

func pointerTo(at []string) string {
	var b strings.Builder
	for _, name := range at {
		b.WriteString("/" + escaped(name))
	}
	return b.String()
}

// identifiersIn returns the texts that may be the identifier of the resource that an ARN names.
func identifiersIn(arn string) []string {
	out := []string{arn}
	if parts := strings.SplitN(arn, ":", 6); len(parts) == 6 {
		out = append(out, parts[5][strings.LastIndexAny(parts[5], "/:")+1:])
	}
	return out
}

// arnOf returns the ARN among the properties of a resource; empty where it has none.
func arnOf(f *found) string {
	if strings.HasPrefix(f.identifier, "arn:") {
		return f.identifier
	}
	for _, name := range slices.Sorted(maps.Keys(f.properties)) {
		lower := strings.ToLower(name)
		text, _ := f.properties[name].(string)
		if (lower == "arn" || strings.HasSuffix(lower, "arn") && strings.HasSuffix(text, f.identifier)) && strings.HasPrefix(text, "arn:") {
			return text
		}
	}
	return ""
}

// maxPublished limits the properties in the status, in bytes.
const maxPublished = 4 << 10

// publishedProperties returns as many of the properties as fit into the status, in the order of their names; nil for none.
func publishedProperties(assigned map[string]any) *runtime.RawExtension {
	out, size := map[string]any{}, 0
	for _, name := range slices.Sorted(maps.Keys(assigned)) {
		text, err := json.Marshal(assigned[name])
		if n := len(name) + len(text) + 4; err == nil && size+n <= maxPublished {
			out[name], size = assigned[name], size+n
		}
	}
	if len(out) == 0 {
		return nil
	}
	text, _ := json.Marshal(out) // it was read as JSON
	return &runtime.RawExtension{Raw: text}
}
