// SPDX-License-Identifier: Apache-2.0

package glue

import (
	"context"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/glue"
	"github.com/aws/aws-sdk-go-v2/service/glue/types"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/awsclient"
	"github.com/nexus-operator/nexus-operator/internal/kind"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// CrawlerState is a crawler as both the spec and Glue can express it.
type CrawlerState struct {
	Name string `drift:"identity"`
	ARN  string `drift:"id"`
	// RoleARN is the name or ARN of the role that is sent.
	RoleARN string `drift:"id"`
	// Targets are all targets, including the settings that the spec does not know.
	Targets *types.CrawlerTargets `drift:"observed"`
	State   types.CrawlerState    `drift:"observed"`

	// Role is the role's name without its path: Glue returns "role" or "path/role" for an ARN.
	Role                               string
	Database                           string
	S3Targets                          []v1alpha1.GlueS3Target `drift:"set"`
	Schedule, TablePrefix, Description *string
	SchemaChangePolicy                 v1alpha1.GlueSchemaChangePolicy
	Tags                               map[string]string `drift:"tags"`
}

type crawler struct{ api *glue.Client }

// NewCrawler binds the GlueCrawler kind to an identity. Its IAM actions:
// https://docs.aws.amazon.com/service-authorization/latest/reference/list_awsglue.html
func NewCrawler(cfg aws.Config) kind.Kind[*v1alpha1.GlueCrawler, CrawlerState] {
	c := &crawler{api: glue.NewFromConfig(cfg)}
	return kind.FromTable(kind.Table[*v1alpha1.GlueCrawler, CrawlerState]{
		Meta: kind.Meta{Facts: crawlerFacts(), Identity: kind.ByName, CreatesFirst: true, References: []string{"GlueDatabase", "IAMRole"}},
		Identify: func(sc kind.Scope, cr *v1alpha1.GlueCrawler) (CrawlerState, error) {
			return CrawlerState{Name: cr.Spec.CrawlerName, ARN: arn(sc, "crawler/"+cr.Spec.CrawlerName)}, nil
		},
		Declare:  declareCrawler,
		Roles:    kind.Roles[CrawlerState]{Of: func(s CrawlerState) []string { return kind.Present(&s.Role) }},
		Export:   kind.Export[*v1alpha1.GlueCrawler, CrawlerState]{Identity: []string{"crawlerName"}, Spec: exportedCrawler},
		Describe: kind.Read[CrawlerState]{Actions: []string{"glue:GetCrawler"}, Do: c.describe},
		Explain:  explain[CrawlerState],
		Create: kind.Call[CrawlerState]{Action: "glue:CreateCrawler", Do: kind.Send(c.api.CreateCrawler, func(want, _ CrawlerState) *glue.CreateCrawlerInput {
			return &glue.CreateCrawlerInput{
				Name: &want.Name, Role: &want.RoleARN, DatabaseName: &want.Database, Targets: crawlerTargets(want, nil),
				Schedule: kind.NonEmpty(want.Schedule), TablePrefix: kind.NonEmpty(want.TablePrefix), Description: kind.NonEmpty(want.Description),
				SchemaChangePolicy: kind.Convert[*types.SchemaChangePolicy](want.SchemaChangePolicy), Tags: want.Tags,
			}
		})},
		Tagging: tagging(c.api, func(s CrawlerState) string { return s.ARN }),
		Parts: []kind.Part[CrawlerState]{{InCreate: true,
			Fields: []string{"Role", "Database", "S3Targets", "Schedule", "TablePrefix", "Description", "SchemaChangePolicy"},
			Write:  kind.Call[CrawlerState]{Action: "glue:UpdateCrawler", DoDiff: kind.SendDiff(c.api.UpdateCrawler, crawlerUpdate)}}},
		// Glue does not delete a crawler that runs, and a crawl may take hours.
		Delete: []kind.Ending[CrawlerState]{
			{When: func(_, have CrawlerState) bool { return have.State == types.CrawlerStateRunning },
				Call: kind.Call[CrawlerState]{Action: "glue:StopCrawler", Do: kind.Send(c.api.StopCrawler, func(want, _ CrawlerState) *glue.StopCrawlerInput {
					return &glue.StopCrawlerInput{Name: &want.Name}
				})}},
			{Call: kind.Call[CrawlerState]{Action: "glue:DeleteCrawler", Effect: kind.Ends, Do: kind.Send(c.api.DeleteCrawler, func(want, _ CrawlerState) *glue.DeleteCrawlerInput {
				return &glue.DeleteCrawlerInput{Name: &want.Name}
			})}},
		},
		Publish: func(cr *v1alpha1.GlueCrawler, s CrawlerState) {
			cr.Status.ARN, cr.Status.ID, cr.Status.State = s.ARN, s.Name, string(s.State)
		},
	})
}

func declareCrawler(sc kind.Scope, cr *v1alpha1.GlueCrawler, s *CrawlerState) error {
	in := cr.Spec
	var err error
	if s.Database, err = databaseName(sc, in.DatabaseName, in.DatabaseRef); err != nil {
		return err
	}
	if why := kind.WhyNotPassed(sc, in.Role); why != "" {
		return &status.Stalled{Reason: status.ReasonNotPermitted, Field: "spec.role", Message: why + ": name an IAMRole of this namespace in spec.roleRef"}
	}
	s.RoleARN = in.Role
	if in.RoleRef != nil {
		target, err := sc.Ref("IAMRole", in.RoleRef.Name)
		if err != nil {
			return err
		}
		s.RoleARN = target.ARN
	}
	s.Role = bareName(s.RoleARN)
	s.S3Targets, s.Schedule, s.TablePrefix, s.Description = in.S3Targets, in.Schedule, in.TablePrefix, in.Description
	// By default the crawler only logs changes, so that it does not change tables that objects declare.
	s.SchemaChangePolicy = v1alpha1.GlueSchemaChangePolicy{UpdateBehavior: string(types.UpdateBehaviorLog), DeleteBehavior: string(types.DeleteBehaviorLog)}
	kind.Overlay(&s.SchemaChangePolicy, in.SchemaChangePolicy)
	return nil
}

func bareName(role string) string { return role[strings.LastIndex(role, "/")+1:] }

// describe reads the crawler. A running crawler is not busy: Glue refuses an update of it with
// CrawlerRunningException, which the error table maps to Busy.
func (c *crawler) describe(ctx context.Context, want CrawlerState, look kind.Look) (kind.Seen[CrawlerState], error) {
	out, err := awsclient.Lookup(ctx, c.api.GetCrawler, &glue.GetCrawlerInput{Name: &want.Name})
	if out == nil || out.Crawler == nil {
		return kind.Seen[CrawlerState]{}, err
	}
	seen := kind.Seen[CrawlerState]{Exists: true, State: seenCrawler(want, out.Crawler), Created: aws.ToTime(out.Crawler.CreationTime)}
	settled := []types.CrawlerState{types.CrawlerStateReady, types.CrawlerStateRunning}
	if !look.Deleting {
		settled = append(settled, types.CrawlerStateStopping)
	}
	seen.Busy = kind.BusyUnless("the crawler", seen.State.State, settled...)
	return seen, nil
}

func seenCrawler(want CrawlerState, in *types.Crawler) CrawlerState {
	return CrawlerState{
		Name: want.Name, ARN: want.ARN, State: in.State, Targets: in.Targets,
		Role: bareName(aws.ToString(in.Role)), Database: aws.ToString(in.DatabaseName),
		S3Targets: kind.Convert[[]v1alpha1.GlueS3Target](kind.NonNil(in.Targets).S3Targets),
		Schedule:  kind.NonNil(in.Schedule).ScheduleExpression, TablePrefix: in.TablePrefix, Description: in.Description,
		SchemaChangePolicy: kind.Convert[v1alpha1.GlueSchemaChangePolicy](in.SchemaChangePolicy),
	}
}

// crawlerUpdate names only the members that differ: UpdateCrawler keeps absent members and clears those
// that are "", including the schedule.
func crawlerUpdate(want, have CrawlerState, diff kind.Diff) *glue.UpdateCrawlerInput {
	in := &glue.UpdateCrawlerInput{Name: &want.Name}
	kind.SetChanged(diff, "Role", &in.Role, &want.RoleARN)
	kind.SetChanged(diff, "Database", &in.DatabaseName, &want.Database)
	kind.SetChanged(diff, "Schedule", &in.Schedule, want.Schedule)
	kind.SetChanged(diff, "TablePrefix", &in.TablePrefix, want.TablePrefix)
	kind.SetChanged(diff, "Description", &in.Description, want.Description)
	kind.SetChanged(diff, "S3Targets", &in.Targets, crawlerTargets(want, have.Targets))
	kind.SetChanged(diff, "SchemaChangePolicy", &in.SchemaChangePolicy, kind.Convert[*types.SchemaChangePolicy](want.SchemaChangePolicy))
	return in
}

// crawlerTargets returns the found targets with the wanted S3 targets. It keeps targets of other types, and
// the settings of a path that stays which the spec does not know (sample size, event queue).
func crawlerTargets(want CrawlerState, found *types.CrawlerTargets) *types.CrawlerTargets {
	out := *kind.NonNil(found)
	same := func(w v1alpha1.GlueS3Target, t types.S3Target) bool { return w.Path == aws.ToString(t.Path) }
	out.S3Targets = kind.OverlayEach(want.S3Targets, out.S3Targets, same, func(t *types.S3Target, w v1alpha1.GlueS3Target) {
		t.Path, t.Exclusions = &w.Path, w.Exclusions
	})
	return &out
}
