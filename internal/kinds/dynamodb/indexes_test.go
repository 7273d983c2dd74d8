// SPDX-License-Identifier: Apache-2.0

package dynamodb

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/engine"
	"github.com/nexus-operator/nexus-operator/internal/kindtest"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

type globalIndexSpec = v1alpha1.DynamoDBGlobalIndex

func attribute(s *spec, name string) {
	for _, a := range s.Attributes {
		if a.Name == name {
			return
		}
	}
	s.Attributes = append(s.Attributes, v1alpha1.DynamoDBIndexAttribute{DynamoDBAttribute: v1alpha1.DynamoDBAttribute{Name: name, Type: "S"}})
}

// indexed adds a global index by an attribute.
func indexed(name, hashKey string, edits ...func(g *globalIndexSpec)) func(s *spec) {
	return func(s *spec) {
		attribute(s, hashKey)
		g := globalIndexSpec{IndexName: name, HashKey: hashKey}
		for _, edit := range edits {
			edit(&g)
		}
		s.GlobalSecondaryIndexes = append(s.GlobalSecondaryIndexes, g)
	}
}

func sortedBy(rangeKey string) func(g *globalIndexSpec) {
	return func(g *globalIndexSpec) { g.RangeKey = rangeKey }
}

func including(names ...string) func(g *globalIndexSpec) {
	return func(g *globalIndexSpec) {
		g.DynamoDBProjection = v1alpha1.DynamoDBProjection{ProjectionType: "INCLUDE", NonKeyAttributes: names}
	}
}

func units(read, write int64) func(g *globalIndexSpec) {
	return func(g *globalIndexSpec) {
		g.ProvisionedThroughput = &v1alpha1.DynamoDBThroughput{ReadCapacityUnits: read, WriteCapacityUnits: write}
	}
}

func limits(read, write int64) *v1alpha1.DynamoDBOnDemandThroughput {
	return &v1alpha1.DynamoDBOnDemandThroughput{MaxReadRequestUnits: &read, MaxWriteRequestUnits: &write}
}

func limited(read, write int64) func(g *globalIndexSpec) {
	return func(g *globalIndexSpec) { g.OnDemandThroughput = limits(read, write) }
}

func tableLimits(read, write int64) func(s *spec) {
	return func(s *spec) { s.OnDemandThroughput = limits(read, write) }
}

// local adds a local index, and the sort key that its table needs.
func local(name, rangeKey string) func(s *spec) {
	return func(s *spec) {
		s.RangeKey = &v1alpha1.DynamoDBAttribute{Name: "at", Type: "N"}
		attribute(s, rangeKey)
		s.LocalSecondaryIndexes = append(s.LocalSecondaryIndexes, v1alpha1.DynamoDBLocalIndex{IndexName: name, RangeKey: rangeKey,
			DynamoDBProjection: v1alpha1.DynamoDBProjection{ProjectionType: "KEYS_ONLY"}})
	}
}

func localIncluding(names ...string) func(s *spec) {
	return func(s *spec) {
		s.LocalSecondaryIndexes[len(s.LocalSecondaryIndexes)-1].DynamoDBProjection = v1alpha1.DynamoDBProjection{ProjectionType: "INCLUDE",
			NonKeyAttributes: names}
	}
}

func class(name string) func(s *spec) { return func(s *spec) { s.TableClass = &name } }

func stream(view string) func(s *spec) {
	return func(s *spec) { s.StreamEnabled, s.StreamViewType = aws.Bool(true), view }
}

func noStream(s *spec) { s.StreamEnabled = aws.Bool(false) }

func scaled(s *spec) { s.CapacityPolicy = initialOnly }

// foreignIndex adds an index behind the operator's back.
func foreignIndex(capacity *types.ProvisionedThroughput) func(*testing.T, *kindtest.Rig) {
	return updateTable(dynamodb.UpdateTableInput{
		AttributeDefinitions: definitions([]Key{{Name: "id", Type: "S"}, {Name: "theirs", Type: "S"}}),
		GlobalSecondaryIndexUpdates: []types.GlobalSecondaryIndexUpdate{{Create: &types.CreateGlobalSecondaryIndexAction{IndexName: aws.String("their-index"),
			KeySchema: schemaOf([]Key{{"HASH", "theirs", "S"}}), Projection: &types.Projection{ProjectionType: types.ProjectionTypeAll},
			ProvisionedThroughput: capacity}}}})
}

func dropIndex(name string) func(*testing.T, *kindtest.Rig) {
	return updateTable(dynamodb.UpdateTableInput{GlobalSecondaryIndexUpdates: []types.GlobalSecondaryIndexUpdate{{Delete: &types.DeleteGlobalSecondaryIndexAction{IndexName: &name}}}})
}

func indexUnits(name string, read, write int64) func(*testing.T, *kindtest.Rig) {
	return updateTable(dynamodb.UpdateTableInput{GlobalSecondaryIndexUpdates: []types.GlobalSecondaryIndexUpdate{{Update: &types.UpdateGlobalSecondaryIndexAction{
		IndexName: &name, ProvisionedThroughput: &types.ProvisionedThroughput{ReadCapacityUnits: &read, WriteCapacityUnits: &write}}}}})
}

func indexRows() []kindtest.Case {
	invalid := func(name string, edits ...func(s *spec)) kindtest.Case {
		return kindtest.Case{Name: name, Object: tableOf(edits...), Stalled: status.ReasonInvalidSpec}
	}
	none := func(s *spec) { s.Attributes = nil }
	return []kindtest.Case{
		{Name: "with indexes", Object: tableOf(local("by-title", "title"), localIncluding("b", "a"),
			indexed("by-status", "status", sortedBy("at")), indexed("by-owner", "owner", including("b", "a"), limited(5, 6))),
			Cause: engine.New, Actions: []string{create}},
		{Name: "with an index by keys of the table", Object: tableOf(local("by-title", "title"), func(s *spec) {
			s.GlobalSecondaryIndexes = []globalIndexSpec{{IndexName: "turned", HashKey: "at", RangeKey: "id"}}
		}), Cause: engine.New, Actions: []string{create}},
		{Name: "with capacity for each index", Object: tableOf(provisioned(2, 3), indexed("by-status", "status", units(4, 5))), Cause: engine.New,
			Actions: []string{create}},
		{Name: "the order of the projected attributes says nothing", Existing: tableOf(indexed("by-owner", "owner", including("b", "a"))),
			Object: tableOf(indexed("by-owner", "owner", including("a", "b"))), Cause: engine.InSync},
		invalid("an attribute that is no key", func(s *spec) { attribute(s, "color") }),
		invalid("an attribute with another type than the key", indexed("by-status", "status"), func(s *spec) {
			s.Attributes = append(s.Attributes,
				v1alpha1.DynamoDBIndexAttribute{DynamoDBAttribute: v1alpha1.DynamoDBAttribute{Name: "id", Type: "N"}})
		}),
		invalid("an index by an attribute without a type", indexed("by-status", "status"), none),
		invalid("an index sorted by an attribute without a type", indexed("by-status", "status", sortedBy("color"))),
		invalid("a local index by an attribute without a type", local("by-title", "title"), none),
		invalid("a local index of a table without a sort key", local("by-title", "title"), func(s *spec) { s.RangeKey = nil }),
		invalid("a local index by the partition key", local("by-id", "id")),
		invalid("two indexes of one name", local("by-title", "title"), indexed("by-title", "title")),
		invalid("provisioned without capacity for an index", provisioned(1, 1), indexed("by-status", "status")),
		invalid("capacity for an index on demand", indexed("by-status", "status", units(1, 1))),
		invalid("a limit for a provisioned index", provisioned(1, 1), indexed("by-status", "status", units(1, 1), limited(1, 1))),
		invalid("a projection without its attributes", indexed("by-status", "status", including())),
		invalid("an index with one key twice", indexed("by-status", "status", sortedBy("status"))),
		invalid("a limit of nothing", indexed("by-status", "status", limited(0, 1))),
	}
}

func indexEdits() []kindtest.Case {
	status1, owner := indexed("by-status", "status"), indexed("by-owner", "owner", sortedBy("id"))
	return []kindtest.Case{
		{Name: "an index is added", Existing: tableOf(), Object: tableOf(status1), Cause: engine.Edited,
			Diff: []string{"GlobalIndexes[by-status]"}, Actions: []string{update}},
		{Name: "two indexes are added, one after the other", Existing: tableOf(), Object: tableOf(status1, owner),
			Cause: engine.Edited, Diff: []string{"GlobalIndexes[by-owner]", "GlobalIndexes[by-status]"}, Actions: []string{update, update}},
		{Name: "an index is dropped", Existing: tableOf(status1, owner), Object: tableOf(owner), Cause: engine.Edited,
			Diff: []string{"GlobalIndexes[by-status]"}, Actions: []string{update}},
		{Name: "the last index is dropped", Existing: tableOf(status1), Object: tableOf(), Cause: engine.Edited,
			Diff: []string{"GlobalIndexes[by-status]"}, Actions: []string{update}},
		{Name: "an index is replaced by one of another name", Existing: tableOf(status1),
			Object: tableOf(indexed("by-status-and-id", "status", sortedBy("id"))),
			Cause:  engine.Edited, Diff: []string{"GlobalIndexes[by-status]", "GlobalIndexes[by-status-and-id]"}, Actions: []string{update, update}},
		{Name: "other keys of an index are refused", Existing: tableOf(status1), Object: tableOf(indexed("by-status", "owner")),
			Stalled: status.ReasonImmutable},
		{Name: "and another projection", Existing: tableOf(status1), Object: tableOf(indexed("by-status", "status", including("a"))),
			Stalled: status.ReasonImmutable},
		{Name: "a local index cannot be added", Existing: tableOf(local("by-title", "title")),
			Object: tableOf(local("by-title", "title"), local("by-size", "size")), Stalled: status.ReasonImmutable},
		{Name: "an index and its table are limited", Existing: tableOf(status1),
			Object: tableOf(indexed("by-status", "status", limited(5, 6)), tableLimits(7, 8)), Cause: engine.Edited,
			Diff: []string{"OnDemand.MaxReadRequestUnits", "OnDemand.MaxWriteRequestUnits", "IndexCapacity[by-status].MaxReadRequestUnits",
				"IndexCapacity[by-status].MaxWriteRequestUnits"},
			Actions: []string{update}},
		{Name: "the limit of an index is removed", Existing: tableOf(indexed("by-status", "status", limited(5, 6))),
			Object: tableOf(indexed("by-status", "status", limited(-1, 6))),
			Cause:  engine.Edited, Diff: []string{"IndexCapacity[by-status].MaxReadRequestUnits"}, Actions: []string{update}},
		{Name: "a limited index is added", Existing: tableOf(), Object: tableOf(indexed("by-status", "status", limited(5, 6))),
			Cause: engine.Edited, Diff: []string{"GlobalIndexes[by-status]"}, Actions: []string{update}},
		{Name: "to provisioned capacity with an index", Existing: tableOf(status1),
			Object: tableOf(provisioned(2, 3), indexed("by-status", "status", units(4, 5))), Cause: engine.Edited,
			Diff: []string{"BillingMode", "Throughput.ReadCapacityUnits", "Throughput.WriteCapacityUnits",
				"IndexCapacity[by-status].ReadCapacityUnits", "IndexCapacity[by-status].WriteCapacityUnits"},
			Actions: []string{update}},
		{Name: "to provisioned capacity with an index more", Existing: tableOf(status1),
			Object: tableOf(provisioned(2, 3), indexed("by-status", "status", units(4, 5)), indexed("by-owner", "owner", units(6, 7))),
			Cause:  engine.Edited,
			Diff: []string{"GlobalIndexes[by-owner]", "BillingMode", "Throughput.ReadCapacityUnits", "Throughput.WriteCapacityUnits",
				"IndexCapacity[by-status].ReadCapacityUnits", "IndexCapacity[by-status].WriteCapacityUnits"},
			Actions: []string{update, update}},
		{Name: "to capacity on demand with an index", Existing: tableOf(provisioned(2, 3), indexed("by-status", "status", units(4, 5))),
			Object: tableOf(onDemand, status1),
			Cause:  engine.Edited, Diff: []string{"BillingMode"}, Actions: []string{update}},
		{Name: "another capacity of an index", Existing: tableOf(provisioned(2, 3), indexed("by-status", "status", units(4, 5))),
			Object: tableOf(provisioned(2, 3), indexed("by-status", "status", units(4, 9))),
			Cause:  engine.Edited, Diff: []string{"IndexCapacity[by-status].WriteCapacityUnits"}, Actions: []string{update}},
	}
}

func onDemand(s *spec) { s.BillingMode = "PAY_PER_REQUEST" }

func indexDrifts() []kindtest.Case {
	withIndex := tableOf(indexed("by-status", "status"))
	withUnits := tableOf(provisioned(2, 3), indexed("by-status", "status", units(4, 5)))
	foreign := foreignIndex(nil)
	return []kindtest.Case{
		{Name: "a deleted index is created again", Existing: withIndex, Object: withIndex, Drift: true, Before: dropIndex("by-status"),
			Cause: engine.Drifted, Diff: []string{"GlobalIndexes[by-status]"}, Actions: []string{update}},
		{Name: "capacity of an index is restored", Existing: withUnits, Object: withUnits, Drift: true, Before: indexUnits("by-status", 9, 5),
			Cause: engine.Drifted, Diff: []string{"IndexCapacity[by-status].ReadCapacityUnits"}, Actions: []string{update}},
		{Name: "an index of others stays", Existing: tableOf(), Object: tableOf(), Drift: true, Before: foreign, Cause: engine.InSync},
		{Name: "also where indexes are declared", Existing: tableOf(), Object: tableOf(indexed("by-status", "status")), Before: foreign,
			Cause: engine.Edited, Diff: []string{"GlobalIndexes[by-status]"}, Actions: []string{update}},
		{Name: "an index of others gets the capacity of the table", Existing: tableOf(), Object: tableOf(provisioned(2, 3)), Before: foreign,
			Cause: engine.Edited,
			Diff:  []string{"BillingMode", "Throughput.ReadCapacityUnits", "Throughput.WriteCapacityUnits"}, Actions: []string{update}},
		{Name: "an index of others that is declared is taken over", Existing: tableOf(), Object: tableOf(indexed("their-index", "theirs")),
			Before: foreign, Cause: engine.InSync},
		{Name: "capacity that an autoscaler changes stays",
			Existing: tableOf(scaled, provisioned(2, 3), indexed("by-status", "status", units(4, 5))),
			Object:   tableOf(scaled, provisioned(2, 3), indexed("by-status", "status", units(4, 5))), Drift: true,
			Before: func(t *testing.T, r *kindtest.Rig) {
				updateTable(dynamodb.UpdateTableInput{ProvisionedThroughput: &types.ProvisionedThroughput{ReadCapacityUnits: aws.Int64(90),
					WriteCapacityUnits: aws.Int64(80)}})(t, r)
				indexUnits("by-status", 70, 60)(t, r)
			}, Cause: engine.InSync},
	}
}

func capacityRows() []kindtest.Case {
	return []kindtest.Case{
		{Name: "with limits, a class and a stream", Object: tableOf(tableLimits(5, 6), class("STANDARD_INFREQUENT_ACCESS"), stream("KEYS_ONLY")),
			Cause: engine.New, Actions: []string{create}},
		{Name: "limits are removed", Existing: tableOf(tableLimits(5, 6)), Object: tableOf(tableLimits(-1, -1)),
			Cause: engine.Edited, Diff: []string{"OnDemand.MaxReadRequestUnits", "OnDemand.MaxWriteRequestUnits"}, Actions: []string{update}},
		{Name: "limits that are no longer declared stay", Existing: tableOf(tableLimits(5, 6)), Object: tableOf(), Cause: engine.InSync},
		{Name: "no limits are what there is", Existing: tableOf(), Object: tableOf(tableLimits(-1, -1)), Cause: engine.InSync},
		{Name: "limits are restored", Existing: tableOf(tableLimits(5, 6)), Object: tableOf(tableLimits(5, 6)), Drift: true,
			Before: updateTable(dynamodb.UpdateTableInput{OnDemandThroughput: &types.OnDemandThroughput{MaxReadRequestUnits: aws.Int64(-1)}}),
			Cause:  engine.Drifted, Diff: []string{"OnDemand.MaxReadRequestUnits"}, Actions: []string{update}},
		{Name: "limits of a provisioned table", Object: tableOf(provisioned(1, 1), tableLimits(5, 6)), Stalled: status.ReasonInvalidSpec},
		{Name: "a class for tables that are read rarely", Existing: tableOf(), Object: tableOf(class("STANDARD_INFREQUENT_ACCESS")),
			Cause: engine.Edited, Diff: []string{"TableClass"}, Actions: []string{update}},
		{Name: "the standard class again", Existing: tableOf(class("STANDARD_INFREQUENT_ACCESS")), Object: tableOf(class("STANDARD")),
			Cause: engine.Edited, Diff: []string{"TableClass"}, Actions: []string{update}},
		{Name: "the standard class is what there is", Existing: tableOf(), Object: tableOf(class("STANDARD")), Cause: engine.InSync},
		{Name: "the class is restored", Existing: tableOf(class("STANDARD")), Object: tableOf(class("STANDARD")), Drift: true,
			Before: updateTable(dynamodb.UpdateTableInput{TableClass: types.TableClassStandardInfrequentAccess}),
			Cause:  engine.Drifted, Diff: []string{"TableClass"}, Actions: []string{update}},
		{Name: "an edit of capacity that an autoscaler changes has no effect", Existing: tableOf(scaled, provisioned(2, 3)),
			Object: tableOf(scaled, provisioned(5, 5)), Cause: engine.InSync},
		{Name: "and has one when the operator corrects it again", Existing: tableOf(scaled, provisioned(2, 3)),
			Object: tableOf(provisioned(5, 3)),
			Cause:  engine.Edited, Diff: []string{"Throughput.ReadCapacityUnits"}, Actions: []string{update}},
		{Name: "to provisioned capacity that an autoscaler then changes", Existing: tableOf(), Object: tableOf(scaled, provisioned(2, 3)),
			Cause: engine.Edited, Diff: []string{"BillingMode", "Throughput.ReadCapacityUnits", "Throughput.WriteCapacityUnits"},
			Actions: []string{update}},
	}
}

func streamRows() []kindtest.Case {
	off := updateTable(dynamodb.UpdateTableInput{StreamSpecification: toStream("", "KEYS_ONLY")})
	return []kindtest.Case{
		{Name: "a stream", Existing: tableOf(), Object: tableOf(stream("")), Cause: engine.Edited, Diff: []string{"Stream"},
			Actions: []string{update}},
		{Name: "no stream any more", Existing: tableOf(stream("")), Object: tableOf(noStream), Cause: engine.Edited, Diff: []string{"Stream"},
			Actions: []string{update}},
		{Name: "no stream is what there is", Existing: tableOf(), Object: tableOf(noStream), Cause: engine.InSync},
		{Name: "a stream that is no longer declared stays", Existing: tableOf(stream("")), Object: tableOf(), Cause: engine.InSync},
		{Name: "the default has both images", Existing: tableOf(stream("")), Object: tableOf(stream("NEW_AND_OLD_IMAGES")), Cause: engine.InSync},
		{Name: "a stream of something else", Existing: tableOf(stream("KEYS_ONLY")), Object: tableOf(stream("NEW_IMAGE")), Cause: engine.Edited,
			Diff: []string{"Stream"}, Actions: []string{update}},
		{Name: "a stream is restored", Existing: tableOf(stream("KEYS_ONLY")), Object: tableOf(stream("KEYS_ONLY")), Drift: true, Before: off,
			Cause: engine.Drifted, Diff: []string{"Stream"}, Actions: []string{update}},
		{Name: "a view type without a stream", Object: tableOf(func(s *spec) { s.StreamViewType = "KEYS_ONLY" }),
			Stalled: status.ReasonInvalidSpec},
	}
}

// describe returns the table as DynamoDB shows it.
func describe(t *testing.T, r *kindtest.Rig) *types.TableDescription {
	t.Helper()
	out, err := api(r).DescribeTable(t.Context(), &dynamodb.DescribeTableInput{TableName: aws.String(name)})
	kindtest.Must(t, err)
	return out.Table
}

func indexNames(t *testing.T, r *kindtest.Rig) (names []string) {
	t.Helper()
	for _, g := range describe(t, r).GlobalSecondaryIndexes {
		names = append(names, aws.ToString(g.IndexName))
	}
	slices.Sort(names)
	return names
}

// A new index is allocated while its table is UPDATING, and filled while it is ACTIVE. Until it is ready the object waits, at each
// look for a short time, and the table stays usable.
func TestAnIndexThatIsFilledIsWaitedFor(t *testing.T) {
	r := kindtest.NewRig(t)
	s := kindtest.NewSubject(r, engine.For(NewTable), tableOf(indexed("by-status", "status")))
	r.AWS.SetClock(func() time.Time { return s.Clock })
	_, err := s.Settle(t.Context(), nil)
	kindtest.Must(t, err)
	r.AWS.DynamoDB.SetIndexesTake(time.Hour)
	t.Cleanup(func() { r.AWS.DynamoDB.SetIndexesTake(0) })
	s.Edit(tableOf(indexed("by-owner", "owner")))
	mark := r.AWS.Mark()
	for _, after := range []time.Duration{0, 20 * time.Minute, 20 * time.Minute} { // UPDATING, UPDATING, ACTIVE
		s.Clock = s.Clock.Add(after)
		_, err = s.Pass(t.Context(), nil)
		w, ok := status.AsWaiting(err)
		if !ok || w.Reason != status.ReasonBusy || !w.Usable {
			t.Fatalf("got %v, want to wait while the table is usable\n%s", err, r.AWS.Since(mark))
		}
	}
	if !strings.Contains(err.Error(), "the index by-owner is CREATING") {
		t.Errorf("%v does not name the index", err)
	}
	if n := r.AWS.Since(mark).Writes().Count(); n != 1 {
		t.Fatalf("%d writes while an index is created:\n%s", n, r.AWS.Since(mark))
	}
	if got := indexNames(t, r); !slices.Equal(got, []string{"by-owner", "by-status"}) {
		t.Errorf("indexes %q: the old one must stay until the new one is ready", got)
	}
	s.Clock = s.Clock.Add(20 * time.Minute)
	_, err = s.Pass(t.Context(), nil) // deletes the other one, which takes its time, too
	if w, ok := status.AsWaiting(err); !ok || w.Reason != status.ReasonBusy || !w.Usable {
		t.Fatalf("got %v, want to wait for the deletion", err)
	}
	s.Clock = s.Clock.Add(time.Hour)
	if out, err := s.Settle(t.Context(), nil); err != nil || !out.Synced {
		t.Fatalf("%v\n%s", err, r.AWS.Since(mark))
	}
	for _, c := range r.AWS.Since(mark).Writes() {
		if c.Status != 200 {
			t.Errorf("AWS refused a write:\n%s", r.AWS.Since(mark))
		}
	}
	if got := indexNames(t, r); !slices.Equal(got, []string{"by-owner"}) {
		t.Errorf("indexes %q", got)
	}
	var defined []string
	for _, a := range describe(t, r).AttributeDefinitions {
		defined = append(defined, *a.AttributeName)
	}
	if slices.Sort(defined); !slices.Equal(defined, []string{"id", "owner"}) {
		t.Errorf("attributes %q, want those of keys", defined)
	}
}

// A table is deleted while one of its indexes is filled.
func TestATableIsDeletedWhileAnIndexIsFilled(t *testing.T) {
	r := kindtest.NewRig(t)
	s := kindtest.NewSubject(r, engine.For(NewTable), tableOf())
	r.AWS.SetClock(func() time.Time { return s.Clock })
	_, err := s.Settle(t.Context(), nil)
	kindtest.Must(t, err)
	r.AWS.DynamoDB.SetIndexesTake(time.Hour)
	t.Cleanup(func() { r.AWS.DynamoDB.SetIndexesTake(0) })
	s.Edit(tableOf(indexed("by-owner", "owner")))
	_, _ = s.Pass(t.Context(), nil)
	s.Clock = s.Clock.Add(40 * time.Minute)
	before := s.Clock
	s.Deleting = true
	if out, err := s.Settle(t.Context(), nil); err != nil || !out.Gone || s.Clock.Sub(before) > 10*time.Minute {
		t.Fatalf("%v after %s\n%s", err, s.Clock.Sub(before), r.AWS.Calls())
	}
}

// DynamoDB allows 20 indexes: without room for another, an index is deleted before its replacement is created.
func TestAFullTableReplacesAnIndex(t *testing.T) {
	var all []func(*spec)
	for i := range maxGlobalIndexes {
		all = append(all, indexed("index-"+string(rune('a'+i)), "owner", sortedBy("id")))
	}
	r := kindtest.NewRig(t)
	s := kindtest.NewSubject(r, engine.For(NewTable), tableOf(all...))
	_, err := s.Settle(t.Context(), nil)
	kindtest.Must(t, err)
	s.Edit(tableOf(append(all[1:], indexed("another", "owner", sortedBy("id")))...))
	mark := r.AWS.Mark()
	if out, err := s.Settle(t.Context(), nil); err != nil || !out.Synced {
		t.Fatal(err)
	}
	writes := r.AWS.Since(mark).Writes()
	if len(writes) != 2 || !strings.Contains(writes[0].Body, `"Delete"`) || !strings.Contains(writes[1].Body, `"Create"`) {
		t.Errorf("want a deletion and then a creation:\n%s", writes)
	}
}

// A stream gets another ARN with another view type, and none is published once it is off.
func TestTheStreamAndTheCountArePublished(t *testing.T) {
	r := kindtest.NewRig(t)
	s := kindtest.NewSubject(r, engine.For(NewTable), tableOf(stream("KEYS_ONLY"), indexed("by-owner", "owner")))
	_, err := s.Settle(t.Context(), nil)
	kindtest.Must(t, err)
	st := func() v1alpha1.DynamoDBTableStatus { return s.Object.(*v1alpha1.DynamoDBTable).Status }
	first := st()
	if !strings.HasPrefix(first.StreamARN, first.ARN+"/stream/") || first.ItemCount == nil || *first.ItemCount != 0 ||
		!slices.Equal(first.ManagedIndexes, []string{"by-owner"}) {
		t.Errorf("%+v", first)
	}
	s.Edit(tableOf(stream("NEW_IMAGE")))
	_, err = s.Settle(t.Context(), nil)
	kindtest.Must(t, err)
	if got := st(); got.StreamARN == "" || got.StreamARN == first.StreamARN || len(got.ManagedIndexes) != 0 {
		t.Errorf("%+v", got)
	}
	s.Edit(tableOf(noStream))
	_, err = s.Settle(t.Context(), nil)
	kindtest.Must(t, err)
	if got := st(); got.StreamARN != "" {
		t.Errorf("%+v", got)
	}
}

// indexLife is a life with indexes that are added and removed.
func indexLife() kindtest.Life {
	l := life()
	l.Sample = tableOf(local("by-title", "title"), indexed("by-status", "status"), stream("KEYS_ONLY"), protection(false))
	l.Edited = tableOf(local("by-title", "title"), indexed("by-owner", "owner", limited(5, 6)), stream("KEYS_ONLY"), protection(false))
	return l
}

func TestIndexesSurviveFaults(t *testing.T) { kindtest.Faults(t, engine.For(NewTable), indexLife()) }

func TestIndexesSurviveLag(t *testing.T) { kindtest.Lag(t, engine.For(NewTable), indexLife()) }

func TestIndexCosts(t *testing.T) {
	r := kindtest.NewRig(t)
	s := kindtest.NewSubject(r, engine.For(NewTable),
		tableOf(local("by-title", "title"), indexed("by-status", "status"), stream(""), class("STANDARD")))
	_, err := s.Settle(t.Context(), nil)
	kindtest.Must(t, err)
	if got, want := kindtest.Operations(r.AWS.Calls()), map[string]int{"CreateTable": 1, "DescribeTable": 1}; !maps.Equal(got, want) {
		t.Errorf("create took %v, want %v", got, want)
	}
	mark := r.AWS.Mark()
	s.Edit(tableOf(local("by-title", "title"), indexed("by-status", "status"), stream(""), class("STANDARD"), indexed("by-owner", "owner")))
	_, err = s.Settle(t.Context(), nil)
	kindtest.Must(t, err)
	want := map[string]int{"UpdateTable": 1, "DescribeTable": 2, "ListTagsOfResource": 2}
	if got := kindtest.Operations(r.AWS.Since(mark)); !maps.Equal(got, want) {
		t.Errorf("an index took %v, want %v", got, want)
	}
}
