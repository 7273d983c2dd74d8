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
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/testkit/extent"
)

// A tenant who may create objects beside a capability writes everything in them but the UID: owner references, finalizers and our
// annotations. None of it may lend the operator's identity, or let the tenant find out which roles the account has: nothing that the
// tenant sees of a deletion or of its plan differs between a role that exists and one that does not.
func TestForgedRecordsDeleteNothing(t *testing.T) {
	b := newBed(t, "--ambient-namespaces=nowhere")
	c := b.small("myapp")
	b.Create(c)
	b.Running(c)
	api := iam.NewFromConfig(aws.Config{Region: "ap-southeast-1", BaseEndpoint: aws.String(b.World.AWS().URL()),
		Credentials: credentials.NewStaticCredentialsProvider("a", "b", "")})
	doc := `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"Service":"ec2.amazonaws.com"},"Action":"sts:AssumeRole"}]}`
	if _, err := api.CreateRole(t.Context(),
		&iam.CreateRoleInput{RoleName: aws.String("finance-admin"), AssumeRolePolicyDocument: &doc}); err != nil {
		t.Fatal(err)
	}
	tenant, mark := b.Tenant(c.Namespace), b.World.AWS().Mark()
	seen := map[string]string{}
	for _, name := range []string{"finance-admin", "nobodys-admin"} {
		forged := &v1alpha1.IAMRole{
			ObjectMeta: metav1.ObjectMeta{
				Name: name, Namespace: c.Namespace, Finalizers: []string{"aws-infra-operator.runner.codes/iamrole-finalizer", "example.com/keep"},
				Annotations: map[string]string{"nexus.ai/home": "aws/123456789012/ap-southeast-1",
					"nexus.ai/intent": `{"attempt":1,"at":"2001-01-01T00:00:00Z","identity":{"Name":"` + name + `"},"signature":"00"}`},
				OwnerReferences: []metav1.OwnerReference{{APIVersion: "nexus.ai/v1", Kind: "NexusAICapability", Name: c.Name, UID: c.UID,
					Controller: new(true)}},
			},
			Spec: v1alpha1.IAMRoleSpec{CommonSpec: through("myapp-dev"), RoleName: name, AssumeRolePolicyDocument: doc},
		}
		if err := tenant.Create(b.Ctx(), forged); err != nil {
			t.Fatal(err)
		}
		said := b.planOfDeletion(tenant, c.Namespace, "IAMRole", name)
		if err := tenant.Delete(b.Ctx(), forged); client.IgnoreNotFound(err) != nil {
			t.Fatal(err)
		}
		b.Eventually(30*time.Second, "the operator's finalizer to be removed", func() error {
			if err := b.Get(forged); err != nil || len(forged.Finalizers) != 1 {
				return fmt.Errorf("%v %+v: %w", forged.Finalizers, forged.Status.Conditions, err)
			}
			return nil
		})
		said += b.eventsOfDeletion(tenant, forged)
		if err := b.as(tenant, forged, func() { forged.Finalizers = nil }); err != nil {
			t.Error(err)
		}
		b.Gone(forged)
		seen[name] = strings.ReplaceAll(said, name, "NAME")
	}
	if a, b := seen["finance-admin"], seen["nobodys-admin"]; a != b || a == "" {
		t.Errorf("of the role that exists the tenant sees\n%s\nand of the other one\n%s", a, b)
	}
	if calls := b.World.AWS().Since(mark).Match("iam", "*", "*-admin"); len(calls) > 0 {
		t.Errorf("AWS was asked about the roles:\n%s", calls)
	}
	if inv := fmt.Sprint(b.Inventory()); !strings.Contains(inv, "finance-admin") {
		t.Error("the foreign role is gone")
	}
	b.Remove(c)
}

// planOfDeletion returns what the operator answers to a request for the plan of a deletion.
func (b *bed) planOfDeletion(tenant client.Client, namespace, kind, name string) string {
	b.Helper()
	q := &nexusv1.PlanRequest{ObjectMeta: metav1.ObjectMeta{GenerateName: "plan-", Namespace: namespace},
		Spec: nexusv1.PlanRequestSpec{Objects: []nexusv1.PlannedObject{{Kind: kind, Name: name}}, Deletion: true}}
	if err := tenant.Create(b.Ctx(), q); err != nil {
		b.Fatal(err)
	}
	b.Eventually(time.Minute, "the plan of the deletion", func() error {
		if err := b.Get(q); err != nil || q.Status.Plan == "" {
			return fmt.Errorf("%+v: %w", q.Status, err)
		}
		return nil
	})
	return q.Status.Plan
}

// eventsOfDeletion returns the status of an object in deletion, and the events of it, as a tenant may read them, without times.
func (b *bed) eventsOfDeletion(tenant client.Client, o *v1alpha1.IAMRole) string {
	b.Helper()
	said := fmt.Sprint(o.Status.ARN, o.Status.ID, o.Status.Ownership)
	for _, c := range o.Status.Conditions {
		said += fmt.Sprintf("\n%s=%s %s %s", c.Type, c.Status, c.Reason, c.Message)
	}
	events := &eventsv1.EventList{}
	if err := tenant.List(b.Ctx(), events, client.InNamespace(o.Namespace)); err != nil {
		b.Fatal(err)
	}
	for _, e := range events.Items {
		if e.Regarding.UID == o.UID && e.Reason != "NotPermitted" { // what was refused before the deletion
			said += "\n" + e.Type + " " + e.Reason + " " + e.Note
		}
	}
	return said
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
	suspended := &s3.PutBucketVersioningInput{Bucket: aws.String("reported"),
		VersioningConfiguration: &types.VersioningConfiguration{Status: types.BucketVersioningStatusSuspended}}
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
	extent.Full(t)
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
