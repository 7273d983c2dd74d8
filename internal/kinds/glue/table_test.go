// SPDX-License-Identifier: Apache-2.0

package glue

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/glue"
	"github.com/aws/aws-sdk-go-v2/service/glue/types"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/api/wellknown"
	"github.com/nexus-operator/nexus-operator/internal/emulator"
	"github.com/nexus-operator/nexus-operator/internal/engine"
	"github.com/nexus-operator/nexus-operator/internal/kind"
	"github.com/nexus-operator/nexus-operator/internal/kindtest"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

const calls = "calls"

type tableSpec = v1alpha1.GlueTableSpec

func tableOf(changes ...func(s *tableSpec)) *v1alpha1.GlueTable {
	o := &v1alpha1.GlueTable{}
	o.Name = calls
	o.Spec.TableName, o.Spec.DatabaseName = calls, lake
	for _, change := range changes {
		change(&o.Spec)
	}
	return o
}

func fullTable(s *tableSpec) {
	s.Description, s.TableType = str("calls"), str("EXTERNAL_TABLE")
	s.PartitionKeys = &[]v1alpha1.GlueColumn{{Name: "day", Type: "string"}}
	s.StorageDescriptor = &v1alpha1.GlueStorageDescriptor{
		Columns:  []v1alpha1.GlueColumn{{Name: "id", Type: "string", Comment: "key"}, {Name: "at", Type: "timestamp"}},
		Location: "s3://bucket/calls/", InputFormat: "in", OutputFormat: "out",
		SerdeInfo: &v1alpha1.GlueSerdeInfo{Name: "s", SerializationLibrary: "lib", Parameters: params("sep", ",", "null", "-")},
	}
	s.Parameters = params("classification", "json", "b", "2")
}

func inLake(t *testing.T, r *kindtest.Rig) { makeDatabase(lake, nil)(t, r) }

func makeTable(parameters map[string]string) func(*testing.T, *kindtest.Rig) {
	return func(t *testing.T, r *kindtest.Rig) {
		t.Helper()
		inLake(t, r)
		_, err := api(r).CreateTable(t.Context(),
			&glue.CreateTableInput{DatabaseName: str(lake), TableInput: &types.TableInput{Name: str(calls), Parameters: parameters}})
		kindtest.Must(t, err)
	}
}

// rewrite changes the table as a crawler or an engine does.
func rewrite(change func(in *types.TableInput)) func(*testing.T, *kindtest.Rig) {
	return func(t *testing.T, r *kindtest.Rig) {
		t.Helper()
		in := tableInput(ask(t, api(r).GetTable, &glue.GetTableInput{DatabaseName: str(lake), Name: str(calls)}).Table)
		change(&in)
		_, err := api(r).UpdateTable(t.Context(), &glue.UpdateTableInput{DatabaseName: str(lake), TableInput: &in})
		kindtest.Must(t, err)
	}
}

func inDatabase(s *kindtest.Subject) {
	if _, err := glue.NewFromConfig(s.Rig.Config).CreateDatabase(context.Background(),
		&glue.CreateDatabaseInput{DatabaseInput: &types.DatabaseInput{Name: str(lake)}}); err != nil {
		panic(err)
	}
}

func endTable(t *testing.T, r *kindtest.Rig) {
	t.Helper()
	_, err := api(r).DeleteTable(t.Context(), &glue.DeleteTableInput{DatabaseName: str(lake), Name: str(calls)})
	kindtest.Must(t, err)
}

func TestTable(t *testing.T) {
	both := func(change func(s *tableSpec)) *v1alpha1.GlueTable { return tableOf(fullTable, change) }
	edited := func(name string, path string, change func(s *tableSpec)) kindtest.Case {
		return kindtest.Case{Name: name, Facts: inDatabase, Existing: tableOf(fullTable), Object: both(change), Cause: engine.Edited,
			Diff: []string{path}, Actions: []string{"glue:UpdateTable"}}
	}
	drifted := func(name string, change func(in *types.TableInput), diff ...string) kindtest.Case {
		return kindtest.Case{Name: name, Facts: inDatabase, Existing: tableOf(fullTable), Object: tableOf(fullTable), Drift: true,
			Before: rewrite(change),
			Cause:  engine.Drifted, Diff: diff, Actions: []string{"glue:UpdateTable"}}
	}
	insync := func(name string, change func(in *types.TableInput)) kindtest.Case {
		c := drifted(name, change)
		c.Cause, c.Actions = engine.InSync, nil
		return c
	}
	orphan := tableOf(fullTable, func(s *tableSpec) { s.DeletionPolicy = v1alpha1.DeletionOrphan })
	old := leftBehind("GlueTable", calls)
	kindtest.Run(t, engine.For(NewTable), []kindtest.Case{
		{Name: "absent is created", Facts: inDatabase, Object: tableOf(fullTable), Cause: engine.New, Actions: []string{"glue:CreateTable"}},
		{Name: "the format of a table in capitals", Facts: inDatabase,
			Object: tableOf(func(s *tableSpec) { s.Parameters = params("table_type", "ICEBERG") }), Cause: engine.New,
			Actions: []string{"glue:CreateTable"}},
		{Name: "a bare table is created", Facts: inDatabase, Object: tableOf(), Cause: engine.New, Actions: []string{"glue:CreateTable"}},
		{Name: "its database may be another object's", Facts: func(s *kindtest.Subject) {
			inDatabase(s)
			s.Targets = map[string]kind.Target{"GlueDatabase/lake": {ID: lake}}
		},
			Object: tableOf(func(s *tableSpec) { s.DatabaseName, s.DatabaseRef = "", &v1alpha1.ObjectReference{Name: "lake"} }), Cause: engine.New,
			Actions: []string{"glue:CreateTable"}},
		{Name: "names of columns with capitals are kept in lower case", Facts: inDatabase, Object: both(func(s *tableSpec) {
			s.PartitionKeys = &[]v1alpha1.GlueColumn{{Name: "Day", Type: "string"}}
			s.StorageDescriptor.Columns = []v1alpha1.GlueColumn{{Name: "callID", Type: "struct<Caller:string>", Comment: "Key"}}
		}), Cause: engine.New, Actions: []string{"glue:CreateTable"}},
		edited("the description is edited", "Description", func(s *tableSpec) { s.Description = str("new") }),
		edited("the description is cleared", "Description", func(s *tableSpec) { s.Description = str("") }),
		edited("the type is edited", "TableType", func(s *tableSpec) { s.TableType = str("GOVERNED") }),
		edited("the type is cleared", "TableType", func(s *tableSpec) { s.TableType = str("") }),
		edited("a partition key is added", "PartitionKeys", func(s *tableSpec) {
			s.PartitionKeys = &[]v1alpha1.GlueColumn{{Name: "day", Type: "string"}, {Name: "hour", Type: "string"}}
		}),
		edited("all partition keys are dropped", "PartitionKeys", func(s *tableSpec) { s.PartitionKeys = &[]v1alpha1.GlueColumn{} }),
		edited("a column is edited", "Storage.Columns", func(s *tableSpec) { s.StorageDescriptor.Columns[1].Type = "bigint" }),
		edited("a comment is dropped", "Storage.Columns", func(s *tableSpec) { s.StorageDescriptor.Columns[0].Comment = "" }),
		edited("all columns are dropped", "Storage.Columns", func(s *tableSpec) { s.StorageDescriptor.Columns = []v1alpha1.GlueColumn{} }),
		edited("the location is edited", "Storage.Location", func(s *tableSpec) { s.StorageDescriptor.Location = "s3://other/" }),
		edited("the input format is edited", "Storage.InputFormat", func(s *tableSpec) { s.StorageDescriptor.InputFormat = "in2" }),
		edited("the output format is edited", "Storage.OutputFormat", func(s *tableSpec) { s.StorageDescriptor.OutputFormat = "out2" }),
		edited("compression is switched on", "Storage.Compressed", func(s *tableSpec) { s.StorageDescriptor.Compressed = true }),
		edited("the serde's name is edited", "Storage.SerdeInfo.Name", func(s *tableSpec) { s.StorageDescriptor.SerdeInfo.Name = "s2" }),
		edited("the serde is edited", "Storage.SerdeInfo.SerializationLibrary",
			func(s *tableSpec) { s.StorageDescriptor.SerdeInfo.SerializationLibrary = "lib2" }),
		edited("a serde parameter is dropped", "Storage.SerdeInfo.Parameters[null]",
			func(s *tableSpec) { s.StorageDescriptor.SerdeInfo.Parameters = params("sep", ",") }),
		{Name: "all serde parameters are dropped", Facts: inDatabase, Existing: tableOf(fullTable),
			Object: both(func(s *tableSpec) { s.StorageDescriptor.SerdeInfo.Parameters = params() }),
			Cause:  engine.Edited, Diff: []string{"Storage.SerdeInfo.Parameters[null]", "Storage.SerdeInfo.Parameters[sep]"},
			Actions: []string{"glue:UpdateTable"}},
		edited("a parameter is dropped", "Parameters[b]", func(s *tableSpec) { s.Parameters = params("classification", "json") }),
		{Name: "false is a value", Facts: inDatabase, Existing: both(func(s *tableSpec) { s.StorageDescriptor.Compressed = true }),
			Object: tableOf(fullTable),
			Cause:  engine.Edited, Diff: []string{"Storage.Compressed"}, Actions: []string{"glue:UpdateTable"}},
		{Name: "a part that was never declared is added", Facts: inDatabase, Existing: tableOf(), Object: tableOf(fullTable),
			Cause:   engine.Edited,
			Diff:    []string{"Description", "TableType", "PartitionKeys", "Storage", "Parameters[b]", "Parameters[classification]"},
			Actions: []string{"glue:UpdateTable"}},
		{Name: "what is no longer declared is no longer managed", Facts: inDatabase, Existing: tableOf(fullTable),
			Object: tableOf(func(s *tableSpec) { s.Parameters = params("classification", "json", "b", "2") }), Cause: engine.InSync},
		{Name: "tags have nowhere to go on a table", Facts: inDatabase, Existing: tableOf(),
			Object: tableOf(func(s *tableSpec) { s.Tags = map[string]v1alpha1.TagValue{"team": "a"} }), Cause: engine.InSync},
		insync("parameters that others add stay", func(in *types.TableInput) { in.Parameters["CrawlerSchemaSerializerVersion"] = "1.0" }),
		insync("what others say of its storage stays", func(in *types.TableInput) { in.StorageDescriptor.NumberOfBuckets, in.Retention = 8, 7 }),
		drifted("drift is corrected in one call", func(in *types.TableInput) {
			in.Description, in.Parameters["classification"] = nil, "csv"
			in.StorageDescriptor = &types.StorageDescriptor{Columns: in.StorageDescriptor.Columns, Location: str("s3://elsewhere/"),
				SerdeInfo: in.StorageDescriptor.SerdeInfo}
		}, "Description", "Storage.Location", "Storage.InputFormat", "Storage.OutputFormat", "Parameters[classification]"),
		drifted("a serde parameter of another is drift",
			func(in *types.TableInput) { in.StorageDescriptor.SerdeInfo.Parameters["skip.header.line.count"] = "1" },
			"Storage.SerdeInfo.Parameters[skip.header.line.count]"),
		{Name: "an operator's key among the parameters is refused", Facts: inDatabase,
			Object: tableOf(func(s *tableSpec) { s.Parameters = params("nexus.ai/owner", "x") }), Stalled: status.ReasonInvalidSpec},
		{Name: "a vanished table is created again: it holds no data", Facts: inDatabase, Existing: tableOf(fullTable), Object: tableOf(fullTable),
			Drift:  true,
			Before: endTable, Cause: engine.New, Actions: []string{"glue:CreateTable"}},
		{Name: "deleting what is gone", Facts: inDatabase, Existing: tableOf(fullTable), Object: tableOf(fullTable), Deleting: true, Drift: true,
			Before: endTable, Cause: engine.Gone},
		{Name: "deleting", Facts: inDatabase, Existing: tableOf(fullTable), Object: tableOf(fullTable), Deleting: true, Drift: true,
			Cause: engine.Deleting, Actions: []string{"glue:DeleteTable"}},
		{Name: "deleting with Orphan takes our keys off and nothing else", Facts: inDatabase, Existing: orphan, Object: orphan, Deleting: true,
			Drift: true,
			Cause: engine.Deleting, Diff: ownerPaths, Actions: []string{"glue:UpdateTable"}},
		{Name: "left by an earlier object of this name, it is taken over", Object: tableOf(), Before: makeTable(old),
			Cause: engine.Edited, Diff: []string{"Tags[nexus.ai/owner-uid]"}, Actions: []string{"glue:UpdateTable"}},
		{Name: "unless adoption is refused", Object: tableOf(func(s *tableSpec) { s.AdoptionPolicy = v1alpha1.AdoptNever }),
			Before: makeTable(old), Stalled: status.ReasonConflict},
		{Name: "another cluster's is left alone", Object: tableOf(), Before: makeTable(with(old, wellknown.TagCluster, "another")),
			Stalled: status.ReasonConflict},
		{Name: "one without an owner is left alone", Object: tableOf(), Before: makeTable(nil), Stalled: status.ReasonConflict},
		{Name: "one without an owner is adopted where user and provider say so", Before: makeTable(map[string]string{"theirs": "x"}),
			Facts: func(s *kindtest.Subject) { s.AllowAdoption = true },
			Object: tableOf(func(s *tableSpec) {
				s.AdoptionPolicy, s.DeletionPolicy = v1alpha1.AdoptAlways, v1alpha1.DeletionRetain
			}), Cause: engine.Edited, Diff: ownerPaths, Actions: []string{"glue:UpdateTable"}},
	})
}

func TestTableSurvivesFaults(t *testing.T) { kindtest.Faults(t, engine.For(NewTable), tableLife()) }

func TestTableSurvivesLag(t *testing.T) { kindtest.Lag(t, engine.For(NewTable), tableLife()) }

func tableLife() kindtest.Life {
	return kindtest.Life{
		Sample: tableOf(fullTable), Parents: inLake,
		Invalid: []v1alpha1.Resource{tableOf(fullTable, func(s *tableSpec) { s.Parameters = params("nexus.ai/owner", "x") })},
		Foreign: func(t *testing.T, r *kindtest.Rig) {
			_, err := api(r).CreateTable(t.Context(),
				&glue.CreateTableInput{DatabaseName: str(lake), TableInput: &types.TableInput{Name: str(calls)}})
			kindtest.Must(t, err)
		},
		Exists: func(t *testing.T, r *kindtest.Rig) bool {
			_, err := api(r).GetTable(t.Context(), &glue.GetTableInput{DatabaseName: str(lake), Name: str(calls)})
			return found(t, err)
		},
		Edited: tableOf(fullTable, func(s *tableSpec) {
			s.Description, s.StorageDescriptor.Location, s.Parameters = str("new"), "s3://other/", params("b", "3")
		}),
	}
}

// A database object that is created again under another name must not make the table's object abandon its
// table and create another.
func TestTable_ReferenceMovedIsRefused(t *testing.T) {
	r := kindtest.NewRig(t)
	s := kindtest.NewSubject(r, engine.For(NewTable),
		tableOf(fullTable, func(s *tableSpec) { s.DatabaseName, s.DatabaseRef = "", &v1alpha1.ObjectReference{Name: "lake"} }))
	inLake(t, r)
	makeDatabase("other", nil)(t, r)
	s.Targets = map[string]kind.Target{"GlueDatabase/lake": {ID: lake}}
	settle(t, s)
	mark := r.AWS.Mark()
	s.Targets = map[string]kind.Target{"GlueDatabase/lake": {ID: "other"}}
	_, err := s.Settle(t.Context(), nil)
	if st, ok := status.AsStalled(err); !ok || st.Reason != status.ReasonIdentityChanged || !strings.Contains(st.Message, lake) {
		t.Fatalf("got %v, want IdentityChanged", err)
	}
	if c := r.AWS.Since(mark); c.Count() > 0 {
		t.Fatalf("AWS was called:\n%s", c)
	}
	// The deletion uses the recorded reference.
	s.Deleting = true
	settle(t, s)
	if _, err := api(r).GetTable(t.Context(), &glue.GetTableInput{DatabaseName: str(lake), Name: str(calls)}); found(t, err) {
		t.Error("the table was left behind")
	}
}

func TestTableCosts(t *testing.T) { costs(t, engine.For(NewTable), tableOf(fullTable), inLake, 1) }

// Glue answers one and the same code for a missing table and a missing database.
func TestATableWaitsForItsDatabase(t *testing.T) {
	r := kindtest.NewRig(t)
	s := kindtest.NewSubject(r, engine.For(NewTable), tableOf(fullTable))
	_, err := s.Pass(t.Context(), nil)
	waitsFor(t, err, lake)
	inLake(t, r)
	settle(t, s)
	if got := s.Object.(*v1alpha1.GlueTable).Status; got.DatabaseName != lake || got.ID != calls ||
		got.ARN != "arn:aws:glue:ap-southeast-1:123456789012:table/myapp_dev/calls" {
		t.Errorf("%+v", got)
	}
}

// A database that was deleted outside takes its tables with it. Its object creates it again, and the
// tables follow soon although no event announces the database.
func TestATableWhoseDatabaseVanishedLooksForItSoon(t *testing.T) {
	r := kindtest.NewRig(t)
	s := kindtest.NewSubject(r, engine.For(NewTable), tableOf(fullTable))
	inLake(t, r)
	settle(t, s)
	s.Clock = s.Clock.Add(time.Minute)
	endDatabase(t, r)
	for _, what := range []string{"a second look", lake} {
		_, err := s.Pass(t.Context(), nil)
		waitsFor(t, err, what)
		w, ok := status.AsWaiting(err)
		if !ok || w.After <= 0 || w.After > 15*time.Second {
			t.Fatalf("%+v, want a look within 15 seconds", w)
		}
		s.Clock = s.Clock.Add(w.After)
	}
	// A create that Glue refuses again and again says why each time, and is not followed by looks for a table that may exist.
	for range 40 {
		mark := r.AWS.Mark()
		_, err := s.Pass(t.Context(), nil)
		if err == nil || !strings.Contains(err.Error(), lake) || strings.Contains(err.Error(), "a second look") {
			t.Fatalf("%v", err)
		}
		if n := r.AWS.Since(mark).Count(); n > 2 {
			t.Fatalf("%d calls in a pass:\n%s", n, r.AWS.Since(mark))
		}
		s.Clock = s.Clock.Add(15 * time.Second)
	}
	inLake(t, r)
	settle(t, s)
}

// A table that went with its database is gone: its object must not wait forever.
func TestATableWithoutItsDatabaseIsGone(t *testing.T) {
	r := kindtest.NewRig(t)
	s := kindtest.NewSubject(r, engine.For(NewTable), tableOf(fullTable))
	inLake(t, r)
	settle(t, s)
	_, err := api(r).DeleteDatabase(t.Context(), &glue.DeleteDatabaseInput{Name: str(lake)})
	kindtest.Must(t, err)
	s.Deleting = true
	settle(t, s)
}

func TestWhatOthersSetOnATableStays(t *testing.T) {
	r := kindtest.NewRig(t)
	s := kindtest.NewSubject(r, engine.For(NewTable), tableOf(fullTable))
	inLake(t, r)
	settle(t, s)
	rewrite(func(in *types.TableInput) {
		in.Owner, in.Retention, in.ViewOriginalText = str("hive"), 9, str("select 1")
		in.Description = str("drift")
		in.Parameters["CrawlerSchemaSerializerVersion"] = "1.0"
		sd := in.StorageDescriptor
		sd.NumberOfBuckets, sd.BucketColumns, sd.Parameters = 4, []string{"id"}, map[string]string{"sizeKey": "1"}
		sd.Location = str("s3://drift/")
		sd.Columns[0].Parameters, sd.Columns[0].Comment = map[string]string{"stat": "1"}, str("drift")
	})(t, r)
	settle(t, s)
	got := ask(t, api(r).GetTable, &glue.GetTableInput{DatabaseName: str(lake), Name: str(calls)}).Table
	sd := got.StorageDescriptor
	for what, kept := range map[string]bool{
		"owner": aws.ToString(got.Owner) == "hive", "retention": got.Retention == 9, "view": aws.ToString(got.ViewOriginalText) == "select 1",
		"parameter": got.Parameters["CrawlerSchemaSerializerVersion"] == "1.0", "buckets": sd.NumberOfBuckets == 4 &&
			slices.Equal(sd.BucketColumns, []string{"id"}),
		"storage parameter": sd.Parameters["sizeKey"] == "1", "column parameter": sd.Columns[0].Parameters["stat"] == "1",
		"our description": aws.ToString(got.Description) == "calls", "our location": aws.ToString(sd.Location) == "s3://bucket/calls/",
		"our comment": aws.ToString(sd.Columns[0].Comment) == "key",
	} {
		if !kept {
			t.Errorf("%s: lost in %+v %+v", what, got, sd)
		}
	}
}

// An orphan keeps everything but the owner's keys, whatever the spec says by now.
func TestAnOrphanedTableKeepsItsSchema(t *testing.T) {
	r := kindtest.NewRig(t)
	s := kindtest.NewSubject(r, engine.For(NewTable), tableOf(fullTable, func(s *tableSpec) { s.DeletionPolicy = v1alpha1.DeletionOrphan }))
	inLake(t, r)
	settle(t, s)
	s.Deleting = true
	settle(t, s)
	got := ask(t, api(r).GetTable, &glue.GetTableInput{DatabaseName: str(lake), Name: str(calls)}).Table
	if !maps.Equal(got.Parameters, map[string]string{"classification": "json", "b": "2"}) || len(got.StorageDescriptor.Columns) != 2 ||
		aws.ToString(got.Description) != "calls" {
		t.Errorf("%+v", got)
	}
}

// Glue refuses a write that rests on an old version of the table; the next look starts from the new one.
func TestATableIsNotWrittenOverAnotherWrite(t *testing.T) {
	r := kindtest.NewRig(t)
	s := kindtest.NewSubject(r, engine.For(NewTable), tableOf(fullTable))
	inLake(t, r)
	settle(t, s)
	s.Edit(tableOf(fullTable, func(s *tableSpec) { s.Description = str("new") }))
	rule := r.AWS.Fault(emulator.Match{Service: "glue", Op: "UpdateTable", Times: 1},
		emulator.Fail(400, "ConcurrentModificationException", "Update table failed due to concurrent modifications."))
	settle(t, s)
	if rule.Hits() != 1 {
		t.Fatal("the fault did not strike")
	}
}

func TestTableUpdatesArchiveOnlySchemas(t *testing.T) {
	for _, c := range []struct {
		path string
		skip bool
	}{{"Description", true}, {"Tags[nexus.ai/owner-uid]", true}, {"Storage.Columns", false}, {"PartitionKeys", false}} {
		r := kindtest.NewRig(t)
		s := kindtest.NewSubject(r, engine.For(NewTable), tableOf(fullTable))
		inLake(t, r)
		settle(t, s)
		k := NewTable(r.Config)
		want, err := k.Desired(s.Scope(), s.Object.(*v1alpha1.GlueTable))
		kindtest.Must(t, err)
		seen, err := k.Observe(t.Context(), want, kind.Look{})
		kindtest.Must(t, err)
		mark := r.AWS.Mark()
		_, err = k.Converge(want, seen, kind.Diff{{Path: c.path}})[0].Do(t.Context(), "")
		kindtest.Must(t, err)
		in := sent[struct {
			SkipArchive bool
			VersionID   string `json:"VersionId"`
		}](t, r.AWS.Since(mark).Writes())
		if in.SkipArchive != c.skip || in.VersionID != "1" {
			t.Errorf("%s: %+v", c.path, in)
		}
	}
}

func TestTableSpecsThatCannotBe(t *testing.T) {
	k := NewTable(aws.Config{})
	_, err := k.Desired(scope(false), tableOf(func(s *tableSpec) { s.Parameters = params("nexus.ai/x", "") }))
	stalledAt(t, err, "spec.parameters")
	_, err = k.Desired(scope(false),
		tableOf(func(s *tableSpec) { s.DatabaseName, s.DatabaseRef = "", &v1alpha1.ObjectReference{Name: "late"} }))
	waitsFor(t, err, "GlueDatabase/late")
}

func TestTable_ListsOfOthers(t *testing.T) {
	edited := tableOf(func(s *tableSpec) {
		fullTable(s)
		s.Parameters = params("classification", "csv", "c", "3")
	})
	table := func(t *testing.T, r *kindtest.Rig) types.TableInput {
		t.Helper()
		return tableInput(ask(t, api(r).GetTable, &glue.GetTableInput{DatabaseName: str(lake), Name: str(calls)}).Table)
	}
	list := func(field string, exact bool, change func(in *types.TableInput), has func(in types.TableInput) bool) kindtest.List {
		return kindtest.List{Field: field, Object: tableOf(fullTable), Edited: edited, Facts: inDatabase, Add: rewrite(change), Untagged: true,
			Exact: exact,
			Has:   func(t *testing.T, r *kindtest.Rig) bool { t.Helper(); return has(table(t, r)) }}
	}
	theirs := types.Column{Name: str("theirs"), Type: str("string")}
	kindtest.Lists(t, engine.For(NewTable),
		list("parameters", false, func(in *types.TableInput) { in.Parameters["theirs"] = "1" },
			func(in types.TableInput) bool { return in.Parameters["theirs"] == "1" }),
		list("partitionKeys", true, func(in *types.TableInput) { in.PartitionKeys = append(in.PartitionKeys, theirs) },
			func(in types.TableInput) bool { return len(in.PartitionKeys) > 1 }),
		list("storageDescriptor.columns", true, func(in *types.TableInput) {
			in.StorageDescriptor.Columns = append(in.StorageDescriptor.Columns, theirs)
		},
			func(in types.TableInput) bool { return len(in.StorageDescriptor.Columns) > 2 }),
		list("storageDescriptor.serdeInfo.parameters", true,
			func(in *types.TableInput) { in.StorageDescriptor.SerdeInfo.Parameters["theirs"] = "1" },
			func(in types.TableInput) bool { return in.StorageDescriptor.SerdeInfo.Parameters["theirs"] == "1" }))
}

// Athena does not query a table without the list of partition keys, which the SDK leaves out where it is nil.
func TestATableIsCreatedWithTheListOfItsPartitionKeys(t *testing.T) {
	r := kindtest.NewRig(t)
	inLake(t, r)
	s := kindtest.NewSubject(r, engine.For(NewTable), tableOf())
	settle(t, s)
	created := r.AWS.Calls().Match("glue", "CreateTable", "")
	if len(created) != 1 {
		t.Fatalf("%s", created)
	}
	if in := sent[struct {
		TableInput struct{ PartitionKeys *[]any }
	}](t, created); in.TableInput.PartitionKeys == nil {
		t.Error("no list of partition keys was sent")
	}
}
