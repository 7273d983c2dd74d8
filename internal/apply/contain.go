// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Difference is a place where a live object is not as desired.
type Difference struct {
	// Path such as spec.template.spec.containers[app].image.
	Path string
	// Have is the live value, nil where there is none.
	Have any
	// Want is the desired value, nil where there is to be none.
	Want any `json:"-"`
}

// differences lists, in order of path, the parts of desired that live does not contain: the changes that a server-side apply would make.
// Additional parts of live are no differences if others may own them: defaults, fields of maps, elements of keyed lists. They are
// differences if the API server knows only one owner of the whole: in selectors and in the elements of lists without keys. Of the metadata
// only labels, annotations and owner references are compared; of status nothing.
//
// Both must be in the same form, either as sent or as read through the same Go type; then an empty map
// or list is a value like any other, and differs from an absent one.
//
// Defaulted adds that elements of lists, too, hold defaults, which only their definition knows: additional parts of live are then no
// differences anywhere.
func differences(desired, live *unstructured.Unstructured, defaulted bool) []Difference {
	c := comparison{keys: mergeKeys(desired), defaulted: defaulted}
	for _, k := range sortedKeys(desired.Object) {
		switch k {
		case "apiVersion", "kind", "metadata", "status":
		default:
			have, ok := live.Object[k]
			c.value(place{shown: k, fields: k}, desired.Object[k], have, ok)
		}
	}
	for _, k := range []string{"labels", "annotations"} {
		want, _, _ := unstructured.NestedMap(desired.Object, "metadata", k)
		have, _, _ := unstructured.NestedMap(live.Object, "metadata", k)
		c.maps(place{shown: "metadata." + k}, want, have)
	}
	want, _, _ := unstructured.NestedSlice(desired.Object, "metadata", "ownerReferences")
	have, _, _ := unstructured.NestedSlice(live.Object, "metadata", "ownerReferences")
	c.keyed(place{shown: "metadata.ownerReferences"}, []string{"uid"}, want, have)
	return c.found
}

// place says where the comparison is: as shown, and as field names only.
type place struct {
	shown, fields string
	// atomic is true inside a value that has one owner as a whole.
	atomic bool
}

func (p place) field(k string) place {
	return place{p.shown + "." + k, p.fields + "." + k, p.atomic || atomicFields[k]}
}

func (p place) element(id string, keyed bool) place {
	return place{p.shown + "[" + id + "]", p.fields, p.atomic || !keyed}
}

// atomicFields are the maps that Kubernetes' own kinds replace as a whole.
var atomicFields = map[string]bool{
	"selector": true, "labelSelector": true, "podSelector": true, "namespaceSelector": true, "nodeSelector": true,
}

// unset is desired of a field that is said to be empty and that its Go type then leaves out.
type unset struct{}

type comparison struct {
	keys      func(place) []string
	defaulted bool
	found     []Difference
}

func (c *comparison) differ(p place, want, have any) {
	if _, none := want.(unset); none {
		want = nil
	}
	c.found = append(c.found, Difference{Path: p.shown, Have: have, Want: want})
}

func (c *comparison) value(p place, want, have any, present bool) {
	same := true
	switch want := want.(type) {
	case nil: // says nothing
	case unset:
		same = isEmpty(have) || c.shared(p, have)
	case map[string]any:
		var m map[string]any
		if m, same = have.(map[string]any); same {
			c.maps(p, want, m)
		}
	case []any:
		var l []any
		if l, same = have.([]any); same {
			c.lists(p, want, l)
		}
	default:
		same = present && sameScalar(p, want, have)
	}
	if !same {
		c.differ(p, want, have)
	}
}

// shared reports whether a value at a place may be others' although we desire it empty.
func (c *comparison) shared(p place, have any) bool {
	if _, ok := have.(map[string]any); ok {
		return !p.atomic
	}
	return c.keys(p) != nil
}

func isEmpty(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case map[string]any:
		return len(v) == 0
	case []any:
		return len(v) == 0
	default:
		return v == "" || v == false || v == int64(0) || v == float64(0)
	}
}

func (c *comparison) maps(p place, want, have map[string]any) {
	for _, k := range sortedKeys(want) {
		v, ok := have[k]
		c.value(p.field(k), want[k], v, ok)
	}
	if !p.atomic || c.defaulted {
		return
	}
	for _, k := range sortedKeys(have) {
		if _, said := want[k]; !said && !isUndeclared(k, have[k]) {
			c.differ(p.field(k), nil, have[k])
		}
	}
}

// defaults holds the values that the API server itself adds to the elements of lists that it otherwise replaces whole.
var defaults = map[string]any{
	"protocol": "TCP", "apiVersion": "v1", "expirationSeconds": int64(3600), "apiGroup": "rbac.authorization.k8s.io",
}

// isUndeclared reports whether a live value means no more than its absence. An empty map may mean everything:
// of selectors it selects all.
func isUndeclared(k string, v any) bool {
	_, isMap := v.(map[string]any)
	return !isMap && (isEmpty(v) || v == defaults[k])
}

func (c *comparison) lists(p place, want, have []any) {
	if keys := c.keys(p); keys != nil && len(want) > 0 {
		c.keyed(p, keys, want, have)
		return
	}
	if len(want) != len(have) {
		c.differ(p, want, have)
		return
	}
	for i := range want {
		c.value(p.element(fmt.Sprint(i), false), want[i], have[i], true)
	}
}

// keyed compares a list of elements with identity: order is not compared, and additional elements belong to others.
func (c *comparison) keyed(p place, keys []string, want, have []any) {
	found := make(map[string]any, len(have))
	for _, e := range have {
		found[listKeyOf(keys, e)] = e
	}
	for _, e := range want {
		id := listKeyOf(keys, e)
		v, ok := found[id]
		c.value(p.element(id, true), e, v, ok)
	}
}

func listKeyOf(keys []string, element any) string {
	m, _ := element.(map[string]any)
	var parts []string
	for _, k := range keys {
		v, ok := m[k]
		if !ok && k == "protocol" {
			v, ok = "TCP", true // the default, and part of the key
		}
		if ok {
			parts = append(parts, fmt.Sprint(v))
		}
	}
	return strings.Join(parts, "/")
}

func sortedKeys(m map[string]any) []string { return slices.Sorted(maps.Keys(m)) }

// sameScalar compares strings, booleans and numbers of whichever Go type, and quantities by amount.
func sameScalar(p place, want, have any) bool {
	if want == have {
		return true
	}
	if isQuantity(p) {
		a, aerr := resource.ParseQuantity(fmt.Sprint(want))
		b, berr := resource.ParseQuantity(fmt.Sprint(have))
		return aerr == nil && berr == nil && a.Cmp(b) == 0
	}
	a, aok := number(want)
	b, bok := number(have)
	return aok && bok && a == b
}

func number(v any) (float64, bool) { // exact to 2^53, beyond which no field of these APIs goes
	switch v := v.(type) {
	case int64:
		return float64(v), true
	case int:
		return float64(v), true
	case int32:
		return float64(v), true
	case float64:
		return v, true
	default:
		return 0, false
	}
}

// isQuantity reports whether the value at a place is one of resources.limits or resources.requests.
func isQuantity(p place) bool {
	parts := strings.Split(p.fields, ".")
	n := len(parts)
	return n >= 3 && parts[n-3] == "resources" && (parts[n-2] == "limits" || parts[n-2] == "requests")
}

// podKeys are the merge keys of a pod's lists that are compared by key, by their path in the pod's spec.
// https://kubernetes.io/docs/reference/generated/kubernetes-api/v1.35/ ("map type" lists)
var podKeys = map[string][]string{
	"containers": {"name"}, "initContainers": {"name"}, "volumes": {"name"}, "imagePullSecrets": {"name"},
	"hostAliases": {"ip"}, "topologySpreadConstraints": {"topologyKey", "whenUnsatisfiable"},
	"containers.env": {"name"}, "containers.ports": {"containerPort", "protocol"}, "containers.volumeMounts": {"mountPath"},
	"initContainers.env": {"name"}, "initContainers.ports": {"containerPort", "protocol"}, "initContainers.volumeMounts": {"mountPath"},
}

// mergeKeys returns which lists of a kind of object have elements with identity. Of kinds not listed,
// lists are compared whole: an element too many in a network policy or a role is a difference.
func mergeKeys(u *unstructured.Unstructured) func(place) []string {
	gvk := u.GroupVersionKind()
	switch gvk.Group + "/" + gvk.Kind {
	case "/Pod":
		return podAt("spec.")
	case "apps/Deployment", "apps/StatefulSet", "apps/DaemonSet", "batch/Job":
		return podAt("spec.template.spec.")
	case "batch/CronJob":
		return podAt("spec.jobTemplate.spec.template.spec.")
	case "/Service":
		return keysAt("spec.ports", "port", "protocol")
	case "/ServiceAccount":
		return keysAt("imagePullSecrets", "name")
	default:
		return func(place) []string { return nil }
	}
}

func podAt(spec string) func(place) []string {
	return func(p place) []string {
		field, ok := strings.CutPrefix(p.fields, spec)
		if !ok {
			return nil
		}
		return podKeys[field]
	}
}

func keysAt(path string, keys ...string) func(place) []string {
	return func(p place) []string {
		if p.fields != path {
			return nil
		}
		return keys
	}
}
