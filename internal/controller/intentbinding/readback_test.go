// SPDX-License-Identifier: Apache-2.0

package intentbinding

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/nexus-operator/nexus-operator/api/intent/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/apply"
	"github.com/nexus-operator/nexus-operator/internal/catalog"
	"github.com/nexus-operator/nexus-operator/internal/intent"
	"github.com/nexus-operator/nexus-operator/internal/intentfacts"
)

// keeper is an API server that keeps the applied objects as a webhook or an older schema has changed them.
type keeper struct {
	client.WithWatch
	scheme *runtime.Scheme
	change func(object map[string]any)
	kept   *unstructured.Unstructured
	writes int
}

func (k *keeper) Scheme() *runtime.Scheme { return k.scheme }

func (k *keeper) Get(_ context.Context, key client.ObjectKey, into client.Object, _ ...client.GetOption) error {
	if k.kept == nil {
		return apierrors.NewNotFound(schema.GroupResource{}, key.Name)
	}
	if u, ok := into.(*unstructured.Unstructured); ok {
		u.Object = k.kept.DeepCopy().Object
		return nil
	}
	return runtime.DefaultUnstructuredConverter.FromUnstructured(k.kept.DeepCopy().Object, into)
}

func (k *keeper) Apply(_ context.Context, o runtime.ApplyConfiguration, _ ...client.ApplyOption) error {
	text, err := json.Marshal(o)
	if err != nil {
		return err
	}
	k.writes++
	u := &unstructured.Unstructured{}
	if err := u.UnmarshalJSON(text); err != nil {
		return err
	}
	u.SetUID("uid-of-the-object")
	u.SetResourceVersion(fmt.Sprint(10 + k.writes))
	k.change(u.Object)
	k.kept = u
	o.(interface{ SetUnstructuredContent(map[string]any) }).SetUnstructuredContent(u.DeepCopy().Object)
	return nil
}

// Patch changes nothing: the server adds the fields again that a patch takes out.
func (k *keeper) Patch(_ context.Context, o client.Object, _ client.Patch, _ ...client.PatchOption) error {
	k.writes++
	o.(*unstructured.Unstructured).Object = k.kept.DeepCopy().Object
	return nil
}

// alteration is something that becomes of a field on its way to the store.
type alteration struct {
	name string
	do   func(object map[string]any)
}

// alterations of all that is below a field: each is dropped, each scalar is replaced, each list gets shorter.
func alterations(object map[string]any, field string) []alteration {
	var out []alteration
	add := func(name string, path []any, change func(parent any)) {
		out = append(out, alteration{name, func(o map[string]any) { change(at(o, path)) }})
	}
	var walk func(path []any, v any)
	walk = func(path []any, v any) {
		parent, last := path[:len(path)-1], path[len(path)-1]
		name := nameOf(path)
		if key, ok := last.(string); ok {
			add(name+" dropped", parent, func(p any) { delete(p.(map[string]any), key) })
		}
		switch v := v.(type) {
		case map[string]any:
			for _, k := range slices.Sorted(maps.Keys(v)) {
				walk(append(slices.Clone(path), k), v[k])
			}
		case []any:
			for i := range v {
				walk(append(slices.Clone(path), i), v[i])
			}
			if len(v) > 0 { // no list holds lists
				add(name+" shorter", parent, func(p any) { set(p, last, v[1:]) })
			}
		default:
			add(name+" replaced", parent, func(p any) { set(p, last, another(v)) })
		}
	}
	walk([]any{field}, object[field])
	return out
}

func nameOf(path []any) string {
	parts := make([]string, len(path))
	for i, p := range path {
		parts[i] = fmt.Sprint(p)
	}
	return strings.Join(parts, ".")
}

func at(v any, path []any) any {
	for _, p := range path {
		switch p := p.(type) {
		case string:
			v = v.(map[string]any)[p]
		case int:
			v = v.([]any)[p]
		}
	}
	return v
}

func set(parent, place, v any) {
	switch p := parent.(type) {
	case map[string]any:
		p[place.(string)] = v
	case []any:
		p[place.(int)] = v
	}
}

func another(v any) any {
	switch v := v.(type) {
	case bool:
		return !v
	case int64:
		return v + 1
	case float64:
		return v + 1
	default:
		return fmt.Sprint(v) + "x"
	}
}

// exampleIntents are the intents that the examples of the repository hold, with all of their parameters.
func exampleIntents(t *testing.T) intentsByName {
	t.Helper()
	files, err := filepath.Glob("../../../examples/intents/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	out := intentsByName{}
	for _, f := range files {
		i := &v1alpha1.SecurityIntent{}
		if read(t, f, i); i.Kind == "SecurityIntent" {
			out[i.Name] = i
		}
	}
	return out
}

func read(t *testing.T, file string, into any) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err == nil {
		err = yaml.Unmarshal(text, into)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// readbackFacts returns the facts of clusters that give each engine something to make.
func readbackFacts(t *testing.T) []intent.Facts {
	t.Helper()
	patches := &corev1.ConfigMap{}
	read(t, "../../../examples/catalogs/virtual-patches.yaml", patches)
	known, err := intent.ParsePatches(patches.Data[intentfacts.PatchesKey])
	if err != nil {
		t.Fatal(err)
	}
	usual := intent.Facts{
		NamespaceLabels: map[string]string{"istio-injection": "enabled"}, MeshRootNamespace: "istio-system", TrustDomain: "cluster.local",
		DNS:     intent.ClusterDNS{Namespace: "kube-system", Labels: map[string]string{"k8s-app": "kube-dns"}, Ports: []int32{5353}},
		Patches: intent.Patches{Known: known}, TLS: intent.TLS{Image: "registry.example.com/assessor:1"}, AppArmor: true,
	}
	auto := usual
	auto.AutoMode, auto.Credentials, auto.DNS = intent.AllNodes, intent.PodIdentityNetworks(), intent.ClusterDNS{Networks: intent.PodIdentityNetworks()[:1]}
	return []intent.Facts{usual, auto}
}

// objectsOf calls a function with each object that an engine makes for a rule alone, of a binding and of a cluster binding.
func objectsOf(t *testing.T, e intent.Engine, do func(p intent.Policy, r intent.Translation)) {
	t.Helper()
	variants := []intent.Engine{e}
	if v, ok := e.(intent.Varied); ok {
		variants = append(variants, v.Variants()...)
	}
	intents := exampleIntents(t)
	for _, name := range slices.Sorted(maps.Keys(intents)) {
		var policies []intent.Policy
		for _, b := range []client.Object{bindingTo("guard", name), overNamespaces("guard", []string{team}, name)} {
			res := intent.Resolve(intentfacts.BindingOf(b), intents, []intent.Namespace{{Name: team}}, intent.Options{OperatorNamespace: "nexus-system"})
			policies = append(policies, res.Policies...)
			if res.Cluster != nil {
				policies = append(policies, *res.Cluster)
			}
		}
		for _, p := range policies {
			for _, v := range variants {
				for _, f := range readbackFacts(t) {
					do(p, v.Translate(p, f))
				}
			}
		}
	}
}

func TestReadBack_WhatTheServerDoesNotKeepIsNotEnforced(t *testing.T) {
	scheme := runtime.NewScheme()
	if err := clientgoscheme.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	for _, e := range catalog.Engines() {
		t.Run(e.Name(), func(t *testing.T) {
			seen, tried := map[string]bool{}, 0
			objectsOf(t, e, func(p intent.Policy, got intent.Translation) {
				for _, o := range got.Objects {
					for _, a := range alterations(o.Object, "spec") {
						if o.GetKind() == "CronJob" && strings.HasSuffix(a.name, ".name dropped") {
							continue // the API server refuses containers and variables without a name
						}
						if id := fmt.Sprint(o.GroupVersionKind(), o.Object["spec"], a.name); !seen[id] {
							seen[id] = true
							tried++
							checkKept(t, scheme, e, p, got, o, a)
						}
					}
				}
			})
			if tried == 0 {
				t.Error("the examples have no intent for the engine")
			}
		})
	}
}

// checkKept applies an object twice to a server that alters it, and checks that nothing is claimed for its rule.
func checkKept(t *testing.T, scheme *runtime.Scheme, e intent.Engine, p intent.Policy, got intent.Translation, o *unstructured.Unstructured, a alteration) {
	t.Helper()
	server := &keeper{scheme: scheme, change: a.do}
	applier := &apply.Applier{Client: server, Live: server}
	owner := apply.Owner{
		Kind: intentfacts.PolicyKinds[0], Namespace: p.Namespace, Name: p.Name, UID: types.UID("uid-of-the-policy"), Label: LabelPolicyOwner, Sole: true,
	}
	if p.Namespace == "" {
		owner.Kind = intentfacts.PolicyKinds[1]
	}
	for pass := range 3 {
		p := piece{object: o.DeepCopy()}
		p.res, p.err = applier.Apply(t.Context(), owner, p.object)
		report := intent.EngineReport{Engine: e.Name(), Claims: slices.Clone(got.Claims)}
		recordOutcome(&report, p)
		for _, c := range report.Claims {
			if c.Intent == p.rule() && c.Level != v1alpha1.LevelNone {
				t.Errorf("pass %d over %s %s, %s: claimed %s, although the server keeps it otherwise", pass, o.GetKind(), o.GetName(), a.name, c.Level)
				return
			}
		}
	}
	if server.writes > 2 { // an apply, and a patch that takes out what the server added
		t.Errorf("%s %s, %s: written %d times in 3 passes, although the server insists", o.GetKind(), o.GetName(), a.name, server.writes)
	}
}
