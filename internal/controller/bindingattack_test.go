// SPDX-License-Identifier: Apache-2.0

package controller_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	networkingv1 "k8s.io/api/networking/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	intentv1alpha1 "github.com/nexus-operator/nexus-operator/api/intent/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/testkit/enginecrds"
	"github.com/nexus-operator/nexus-operator/internal/testkit/extent"
)

// userWith returns a client of a user who has one ClusterRole in a namespace, and no other right.
func (h *home) userWith(ns, name, role string) client.Client {
	h.Helper()
	user := name + "-" + ns
	cfg, err := h.w.UserConfig(user, "system:authenticated")
	if err != nil {
		h.Fatal(err)
	}
	c, err := client.New(cfg, client.Options{Scheme: h.c.Scheme()})
	if err != nil {
		h.Fatal(err)
	}
	h.make(&rbacv1.RoleBinding{
		ObjectMeta: meta1(ns, name), RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role},
		Subjects: []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: "User", Name: user}},
	})
	return c
}

// tenant is a client of a user with Kubernetes' edit role in one namespace, and no other right.
func (h *home) tenant(ns string) client.Client {
	h.Helper()
	c := h.userWith(ns, "tenant", "edit")
	h.eventually("the tenant to have rights", func() error {
		return c.List(h.ctx(), &intentv1alpha1.SecurityIntentBindingList{}, client.InNamespace(ns))
	})
	return c
}

func (h *home) as(c client.Client, objs ...client.Object) {
	h.Helper()
	for _, o := range objs {
		if err := c.Create(h.ctx(), o); err != nil {
			h.Fatal(err)
		}
		h.Cleanup(func() { _ = h.c.Delete(context.Background(), o) })
	}
}

// deletions records the NetworkPolicies that are deleted in a namespace.
func (h *home) deletions(ns string) func() []string {
	h.Helper()
	w, err := client.NewWithWatch(h.w.Config(), client.Options{Scheme: h.c.Scheme()})
	if err != nil {
		h.Fatal(err)
	}
	events, err := w.Watch(h.ctx(), &networkingv1.NetworkPolicyList{}, client.InNamespace(ns))
	if err != nil {
		h.Fatal(err)
	}
	return func() []string {
		events.Stop()
		var out []string
		for e := range events.ResultChan() {
			if e.Type == "DELETED" {
				out = append(out, e.Object.(client.Object).GetName())
			}
		}
		return out
	}
}

// A tenant's binding with an object that cannot be written once took over the pods of an administrator's.
func TestABindingInConflictTakesNoPodsOver(t *testing.T) {
	h := start(t)
	ns := h.namespace(nil)
	tenant := h.tenant(ns)
	deny := h.declared("dnsManipulation", intentv1alpha1.Block, nil)
	admin := h.over("z-"+ns,
		intentv1alpha1.NamespaceSelector{MatchNames: []intentv1alpha1.NamespaceName{intentv1alpha1.NamespaceName(ns)}}, deny)
	h.make(admin)
	h.covers(admin, "dnsManipulation", "NetworkPolicy", "Enforced", "")
	deleted := h.deletions(ns)
	// Both the policy's name and the object's are taken.
	theirs := &networkingv1.NetworkPolicy{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "a1-dnsmanipulation"}}
	theirs.Spec.PodSelector.MatchLabels = map[string]string{"app": "none"}
	theirs.Spec.PolicyTypes = []networkingv1.PolicyType{"Ingress"}
	h.as(tenant, theirs)
	h.make(&intentv1alpha1.NimbusPolicy{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "a2"}, Spec: intentv1alpha1.NimbusPolicySpec{
		Rules: []intentv1alpha1.Rule{{ID: "dnsManipulation", Rule: intentv1alpha1.RuleDetail{Action: "Block"}}}}})
	a1, a2 := h.binds(ns, "a1", nil, deny), h.binds(ns, "a2", nil, deny)
	h.as(tenant, a1, a2)
	for _, b := range []client.Object{a1, a2} {
		h.shows(b, "Conflict", "True", "Conflict")
		h.shows(b, "Enforced", "False", "NotEnforced")
	}
	h.quiet()
	h.covers(admin, "dnsManipulation", "NetworkPolicy", "Enforced", "")
	h.there(networkPolicy, ns, "nimbus-ctlr-gen-z-"+ns+"-dnsmanipulation")
	if d := deleted(); len(d) > 0 {
		t.Errorf("deleted: %v", d)
	}
}

// A deleted neighbor takes its objects with it, by the garbage collector, which waits for no one.
func TestWhatANeighborHoldsStaysClosedWhenItGoes(t *testing.T) {
	extent.Full(t)
	h := start(t)
	ns := h.namespace(nil)
	tenant := h.tenant(ns)
	wide := h.binds(ns, "wide", app, h.declared("denyExternalNetworkAccess", intentv1alpha1.Block, nil))
	narrow := h.binds(ns, "narrow", app, h.declared("dnsManipulation", intentv1alpha1.Block, nil))
	h.as(tenant, wide, narrow)
	h.covers(wide, "denyExternalNetworkAccess", "NetworkPolicy", "Enforced", "")
	h.covers(narrow, "dnsManipulation", "NetworkPolicy", "Enforced", "")
	h.stop() // the operator is away
	h.remove(narrow)
	h.gone(networkPolicy, ns, "narrow-dnsmanipulation")
	u := h.there(networkPolicy, ns, "wide-denyexternalnetworkaccess")
	if types, _, _ := unstructured.NestedStringSlice(u.Object, "spec", "policyTypes"); !slices.Equal(types, []string{"Ingress", "Egress"}) {
		t.Errorf("what is left restricts %v", types)
	}
}

func TestTenantsCannotTakeReservedNames(t *testing.T) {
	h := start(t)
	ns := h.namespace(nil)
	b := h.binds(ns, "nimbus-ctlr-gen-all", app, h.unmade("dnsManipulation", intentv1alpha1.Block, nil))
	if err := h.tenant(ns).Create(h.ctx(), b); !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), "reserved") {
		t.Errorf("%v", err)
	}
}

func TestFieldsOfOtherVersionsAreRefusedAndNotPruned(t *testing.T) {
	h := start(t)
	ns := h.namespace(nil)
	for selector, problem := range map[string]string{
		`{"selector":{"any":[{"resources":{"kind":"Pod"}}]}}`:                                                "any, all and match",
		`{"selector":{"match":{"any":[]}}}`:                                                                  "any, all and match",
		`{"selector":{"matchExpressions":[{"key":"a","operator":"Exists"}]}}`:                                "matchExpressions",
		`{"selector":{"workloadSelector":{"matchExpressions":[{"key":"a","operator":"Exists"}]}}}`:           "matchExpressions",
		`{"cel":["labels.a == 'b'"],"selector":{"nsSelector":{"matchNames":["x"]}}}`:                         "cel is not supported",
		`{"selector":{"cel":["labels.a == 'b'"],"nsSelector":{"matchNames":["x"]}}}`:                         "cel, matchLabels",
		`{"selector":{"matchLabels":{"a":"b"},"nsSelector":{"matchNames":["x"]}}}`:                           "cel, matchLabels",
		`{"selector":{"nsSelector":{"matchNames":["x"],"matchLabels":{"a":"b"}}}}`:                           "selected by name only",
		`{"selector":{"nsSelector":{"matchNames":["x"]},"workloadSelector":{"matchExpressions":[{"a":1}]}}}`: "matchExpressions",
	} {
		kind, meta := "SecurityIntentBinding", fmt.Sprintf(`{"name":"a","namespace":%q}`, ns)
		if strings.Contains(selector, "nsSelector") {
			kind, meta = "Cluster"+kind, `{"name":"a"}`
		}
		u := &unstructured.Unstructured{}
		if err := u.UnmarshalJSON(fmt.Appendf(nil,
			`{"apiVersion":"intent.security.nimbus.com/v1alpha1","kind":%q,"metadata":%s,"spec":{"intents":[{"name":"a"}],%s`, kind, meta,
			selector[1:]+"}")); err != nil {
			t.Fatal(err)
		}
		if err := h.c.Create(h.ctx(), u); !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), problem) {
			t.Errorf("%s: %v", selector, err)
		}
	}
}

func TestAnAnnotationThatSwitchesAPolicyOffIsRemoved(t *testing.T) {
	extent.Full(t)
	h := start(t)
	h.install(enginecrds.Istio)
	ns := h.namespace(map[string]string{"istio-injection": "enabled"})
	b := h.binds(ns, "web", app, h.declared("apiSegmentation", intentv1alpha1.Block, intentv1alpha1.Params{"allowMethods": {"GET"}}))
	h.make(b)
	h.covers(b, "apiSegmentation", "Istio", "Enforced", "")
	live := h.there(istioAuthz, ns, h.derived(ns, istioAuthz)[0][len("AuthorizationPolicy/"):])
	h.alter(live, func() {
		annotations := live.GetAnnotations()
		annotations["istio.io/dry-run"], annotations["team.example.com/note"] = "true", "stays"
		live.SetAnnotations(annotations)
	})
	h.eventually("the annotation to be removed", func() error {
		u, err := h.object(istioAuthz, ns, live.GetName())
		if err != nil || u.GetAnnotations()["istio.io/dry-run"] != "" {
			return fmt.Errorf("%v %v", err, u.GetAnnotations())
		}
		if u.GetAnnotations()["team.example.com/note"] != "stays" {
			t.Error("an annotation of somebody else is gone")
		}
		return nil
	})
}

func TestAClusterBindingOverNoNamespaceIsNotEnforced(t *testing.T) {
	extent.Full(t)
	h := start(t)
	o := h.over("nowhere", intentv1alpha1.NamespaceSelector{MatchNames: []intentv1alpha1.NamespaceName{"does-not-exist"}},
		h.declared("dnsManipulation", intentv1alpha1.Block, nil))
	h.make(o)
	if message := h.shows(o, "Enforced", "False", "NamespaceMissing"); !strings.Contains(message, "does-not-exist") {
		t.Errorf("the message is %q", message)
	}
}

func TestAnOrphanCascadeLeavesNoStaleClaim(t *testing.T) {
	extent.Full(t)
	h := start(t)
	ns := h.namespace(nil)
	dns := h.declared("dnsManipulation", intentv1alpha1.Block, nil)
	b := h.binds(ns, "web", app, dns)
	h.make(b)
	h.covers(b, "dnsManipulation", "NetworkPolicy", "Enforced", "")
	if err := h.c.Delete(h.ctx(), b, client.PropagationPolicy(metav1.DeletePropagationOrphan)); err != nil {
		t.Fatal(err)
	}
	np := &intentv1alpha1.NimbusPolicy{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "web"}}
	h.shows(np, "Enforced", "False", "Abandoned")
	if len(np.Status.Coverage) > 0 {
		t.Errorf("coverage %+v", np.Status.Coverage)
	}
	h.there(networkPolicy, ns, "web-dnsmanipulation")
	h.make(h.binds(ns, "web", app, dns))
	h.covers(np, "dnsManipulation", "NetworkPolicy", "Enforced", "")
}

func TestRemovedLabelsAndOwnersHeal(t *testing.T) {
	extent.Full(t)
	h := start(t)
	h.install(enginecrds.KubeArmor)
	ns := h.namespace(nil)
	b := h.binds(ns, "web", app, h.declared("dnsManipulation", intentv1alpha1.Block, nil))
	h.make(b)
	h.shows(b, "Enforced", "True", "Enforced")
	for _, gvk := range []schema.GroupVersionKind{networkPolicy, kubeArmorPolicy, intentv1alpha1.GroupVersion.WithKind("NimbusPolicy")} {
		name := map[bool]string{true: "web", false: "web-dnsmanipulation"}[gvk.Kind == "NimbusPolicy"]
		u := h.there(gvk, ns, name)
		uid := u.GetUID()
		h.alter(u, func() {
			u.SetLabels(nil)
			u.SetOwnerReferences(nil)
		})
		h.eventually(gvk.Kind+" to have its label and owner again", func() error {
			u, err := h.object(gvk, ns, name)
			if err != nil || u.GetUID() != uid || len(u.GetOwnerReferences()) != 1 || u.GetLabels()["intent.security.nimbus.com/owner-uid"] == "" {
				return fmt.Errorf("%v %v %v", err, u.GetOwnerReferences(), u.GetLabels())
			}
			return nil
		})
	}
}

func TestANimbusPolicyThatIsNoneIsWritten(t *testing.T) {
	extent.Full(t)
	h := start(t)
	ns := h.namespace(nil)
	b := h.binds(ns, "web", app, h.unmade("dnsManipulation", intentv1alpha1.Block, nil))
	h.make(b)
	h.shows(b, "Ready", "False", "IntentMissing")
	u, err := h.object(intentv1alpha1.GroupVersion.WithKind("SecurityIntentBinding"), ns, "web")
	if err != nil {
		t.Fatal(err)
	}
	if name, there, _ := unstructured.NestedString(u.Object, "status", "nimbusPolicy"); !there || name != "" {
		t.Errorf("status.nimbusPolicy %q, there %v", name, there)
	}
}
