// SPDX-License-Identifier: Apache-2.0

package controller_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	eventsv1 "k8s.io/api/events/v1"
	networkingv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	intentv1alpha1 "github.com/nexus-operator/nexus-operator/api/intent/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/testkit/enginecrds"
	"github.com/nexus-operator/nexus-operator/internal/testkit/extent"
	"github.com/nexus-operator/nexus-operator/internal/testkit/world"
)

func TestABindingAndItsIntentsComeInAnyOrder(t *testing.T) {
	extent.Full(t)
	h := start(t)
	h.install(enginecrds.KubeArmor)
	dns, escape := h.unmade("dnsManipulation", intentv1alpha1.Block, nil), h.unmade("escapeToHost", intentv1alpha1.Block, nil)
	// At "." the intents are given time until the operator has seen them.
	for order, limit := range map[string]int{"bed": 14, "bde": 14, "dbe": 14, "edb": 14, "deb": 14, "de.b": 10} {
		ns := h.namespace(nil)
		things := map[rune]client.Object{'b': h.binds(ns, "web", app, dns, escape), 'd': dns.DeepCopy(), 'e': escape.DeepCopy()}
		events := h.writes(func() {
			for _, o := range order {
				if o == '.' {
					h.shows(things['d'], "Ready", "True", "Ready")
					h.shows(things['e'], "Ready", "True", "Ready")
					continue
				}
				h.make(things[o])
			}
			h.shows(things['b'], "Ready", "True", "Ready")
		})
		want := []string{
			"KubeArmorPolicy/web-dnsmanipulation", "KubeArmorPolicy/web-escapetohost-disallowcapabilities",
			"KubeArmorPolicy/web-escapetohost-disallowchroot",
			"KubeArmorPolicy/web-escapetohost-swdeploymenttools", "NetworkPolicy/web-dnsmanipulation",
		}
		if got := h.derived(ns, kubeArmorPolicy, networkPolicy); !slices.Equal(got, want) {
			t.Errorf("%s: %q", order, got)
		}
		if len(events) > limit { // eight, and the statuses of two intents; more where the binding comes before an intent
			t.Errorf("%s: %d writes, at most %d:\n%v", order, len(events), limit, events)
		}
		h.remove(things['b'], things['d'], things['e'])
		h.gone(networkPolicy, ns, "web-dnsmanipulation")
		h.gone(kubeArmorPolicy, ns, "web-escapetohost-disallowchroot")
	}
}

func TestWithAllEnginesTheCountsAreThoseUsersKnow(t *testing.T) {
	extent.Full(t)
	h := start(t)
	h.install(allEngines...)
	ns := h.namespace(nil)
	dns, escape := h.declared("dnsManipulation", intentv1alpha1.Block, nil), h.declared("escapeToHost", "Enforce", nil)
	d, e := h.binds(ns, "d", app, dns), h.binds(ns, "e", app, escape)
	o := h.over("over-"+ns, intentv1alpha1.NamespaceSelector{MatchNames: []intentv1alpha1.NamespaceName{intentv1alpha1.NamespaceName(ns)}},
		escape)
	h.make(d, e, o)
	for _, b := range []client.Object{d, e, o} {
		h.shows(b, "Ready", "True", "Ready")
		h.shows(b, "Enforced", "True", "Enforced")
	}
	// KubeArmor alone enforces both intents: where the discovery of a new definition lags, Kyverno's policies follow.
	h.eventually("the policies of every engine", func() error {
		all := h.derived(ns, kubeArmorPolicy, networkPolicy, kyvernoPolicy, istioAuthz, istioPeer)
		count := func(prefix string) (n int) {
			for _, name := range all {
				if strings.HasPrefix(name[strings.Index(name, "/")+1:], prefix+"-") {
					n++
				}
			}
			return n
		}
		if count("d") != 2 || count("e") != 4 || count("nimbus-ctlr-gen-over") != 3 {
			return fmt.Errorf("%d, %d, %d objects: %q", count("d"), count("e"), count("nimbus-ctlr-gen-over"), all)
		}
		if got := h.derived("", kyvernoCluster); !slices.Equal(got, []string{"ClusterPolicy/over-" + ns + "-escapetohost"}) {
			return fmt.Errorf("cluster policies %q", got)
		}
		return nil
	})
	np := &intentv1alpha1.NimbusPolicy{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "e"}}
	h.shows(np, "KubeArmor", "True", "Enforced")
	h.shows(np, "Istio", "False", "NotCovered")
	if err := h.c.Get(h.ctx(), client.ObjectKeyFromObject(np), np); err != nil {
		t.Fatal(err)
	}
	if s := np.Status; s.NumberOfAdapterPolicies != 4 || s.Policies != 4 || s.Status != "Created" ||
		s.AdapterPolicies[0] != "KubeArmorPolicy/e-escapetohost-disallowchroot" || s.PoliciesName[3] != "e-escapetohost" {
		t.Errorf("status %+v", s)
	}
	if r := np.Spec.Rules[0]; r.ID != "escapeToHost" || r.Action != "Enforce" || r.Rule.Action != "Enforce" {
		t.Errorf("rule %+v", r)
	}
	h.remove(d, e, o)
	h.gone(kyvernoCluster, "", "over-"+ns+"-escapetohost")
	h.gone(kubeArmorPolicy, ns, "e-escapetohost-disallowchroot")
}

func TestEditsConvergeWithoutDeletingAndCreatingAgain(t *testing.T) {
	extent.Full(t)
	h := start(t)
	h.install(enginecrds.KubeArmor)
	ns := h.namespace(nil)
	dns, sw := h.declared("dnsManipulation", intentv1alpha1.Block, nil), h.declared("swDeploymentTools", intentv1alpha1.Block, nil)
	b := h.binds(ns, "web", app, dns, sw)
	h.make(b)
	h.shows(b, "Ready", "True", "Ready")
	uid := h.there(kubeArmorPolicy, ns, "web-swdeploymenttools").GetUID()

	h.alter(sw, func() { sw.Spec.Intent.Action = intentv1alpha1.Audit })
	h.covers(b, "swDeploymentTools", "KubeArmor", "Audited", "")
	live := h.there(kubeArmorPolicy, ns, "web-swdeploymenttools")
	if action, _, _ := unstructured.NestedString(live.Object, "spec", "action"); action != "Audit" || live.GetUID() != uid {
		t.Errorf("%s, created again: %v", action, live.GetUID() != uid)
	}
	if events := h.writes(func() {
		h.alter(b, func() { b.Spec.Selector.WorkloadSelector.MatchLabels = map[string]string{"app": "other"} })
		h.shows(b, "Ready", "True", "Ready")
	}); len(events) > 3+1+2 { // three objects, the policy, and the statuses of policy and binding
		t.Errorf("%d writes: %v", len(events), events)
	}
	if l, _, _ := unstructured.NestedStringMap(h.there(networkPolicy, ns, "web-dnsmanipulation").Object, "spec", "podSelector",
		"matchLabels"); l["app"] != "other" {
		t.Errorf("selects %v", l)
	}
	h.alter(b, func() { b.Spec.Selector = intentv1alpha1.WorkloadSelector{} })
	h.shows(b, "Ready", "True", "Ready")
	for _, u := range []*unstructured.Unstructured{
		h.there(networkPolicy, ns, "web-dnsmanipulation"), h.there(kubeArmorPolicy, ns, "web-dnsmanipulation"),
		h.there(intentv1alpha1.GroupVersion.WithKind("NimbusPolicy"), ns, "web"),
	} {
		if said := fmt.Sprint(u.Object["spec"]); strings.Contains(said, "other") {
			t.Errorf("%s still selects by label: %s", u.GetKind(), said)
		}
	}
	h.alter(b, func() { b.Labels = map[string]string{"team": "a"} })
	np := &intentv1alpha1.NimbusPolicy{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "web"}}
	h.eventually("labels to be copied", func() error {
		if err := h.c.Get(h.ctx(), client.ObjectKeyFromObject(np), np); err != nil || np.Labels["team"] != "a" {
			return fmt.Errorf("%v %v", np.Labels, err)
		}
		return nil
	})
	h.alter(b, func() { b.Spec.Intents = b.Spec.Intents[1:] })
	h.gone(networkPolicy, ns, "web-dnsmanipulation")
	h.gone(kubeArmorPolicy, ns, "web-dnsmanipulation")
	h.there(kubeArmorPolicy, ns, "web-swdeploymenttools")
}

func TestWithTheLastIntentEverythingGoesAndComesBackWithIt(t *testing.T) {
	extent.Full(t)
	h := start(t)
	ns := h.namespace(nil)
	dns := h.declared("dnsManipulation", intentv1alpha1.Block, nil)
	b := h.binds(ns, "web", app, dns)
	o := h.over("all-"+ns, intentv1alpha1.NamespaceSelector{MatchNames: []intentv1alpha1.NamespaceName{intentv1alpha1.NamespaceName(ns)}}, dns)
	o.Spec.Selector.WorkloadSelector.MatchLabels = map[string]string{"app": "other"}
	h.make(b, o)
	h.shows(b, "Ready", "True", "Ready")
	h.shows(o, "Ready", "True", "Ready")
	policy, over := intentv1alpha1.GroupVersion.WithKind("NimbusPolicy"), intentv1alpha1.GroupVersion.WithKind("ClusterNimbusPolicy")
	h.there(policy, ns, "nimbus-ctlr-gen-all-"+ns)
	h.there(over, "", "all-"+ns)
	h.remove(dns)
	for _, name := range []string{"web", "nimbus-ctlr-gen-all-" + ns} {
		h.gone(policy, ns, name)
		h.gone(networkPolicy, ns, name+"-dnsmanipulation")
	}
	h.gone(over, "", "all-"+ns)
	h.shows(b, "Ready", "False", "IntentMissing")
	if err := h.c.Get(h.ctx(), client.ObjectKeyFromObject(b), b); err != nil || b.Status.NimbusPolicy != "" ||
		b.Status.NumberOfBoundIntents != 0 {
		t.Errorf("%v %+v", err, b.Status)
	}
	h.declared("dnsManipulation", intentv1alpha1.Block, nil)
	h.shows(b, "Ready", "True", "Ready")
	h.there(networkPolicy, ns, "web-dnsmanipulation")
}

func TestWhatIsDerivedIsHealed(t *testing.T) {
	h := start(t)
	h.install(enginecrds.KubeArmor)
	ns := h.namespace(nil)
	b := h.binds(ns, "web", app, h.declared("dnsManipulation", intentv1alpha1.Block, nil))
	o := h.over("over-"+ns, intentv1alpha1.NamespaceSelector{MatchNames: []intentv1alpha1.NamespaceName{intentv1alpha1.NamespaceName(ns)}},
		h.declared("swDeploymentTools", intentv1alpha1.Block, nil))
	h.make(b, o)
	h.shows(b, "Ready", "True", "Ready")
	h.shows(o, "Ready", "True", "Ready")
	policy := intentv1alpha1.GroupVersion.WithKind("NimbusPolicy")
	edits := map[string]func(u *unstructured.Unstructured){
		"owner":       func(u *unstructured.Unstructured) { u.SetOwnerReferences(nil) },
		"labels":      func(u *unstructured.Unstructured) { u.SetLabels(nil) },
		"annotations": func(u *unstructured.Unstructured) { u.SetAnnotations(nil) },
		"rules": func(u *unstructured.Unstructured) {
			_ = unstructured.SetNestedSlice(u.Object, []any{map[string]any{"id": "x", "rule": map[string]any{"action": "Audit"}}}, "spec", "rules")
		},
		"selector": func(u *unstructured.Unstructured) {
			for _, path := range [][]string{{"spec", "selector", "matchLabels"}, {"spec", "podSelector", "matchLabels"}} {
				if _, there, _ := unstructured.NestedMap(u.Object, path[:2]...); there {
					_ = unstructured.SetNestedStringMap(u.Object, map[string]string{"app": "nothing"}, path...)
				}
			}
		},
		"an addition": func(u *unstructured.Unstructured) {
			switch u.GetKind() {
			case "NetworkPolicy":
				_ = unstructured.SetNestedSlice(u.Object, []any{map[string]any{}}, "spec", "ingress")
			case "KubeArmorPolicy":
				_ = unstructured.SetNestedSlice(u.Object, []any{map[string]any{"protocol": "tcp"}}, "spec", "network", "matchProtocols")
			}
		},
	}
	for what, edit := range edits {
		for _, u := range []*unstructured.Unstructured{
			h.there(policy, ns, "web"), h.there(networkPolicy, ns, "web-dnsmanipulation"), h.there(kubeArmorPolicy, ns, "web-dnsmanipulation"),
			h.there(policy, ns, "nimbus-ctlr-gen-over-"+ns), h.there(kubeArmorPolicy, ns, "nimbus-ctlr-gen-over-"+ns+"-swdeploymenttools"),
		} {
			if u.GetKind() == "NimbusPolicy" == (what == "an addition") || what == "rules" && u.GetKind() != "NimbusPolicy" {
				continue
			}
			h.healed(what, u, edit)
		}
	}
	for _, u := range []*unstructured.Unstructured{h.there(kubeArmorPolicy, ns, "web-dnsmanipulation"),
		h.there(networkPolicy, ns, "web-dnsmanipulation"), h.there(policy, ns, "web")} {
		uid := u.GetUID()
		if err := h.c.Delete(h.ctx(), u); err != nil {
			t.Fatal(err)
		}
		h.eventually(u.GetKind()+" to be made again", func() error {
			again, err := h.object(u.GroupVersionKind(), u.GetNamespace(), u.GetName())
			if err != nil || again.GetUID() == uid {
				return fmt.Errorf("%v", err)
			}
			return nil
		})
	}
	h.there(kubeArmorPolicy, ns, "web-dnsmanipulation")
	h.eventually("events to tell of it", func() error {
		events := &eventsv1.EventList{}
		if err := h.c.List(h.ctx(), events, client.InNamespace(ns)); err != nil {
			return err
		}
		for _, e := range events.Items {
			if e.Reason == "Drift" && e.Regarding.Kind == "NimbusPolicy" && strings.Contains(e.Note, "NetworkPolicy "+ns+"/web-dnsmanipulation") {
				return nil
			}
		}
		return fmt.Errorf("%d events, none of them", len(events.Items))
	})
}

// healed edits a live object and waits until it is as before, except for fields that the API server writes.
func (h *home) healed(what string, u *unstructured.Unstructured, edit func(*unstructured.Unstructured)) {
	h.Helper()
	before := shape(u)
	edited := u.DeepCopy()
	h.alter(edited, func() { edit(edited) })
	if shape(edited) == before {
		h.Fatalf("%s of %s: the edit changed nothing", what, u.GetName())
	}
	h.eventually(fmt.Sprintf("%s of %s %s to be healed", what, u.GetKind(), u.GetName()), func() error {
		now, err := h.object(u.GroupVersionKind(), u.GetNamespace(), u.GetName())
		if err != nil {
			return err
		}
		if shape(now) != before {
			return fmt.Errorf("%s\nand was\n%s", shape(now), before)
		}
		return nil
	})
}

func shape(u *unstructured.Unstructured) string {
	meta := u.Object["metadata"].(map[string]any)
	return fmt.Sprint(u.Object["spec"], meta["labels"], meta["annotations"], meta["ownerReferences"])
}

func TestAForeignObjectOfTheSameNameIsLeftAloneAndReported(t *testing.T) {
	h := start(t)
	ns := h.namespace(nil)
	theirs := &networkingv1.NetworkPolicy{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "web-dnsmanipulation"}}
	theirs.Spec.PodSelector.MatchLabels = map[string]string{"app": "unrelated"}
	theirs.Spec.PolicyTypes = []networkingv1.PolicyType{networkingv1.PolicyTypeIngress}
	h.make(theirs)
	version := theirs.ResourceVersion
	dns := h.declared("dnsManipulation", intentv1alpha1.Block, nil)
	b, other := h.binds(ns, "web", app, dns), h.binds(ns, "other", map[string]string{"app": "other"}, dns)
	h.make(b, other)
	message := h.shows(b, "Conflict", "True", "Conflict")
	if !strings.Contains(message, "web-dnsmanipulation") {
		t.Errorf("the message is %q", message)
	}
	h.shows(b, "Ready", "False", "Conflict")
	h.shows(b, "Enforced", "False", "NotEnforced")
	h.covers(b, "dnsManipulation", "NetworkPolicy", "None", "Conflict")
	h.shows(other, "Ready", "True", "Ready")
	if err := h.c.Get(h.ctx(), client.ObjectKeyFromObject(theirs), theirs); err != nil || theirs.ResourceVersion != version {
		t.Errorf("theirs was written: %v", err)
	}
	if err := h.c.Delete(h.ctx(), theirs); err != nil { // ours comes in its place
		t.Fatal(err)
	}
	h.shows(b, "Ready", "True", "Ready")
	h.covers(b, "dnsManipulation", "NetworkPolicy", "Enforced", "")
	if err := h.c.Get(h.ctx(), client.ObjectKeyFromObject(b), b); err != nil ||
		slices.ContainsFunc(b.Status.Conditions, func(c metav1.Condition) bool { return c.Type == "Conflict" }) {
		t.Errorf("the conflict is still told: %v", b.Status.Conditions)
	}
}

func TestEnginesComeAndGoWithoutARestart(t *testing.T) {
	extent.Full(t)
	h := start(t)
	ns := h.namespace(nil)
	b := h.binds(ns, "web", app, h.declared("swDeploymentTools", intentv1alpha1.Block, nil))
	h.make(b)
	for range 2 {
		h.covers(b, "swDeploymentTools", "KubeArmor", "None", "EngineMissing")
		h.shows(b, "Enforced", "False", "NotEnforced")
		h.install(enginecrds.KubeArmor)
		h.covers(b, "swDeploymentTools", "KubeArmor", "Enforced", "")
		h.shows(b, "Enforced", "True", "Enforced")
		u := h.there(kubeArmorPolicy, ns, "web-swdeploymenttools")
		h.healed("selector", u, func(u *unstructured.Unstructured) {
			_ = unstructured.SetNestedStringMap(u.Object, map[string]string{"app": "x"}, "spec", "selector", "matchLabels")
		})
		h.uninstall(enginecrds.KubeArmor)
	}
	h.covers(b, "swDeploymentTools", "KubeArmor", "None", "EngineMissing")
	h.covers(b, "swDeploymentTools", "Kyverno", "None", "EngineMissing")
	h.install(enginecrds.KyvernoNext)
	h.covers(b, "swDeploymentTools", "Kyverno", "None", "EngineVersionUnsupported")
}

func TestAClusterBindingFollowsItsNamespaces(t *testing.T) {
	extent.Full(t)
	h := start(t)
	h.install(enginecrds.Kyverno)
	first, left := h.namespace(nil), h.namespace(nil)
	o := h.over("over-"+first,
		intentv1alpha1.NamespaceSelector{ExcludeNames: []intentv1alpha1.NamespaceName{intentv1alpha1.NamespaceName(left)}},
		h.declared("dnsManipulation", intentv1alpha1.Block, intentv1alpha1.Params{"otherEgress": {"allow"}}),
		h.declared("escapeToHost", intentv1alpha1.Block, nil))
	h.make(o)
	h.shows(o, "Ready", "True", "Ready")
	name := "nimbus-ctlr-gen-over-" + first
	h.there(networkPolicy, first, name+"-dnsmanipulation")
	later := h.namespace(nil)
	h.there(networkPolicy, later, name+"-dnsmanipulation")
	policy := intentv1alpha1.GroupVersion.WithKind("NimbusPolicy")
	for _, ns := range []string{left, "kube-system", "nexus-system"} {
		if _, err := h.object(policy, ns, name); !apierrors.IsNotFound(err) {
			t.Errorf("namespace %s has a policy: %v", ns, err)
		}
	}
	excluded, _, _ := unstructured.NestedSlice(h.there(kyvernoCluster, "", "over-"+first+"-escapetohost").Object, "spec", "rules")
	for _, ns := range []string{left, "kube-system", "nexus-system"} {
		if !strings.Contains(fmt.Sprint(excluded), ns) {
			t.Errorf("the ClusterPolicy does not exclude %s: %v", ns, excluded)
		}
	}
	h.alter(o, func() {
		o.Spec.Selector.NsSelector = intentv1alpha1.NamespaceSelector{MatchNames: []intentv1alpha1.NamespaceName{intentv1alpha1.NamespaceName(left)}}
	})
	h.there(networkPolicy, left, name+"-dnsmanipulation")
	h.gone(networkPolicy, first, name+"-dnsmanipulation")
	h.gone(networkPolicy, later, name+"-dnsmanipulation")
	h.shows(o, "Ready", "True", "Ready")
	if err := h.c.Get(h.ctx(), client.ObjectKeyFromObject(o), o); err != nil || o.Status.NumberOfNimbusPolicies != 1 ||
		!slices.Equal(o.Status.NimbusPolicyNamespaces, []string{left}) {
		t.Errorf("%v %+v", err, o.Status)
	}
}

func TestOneSickBindingLeavesTheOthersAlone(t *testing.T) {
	extent.Full(t)
	h := start(t)
	ns := h.namespace(nil)
	dns := h.declared("dnsManipulation", intentv1alpha1.Block, nil)
	audit := h.unmade("dnsManipulation", intentv1alpha1.Audit, nil)
	audit.Name += "-audit"
	h.make(audit)
	sick, well := h.binds(ns, "sick", nil, dns), h.binds(ns, "well", nil, dns, audit)
	sick.Spec.CEL = []string{`labels["app"].startsWith("web")`}
	well.Spec.Selector.CEL = []string{`labels["app"] in ["web", "api"] && !has(labels.legacy)`}
	h.make(sick, well)
	if message := h.shows(sick, "SelectorUnsupported", "True", "SelectorUnsupported"); !strings.Contains(message, "startsWith") {
		t.Errorf("the message is %q", message)
	}
	h.shows(sick, "Ready", "False", "SelectorUnsupported")
	h.shows(well, "Ready", "True", "Ready")
	if message := h.shows(well, "DuplicateIntent", "True", "DuplicateIntent"); !strings.Contains(message, dns.Name) ||
		!strings.Contains(message, audit.Name) {
		t.Errorf("the message is %q", message)
	}
	np := h.there(networkPolicy, ns, "well-dnsmanipulation")
	if fight := h.writes(func() { h.passes("securityintentbinding", 1, func() { h.touch(ns) }) }); len(fight) > 0 {
		t.Errorf("two intents of one id are fought over: %v", fight)
	}
	if s, _, _ := unstructured.NestedSlice(np.Object, "spec", "podSelector", "matchExpressions"); len(s) != 2 {
		t.Errorf("selects %v", s)
	}
	if got := h.derived(ns, networkPolicy); len(got) != 1 {
		t.Errorf("a selector that cannot be translated selected something: %q", got)
	}
	h.alter(sick, func() { sick.Spec.CEL = []string{`labels["app"] == "other"`} })
	h.shows(sick, "Ready", "True", "Ready")
	h.there(networkPolicy, ns, "sick-dnsmanipulation")
	h.alter(sick, func() { sick.Spec.CEL = []string{`labels["app"] ==`} })
	h.shows(sick, "Ready", "False", "SelectorUnsupported")
	h.gone(networkPolicy, ns, "sick-dnsmanipulation")
}

func TestAForeignPolicyThatIsolatesIsNotWidened(t *testing.T) {
	extent.Full(t)
	h := start(t)
	ns := h.namespace(nil)
	b := h.binds(ns, "web", app, h.declared("dnsManipulation", intentv1alpha1.Block, intentv1alpha1.Params{"otherEgress": {"allow"}}))
	h.make(b)
	h.covers(b, "dnsManipulation", "NetworkPolicy", "Enforced", "")
	theirs := &networkingv1.NetworkPolicy{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "deny-all"}}
	theirs.Spec.PolicyTypes = []networkingv1.PolicyType{networkingv1.PolicyTypeEgress}
	h.make(theirs)
	h.gone(networkPolicy, ns, "web-dnsmanipulation")
	h.eventually("AlreadyIsolated to be told", func() error {
		if err := h.c.Get(h.ctx(), client.ObjectKeyFromObject(b), b); err != nil {
			return err
		}
		for _, c := range b.Status.Coverage {
			if c.Engine == "NetworkPolicy" && c.Reason == "AlreadyIsolated" && strings.Contains(c.Message, "deny-all") {
				return nil
			}
		}
		return fmt.Errorf("%+v", b.Status.Coverage)
	})
	h.remove(theirs)
	h.covers(b, "dnsManipulation", "NetworkPolicy", "Enforced", "")
	h.there(networkPolicy, ns, "web-dnsmanipulation")
}

func TestNeighborsOnTheSamePodsAllowWhatBothAllow(t *testing.T) {
	h := start(t)
	ns := h.namespace(nil)
	wide := h.binds(ns, "wide", app, h.declared("denyExternalNetworkAccess", intentv1alpha1.Block, nil))
	h.make(wide)
	h.shows(wide, "Ready", "True", "Ready")
	egress := func() int {
		u := h.there(networkPolicy, ns, "wide-denyexternalnetworkaccess")
		rules, _, _ := unstructured.NestedSlice(u.Object, "spec", "egress")
		return len(rules)
	}
	shared := 1 // with the narrower one
	if world.AutoMode() {
		shared = 2 // to the agent that gives credentials
	}
	if n := egress(); n != shared+1 {
		t.Fatalf("alone it has %d rules for egress", n)
	}
	narrow := h.binds(ns, "narrow", app, h.declared("dnsManipulation", intentv1alpha1.Block, nil))
	h.make(narrow)
	for n, step := range []func(){func() { h.covers(narrow, "dnsManipulation", "NetworkPolicy", "Enforced", "") },
		func() { h.remove(narrow) }} {
		step()
		h.eventually("the wider to follow", func() error {
			if got := egress(); got != n+shared {
				return fmt.Errorf("it has %d rules for egress", got)
			}
			return nil
		})
	}
	h.covers(wide, "denyExternalNetworkAccess", "NetworkPolicy", "Enforced", "")
}

func TestWithoutAdaptersTheCoreRunsAlone(t *testing.T) {
	extent.Full(t)
	h := start(t, "--adapters=networkpolicy")
	ns := h.namespace(nil)
	b := h.binds(ns, "web", app, h.declared("dnsManipulation", intentv1alpha1.Block, nil))
	h.make(b)
	h.there(networkPolicy, ns, "web-dnsmanipulation")
	h.covers(b, "dnsManipulation", "KubeArmor", "None", "EngineDisabled")
	h.stop()
	h = start(t, "--adapters=")
	h.covers(b, "dnsManipulation", "NetworkPolicy", "None", "EngineDisabled")
	h.gone(networkPolicy, ns, "web-dnsmanipulation")
	h.there(intentv1alpha1.GroupVersion.WithKind("NimbusPolicy"), ns, "web")
	h.shows(b, "Ready", "True", "Ready")
	h.shows(b, "Enforced", "False", "NotEnforced")
}

func TestARestartWritesNothing(t *testing.T) {
	h := start(t)
	h.install(allEngines...)
	dns, escape := h.declared("dnsManipulation", intentv1alpha1.Block, nil), h.declared("escapeToHost", intentv1alpha1.Block, nil)
	ns := h.namespace(map[string]string{"istio-injection": "enabled"})
	tls := h.declared("ensureTLS", intentv1alpha1.Block, nil)
	for i := range 5 {
		b := h.binds(ns, fmt.Sprint("b", i), map[string]string{"app": fmt.Sprint(i)}, dns, escape, tls)
		h.make(b)
		h.shows(b, "Ready", "True", "Ready")
	}
	o := h.over("over-"+ns, intentv1alpha1.NamespaceSelector{MatchNames: []intentv1alpha1.NamespaceName{intentv1alpha1.NamespaceName(ns)}},
		escape)
	h.make(o)
	h.shows(o, "Ready", "True", "Ready")
	h.writes(func() {})
	h.stop()
	probe := ""
	events := h.writes(func() {
		h = start(t)
		probe = h.passed(dns)
	})
	events = slices.DeleteFunc(events, func(e world.AuditEvent) bool { return e.Namespace == probe })
	if len(events) > 0 {
		t.Errorf("a restart wrote: %v", events)
	}
}

// passed waits until a started operator has been over everything there was: a new binding comes last. It
// returns the new binding's namespace.
func (h *home) passed(i *intentv1alpha1.SecurityIntent) string {
	h.Helper()
	probe := h.namespace(nil)
	b := h.binds(probe, "probe", app, i)
	h.make(b)
	h.shows(b, "Ready", "True", "Ready")
	return probe
}

func TestWhatAdmissionRefusesOfBindings(t *testing.T) {
	h := start(t)
	ns := h.namespace(nil)
	for name, manifest := range map[string]string{
		"spec.selector":            `{"spec":{"intents":[{"name":"a"}]}}`,
		"spec.intents":             `{"spec":{"intents":[],"selector":{}}}`,
		"spec.intents[0].name":     `{"spec":{"intents":[{"name":""}],"selector":{}}}`,
		"exactly one of":           `{"kind":"ClusterSecurityIntentBinding","spec":{"intents":[{"name":"a"}],"selector":{"nsSelector":{}}}}`,
		"spec.selector.nsSelector": `{"kind":"ClusterSecurityIntentBinding","spec":{"intents":[{"name":"a"}],"selector":{}}}`,
		"stands alone":             `{"kind":"ClusterSecurityIntentBinding","spec":{"intents":[{"name":"a"}],"selector":{"nsSelector":{"matchNames":["*","a"]}}}}`,
		"kube-system":              `{"kind":"ClusterSecurityIntentBinding","spec":{"intents":[{"name":"a"}],"selector":{"nsSelector":{"matchNames":["kube-system"]}}}}`,
		"spec.intent.id":           `{"kind":"SecurityIntent","spec":{"intent":{"id":"a b"}}}`,
		"spec.intent.action":       `{"kind":"SecurityIntent","spec":{"intent":{"id":"a","action":"Warn"}}}`,
	} {
		u := &unstructured.Unstructured{}
		if err := u.UnmarshalJSON([]byte(strings.Replace(manifest, "{",
			`{"apiVersion":"intent.security.nimbus.com/v1alpha1","metadata":{"name":"a"},`+
				map[bool]string{true: "", false: `"kind":"SecurityIntentBinding",`}[strings.Contains(manifest, "kind")], 1))); err != nil {
			t.Fatal(name, err)
		}
		if u.GetKind() == "SecurityIntentBinding" {
			u.SetNamespace(ns)
		}
		err := h.c.Create(h.ctx(), u)
		if !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestAnIntentThatCannotBeMeantIsReported(t *testing.T) {
	extent.Full(t)
	h := start(t)
	ns := h.namespace(nil)
	typo, bad := h.declared("dnsManipulations", intentv1alpha1.Block, nil),
		h.declared("dnsManipulation", intentv1alpha1.Block, intentv1alpha1.Params{"otherEgress": {"perhaps"}})
	h.shows(typo, "Ready", "False", "UnknownIntent")
	if message := h.shows(bad, "Stalled", "True", "InvalidParams"); !strings.Contains(message, "otherEgress") ||
		!strings.Contains(message, "deny, allow") {
		t.Errorf("the message is %q", message)
	}
	b := h.binds(ns, "web", app, typo, bad)
	h.make(b)
	h.covers(b, "dnsManipulations", "NetworkPolicy", "None", "UnknownIntent")
	h.covers(b, "dnsManipulation", "NetworkPolicy", "None", "InvalidParams")
	h.shows(b, "Enforced", "False", "NotEnforced")
	h.alter(bad, func() { bad.Spec.Intent.Params = nil })
	h.covers(b, "dnsManipulation", "NetworkPolicy", "Enforced", "")
	if err := h.c.Get(h.ctx(), client.ObjectKeyFromObject(bad), bad); err != nil || bad.Status.ID != "dnsManipulation" ||
		bad.Status.Action != "Block" || bad.Status.Status != "Created" {
		t.Errorf("%v %+v", err, bad.Status)
	}
}

func TestANamespaceThatJoinsTheMeshIsNoticed(t *testing.T) {
	extent.Full(t)
	h := start(t)
	h.install(enginecrds.Istio)
	ns := h.namespace(nil)
	b := h.binds(ns, "web", app, h.declared("ensureTLS", intentv1alpha1.Block, nil))
	h.make(b)
	h.covers(b, "ensureTLS", "Istio", "Partial", "NotInMesh")
	h.there(istioPeer, ns, "web-ensuretls")
	h.shows(b, "Enforced", "False", "NotEnforced")
	label := func(labels map[string]string) {
		u := &unstructured.Unstructured{}
		u.SetAPIVersion("v1")
		u.SetKind("Namespace")
		u.SetName(ns)
		h.alter(u, func() { u.SetLabels(labels) })
	}
	label(map[string]string{"istio-injection": "enabled"})
	h.covers(b, "ensureTLS", "Istio", "Enforced", "")
	h.shows(b, "Enforced", "True", "Enforced")
	label(nil)
	h.covers(b, "ensureTLS", "Istio", "Partial", "NotInMesh")
}

func TestANodeSelectorIsHonouredByNobodyAndEveryEngineSaysSo(t *testing.T) {
	extent.Full(t)
	h := start(t)
	h.install(allEngines...)
	ns := h.namespace(nil)
	o := h.over("nodes-"+ns, intentv1alpha1.NamespaceSelector{MatchNames: []intentv1alpha1.NamespaceName{intentv1alpha1.NamespaceName(ns)}},
		h.declared("escapeToHost", intentv1alpha1.Block, nil), h.declared("dnsManipulation", intentv1alpha1.Block, nil))
	o.Spec.Selector.NodeSelector.MatchLabels = map[string]string{"disk": "fast"}
	h.make(o)
	for _, engine := range []string{"NetworkPolicy", "KubeArmor", "Kyverno", "Istio", "TLSAssessor"} {
		h.covers(o, "escapeToHost", engine, "None", "NodeSelectorUnsupported")
		h.covers(o, "dnsManipulation", engine, "None", "NodeSelectorUnsupported")
	}
	h.shows(o, "Enforced", "False", "NotEnforced")
	if made := append(h.derived(ns, networkPolicy, kubeArmorPolicy, kyvernoPolicy), h.derived("", kyvernoCluster)...); len(made) > 0 {
		t.Errorf("made all the same: %q", made)
	}
	h.alter(o, func() { o.Spec.Selector.NodeSelector.MatchLabels = nil })
	h.shows(o, "Enforced", "True", "Enforced")
	h.there(kyvernoCluster, "", "nodes-"+ns+"-escapetohost")
}
