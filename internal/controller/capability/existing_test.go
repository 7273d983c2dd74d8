// SPDX-License-Identifier: Apache-2.0

package capability

import (
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/options"
	"github.com/nexus-operator/nexus-operator/internal/status"
	"github.com/nexus-operator/nexus-operator/internal/testkit/extent"
)

const ordersARN = "arn:aws:dynamodb:eu-central-1:123456789012:table/Orders"

// withOrders uses a table that exists.
func withOrders(c *nexusv1.NexusAICapability) {
	c.Spec.ProviderRef = &nexusv1.ProviderReference{Name: "team"}
	c.Spec.DataServices = &nexusv1.DataServicesSpec{DynamoDB: &nexusv1.DynamoDBSpec{Tables: []nexusv1.TableSpec{{Name: "orders", Existing: &nexusv1.ExistingStore{Name: "Orders"}}}}}
}

// existingBed is a bed with a provider that allows external ARNs.
func existingBed(t *testing.T, allowed []v1alpha1.ExternalARNPattern, edits ...func(*options.Options)) (*bed, *v1alpha1.AWSProvider) {
	t.Helper()
	b := newBed(t, edits...)
	team := &v1alpha1.AWSProvider{ObjectMeta: metav1.ObjectMeta{Namespace: b.ns, Name: "team"}, Spec: v1alpha1.AWSProviderSpec{Region: "eu-central-1", AllowedExternalARNs: allowed}}
	b.create(team)
	return b, team
}

// withheld waits until a capability says that rights on the table are withheld, and returns the message.
func (b *bed) withheld(c *nexusv1.NexusAICapability) string {
	b.Helper()
	b.eventually("the withheld rights to show", func() error {
		b.answer()
		b.clock.SetTime(b.clock.Now().Add(2 * progressSpacing))
		_, _ = b.reconcile(c)
		b.read(c)
		return errorfUnless(c, status.ReasonNotPermitted)
	})
	b.is(c, nexusv1.ConditionDataServicesReady, metav1.ConditionFalse, status.ReasonNotPermitted)
	return b.is(c, status.Stall, metav1.ConditionTrue, status.ReasonNotPermitted)
}

// roleHas reports whether the role of the workloads names a resource.
func (b *bed) roleHas(arn string) bool {
	b.Helper()
	role := &v1alpha1.IAMRole{ObjectMeta: metav1.ObjectMeta{Namespace: b.ns, Name: b.ns + "-dev-app-role"}}
	return b.exists(role) && slices.ContainsFunc(role.Spec.InlinePolicies, func(p v1alpha1.IAMInlinePolicy) bool { return strings.Contains(p.PolicyDocument, `"`+arn+`"`) })
}

func TestExisting_ConsentIsMissingGivenAndTaken(t *testing.T) {
	b, team := existingBed(t, nil)
	c := b.capability(withOrders)
	if m := b.withheld(c); !strings.Contains(m, ordersARN) || !strings.Contains(m, "spec.dataServices.dynamodb.tables[0].existing") || !strings.Contains(m, "AWSProvider/team") || !strings.Contains(m, "spec.allowedExternalARNs") {
		t.Errorf("%s", m)
	}
	if events := b.emitted(); !slices.ContainsFunc(events, func(e string) bool {
		return strings.Contains(e, status.ReasonNotPermitted) && strings.Contains(e, ordersARN)
	}) {
		t.Errorf("%q", events)
	}
	if b.roleHas(ordersARN) || len(b.deployments(b.ns+"-dev")) > 0 {
		t.Error("pods start, or have rights that nobody consented to")
	}

	b.edit(team, func() {
		team.Spec.AllowedExternalARNs = []v1alpha1.ExternalARNPattern{"arn:aws:dynamodb:*:123456789012:table/Ord*"}
	})
	b.run(c)
	if !b.roleHas(ordersARN) || len(b.deployments(b.ns+"-dev")) != 2 {
		t.Error("the capability did not go on with consent")
	}
	b.pass(c)
	if writes := b.written(); len(writes) > 0 {
		t.Errorf("a second run writes %q", writes)
	}
	b.Reconciler = b.newReconciler() // as after a crash
	b.pass(c)
	if writes := b.written(); len(writes) > 0 {
		t.Errorf("after a restart: %q", writes)
	}

	b.edit(team, func() { team.Spec.AllowedExternalARNs = nil })
	b.withheld(c)
	b.eventually("the rights to go", func() error {
		if b.roleHas(ordersARN) {
			b.answer()
			_, err := b.reconcile(c)
			return cmpErr(err, c)
		}
		return nil
	})
	if len(b.deployments(b.ns+"-dev")) != 2 {
		t.Error("the pods that ran are gone")
	}
}

// cmpErr returns an error or, without one, the progress of the capability.
func cmpErr(err error, c *nexusv1.NexusAICapability) error {
	if err != nil {
		return err
	}
	return errorf(c)
}

// Rights that no person consents to any more go although another store of the capability never becomes ready.
func TestExisting_TakenConsentWaitsForNoOtherStore(t *testing.T) {
	extent.Full(t)
	b, team := existingBed(t, []v1alpha1.ExternalARNPattern{ordersARN})
	c := b.capability(withOrders)
	b.run(c)
	b.edit(c, func() { withBucketBeside(c) })
	b.edit(team, func() { team.Spec.AllowedExternalARNs = nil })
	b.eventually("the rights to go", func() error {
		if err := b.answerOne(team); err != nil {
			return err
		}
		if _, err := b.reconcile(c); err != nil {
			return err
		}
		b.read(team)
		b.read(c)
		if b.roleHas(ordersARN) {
			return errorf(c)
		}
		return nil
	})
	if bucket := b.bucket(); b.exists(bucket) && meta.IsStatusConditionTrue(bucket.Status.Conditions, status.Ready) {
		t.Error("the bucket is ready, which proves nothing")
	}
}

func TestExisting_TheOperatorLimitsProviders(t *testing.T) {
	extent.Full(t)
	b, _ := existingBed(t, []v1alpha1.ExternalARNPattern{ordersARN}, func(o *options.Options) {
		o.Guards.AllowedExternalARNs = []string{"arn:aws:dynamodb:*:*:table/shared-*"}
	})
	c := b.capability(withOrders)
	if m := b.withheld(c); !strings.Contains(m, "--allowed-external-arns") || b.roleHas(ordersARN) {
		t.Errorf("%s", m)
	}
}

// A store that another object of the namespace owns needs its ARN in full.
func TestExisting_AStoreOfAnotherObjectIsNoneByAPattern(t *testing.T) {
	extent.Full(t)
	b, team := existingBed(t, []v1alpha1.ExternalARNPattern{"arn:aws:dynamodb:*:123456789012:table/*"})
	owner := &v1alpha1.DynamoDBTable{ObjectMeta: metav1.ObjectMeta{Namespace: b.ns, Name: "theirs"},
		Spec: v1alpha1.DynamoDBTableSpec{CommonSpec: v1alpha1.CommonSpec{ProviderRef: v1alpha1.ProviderReference{Name: "team"}}, TableName: "Orders", HashKey: v1alpha1.DynamoDBAttribute{Name: "id", Type: "S"}}}
	b.create(owner)
	owner.Status.ARN, owner.Status.Ownership = ordersARN, v1alpha1.OwnershipOwned
	if err := b.person.Status().Update(t.Context(), owner); err != nil {
		t.Fatal(err)
	}
	b.edit(owner, func() { owner.Annotations = map[string]string{"nexus.ai/paused": "true"} })
	c := b.capability(withOrders)
	b.eventually("the owner to count", func() error {
		b.read(owner)
		owner.Status.ARN = ordersARN
		if err := b.person.Status().Update(t.Context(), owner); err != nil {
			return err
		}
		b.clock.SetTime(b.clock.Now().Add(2 * progressSpacing))
		for _, o := range []*v1alpha1.DynamoDBTable{{ObjectMeta: metav1.ObjectMeta{Namespace: b.ns, Name: b.ns + "-dev-orders.existing"}}} {
			if b.exists(o) {
				if err := b.answerOne(o); err != nil {
					return err
				}
			}
		}
		if err := b.answerOne(team); err != nil {
			return err
		}
		_, _ = b.reconcile(c)
		b.read(team)
		b.read(c)
		return errorfUnless(c, status.ReasonNotPermitted)
	})
	if m := b.is(c, status.Stall, metav1.ConditionTrue, status.ReasonNotPermitted); !strings.Contains(m, "in full") || b.roleHas(ordersARN) {
		t.Errorf("%s", m)
	}
}

// The object of an existing store goes with its entry, and is never told to delete data.
func TestExisting_ObjectGoesWithoutItsStore(t *testing.T) {
	extent.Full(t)
	b, _ := existingBed(t, []v1alpha1.ExternalARNPattern{ordersARN})
	c := b.capability(withOrders, func(c *nexusv1.NexusAICapability) { c.Spec.DeletionPolicy = nexusv1.DeletionDelete })
	b.run(c)
	table := &v1alpha1.DynamoDBTable{ObjectMeta: metav1.ObjectMeta{Namespace: b.ns, Name: b.ns + "-dev-orders.existing"}}
	if b.read(table); table.Spec.ManagementPolicy != v1alpha1.ManageObserve || table.Spec.DeletionPolicy != v1alpha1.DeletionRetain || table.Spec.DeletionProtection != nil || table.Spec.HashKey.Name != "" {
		t.Errorf("%+v", table.Spec)
	}
	b.edit(table, func() { table.Finalizers = append(table.Finalizers, holdsData) })
	b.Cleanup(func() {
		if b.person.Get(b.ctx(), client.ObjectKeyFromObject(table), table) == nil {
			table.Finalizers = nil
			_ = b.person.Update(b.ctx(), table)
		}
	})
	b.edit(c, func() { c.Spec.DataServices = nil })
	b.eventually("the object to go", func() error {
		b.answer()
		_, _ = b.reconcile(c)
		if b.read(table); table.DeletionTimestamp == nil {
			return errorf(c)
		}
		return nil
	})
	if table.Spec.ManagementPolicy != v1alpha1.ManageObserve || table.Spec.DeletionPolicy != v1alpha1.DeletionRetain || table.Annotations["nexus.ai/delete-data"] != "" {
		t.Errorf("%+v, %v", table.Spec, table.Annotations)
	}
}
