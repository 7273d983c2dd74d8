// SPDX-License-Identifier: Apache-2.0

package glue

import (
	"testing"

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

// moto has no UpdateCrawler: the proxy makes it of a delete and a create, with the members that the request names in place of the old ones,
// as Glue does.

const crawl = "myapp-dev-crawl"

type crawlerSpec = v1alpha1.GlueCrawlerSpec

func crawlerOf(changes ...func(s *crawlerSpec)) *v1alpha1.GlueCrawler {
	o := &v1alpha1.GlueCrawler{}
	o.Name = "crawl"
	o.Spec.CrawlerName, o.Spec.Role, o.Spec.DatabaseName = crawl, "glue-role", lake
	o.Spec.S3Targets = []v1alpha1.GlueS3Target{{Path: "s3://bucket/calls/"}}
	for _, change := range changes {
		change(&o.Spec)
	}
	return o
}

func fullCrawler(s *crawlerSpec) {
	s.Role = "arn:aws:iam::123456789012:role/nexus/glue-role"
	s.S3Targets = []v1alpha1.GlueS3Target{{Path: "s3://bucket/calls/", Exclusions: []string{"tmp/**"}}, {Path: "s3://bucket/agents/"}}
	s.Schedule, s.TablePrefix, s.Description = str("cron(15 12 * * ? *)"), str("raw_"), str("crawls")
	s.SchemaChangePolicy = &v1alpha1.GlueSchemaChangePolicy{UpdateBehavior: "UPDATE_IN_DATABASE", DeleteBehavior: "DEPRECATE_IN_DATABASE"}
}

func makeCrawler(tags map[string]string) func(*testing.T, *kindtest.Rig) {
	return func(t *testing.T, r *kindtest.Rig) {
		t.Helper()
		_, err := api(r).CreateCrawler(t.Context(),
			&glue.CreateCrawlerInput{Name: str(crawl), Role: str("glue-role"), DatabaseName: str(lake), Tags: tags,
				Targets:            &types.CrawlerTargets{S3Targets: []types.S3Target{{Path: str("s3://bucket/calls/")}}},
				SchemaChangePolicy: &types.SchemaChangePolicy{UpdateBehavior: types.UpdateBehaviorLog, DeleteBehavior: types.DeleteBehaviorLog}})
		kindtest.Must(t, err)
	}
}

func turn(in glue.UpdateCrawlerInput) func(*testing.T, *kindtest.Rig) {
	return func(t *testing.T, r *kindtest.Rig) {
		t.Helper()
		in.Name = str(crawl)
		_, err := api(r).UpdateCrawler(t.Context(), &in)
		kindtest.Must(t, err)
	}
}

func start(t *testing.T, r *kindtest.Rig) {
	t.Helper()
	_, err := api(r).StartCrawler(t.Context(), &glue.StartCrawlerInput{Name: str(crawl)})
	kindtest.Must(t, err)
}

func endCrawler(t *testing.T, r *kindtest.Rig) {
	t.Helper()
	_, err := api(r).DeleteCrawler(t.Context(), &glue.DeleteCrawlerInput{Name: str(crawl)})
	kindtest.Must(t, err)
}

func TestCrawler(t *testing.T) {
	update := []string{"glue:UpdateCrawler"}
	edited := func(name, path string, change func(s *crawlerSpec)) kindtest.Case {
		return kindtest.Case{Name: name, Existing: crawlerOf(fullCrawler), Object: crawlerOf(fullCrawler, change), Cause: engine.Edited,
			Diff: []string{path}, Actions: update}
	}
	drifted := func(name, path string, in glue.UpdateCrawlerInput) kindtest.Case {
		return kindtest.Case{Name: name, Existing: crawlerOf(fullCrawler), Object: crawlerOf(fullCrawler), Drift: true, Before: turn(in),
			Cause: engine.Drifted, Diff: []string{path}, Actions: update}
	}
	tagged := func(tags map[string]v1alpha1.TagValue) *v1alpha1.GlueCrawler {
		return crawlerOf(func(s *crawlerSpec) { s.Tags = tags })
	}
	orphan := crawlerOf(func(s *crawlerSpec) { s.DeletionPolicy = v1alpha1.DeletionOrphan })
	old := leftBehind("GlueCrawler", "crawl")
	running := func(t *testing.T, r *kindtest.Rig) { start(t, r) }
	stopping := func(t *testing.T, r *kindtest.Rig) {
		start(t, r)
		_, err := api(r).StopCrawler(t.Context(), &glue.StopCrawlerInput{Name: str(crawl)})
		kindtest.Must(t, err)
	}
	kindtest.Run(t, engine.For(NewCrawler), []kindtest.Case{
		{Name: "absent is created", Object: crawlerOf(fullCrawler), Cause: engine.New, Actions: []string{"glue:CreateCrawler"}},
		{Name: "an on-demand crawler is created", Object: crawlerOf(func(s *crawlerSpec) { s.Schedule = str("") }), Cause: engine.New,
			Actions: []string{"glue:CreateCrawler"}},
		{Name: "role and database may be other objects'", Object: crawlerOf(func(s *crawlerSpec) {
			s.Role, s.RoleRef, s.DatabaseName, s.DatabaseRef = "", &v1alpha1.ObjectReference{Name: "r"}, "", &v1alpha1.ObjectReference{Name: "lake"}
		}), Facts: func(s *kindtest.Subject) {
			s.Targets = map[string]kind.Target{"IAMRole/r": {ID: "r", ARN: "arn:aws:iam::123456789012:role/r"}, "GlueDatabase/lake": {ID: lake}}
		}, Cause: engine.New, Actions: []string{"glue:CreateCrawler"}},
		{Name: "a role's name is as good as its ARN", Existing: crawlerOf(),
			Object: crawlerOf(func(s *crawlerSpec) { s.Role = "arn:aws:iam::123456789012:role/any/path/glue-role" }), Cause: engine.InSync},
		edited("the role is edited", "Role", func(s *crawlerSpec) { s.Role = "arn:aws:iam::123456789012:role/other" }),
		edited("the database is edited", "Database", func(s *crawlerSpec) { s.DatabaseName = "other" }),
		edited("a target is dropped", "S3Targets", func(s *crawlerSpec) { s.S3Targets = s.S3Targets[:1] }),
		edited("an exclusion is dropped", "S3Targets", func(s *crawlerSpec) { s.S3Targets[0].Exclusions = nil }),
		edited("the schedule is edited", "Schedule", func(s *crawlerSpec) { s.Schedule = str("cron(0 1 * * ? *)") }),
		edited("the schedule is cleared", "Schedule", func(s *crawlerSpec) { s.Schedule = str("") }),
		edited("the prefix is edited", "TablePrefix", func(s *crawlerSpec) { s.TablePrefix = str("x_") }),
		edited("the prefix is cleared", "TablePrefix", func(s *crawlerSpec) { s.TablePrefix = str("") }),
		edited("the description is edited", "Description", func(s *crawlerSpec) { s.Description = str("new") }),
		edited("the description is cleared", "Description", func(s *crawlerSpec) { s.Description = str("") }),
		edited("the update behavior is edited", "SchemaChangePolicy.UpdateBehavior",
			func(s *crawlerSpec) { s.SchemaChangePolicy.UpdateBehavior = "LOG" }),
		edited("the delete behavior falls back to LOG", "SchemaChangePolicy.DeleteBehavior",
			func(s *crawlerSpec) { s.SchemaChangePolicy.DeleteBehavior = "" }),
		{Name: "both behaviors fall back to LOG", Existing: crawlerOf(fullCrawler),
			Object: crawlerOf(fullCrawler, func(s *crawlerSpec) { s.SchemaChangePolicy = nil }),
			Cause:  engine.Edited, Diff: []string{"SchemaChangePolicy.UpdateBehavior", "SchemaChangePolicy.DeleteBehavior"}, Actions: update},
		{Name: "the order of targets means nothing", Existing: crawlerOf(fullCrawler),
			Object: crawlerOf(fullCrawler, func(s *crawlerSpec) { s.S3Targets[0], s.S3Targets[1] = s.S3Targets[1], s.S3Targets[0] }),
			Cause:  engine.InSync},
		{Name: "what is not declared is not managed", Existing: crawlerOf(), Object: crawlerOf(), Drift: true,
			Before: turn(glue.UpdateCrawlerInput{Schedule: str("cron(1 1 * * ? *)"), Description: str("x"), TablePrefix: str("y")}),
			Cause:  engine.InSync},
		drifted("a schedule changed outside is set again", "Schedule", glue.UpdateCrawlerInput{Schedule: str("cron(1 1 * * ? *)")}),
		drifted("a role changed outside is set again", "Role", glue.UpdateCrawlerInput{Role: str("other")}),
		drifted("targets changed outside are set again", "S3Targets",
			glue.UpdateCrawlerInput{Targets: &types.CrawlerTargets{S3Targets: []types.S3Target{{Path: str("s3://x/")}}}}),
		{Name: "tags are added, changed and dropped, and others' stay", Existing: tagged(map[string]v1alpha1.TagValue{"old": "1", "team": "a"}),
			Before: tag("crawler/"+crawl, map[string]string{"theirs": "1"}),
			Object: tagged(map[string]v1alpha1.TagValue{"team": "b"}), Cause: engine.Edited, Diff: []string{"Tags[team]", "Tags[old]"},
			Actions: []string{"glue:TagResource", "glue:UntagResource"}},
		{Name: "a running crawler in sync is in sync", Existing: crawlerOf(), Object: crawlerOf(), Drift: true, Before: running,
			Cause: engine.InSync},
		{Name: "a vanished crawler is created again: it holds no data", Existing: crawlerOf(fullCrawler), Object: crawlerOf(fullCrawler),
			Drift:  true,
			Before: endCrawler, Cause: engine.New, Actions: []string{"glue:CreateCrawler"}},
		{Name: "deleting what is gone", Existing: crawlerOf(fullCrawler), Object: crawlerOf(fullCrawler), Deleting: true, Drift: true,
			Before: endCrawler, Cause: engine.Gone},
		{Name: "deleting", Existing: crawlerOf(fullCrawler), Object: crawlerOf(fullCrawler), Deleting: true, Drift: true, Cause: engine.Deleting,
			Actions: []string{"glue:DeleteCrawler"}},
		// moto ends no crawl automatically.
		{Name: "deleting a running crawler stops it first", Existing: crawlerOf(), Object: crawlerOf(), Deleting: true, Drift: true,
			Before: running, PlanOnly: true,
			Cause: engine.Deleting, Actions: []string{"glue:StopCrawler"}},
		{Name: "a running crawler is stopped before it is deleted", Existing: crawlerOf(), Object: crawlerOf(), Deleting: true, Drift: true,
			Before: running,
			OnRun:  true, Waiting: status.ReasonBusy},
		{Name: "deleting a stopping crawler waits", Existing: crawlerOf(), Object: crawlerOf(), Deleting: true, Drift: true, Before: stopping,
			PlanOnly: true, Cause: engine.Busy},
		{Name: "deleting with Orphan takes our tags off and nothing else", Existing: orphan, Object: orphan, Deleting: true, Drift: true,
			Cause: engine.Deleting, Diff: ownerPaths, Actions: []string{"glue:UntagResource"}},
		{Name: "left by an earlier object of this name, it is taken over", Object: crawlerOf(), Before: makeCrawler(old),
			Cause: engine.Edited, Diff: []string{"Tags[nexus.ai/owner-uid]"}, Actions: []string{"glue:TagResource"}},
		{Name: "unless adoption is refused", Object: crawlerOf(func(s *crawlerSpec) { s.AdoptionPolicy = v1alpha1.AdoptNever }),
			Before: makeCrawler(old), Stalled: status.ReasonConflict},
		{Name: "another cluster's is left alone", Object: crawlerOf(), Before: makeCrawler(with(old, wellknown.TagCluster, "another")),
			Stalled: status.ReasonConflict},
		{Name: "one without an owner is left alone", Object: crawlerOf(), Before: makeCrawler(map[string]string{"k": "v"}),
			Stalled: status.ReasonConflict},
		{Name: "one without an owner is adopted where user and provider say so", Before: makeCrawler(map[string]string{"k": "v"}),
			Facts: func(s *kindtest.Subject) { s.AllowAdoption = true },
			Object: crawlerOf(func(s *crawlerSpec) {
				s.AdoptionPolicy, s.DeletionPolicy = v1alpha1.AdoptAlways, v1alpha1.DeletionRetain
			}), Cause: engine.Edited, Diff: ownerPaths, Actions: []string{"glue:TagResource"}},
	})
}

func TestCrawlerSurvivesFaults(t *testing.T) {
	kindtest.Faults(t, engine.For(NewCrawler), crawlerLife())
}

func TestCrawlerSurvivesLag(t *testing.T) { kindtest.Lag(t, engine.For(NewCrawler), crawlerLife()) }

func crawlerLife() kindtest.Life {
	return kindtest.Life{
		Sample: crawlerOf(fullCrawler), Invalid: []v1alpha1.Resource{
			crawlerOf(func(s *crawlerSpec) { s.Role, s.RoleRef = "", &v1alpha1.ObjectReference{Name: "missing"} }),
			crawlerOf(func(s *crawlerSpec) { s.DatabaseName, s.DatabaseRef = "", &v1alpha1.ObjectReference{Name: "missing"} }),
		}, Foreign: makeCrawler(map[string]string{"owner": "somebody"}),
		Exists: func(t *testing.T, r *kindtest.Rig) bool {
			_, err := api(r).GetCrawler(t.Context(), &glue.GetCrawlerInput{Name: str(crawl)})
			return found(t, err)
		},
		Edited: crawlerOf(fullCrawler, func(s *crawlerSpec) {
			s.Description, s.Schedule, s.Tags = str("new"), str(""), map[string]v1alpha1.TagValue{"team": "a"}
		}),
	}
}

func TestCrawlerCosts(t *testing.T) { costs(t, engine.For(NewCrawler), crawlerOf(fullCrawler), nil, 2) }

// An IAM role takes seconds to be seen by Glue, which tries it at once.
func TestARoleThatIsNotAssumableYetIsWaitedFor(t *testing.T) {
	r := kindtest.NewRig(t)
	s := kindtest.NewSubject(r, engine.For(NewCrawler), crawlerOf())
	r.AWS.Fault(emulator.Match{Service: "glue", Op: "CreateCrawler", Times: 2}, emulator.Fail(400, "InvalidInputException",
		"Service is unable to assume provided role. Please verify role's TrustPolicy (Service: AWSGlueJobExecutor)"))
	_, err := s.Pass(t.Context(), nil)
	waitsFor(t, err, "recent changes to reach every AWS service")
	settle(t, s)
}

// Glue changes no crawler while it runs; the change waits for the crawl to end.
func TestAChangeWaitsForTheCrawlToEnd(t *testing.T) {
	r := kindtest.NewRig(t)
	s := kindtest.NewSubject(r, engine.For(NewCrawler), crawlerOf())
	settle(t, s)
	s.Edit(crawlerOf(func(s *crawlerSpec) { s.Description = str("new") }))
	r.AWS.Fault(emulator.Match{Service: "glue", Op: "UpdateCrawler", Times: 1},
		emulator.Fail(400, "CrawlerRunningException", "Crawler with name x is running"))
	_, err := s.Pass(t.Context(), nil)
	if w, ok := status.AsWaiting(err); !ok || w.Reason != status.ReasonBusy {
		t.Fatal(err)
	}
	settle(t, s)
	if got := s.Object.(*v1alpha1.GlueCrawler).Status; got.State != "READY" || got.ID != crawl ||
		got.ARN != "arn:aws:glue:ap-southeast-1:123456789012:crawler/"+crawl {
		t.Errorf("%+v", got)
	}
}

func TestACrawlerUpdateNamesOnlyWhatDiffers(t *testing.T) {
	r := kindtest.NewRig(t)
	s := kindtest.NewSubject(r, engine.For(NewCrawler), crawlerOf(fullCrawler))
	settle(t, s)
	s.Edit(crawlerOf(fullCrawler, func(s *crawlerSpec) { s.Schedule = str("") }))
	mark := r.AWS.Mark()
	settle(t, s)
	in := sent[map[string]any](t, r.AWS.Since(mark).Writes())
	if schedule, ok := in["Schedule"]; !ok || schedule != "" || len(in) != 2 {
		t.Errorf("sent %v", in)
	}
}

// UpdateCrawler replaces Targets as a whole.
func TestTargetsOfOtherSortsStay(t *testing.T) {
	r := kindtest.NewRig(t)
	s := kindtest.NewSubject(r, engine.For(NewCrawler), crawlerOf(fullCrawler))
	settle(t, s)
	turn(glue.UpdateCrawlerInput{Targets: &types.CrawlerTargets{
		S3Targets:   []types.S3Target{{Path: str("s3://bucket/agents/"), SampleSize: aws.Int32(3)}},
		JdbcTargets: []types.JdbcTarget{{ConnectionName: str("c"), Path: str("db/%")}},
	}})(t, r)
	settle(t, s)
	got := ask(t, api(r).GetCrawler, &glue.GetCrawlerInput{Name: str(crawl)}).Crawler.Targets
	if len(got.JdbcTargets) != 1 || len(got.S3Targets) != 2 || aws.ToInt32(got.S3Targets[1].SampleSize) != 3 ||
		got.S3Targets[0].Exclusions[0] != "tmp/**" {
		t.Errorf("%+v", got)
	}
}

func TestADeletedCrawlerNeedsNoReference(t *testing.T) {
	late := crawlerOf(func(s *crawlerSpec) { s.Role, s.RoleRef = "", &v1alpha1.ObjectReference{Name: "late"} })
	k := NewCrawler(aws.Config{})
	_, err := k.Desired(scope(false), late)
	waitsFor(t, err, "IAMRole/late")
	if _, err := k.Desired(scope(true), late); err != nil {
		t.Error(err)
	}
	_, err = k.Desired(scope(false),
		crawlerOf(func(s *crawlerSpec) { s.DatabaseName, s.DatabaseRef = "", &v1alpha1.ObjectReference{Name: "late"} }))
	waitsFor(t, err, "GlueDatabase/late")
}
