// SPDX-License-Identifier: Apache-2.0

package dynamodb

import (
	"maps"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/awsclient"
	"github.com/nexus-operator/nexus-operator/internal/emulator"
	"github.com/nexus-operator/nexus-operator/internal/engine"
	"github.com/nexus-operator/nexus-operator/internal/kind"
	"github.com/nexus-operator/nexus-operator/internal/kindtest"
	"github.com/nexus-operator/nexus-operator/internal/status"
	"github.com/nexus-operator/nexus-operator/internal/testkit/world"
)

func TestMain(m *testing.M) { world.Main(m, world.Options{NoKubernetes: true}) }

const name = "myapp-dev-sessions"

type spec = v1alpha1.DynamoDBTableSpec

func tableOf(edits ...func(s *spec)) *v1alpha1.DynamoDBTable {
	t := &v1alpha1.DynamoDBTable{}
	t.Name = name
	t.Spec.TableName = name
	t.Spec.HashKey = v1alpha1.DynamoDBAttribute{Name: "id", Type: "S"}
	for _, edit := range edits {
		edit(&t.Spec)
	}
	return t
}

// capability is a table as a capability compiles it.
func capability(s *spec) {
	s.RangeKey = &v1alpha1.DynamoDBAttribute{Name: "at", Type: "N"}
	s.BillingMode = "PAY_PER_REQUEST"
	s.PointInTimeRecovery = aws.Bool(true)
	s.TTL = &v1alpha1.DynamoDBTTL{Enabled: true, AttributeName: "expires"}
}

func provisioned(read, write int64) func(s *spec) {
	return func(s *spec) {
		s.BillingMode = "PROVISIONED"
		s.ProvisionedThroughput = &v1alpha1.DynamoDBThroughput{ReadCapacityUnits: read, WriteCapacityUnits: write}
	}
}

func guarded(s *kindtest.Subject) { s.Guarded = true }

func putItem(t *testing.T, r *kindtest.Rig) {
	t.Helper()
	_, err := dynamodb.NewFromConfig(r.Config).PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String(name),
		Item: map[string]types.AttributeValue{"id": &types.AttributeValueMemberS{Value: "a"}}})
	if err != nil {
		t.Fatal(err)
	}
}

func protection(on bool) func(s *spec) { return func(s *spec) { s.DeletionProtection = &on } }

func expiry(on bool, attribute string) func(s *spec) {
	return func(s *spec) { s.TTL = &v1alpha1.DynamoDBTTL{Enabled: on, AttributeName: attribute} }
}

func tagged(k, v string) func(s *spec) {
	return func(s *spec) { s.Tags = map[string]v1alpha1.TagValue{k: v1alpha1.TagValue(v)} }
}

func kms(id string) func(s *spec) {
	return func(s *spec) { s.SSE = &v1alpha1.DynamoDBSSE{Enabled: true, KMSKeyID: id} }
}

func recreate(s *spec) { s.RecreateOnLoss = true }

func deletion(p v1alpha1.DeletionPolicy) func(s *spec) {
	return func(s *spec) { s.DeletionPolicy = p }
}

func api(r *kindtest.Rig) *dynamodb.Client { return dynamodb.NewFromConfig(r.Config) }

func createTable(tags map[string]string) func(*testing.T, *kindtest.Rig) {
	return func(t *testing.T, r *kindtest.Rig) {
		t.Helper()
		in := &dynamodb.CreateTableInput{TableName: aws.String(name), BillingMode: types.BillingModePayPerRequest,
			KeySchema:            []types.KeySchemaElement{{AttributeName: aws.String("id"), KeyType: types.KeyTypeHash}},
			AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("id"), AttributeType: types.ScalarAttributeTypeS}}}
		if len(tags) > 0 {
			in.Tags = kind.SDKTags[types.Tag](tags)
		}
		_, err := api(r).CreateTable(t.Context(), in)
		kindtest.Must(t, err)
	}
}

func deleteTable(t *testing.T, r *kindtest.Rig) {
	t.Helper()
	_, err := api(r).DeleteTable(t.Context(), &dynamodb.DeleteTableInput{TableName: aws.String(name)})
	kindtest.Must(t, err)
}

func updateTable(in dynamodb.UpdateTableInput) func(*testing.T, *kindtest.Rig) {
	return func(t *testing.T, r *kindtest.Rig) {
		t.Helper()
		in.TableName = aws.String(name)
		_, err := api(r).UpdateTable(t.Context(), &in)
		kindtest.Must(t, err)
	}
}

func exists(t *testing.T, r *kindtest.Rig) bool {
	t.Helper()
	_, err := api(r).DescribeTable(t.Context(), &dynamodb.DescribeTableInput{TableName: aws.String(name)})
	if err != nil && !awsclient.IsNotFound(err) {
		t.Fatal(err)
	}
	return err == nil
}

func ownerTags(uid, cluster string) map[string]string {
	return engine.Identity{Kind: "DynamoDBTable", Namespace: kindtest.Namespace, Name: name, UID: uid, Cluster: cluster}.OwnerTags()
}

var ownerPaths = []string{"Tags[nexus.ai/cluster]", "Tags[nexus.ai/managed-by]", "Tags[nexus.ai/owner]", "Tags[nexus.ai/owner-uid]"}

const (
	create = "dynamodb:CreateTable"
	update = "dynamodb:UpdateTable"
	pitr   = "dynamodb:UpdateContinuousBackups"
	ttl    = "dynamodb:UpdateTimeToLive"
	tag    = "dynamodb:TagResource"
	untag  = "dynamodb:UntagResource"
	remove = "dynamodb:DeleteTable"
)

func TestTable(t *testing.T) {
	kindtest.Run(t, engine.For(NewTable),
		slices.Concat(lives(), edits(), drifts(), deletions(), owners(), indexRows(), indexEdits(), indexDrifts(), capacityRows(), streamRows()))
}

func lives() []kindtest.Case {
	return []kindtest.Case{
		{Name: "absent is created, and only the create is planned", Object: tableOf(capability), Cause: engine.New, Actions: []string{create}},
		{Name: "with provisioned capacity", Object: tableOf(provisioned(2, 3)), Cause: engine.New, Actions: []string{create}},
		{Name: "with a KMS key and protection", Object: tableOf(kms(""), protection(true)), Cause: engine.New, Actions: []string{create}},
		{Name: "a key of one's own, named by its id", Object: tableOf(kms("1234abcd-12ab-34cd-56ef-1234567890ab")), PlanOnly: true,
			Cause: engine.New, Actions: []string{create}},
		{Name: "expiry and backups that are wanted off are off already", Existing: tableOf(),
			Object: tableOf(expiry(false, "expires"), func(s *spec) { s.PointInTimeRecovery = aws.Bool(false) }),
			Cause:  engine.InSync},
		{Name: "AWS's own key is what there is without encryption settings", Existing: tableOf(),
			Object: tableOf(func(s *spec) { s.SSE = &v1alpha1.DynamoDBSSE{} }), Cause: engine.InSync},
		{Name: "protection that is wanted off is off already", Existing: tableOf(), Object: tableOf(protection(false)), Cause: engine.InSync},
		{Name: "what is no longer declared stays as it is", Existing: tableOf(capability, protection(true)),
			Object: tableOf(func(s *spec) { s.RangeKey = &v1alpha1.DynamoDBAttribute{Name: "at", Type: "N"} }), Cause: engine.InSync},
		{Name: "a vanished table is reported, not created again", Existing: tableOf(), Object: tableOf(), Drift: true, Before: deleteTable,
			Stalled: status.ReasonMissing},
		{Name: "and created again where that was asked for", Existing: tableOf(recreate), Object: tableOf(recreate), Drift: true,
			Before: deleteTable, Cause: engine.New, Actions: []string{create}},
		{Name: "throughput without its billing mode", Object: tableOf(func(s *spec) { s.ProvisionedThroughput = &v1alpha1.DynamoDBThroughput{} }),
			Stalled: status.ReasonInvalidSpec},
		{Name: "a billing mode without its throughput", Object: tableOf(func(s *spec) { s.BillingMode = "PROVISIONED" }),
			Stalled: status.ReasonInvalidSpec},
		{Name: "one attribute for both keys", Object: tableOf(func(s *spec) { s.RangeKey = &s.HashKey }), Stalled: status.ReasonInvalidSpec},
		{Name: "no key", Object: tableOf(func(s *spec) { s.HashKey = v1alpha1.DynamoDBAttribute{} }), Stalled: status.ReasonInvalidSpec},
		{Name: "a key without encryption", Object: tableOf(kms("k"), func(s *spec) { s.SSE.Enabled = false }), Stalled: status.ReasonInvalidSpec},
		{Name: "an alias, which cannot be compared", Object: tableOf(kms("alias/mine")), Stalled: status.ReasonInvalidSpec},
		{Name: "the alias of the default key is the default", Object: tableOf(kms("alias/aws/dynamodb")), Cause: engine.New,
			Actions: []string{create}},
	}
}

func edits() []kindtest.Case {
	return []kindtest.Case{
		{Name: "backups on", Existing: tableOf(), Object: tableOf(func(s *spec) { s.PointInTimeRecovery = aws.Bool(true) }),
			Cause: engine.Edited, Diff: []string{"PITR"}, Actions: []string{pitr}},
		{Name: "backups off", Existing: tableOf(capability),
			Object: tableOf(capability, func(s *spec) { s.PointInTimeRecovery = aws.Bool(false) }),
			Cause:  engine.Edited, Diff: []string{"PITR"}, Actions: []string{pitr}},
		{Name: "expiry on", Existing: tableOf(), Object: tableOf(expiry(true, "expires")), Cause: engine.Edited, Diff: []string{"TTL"},
			Actions: []string{ttl}},
		{Name: "expiry off", Existing: tableOf(expiry(true, "expires")), Object: tableOf(expiry(false, "expires")), Cause: engine.Edited,
			Diff: []string{"TTL"}, Actions: []string{ttl}},
		{Name: "expiry off, whatever the attribute is called now", Existing: tableOf(expiry(true, "expires")),
			Object: tableOf(expiry(false, "other")),
			Cause:  engine.Edited, Diff: []string{"TTL"}, Actions: []string{ttl}},
		{Name: "expiry by another attribute", Existing: tableOf(expiry(true, "expires")), Object: tableOf(expiry(true, "other")),
			Cause: engine.Edited, Diff: []string{"TTL"}, Actions: []string{ttl}},
		{Name: "to provisioned capacity", Existing: tableOf(), Object: tableOf(provisioned(2, 3)),
			Cause: engine.Edited, Diff: []string{"BillingMode", "Throughput.ReadCapacityUnits", "Throughput.WriteCapacityUnits"},
			Actions: []string{update}},
		{Name: "another capacity", Existing: tableOf(provisioned(2, 3)), Object: tableOf(provisioned(2, 4)),
			Cause: engine.Edited, Diff: []string{"Throughput.WriteCapacityUnits"}, Actions: []string{update}},
		{Name: "to capacity on demand", Existing: tableOf(provisioned(2, 3)),
			Object: tableOf(func(s *spec) { s.BillingMode = "PAY_PER_REQUEST" }),
			Cause:  engine.Edited, Diff: []string{"BillingMode"}, Actions: []string{update}},
		{Name: "protection on", Existing: tableOf(), Object: tableOf(protection(true)), Cause: engine.Edited,
			Diff: []string{"DeletionProtection"}, Actions: []string{update}},
		{Name: "protection off", Existing: tableOf(protection(true)), Object: tableOf(protection(false)), Cause: engine.Edited,
			Diff: []string{"DeletionProtection"}, Actions: []string{update}},
		{Name: "a KMS key", Existing: tableOf(), Object: tableOf(kms("")),
			Cause: engine.Edited, Diff: []string{"SSE.Enabled"}, Actions: []string{update}},
		{Name: "AWS's own key again", Existing: tableOf(kms("")), Object: tableOf(func(s *spec) { s.SSE = &v1alpha1.DynamoDBSSE{} }),
			Cause: engine.Edited, Diff: []string{"SSE.Enabled"}, Actions: []string{update}},
		{Name: "another KMS key", Existing: tableOf(kms("")), Object: tableOf(kms("1234abcd-12ab-34cd-56ef-1234567890ab")),
			Cause: engine.Edited, Diff: []string{"SSE.KMSKeyID"}, Actions: []string{update}},
		{Name: "tags are added and dropped", Existing: tableOf(tagged("old", "1")), Object: tableOf(tagged("team", "a")),
			Cause: engine.Edited, Diff: []string{"Tags[team]", "Tags[old]"}, Actions: []string{tag, untag}},
		{Name: "a tag's value", Existing: tableOf(tagged("team", "a")), Object: tableOf(tagged("team", "")),
			Cause: engine.Edited, Diff: []string{"Tags[team]"}, Actions: []string{tag}},
		{Name: "many parts at once go one after the other", Existing: tableOf(),
			Object: tableOf(capability, provisioned(1, 1), protection(true), func(s *spec) { s.RangeKey = nil }),
			Cause:  engine.Edited, Diff: []string{"BillingMode", "Throughput.ReadCapacityUnits", "Throughput.WriteCapacityUnits",
				"DeletionProtection", "PITR", "TTL"}, Actions: []string{pitr, ttl, update, update}},
		{Name: "a sort key cannot be added", Existing: tableOf(), Object: tableOf(capability), Stalled: status.ReasonImmutable},
		{Name: "nor a key's type changed", Existing: tableOf(), Object: tableOf(func(s *spec) { s.HashKey.Type = "N" }),
			Stalled: status.ReasonImmutable},
	}
}

func drifts() []kindtest.Case {
	foreignTag := func(t *testing.T, r *kindtest.Rig) {
		out, err := api(r).DescribeTable(t.Context(), &dynamodb.DescribeTableInput{TableName: aws.String(name)})
		kindtest.Must(t, err)
		_, err = api(r).TagResource(t.Context(),
			&dynamodb.TagResourceInput{ResourceArn: out.Table.TableArn, Tags: kind.SDKTags[types.Tag](map[string]string{"theirs": "1"})})
		kindtest.Must(t, err)
	}
	return []kindtest.Case{
		{Name: "protection is restored", Existing: tableOf(protection(true)), Object: tableOf(protection(true)), Drift: true,
			Before: updateTable(dynamodb.UpdateTableInput{DeletionProtectionEnabled: aws.Bool(false)}),
			Cause:  engine.Drifted, Diff: []string{"DeletionProtection"}, Actions: []string{update}},
		{Name: "capacity is restored", Existing: tableOf(provisioned(2, 3)), Object: tableOf(provisioned(2, 3)), Drift: true,
			Before: updateTable(dynamodb.UpdateTableInput{ProvisionedThroughput: &types.ProvisionedThroughput{ReadCapacityUnits: aws.Int64(9),
				WriteCapacityUnits: aws.Int64(3)}}),
			Cause: engine.Drifted, Diff: []string{"Throughput.ReadCapacityUnits"}, Actions: []string{update}},
		{Name: "what is not declared may change", Existing: tableOf(), Object: tableOf(), Drift: true,
			Before: updateTable(dynamodb.UpdateTableInput{DeletionProtectionEnabled: aws.Bool(true)}), Cause: engine.InSync},
		{Name: "tags of others stay", Existing: tableOf(tagged("team", "a")), Object: tableOf(tagged("team", "a")), Drift: true,
			Before: foreignTag, Cause: engine.InSync},
		{Name: "backups and expiry are restored", Existing: tableOf(capability), Object: tableOf(capability), Drift: true,
			Before: func(t *testing.T, r *kindtest.Rig) {
				_, err := api(r).UpdateContinuousBackups(t.Context(), &dynamodb.UpdateContinuousBackupsInput{TableName: aws.String(name),
					PointInTimeRecoverySpecification: &types.PointInTimeRecoverySpecification{PointInTimeRecoveryEnabled: aws.Bool(false)}})
				kindtest.Must(t, err)
				_, err = api(r).UpdateTimeToLive(t.Context(),
					&dynamodb.UpdateTimeToLiveInput{TableName: aws.String(name), TimeToLiveSpecification: toTTL("", "expires")})
				kindtest.Must(t, err)
			}, Cause: engine.Drifted, Diff: []string{"PITR", "TTL"}, Actions: []string{pitr, ttl}},
	}
}

func deletions() []kindtest.Case {
	return []kindtest.Case{
		{Name: "deleting", Existing: tableOf(capability), Object: tableOf(capability), Deleting: true, Drift: true, Cause: engine.Deleting,
			Actions: []string{remove}},
		{Name: "deleting a table with items, whose data is guarded, waits", Existing: tableOf(), Object: tableOf(), Deleting: true, Drift: true,
			Before: putItem, Facts: guarded,
			Waiting: status.ReasonDataWouldBeLost},
		{Name: "deleting an empty table, whose data is guarded", Existing: tableOf(), Object: tableOf(), Deleting: true, Drift: true,
			Facts: guarded, Cause: engine.Deleting, Actions: []string{remove}},
		{Name: "deleting what is gone", Existing: tableOf(), Object: tableOf(), Deleting: true, Drift: true, Before: deleteTable,
			Cause: engine.Gone},
		{Name: "deleting a protected table waits", Existing: tableOf(protection(true)), Object: tableOf(protection(true)), Deleting: true,
			Drift: true, Waiting: status.ReasonDeletionProtected},
		{Name: "whoever protected it", Existing: tableOf(), Object: tableOf(), Deleting: true, Drift: true,
			Before: updateTable(dynamodb.UpdateTableInput{DeletionProtectionEnabled: aws.Bool(true)}), Waiting: status.ReasonDeletionProtected},
		{Name: "an explicit false lifts the protection first", Existing: tableOf(protection(false)), Object: tableOf(protection(false)),
			Deleting: true, Drift: true,
			Before: updateTable(dynamodb.UpdateTableInput{DeletionProtectionEnabled: aws.Bool(true)}), Cause: engine.Deleting,
			Actions: []string{update}},
		{Name: "deleting with Orphan takes our tags off and nothing else", Existing: tableOf(deletion(v1alpha1.DeletionOrphan), protection(true)),
			Object: tableOf(deletion(v1alpha1.DeletionOrphan), protection(true)), Deleting: true, Drift: true,
			Cause: engine.Deleting, Diff: ownerPaths, Actions: []string{untag}},
	}
}

func owners() []kindtest.Case {
	always := func(s *spec) { s.AdoptionPolicy, s.DeletionPolicy = v1alpha1.AdoptAlways, v1alpha1.DeletionRetain }
	return []kindtest.Case{
		{Name: "left by an earlier object of this name, it is taken over", Object: tableOf(),
			Before: createTable(ownerTags("an-earlier-one", kindtest.Cluster)),
			Cause:  engine.Edited, Diff: []string{"Tags[nexus.ai/owner-uid]"}, Actions: []string{tag}},
		{Name: "unless adoption is refused", Object: tableOf(func(s *spec) { s.AdoptionPolicy = v1alpha1.AdoptNever }),
			Before: createTable(ownerTags("an-earlier-one", kindtest.Cluster)), Stalled: status.ReasonConflict},
		{Name: "another cluster's is left alone", Object: tableOf(), Before: createTable(ownerTags("uid-of-"+name, "another")),
			Stalled: status.ReasonConflict},
		{Name: "one without an owner is left alone", Object: tableOf(), Before: createTable(nil), Stalled: status.ReasonConflict},
		{Name: "one without an owner is adopted where user and provider say so", Object: tableOf(always), Before: createTable(nil),
			Facts: func(s *kindtest.Subject) { s.AllowAdoption = true }, Cause: engine.Edited, Diff: ownerPaths, Actions: []string{tag}},
	}
}

func life() kindtest.Life {
	return kindtest.Life{
		Sample: tableOf(capability, protection(false)), Exists: exists,
		Foreign: createTable(map[string]string{"owner": "somebody"}),
		Invalid: []v1alpha1.Resource{tableOf(protection(false), func(s *spec) {
			s.ProvisionedThroughput = &v1alpha1.DynamoDBThroughput{ReadCapacityUnits: 1, WriteCapacityUnits: 1}
		})},
		Edited: tableOf(capability, protection(false), provisioned(1, 1), func(s *spec) { s.Tags = map[string]v1alpha1.TagValue{"team": "b"} }),
	}
}

func TestTableSurvivesFaults(t *testing.T) { kindtest.Faults(t, engine.For(NewTable), life()) }

func TestTableSurvivesLag(t *testing.T) { kindtest.Lag(t, engine.For(NewTable), life()) }

func TestATableThatTakesItsTimeIsWaitedFor(t *testing.T) {
	r := kindtest.NewRig(t)
	s := kindtest.NewSubject(r, engine.For(NewTable), tableOf(capability))
	r.AWS.SetClock(func() time.Time { return s.Clock })
	r.AWS.DynamoDB.SetTableCreating(time.Minute)
	t.Cleanup(func() { r.AWS.DynamoDB.SetTableCreating(0); r.AWS.SetClock(nil) })
	_, err := s.Pass(t.Context(), nil)
	if w, ok := status.AsWaiting(err); !ok || w.Reason != status.ReasonBusy {
		t.Fatalf("got %v, want to wait while CREATING", err)
	}
	if w := r.AWS.Calls().Writes().Count(); w != 1 {
		t.Fatalf("%d writes to a table that is CREATING:\n%s", w, r.AWS.Calls())
	}
	s.Clock = s.Clock.Add(2 * time.Minute) // the table is created
	if out, err := s.Settle(t.Context(), nil); err != nil || !out.Synced {
		t.Fatalf("%v\n%s", err, r.AWS.Calls())
	}
}

func TestATableAnswersLateForItsName(t *testing.T) {
	r := kindtest.NewRig(t)
	s := kindtest.NewSubject(r, engine.For(NewTable), tableOf())
	r.AWS.SetClock(func() time.Time { return s.Clock })
	r.AWS.SetEventualConsistency("dynamodb", time.Minute)
	t.Cleanup(func() { r.AWS.SetEventualConsistency("dynamodb", 0); r.AWS.SetClock(nil) })
	_, err := s.Pass(t.Context(), nil)
	if _, ok := status.AsWaiting(err); !ok {
		t.Fatalf("got %v, want to wait", err)
	}
	s.Clock = s.Clock.Add(2 * time.Minute) // reads show it
	if out, err := s.Settle(t.Context(), nil); err != nil || !out.Synced {
		t.Fatalf("%v\n%s", err, r.AWS.Calls())
	}
	if n := r.AWS.Calls().Match("dynamodb", "CreateTable", "").Count(); n > 1 {
		t.Errorf("%d creates", n)
	}
}

// DynamoDB changes expiry once an hour and refuses the rest, which passes.
func TestASecondChangeOfExpiryWithinTheHourWaits(t *testing.T) {
	r := kindtest.NewRig(t)
	s := kindtest.NewSubject(r, engine.For(NewTable), tableOf())
	_, err := s.Settle(t.Context(), nil)
	kindtest.Must(t, err)
	s.Edit(tableOf(expiry(true, "expires")))
	r.AWS.Fault(emulator.Match{Service: "dynamodb", Op: "UpdateTimeToLive", Times: 1},
		emulator.Fail(400, "ValidationException", "Time to live has been modified multiple times within a fixed interval"))
	_, err = s.Pass(t.Context(), nil)
	w, ok := status.AsWaiting(err)
	if !ok || w.Reason != status.ReasonBusy || w.After < time.Minute {
		t.Fatalf("got %v, want a long wait", err)
	}
	if out, err := s.Settle(t.Context(), nil); err != nil || !out.Synced {
		t.Fatal(err)
	}
}

// A table is UPDATING after most changes, so the next one waits for a later pass.
func TestChangesThatATableDoesNotTakeYetWait(t *testing.T) {
	r := kindtest.NewRig(t)
	s := kindtest.NewSubject(r, engine.For(NewTable), tableOf())
	_, err := s.Settle(t.Context(), nil)
	kindtest.Must(t, err)
	s.Edit(tableOf(protection(true), provisioned(1, 1)))
	r.AWS.Fault(emulator.Match{Service: "dynamodb", Op: "UpdateTable", Nth: 2, Times: 1},
		emulator.Fail(400, "ResourceInUseException", "Attempt to change a resource which is still in use: Table is being updated"))
	_, err = s.Pass(t.Context(), nil)
	if w, ok := status.AsWaiting(err); !ok || w.Reason != status.ReasonBusy {
		t.Fatalf("got %v, want to wait", err)
	}
	if out, err := s.Settle(t.Context(), nil); err != nil || !out.Synced {
		t.Fatal(err)
	}
	if n := r.AWS.Calls().Match("dynamodb", "UpdateTable", "").Count(); n != 3 {
		t.Errorf("%d updates, want 3:\n%s", n, r.AWS.Calls())
	}
}

// A table that is being deleted may answer for its tags no more; it must be taken neither for
// another owner's nor for absent.
func TestATableWithoutTagsToShowIsNotJudged(t *testing.T) {
	r := kindtest.NewRig(t)
	s := kindtest.NewSubject(r, engine.For(NewTable), tableOf())
	_, err := s.Settle(t.Context(), nil)
	kindtest.Must(t, err)
	r.AWS.DynamoDB.SetTableCreating(time.Hour)
	t.Cleanup(func() { r.AWS.DynamoDB.SetTableCreating(0) })
	r.AWS.Fault(emulator.Match{Service: "dynamodb", Op: "ListTagsOfResource", Times: 3},
		emulator.Fail(400, "ResourceNotFoundException", "Requested resource not found"))
	s.Deleting = true
	_, err = s.Pass(t.Context(), nil)
	if w, ok := status.AsWaiting(err); !ok || w.Reason != status.ReasonBusy {
		t.Fatalf("got %v, want to wait", err)
	}
}

// Ready rests on a look: where nothing is left to write, the settings of a new table are read.
func TestSettingsOfANewTableAreReadBeforeItIsReady(t *testing.T) {
	r := kindtest.NewRig(t)
	off := func(s *spec) {
		s.PointInTimeRecovery, s.TTL = aws.Bool(false), &v1alpha1.DynamoDBTTL{AttributeName: "expires"}
	}
	s := kindtest.NewSubject(r, engine.For(NewTable), tableOf(off))
	_, err := s.Settle(t.Context(), nil)
	kindtest.Must(t, err)
	if got := kindtest.Operations(r.AWS.Calls()); got["DescribeContinuousBackups"] != 1 || got["DescribeTimeToLive"] != 1 {
		t.Errorf("the settings were not read:\n%s", r.AWS.Calls())
	}
}

// No setting of a table is assumed once a setting may have been written, or once the operator has restarted.
func TestSettingsAreReadWhereTheyMayHaveChanged(t *testing.T) {
	for name, kill := range map[string]bool{"a write whose answer was lost": false, "a restart": true} {
		t.Run(name, func(t *testing.T) {
			r := kindtest.NewRig(t)
			s := kindtest.NewSubject(r, engine.For(NewTable), tableOf(capability))
			var struck atomic.Bool
			op := kind.Either(kill, "CreateTable", "UpdateContinuousBackups")
			r.AWS.Fault(emulator.Match{Service: "dynamodb", Op: op, Times: 1}, emulator.ForwardThen(func() { struck.Store(true) }))
			_, _ = s.Pass(t.Context(), func() bool { return kill && struck.Load() })
			if !struck.Load() {
				t.Fatal("the fault did not strike")
			}
			mark := r.AWS.Mark()
			_, err := s.Settle(t.Context(), nil)
			kindtest.Must(t, err)
			for _, c := range r.AWS.Since(mark) {
				if c.Write {
					t.Fatalf("written before the settings were read:\n%s", r.AWS.Since(mark))
				}
				if c.Op == "DescribeContinuousBackups" {
					return
				}
			}
			t.Error("the settings were not read")
		})
	}
}

func TestTableCosts(t *testing.T) {
	r := kindtest.NewRig(t)
	s := kindtest.NewSubject(r, engine.For(NewTable), tableOf(capability))
	_, err := s.Settle(t.Context(), nil)
	kindtest.Must(t, err)
	// Three writes, a look before and a look after the settings; only the second reads the settings.
	want := map[string]int{"CreateTable": 1, "UpdateContinuousBackups": 1, "UpdateTimeToLive": 1, "DescribeTable": 2,
		"DescribeContinuousBackups": 1, "DescribeTimeToLive": 1}
	if got := r.AWS.Calls(); !maps.Equal(kindtest.Operations(got), want) {
		t.Errorf("create took %v, want %v:\n%s", kindtest.Operations(got), want, got)
	}
	mark := r.AWS.Mark()
	_, err = s.Pass(t.Context(), nil)
	kindtest.Must(t, err)
	if got := r.AWS.Since(mark); got.Count() != 4 { // the table, its tags, two declared extras
		t.Errorf("a check took %d calls, want 4:\n%s", got.Count(), got)
	}
	mark = r.AWS.Mark()
	s.Deleting = true
	_, err = s.Settle(t.Context(), nil)
	kindtest.Must(t, err)
	if got := r.AWS.Since(mark).Writes(); got.Count() != 1 {
		t.Errorf("delete took %d writes, want 1:\n%s", got.Count(), got)
	}
}

func TestPublishedFields(t *testing.T) {
	r := kindtest.NewRig(t)
	s := kindtest.NewSubject(r, engine.For(NewTable), tableOf())
	_, err := s.Settle(t.Context(), nil)
	kindtest.Must(t, err)
	st := s.Object.(*v1alpha1.DynamoDBTable).Status
	arn := "arn:aws:dynamodb:" + kindtest.Region + ":" + kindtest.Account + ":table/" + name
	if st.ARN != arn || st.TableARN != arn || st.ID != name || st.TableStatus != "ACTIVE" {
		t.Errorf("%+v", st)
	}
}

// A table that is only observed needs no key in its spec, and is neither written to nor deleted.
func TestTable_IsObservedWithoutAKey(t *testing.T) {
	r := kindtest.NewRig(t)
	createTable(nil)(t, r)
	s := kindtest.NewSubject(r, engine.For(NewTable),
		tableOf(func(s *spec) { s.HashKey, s.ManagementPolicy = v1alpha1.DynamoDBAttribute{}, v1alpha1.ManageObserve }))
	mark := r.AWS.Mark()
	kindtest.Settled(t, s)
	if st := s.Object.CommonStatus(); st.ARN == "" || st.Ownership != v1alpha1.OwnershipObserved || len(st.Drift) > 0 {
		t.Errorf("%+v", st)
	}
	if n := r.AWS.Since(mark).Writes().Count(); n > 0 {
		t.Errorf("%d writes", n)
	}
}
