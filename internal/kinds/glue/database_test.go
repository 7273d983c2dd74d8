// SPDX-License-Identifier: Apache-2.0

package glue

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/glue"
	"github.com/aws/aws-sdk-go-v2/service/glue/types"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/api/wellknown"
	"github.com/nexus-operator/nexus-operator/internal/engine"
	"github.com/nexus-operator/nexus-operator/internal/kind"
	"github.com/nexus-operator/nexus-operator/internal/kindtest"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

const lake = "myapp_dev"

func databaseOf(change func(s *v1alpha1.GlueDatabaseSpec)) *v1alpha1.GlueDatabase {
	d := &v1alpha1.GlueDatabase{}
	d.Name = "lake"
	d.Spec.DatabaseName = lake
	if change != nil {
		change(&d.Spec)
	}
	return d
}

func fullDatabase(s *v1alpha1.GlueDatabaseSpec) {
	s.Description, s.LocationURI = str("call data"), str("s3://bucket/lake/")
	s.Parameters = params("a", "1", "b", "2")
}

// outside is the database as others wrote it.
func outside(in types.DatabaseInput) func(*testing.T, *kindtest.Rig) {
	in.Name = str(lake)
	return edit(func(c *glue.Client) func(context.Context, *glue.UpdateDatabaseInput, ...func(*glue.Options)) (*glue.UpdateDatabaseOutput,
		error) {
		return c.UpdateDatabase
	}, glue.UpdateDatabaseInput{Name: str(lake), DatabaseInput: &in})
}

func endDatabase(t *testing.T, r *kindtest.Rig) {
	t.Helper()
	_, err := api(r).DeleteDatabase(t.Context(), &glue.DeleteDatabaseInput{Name: str(lake)})
	kindtest.Must(t, err)
}

// tableIn creates a table with the parameters.
func tableIn(database, name string, parameters map[string]string) func(*testing.T, *kindtest.Rig) {
	return edit(func(c *glue.Client) func(context.Context, *glue.CreateTableInput, ...func(*glue.Options)) (*glue.CreateTableOutput, error) {
		return c.CreateTable
	}, glue.CreateTableInput{DatabaseName: &database, TableInput: &types.TableInput{Name: &name, Parameters: parameters}})
}

func TestDatabase(t *testing.T) {
	both := func(change func(s *v1alpha1.GlueDatabaseSpec)) *v1alpha1.GlueDatabase {
		return databaseOf(func(s *v1alpha1.GlueDatabaseSpec) { fullDatabase(s); change(s) })
	}
	orphan := databaseOf(func(s *v1alpha1.GlueDatabaseSpec) { s.DeletionPolicy = v1alpha1.DeletionOrphan })
	update := []string{"glue:UpdateDatabase"}
	kindtest.Run(t, engine.For(NewDatabase), []kindtest.Case{
		{Name: "absent is created", Object: databaseOf(fullDatabase), Cause: engine.New, Actions: []string{"glue:CreateDatabase"}},
		{Name: "what is not declared is not managed", Existing: databaseOf(nil), Object: databaseOf(nil), Drift: true,
			Before: outside(types.DatabaseInput{Description: str("x"), Parameters: map[string]string{"k": "v"}}), Cause: engine.InSync},
		{Name: "the description is edited", Existing: databaseOf(fullDatabase),
			Object: both(func(s *v1alpha1.GlueDatabaseSpec) { s.Description = str("new") }),
			Cause:  engine.Edited, Diff: []string{"Description"}, Actions: update},
		{Name: "the description is cleared", Existing: databaseOf(fullDatabase),
			Object: both(func(s *v1alpha1.GlueDatabaseSpec) { s.Description = str("") }),
			Cause:  engine.Edited, Diff: []string{"Description"}, Actions: update},
		{Name: "the location is edited", Existing: databaseOf(fullDatabase),
			Object: both(func(s *v1alpha1.GlueDatabaseSpec) { s.LocationURI = str("s3://other/") }),
			Cause:  engine.Edited, Diff: []string{"LocationURI"}, Actions: update},
		{Name: "the location is cleared", Existing: databaseOf(fullDatabase),
			Object: both(func(s *v1alpha1.GlueDatabaseSpec) { s.LocationURI = str("") }),
			Cause:  engine.Edited, Diff: []string{"LocationURI"}, Actions: update},
		{Name: "a parameter is edited, added and dropped", Existing: databaseOf(fullDatabase),
			Object: both(func(s *v1alpha1.GlueDatabaseSpec) { s.Parameters = params("a", "9", "c", "3") }),
			Cause:  engine.Edited, Diff: []string{"Parameters[a]", "Parameters[b]", "Parameters[c]"}, Actions: update},
		{Name: "all parameters are dropped", Existing: databaseOf(fullDatabase),
			Object: both(func(s *v1alpha1.GlueDatabaseSpec) { s.Parameters = params() }),
			Cause:  engine.Edited, Diff: []string{"Parameters[a]", "Parameters[b]"}, Actions: update},
		{Name: "drift is corrected in one call", Existing: databaseOf(fullDatabase), Object: databaseOf(fullDatabase), Drift: true,
			Before: outside(types.DatabaseInput{Parameters: map[string]string{"a": "1", "crawler": "x"}}),
			Cause:  engine.Drifted, Diff: []string{"Description", "LocationURI", "Parameters[b]"}, Actions: update},
		{Name: "tags are added, changed and dropped by a call each, and others' stay",
			Before:   tag("database/"+lake, map[string]string{"theirs": "1"}),
			Existing: databaseOf(func(s *v1alpha1.GlueDatabaseSpec) { s.Tags = map[string]v1alpha1.TagValue{"old": "1", "team": "a"} }),
			Object:   databaseOf(func(s *v1alpha1.GlueDatabaseSpec) { s.Tags = map[string]v1alpha1.TagValue{"team": "b", "new": ""} }),
			Cause:    engine.Edited, Diff: []string{"Tags[new]", "Tags[team]", "Tags[old]"},
			Actions: []string{"glue:TagResource", "glue:UntagResource"}},
		{Name: "a tag that was changed outside is set again",
			Existing: databaseOf(func(s *v1alpha1.GlueDatabaseSpec) { s.Tags = map[string]v1alpha1.TagValue{"team": "a"} }),
			Object:   databaseOf(func(s *v1alpha1.GlueDatabaseSpec) { s.Tags = map[string]v1alpha1.TagValue{"team": "a"} }), Drift: true,
			Before: tag("database/"+lake, map[string]string{"team": "x"}), Cause: engine.Drifted, Diff: []string{"Tags[team]"},
			Actions: []string{"glue:TagResource"}},
		{Name: "an operator's key among the parameters is refused",
			Object:  databaseOf(func(s *v1alpha1.GlueDatabaseSpec) { s.Parameters = params("nexus.ai/owner", "x") }),
			Stalled: status.ReasonInvalidSpec},
		{Name: "a vanished database is created again: it holds no data", Existing: databaseOf(fullDatabase), Object: databaseOf(fullDatabase),
			Drift:  true,
			Before: endDatabase, Cause: engine.New, Actions: []string{"glue:CreateDatabase"}},
		{Name: "deleting what is gone", Existing: databaseOf(fullDatabase), Object: databaseOf(fullDatabase), Deleting: true, Drift: true,
			Before: endDatabase, Cause: engine.Gone},
		{Name: "deleting", Existing: databaseOf(fullDatabase), Object: databaseOf(fullDatabase), Deleting: true, Drift: true,
			Cause: engine.Deleting, Actions: []string{"glue:DeleteDatabase"}},
		{Name: "deleting waits while a table without an owner is inside", Existing: databaseOf(nil), Object: databaseOf(nil), Deleting: true,
			Drift:  true,
			Before: tableIn(lake, "theirs", nil), Waiting: status.ReasonDatabaseNotEmpty},
		{Name: "deleting waits while a table of a GlueTable object is inside", Existing: databaseOf(nil), Object: databaseOf(nil), Deleting: true,
			Drift:  true,
			Before: tableIn(lake, calls, leftBehind("GlueTable", calls)), Waiting: status.ReasonDatabaseNotEmpty},
		{Name: "deleting with Orphan takes our tags off and nothing else", Existing: orphan, Object: orphan, Deleting: true, Drift: true,
			Before: tableIn(lake, "theirs", nil), Cause: engine.Deleting, Diff: ownerPaths, Actions: []string{"glue:UntagResource"}},
		{Name: "left by an earlier object of this name, it is taken over", Object: databaseOf(nil),
			Before: makeDatabase(lake, leftBehind("GlueDatabase", "lake")),
			Cause:  engine.Edited, Diff: []string{"Tags[nexus.ai/owner-uid]"}, Actions: []string{"glue:TagResource"}},
		{Name: "unless adoption is refused", Object: databaseOf(func(s *v1alpha1.GlueDatabaseSpec) { s.AdoptionPolicy = v1alpha1.AdoptNever }),
			Before: makeDatabase(lake, leftBehind("GlueDatabase", "lake")), Stalled: status.ReasonConflict},
		{Name: "another cluster's is left alone", Object: databaseOf(nil),
			Before:  makeDatabase(lake, with(leftBehind("GlueDatabase", "lake"), wellknown.TagCluster, "another")),
			Stalled: status.ReasonConflict},
		{Name: "one without an owner is left alone", Object: databaseOf(nil), Before: makeDatabase(lake, nil), Stalled: status.ReasonConflict},
		{Name: "one without an owner is adopted where user and provider say so", Before: makeDatabase(lake, nil),
			Facts: func(s *kindtest.Subject) { s.AllowAdoption = true },
			Object: databaseOf(func(s *v1alpha1.GlueDatabaseSpec) {
				s.AdoptionPolicy, s.DeletionPolicy = v1alpha1.AdoptAlways, v1alpha1.DeletionRetain
			}), Cause: engine.Edited, Diff: ownerPaths, Actions: []string{"glue:TagResource"}},
	})
}

func TestDatabaseSurvivesFaults(t *testing.T) {
	kindtest.Faults(t, engine.For(NewDatabase), databaseLife())
}

func TestDatabaseSurvivesLag(t *testing.T) { kindtest.Lag(t, engine.For(NewDatabase), databaseLife()) }

func databaseLife() kindtest.Life {
	return kindtest.Life{
		Sample:  databaseOf(fullDatabase),
		Invalid: []v1alpha1.Resource{databaseOf(func(s *v1alpha1.GlueDatabaseSpec) { s.Parameters = params("nexus.ai/owner", "x") })},
		Foreign: makeDatabase(lake, map[string]string{"owner": "somebody"}),
		Exists: func(t *testing.T, r *kindtest.Rig) bool {
			_, err := api(r).GetDatabase(t.Context(), &glue.GetDatabaseInput{Name: str(lake)})
			return found(t, err)
		},
		Edited: databaseOf(func(s *v1alpha1.GlueDatabaseSpec) {
			s.Description, s.Parameters, s.Tags = str("new"), params("a", "9", "c", "3"), map[string]v1alpha1.TagValue{"team": "a"}
		}),
	}
}

func TestDatabaseCosts(t *testing.T) {
	costs(t, engine.For(NewDatabase), databaseOf(fullDatabase), nil, 2)
}

// Lake Formation's permissions and others' parameters outlive an UpdateDatabase, which replaces all.
func TestWhatOthersSetOnADatabaseStays(t *testing.T) {
	r := kindtest.NewRig(t)
	s := kindtest.NewSubject(r, engine.For(NewDatabase), databaseOf(fullDatabase))
	settle(t, s)
	permissions := []types.PrincipalPermissions{{Permissions: []types.Permission{types.PermissionSelect},
		Principal: &types.DataLakePrincipal{DataLakePrincipalIdentifier: str("x")}}}
	outside(types.DatabaseInput{Description: str("drift"), LocationUri: str("s3://bucket/lake/"),
		Parameters:                    map[string]string{"a": "1", "b": "2", "theirs": "x"},
		CreateTableDefaultPermissions: permissions})(t, r)
	settle(t, s)
	db := ask(t, api(r).GetDatabase, &glue.GetDatabaseInput{Name: str(lake)}).Database
	if aws.ToString(db.Description) != "call data" || db.Parameters["theirs"] != "x" || len(db.CreateTableDefaultPermissions) != 1 ||
		aws.ToString(db.CreateTableDefaultPermissions[0].Principal.DataLakePrincipalIdentifier) != "x" {
		t.Errorf("%+v", db)
	}
}

func TestADatabasePublishesWhereItIs(t *testing.T) {
	d := databaseOf(fullDatabase)
	k := NewDatabase(aws.Config{})
	s, err := k.Desired(scope(false), d)
	kindtest.Must(t, err)
	d.Status.ManagedParameters = []string{"b", "gone", "was"}
	s.Parameters["was"] = str("still there")
	k.Publish(d, s)
	if d.Status.ARN != "arn:aws-cn:glue:cn-north-1:1:database/myapp_dev" || d.Status.ID != lake {
		t.Error(d.Status)
	}
	if got := d.Status.ManagedParameters; len(got) != 3 || got[0] != "a" || got[1] != "b" || got[2] != "was" {
		t.Error(got)
	}
}

// DeleteDatabase deletes every table inside.
func TestDatabase_DeletionKeepsTables(t *testing.T) {
	r := kindtest.NewRig(t)
	s := kindtest.NewSubject(r, engine.For(NewDatabase), databaseOf(nil))
	settle(t, s)
	for _, name := range []string{"d", "b", "c", "a"} {
		tableIn(lake, name, nil)(t, r)
	}
	tableIn(lake, calls, leftBehind("GlueTable", calls))(t, r)
	s.Deleting = true
	mark := r.AWS.Mark()
	_, err := s.Pass(t.Context(), nil)
	w, ok := status.AsWaiting(err)
	if !ok || w.Reason != status.ReasonDatabaseNotEmpty || !strings.Contains(w.For, "contains 5, of which 1 were made") ||
		!strings.Contains(w.For, "a, b, c, ...") || w.After < 30*time.Second {
		t.Fatalf("%+v", err)
	}
	if w := r.AWS.Since(mark).Writes(); w.Count() > 0 {
		t.Fatalf("written to:\n%s", w)
	}
	for _, name := range []string{"a", "b", "c", "d"} {
		_, err := api(r).DeleteTable(t.Context(), &glue.DeleteTableInput{DatabaseName: str(lake), Name: &name})
		kindtest.Must(t, err)
	}
	// The deletion of the last table's object is under way, and the database follows soon.
	_, err = s.Pass(t.Context(), nil)
	if w, ok := status.AsWaiting(err); !ok || w.Reason != status.ReasonDatabaseNotEmpty || w.After > 5*time.Second {
		t.Fatalf("%+v", err)
	}
	endTable(t, r)
	settle(t, s)
	_, err = api(r).GetDatabase(t.Context(), &glue.GetDatabaseInput{Name: str(lake)})
	if found(t, err) {
		t.Error("the database was left behind")
	}
}

func TestDatabase_DeletionCountsTablesBounded(t *testing.T) {
	table := types.Table{Name: str("t")}
	h := tablesHold(DatabaseState{Name: lake, Cluster: "c"}, slices.Repeat([]types.Table{table}, tablesRead))
	if !strings.Contains(h.Message, "at least 100") || !strings.Contains(h.Message, "deletionPolicy: Retain") || h.After != 0 {
		t.Errorf("%+v", h)
	}
}

// A link to a database elsewhere lists the tables of that database, which stay when the link is deleted.
func TestDatabase_DeletionOfALinkIsNotHeld(t *testing.T) {
	d := &database{}
	seen := kind.Seen[DatabaseState]{State: DatabaseState{Input: types.DatabaseInput{TargetDatabase: &types.DatabaseIdentifier{}}}}
	if err := d.holds(t.Context(), DatabaseState{Name: lake}, &seen); err != nil || len(seen.Holds) > 0 {
		t.Errorf("%v %v", err, seen.Holds)
	}
}
