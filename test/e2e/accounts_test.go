// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/api/wellknown"
	"github.com/nexus-operator/nexus-operator/internal/emulator"
	"github.com/nexus-operator/nexus-operator/internal/testkit/extent"
)

// One operator serves three accounts in three regions. Names are the same everywhere, so that a call that strays would succeed.
func TestAccounts_ObjectsOfEachStayInTheirOwn(t *testing.T) {
	extent.Full(t)
	b := newBed(t)
	e := newEstate(b, places...)
	for _, p := range places {
		for _, o := range e.at(p) {
			e.leadsHome(o)
		}
		e.holdsItsOwn(p)
		if st := e.providers[p.provider].Status; st.AccountID != p.account {
			t.Errorf("provider %s leads to account %s, want %s", p.provider, st.AccountID, p.account)
		}
	}
	e.standsAsDeclared()
	e.strayedNowhere(0)
	for _, p := range places {
		e.edited(p)
	}
	e.bucketNameIsTaken()

	afterwards, _ := b.Mark()
	b.Restart("--check-interval=1s")
	b.Ready(e.providers["staging"])
	mark, kube := b.Mark()
	e.checked(mark, 2)
	if w := b.World.AWS().Since(mark).Writes(); len(w) > 0 {
		t.Errorf("a check wrote to AWS:\n%s", w)
	}
	if w := b.KubeWrites(kube); len(w) > 0 {
		t.Errorf("a check wrote to Kubernetes: %v", w)
	}
	e.throttled()

	e.deleteEverything()
	e.emptied()
	e.strayedNowhere(afterwards)
}

// deleteEverything deletes the objects, and then their providers.
func (e *estate) deleteEverything() {
	e.Helper()
	e.Remove(clientObjects(e.objects)...)
	for _, p := range e.providers {
		e.Remove(p)
	}
}

// strayedNowhere asserts that each call since a mark was made in the account and region of the object that it names.
func (e *estate) strayedNowhere(since emulator.Mark) {
	e.Helper()
	strays, named := e.strays(e.World.AWS().Since(since))
	for _, stray := range strays {
		e.Error(stray)
	}
	for _, p := range places {
		if named[p] == 0 {
			e.Errorf("no call names an object of %v", p)
		}
	}
}

// edited changes every object of a place, and asserts that no call since was made with other credentials or in another region.
func (e *estate) edited(p place) {
	e.Helper()
	e.Quiet()
	mark, _ := e.Mark()
	for _, o := range e.at(p) {
		e.Edit(o, func() { o.CommonSpec().Tags = map[string]v1alpha1.TagValue{"team": "orders"} })
	}
	written := map[string]bool{}
	for _, o := range e.at(p) {
		e.Ready(o)
	}
	for _, c := range serviceCalls(e.World.AWS().Since(mark)) {
		if account := e.World.AWS().AccountOf(c.AccessKey); account != p.account || c.Region != p.region && c.Service != "iam" {
			e.Errorf("an edit at %v called %s in account %s, region %s", p, c.Label(), account, c.Region)
		}
		written[c.Service] = written[c.Service] || c.Write
	}
	for _, o := range e.at(p) {
		kind, _, _ := identified(o)
		if service, _, _ := strings.Cut(kind, "/"); !written[service] {
			e.Errorf("an edit at %v wrote nothing to %s", p, service)
		}
	}
}

// bucketNameIsTaken declares in one account the bucket of another: bucket names are unique in all of AWS.
func (e *estate) bucketNameIsTaken() {
	e.Helper()
	for _, from := range []string{"staging", "production-us"} { // us-east-1 answers otherwise than the other regions
		o := bucket("example-orders-home")
		o.Name, o.Spec.ProviderRef.Name = "taken-by-home-"+from, from
		mark, _ := e.Mark()
		e.Create(o)
		e.contains(e.Shows(o, "Stalled", metav1.ConditionTrue, "NameTaken"), "another AWS account", "choose another name")
		e.Remove(o)
		calls := e.World.AWS().Since(mark).Match("s3", "*", o.Spec.BucketName)
		if len(calls) == 0 || len(calls) != len(calls.Failed()) {
			e.Errorf("%s reached the bucket of another account:\n%s", from, calls)
		}
	}
	e.standsAsDeclared()
	e.holdsItsOwn(places[0])
}

// throttled asserts that an account of which AWS has had too many requests delays no other.
func (e *estate) throttled() {
	e.Helper()
	busy, free := of[*v1alpha1.SQSQueue](e, "production"),
		[]client.Object{of[*v1alpha1.SQSQueue](e, "staging"), of[*v1alpha1.SQSQueue](e, "home")}
	calls := e.World.AWS().Calls().Filter(func(c emulator.Call) bool {
		return c.Service == "sqs" && c.Region == placeOf(busy).region && e.World.AWS().AccountOf(c.AccessKey) == productionAccount
	})
	rule := e.World.AWS().Fault(emulator.Match{Service: "sqs", AccessKey: calls[len(calls)-1].AccessKey}, emulator.Throttle())
	e.Shows(busy, "Reconciling", metav1.ConditionTrue, "Throttled")
	for _, o := range free {
		e.Edit(o, func() { o.(v1alpha1.Resource).CommonSpec().Tags = map[string]v1alpha1.TagValue{"team": "served"} })
	}
	e.Ready(free...)
	e.Shows(busy, "Reconciling", metav1.ConditionTrue, "Throttled")
	rule.Remove()
	e.Shows(busy, "Reconciling", metav1.ConditionFalse, "Ready")
}

func TestAccounts_WrongExternalIDCreatesNothing(t *testing.T) {
	b := newBed(t)
	e := newEstate(b)
	refused, theirs := provider("refused"), e.providers["staging"].Status.ExternalID
	refused.Spec.RoleARN = e.providers["staging"].Spec.RoleARN // which demands the ExternalID of another provider
	queue := &v1alpha1.SQSQueue{ObjectMeta: metav1.ObjectMeta{Name: "refused"},
		Spec: v1alpha1.SQSQueueSpec{CommonSpec: through("refused"), QueueName: "refused"}}
	b.Create(refused)
	message := b.Shows(refused, "Stalled", metav1.ConditionTrue, "RoleNotAssumable")
	b.contains(message, "spec.roleARN", refused.Spec.RoleARN, "trust policy", `sts:ExternalId "`+refused.Status.ExternalID+`"`)
	b.Create(queue)
	b.contains(b.Shows(queue, "Ready", metav1.ConditionFalse, "ProviderNotReady"), message)
	if id := refused.Status.ExternalID; id == "" || id == theirs {
		t.Errorf("two providers have the ExternalID %q", id)
	}

	// The ID of another provider would open its role to everybody who may create a provider.
	b.Edit(refused, func() { refused.Spec.ExternalID = theirs })
	b.contains(b.Shows(refused, "Stalled", metav1.ConditionTrue, "ExternalIDNotAllowed"), "spec.externalID", refused.Status.ExternalID,
		"--allow-custom-external-id")
	b.Restart("--allow-custom-external-id")
	b.Edit(refused, func() { refused.Spec.ExternalID = "partner-7" })
	b.contains(b.Shows(refused, "Stalled", metav1.ConditionTrue, "RoleNotAssumable"), "trust policy", `sts:ExternalId "partner-7"`)
	b.Shows(queue, "Ready", metav1.ConditionFalse, "ProviderNotReady")
	if calls := b.World.AWS().Calls().Match("sqs", "*", "refused"); len(calls) > 0 {
		t.Errorf("the provider is refused, and its queue was asked for:\n%s", calls)
	}
	if denied := b.World.AWS().Calls().Match("sts", "AssumeRole", "nexus").Failed(); len(denied) < 2 {
		t.Errorf("STS refused %d requests", len(denied))
	}
	e.standsAsDeclared()

	b.trust(stagingAccount, "nexus", theirs, "partner-7") // the remedy
	b.Ready(refused, queue)
	if want := "arn:aws:sqs:ap-southeast-1:" + stagingAccount + ":refused"; queue.Status.ARN != want {
		t.Errorf("the queue is %s, want %s", queue.Status.ARN, want)
	}
	b.Remove(queue, refused)
	e.standsAsDeclared()
}

// A provider that is edited to another account, in which everything has the same names, serves nothing that lives in the first.
func TestAccounts_AnEditedProviderAbandonsNothing(t *testing.T) {
	b := newBed(t)
	e := newEstate(b, places...)
	moved, at := e.providers["production"], e.at(places[1])
	home := moved.Spec.RoleARN
	there := e.trustAll(stagingAccount, "staging", "production") // the role would let it in
	b.Edit(moved, func() { moved.Spec.RoleARN = there })
	b.contains(b.Shows(moved, "Stalled", metav1.ConditionTrue, "AccountNotAllowed"), "spec.allowedAccountIDs", stagingAccount)
	e.requestChecks(at, "1")
	for _, o := range at {
		b.Shows(o, "Ready", metav1.ConditionFalse, "ProviderNotReady")
	}
	b.Quiet()
	mark, _ := b.Mark()
	b.Edit(moved, func() {
		moved.Spec.AllowedAccountIDs = append(moved.Spec.AllowedAccountIDs, v1alpha1.AccountID(stagingAccount))
	})
	b.Ready(moved)
	e.requestChecks(at, "2")
	for _, o := range at {
		b.contains(b.Shows(o, "Stalled", metav1.ConditionTrue, "ProviderMoved"), "aws/"+productionAccount+"/eu-west-1",
			"aws/"+stagingAccount+"/eu-west-1", "point the provider back")
	}

	// Neither an edit, nor a deletion, nor another provider reaches what has the same name in the other account.
	queue, table := of[*v1alpha1.SQSQueue](e, "production"), of[*v1alpha1.DynamoDBTable](e, "production")
	b.Edit(table, func() {
		table.Spec.ProviderRef.Name = "staging"
		table.Spec.Tags = map[string]v1alpha1.TagValue{"team": "moved"}
	})
	b.Passes("sqsqueue", 2, func() { must(b, 0, b.Client.Delete(b.Ctx(), queue)) })
	b.Shows(table, "Stalled", metav1.ConditionTrue, "ProviderMoved")
	if err := b.Get(queue); err != nil || len(queue.Finalizers) == 0 {
		t.Fatalf("the queue's finalizer was dropped though the queue is in another account: %v", err)
	}
	// Roles of the other providers are looked at again while they are young.
	calls := serviceCalls(b.World.AWS().Since(mark)).Filter(func(c emulator.Call) bool { return c.Service != "iam" || c.Write })
	if len(calls) > 0 {
		t.Errorf("calls while the provider leads elsewhere:\n%s", calls)
	}
	b.Edit(table, func() { table.Spec.ProviderRef.Name = "production" })
	e.standsAsDeclared()

	b.Edit(moved, func() { moved.Spec.RoleARN = home })
	b.Gone(queue)
	for _, o := range at {
		if o != v1alpha1.Resource(queue) {
			b.Ready(o)
			e.leadsHome(o)
		}
	}
	e.holdsItsOwn(places[3])
	if left := fmt.Sprint(e.found(productionAccount)["sqs/queue"]); left != "[us-east-1:orders]" {
		t.Errorf("queues of account %s: %s", productionAccount, left)
	}
}

// requestChecks has objects checked now, as `nexusctl reconcile` does.
func (e *estate) requestChecks(objects []v1alpha1.Resource, value string) {
	e.Helper()
	for _, o := range objects {
		e.Edit(o, func() {
			annotations := o.GetAnnotations()
			annotations[wellknown.AnnotationReconcileAt] = value
			o.SetAnnotations(annotations)
		})
	}
}
