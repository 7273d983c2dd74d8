// SPDX-License-Identifier: Apache-2.0

package capability

import (
	"cmp"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/api/wellknown"
	"github.com/nexus-operator/nexus-operator/internal/controller/reconciler"
	"github.com/nexus-operator/nexus-operator/internal/status"
	"github.com/nexus-operator/nexus-operator/internal/testkit/extent"
)

// holdsData keeps a bucket in deletion, as the controller of buckets does for one with objects.
const holdsData = "example.com/holds-data"

// running returns a capability with a bucket. When the bucket is deleted, its controller has not removed its finalizer yet.
func (b *bed) running(edits ...func(*nexusv1.NexusAICapability)) (*nexusv1.NexusAICapability, *v1alpha1.S3Bucket) {
	b.Helper()
	c := b.capability(append([]func(*nexusv1.NexusAICapability){withBucket}, edits...)...)
	b.run(c)
	bucket := b.bucket()
	b.edit(bucket, func() { bucket.Finalizers = append(bucket.Finalizers, holdsData) })
	b.Cleanup(func() {
		if err := b.person.Get(b.ctx(), client.ObjectKeyFromObject(bucket), bucket); err == nil && slices.Contains(bucket.Finalizers, holdsData) {
			bucket.Finalizers = nil
			if err := b.person.Update(b.ctx(), bucket); client.IgnoreNotFound(err) != nil {
				b.Error(err)
			}
		}
	})
	b.run(c)
	return c, bucket
}

func TestPrune_DeletesWhatIsNoLongerDeclared(t *testing.T) {
	b := newBed(t)
	c := b.capability(withBucket)
	b.run(c)
	b.edit(c, func() { c.Spec.DataServices = nil })
	b.run(c)
	if b.exists(b.bucket()) {
		t.Error("the bucket's object is still there")
	}
	if r := c.Status.Rollout; r == nil || !slices.ContainsFunc(r.Changes, func(x nexusv1.RolloutChange) bool { return x.Kind == "S3Bucket" && x.Action == "Deleted" }) {
		t.Errorf("the deletion is not reported: %+v", r)
	}
}

func TestPrune_HoldsAStoreWithData(t *testing.T) {
	b := newBed(t)
	c, bucket := b.running()
	b.edit(c, func() { c.Spec.DataServices = nil })
	b.run(c)
	if b.read(bucket); bucket.DeletionTimestamp == nil {
		t.Fatal("the bucket's object is not deleted")
	}
	status.Summarize(&bucket.Status.Conditions, status.Result{Generation: bucket.Generation, Now: b.clock.Now(),
		Err: &status.Stalled{Reason: status.ReasonDataWouldBeLost, Message: "the bucket is not empty: it holds 3 objects"}})
	if err := b.person.Status().Update(t.Context(), bucket); err != nil {
		t.Fatal(err)
	}
	if _, err := b.reconcile(c); err == nil {
		t.Error("the work queue does not see that a person must help")
	}
	b.read(c)
	m := b.is(c, status.Stall, metav1.ConditionTrue, status.ReasonDataWouldBeLost)
	for _, want := range []string{"S3Bucket/" + bucket.Name + " is no longer declared and holds 3 objects", "declare the store again", "spec.deletionPolicy: Retain", reconciler.AnnotationDeleteData} {
		if !strings.Contains(m, want) {
			t.Errorf("%q does not say %q", m, want)
		}
	}
	if events := b.emitted(); len(events) != 1 || !strings.HasPrefix(events[0], "Warning DataWouldBeLost ") {
		t.Errorf("events %q", events)
	}
	b.written()
	_, err := b.reconcile(c)
	if writes := b.written(); err == nil || len(writes) > 0 {
		t.Errorf("at rest: returns %v and writes %q", err, writes)
	}
	// The user confirms: the store's object gets the annotation, which its controller reads.
	b.edit(c, func() { c.Annotations = map[string]string{reconciler.AnnotationDeleteData: "other, " + bucket.Name} })
	if _, err := b.reconcile(c); err == nil {
		t.Error("the store is still there")
	}
	if b.read(bucket); !reconciler.MayDeleteData(bucket, bucket.Name) {
		t.Errorf("the bucket's object is not told: %v", bucket.Annotations)
	}
}

// dropsConfirmed edits a capability so that it drops its bucket and allows the deletion of its data. It then reports for the bucket that it
// holds objects.
func (b *bed) dropsConfirmed(c *nexusv1.NexusAICapability, bucket *v1alpha1.S3Bucket) {
	b.Helper()
	b.edit(c, func() {
		c.Spec.DataServices = nil
		c.Annotations = map[string]string{reconciler.AnnotationDeleteData: bucket.Name}
	})
	b.run(c)
	b.read(bucket)
	status.Summarize(&bucket.Status.Conditions, status.Result{Generation: bucket.Generation, Now: b.clock.Now(),
		Err: &status.Stalled{Reason: status.ReasonDataWouldBeLost, Message: "the bucket is not empty: it holds 3 objects"}})
	if err := b.person.Status().Update(b.ctx(), bucket); err != nil {
		b.Fatal(err)
	}
}

func TestPrune_KeepsADroppedStoreForItsTime(t *testing.T) {
	extent.Full(t)
	b := newBed(t)
	c, bucket := b.running(gracefully)
	b.refuseWith("patch", "S3Bucket", forbidden)
	b.edit(c, func() {
		c.Spec.DataServices = nil
		c.Annotations = map[string]string{reconciler.AnnotationDeleteData: bucket.Name}
	})
	b.eventually("the failure", func() error {
		b.answer()
		if _, err := b.reconcile(c); err == nil {
			return errors.New("the work queue does not see it")
		}
		return nil
	})
	if b.read(bucket); bucket.DeletionTimestamp != nil {
		t.Error("a store is deleted whose time is not recorded")
	}
	b.allowAll()
	b.dropsConfirmed(c, bucket)
	b.pass(c)
	if len(c.Status.Dropped) != 1 || c.Status.Dropped[0].Name != bucket.Name {
		t.Fatalf("dropped: %+v, %s: %s", c.Status.Dropped, c.Status.Phase, c.Status.Message)
	}
	until := c.Status.Dropped[0].Until
	if left := until.Sub(b.clock.Now()); left <= 0 || left > time.Hour {
		t.Errorf("kept for %s", left)
	}
	if b.read(bucket); reconciler.MayDeleteData(bucket, bucket.Name) || bucket.DeletionTimestamp == nil {
		t.Errorf("the bucket's object: %v, %v", bucket.DeletionTimestamp, bucket.Annotations)
	}
	b.written()
	b.Reconciler = b.newReconciler() // the operator was killed
	b.pass(c)
	b.pass(c)
	if w := b.written(); len(w) > 0 || !c.Status.Dropped[0].Until.Equal(&until) {
		t.Errorf("at rest: %q, until %s after %s", w, c.Status.Dropped[0].Until, until)
	}
	b.clock.SetTime(until.Time)
	if _, err := b.reconcile(c); err == nil {
		t.Error("the store is still there")
	}
	b.read(c)
	if b.read(bucket); !reconciler.MayDeleteData(bucket, bucket.Name) || len(c.Status.Dropped) != 0 {
		t.Errorf("after the time: %v, %+v", bucket.Annotations, c.Status.Dropped)
	}
}

func TestPrune_DeclaringADroppedStoreAgainKeepsIt(t *testing.T) {
	extent.Full(t)
	b := newBed(t)
	c, bucket := b.running(gracefully)
	b.dropsConfirmed(c, bucket)
	b.pass(c)
	b.edit(c, func() { withBucket(c) })
	b.read(bucket)
	b.clock.SetTime(bucket.DeletionTimestamp.Add(2 * keepAfter))
	b.eventually("the store to be kept", func() error {
		_, err := b.reconcile(c)
		if b.read(bucket); bucket.Spec.DeletionPolicy != v1alpha1.DeletionRetain {
			return cmp.Or(err, errors.New("its object deletes it"))
		}
		return nil
	})
}

// A person takes the permission to delete the data back, and gives it again after the first time is over.
func TestPrune_ASecondPermissionBeginsANewTime(t *testing.T) {
	extent.Full(t)
	b := newBed(t)
	c, bucket := b.running(gracefully)
	b.dropsConfirmed(c, bucket)
	b.pass(c)
	first := c.Status.Dropped[0].Until
	b.edit(c, func() { c.Annotations = nil })
	b.run(c)
	b.clock.SetTime(first.Add(time.Hour))
	b.run(c)
	if b.read(bucket); reconciler.MayDeleteData(bucket, bucket.Name) || len(c.Status.Dropped) > 0 {
		t.Fatalf("without permission: %v, %+v", bucket.Annotations, c.Status.Dropped)
	}
	b.dropsConfirmed(c, bucket)
	b.pass(c)
	if b.read(bucket); reconciler.MayDeleteData(bucket, bucket.Name) || len(c.Status.Dropped) != 1 || !c.Status.Dropped[0].Until.After(first.Add(time.Hour)) {
		t.Errorf("with permission again: %v, %+v", bucket.Annotations, c.Status.Dropped)
	}
}

func TestPrune_DeletesADroppedStoreAtOnceWithoutATime(t *testing.T) {
	extent.Full(t)
	b := newBed(t)
	c, bucket := b.running(gracefully)
	b.dropsConfirmed(c, bucket)
	b.edit(c, func() { c.Spec.Deletion.Graceful.Duration = 0 }) // the last word counts
	if _, err := b.reconcile(c); err == nil {
		t.Error("the store is still there")
	}
	if b.read(bucket); !reconciler.MayDeleteData(bucket, bucket.Name) {
		t.Errorf("annotations %v", bucket.Annotations)
	}
}

func TestPrune_AsksWhetherTheCapabilityIsStillTheSame(t *testing.T) {
	extent.Full(t)
	b := newBed(t)
	c, bucket := b.running()
	b.edit(c, func() { c.Spec.DataServices = nil })
	stale := c.DeepCopy()
	b.edit(c, func() { withBucket(c) })
	// The cache lags: it shows the generation before, which does not declare the bucket.
	b.stale = stale
	res, err := b.reconcile(c)
	if err != nil || res.RequeueAfter == 0 {
		t.Errorf("%+v, %v: want another look", res, err)
	}
	if !b.exists(bucket) {
		t.Error("a bucket that the capability declares is deleted")
	}
	b.stale = nil
	b.edit(c, func() { c.Spec.DataServices = nil })
	b.refuseWith("live", "NexusAICapability", unavailable)
	if _, err := b.reconcile(c); !apierrors.IsServiceUnavailable(err) || !b.exists(bucket) {
		t.Errorf("without an answer: %v", err)
	}
}

func TestPrune_WaitsWhileAnApplyFails(t *testing.T) {
	extent.Full(t)
	b := newBed(t)
	c, bucket := b.running()
	b.refuseWith("apply", "ConfigMap", forbidden)
	b.edit(c, func() { c.Spec.DataServices, c.Spec.Version = nil, "9.9.9" })
	b.pass(c)
	if !b.exists(bucket) {
		t.Error("the bucket is deleted although the new version was not rolled out")
	}
	b.allowAll()
	b.run(c)
	if b.exists(bucket) {
		t.Error("the bucket stays after the roll-out")
	}
}

func TestPrune_MissingRightToDelete(t *testing.T) {
	extent.Full(t)
	b := newBed(t)
	c, bucket := b.running()
	b.edit(c, func() { c.Spec.DataServices = nil })
	b.refuseWith("delete", "S3Bucket", forbidden)
	if _, err := b.reconcile(c); err == nil {
		t.Error("the work queue does not see the failure")
	}
	b.read(c)
	if m := b.is(c, status.Stall, metav1.ConditionTrue, status.ReasonAccessDenied); !strings.Contains(m, "deleting S3Bucket "+b.ns+"/"+bucket.Name) {
		t.Errorf("says %s", m)
	}
	b.allowAll()
	b.run(c)
}

func TestStore_DeletedByAPersonIsKept(t *testing.T) {
	extent.Full(t)
	for name, tc := range map[string]struct {
		edit   func(*v1alpha1.S3Bucket)
		wait   time.Duration
		refuse error
		want   v1alpha1.DeletionPolicy
		events int
	}{
		"a declared store":               {func(*v1alpha1.S3Bucket) {}, keepAfter + time.Second, nil, v1alpha1.DeletionRetain, 1},
		"one that is confirmed":          {func(o *v1alpha1.S3Bucket) { o.Annotations[reconciler.AnnotationDeleteData] = o.Name }, keepAfter + time.Second, nil, v1alpha1.DeletionDelete, 0},
		"in the seconds of one command":  {func(*v1alpha1.S3Bucket) {}, 0, nil, v1alpha1.DeletionDelete, 0},
		"while the API server is silent": {func(*v1alpha1.S3Bucket) {}, keepAfter + time.Second, unavailable, v1alpha1.DeletionDelete, 0},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBed(t)
			c, bucket := b.running(func(c *nexusv1.NexusAICapability) { c.Spec.DeletionPolicy = nexusv1.DeletionDelete })
			b.edit(bucket, func() { tc.edit(bucket) })
			if err := b.person.Delete(t.Context(), bucket); err != nil {
				t.Fatal(err)
			}
			b.read(bucket)
			b.clock.SetTime(bucket.DeletionTimestamp.Add(tc.wait))
			b.written()
			if tc.refuse != nil {
				b.refuseWith("live", "Namespace", tc.refuse)
			}
			if _, err := b.reconcile(c); (err != nil) != (tc.refuse != nil) {
				t.Errorf("returned %v", err)
			}
			if b.read(bucket); bucket.Spec.DeletionPolicy != tc.want {
				t.Errorf("deletionPolicy is %s, want %s", bucket.Spec.DeletionPolicy, tc.want)
			}
			events := slices.DeleteFunc(b.emitted(), func(e string) bool { return !strings.HasPrefix(e, "Warning StoreKept ") })
			if len(events) != tc.events || tc.events > 0 && (!strings.Contains(events[0], bucket.Name) || !strings.Contains(events[0], "edit the capability")) {
				t.Errorf("events %q", events)
			}
			if tc.events == 0 {
				return
			}
			b.edit(bucket, func() { bucket.Finalizers = nil }) // its controller removed it
			b.allowAll()
			b.run(c)
			if !b.exists(bucket) || bucket.Spec.DeletionPolicy != v1alpha1.DeletionDelete {
				t.Errorf("the object is not created again as declared: %+v", bucket.Spec.CommonSpec)
			}
		})
	}
}

func TestStore_GoesWithItsNamespace(t *testing.T) {
	extent.Full(t)
	b := newBed(t)
	c, bucket := b.running()
	// Deleting the namespace deletes the capability as well; the bucket may be seen first.
	if err := b.person.Delete(t.Context(), bucket); err != nil {
		t.Fatal(err)
	}
	b.create(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: b.ns, Name: "slow", Finalizers: []string{holdsData}}})
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: b.ns}}
	if err := b.person.Delete(t.Context(), ns); err != nil {
		t.Fatal(err)
	}
	b.read(bucket)
	b.clock.SetTime(bucket.DeletionTimestamp.Add(time.Minute))
	b.eventually("the deletion of the namespace", func() error { b.read(ns); return nil })
	if err := b.stores.keepDeleted(t.Context(), c, capabilityChild("S3Bucket", bucket)); err != nil {
		t.Fatal(err)
	}
	if b.read(bucket); bucket.Spec.DeletionPolicy == v1alpha1.DeletionRetain && c.Spec.DeletionPolicy != nexusv1.DeletionRetain {
		t.Errorf("the store is kept: %+v", bucket.Spec.CommonSpec)
	}
	if events := b.emitted(); len(events) > 0 {
		t.Errorf("events %q", events)
	}
	slow := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: b.ns, Name: "slow"}}
	b.edit(slow, func() { slow.Finalizers = nil })
}

func TestDataLossConfirmed(t *testing.T) {
	deleting := new(metav1.Now())
	b := newBed(t)
	for name, tc := range map[string]struct {
		capability *metav1.Time
		annotation string
		object     *metav1.Time
		had        string
		waits      string
		want       bool
	}{
		"an edit of the capability":                {nil, "", deleting, "", status.ReasonDataWouldBeLost, false},
		"confirmed on the capability":              {nil, "a, media", deleting, "", "", true},
		"another store is confirmed":               {nil, "media2", deleting, "", status.ReasonDataWouldBeLost, false},
		"the capability went after the store":      {deleting, "", deleting, "", status.ReasonDataWouldBeLost, true},
		"after a store that it declares":           {deleting, "", deleting, "", status.ReasonOwnedByCapability, true},
		"the deletion of the store is not held":    {deleting, "", deleting, "", status.ReasonDeleting, false},
		"the capability goes first":                {deleting, "", nil, "", "", false},
		"the object says so itself: nothing to do": {nil, "media", deleting, "media", status.ReasonDataWouldBeLost, true},
	} {
		c := &nexusv1.NexusAICapability{ObjectMeta: metav1.ObjectMeta{DeletionTimestamp: tc.capability, Annotations: map[string]string{reconciler.AnnotationDeleteData: tc.annotation}}}
		o := &v1alpha1.S3Bucket{ObjectMeta: metav1.ObjectMeta{Namespace: b.ns, GenerateName: "x-"}}
		o.Spec.BucketName, o.Spec.ProviderRef.Name = "media", "aws"
		b.create(o)
		stored := o.DeepCopy()
		key := client.ObjectKeyFromObject(o)
		annotation := strings.ReplaceAll(tc.annotation, "media", o.Name)
		c.Annotations[reconciler.AnnotationDeleteData] = annotation
		o.DeletionTimestamp = tc.object
		meta.SetStatusCondition(&o.Status.Conditions, metav1.Condition{Type: status.Ready, Status: metav1.ConditionFalse, Reason: cmp.Or(tc.waits, status.ReasonDeleting)})
		if tc.had != "" {
			o.Annotations = map[string]string{reconciler.AnnotationDeleteData: o.Name}
			stored.Annotations = o.Annotations
			if err := b.person.Update(t.Context(), stored); err != nil {
				t.Fatal(err)
			}
			o.ResourceVersion = stored.ResourceVersion
		}
		b.written()
		if err := b.stores.allowDataLoss(t.Context(), c, o); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if writes := b.written(); tc.had != "" && len(writes) > 0 {
			t.Errorf("%s: wrote %q", name, writes)
		}
		if err := b.person.Get(t.Context(), key, stored); err != nil || reconciler.MayDeleteData(stored, o.Name) != tc.want {
			t.Errorf("%s: %v, annotations %v", name, err, stored.Annotations)
		}
	}
}

// A key that others need is not given up because its capability goes: it only looks again at once.
func TestAllowDataLoss_LeavesAKeyToAPerson(t *testing.T) {
	extent.Full(t)
	b := newBed(t)
	c := &nexusv1.NexusAICapability{ObjectMeta: metav1.ObjectMeta{UID: "cap", DeletionTimestamp: &metav1.Time{Time: time.Now()}}}
	o := &v1alpha1.KMSKey{ObjectMeta: metav1.ObjectMeta{Namespace: b.ns, GenerateName: "x-"}}
	o.Spec.ProviderRef.Name = "aws"
	b.create(o)
	o.DeletionTimestamp = c.DeletionTimestamp
	meta.SetStatusCondition(&o.Status.Conditions, metav1.Condition{Type: status.Ready, Status: metav1.ConditionFalse, Reason: status.ReasonDataWouldBeLost})
	b.written()
	for _, writes := range []int{1, 0} {
		if err := b.stores.allowDataLoss(t.Context(), c, o); err != nil {
			t.Fatal(err)
		}
		if got := b.written(); len(got) != writes {
			t.Errorf("wrote %q", got)
		}
		deletion := o.DeletionTimestamp
		b.read(o)
		if reconciler.MayDeleteData(o, o.Name) || o.Annotations[wellknown.AnnotationReconcileAt] != "deletion of cap" {
			t.Errorf("annotations %v", o.Annotations)
		}
		o.DeletionTimestamp = deletion
		meta.SetStatusCondition(&o.Status.Conditions, metav1.Condition{Type: status.Ready, Status: metav1.ConditionFalse, Reason: status.ReasonDataWouldBeLost})
	}
	c.Annotations = map[string]string{reconciler.AnnotationDeleteData: o.Name}
	if err := b.stores.allowDataLoss(t.Context(), c, o); err != nil {
		t.Fatal(err)
	}
	if b.read(o); !reconciler.MayDeleteData(o, o.Name) {
		t.Errorf("what a person named on the capability is not passed on: %v", o.Annotations)
	}
}
