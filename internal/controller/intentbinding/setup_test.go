// SPDX-License-Identifier: Apache-2.0

package intentbinding

import (
	"context"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/nexus-operator/nexus-operator/api/intent/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/apply"
	"github.com/nexus-operator/nexus-operator/internal/intent"
)

// namesOf are requests as text, sorted.
func namesOf(requests []reconcile.Request) []string {
	var out []string
	for _, r := range requests {
		out = append(out, r.String())
	}
	slices.Sort(out)
	return out
}

func TestEventsWakeTheBindingsThatTheyConcern(t *testing.T) {
	web, api, elsewhere := bindingTo("web", "dnsmanipulation"), bindingTo("api", "escapetohost"), bindingTo("elsewhere", "dnsmanipulation")
	elsewhere.Namespace = "other"
	over := overNamespaces("over", []string{team}, "dnsmanipulation", "escapetohost")
	b := newBed(t, web, api, elsewhere, over)
	b.spaces.of(team)
	b.spaces.of("other")
	for _, c := range []struct {
		name string
		find handler.MapFunc
		obj  client.Object
		want []string
	}{
		{"a binding", b.triggers().itselfAndNeighborhood, web, []string{"team/", "team/web"}},
		{"a cluster binding, in every namespace", b.triggers().itselfAndNeighborhood, over, []string{"/over", "other/", "team/"}},
		{"a binding where nothing restricts the network", b.triggers().itselfAndNeighborhood,
			&v1alpha1.SecurityIntentBinding{ObjectMeta: metav1.ObjectMeta{Namespace: "calm", Name: "x"}}, []string{"calm/x"}},
		{"an intent of all", b.triggers().bindingsNaming, intentOf("dnsManipulation", "Block", nil),
			[]string{"/over", "other/", "other/", "other/elsewhere", "team/", "team/", "team/web"}},
		{"an intent of nobody", b.triggers().bindingsNaming, intentOf("pkgMgrs", "Block", nil), nil},
		{"a namespace", b.triggers().ofNamespace, namespaceOf(team, nil), []string{"/over", "team/", "team/api", "team/web"}},
		{"a definition", b.triggers().everyBinding, namespaceOf("", nil), []string{"/over", "other/elsewhere", "team/api", "team/web"}},
		{"somebody's NetworkPolicy", b.triggers().besideForeign,
			&networkingv1.NetworkPolicy{ObjectMeta: metav1.ObjectMeta{Namespace: team}}, []string{"team/"}},
		{"our NetworkPolicy", b.triggers().besideForeign, controlled("NimbusPolicy", "web"), nil},
		{"an event of neighborEvents", enqueueItself, web, []string{"team/web"}},
	} {
		if got := namesOf(c.find(t.Context(), c.obj)); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestEventsOfDeclarationsAreCounted(t *testing.T) {
	b := newBed(t)
	b.triggers().itselfAndNeighborhood(t.Context(), bindingTo("web"))
	b.triggers().bindingsNaming(t.Context(), intentOf("pkgMgrs", "Block", nil))
	if n := b.declarations.Load(); n != 2 {
		t.Errorf("%d: a namespace would be divided by outdated lists", n)
	}
}

func TestEventsWhileTheCacheFailsWakeNobody(t *testing.T) {
	b := newBed(t, bindingTo("web", "dnsmanipulation"))
	for _, list := range []string{"list SecurityIntentBinding", "list ClusterSecurityIntentBinding"} {
		b.api.Fail(list, errOutage)
		naming := b.triggers().bindingsNaming(t.Context(), intentOf("dnsManipulation", "Block", nil))
		if got := append(naming, b.triggers().everyBinding(t.Context(), nil)...); len(got) != 0 {
			t.Errorf("%s: %v", list, got)
		}
		b.api.Fail(list, nil)
	}
}

// controlled is a NetworkPolicy of namespace team with a controller of ours.
func controlled(kind, name string) *networkingv1.NetworkPolicy {
	return &networkingv1.NetworkPolicy{ObjectMeta: metav1.ObjectMeta{Namespace: team, Name: name + "-x", OwnerReferences: []metav1.OwnerReference{
		{APIVersion: v1alpha1.GroupVersion.String(), Kind: kind, Name: name, UID: "uid-of-" + "x", Controller: new(true)}}}}
}

func TestDerivedObjectsWakeTheirBinding(t *testing.T) {
	web, over := bindingTo("web", "dnsmanipulation"), overNamespaces("over", []string{team}, "dnsmanipulation")
	b := newBed(t, web, over, intentOf("dnsManipulation", "Block", nil))
	b.passed(web)
	b.passed(over)
	cut := func(owner string) *networkingv1.NetworkPolicy {
		return &networkingv1.NetworkPolicy{ObjectMeta: metav1.ObjectMeta{Namespace: team, Name: "cut", Annotations: map[string]string{apply.AnnotationOwner: owner}}}
	}
	for _, c := range []struct {
		name string
		obj  client.Object
		want []string
	}{
		{"a policy", controlled("SecurityIntentBinding", "web"), []string{"team/web"}},
		{"a policy of a cluster binding", controlled("ClusterSecurityIntentBinding", "over"), []string{"/over"}},
		{"an object through its policy", controlled("NimbusPolicy", "web"), []string{"team/web"}},
		{"an object through the policy of a cluster binding", controlled("NimbusPolicy", "nimbus-ctlr-gen-over"), []string{"/over"}},
		{"an object of a policy that is gone", controlled("NimbusPolicy", "gone"), nil},
		{"an object of somebody else", controlled("Deployment", "web"), nil},
		{"a policy without its owner reference", cut("SecurityIntentBinding/team/web"), []string{"team/web"}},
		{"a policy of the cluster without its owner reference", cut("ClusterSecurityIntentBinding/over"), []string{"/over"}},
		{"an annotation that names another namespace", cut("SecurityIntentBinding/other/web"), nil},
		{"an annotation of another kind", cut("NexusAICapability/team/web"), nil},
		{"nobody's", cut(""), nil},
	} {
		if got := namesOf(b.triggers().ownerOfDerived(t.Context(), c.obj)); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
	over2 := &v1alpha1.ClusterNimbusPolicy{ObjectMeta: metav1.ObjectMeta{Name: "over"}}
	b.get(over2)
	kyverno := controlled("ClusterNimbusPolicy", "over")
	kyverno.Namespace = ""
	if got := namesOf(b.triggers().ownerOfDerived(t.Context(), kyverno)); !slices.Equal(got, []string{"/over"}) {
		t.Errorf("an object of the cluster: %q", got)
	}
}

func TestDerivedChanged_IgnoresStatusAlone(t *testing.T) {
	base := &networkingv1.NetworkPolicy{ObjectMeta: metav1.ObjectMeta{Generation: 1, ResourceVersion: "1", Labels: map[string]string{"a": "b"}}}
	for _, c := range []struct {
		name   string
		change func(o *networkingv1.NetworkPolicy)
		want   bool
	}{
		{"status or managed fields", func(o *networkingv1.NetworkPolicy) {}, false},
		{"spec", func(o *networkingv1.NetworkPolicy) { o.Generation = 2 }, true},
		{"labels", func(o *networkingv1.NetworkPolicy) { o.Labels = nil }, true},
		{"annotations", func(o *networkingv1.NetworkPolicy) { o.Annotations = map[string]string{"istio.io/dry-run": "true"} }, true},
		{"owner", func(o *networkingv1.NetworkPolicy) { o.OwnerReferences = []metav1.OwnerReference{{Name: "x"}} }, true},
	} {
		is := base.DeepCopy()
		is.ResourceVersion = "2"
		c.change(is)
		if got := (derivedChanged{}).Update(event.UpdateEvent{ObjectOld: base, ObjectNew: is}); got != c.want {
			t.Errorf("%s: passes %v", c.name, got)
		}
	}
	was, is := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{ResourceVersion: "1"}}, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{ResourceVersion: "2"}}
	if !(derivedChanged{}).Update(event.UpdateEvent{ObjectOld: was, ObjectNew: is}) {
		t.Error("a change of a kind without generations does not pass")
	}
}

func TestDeletionChanged_PassesOnce(t *testing.T) {
	now := metav1.Now()
	live, going := namespaceOf("x", nil), namespaceOf("x", nil)
	going.DeletionTimestamp = &now
	for _, c := range []struct {
		was, is *corev1.Namespace
		want    bool
	}{{live, live, false}, {live, going, true}, {going, going, false}} {
		if got := (deletionChanged{}).Update(event.UpdateEvent{ObjectOld: c.was, ObjectNew: c.is}); got != c.want {
			t.Errorf("%v to %v passes: %v", c.was.DeletionTimestamp, c.is.DeletionTimestamp, got)
		}
	}
}

// The name is noted for every event; bindings are woken only by those that may change how a namespace is divided.
func TestEventsOfNetworkPoliciesAreNotedBeforeTheyWake(t *testing.T) {
	b := newBed(t)
	sp := b.spaces.of(team)
	queue := workqueue.NewTypedRateLimitingQueue[reconcile.Request](workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](time.Second, time.Second))
	defer queue.ShutDown()
	n := noting{handler.EnqueueRequestsFromMapFunc(b.triggers().besideForeign), b.spaces.networkPolicyChanged}
	was := &networkingv1.NetworkPolicy{ObjectMeta: metav1.ObjectMeta{Namespace: team, Name: "x", Generation: 1}}
	edited := was.DeepCopy()
	edited.Generation = 2
	for _, c := range []struct {
		name string
		send func(ctx context.Context)
		wake int
	}{
		{"create", func(ctx context.Context) { n.Create(ctx, event.CreateEvent{Object: was}, queue) }, 1},
		{"update of labels", func(ctx context.Context) { n.Update(ctx, event.UpdateEvent{ObjectOld: was, ObjectNew: was}, queue) }, 0},
		{"update of the spec", func(ctx context.Context) { n.Update(ctx, event.UpdateEvent{ObjectOld: was, ObjectNew: edited}, queue) }, 1},
		{"delete", func(ctx context.Context) { n.Delete(ctx, event.DeleteEvent{Object: was}, queue) }, 1},
	} {
		c.send(t.Context())
		if names := sp.changed.take(); !names["x"] {
			t.Errorf("%s: not noted", c.name)
		}
		if got := queue.Len(); got != c.wake {
			t.Errorf("%s: wakes %d, want %d", c.name, got, c.wake)
		}
		for queue.Len() > 0 {
			r, _ := queue.Get()
			queue.Done(r)
		}
	}
	b.spaces.networkPolicyChanged(&networkingv1.NetworkPolicy{ObjectMeta: metav1.ObjectMeta{Namespace: "calm", Name: "x"}})
	if slices.Contains(b.spaces.names(), "calm") {
		t.Error("an event makes a namespace be remembered in which no policy restricts the network")
	}
}

func TestPodsOfAssessmentsWakeTheirBinding(t *testing.T) {
	web := bindingTo("web", "dnsmanipulation")
	b := newBed(t, web, intentOf("dnsManipulation", "Block", nil))
	b.passed(web)
	pod := func(policy string) *corev1.Pod {
		return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: team, Name: "p", Annotations: map[string]string{intent.AnnotationPolicy: policy}}}
	}
	for policy, want := range map[string][]string{"web": {"team/web"}, "gone": nil, "": nil} {
		if got := namesOf(b.triggers().ofAssessment(t.Context(), pod(policy))); !slices.Equal(got, want) {
			t.Errorf("a pod of policy %q: %q", policy, got)
		}
	}
}
