// SPDX-License-Identifier: Apache-2.0

package reconciler

import (
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"
	"syscall"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	testingclock "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/api/wellknown"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

func TestPredicates_LetThroughWhatChangesAResult(t *testing.T) {
	asking := func(key, value string) client.Object {
		return &v1alpha1.S3Bucket{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{key: value}}}
	}
	bucket := func(generation int64, ready bool) client.Object {
		o := &v1alpha1.S3Bucket{ObjectMeta: metav1.ObjectMeta{Generation: generation}}
		if ready {
			status.Summarize(&o.Status.Conditions, status.Result{Generation: 1, Now: time.Unix(1000, 0)})
		}
		return o
	}
	provider := &v1alpha1.AWSProvider{}
	status.Summarize(&provider.Status.Conditions, status.Result{Now: time.Unix(1000, 0)})
	edited := func(p *v1alpha1.AWSProvider) client.Object {
		out := p.DeepCopy()
		out.Generation = 2
		return out
	}
	seen := func(observed, generation int64) client.Object {
		o := &v1alpha1.AWSProvider{ObjectMeta: metav1.ObjectMeta{Generation: generation}}
		status.Summarize(&o.Status.Conditions, status.Result{Generation: observed, Now: time.Unix(1000, 0)})
		o.Status.ObservedGeneration = observed
		return o
	}
	broken := &v1alpha1.AWSProvider{ObjectMeta: metav1.ObjectMeta{Generation: 2}}
	status.Summarize(&broken.Status.Conditions,
		status.Result{Generation: 2, Err: &status.Stalled{Reason: status.ReasonCredentialsInvalid}, Now: time.Unix(1000, 0)})
	ran := app(func(c *nexusv1.NexusAICapability) {
		c.Status.History = []nexusv1.PhaseChange{{Phase: nexusv1.PhaseRunning}}
	})
	refused := app(func(c *nexusv1.NexusAICapability) {
		c.Status.Conditions = []metav1.Condition{{Type: status.Stall, Status: metav1.ConditionTrue, Reason: status.ReasonNameConflict}}
	})
	for name, tc := range map[string]struct {
		predicate predicate.Predicate
		was, is   client.Object
		want      bool
	}{
		"a pause":            {AnnotationChanged{}, asking("a", "b"), asking(wellknown.AnnotationPaused, "true"), true},
		"the end of a pause": {AnnotationChanged{}, asking(wellknown.AnnotationPaused, "true"), asking("a", "b"), true},
		"a second request": {AnnotationChanged{}, asking(wellknown.AnnotationReconcileAt, "1"),
			asking(wellknown.AnnotationReconcileAt, "2"), true},
		"a resource given up":            {AnnotationChanged{}, asking("a", "b"), asking(AnnotationAbandon, "uid"), true},
		"a confirmation":                 {AnnotationChanged{}, asking(AnnotationDeleteData, "a"), asking(AnnotationDeleteData, "a,b"), true},
		"an annotation of others":        {AnnotationChanged{}, asking("a", "b"), asking("a", "c"), false},
		"it becomes ready":               {ReadyChanged{}, bucket(1, false), bucket(1, true), true},
		"an edit makes it unready":       {ReadyChanged{}, bucket(1, true), bucket(2, true), true},
		"it stays ready":                 {ReadyChanged{}, bucket(1, true), bucket(1, true), false},
		"a provider becomes ready":       {ReadyChanged{}, &v1alpha1.AWSProvider{}, provider, true},
		"an edited provider is in force": {ProviderApplied{}, seen(1, 2), seen(2, 2), true},
		"an edit that was not looked at": {ProviderApplied{}, seen(1, 1), seen(1, 2), false},
		"a provider that stays":          {ProviderApplied{}, seen(2, 2), seen(2, 2), false},
		"the first look at a provider":   {ProviderApplied{}, seen(0, 1), seen(1, 1), false},
		"a provider is found broken":     {ReadyChanged{}, edited(provider), broken, true},
		"it stays broken":                {ReadyChanged{}, broken, broken, false},
		"a kind that is never ready":     {ReadyChanged{}, app(), ran, false},
		"a capability resumes":           {Resumed{}, app(suspended), app(), true},
		"it is resumed but still paused": {Resumed{}, app(suspended, paused), app(paused), false},
		"it is suspended":                {Resumed{}, app(), app(suspended), false},
		"a suspended one is deleted":     {Resumed{}, app(suspended), app(suspended, going), true},
		"another kind":                   {Resumed{}, provider, provider, false},
		"it has run for the first time":  {ClaimChanged{}, app(), ran, true},
		"a rival is suspended":           {ClaimChanged{}, app(), app(suspended), true},
		"one that ran is suspended": {ClaimChanged{}, ran, app(suspended, func(c *nexusv1.NexusAICapability) { c.Status = ran.Status }),
			false},
		"it is stalled by the rival only": {ClaimChanged{}, app(), refused, false},
		"a claim of another kind":         {ClaimChanged{}, provider, provider, false},
	} {
		if got := tc.predicate.Update(event.UpdateEvent{ObjectOld: tc.was, ObjectNew: tc.is}); got != tc.want {
			t.Errorf("%s: %v", name, got)
		}
	}
	// Whether dependents of an object must be looked at when the object appears or goes.
	for _, tc := range []struct {
		predicate        predicate.Predicate
		created, deleted bool
	}{{ReadyChanged{}, true, false}, {ProviderApplied{}, false, false}, {Resumed{}, false, true}, {ClaimChanged{}, false, true}} {
		created, deleted := tc.predicate.Create(event.CreateEvent{Object: provider}), tc.predicate.Delete(event.DeleteEvent{Object: provider})
		if created != tc.created || deleted != tc.deleted {
			t.Errorf("%T: lets a creation through: %v, a deletion: %v", tc.predicate, created, deleted)
		}
	}
}

func TestMayDeleteData_NamesTheStoreExactly(t *testing.T) {
	for list, want := range map[string]bool{
		"": false, "media": true, "logs,media": true, " logs , media ": true, "media2": false, "logs media": false, "*": false, "Media": false,
	} {
		o := &v1alpha1.S3Bucket{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{AnnotationDeleteData: list}}}
		if got := MayDeleteData(o, "media"); got != want {
			t.Errorf("%q: %v", list, got)
		}
	}
	if MayDeleteData(&v1alpha1.S3Bucket{}, "media") {
		t.Error("without the annotation")
	}
}

func TestRequestedAt_IsBounded(t *testing.T) {
	o := &v1alpha1.S3Bucket{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{wellknown.AnnotationReconcileAt: strings.Repeat("x",
		5000)}}}
	if got := RequestedAt(o); len(got) > 64 || len(got) < 32 {
		t.Errorf("%d bytes of a user's annotation go into the status", len(got))
	}
}

func TestAPIServerUnavailable_TellsAnOutageFromARefusal(t *testing.T) {
	for name, tc := range map[string]struct {
		err  error
		want bool
	}{
		"nothing":                    {nil, false},
		"refused connection":         {fmt.Errorf("get: %w", syscall.ECONNREFUSED), true},
		"broken connection":          {fmt.Errorf("get: %w", syscall.ECONNRESET), true},
		"an answer cut short":        {fmt.Errorf("get: %w", &url.Error{Op: "Get", URL: "https://kubernetes", Err: io.ErrUnexpectedEOF}), true},
		"starting":                   {unavailable, true},
		"a timeout of the server":    {apierrors.NewServerTimeout(schema.GroupResource{}, "get", 1), true},
		"a request that took long":   {apierrors.NewTimeoutError("slow", 1), true},
		"etcd lost its leader":       {apierrors.NewInternalError(errors.New("etcdserver: leader changed")), true},
		"a missing right":            {forbidden, false},
		"a webhook is gone":          {apierrors.NewInternalError(errors.New(`failed calling webhook "v.example.com": failed to call webhook: Post "https://v.ns.svc:443/": EOF`)), false},
		"AWS refuses the connection": {&status.Retrying{Reason: status.ReasonUnreachable, Cause: syscall.ECONNREFUSED}, false},
	} {
		if got := APIServerUnavailable(tc.err); got != tc.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestBackoff_DropForgetsAnObjectThatIsGone(t *testing.T) {
	clock := testingclock.NewFakePassiveClock(time.Unix(1000, 0))
	r := NewBackoff(Intervals{Stalled: time.Hour, RetryFirst: time.Second, RetryMost: time.Minute}, clock)
	key := types.NamespacedName{Namespace: "ns", Name: "n"}
	req := reconcile.Request{NamespacedName: key}
	fill := func(err error) {
		for range 4 {
			r.Observe(key, err)
			r.When(req)
			r.Conflict(key)
		}
	}
	for _, err := range []error{unavailable, &status.Stalled{Message: "m"}, &status.Retrying{Cause: errors.New("x")}} {
		fill(err)
		r.Drop(key)
		clock.SetTime(clock.Now().Add(time.Minute))
		if d := r.When(req); d > 2*time.Second {
			t.Errorf("%v: a new object of that name waits for %v", err, d)
		}
		if d := r.Conflict(key).RequeueAfter; d > 2*time.Second {
			t.Errorf("%v: its first conflict waits for %v", err, d)
		}
		if since := r.Observe(key, errors.New("x")); !since.Equal(clock.Now()) {
			t.Errorf("%v: its failures began at %v", err, since)
		}
		r.Drop(key)
	}
}

func TestJitter_StaysWithinATenth(t *testing.T) {
	seen := map[time.Duration]bool{}
	for range 200 {
		d := Intervals{}.Jitter(time.Minute)
		if d < 54*time.Second || d > 66*time.Second {
			t.Fatalf("%v", d)
		}
		seen[d] = true
	}
	if len(seen) < 100 {
		t.Errorf("only %d different intervals: objects ask at once", len(seen))
	}
}
