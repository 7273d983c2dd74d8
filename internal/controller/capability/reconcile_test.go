// SPDX-License-Identifier: Apache-2.0

package capability

import (
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/api/wellknown"
	"github.com/nexus-operator/nexus-operator/internal/status"
	"github.com/nexus-operator/nexus-operator/internal/testkit/extent"
)

func TestReconcile_RunsACapabilityAndThenWritesNothing(t *testing.T) {
	b := newBed(t)
	c := b.capability(withBucket)
	if res := b.pass(c); res.RequeueAfter == 0 {
		t.Error("a capability that is not ready is not looked at again")
	}
	if writes := b.written(); writes[0] != "patch NexusAICapability/app" || !controllerutil.ContainsFinalizer(c, Finalizer) {
		t.Errorf("the finalizer is not written before the first child: %q", writes)
	}
	b.is(c, status.Ready, metav1.ConditionFalse, status.ReasonProgressing)
	if events := b.run(c); len(events) != 1 || !strings.HasPrefix(events[0], "Normal Running the workloads run without AWS credentials") {
		t.Errorf("events %q", events)
	}
	if c.Status.Phase != nexusv1.PhaseRunning || !strings.HasPrefix(c.Status.Message, "the workloads run") {
		t.Errorf("%s: %s", c.Status.Phase, c.Status.Message)
	}
	for range 2 {
		if res := b.pass(c); !res.IsZero() {
			t.Errorf("a capability that runs is looked at again: %+v", res)
		}
	}
	// A new process has nothing in its memory.
	b.Reconciler = b.newReconciler()
	b.pass(c)
	if writes, events := b.written(), b.emitted(); len(writes)+len(events) > 0 {
		t.Errorf("at rest: writes %q, events %q", writes, events)
	}
}

func TestReconcile_AbsentCapability(t *testing.T) {
	b := newBed(t)
	key := client.ObjectKey{Namespace: b.ns, Name: "gone"}
	if res, err := b.Reconcile(t.Context(), reconcile.Request{NamespacedName: key}); err != nil || !res.IsZero() {
		t.Errorf("%+v, %v", res, err)
	}
	if len(b.spacing.last) > 0 {
		t.Errorf("it is remembered: %v", b.spacing.last)
	}
	b.refuseWith("get", "NexusAICapability", unavailable)
	if _, err := b.Reconcile(t.Context(), reconcile.Request{NamespacedName: key}); !apierrors.IsServiceUnavailable(err) {
		t.Errorf("a capability that could not be read is taken for gone: %v", err)
	}
	if writes := b.written(); len(writes) > 0 {
		t.Errorf("wrote %q", writes)
	}
}

func TestReconcile_MakesNothingWithoutItsFinalizer(t *testing.T) {
	b := newBed(t)
	c := b.capability(withBucket)
	for name, tc := range map[string]struct {
		refusal error
		returns bool
	}{"a race": {raced, false}, "a missing right": {forbidden, true}, "an outage": {unavailable, true}} {
		b.refuseWith("patch", "NexusAICapability", tc.refusal)
		res, err := b.reconcile(c)
		if (err != nil) != tc.returns || err == nil && res.RequeueAfter == 0 {
			t.Errorf("%s: %+v, %v", name, res, err)
		}
		if writes := b.written(); len(writes) > 0 {
			t.Errorf("%s: wrote %q", name, writes)
		}
	}
}

func TestReconcile_PauseWritesItsConditionAndNothingElse(t *testing.T) {
	b := newBed(t)
	c := b.capability(withBucket)
	b.run(c)
	b.edit(c, func() {
		c.Annotations = map[string]string{wellknown.AnnotationPaused: "true"}
		c.Spec.DataServices = nil
	})
	b.pass(c)
	if m := b.is(c, status.Paused, metav1.ConditionTrue, status.ReasonPaused); !strings.Contains(m, "remove annotation nexus.ai/paused") {
		t.Errorf("the message gives no remedy: %s", m)
	}
	if err := b.person.Delete(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	if res := b.pass(c); !res.IsZero() {
		t.Errorf("what is paused is looked at again: %+v", res)
	}
	if writes := b.written(); !slices.Equal(writes, []string{"patch status NexusAICapability/app"}) {
		t.Errorf("wrote %q", writes)
	}
	b.refuseWith("patch status", "NexusAICapability", forbidden)
	b.edit(c, func() { c.Annotations[wellknown.AnnotationPaused] = "" })
	if _, err := b.reconcile(c); !apierrors.IsForbidden(err) {
		t.Errorf("a status that is refused ends with %v", err)
	}
	b.allowAll()
	b.clock.SetTime(b.clock.Now().Add(time.Minute))
	b.pass(c)
	if meta.FindStatusCondition(c.Status.Conditions, status.Paused) != nil {
		t.Error("Paused outlives the annotation")
	}
}

func TestReconcile_SuspendLeavesChildrenAsTheyAre(t *testing.T) {
	extent.Full(t)
	b := newBed(t)
	c := b.capability(withBucket)
	b.run(c)
	b.edit(c, func() {
		c.Spec.Suspend, c.Spec.DataServices, c.Spec.Backend.Image = true, nil, "registry.example/backend:2"
	})
	if res := b.pass(c); !res.IsZero() {
		t.Errorf("%+v", res)
	}
	if writes := b.written(); !slices.Equal(writes, []string{"patch status NexusAICapability/app"}) || c.Status.Phase != nexusv1.PhaseSuspended {
		t.Errorf("%s; wrote %q", c.Status.Phase, writes)
	}
	b.is(c, status.Ready, metav1.ConditionFalse, status.ReasonPaused)
}

func TestReconcile_OneRefusedChildKeepsNoOtherBack(t *testing.T) {
	extent.Full(t)
	for name, tc := range map[string]struct {
		refusal error
		reason  string
		returns bool
	}{
		"a missing right": {forbidden, status.ReasonAccessDenied, false},
		"an outage":       {unavailable, status.ReasonRetrying, true},
		"a throttle":      {apierrors.NewTooManyRequests("slow down", 1), status.ReasonRetrying, true},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBed(t)
			c := b.capability(func(c *nexusv1.NexusAICapability) {
				c.Spec.DataServices = &nexusv1.DataServicesSpec{S3: &nexusv1.S3Spec{Buckets: []nexusv1.BucketSpec{{Name: "media"}}},
					DynamoDB: &nexusv1.DynamoDBSpec{Tables: []nexusv1.TableSpec{{Name: "orders"}}}}
			})
			b.pass(c)
			b.answer()
			b.emitted()
			b.refuseWith("apply", "DynamoDBTable", tc.refusal)
			_, err := b.reconcile(c)
			if (err != nil) != tc.returns {
				t.Errorf("returned %v", err)
			}
			b.read(c)
			b.is(c, nexusv1.ConditionDataServicesReady, metav1.ConditionFalse, tc.reason)
			if stalled := meta.IsStatusConditionTrue(c.Status.Conditions, status.Stall); stalled == tc.returns {
				t.Errorf("stalled: %v", stalled)
			}
			if events := b.emitted(); !tc.returns && (len(events) != 1 || !strings.HasPrefix(events[0], "Warning AccessDenied DynamoDBTable/")) || tc.returns && len(events) > 0 {
				t.Errorf("events %q", events)
			}
			if !b.exists(&v1alpha1.S3Bucket{ObjectMeta: metav1.ObjectMeta{Namespace: b.ns, Name: b.ns + "-dev-media"}}) {
				t.Error("the bucket is not made")
			}
			b.allowAll()
			b.run(c)
		})
	}
}

func TestReconcile_StatusThatIsRefused(t *testing.T) {
	b := newBed(t)
	c := b.capability()
	b.pass(c)
	b.edit(c, func() { c.Spec.Version = "2.0.0" })
	for name, tc := range map[string]struct {
		refusal error
		returns bool
	}{"a race": {raced, false}, "a missing right": {forbidden, true}, "an outage": {unavailable, true}} {
		b.refuseWith("patch status", "NexusAICapability", tc.refusal)
		b.edit(c, func() { c.Spec.Version += ".1" })
		res, err := b.reconcile(c)
		if (err != nil) != tc.returns || err == nil && res.RequeueAfter == 0 {
			t.Errorf("%s: %+v, %v", name, res, err)
		}
	}
	b.allowAll()
	b.pass(c)
	if c.Status.ObservedGeneration != c.Generation {
		t.Error("the status is not written once it may be")
	}
}

func TestReconcile_StatusOfMereProgressWaitsItsTurn(t *testing.T) {
	extent.Full(t)
	b := newBed(t)
	c := b.capability(withBucket, withDefaultSecrets)
	b.pass(c)
	b.answer() // the provider: the next pass creates what waits for it
	b.pass(c)
	bucket := &v1alpha1.S3Bucket{ObjectMeta: metav1.ObjectMeta{Namespace: b.ns, Name: b.ns + "-dev-media"}}
	secrets := &v1alpha1.SecretsManagerSecretList{}
	if err := b.person.List(t.Context(), secrets, client.InNamespace(b.ns)); err != nil {
		t.Fatal(err)
	}
	ready := func(o client.Object) {
		b.read(o)
		if err := b.answerOne(o); err != nil {
			t.Fatal(err)
		}
		b.clock.SetTime(b.clock.Now().Add(progressSpacing / 4))
		b.written()
	}
	ready(&secrets.Items[0])
	if res := b.pass(c); len(b.written()) > 0 || res.RequeueAfter != progressSpacing*3/4 {
		t.Errorf("a secret became ready: the status is written, or waits for %v", res.RequeueAfter)
	}
	b.clock.SetTime(b.clock.Now().Add(progressSpacing))
	b.pass(c)
	if writes := b.written(); !slices.Equal(writes, []string{"patch status NexusAICapability/app"}) {
		t.Errorf("after its turn: wrote %q", writes)
	}
	ready(bucket)
	if b.pass(c); !slices.Contains(b.written(), "patch status NexusAICapability/app") {
		t.Error("a condition that became true is not written at once")
	}
}

func TestReconcile_AnswersARequestOnlyWhenItLooked(t *testing.T) {
	extent.Full(t)
	b := newBed(t)
	c := b.capability()
	b.run(c)
	b.edit(c, func() { c.Annotations = map[string]string{wellknown.AnnotationReconcileAt: "now"} })
	b.refuseWith("list", "S3Bucket", unavailable)
	if _, err := b.reconcile(c); !apierrors.IsServiceUnavailable(err) {
		t.Fatalf("returned %v", err)
	}
	if b.read(c); c.Status.LastHandledReconcileAt != "" || !c.Status.Ready {
		t.Errorf("after a pass that failed: handled %q, ready %v", c.Status.LastHandledReconcileAt, c.Status.Ready)
	}
	b.allowAll()
	b.pass(c)
	if c.Status.LastHandledReconcileAt != "now" || !c.Status.Ready {
		t.Errorf("handled %q, ready %v", c.Status.LastHandledReconcileAt, c.Status.Ready)
	}
}

func TestReconcile_RefusesNamesThatAnotherOneHas(t *testing.T) {
	b := newBed(t)
	first := b.capability()
	elsewhere := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "other-"}}
	b.create(elsewhere)
	second := first.DeepCopy()
	second.ObjectMeta = metav1.ObjectMeta{Namespace: elsewhere.Name, Name: "copy"}
	b.run(first) // of one second, the name decides: only the first one holds anything
	b.create(second)
	for range 2 {
		if _, err := b.reconcile(second); err == nil {
			t.Error("the work queue does not see the failure")
		}
	}
	b.read(second)
	m := b.is(second, status.Stall, metav1.ConditionTrue, status.ReasonNameConflict)
	if !strings.Contains(m, "a NexusAICapability of another namespace") || strings.Contains(m, "app") || !strings.Contains(m, "choose another capabilityName") {
		t.Errorf("the message names the object of another namespace, or no remedy: %s", m)
	}
	if events := b.emitted(); len(events) != 1 || !strings.HasPrefix(events[0], "Warning NameConflict spec.capabilityName") {
		t.Errorf("events %q", events)
	}
	if writes := b.written(); !slices.Equal(writes, []string{"patch NexusAICapability/copy", "patch status NexusAICapability/copy"}) {
		t.Errorf("wrote %q", writes)
	}
	if got := b.directory.rivals(t.Context(), first); len(got) != 1 || got[0].Name != "copy" {
		t.Errorf("when the first one changes, %v are looked at", got)
	}
	b.refuseWith("list", "NexusAICapability", forbidden)
	if _, err := b.reconcile(second); !apierrors.IsForbidden(err) {
		t.Errorf("without a list of rivals: %v", err)
	}
	if got := b.directory.rivals(t.Context(), first); got != nil {
		t.Errorf("rivals %v", got)
	}
}

func TestReconcile_SaysWhyItsProviderCannotBeUsed(t *testing.T) {
	extent.Full(t)
	b := newBed(t)
	c := b.capability(func(c *nexusv1.NexusAICapability) { c.Spec.ProviderRef = &nexusv1.ProviderReference{Name: "shared"} })
	p := &v1alpha1.AWSProvider{ObjectMeta: metav1.ObjectMeta{Namespace: b.ns, Name: "shared"}}
	p.Spec.Region = "eu-central-1"
	set := func(err error) func() {
		return func() {
			b.read(p)
			status.Summarize(&p.Status.Conditions, status.Result{Err: err, Generation: p.Generation, Now: b.clock.Now()})
			if err := b.person.Status().Update(t.Context(), p); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, tc := range []struct {
		name    string
		prepare func()
		reason  string
		stalled bool
		says    string
	}{
		{"absent", func() {}, status.ReasonProviderMissing, false, "AWSProvider/shared to exist in namespace " + b.ns},
		{"new", func() { b.create(p) }, status.ReasonProviderNotReady, false, "AWSProvider/shared to be ready"},
		{"refused", set(&status.Stalled{Reason: status.ReasonCredentialsInvalid, Message: "the key is no longer valid"}), status.ReasonProviderNotReady, true, "the key is no longer valid"},
		{"waiting", set(&status.Waiting{For: "STS"}), status.ReasonProviderNotReady, false, "STS"},
	} {
		tc.prepare()
		b.clock.SetTime(b.clock.Now().Add(time.Minute))
		_, err := b.reconcile(c)
		if (err != nil) != tc.stalled {
			t.Errorf("%s: returned %v", tc.name, err)
		}
		b.read(c)
		if m := b.is(c, status.Ready, metav1.ConditionFalse, tc.reason); !strings.Contains(m, tc.says) {
			t.Errorf("%s: says %s", tc.name, m)
		}
		if got := meta.IsStatusConditionTrue(c.Status.Conditions, status.Stall); got != tc.stalled {
			t.Errorf("%s: stalled %v", tc.name, got)
		}
	}
	b.refuseWith("get", "AWSProvider", forbidden)
	if _, err := b.reconcile(c); !apierrors.IsForbidden(err) {
		t.Errorf("without the right to read it: %v", err)
	}
	b.allowAll()
	b.run(c)
	if got := b.directory.usersOf(t.Context(), p); len(got) != 1 || got[0].Name != "app" {
		t.Errorf("when the provider changes, %v are looked at", got)
	}
}

func TestFacts_BoundaryOfTheProvider(t *testing.T) {
	const operators, providers = "arn:aws:iam::123456789012:policy/operators", "arn:aws:iam::123456789012:policy/providers"
	b := newBed(t)
	b.Facts.DefaultBoundary = operators
	p := &v1alpha1.AWSProvider{ObjectMeta: metav1.ObjectMeta{Namespace: b.ns, Name: "shared"}}
	p.Spec.Region, p.Spec.PermissionsBoundaryARN, p.Spec.RolePathPrefix = "eu-west-1", providers, "/team/"
	b.create(p)
	for name, tc := range map[string]struct {
		edit       func(*nexusv1.NexusAICapability)
		of, made   string
		fromRegion string
	}{
		"a generated provider to be":   {func(*nexusv1.NexusAICapability) {}, operators, operators, ""},
		"a provider of the user's own": {func(c *nexusv1.NexusAICapability) { c.Spec.ProviderRef = &nexusv1.ProviderReference{Name: "shared"} }, providers, "", "eu-west-1"},
		"one that does not exist":      {func(c *nexusv1.NexusAICapability) { c.Spec.ProviderRef = &nexusv1.ProviderReference{Name: "other"} }, "", "", ""},
		"a deletion keeps what it was": {func(c *nexusv1.NexusAICapability) {
			c.Spec.CapabilityName, c.Spec.Environment, c.DeletionTimestamp = "shared", "", new(metav1.Now())
		}, operators, operators, ""},
	} {
		c := &nexusv1.NexusAICapability{ObjectMeta: metav1.ObjectMeta{Namespace: b.ns, Name: "app", UID: "1"}}
		c.Spec.CapabilityName, c.Spec.Environment = "fresh", "dev"
		tc.edit(c)
		f, err := b.Facts.Gather(t.Context(), c)
		if err != nil || f.Provider.Boundary != tc.of || f.Limits.DefaultBoundary != tc.made || f.Provider.Region != tc.fromRegion {
			t.Errorf("%s: %+v, %v", name, f, err)
		}
	}
}

func TestIsGenerated_VouchesForTheExactObjectOnly(t *testing.T) {
	b := newBed(t)
	c := b.capability(withBucket)
	b.run(c)
	bucket := &v1alpha1.S3Bucket{ObjectMeta: metav1.ObjectMeta{Namespace: b.ns, Name: b.ns + "-dev-media"}}
	b.read(bucket)
	for name, tc := range map[string]struct {
		edit func(*v1alpha1.S3Bucket)
		want bool
	}{
		"as it was compiled":           {func(*v1alpha1.S3Bucket) {}, true},
		"another specification":        {func(o *v1alpha1.S3Bucket) { o.Spec.BucketName, o.Generation = "payroll", o.Generation+1 }, false},
		"another provider":             {func(o *v1alpha1.S3Bucket) { o.Spec.ProviderRef.Name, o.Generation = "admin", o.Generation+1 }, false},
		"a name that is not compiled":  {func(o *v1alpha1.S3Bucket) { o.Name = "other" }, false},
		"no owner":                     {func(o *v1alpha1.S3Bucket) { o.OwnerReferences = nil }, false},
		"an owner of an earlier UID":   {func(o *v1alpha1.S3Bucket) { o.OwnerReferences[0].UID = "past" }, false},
		"an owner that does not exist": {func(o *v1alpha1.S3Bucket) { o.OwnerReferences[0].Name = "nobody" }, false},
	} {
		o := bucket.DeepCopy()
		tc.edit(o)
		if got, err := b.IsGenerated(t.Context(), o); err != nil || got != tc.want {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
	b.refuseWith("get", "NexusAICapability", unavailable)
	if got, err := b.IsGenerated(t.Context(), bucket); got || !apierrors.IsServiceUnavailable(err) {
		t.Errorf("without an answer: %v, %v", got, err)
	}
	b.refuseWith("list", "S3Bucket", forbidden)
	if got, err := b.IsGenerated(t.Context(), bucket); got || !apierrors.IsForbidden(err) {
		t.Errorf("without what the children own: %v, %v", got, err)
	}
	b.allowAll()
	b.edit(c, func() { c.Spec.ProviderRef = &nexusv1.ProviderReference{Name: "shared"} })
	if got, err := b.IsGenerated(t.Context(), bucket); err != nil || got {
		t.Errorf("after an edit of the capability: %v, %v", got, err)
	}
}
