// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
)

// A tenant who may create objects beside a capability writes everything in them but the UID: owner
// references, finalizers and our annotations. None of it may lend the operator's identity.
func TestForgedRecordsDeleteNothing(t *testing.T) {
	b := newBed(t, "--ambient-namespaces=nowhere")
	c := b.small("myapp")
	b.Create(c)
	b.Running(c)
	api := iam.NewFromConfig(aws.Config{Region: "ap-southeast-1", BaseEndpoint: aws.String(b.World.AWS().URL()), Credentials: credentials.NewStaticCredentialsProvider("a", "b", "")})
	doc := `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"Service":"ec2.amazonaws.com"},"Action":"sts:AssumeRole"}]}`
	if _, err := api.CreateRole(t.Context(), &iam.CreateRoleInput{RoleName: aws.String("finance-admin"), AssumeRolePolicyDocument: &doc}); err != nil {
		t.Fatal(err)
	}
	mark, _ := b.Mark()
	forged := &v1alpha1.IAMRole{
		ObjectMeta: metav1.ObjectMeta{
			Name: "forged", Namespace: c.Namespace, Finalizers: []string{"aws-infra-operator.runner.codes/iamrole-finalizer"},
			Annotations:     map[string]string{"nexus.ai/home": "aws/123456789012/ap-southeast-1", "nexus.ai/intent": `{"attempt":1,"at":"2001-01-01T00:00:00Z"}`},
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "nexus.ai/v1", Kind: "NexusAICapability", Name: c.Name, UID: c.UID, Controller: new(true)}},
		},
		Spec: v1alpha1.IAMRoleSpec{CommonSpec: through("myapp-dev"), RoleName: "finance-admin", AssumeRolePolicyDocument: doc},
	}
	b.Passes("iamrole", 1, func() { b.Create(forged) })
	_ = b.Client.Delete(b.Ctx(), forged)
	// The record proves nothing, and a record that is true must not lead to a leak: the object is held until its
	// author decides.
	b.Eventually(time.Minute, "the object to be held", func() error {
		k, err := b.Condition(forged, "Stalled")
		if err == nil && (k.Status != metav1.ConditionTrue || k.Reason != "OwnershipUnknown") {
			err = fmt.Errorf("%s/%s", k.Status, k.Reason)
		}
		return err
	})
	b.Edit(forged, func() { forged.Spec.DeletionPolicy = v1alpha1.DeletionRetain })
	b.Gone(forged)
	if w := b.World.AWS().Since(mark).Match("iam", "*", "finance-admin").Writes(); len(w) > 0 {
		t.Errorf("a foreign role was written to:\n%s", w)
	}
	if inv := fmt.Sprint(b.Inventory()); !strings.Contains(inv, "finance-admin") {
		t.Error("the foreign role is gone")
	}
	b.Remove(c)
}

func TestAFieldAddedToAChildIsTakenOutAgain(t *testing.T) {
	b := newBed(t, "--ambient-namespaces=nowhere")
	c := withStores(b.small("myapp"))
	b.Create(c)
	b.Running(c)
	o := bucket("myapp-dev-call-data")
	o.Namespace = c.Namespace
	b.Edit(o, func() { o.Spec.ForceDestroy = true; o.Spec.Tags = map[string]v1alpha1.TagValue{"added": "by-hand"} })
	b.Eventually(15*time.Second, "the child to be as its capability says", func() error {
		if err := b.Get(o); err != nil {
			return err
		}
		if o.Spec.ForceDestroy || len(o.Spec.Tags) > 0 {
			return fmt.Errorf("%+v", o.Spec)
		}
		return nil
	})
	b.Running(c)
	b.Ready(o)
	b.Remove(c)
}

func TestWhoOnlyObservesOrReportsWritesNothing(t *testing.T) {
	b := newBed(t, "--check-interval=1s")
	b.provider()
	o := bucket("watched")
	o.Spec.ManagementPolicy = v1alpha1.ManageObserve
	b.Create(o)
	b.Shows(o, "Stalled", metav1.ConditionTrue, "Missing")
	if _, err := b.s3().CreateBucket(t.Context(), &s3.CreateBucketInput{Bucket: aws.String("watched"),
		CreateBucketConfiguration: &types.CreateBucketConfiguration{LocationConstraint: "ap-southeast-1"}}); err != nil {
		t.Fatal(err)
	}
	mark, _ := b.Mark()
	b.Ready(o)
	if len(o.Status.Drift) != 1 || o.Status.Drift[0].Path != "Versioning.Enabled" {
		t.Errorf("drift is %+v, want Versioning alone beside no tags", o.Status.Drift)
	}
	b.Remove(o)
	if w := b.World.AWS().Since(mark).Match("s3", "*", "watched").Writes(); len(w) > 0 {
		t.Errorf("an observed bucket was written to:\n%s", w)
	}

	r := bucket("reported")
	r.Spec.DriftPolicy = v1alpha1.DriftReport
	b.Create(r)
	b.Ready(r)
	suspended := &s3.PutBucketVersioningInput{Bucket: aws.String("reported"), VersioningConfiguration: &types.VersioningConfiguration{Status: types.BucketVersioningStatusSuspended}}
	if _, err := b.s3().PutBucketVersioning(t.Context(), suspended); err != nil {
		t.Fatal(err)
	}
	b.Eventually(10*time.Second, "the drift to be reported", func() error {
		if err := b.Get(r); err != nil {
			return err
		}
		if len(r.Status.Drift) != 1 {
			return fmt.Errorf("%+v", r.Status.Drift)
		}
		return nil
	})
	v, err := b.s3().GetBucketVersioning(t.Context(), &s3.GetBucketVersioningInput{Bucket: aws.String("reported")})
	if err != nil || v.Status != types.BucketVersioningStatusSuspended {
		t.Errorf("a reported difference was corrected: %v %v", v, err)
	}
	b.Remove(r)
}

func TestADeletionFindsItsResourceThoughTheRecordWasTakenAway(t *testing.T) {
	b := newBed(t)
	b.provider()
	o := table("unrecorded")
	b.Create(o)
	b.Ready(o)
	strip := client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"annotations":null}}`))
	if err := b.Client.Patch(b.Ctx(), o, strip); err != nil {
		t.Fatal(err)
	}
	b.Remove(o)
	if inv := b.Inventory(); len(inv) > 0 {
		t.Errorf("left behind: %v", inv)
	}
}
