// SPDX-License-Identifier: Apache-2.0

package documents

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/nexus-operator/nexus-operator/internal/kind"
)

// Operation is one operation of a JSON patch: https://www.rfc-editor.org/rfc/rfc6902
type Operation struct {
	Op, Path string
	Value    any
}

// MarshalJSON implements json.Marshaler: false, 0 and "" are values, too.
func (o Operation) MarshalJSON() ([]byte, error) {
	if o.Op == "remove" {
		return json.Marshal(map[string]any{"op": o.Op, "path": o.Path})
	}
	return json.Marshal(map[string]any{"op": o.Op, "path": o.Path, "value": o.Value})
}

// patch collects the operations that turn the state in AWS into the wanted state.
type patch struct {
	want, have map[string]any
	isFixed    func(at []string) bool
	at         [][]string
	operations []Operation
}

// Patch returns the operations that set and remove the different members in a field of the state. AWS applies them to the state that it
// shows, so that they repeat the write-only values. A document may be nil.
func Patch(field string, want, have *kind.Document, diff kind.Diff) []Operation {
	p := &patch{want: valueOf(want), have: valueOf(have), isFixed: func(at []string) bool {
		return want != nil && (want.RuleAt(at).Mode == kind.Immutable || want.RuleAt(at).Ignored)
	}}
	for _, c := range diff {
		if members := Members(field, c.Path); len(members) > 0 {
			p.change(members, c.Gone)
		}
	}
	p.repeatWriteOnly(nil, p.want)
	return p.operations
}

func valueOf(d *kind.Document) map[string]any {
	if d == nil {
		return nil
	}
	return d.Value
}

// Set returns the operation that adds a member of the outermost object, or replaces it.
func Set(name string, value any) Operation {
	return Operation{Op: "add", Path: pointerTo([]string{name}), Value: value}
}

// Unset returns the operation that removes a member, at any depth.
func Unset(at []string) Operation { return Operation{Op: "remove", Path: pointerTo(at)} }

// change sets or removes one member. A member of an object that AWS does not show is set with the object.
func (p *patch) change(at []string, gone bool) {
	if gone {
		p.operations = append(p.operations, Unset(at))
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
	p.operations = append(p.operations, Operation{Op: "add", Path: pointerTo(at), Value: plain(want)})
}

// repeatWriteOnly sets the write-only values that no other operation sets, each with the list that contains it. AWS refuses a patch with
// one that is fixed at the creation, and the object leaves ignored ones alone.
func (p *patch) repeatWriteOnly(at []string, value any) {
	if slices.ContainsFunc(p.at, func(other []string) bool { return len(other) <= len(at) && slices.Equal(other, at[:len(other)]) }) {
		return
	}
	switch value := value.(type) {
	case *kind.WriteOnly:
		if !p.isFixed(at) {
			p.change(at, false)
		}
	case []any:
		if !p.isFixed(at) && slices.ContainsFunc(value, containsWriteOnly) {
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

// Members returns the names that the path of a difference leads through; none for one that is not in the field. Names that are no words are
// in brackets.
func Members(field, path string) []string {
	rest, ok := strings.CutPrefix(path, field)
	if !ok {
		return nil
	}
	var out []string
	for rest != "" {
		if rest[0] == '[' {
			name, after := cutBracketed(rest[1:])
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

// In brackets, a backslash stands before each bracket and backslash of a name.
var inBrackets = strings.NewReplacer(`\`, `\\`, "]", `\]`)

// Bracketed returns a name as it stands in the brackets of a path.
func Bracketed(name string) string { return inBrackets.Replace(name) }

// cutBracketed returns the name before the closing bracket, and the text behind the bracket.
func cutBracketed(text string) (name, after string) {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] == ']':
			return b.String(), text[i+1:]
		case text[i] == '\\' && i+1 < len(text):
			i++
		}
		b.WriteByte(text[i])
	}
	return b.String(), ""
}

// pointerTo returns the JSON pointer to a member: https://www.rfc-editor.org/rfc/rfc6901
func pointerTo(at []string) string {
	escape := strings.NewReplacer("~", "~0", "/", "~1")
	var b strings.Builder
	for _, name := range at {
		b.WriteString("/" + escape.Replace(name))
	}
	return b.String()
}
