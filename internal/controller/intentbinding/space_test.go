// SPDX-License-Identifier: Apache-2.0

package intentbinding

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/nexus-operator/nexus-operator/api/intent/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/apply"
	"github.com/nexus-operator/nexus-operator/internal/intentfacts"
)

// redivide reconciles a namespace, as events of its neighbors ask for.
func (b *bed) redivide(namespace string) {
	b.Helper()
	b.cached()
	_, err := b.Reconcile(b.Context(), reconcile.Request{NamespacedName: types.NamespacedName{Namespace: namespace}})
	b.must(err)
}

// foreignPolicy isolates the pods app=web for egress, in the name of another owner.
func foreignPolicy() *networkingv1.NetworkPolicy {
	np := &networkingv1.NetworkPolicy{ObjectMeta: metav1.ObjectMeta{Namespace: team, Name: "theirs", UID: "uid-theirs", Generation: 1}}
	np.Spec.PodSelector.MatchLabels = map[string]string{"app": "web"}
	np.Spec.PolicyTypes = []networkingv1.PolicyType{networkingv1.PolicyTypeEgress}
	return np
}

func TestNamespace_WakesOnlyBindingsWhosePartChanges(t *testing.T) {
	web, api := bindingTo("web", "dnsmanipulation"), bindingTo("api", "dnsmanipulation")
	api.Spec.Selector.MatchLabels = map[string]string{"app": "api"}
	b := newBed(t, web, api, intentOf("dnsManipulation", "Block", nil))
	b.passed(web)
	b.passed(api)
	b.takeRequeued()
	b.redivide(team)
	if got := b.takeRequeued(); len(got) != 0 {
		t.Errorf("woken without a change: %q", got)
	}
	b.must(b.api.Store.Create(t.Context(), foreignPolicy()))
	b.redivide(team)
	if got := b.takeRequeued(); !slices.Equal(got, []string{"team/web"}) {
		t.Errorf("somebody's NetworkPolicy for the pods of web woke %q", got)
	}
	b.redivide(team)
	if got := b.takeRequeued(); len(got) != 0 {
		t.Errorf("woken twice for one change: %q", got)
	}
	b.passed(web)
	b.covers(web, "dnsManipulation", "NetworkPolicy", "None", "AlreadyIsolated")
	if b.exists(networkPolicy, team, "web-dnsmanipulation") {
		t.Error("our policy widens what somebody else has closed")
	}
	b.must(b.api.Store.Delete(t.Context(), foreignPolicy()))
	b.redivide(team)
	if got := b.takeRequeued(); !slices.Equal(got, []string{"team/web"}) {
		t.Errorf("the end of somebody's NetworkPolicy woke %q", got)
	}
	b.passed(web)
	b.covers(web, "dnsManipulation", "NetworkPolicy", "Enforced", "")
}

// clusterPolicy is a policy of another owner over the namespaces of a label.
func clusterPolicy(kind, action, namespace string) *unstructured.Unstructured {
	u := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{
		"subject": map[string]any{"namespaces": map[string]any{"matchLabels": map[string]any{"kubernetes.io/metadata.name": namespace}}},
		"egress":  []any{map[string]any{"action": action, "to": []any{map[string]any{"networks": []any{"0.0.0.0/0"}}}}},
	}}}
	u.SetGroupVersionKind(schema.GroupVersionKind{Group: "policy.networking.k8s.io", Version: "v1alpha1", Kind: kind})
	u.SetName("default")
	return u
}

func TestNamespace_PoliciesOverItLowerItsClaims(t *testing.T) {
	for _, tc := range []struct {
		kind, action, namespace string
		level                   v1alpha1.Level
		reason                  string
	}{
		{"AdminNetworkPolicy", "Allow", team, "Partial", "Overlaps"},
		{"AdminNetworkPolicy", "Deny", team, "Enforced", ""},
		{"AdminNetworkPolicy", "Allow", "elsewhere", "Enforced", ""},
		{"BaselineAdminNetworkPolicy", "Deny", team, "None", "AlreadyIsolated"},
		{"BaselineAdminNetworkPolicy", "Allow", team, "Enforced", ""},
	} {
		web := bindingTo("web", "dnsmanipulation")
		b := newBed(t, web, intentOf("dnsManipulation", "Block", nil), clusterPolicy(tc.kind, tc.action, tc.namespace))
		b.passed(web)
		b.covers(web, "dnsManipulation", "NetworkPolicy", tc.level, tc.reason)
	}
}

func TestNamespace_IsForgottenWhenItIsGone(t *testing.T) {
	web := bindingTo("web", "dnsmanipulation")
	b := newBed(t, web, intentOf("dnsManipulation", "Block", nil))
	b.passed(web)
	b.changed(func(c client.Client) error { return c.Delete(t.Context(), web) })
	b.must(b.api.Store.Delete(t.Context(), namespaceOf(team, nil)))
	b.redivide(team)
	if got := b.spaces.names(); len(got) != 0 {
		t.Errorf("still remembered: %q", got)
	}
}

func TestNamespace_ReturnsWhatItCannotRead(t *testing.T) {
	web := bindingTo("web", "dnsmanipulation")
	b := newBed(t, web, intentOf("dnsManipulation", "Block", nil))
	for _, call := range []string{"list Namespace ", "live get Service", "list SecurityIntentBinding "} {
		b.api.Fail(call, errOutage)
		if _, err := b.Reconcile(t.Context(), reconcile.Request{NamespacedName: types.NamespacedName{Namespace: team}}); !errors.Is(err, errOutage) {
			t.Errorf("%s: %v", call, err)
		}
		b.api.Fail(call, nil)
	}
	b.passed(web) // nothing half-read is left
	b.shows(web, "Ready", "True", "Ready")
}

// Two bindings divide the same pods: the object of one allows connections that the other closes, until that object is narrowed.
func TestReconcile_ClaimsWaitForTheObjectOfANeighbor(t *testing.T) {
	wide, narrow := intentOf("networkSegmentation", "Block", v1alpha1.Params{"fromNamespaces": {"a", "b"}}), intentOf("networkSegmentation", "Block", v1alpha1.Params{"fromNamespaces": {"a"}})
	wide.Name, narrow.Name, narrow.UID = "wide", "narrow", "uid-narrow"
	first, second := bindingTo("first", "wide"), bindingTo("second", "narrow")
	b := newBed(t, first, wide, narrow)
	b.passed(first)
	b.covers(first, "networkSegmentation", "NetworkPolicy", "Enforced", "")
	b.changed(func(c client.Client) error { return c.Create(t.Context(), second) })
	if res := b.passed(second); res.RequeueAfter != recheckAfter {
		t.Errorf("%+v, want another look soon", res)
	}
	b.covers(second, "networkSegmentation", "NetworkPolicy", "None", "Overlaps")
	b.shows(second, "Enforced", "False", "NotEnforced")
	b.redivide(team)
	if got := b.takeRequeued(); !slices.Contains(got, "team/first") {
		t.Errorf("a neighbor whose object must change is not woken: %q", got)
	}
	b.passed(first)
	if got := b.takeRequeued(); !slices.Equal(got, []string{"team/second"}) {
		t.Errorf("the write that second waited for woke %q", got)
	}
	if res := b.passed(second); !res.IsZero() {
		t.Errorf("%+v", res)
	}
	b.covers(second, "networkSegmentation", "NetworkPolicy", "Enforced", "")
	b.api.Writes()
	b.passed(first)
	b.passed(second)
	b.writes()
	if got := b.takeRequeued(); len(got) != 0 {
		t.Errorf("bindings at rest wake %q", got)
	}
}

// A pass that began before an edit must not write an outdated state.
func TestReconcile_GivesUpAPassThatAnEditOvertook(t *testing.T) {
	web := bindingTo("web", "dnsmanipulation")
	b := newBed(t, web, intentOf("dnsManipulation", "Block", nil))
	b.api.Before("apply NimbusPolicy", func() error { // the edit comes after the binding was read
		edited := web.DeepCopy()
		b.must(b.api.Store.Get(t.Context(), client.ObjectKeyFromObject(web), edited))
		edited.Generation, edited.Spec.Selector.MatchLabels = 2, map[string]string{"app": "other"}
		b.declarations.Add(1)
		return b.api.Store.Update(t.Context(), edited)
	})
	res, err := b.pass(web)
	if err != nil || res.RequeueAfter <= 0 {
		t.Errorf("%+v %v, want another pass", res, err)
	}
	if b.exists(networkPolicy, team, "web-dnsmanipulation") {
		t.Error("the NetworkPolicy of an outdated selector is written")
	}
	b.api.Before("apply NimbusPolicy", nil)
	b.passed(web)
	b.shows(web, "Ready", "True", "Ready")
}

// The watch may lag behind our own write: the next pass must neither write it again nor take it for gone.
func TestReconcile_BelievesItsOwnWritesForAWhile(t *testing.T) {
	web := bindingTo("web", "dnsmanipulation")
	b := newBed(t, web, intentOf("dnsManipulation", "Block", nil))
	pass := func() {
		t.Helper()
		_, err := b.Reconcile(t.Context(), requestOf(web)) // with the cache of NetworkPolicies as it was
		b.must(err)
		b.get(web)
	}
	pass()
	b.api.Calls()
	pass()
	b.covers(web, "dnsManipulation", "NetworkPolicy", "Enforced", "")
	if got := b.api.Calls("live get NetworkPolicy"); len(got) != 0 {
		t.Errorf("asked %q although the write is fresh", got)
	}
	b.clock.SetTime(start.Add(3 * time.Second))
	pass()
	if got := b.api.Calls("live get NetworkPolicy"); len(got) != 1 {
		t.Errorf("asked %q, want one look at the API server", got)
	}
	b.covers(web, "dnsManipulation", "NetworkPolicy", "Enforced", "")
	b.clock.SetTime(start.Add(6 * time.Second))
	b.api.Fail("live get NetworkPolicy", errOutage)
	if _, err := b.Reconcile(t.Context(), requestOf(web)); !errors.Is(err, errOutage) {
		t.Errorf("got %v", err)
	}
}

func TestNetworkPolicies_BelongToThePolicyThatTheyName(t *testing.T) {
	known := func() (map[string]bool, error) {
		return map[string]bool{"uid-web": true, "NimbusPolicy/team/web": true}, nil
	}
	failing := func() (map[string]bool, error) { return nil, errOutage }
	for _, c := range []struct {
		name        string
		np          *networkingv1.NetworkPolicy
		policies    func() (map[string]bool, error)
		mine, clear bool
		fails       bool
	}{
		{"controlled by ours", controlled("NimbusPolicy", "web"), failing, true, true, false},
		{"nothing names us", foreignPolicy(), failing, false, true, false},
		{"controlled by somebody else", func() *networkingv1.NetworkPolicy {
			np := controlled("Deployment", "web")
			np.OwnerReferences[0].APIVersion = "apps/v1"
			np.Labels = map[string]string{LabelPolicyOwner: "uid-web"}
			return np
		}(), failing, false, true, false},
		{"the label of a policy that exists", labeled("uid-web", ""), known, true, false, false},
		{"the label of a policy that is gone", labeled("uid-gone", ""), known, false, false, false},
		{"the annotation of a policy that exists", labeled("", "NimbusPolicy/team/web"), known, true, false, false},
		{"policies that cannot be read", labeled("uid-web", ""), failing, false, false, true},
	} {
		mine, clear, err := intentfacts.IsOfPolicy(c.np, c.policies)
		if mine != c.mine || clear != c.clear || (err != nil) != c.fails {
			t.Errorf("%s: mine %v, clear %v, %v", c.name, mine, clear, err)
		}
	}
}

func labeled(uid, owner string) *networkingv1.NetworkPolicy {
	np := foreignPolicy()
	if uid != "" {
		np.Labels = map[string]string{LabelPolicyOwner: uid}
	}
	if owner != "" {
		np.Annotations = map[string]string{apply.AnnotationOwner: owner}
	}
	return np
}

func TestSpace_ForgetsAWriteThatTheCacheShows(t *testing.T) {
	recent := func(version string) written {
		u := &unstructured.Unstructured{Object: map[string]any{}}
		u.SetName("x")
		u.SetUID("1")
		u.SetResourceVersion(version)
		return written{u, start}
	}
	for _, c := range []struct {
		name                string
		cached              metav1.ObjectMeta
		gone                map[types.UID]string
		outdated, forgotten bool
	}{
		{"older than our write", metav1.ObjectMeta{UID: "1", ResourceVersion: "5"}, nil, true, false},
		{"our write", metav1.ObjectMeta{UID: "1", ResourceVersion: "7"}, nil, false, true},
		{"newer than our write", metav1.ObjectMeta{UID: "1", ResourceVersion: "10"}, nil, false, true},
		{"another object of the name", metav1.ObjectMeta{UID: "2", ResourceVersion: "5"}, nil, false, true},
		{"deleted by us", metav1.ObjectMeta{UID: "3", ResourceVersion: "9"}, map[types.UID]string{"3": "x"}, true, false},
		{"deleted by us and held by a finalizer", metav1.ObjectMeta{UID: "3", ResourceVersion: "9", Finalizers: []string{"f"}}, map[types.UID]string{"3": "x"}, false, true},
	} {
		sp := newSpaces().of(team)
		sp.recent["x"] = recent("7")
		if c.gone != nil {
			sp.gone = c.gone
		}
		c.cached.Name = "x"
		if got := sp.outdated(&networkingv1.NetworkPolicy{ObjectMeta: c.cached}); got != c.outdated {
			t.Errorf("%s: outdated %v", c.name, got)
		}
		if _, still := sp.recent["x"]; still == c.forgotten {
			t.Errorf("%s: remembered %v", c.name, still)
		}
	}
}

func TestInputs_ChangeWithSpecAndDeletionOnly(t *testing.T) {
	now := metav1.Now()
	of := func(change func(b *v1alpha1.SecurityIntentBinding)) inputHash {
		b := bindingTo("web", "dnsmanipulation")
		change(b)
		var h inputHash
		h.addObject(b)
		return h
	}
	base := of(func(*v1alpha1.SecurityIntentBinding) {})
	for name, c := range map[string]struct {
		change func(b *v1alpha1.SecurityIntentBinding)
		same   bool
	}{
		"status":   {func(b *v1alpha1.SecurityIntentBinding) { b.Status.NimbusPolicy, b.ResourceVersion = "x", "9" }, true},
		"spec":     {func(b *v1alpha1.SecurityIntentBinding) { b.Generation++ }, false},
		"deletion": {func(b *v1alpha1.SecurityIntentBinding) { b.DeletionTimestamp = &now }, false},
		"replaced": {func(b *v1alpha1.SecurityIntentBinding) { b.UID = "other" }, false},
	} {
		if got := of(c.change); (got == base) != c.same {
			t.Errorf("%s: the same inputs %v, want %v", name, got == base, c.same)
		}
	}
}

// A namespace may have a thousand bindings: a pass over one of them must not list all.
func TestReconcile_ListsNeighborsOnlyAfterAChange(t *testing.T) {
	web := bindingTo("web", "dnsmanipulation")
	b := newBed(t, web, intentOf("dnsManipulation", "Block", nil))
	b.passed(web)
	b.api.Calls()
	b.passed(web)
	if got := b.api.Calls("list SecurityIntentBinding", "list ClusterSecurityIntentBinding"); len(got) != 0 {
		t.Errorf("a pass without a change lists %q", got)
	}
	b.declarations.Add(1)
	b.passed(web)
	if got := b.api.Calls("list SecurityIntentBinding"); len(got) != 1 {
		t.Errorf("after a change it lists %q", got)
	}
}

func TestNudges_EndWithTheManager(t *testing.T) {
	b := newBed(t)
	b.neighborEvents = nil // no receiver is left
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	b.triggers().enqueueNeighbors(ctx, []reconcile.Request{requestOf(bindingTo("web"))}) // must return
}

func TestStatusPatch_ShowsZerosOfTheFirstStatus(t *testing.T) {
	web := bindingTo("web", "later")
	b := newBed(t, web)
	var body string
	b.api.Before("status SecurityIntentBinding", func() error {
		data, err := wholeStatus{}.Data(web)
		body = string(data)
		return err
	})
	b.passed(web)
	for _, field := range []string{`"numberOfBoundIntents":0`, `"nimbusPolicy":""`} {
		if !strings.Contains(body, field) {
			t.Errorf("%s lacks %s, which kubectl get would leave out", body, field)
		}
	}
	if web.Status.LastUpdated == nil || !web.Status.LastUpdated.Time.Equal(start) {
		t.Errorf("last updated %v", web.Status.LastUpdated)
	}
}
