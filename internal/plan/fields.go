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
	"github.com/nexus-operator/nexus-operator/internal/kind"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// maxValue bounds a printed value, in bytes.
const maxValue = 256

// fieldsBetween lists what differs between two forms of an object that a person declares: everything but the status
// and what the API server keeps in the metadata.
func fieldsBetween(before, after *unstructured.Unstructured) []Field {
	var out []Field
	compare("", declared(before), declared(after), &out)
	return out
}

// serverMetadata are the fields of the metadata that the API server writes.
var serverMetadata = []string{"managedFields", "resourceVersion", "uid", "generation", "creationTimestamp", "selfLink"}

// lastApplied is where kubectl keeps the manifest that it applied last:
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

// compare goes down maps; lists are compared whole.
func compare(path string, before, after any, out *[]Field) {
	a, aok := before.(map[string]any)
	b, bok := after.(map[string]any)
	if !aok || !bok {
		if !isNothing(before) && !isNothing(after) && reflect.DeepEqual(before, after) || isNothing(before) && isNothing(after) {
			return
		}
		*out = append(*out, Field{Path: strings.TrimPrefix(path, "."), Have: text(before), Want: text(after)})
		return
	}
	keys := slices.Collect(maps.Keys(a))
	for k := range b {
		if _, ok := a[k]; !ok {
			keys = append(keys, k)
		}
	}
	slices.Sort(keys)
	for _, k := range keys {
		compare(path+"."+k, a[k], b[k], out)
	}
}

// isNothing reports whether a value says no more than its absence.
func isNothing(v any) bool {
	m, ok := v.(map[string]any)
	return v == nil || ok && len(m) == 0
}

// fieldsOf are the differences of a child, without those of the annotations in which the operator keeps its own
// records.
func fieldsOf(differences []apply.Difference) []Field {
	var out []Field
	for _, d := range differences {
		if !strings.HasPrefix(d.Path, "metadata.annotations."+wellknown.Prefix) {
			out = append(out, Field{Path: d.Path, Have: text(d.Have), Want: text(d.Want)})
		}
	}
	return out
}

// fieldsIn are the differences of an AWS resource; secrets are masked there already.
func fieldsIn(diff kind.Diff) []Field {
	out := make([]Field, len(diff))
	for i, c := range diff {
		out[i] = Field{Path: c.Path, Have: status.Truncate(c.Have, maxValue), Want: status.Truncate(c.Want, maxValue)}
		if c.Gone {
			out[i].Want = ""
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
		return status.Truncate(v, maxValue)
	case masked:
		return "***"
	}
	b, err := json.Marshal(v)
	if err != nil {
		return status.Truncate(fmt.Sprint(v), maxValue)
	}
	return status.Truncate(string(b), maxValue)
}
