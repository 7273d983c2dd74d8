// SPDX-License-Identifier: Apache-2.0

package awsresource

import (
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/controller/reconciler"
	"github.com/nexus-operator/nexus-operator/internal/engine"
	"github.com/nexus-operator/nexus-operator/internal/kinds/ec2"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// addressAtRest returns an ElasticIP that is as declared, with its name as its identifier.
func addressAtRest(namespace, name, provider string, now time.Time) *v1alpha1.ElasticIP {
	o := &v1alpha1.ElasticIP{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: namespace, Generation: 1,
		Finalizers: []string{v1alpha1.FinalizerOf("ElasticIP")}, Annotations: map[string]string{engine.AnnotationHome: "aws/1/r"}}}
	o.Spec.ProviderRef.Name, o.Status.ID = provider, name
	status.Summarize(&o.Status.Conditions, status.Result{Generation: 1, Now: now})
	return o
}

// addressReconciler reconciles the objects. All of them are due for a check.
func addressReconciler(t *testing.T, clock *clocktesting.FakePassiveClock, objects ...client.Object) *Reconciler {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	c := fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).WithIndex(&v1alpha1.ElasticIP{}, reconciler.ProviderIndex,
		func(o client.Object) []string {
			return []string{o.(v1alpha1.Resource).CommonSpec().ProviderRef.Name}
		}).Build()
	r := New(reconciler.Environment{Client: c, Clock: clock, Intervals: reconciler.Intervals{Check: 5 * time.Minute}},
		engine.For(ec2.NewElasticIP), nil, nil)
	for _, o := range objects {
		r.checks.Set(client.ObjectKeyFromObject(o), clock.Now())
	}
	return r
}

func TestCheck_ReadsForThoseThatAreDueSoonUnderTheProvider(t *testing.T) {
	clock := clocktesting.NewFakePassiveClock(time.Unix(1000, 0))
	due, soon, late := addressAtRest("ns", "due", "aws", clock.Now()), addressAtRest("ns", "soon", "aws", clock.Now()),
		addressAtRest("ns", "late", "aws", clock.Now())
	unknown, edited := addressAtRest("ns", "unknown", "aws", clock.Now()), addressAtRest("ns", "edited", "aws", clock.Now())
	unknown.Status.ID, edited.Generation = "", 2
	r := addressReconciler(t, clock, due, soon, late, unknown, edited,
		addressAtRest("ns", "other-provider", "other", clock.Now()), addressAtRest("other", "other-namespace", "aws", clock.Now()))
	r.checks.Set(client.ObjectKeyFromObject(soon), clock.Now().Add(10*time.Second-1))
	r.checks.Set(client.ObjectKeyFromObject(late), clock.Now().Add(10*time.Second))
	c := r.cadence().checkOf(due)
	if c == nil || !c.At.Equal(clock.Now()) || !c.Since.Equal(clock.Now().Add(-10*time.Second)) {
		t.Fatalf("got %+v", c)
	}
	if got := c.Upcoming(t.Context()); !slices.Equal(got, []string{"soon"}) {
		t.Errorf("upcoming: %v", got)
	}
	r.Intervals.CheckOf = map[string]time.Duration{"ElasticIP": 30 * time.Second}
	if c := r.cadence().checkOf(due); !c.Since.Equal(clock.Now().Add(-time.Second)) {
		t.Errorf("at a shorter interval an answer since %s serves a check at %s", c.Since, c.At)
	}
}

func TestCheck_OnlyAPeriodicOneSharesARead(t *testing.T) {
	clock := clocktesting.NewFakePassiveClock(time.Unix(1000, 0))
	for what, edit := range map[string]func(r *Reconciler, o *v1alpha1.ElasticIP){
		"an edit":              func(_ *Reconciler, o *v1alpha1.ElasticIP) { o.Generation = 2 },
		"a deletion":           func(_ *Reconciler, o *v1alpha1.ElasticIP) { o.DeletionTimestamp = new(metav1.Now()) },
		"an object that waits": func(_ *Reconciler, o *v1alpha1.ElasticIP) { o.Status.Conditions = nil },
		"an observer":          func(_ *Reconciler, o *v1alpha1.ElasticIP) { o.Spec.ManagementPolicy = v1alpha1.ManageObserve },
		"a check after trouble": func(r *Reconciler, o *v1alpha1.ElasticIP) {
			r.checks.Request(client.ObjectKeyFromObject(o), clock.Now())
		},
	} {
		o := addressAtRest("ns", "a", "aws", clock.Now())
		r := addressReconciler(t, clock, o)
		if r.cadence().checkOf(o) == nil {
			t.Fatal("a periodic check shares no read")
		}
		if edit(r, o); r.cadence().checkOf(o) != nil {
			t.Errorf("%s shares a read", what)
		}
	}
}
