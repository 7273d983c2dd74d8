// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/testkit/extent"
)

// stored is the identity of a table: a table that was deleted and created again has another.
func (b *bed) stored(table string) string {
	b.Helper()
	d, err := dynamodb.NewFromConfig(b.account()).DescribeTable(b.Ctx(), &dynamodb.DescribeTableInput{TableName: &table})
	if err != nil {
		return err.Error()
	}
	return aws.ToString(d.Table.TableId) + " " + aws.ToTime(d.Table.CreationDateTime).String()
}

func named(namespace, name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: namespace, Name: name}
}

func TestEdit_ImmutableKeyIsRefusedAndLosesNoTable(t *testing.T) {
	b := newBed(t)
	c := b.small("rekeyed")
	c.Spec.DataServices = &nexusv1.DataServicesSpec{DynamoDB: &nexusv1.DynamoDBSpec{}}
	b.Create(c)
	b.Running(c)
	before := b.Inventory()["dynamodb/table"]
	err := fmt.Errorf("not tried")
	b.Eventually(10*time.Second, "the edit to be judged", func() error {
		if err := b.Get(c); err != nil {
			return err
		}
		c.Spec.DataServices.DynamoDB.Tables = []nexusv1.TableSpec{{Name: "license", HashKey: &nexusv1.KeyAttribute{Name: "id", Type: "S"}}}
		if err = b.Client.Update(b.Ctx(), c); apierrors.IsConflict(err) {
			return err
		}
		return nil
	})
	if !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), "spec.dataServices.dynamodb") ||
		!strings.Contains(err.Error(), "immutable") {
		t.Errorf("the edit of an immutable key: %v", err)
	}
	b.Quiet()
	if after := b.Inventory()["dynamodb/table"]; fmt.Sprint(after) != fmt.Sprint(before) {
		t.Errorf("tables were %v and are %v", before, after)
	}
	b.removeAll([]*nexusv1.NexusAICapability{c})
}

// A child's immutable field keeps an edit from being applied, and nothing that the edit drops is deleted; a deletion
// does not depend on that field.
func TestEdit_AFailedApplyPrunesNothingAndCanBeDeleted(t *testing.T) {
	extent.Full(t)
	b := newBed(t)
	c := b.small("halfway")
	c.Spec.DataServices = &nexusv1.DataServicesSpec{DynamoDB: &nexusv1.DynamoDBSpec{Tables: []nexusv1.TableSpec{{Name: "one"}, {Name: "two"}}}}
	b.Create(c)
	b.Running(c)
	two := b.stored("halfway-dev-two")
	// Removed and added again in between two edits, a table is another one to the schema.
	b.Edit(c, func() { c.Spec.Suspend, c.Spec.DataServices.DynamoDB.Tables = true, []nexusv1.TableSpec{{Name: "two"}} })
	b.Edit(c, func() {
		c.Spec.Suspend = false
		c.Spec.DataServices.DynamoDB.Tables = []nexusv1.TableSpec{{Name: "one", HashKey: &nexusv1.KeyAttribute{Name: "id", Type: "S"}}}
	})
	message := b.Shows(c, "Stalled", metav1.ConditionTrue, "InvalidSpec")
	if !strings.Contains(message, "halfway-dev-one") || !strings.Contains(message, "hashKey") {
		t.Errorf("the message names neither table nor field: %s", message)
	}
	b.Passes("nexusaicapability", 1, func() {}) // the next retry
	if now := b.stored("halfway-dev-two"); now != two {
		t.Errorf("table two was %s and is %s", two, now)
	}
	b.removeAll([]*nexusv1.NexusAICapability{c})
}

func TestEdit_ADroppedStoreWithDataIsHeldUntilItIsNamed(t *testing.T) {
	extent.Full(t)
	b := newBed(t)
	c := withStores(b.small("dropped"))
	c.Spec.DataServices.DynamoDB.Tables = append(c.Spec.DataServices.DynamoDB.Tables, nexusv1.TableSpec{Name: "empty"})
	c.Spec.DataServices.S3.Buckets = append(c.Spec.DataServices.S3.Buckets, nexusv1.BucketSpec{Name: "notes", ForceDestroy: new(true)})
	b.Create(c)
	b.Running(c)
	b.seed("dropped-dev", "dropped/dev")
	b.put("dropped-dev-notes", "a", "1")
	table, all := b.stored("dropped-dev-license"), c.Spec.DataServices.DeepCopy()

	b.Edit(c, func() {
		c.Spec.DataServices.DynamoDB = nil
		c.Spec.DataServices.S3.Buckets = c.Spec.DataServices.S3.Buckets[:1]
	})
	b.Shows(c, "Stalled", metav1.ConditionTrue, "DataWouldBeLost")
	b.Eventually(20*time.Second, "both stores to be held and the empty one to be gone", func() error {
		if err := b.Get(c); err != nil {
			return err
		}
		for _, want := range []string{"DynamoDBTable/dropped-dev-license", "holds 1 item", "S3Bucket/dropped-dev-notes",
			"spec.deletionPolicy: Retain", "nexus.ai/delete-data"} {
			if !strings.Contains(c.Status.Message, want) {
				return fmt.Errorf("the message does not say %q: %s", want, c.Status.Message)
			}
		}
		if inv := fmt.Sprint(b.Inventory()); strings.Contains(inv, "dropped-dev-empty") || !strings.Contains(inv, "dropped-dev-notes") {
			return fmt.Errorf("%s", inv)
		}
		return nil
	})

	b.Edit(c, func() { c.Spec.DataServices = all })
	b.Running(c)
	if now := b.stored("dropped-dev-license"); now != table {
		t.Errorf("the edit was taken back; the table was %s and is %s", table, now)
	}

	b.Edit(c, func() { c.Spec.DataServices.DynamoDB = nil })
	b.Shows(c, "Stalled", metav1.ConditionTrue, "DataWouldBeLost")
	b.Edit(c, func() { c.Annotations = map[string]string{"nexus.ai/delete-data": "other, dropped-dev-license"} })
	b.Running(c)
	if inv := fmt.Sprint(b.Inventory()["dynamodb/table"]); strings.Contains(inv, "dropped-dev") {
		t.Errorf("named and not deleted: %s", inv)
	}
	b.discard("dropped-dev-call-data")
	b.removeAll([]*nexusv1.NexusAICapability{c})
}

func TestDelete_AGeneratedProviderHealsUnderItsChildren(t *testing.T) {
	extent.Full(t)
	b := newBed(t, "--ambient-namespaces=nowhere")
	c := withStores(b.small("unprovided"))
	b.Create(c)
	b.Running(c)
	inv := fmt.Sprint(b.Inventory())
	p := &v1alpha1.AWSProvider{ObjectMeta: named(c.Namespace, "unprovided-dev")}
	if err := b.Get(p); err != nil {
		t.Fatal(err)
	}
	was := p.UID
	if err := b.Client.Delete(b.Ctx(), p); err != nil {
		t.Fatal(err)
	}
	b.Eventually(20*time.Second, "the provider to be created again", func() error {
		if err := b.Get(p); err != nil || p.UID == was {
			return fmt.Errorf("%v, uid %s", err, p.UID)
		}
		return nil
	})
	b.Running(c)
	b.Edit(c, func() {
		c.Spec.DataServices.S3.Buckets = append(c.Spec.DataServices.S3.Buckets, nexusv1.BucketSpec{Name: "more"})
	})
	b.Running(c)
	if now := fmt.Sprint(b.Inventory()); !strings.Contains(now, "unprovided-dev-more") || len(now) <= len(inv) {
		t.Errorf("AWS was %s and is %s", inv, now)
	}
	b.removeAll([]*nexusv1.NexusAICapability{c})
}

func TestDelete_AStoreOfALiveCapabilityKeepsItsData(t *testing.T) {
	extent.Full(t)
	b := newBed(t)
	c := withStores(b.small("handless"))
	c.Spec.DataServices.DynamoDB.Tables = append(c.Spec.DataServices.DynamoDB.Tables, nexusv1.TableSpec{Name: "empty"})
	c.Spec.DataServices.S3.Buckets = append(c.Spec.DataServices.S3.Buckets, nexusv1.BucketSpec{Name: "empty"})
	b.Create(c)
	b.Running(c)
	b.seed("handless-dev", "handless/dev")
	table, data := b.stored("handless-dev-license"), fmt.Sprint(b.data("handless-dev"))
	mark, _ := b.Mark()
	deleted := []client.Object{
		&v1alpha1.DynamoDBTable{ObjectMeta: named(c.Namespace, "handless-dev-license")},
		&v1alpha1.S3Bucket{ObjectMeta: named(c.Namespace, "handless-dev-call-data")},
		&v1alpha1.DynamoDBTable{ObjectMeta: named(c.Namespace, "handless-dev-empty")},
		&v1alpha1.S3Bucket{ObjectMeta: named(c.Namespace, "handless-dev-empty")},
		&v1alpha1.SecretsManagerSecret{ObjectMeta: named(c.Namespace, "handless-dev-openai")},
		&v1alpha1.SecretsManagerSecret{ObjectMeta: named(c.Namespace, "handless-dev-license")},
		&v1alpha1.GlueDatabase{ObjectMeta: named(c.Namespace, "handless-dev-db")},
	}
	was := make([]types.UID, len(deleted))
	for i, o := range deleted {
		if err := b.Get(o); err != nil {
			t.Fatal(err)
		}
		was[i] = o.GetUID()
		if err := b.Client.Delete(b.Ctx(), o); err != nil {
			t.Fatal(err)
		}
	}
	for i, o := range deleted {
		b.Eventually(20*time.Second, "the object to be created again", func() error {
			if err := b.Get(o); err != nil || o.GetUID() == was[i] {
				return fmt.Errorf("%v, uid %s", err, o.GetUID())
			}
			return nil
		})
	}
	b.Running(c)
	if now := b.stored("handless-dev-license"); now != table {
		t.Errorf("the table was %s and is %s", table, now)
	}
	if now := fmt.Sprint(b.data("handless-dev")); now != data {
		t.Errorf("the data were %s and are %s", data, now)
	}
	for service, operation := range map[string]string{"dynamodb": "DeleteTable", "s3": "DeleteBucket", "secretsmanager": "DeleteSecret"} {
		if calls := b.World.AWS().Since(mark).Match(service, operation, "*"); len(calls) > 0 {
			t.Errorf("a store was deleted:\n%s", calls)
		}
	}
	b.discard("handless-dev-call-data")
	b.removeAll([]*nexusv1.NexusAICapability{c})
}
