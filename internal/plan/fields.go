// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/nexus-operator/nexus-operator/api/wellknown"
	"github.com/nexus-operator/nexus-operator/internal/apply"
	"github.com/nexus-operator/nexus-operator/internal/iampolicy"
	"github.com/nexus-operator/nexus-operator/internal/kind"
)

// fieldsBetween lists the differences between two forms of an object that a person declares, without the status and the metadata that the
// API server keeps.
func fieldsBetween(before, after *unstructured.Unstructured) []Field {
	var out []Field
	compare("", declared(before), declared(after), &out)
	return out
}

// contentOf lists the declared fields of an object that is created, without its names and owners.
func contentOf(u *unstructured.Unstructured) []Field {
	o := unstructured.Unstructured{Object: declared(u)}
	for _, path := range [][]string{{"apiVersion"}, {"kind"}, {"metadata", "name"}, {"metadata", "namespace"}, {"metadata", "ownerReferences"},
		{"metadata", "finalizers"}} {
		unstructured.RemoveNestedField(o.Object, path...)
	}
	var out []Field
	compare("", map[string]any{}, o.Object, &out)
	return slices.DeleteFunc(out, func(f Field) bool { return strings.HasPrefix(f.Path, "metadata.annotations."+wellknown.Prefix) })
}

// serverMetadata are the fields of the metadata that the API server writes.
var serverMetadata = []string{"managedFields", "resourceVersion", "uid", "generation", "creationTimestamp", "selfLink"}

// lastApplied is the annotation with the manifest that kubectl applied last:
// https://kubernetes.io/docs/reference/labels-annotations-taints/#kubectl-kubernetes-io-last-applied-configuration
const lastApplied = "kubectl.kubernetes.io/last-applied-configuration"

func declared(u *unstructured.Unstructured) map[string]any {
	if u == nil {
		return nil
	}
	o := u.DeepCopy()
	unstructured.RemoveNestedField(o.Object, "status")
	unstructured.RemoveNestedField(o.Object, "metadata", "annotations", lastApplied)
	for _, f := range serverMetadata {
		unstructured.RemoveNestedField(o.Object, "metadata", f)
	}
	if o.GetAPIVersion() == "v1" && o.GetKind() == "Secret" {
		for _, f := range []string{"data", "stringData"} {
			mask(o.Object[f])
		}
	}
	return o.Object
}

// mask marks the values of a Secret.
func mask(values any) {
	m, _ := values.(map[string]any)
	for key, v := range m {
		m[key] = masked(fmt.Sprint(v))
	}
}

// masked is a value of a Secret that compares as the value does, and prints as stars.
type masked string

// MarshalText implements encoding.TextMarshaler.
func (masked) MarshalText() ([]byte, error) { return []byte("***"), nil }

// compare descends into maps, and into lists of elements with names; other lists are compared whole.
func compare(path string, before, after any, out *[]Field) {
	a, aok := asMap(before, after)
	b, bok := asMap(after, before)
	if !aok || !bok {
		if !isNothing(before) && !isNothing(after) && reflect.DeepEqual(before, after) || isNothing(before) && isNothing(after) {
			return
		}
		*out = append(*out, fieldOf(strings.TrimPrefix(path, "."), text(before), text(after)))
		return
	}
	format := "%s.%s"
	if isList(before) || isList(after) {
		format = "%s[%s]"
	}
	for _, k := range keysOfBoth(a, b) {
		compare(fmt.Sprintf(format, path, k), a[k], b[k], out)
	}
}

func keysOfBoth(a, b map[string]any) []string {
	keys := slices.AppendSeq(slices.Collect(maps.Keys(a)), maps.Keys(b))
	slices.Sort(keys)
	return slices.Compact(keys)
}

// asMap returns a map unchanged, and a list as a map by the names of its elements. An absent value counts as an empty map if the other
// value is a map that is not empty.
func asMap(v, other any) (map[string]any, bool) {
	switch v := v.(type) {
	case map[string]any:
		return v, true
	case []any:
		return byName(v)
	case nil:
		switch other := other.(type) {
		case map[string]any:
			return nil, len(other) > 0
		case []any:
			_, ok := byName(other)
			return nil, ok
		}
	}
	return nil, false
}

func isList(v any) bool {
	_, ok := v.([]any)
	return ok
}

// byName returns the elements of a list by the member that names each, as list maps of Kubernetes have them; false where none does.
func byName(list []any) (map[string]any, bool) {
	first, _ := firstOf(list).(map[string]any)
	for _, member := range slices.Sorted(maps.Keys(first)) {
		if out := keyedBy(list, member); namesElement(member) && out != nil {
			return out, true
		}
	}
	return nil, false
}

func firstOf(list []any) any {
	if len(list) == 0 {
		return nil
	}
	return list[0]
}

// namesElement reports whether a member has the name of one that identifies an element of a list.
func namesElement(member string) bool {
	return member == "key" || member == "id" || strings.HasSuffix(strings.ToLower(member), "name")
}

// keyedBy returns the elements by the value of a member; nil unless each has another.
func keyedBy(list []any, member string) map[string]any {
	out := map[string]any{}
	for _, e := range list {
		m, _ := e.(map[string]any)
		key, ok := m[member].(string)
		if _, twice := out[key]; !ok || twice {
			return nil
		}
		out[key] = m
	}
	return out
}

// fieldOf is a change of a value. One of a policy document has its statements.
func fieldOf(path, have, want string) Field {
	f := Field{Path: path, Have: have, Want: want}
	if strings.Contains(have+want, `"Statement"`) {
		f.Statements, _ = iampolicy.Changes(policyIn(have), policyIn(want))
	}
	return f
}

// policyIn returns a document, and nothing for a value that is not set.
func policyIn(text string) string {
	if strings.HasPrefix(text, "{") {
		return text
	}
	return ""
}

// isNothing reports whether a value says no more than its absence.
func isNothing(v any) bool {
	m, ok := v.(map[string]any)
	return v == nil || ok && len(m) == 0
}

// fieldsOf returns the differences of a child, each field once, without the annotations that hold the operator's own records.
func fieldsOf(differences []apply.Difference) []Field {
	var out []Field
	for _, d := range differences {
		listed := slices.ContainsFunc(out, func(f Field) bool { return f.Path == d.Path })
		if !listed && !strings.HasPrefix(d.Path, "metadata.annotations."+wellknown.Prefix) {
			out = append(out, fieldOf(d.Path, text(d.Have), text(d.Want)))
		}
	}
	return out
}

// fieldsIn are the differences of an AWS resource; secrets are masked there already.
func fieldsIn(diff kind.Diff) []Field {
	out := make([]Field, len(diff))
	for i, c := range diff {
		want := c.Want
		if c.Gone {
			want = ""
		}
		out[i] = fieldOf(c.Path, c.Have, want)
		if c.Mode == kind.Conditional {
			out[i].Note = "AWS may refuse to change it"
		}
	}
	return out
}

// text is a value on one line.
func text(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	case masked:
		return "***"
	}
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(b)
}
