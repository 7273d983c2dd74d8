// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	s3types "github.com/aws/aws-sdk-go-v2/service/s3/types"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/testkit/extent"
)

func TestASuspendedCapabilityWritesNothingAndHealsWhenItGoesOn(t *testing.T) {
	extent.Full(t)
	b := newBed(t, "--check-interval=1s")
	c := withStores(b.small("asleep"))
	b.Create(c)
	b.Running(c)
	b.Edit(c, func() { c.Spec.Suspend = true })
	b.Shows(c, "Reconciling", metav1.ConditionTrue, "Paused")
	if c.Status.Phase != nexusv1.PhaseSuspended {
		t.Errorf("phase %s, want Suspended", c.Status.Phase)
	}
	b.Quiet() // what was under way has ended
	_, km := b.Mark()

	// Everything that would be healed is spoilt, on both sides.
	bucket := aws.String("asleep-dev-call-data")
	if _, err := b.s3().PutBucketVersioning(b.Ctx(), &s3.PutBucketVersioningInput{Bucket: bucket,
		VersioningConfiguration: &s3types.VersioningConfiguration{Status: s3types.BucketVersioningStatusSuspended}}); err != nil {
		t.Fatal(err)
	}
	am, _ := b.Mark()
	d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "asleep-dev-backend", Namespace: c.Namespace}}
	b.Edit(d, func() { d.Spec.Template.Spec.Containers[0].Image = "evil:1" })
	cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "asleep-dev-config", Namespace: c.Namespace}}
	if err := b.Client.Delete(b.Ctx(), cm); err != nil {
		t.Fatal(err)
	}
	role := &v1alpha1.IAMRole{ObjectMeta: metav1.ObjectMeta{Name: "asleep-dev-app-role", Namespace: c.Namespace}}
	b.Edit(role, func() { role.Spec.Description = aws.String("edited by hand") })
	b.Edit(c, func() { c.Spec.Version = "2" })
	time.Sleep(3 * time.Second) // three intervals: objects that are suspended are not checked, which no queue shows
	writes := b.World.AWS().Since(am).Writes()
	if len(writes) > 0 {
		t.Errorf("wrote to AWS while suspended:\n%s", writes)
	}
	for _, w := range b.KubeWrites(km) {
		if w.Resource != "nexuscapabilities" || w.Subresource != "status" { // the new generation is observed
			t.Errorf("wrote to Kubernetes while suspended: %s", w)
		}
	}

	b.Edit(c, func() { c.Spec.Suspend = false })
	b.Eventually(10*time.Second, "everything to be healed", func() error {
		v, err := b.s3().GetBucketVersioning(b.Ctx(), &s3.GetBucketVersioningInput{Bucket: bucket})
		if err != nil || v.Status != s3types.BucketVersioningStatusEnabled {
			return fmt.Errorf("versioning %v, %v", v, err)
		}
		if err := b.Get(d); err != nil || d.Spec.Template.Spec.Containers[0].Image == "evil:1" || d.Labels["app.kubernetes.io/version"] != "2" {
			return fmt.Errorf("the Deployment is still as it was edited, %v", err)
		}
		if err := b.Get(role); err != nil || *role.Spec.Description == "edited by hand" {
			return fmt.Errorf("the role is still as it was edited, %v", err)
		}
		return b.Get(cm)
	})
	b.Running(c)
	b.removeAll([]*nexusv1.NexusAICapability{c})
}

func TestASuspendedCapabilityCanBeDeleted(t *testing.T) {
	extent.Full(t)
	b := newBed(t)
	c := withStores(b.small("deleted-asleep"))
	b.Create(c)
	b.Running(c)
	b.Edit(c, func() { c.Spec.Suspend = true })
	b.Shows(c, "Reconciling", metav1.ConditionTrue, "Paused")
	b.removeAll([]*nexusv1.NexusAICapability{c})
}

func TestPausedCapabilityFreezesWritesAndDeletion(t *testing.T) {
	extent.Full(t)
	b := newBed(t, "--check-interval=1s")
	c := withStores(b.small("frozen"))
	b.Create(c)
	b.Running(c)
	pause := func(value string) {
		t.Helper()
		b.Edit(c, func() {
			if c.Annotations == nil {
				c.Annotations = map[string]string{}
			}
			if c.Annotations["nexus.ai/paused"] = value; value == "" {
				delete(c.Annotations, "nexus.ai/paused")
			}
		})
	}
	pause("true")
	b.contains(b.Shows(c, "Paused", metav1.ConditionTrue, "Paused"), "nexus.ai/paused")
	b.Quiet() // calls under way have ended

	// Everything that would be healed changes on both sides, and the capability is deleted.
	bucket := aws.String("frozen-dev-call-data")
	if _, err := b.s3().PutBucketVersioning(b.Ctx(), &s3.PutBucketVersioningInput{Bucket: bucket,
		VersioningConfiguration: &s3types.VersioningConfiguration{Status: s3types.BucketVersioningStatusSuspended}}); err != nil {
		t.Fatal(err)
	}
	d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "frozen-dev-backend", Namespace: c.Namespace}}
	b.Edit(d, func() { d.Spec.Template.Spec.Containers[0].Image = "evil:1" })
	role := &v1alpha1.IAMRole{ObjectMeta: metav1.ObjectMeta{Name: "frozen-dev-app-role", Namespace: c.Namespace}}
	b.Edit(role, func() { role.Spec.Description = aws.String("edited by hand") })
	table := &v1alpha1.DynamoDBTable{ObjectMeta: metav1.ObjectMeta{Name: "frozen-dev-license", Namespace: c.Namespace}}
	b.Edit(c, func() { c.Spec.Version = "2" })
	am, km := b.Mark()
	b.Passes("dynamodbtable", 1, func() {
		for _, o := range []client.Object{table, c} {
			if err := b.Client.Delete(b.Ctx(), o); err != nil {
				t.Fatal(err)
			}
		}
	})
	if writes := b.World.AWS().Since(am).Writes(); len(writes) > 0 {
		t.Errorf("wrote to AWS while paused:\n%s", writes)
	}
	for _, w := range b.KubeWrites(km) {
		t.Errorf("wrote to Kubernetes while paused: %s", w)
	}
	for _, o := range []client.Object{table, c} {
		if err := b.Get(o); err != nil || o.GetDeletionTimestamp() == nil {
			t.Errorf("%T is not held in deletion: %v", o, err)
		}
	}

	// Resumed, it finishes the deletion.
	pause("")
	b.Gone(table)
	b.Gone(c)
	if inv := b.Inventory(); len(inv) > 0 {
		t.Errorf("left in AWS: %v", inv)
	}
}

func TestUnpausedCapabilityResumesAndHeals(t *testing.T) {
	extent.Full(t)
	b := newBed(t)
	c := withStores(b.small("resumes"))
	c.Annotations = map[string]string{"nexus.ai/paused": "true"}
	_, km := b.Mark()
	b.Create(c)
	b.Shows(c, "Paused", metav1.ConditionTrue, "Paused")
	b.Quiet()
	for _, w := range b.KubeWrites(km) {
		if w.Subresource != "status" {
			t.Errorf("wrote for a capability that was created paused: %s", w)
		}
	}
	b.Edit(c, func() { delete(c.Annotations, "nexus.ai/paused") })
	b.Running(c)
	if cond, err := b.Condition(c, "Paused"); err == nil {
		t.Errorf("the condition stays: %+v", cond)
	}
	b.Edit(c, func() { c.Annotations = map[string]string{"nexus.ai/paused": "true"} })
	b.Shows(c, "Paused", metav1.ConditionTrue, "Paused")
	role := &v1alpha1.IAMRole{ObjectMeta: metav1.ObjectMeta{Name: "resumes-dev-app-role", Namespace: c.Namespace}}
	b.Edit(role, func() { role.Spec.Description = aws.String("edited by hand") })
	b.Edit(c, func() { delete(c.Annotations, "nexus.ai/paused") })
	b.Eventually(10*time.Second, "the edited child to be healed", func() error {
		if err := b.Get(role); err != nil || *role.Spec.Description == "edited by hand" {
			return fmt.Errorf("the role is as it was edited, %v", err)
		}
		return nil
	})
	b.Running(c)
	b.removeAll([]*nexusv1.NexusAICapability{c})
}

func TestForgedOwnerOfASuspendedCapabilityIsReported(t *testing.T) {
	extent.Full(t)
	b := newBed(t, "--ambient-namespaces=forged-dev")
	c := b.small("forged")
	c.Spec.Suspend = true
	p := provider("aws")
	p.Namespace = c.Namespace
	b.Create(p, c)
	b.Ready(p)
	b.Shows(c, "Reconciling", metav1.ConditionTrue, "Paused")
	o := &v1alpha1.S3Bucket{ObjectMeta: named(c.Namespace, "forged-bucket"),
		Spec: v1alpha1.S3BucketSpec{BucketName: "forged-bucket", CommonSpec: through("aws")}}
	o.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(c, nexusv1.GroupVersion.WithKind("NexusAICapability"))}
	b.Create(o)
	b.contains(b.Shows(o, "Paused", metav1.ConditionTrue, "Paused"), "NexusAICapability forged-dev", "metadata.ownerReferences",
		"remove the owner reference")
	if inv := b.Inventory(); len(inv) > 0 {
		t.Errorf("made in AWS: %v", inv)
	}
	_, km := b.Mark()
	b.Passes("s3bucket", 1, func() {
		b.Edit(o, func() { o.Annotations = map[string]string{"nexus.ai/reconcile-requested-at": "now"} })
	})
	if w := b.KubeWrites(km); len(w) > 0 {
		t.Errorf("the condition was written again: %v", w)
	}
	b.Edit(o, func() { o.OwnerReferences = nil })
	b.Ready(o)
	if cond, err := b.Condition(o, "Paused"); err == nil {
		t.Errorf("the condition stays: %+v", cond)
	}
	b.Remove(o, c, p)
}
