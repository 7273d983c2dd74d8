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

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
)

func TestASuspendedCapabilityWritesNothingAndHealsWhenItGoesOn(t *testing.T) {
	b := newBed(t, "--check-interval=1s")
	c := withStores(b.small("asleep"))
	b.create(c)
	b.running(c)
	b.edit(c, func() { c.Spec.Suspend = true })
	b.shows(c, "Reconciling", metav1.ConditionTrue, "Paused")
	if c.Status.Phase != nexusv1.PhaseSuspended {
		t.Errorf("phase %s, want Suspended", c.Status.Phase)
	}
	time.Sleep(500 * time.Millisecond) // what was under way
	_, km := b.mark()

	// Everything that would be healed is spoilt, on both sides.
	bucket := aws.String("asleep-dev-call-data")
	if _, err := b.s3().PutBucketVersioning(b.ctx(), &s3.PutBucketVersioningInput{Bucket: bucket,
		VersioningConfiguration: &s3types.VersioningConfiguration{Status: s3types.BucketVersioningStatusSuspended}}); err != nil {
		t.Fatal(err)
	}
	am, _ := b.mark()
	d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "asleep-dev-backend", Namespace: c.Namespace}}
	b.edit(d, func() { d.Spec.Template.Spec.Containers[0].Image = "evil:1" })
	cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "asleep-dev-config", Namespace: c.Namespace}}
	if err := b.c.Delete(b.ctx(), cm); err != nil {
		t.Fatal(err)
	}
	role := &v1alpha1.IAMRole{ObjectMeta: metav1.ObjectMeta{Name: "asleep-dev-app-role", Namespace: c.Namespace}}
	b.edit(role, func() { role.Spec.Description = aws.String("edited by hand") })
	b.edit(c, func() { c.Spec.Version = "2" })
	time.Sleep(3 * time.Second)
	writes := b.w.AWS().Since(am).Writes()
	if len(writes) > 0 {
		t.Errorf("wrote to AWS while suspended:\n%s", writes)
	}
	for _, w := range b.kubeWrites(km) {
		if w.Resource != "nexuscapabilities" || w.Subresource != "status" { // the new generation is observed
			t.Errorf("wrote to Kubernetes while suspended: %s", w)
		}
	}

	b.edit(c, func() { c.Spec.Suspend = false })
	b.eventually(10*time.Second, "everything to be healed", func() error {
		v, err := b.s3().GetBucketVersioning(b.ctx(), &s3.GetBucketVersioningInput{Bucket: bucket})
		if err != nil || v.Status != s3types.BucketVersioningStatusEnabled {
			return fmt.Errorf("versioning %v, %v", v, err)
		}
		if err := b.get(d); err != nil || d.Spec.Template.Spec.Containers[0].Image == "evil:1" || d.Labels["app.kubernetes.io/version"] != "2" {
			return fmt.Errorf("the Deployment is still as it was edited, %v", err)
		}
		if err := b.get(role); err != nil || *role.Spec.Description == "edited by hand" {
			return fmt.Errorf("the role is still as it was edited, %v", err)
		}
		return b.get(cm)
	})
	b.running(c)
	b.removeAll([]*nexusv1.NexusAICapability{c})
}

func TestASuspendedCapabilityCanBeDeleted(t *testing.T) {
	b := newBed(t)
	c := withStores(b.small("deleted-asleep"))
	b.create(c)
	b.running(c)
	b.edit(c, func() { c.Spec.Suspend = true })
	b.shows(c, "Reconciling", metav1.ConditionTrue, "Paused")
	b.removeAll([]*nexusv1.NexusAICapability{c})
}
