// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	intentv1alpha1 "github.com/nexus-operator/nexus-operator/api/intent/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/testkit/extent"
)

// policyTimeout limits how long policies may take to come or go.
const policyTimeout = 30 * time.Second

// intentOf is a SecurityIntent, removed at the end of the test.
func (x *tool) intentOf(name, id string, params intentv1alpha1.Params) *intentv1alpha1.SecurityIntent {
	x.Helper()
	si := &intentv1alpha1.SecurityIntent{ObjectMeta: metav1.ObjectMeta{Name: name}}
	si.Spec.Intent.ID, si.Spec.Intent.Action, si.Spec.Intent.Params = id, intentv1alpha1.Block, params
	x.Cleanup(func() { _ = x.Client.Delete(x.Ctx(), si) })
	return si
}

func (x *tool) bindingOf(name string, labels map[string]string, intents ...string) *intentv1alpha1.SecurityIntentBinding {
	b := &intentv1alpha1.SecurityIntentBinding{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: x.Namespace}}
	b.Spec.Selector.WorkloadSelector = &intentv1alpha1.LabelSelector{MatchLabels: labels}
	for _, i := range intents {
		b.Spec.Intents = append(b.Spec.Intents, intentv1alpha1.MatchIntent{Name: i})
	}
	return b
}

// derived are the policies of a namespace and the NetworkPolicies that enforce them, by kind and name.
func (x *tool) derived(namespace string) map[string]string {
	x.Helper()
	out := map[string]string{}
	for kind, list := range map[string]client.ObjectList{"NimbusPolicy": &intentv1alpha1.NimbusPolicyList{},
		"NetworkPolicy": &networkingv1.NetworkPolicyList{}, "SecurityIntentBinding": &intentv1alpha1.SecurityIntentBindingList{}} {
		if err := x.Client.List(x.Ctx(), list, client.InNamespace(namespace)); err != nil {
			x.Fatal(err)
		}
		_ = meta.EachListItem(list, func(o runtime.Object) error {
			m, err := runtime.DefaultUnstructuredConverter.ToUnstructured(o)
			if err != nil {
				x.Fatal(err)
			}
			spec, err := json.Marshal(m["spec"])
			if err != nil {
				x.Fatal(err)
			}
			out[kind+"/"+(&unstructured.Unstructured{Object: m}).GetName()] = string(spec)
			return nil
		})
	}
	return out
}

// follow applies a manifest and compares what becomes of the policies with the plan of it.
func (x *tool) follow(what string, items []item, manifest, namespace string, settled func()) map[string]string {
	x.Helper()
	planned := map[string]string{}
	for _, it := range items {
		if it.Problem != nil || it.Waits != "" {
			x.Errorf("%s: %+v", what, it)
		}
		if it.Action != "None" && it.Namespace == namespace &&
			slices.Contains([]string{"NimbusPolicy", "NetworkPolicy", "SecurityIntentBinding"}, it.Kind) {
			planned[it.title()] = it.Action
		}
	}
	before := x.derived(namespace)
	x.apply(manifest)
	settled()
	after, made := x.derived(namespace), map[string]string{}
	for name, spec := range after {
		switch was, existed := before[name]; {
		case !existed:
			made[name] = "Create"
		case was != spec:
			made[name] = "Update"
		}
	}
	for name := range before {
		if _, exists := after[name]; !exists {
			made[name] = "Delete"
		}
	}
	if !maps.Equal(planned, made) || len(made) == 0 {
		x.Errorf("%s: planned %v, made %v", what, planned, made)
	}
	return planned
}

func TestPlan_ListsThePoliciesOfSecurityIntents(t *testing.T) {
	extent.Full(t)
	x := newTool(t, "--check-interval=1h")
	dns := x.intentOf("planned-dns", "dnsManipulation", intentv1alpha1.Params{"otherEgress": {"allow"}})
	calls := x.intentOf("planned-calls", "networkSegmentation", intentv1alpha1.Params{"fromNamespaces": {x.Namespace}})
	web := x.bindingOf("web", map[string]string{"app": "web"}, dns.Name)
	waiting := x.run(x.manifest(web), "plan", "-f", "-")
	if waiting.code != 0 || !strings.Contains(waiting.out, "waits for SecurityIntent planned-dns to be created") {
		t.Errorf("without its intent: exit code %d\n%s%s", waiting.code, waiting.out, waiting.err)
	}
	ready := func(o client.Object) func() {
		return func() {
			u := &unstructured.Unstructured{}
			u.SetGroupVersionKind(intentv1alpha1.GroupVersion.WithKind("SecurityIntentBinding"))
			u.SetNamespace(o.GetNamespace())
			u.SetName(o.GetName())
			x.Ready(u)
			x.Quiet()
		}
	}
	items := x.plan(x.manifest(dns, web), "-f", "-")
	planned := x.follow("create", items, x.manifest(dns, web), x.Namespace, ready(web))
	if planned["NimbusPolicy/web"] != "Create" || len(planned) < 3 {
		t.Errorf("%v", planned)
	}
	for _, it := range items {
		if want := map[string]string{"NetworkPolicy": "Disrupts", "NimbusPolicy": "Safe"}[it.Kind]; want != "" && it.Risk != want {
			t.Errorf("%s: risk %s, want %s", it.title(), it.Risk, want)
		}
	}
	x.unchanged(x.manifest(dns, web), "-f", "-")
	x.unchanged("", "sib/web", "-n", x.Namespace)

	// A second binding on the same pods divides them anew.
	all := x.bindingOf("all", map[string]string{}, calls.Name, dns.Name)
	x.follow("another binding", x.plan(x.manifest(calls, all), "-f", "-"), x.manifest(calls, all), x.Namespace, ready(all))
	x.unchanged(x.manifest(calls, all, dns, web), "-f", "-")

	// An edited intent reaches bindings that the manifests do not have.
	dns.Spec.Intent.Params = nil
	items = x.plan(x.manifest(dns), "-f", "-")
	planned = x.follow("edited intent", items, x.manifest(dns), x.Namespace, ready(web))
	if planned["NimbusPolicy/web"] != "Update" || planned["NimbusPolicy/all"] != "Update" {
		t.Errorf("%v", planned)
	}
	x.unchanged("", "sib/web", "sib/all", "-n", x.Namespace)

	dns.Spec.Intent.Params = intentv1alpha1.Params{"otherEgress": {"perhaps"}}
	if a := x.run(x.manifest(dns), "plan", "-f", "-"); a.code != 1 || !strings.Contains(a.out, "spec.intent") ||
		!strings.Contains(a.out, "otherEgress") {
		t.Errorf("a wrong parameter: exit code %d\n%s%s", a.code, a.out, a.err)
	}
}

func TestPlan_ListsThePoliciesOfACapability(t *testing.T) {
	extent.Full(t)
	x := newTool(t, "--check-interval=1h")
	c := x.Capability("examples/capability-with-intents.yaml")
	var objs []client.Object
	for _, o := range x.File("examples/capability-with-intents.yaml") {
		if o.GetKind() == "SecurityIntent" {
			objs = append(objs, o)
			x.Cleanup(func() { _ = x.Client.Delete(x.Ctx(), o) })
		}
	}
	manifest := x.manifest(append(objs, c)...)
	running := func() { x.Running(c); x.Quiet() }
	planned := x.follow("create", x.plan(manifest, "-f", "-"), manifest, c.Namespace, running)
	if planned["SecurityIntentBinding/guarded-dev-policies"] != "Create" || planned["NimbusPolicy/guarded-dev-policies"] != "Create" ||
		planned["NimbusPolicy/guarded-dev-backend-policies"] != "Create" {
		t.Errorf("%v", planned)
	}
	x.unchanged(manifest, "-f", "-")

	x.Op.Stop() // or it would make it again at once
	made := slices.DeleteFunc(slices.Sorted(maps.Keys(planned)),
		func(title string) bool { return !strings.HasPrefix(title, "NetworkPolicy/") })
	np := &networkingv1.NetworkPolicy{ObjectMeta: metav1.ObjectMeta{Name: strings.TrimPrefix(made[0], "NetworkPolicy/"),
		Namespace: c.Namespace}}
	if err := x.Client.Delete(x.Ctx(), np); err != nil {
		t.Fatal(err)
	}
	if a := x.run("", "plan", "ncap/"+c.Name, "-n", c.Namespace, "--exit-code"); a.code != 1 ||
		!strings.Contains(a.out, "+ NetworkPolicy "+c.Namespace+"/"+np.Name+": create (disrupts what runs)") {
		t.Errorf("a policy that was deleted by hand: exit code %d\n%s%s", a.code, a.out, a.err)
	}
	x.Restart("--check-interval=1h")
	x.Eventually(policyTimeout, "the operator to make the policy again", func() error { return x.Get(np) })

	next := c.DeepCopy()
	next.Spec.Security.Intents = []nexusv1.IntentReference{{Name: "guarded-dns"}}
	planned = x.follow("an intent removed", x.plan(x.manifest(next), "-f", "-"), x.manifest(next), c.Namespace, func() {
		c.Spec = next.Spec
		if err := x.Get(c); err != nil {
			t.Fatal(err)
		}
		running()
		x.Gone(&intentv1alpha1.SecurityIntentBinding{ObjectMeta: metav1.ObjectMeta{Name: "guarded-dev-backend-policies", Namespace: c.Namespace}})
		x.Eventually(policyTimeout, "the policies of the binding to be gone", func() error {
			for name := range x.derived(c.Namespace) {
				if strings.HasSuffix(name, "/guarded-dev-backend-policies") {
					return errors.New(name + " exists")
				}
			}
			return nil
		})
		x.Quiet()
	})
	if planned["SecurityIntentBinding/guarded-dev-backend-policies"] != "Delete" ||
		planned["NimbusPolicy/guarded-dev-backend-policies"] != "Delete" {
		t.Errorf("%v", planned)
	}
}
