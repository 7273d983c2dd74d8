// SPDX-License-Identifier: Apache-2.0

package capability

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/api/wellknown"
	"github.com/nexus-operator/nexus-operator/internal/capability"
	"github.com/nexus-operator/nexus-operator/internal/status"
	"github.com/nexus-operator/nexus-operator/internal/testkit/extent"
)

// gracefully gives a capability a grace period that allows an undo of its deletion.
func gracefully(c *nexusv1.NexusAICapability) {
	c.Spec.DeletionPolicy = nexusv1.DeletionDelete
	c.Spec.Deletion = &nexusv1.DeletionSpec{Graceful: &metav1.Duration{Duration: time.Hour}}
}

// operatorNamespace creates the namespace of the records.
func (b *bed) operatorNamespace() {
	b.Helper()
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: b.options.Namespace}}
	if err := b.person.Create(b.ctx(), ns); err != nil && !apierrors.IsAlreadyExists(err) {
		b.Fatal(err)
	}
}

// record reads the record of a capability; nil when there is none.
func (b *bed) record(c *nexusv1.NexusAICapability) *capability.Record {
	b.Helper()
	o := &corev1.ConfigMap{}
	err := b.person.Get(b.ctx(), client.ObjectKey{Namespace: b.options.Namespace, Name: capability.RecordName(c.Namespace, c.Name)}, o)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		b.Fatal(err)
	}
	record, err := capability.ReadRecord(o)
	if err != nil {
		b.Fatal(err)
	}
	return &record
}

// readBucket reads the bucket of a capability.
func (b *bed) readBucket() *v1alpha1.S3Bucket {
	b.Helper()
	o := b.bucket()
	b.read(o)
	return o
}

// untilRecoverable reconciles until a deletion waits.
func (b *bed) untilRecoverable(c *nexusv1.NexusAICapability) {
	b.Helper()
	b.eventually("the capability to be recoverable", func() error {
		b.pass(c)
		if c.Status.Phase != nexusv1.PhaseRecoverable {
			return &status.Waiting{For: "phase Recoverable, and it is " + string(c.Status.Phase) + ": " + c.Status.Message}
		}
		return nil
	})
}

func TestRecovery_WaitsWithTheStoresAndWritesNothing(t *testing.T) {
	extent.Full(t)
	b := newBed(t)
	b.operatorNamespace()
	c := b.capability(withBucket, gracefully)
	b.run(c)
	b.deleteCapability(c)
	// Without the record nothing is deleted.
	b.refuseWith("create", "ConfigMap", forbidden)
	if _, err := b.reconcile(c); err == nil {
		t.Error("the work queue does not see the failure")
	}
	b.read(c)
	if w := b.written(); strings.Contains(strings.Join(w, ","), "delete ") || c.Status.Recovery != nil {
		t.Errorf("without a record: %v, %+v", w, c.Status.Recovery)
	}
	b.is(c, status.Stall, metav1.ConditionTrue, status.ReasonAccessDenied)
	b.allowAll()

	if res := b.pass(c); res.RequeueAfter > time.Second || c.Status.Recovery == nil || c.Status.Recovery.State != nexusv1.RecoveryWaiting || len(c.Status.Recovery.Kept) == 0 {
		t.Fatalf("after the first pass: %+v, %+v", res, c.Status.Recovery)
	}
	for _, w := range b.written() {
		if strings.HasPrefix(w, "delete ") {
			t.Errorf("%s before the status says that the deletion waits", w)
		}
	}
	b.untilRecoverable(c)
	b.is(c, status.Ready, metav1.ConditionFalse, status.ReasonRecoverable)
	if o := b.readBucket(); o.DeletionTimestamp != nil || o.Spec.DeletionPolicy != v1alpha1.DeletionDelete {
		t.Errorf("the bucket: %v, %s", o.DeletionTimestamp, o.Spec.DeletionPolicy)
	}
	if left, err := b.teardown.anyLeft(t.Context(), c, v1alpha1.GroupVersion.WithKind("IAMRole")); left || err != nil {
		t.Errorf("roles are left: %v, %v", left, err)
	}
	record := b.record(c)
	if record == nil || record.Capability.UID != c.UID || record.Capability.Spec.Version != "1.0.0" {
		t.Fatalf("the record: %+v", record)
	}
	b.emitted()
	b.written()
	b.Reconciler = b.newReconciler()
	b.pass(c)
	b.pass(c)
	if w, e := b.written(), b.emitted(); len(w)+len(e) > 0 {
		t.Errorf("at rest: %v, %v", w, e)
	}

	b.clock.SetTime(c.Status.Recovery.Until.Time)
	b.pass(c)
	if c.Status.Recovery.State != nexusv1.RecoveryEnded {
		t.Fatalf("after the time: %+v", c.Status.Recovery)
	}
	b.takenDown(c)
	if b.record(c) != nil {
		t.Error("the record is left")
	}
}

func TestRecovery_AnUndoReleasesTheStores(t *testing.T) {
	extent.Full(t)
	b := newBed(t)
	b.operatorNamespace()
	c := b.capability(withBucket, gracefully)
	b.run(c)
	b.deleteCapability(c)
	b.untilRecoverable(c)
	b.edit(c, func() { c.Annotations = map[string]string{wellknown.AnnotationUndo: string(c.UID)} })
	held := b.readBucket()
	b.edit(held, func() { held.Finalizers = append(held.Finalizers, "test.example/look") })
	b.pass(c)
	if c.Status.Recovery.State != nexusv1.RecoveryRestoring {
		t.Fatalf("%+v", c.Status.Recovery)
	}
	b.edit(c, func() { c.Annotations = map[string]string{wellknown.AnnotationDeleteNow: string(c.UID)} })
	b.eventually("the bucket to be deleted", func() error {
		b.pass(c)
		if o := b.readBucket(); o.DeletionTimestamp == nil {
			return &status.Waiting{For: c.Status.Message}
		}
		return nil
	})
	o := b.readBucket()
	if o.Spec.DeletionPolicy != v1alpha1.DeletionRetain {
		t.Errorf("its object is deleted with policy %s", o.Spec.DeletionPolicy)
	}
	b.edit(o, func() { o.Finalizers = nil })
	b.takenDown(c)
	if record := b.record(c); record == nil || record.Recovery.State != nexusv1.RecoveryRestoring {
		t.Errorf("the record: %+v", record)
	}
	next := b.capability(withBucket, gracefully)
	b.run(next)
	if b.record(next) != nil {
		t.Error("the record outlives the undo")
	}
}

func TestRecovery_ALateDecisionMeetsAConflict(t *testing.T) {
	extent.Full(t)
	b := newBed(t)
	b.operatorNamespace()
	c := b.capability(withBucket, gracefully)
	b.run(c)
	b.deleteCapability(c)
	b.untilRecoverable(c)
	stale := c.DeepCopy()
	b.edit(c, func() { c.Annotations = map[string]string{wellknown.AnnotationUndo: string(c.UID)} })
	b.clock.SetTime(c.Status.Recovery.Until.Time)
	if _, err := b.delete(t.Context(), stale.DeepCopy(), stale); err != nil {
		t.Fatal(err)
	}
	b.read(c)
	if record := b.record(c); c.Status.Recovery.State != nexusv1.RecoveryWaiting || record.Recovery.State != nexusv1.RecoveryWaiting {
		t.Errorf("an operator that had not seen the undo decided: %+v", c.Status.Recovery)
	}
	b.pass(c)
	if c.Status.Recovery.State != nexusv1.RecoveryRestoring {
		t.Errorf("%+v", c.Status.Recovery)
	}
}
