// SPDX-License-Identifier: Apache-2.0

package apply_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"pgregory.net/rapid"
	"sigs.k8s.io/yaml"

	"github.com/nexus-operator/nexus-operator/internal/apply"
)

func parse(t testing.TB, text string) *unstructured.Unstructured {
	t.Helper()
	j, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	u := &unstructured.Unstructured{}
	if err := json.Unmarshal(j, &u.Object); err != nil {
		t.Fatal(err)
	}
	// As the server's answers are decoded: whole numbers as int64.
	if b, err := u.MarshalJSON(); err == nil && u.GetKind() != "" {
		u = &unstructured.Unstructured{}
		if err := u.UnmarshalJSON(b); err != nil {
			t.Fatal(err)
		}
	}
	return u
}

func paths(d []apply.Difference) string {
	var out []string
	for _, x := range d {
		out = append(out, x.Path)
	}
	return strings.Join(out, " ")
}

func TestDifferencesAreWhatAnApplyWouldChange(t *testing.T) {
	deployment := func(podSpec string) string {
		return "{apiVersion: apps/v1, kind: Deployment, spec: {template: {spec: " + podSpec + "}}}"
	}
	service := func(ports string) string {
		return "{apiVersion: v1, kind: Service, spec: {ports: " + ports + "}}"
	}
	policy := func(ports string) string {
		return "{apiVersion: networking.k8s.io/v1, kind: NetworkPolicy, spec: {ingress: [{ports: " + ports + "}]}}"
	}
	other := func(spec string) string { return "{apiVersion: x.io/v1, kind: X, spec: " + spec + "}" }
	object := func(rest string) string { return "{apiVersion: x.io/v1, kind: X, " + rest + "}" }
	pod := "spec.template.spec."
	for _, tc := range []struct{ name, want, have, differ string }{
		{"equal", other("{a: 1, b: [x]}"), other("{a: 1, b: [x]}"), ""},
		{"a live field that is not desired", other("{a: 1}"), other("{a: 1, b: 2}"), ""},
		{"a leaf changed", other("{a: {b: 1, c: 2}}"), other("{a: {b: 1, c: 3}}"), "spec.a.c"},
		{"a leaf missing", other("{a: {b: 1}}"), other("{a: {}}"), "spec.a.b"},
		{"a whole branch missing is one difference", other("{a: {b: 1, c: 2}}"), other("{}"), "spec.a"},
		{"null says nothing", other("{a: null}"), other("{}"), ""},
		{"null in live is absent", other("{a: 1}"), other("{a: null}"), "spec.a"},
		{"an explicit empty list cleared by hand", other("{rules: []}"), other("{}"), "spec.rules"},
		{"an explicit empty list filled by hand", other("{rules: []}"), other("{rules: [x]}"), "spec.rules"},
		{"an explicit empty map", other("{queue: {}}"), other("{}"), "spec.queue"},
		{"a map where a list is desired", other("{a: [1]}"), other("{a: {b: 1}}"), "spec.a"},
		{"a list where a map is desired", other("{a: {b: 1}}"), other("{a: [1]}"), "spec.a"},
		{"whole numbers of both Go types", other("{a: 1}"), other("{a: 1.0}"), ""},
		{"a number is not its spelling", other("{a: 1}"), other("{a: '1'}"), "spec.a"},
		{"false is not absent", other("{a: false}"), other("{}"), "spec.a"},
		{"a list shorter", other("{a: [x, y]}"), other("{a: [x]}"), "spec.a"},
		{"a list longer", other("{a: [x]}"), other("{a: [x, y]}"), "spec.a"},
		{"a list reordered", other("{a: [x, y]}"), other("{a: [y, x]}"), "spec.a[0] spec.a[1]"},
		{"a field more in an element of a list", other("{a: [{b: 1}]}"), other("{a: [{b: 1, c: 2}]}"), "spec.a[0].c"},
		{"defaults in an element of a list", other("{a: [{b: 1}]}"),
			other("{a: [{b: 1, protocol: TCP, optional: false, c: '', d: [], e: null, f: 0}]}"), ""},
		{"no default in an element of a list", other("{a: [{b: 1}]}"), other("{a: [{b: 1, protocol: UDP}]}"), "spec.a[0].protocol"},
		{"a peer opened to all namespaces", policy("[], from: [{podSelector: {a: b}}]"),
			policy("[], from: [{podSelector: {a: b}, namespaceSelector: {}}]"), "spec.ingress[0].from[0].namespaceSelector"},
		{"a selector narrowed", other("{podSelector: {}}"), other("{podSelector: {matchLabels: {a: b}}}"), "spec.podSelector.matchLabels"},
		{"a selector widened", other("{selector: {a: b, c: d}}"), other("{selector: {a: b}}"), "spec.selector.c"},
		{"a selector of nodes added to", deployment("{nodeSelector: {a: b}}"), deployment("{nodeSelector: {a: b, c: d}}"),
			"spec.template.spec.nodeSelector.c"},
		{"status is not ours", object("status: {a: 1}"), object("status: {a: 2}"), ""},
		{"top-level data", "{apiVersion: v1, kind: ConfigMap, data: {a: x}}", "{apiVersion: v1, kind: ConfigMap, data: {a: y, b: z}}", "data.a"},

		{"more labels", object("metadata: {labels: {a: b}}"), object("metadata: {labels: {a: b, c: d}}"), ""},
		{"a label changed, an annotation gone", object("metadata: {labels: {a: b}, annotations: {x.io/c: d}}"),
			object("metadata: {labels: {a: z}}"), "metadata.labels.a metadata.annotations.x.io/c"},
		{"more owners", object("metadata: {ownerReferences: [{uid: '2', controller: true}]}"),
			object("metadata: {ownerReferences: [{uid: '1'}, {uid: '2', controller: true}]}"), ""},
		{"our owner reference gone", object("metadata: {ownerReferences: [{uid: '2'}]}"), object("metadata: {ownerReferences: [{uid: '1'}]}"),
			"metadata.ownerReferences[2]"},
		{"other metadata is the server's", object("metadata: {name: a, uid: x, resourceVersion: '1', finalizers: [x]}"),
			object("metadata: {name: a}"), ""},

		{"a sidecar injected before ours", deployment("{containers: [{name: app, image: a}]}"),
			deployment("{containers: [{name: proxy, image: p}, {name: app, image: a, resources: {}}]}"), ""},
		{"our image beside a sidecar", deployment("{containers: [{name: app, image: a}]}"),
			deployment("{containers: [{name: proxy, image: p}, {name: app, image: b}]}"), pod + "containers[app].image"},
		{"our container gone", deployment("{containers: [{name: app, image: a}]}"), deployment("{containers: [{name: proxy}]}"),
			pod + "containers[app]"},
		{"another's variable", deployment("{containers: [{name: app, env: [{name: A, value: x}]}]}"),
			deployment("{containers: [{name: app, env: [{name: B}, {name: A, value: x}]}]}"), ""},
		{"our variable changed", deployment("{containers: [{name: app, env: [{name: A, value: x}]}]}"),
			deployment("{containers: [{name: app, env: [{name: A, value: y}]}]}"), pod + "containers[app].env[A].value"},
		{"the default protocol is part of a port's key", deployment("{containers: [{name: app, ports: [{containerPort: 80}]}]}"),
			deployment("{containers: [{name: app, ports: [{containerPort: 80, protocol: UDP}, {containerPort: 80, protocol: TCP}]}]}"), ""},
		{"arguments are compared whole", deployment("{containers: [{name: app, args: [a]}]}"),
			deployment("{containers: [{name: app, args: [a, b]}]}"), pod + "containers[app].args"},
		{"tolerations are compared whole", deployment("{tolerations: [{key: a}]}"), deployment("{tolerations: [{key: a}, {key: b}]}"),
			pod + "tolerations"},
		{"quantities by amount", deployment("{containers: [{name: app, resources: {limits: {cpu: 1000m, memory: 1024Mi}, requests: {cpu: 0.5}}}]}"), deployment("{containers: [{name: app, resources: {limits: {cpu: '1', memory: 1Gi}, requests: {cpu: 500m}}}]}"), ""},
		{"another amount", deployment("{containers: [{name: app, resources: {limits: {cpu: '1'}}}]}"),
			deployment("{containers: [{name: app, resources: {limits: {cpu: '2'}}}]}"), pod + "containers[app].resources.limits.cpu"},
		{"no quantity at all", deployment("{containers: [{name: app, resources: {limits: {cpu: '1'}}}]}"),
			deployment("{containers: [{name: app, resources: {limits: {cpu: lots}}}]}"), pod + "containers[app].resources.limits.cpu"},
		{"text that looks like a quantity is text", other("{env: [{value: 1000m}]}"), other("{env: [{value: '1'}]}"), "spec.env[0].value"},

		{"another's port of a Service", service("[{port: 80, targetPort: http}]"),
			service("[{port: 443, protocol: TCP}, {port: 80, protocol: TCP, targetPort: http, nodePort: 30001}]"), ""},
		{"a Service's target changed", service("[{port: 80, targetPort: http}]"), service("[{port: 80, protocol: TCP, targetPort: 9}]"),
			"spec.ports[80/TCP].targetPort"},
		{"an open port too many in a network policy", policy("[{port: 80}]"), policy("[{port: 80}, {port: 22}]"), "spec.ingress[0].ports"},
		{"a policy too many in a role",
			"{apiVersion: aws-infra-operator.runner.codes/v1alpha1, kind: IAMRole, spec: {inlinePolicies: [{policyName: a}]}}",
			"{apiVersion: aws-infra-operator.runner.codes/v1alpha1, kind: IAMRole, spec: {inlinePolicies: [{policyName: a}, {policyName: b}]}}",
			"spec.inlinePolicies"},
		{"a replica count that is left to others", "{apiVersion: apps/v1, kind: Deployment, spec: {paused: false}}",
			"{apiVersion: apps/v1, kind: Deployment, spec: {paused: false, replicas: 7}}", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := apply.Differences(parse(t, tc.want), parse(t, tc.have))
			if paths(got) != tc.differ {
				t.Errorf("differences are %q, expected %q", paths(got), tc.differ)
			}
		})
	}
}

// tree draws JSON values of the kinds that manifests hold.
func tree(depth int) *rapid.Generator[any] {
	leaf := rapid.OneOf(
		rapid.Map(rapid.SampledFrom([]string{"", "a", "1", "1000m"}), func(s string) any { return s }),
		rapid.Map(rapid.Int64Range(-3, 3), func(i int64) any { return i }),
		rapid.Map(rapid.Bool(), func(b bool) any { return b }),
	)
	if depth == 0 {
		return leaf
	}
	return rapid.OneOf(leaf,
		rapid.Map(rapid.MapOfN(key(), tree(depth-1), 0, 4), func(m map[string]any) any { return m }),
		rapid.Map(rapid.SliceOfN(tree(depth-1), 0, 3), func(l []any) any { return l }))
}

func key() *rapid.Generator[string] {
	return rapid.SampledFrom([]string{"name", "spec", "template", "containers", "env", "ports", "port", "resources", "limits", "cpu"})
}

// manifest draws an object of a kind with keyed lists, or of one without.
func manifest(t *rapid.T) *unstructured.Unstructured {
	m := rapid.MapOfN(key(), tree(5), 1, 5).Draw(t, "manifest")
	kind := rapid.SampledFrom([][2]string{{"v1", "Pod"}, {"apps/v1", "Deployment"}, {"v1", "Service"}, {"x.io/v1", "X"}}).Draw(t, "kind")
	m["apiVersion"], m["kind"] = kind[0], kind[1]
	if l := rapid.MapOfN(key(), rapid.StringN(0, 3, 3), 0, 3).Draw(t, "labels"); len(l) > 0 {
		labels := map[string]any{}
		for k, v := range l {
			labels[k] = v
		}
		m["metadata"] = map[string]any{"labels": labels}
	}
	return &unstructured.Unstructured{Object: m}
}

func TestWhatIsDesiredContainsItself(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := manifest(t)
		distinct(m.Object)
		if d := apply.Differences(m, m.DeepCopy()); len(d) > 0 {
			t.Fatalf("%v differs from itself at %s", m.Object, paths(d))
		}
	})
}

func TestWhatOthersAddIsNoDifference(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := manifest(t)
		distinct(want.Object)
		have := want.DeepCopy()
		grow(t, have.Object)
		if d := apply.Differences(want, have); len(d) > 0 {
			t.Fatalf("after additions %v lacks %s of %v", have.Object, paths(d), want.Object)
		}
	})
}

func TestAChangedLeafIsExactlyOneDifference(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := manifest(t)
		distinct(want.Object)
		have := want.DeepCopy()
		leaves := leavesOf(have.Object, 0)
		if len(leaves) == 0 {
			t.Skip("no leaf")
		}
		rapid.SampledFrom(leaves).Draw(t, "leaf")(t)
		if d := apply.Differences(want, have); len(d) != 1 {
			t.Fatalf("%d differences (%s) between\n%v and\n%v", len(d), paths(d), want.Object, have.Object)
		}
	})
}

// distinct makes the elements of every list of maps distinct by name, as the server requires of keyed lists, and drops elements that are
// not maps.
func distinct(v any) {
	switch v := v.(type) {
	case map[string]any:
		for k, item := range v {
			if l, ok := item.([]any); ok {
				v[k] = slices.DeleteFunc(l, func(e any) bool { return !isMap(e) })
			}
			distinct(v[k])
		}
	case []any:
		for i, e := range v {
			m := e.(map[string]any)
			m["name"], m["port"], m["containerPort"], m["protocol"] = fmt.Sprint("n", i), int64(i), int64(i), "TCP"
			m["ip"], m["mountPath"], m["topologyKey"], m["whenUnsatisfiable"] = "i", "m", "t", "w"
			distinct(e)
		}
	}
}

func isMap(e any) bool {
	_, ok := e.(map[string]any)
	return ok
}

// grow adds fields to maps at random, except within lists: those may be one whole.
func grow(t *rapid.T, m map[string]any) {
	for _, k := range slices.Sorted(maps.Keys(m)) {
		if inner, ok := m[k].(map[string]any); ok && k != "metadata" {
			grow(t, inner)
		}
	}
	if rapid.Bool().Draw(t, "grow") {
		m["added"] = "by another"
	}
}

// leavesOf returns, for every leaf that is no key of an element, a function that changes it.
func leavesOf(m map[string]any, depth int) []func(*rapid.T) {
	var out []func(*rapid.T)
	for _, k := range slices.Sorted(maps.Keys(m)) {
		if depth == 0 && (k == "apiVersion" || k == "kind") || depth > 0 && elementKeys[k] {
			continue
		}
		switch v := m[k].(type) {
		case map[string]any:
			out = append(out, leavesOf(v, depth+1)...)
		case []any:
			for _, e := range v {
				out = append(out, leavesOf(e.(map[string]any), depth+1)...)
			}
		default:
			out = append(out, changing(m, k))
		}
	}
	return out
}

func changing(m map[string]any, k string) func(*rapid.T) {
	return func(t *rapid.T) {
		if rapid.Bool().Draw(t, "remove") {
			delete(m, k)
		} else {
			m[k] = "changed by hand"
		}
	}
}

var elementKeys = map[string]bool{
	"name": true, "port": true, "containerPort": true, "protocol": true, "ip": true, "mountPath": true, "topologyKey": true,
	"whenUnsatisfiable": true,
}
