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
)

// CrawlerState is a crawler as both the spec and Glue can say it.
type CrawlerState struct {
	Name, ARN string `drift:"id"`
	Deleting  bool   `drift:"id"`
	// RoleARN is what is sent: a role's name or ARN.
	RoleARN string `drift:"id"`
	// Targets and Policy are all that Glue said of both, parts that others set included.
	Targets *types.CrawlerTargets     `drift:"observed"`
	Policy  *types.SchemaChangePolicy `drift:"observed"`
	State   types.CrawlerState        `drift:"observed"`

	// Role is the role's bare name: Glue answers "role" or "path/role" for an ARN.
	Role                               string
	Database                           string
	S3Targets                          []v1alpha1.GlueS3Target `drift:"set"`
	Schedule, TablePrefix, Description *string
	UpdateBehavior                     string
	DeleteBehavior                     string
	Tags                               map[string]string `drift:"tags"`
}

type crawler struct{ api *glue.Client }

// NewCrawler binds the GlueCrawler kind to an identity.
func NewCrawler(cfg aws.Config) kind.Kind[*v1alpha1.GlueCrawler, CrawlerState] {
	return &crawler{api: glue.NewFromConfig(cfg)}
}

// Meta lists the IAM actions: https://docs.aws.amazon.com/service-authorization/latest/reference/list_awsglue.html
func (c *crawler) Meta() kind.Meta {
	return kind.Meta{
		Reads:    []string{"glue:GetCrawler", "glue:GetTags"},
		Writes:   []string{"glue:CreateCrawler", "glue:UpdateCrawler", "glue:StopCrawler", "glue:DeleteCrawler", "glue:TagResource", "glue:UntagResource"},
		Implied:  []string{"iam:PassRole"},
		Identity: kind.ByName,
	}
}

func (c *crawler) Desired(sc kind.Scope, cr *v1alpha1.GlueCrawler) (CrawlerState, error) {
	in := cr.Spec
	s := CrawlerState{Name: in.CrawlerName, ARN: arn(sc, "crawler/"+in.CrawlerName), Deleting: sc.Deleting, Tags: sc.Tags}
	if sc.Deleting {
		return s, nil
	}
	var err error
	if s.Database, err = databaseName(sc, in.DatabaseName, in.DatabaseRef); err != nil {
		return s, err
	}
	s.RoleARN = in.Role
	if in.RoleRef != nil {
		target, err := sc.Ref("IAMRole", in.RoleRef.Name)
		if err != nil {
			return s, err
		}
		s.RoleARN = target.ARN
	}
	s.Role = bareName(s.RoleARN)
	for _, t := range in.S3Targets {
		s.S3Targets = append(s.S3Targets, s3Target(t.Path, t.Exclusions))
	}
	s.Schedule, s.TablePrefix, s.Description = in.Schedule, in.TablePrefix, in.Description
	// The defaults do not fight the tables that are declared as objects.
	s.UpdateBehavior, s.DeleteBehavior = string(types.UpdateBehaviorLog), string(types.DeleteBehaviorLog)
	if p := in.SchemaChangePolicy; p != nil && p.UpdateBehavior != "" {
		s.UpdateBehavior = p.UpdateBehavior
	}
	if p := in.SchemaChangePolicy; p != nil && p.DeleteBehavior != "" {
		s.DeleteBehavior = p.DeleteBehavior
	}
	return s, nil
}

func bareName(role string) string { return role[strings.LastIndex(role, "/")+1:] }

// s3Target makes one form of "no exclusions", so that nil and empty do not differ.
func s3Target(path string, exclusions []string) v1alpha1.GlueS3Target {
	if len(exclusions) == 0 {
		exclusions = nil
	}
	return v1alpha1.GlueS3Target{Path: path, Exclusions: exclusions}
}

// Observe reads the crawler and then its tags. A running crawler is as good as any: Glue refuses an
// update of it with CrawlerRunningException, which the error table calls Busy.
func (c *crawler) Observe(ctx context.Context, want CrawlerState) (kind.Seen[CrawlerState], error) {
	out, err := c.api.GetCrawler(ctx, &glue.GetCrawlerInput{Name: &want.Name})
	if awsclient.IsNotFound(err) || err == nil && out.Crawler == nil {
		return kind.Seen[CrawlerState]{}, nil
	}
	if err != nil {
		return kind.Seen[CrawlerState]{}, err
	}
	tags, err := getTags(ctx, c.api, want.ARN)
	if awsclient.IsNotFound(err) { // deleted between the two calls
		return kind.Seen[CrawlerState]{}, nil
	}
	if err != nil {
		return kind.Seen[CrawlerState]{}, err
	}
	seen := kind.Seen[CrawlerState]{Exists: true, State: seenCrawler(want, out.Crawler, tags), Tags: tags, Created: aws.ToTime(out.Crawler.CreationTime)}
	if want.Deleting && seen.State.State == types.CrawlerStateStopping {
		seen.Busy = "stopping the crawler"
	}
	return seen, nil
}

func seenCrawler(want CrawlerState, in *types.Crawler, tags map[string]string) CrawlerState {
	s := CrawlerState{
		Name: want.Name, ARN: want.ARN, State: in.State, Targets: in.Targets, Policy: in.SchemaChangePolicy, Tags: tags,
		Role: bareName(aws.ToString(in.Role)), Database: aws.ToString(in.DatabaseName),
		TablePrefix: in.TablePrefix, Description: in.Description,
	}
	if in.Schedule != nil {
		s.Schedule = in.Schedule.ScheduleExpression
	}
	if in.Targets != nil {
		for _, t := range in.Targets.S3Targets {
			s.S3Targets = append(s.S3Targets, s3Target(aws.ToString(t.Path), t.Exclusions))
		}
	}
	if p := in.SchemaChangePolicy; p != nil {
		s.UpdateBehavior, s.DeleteBehavior = string(p.UpdateBehavior), string(p.DeleteBehavior)
	}
	return s
}

// crawlerFields are settled by one UpdateCrawler.
var crawlerFields = []string{"Role", "Database", "S3Targets", "Schedule", "TablePrefix", "Description", "UpdateBehavior", "DeleteBehavior"}

func (c *crawler) Converge(want CrawlerState, seen kind.Seen[CrawlerState], diff kind.Diff) []kind.Step {
	if !seen.Exists {
		return []kind.Step{{Action: "glue:CreateCrawler", Do: func(ctx context.Context, _ string) (string, error) {
			_, err := c.api.CreateCrawler(ctx, &glue.CreateCrawlerInput{
				Name: &want.Name, Role: &want.RoleARN, DatabaseName: &want.Database, Targets: crawlerTargets(want, nil),
				Schedule: orNil(want.Schedule), TablePrefix: orNil(want.TablePrefix), Description: orNil(want.Description),
				SchemaChangePolicy: schemaChangePolicy(want), Tags: want.Tags,
			})
			return "", err
		}}}
	}
	steps := tagSteps(c.api, want.ARN, want.Tags, diff)
	if diff.Under(crawlerFields...) {
		steps = append(steps, kind.Step{Action: "glue:UpdateCrawler", Fixes: crawlerFields, Do: func(ctx context.Context, _ string) (string, error) {
			_, err := c.api.UpdateCrawler(ctx, crawlerUpdate(want, seen.State, diff))
			return "", err
		}})
	}
	return steps
}

// crawlerUpdate names only what differs: UpdateCrawler leaves absent members as they are and takes ""
// for "none", also for the schedule.
func crawlerUpdate(want, have CrawlerState, diff kind.Diff) *glue.UpdateCrawlerInput {
	in := &glue.UpdateCrawlerInput{Name: &want.Name}
	for _, f := range []struct {
		path  string
		field **string
		want  *string
	}{
		{"Role", &in.Role, &want.RoleARN},
		{"Database", &in.DatabaseName, &want.Database},
		{"Schedule", &in.Schedule, want.Schedule},
		{"TablePrefix", &in.TablePrefix, want.TablePrefix},
		{"Description", &in.Description, want.Description},
	} {
		if diff.Under(f.path) {
			*f.field = f.want
		}
	}
	if diff.Under("S3Targets") {
		in.Targets = crawlerTargets(want, have.Targets)
	}
	if diff.Under("UpdateBehavior", "DeleteBehavior") {
		in.SchemaChangePolicy = schemaChangePolicy(want)
	}
	return in
}

func schemaChangePolicy(want CrawlerState) *types.SchemaChangePolicy {
	return &types.SchemaChangePolicy{UpdateBehavior: types.UpdateBehavior(want.UpdateBehavior), DeleteBehavior: types.DeleteBehavior(want.DeleteBehavior)}
}

// crawlerTargets replaces the S3 targets; targets of other sorts, and what others set on a path that
// stays (sample size, event queue), are sent back as they were.
func crawlerTargets(want CrawlerState, have *types.CrawlerTargets) *types.CrawlerTargets {
	var out types.CrawlerTargets
	if have != nil {
		out = *have
	}
	known := map[string]types.S3Target{}
	for _, t := range out.S3Targets {
		known[aws.ToString(t.Path)] = t
	}
	out.S3Targets = make([]types.S3Target, 0, len(want.S3Targets))
	for _, w := range want.S3Targets {
		t := known[w.Path]
		t.Path, t.Exclusions = aws.String(w.Path), w.Exclusions
		out.S3Targets = append(out.S3Targets, t)
	}
	return &out
}

// Remove ends a crawl under way first: Glue refuses to delete a running crawler, and a crawl may take hours.
func (c *crawler) Remove(seen kind.Seen[CrawlerState]) []kind.Step {
	name := seen.State.Name
	if seen.State.State == types.CrawlerStateRunning {
		return []kind.Step{{Action: "glue:StopCrawler", Risk: kind.Disrupts, Do: func(ctx context.Context, _ string) (string, error) {
			_, err := c.api.StopCrawler(ctx, &glue.StopCrawlerInput{Name: &name})
			return "", err
		}}}
	}
	return []kind.Step{{Action: "glue:DeleteCrawler", Risk: kind.Destroys, Do: func(ctx context.Context, _ string) (string, error) {
		_, err := c.api.DeleteCrawler(ctx, &glue.DeleteCrawlerInput{Name: &name})
		return "", err
	}}}
}

func (c *crawler) Publish(cr *v1alpha1.GlueCrawler, s CrawlerState) {
	cr.Status.ARN, cr.Status.ID, cr.Status.State = s.ARN, s.Name, string(s.State)
}
