// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/nexus-operator/nexus-operator/internal/iampolicy"
	"github.com/nexus-operator/nexus-operator/internal/plan"
	"github.com/nexus-operator/nexus-operator/internal/testkit/golden"
)

// mixed is a plan with everything that a plan can have.
var mixed = plan.Of([]plan.Item{
	{Kind: "NexusAICapability", Namespace: "team-a", Name: "myapp", Action: plan.Update, Fields: []plan.Field{{Path: "spec.backend.replicas", Have: "2", Want: "3"}}},
	{Kind: "Deployment", Namespace: "team-a", Name: "myapp-dev-backend", Action: plan.Update, Risk: plan.Disrupts,
		Fields: []plan.Field{{Path: "spec.template.spec.containers[app].image", Have: "app:1", Want: "app:2"}}},
	{Kind: "Service", Namespace: "team-a", Name: "myapp-dev-backend", Action: plan.None},
	{Kind: "S3Bucket", Namespace: "team-a", Name: "myapp-dev-old", Action: plan.Delete, Risk: plan.Safe, AWS: &plan.Resource{Account: "123456789012", Region: "eu-west-1", Action: plan.Delete,
		Risk: plan.DataLoss, Calls: []plan.Call{{Action: "s3:DeleteBucket", Count: 1, Risk: plan.DataLoss}}}},
	{Kind: "SSMParameterSet", Namespace: "team-a", Name: "myapp-dev", Action: plan.None, AWS: &plan.Resource{Account: "123456789012", Region: "eu-west-1", Action: plan.Update, Risk: plan.Safe,
		Fields: []plan.Field{{Path: "Parameters[a].Value", Have: "1"}}, Calls: []plan.Call{{Action: "ssm:PutParameter", Count: 3, Risk: plan.Safe}}}},
	{Kind: "DynamoDBTable", Namespace: "team-a", Name: "taken", Action: plan.Create, Problem: &plan.Problem{Reason: "Conflict", Message: "the AWS resource exists and belongs to another owner"}},
	{Kind: "S3Bucket", Namespace: "team-a", Name: "new", Action: plan.Create, Fields: []plan.Field{{Path: "spec.bucketName", Want: "new"}, {Path: "spec.policy", Want: "{}",
		Statements: []iampolicy.StatementChange{{Change: iampolicy.StatementAdded, Effect: "Allow", Widens: true, Elements: []iampolicy.ElementChange{{Element: "Action", Added: []string{"s3:GetObject"}}}}}}}},
	{Kind: "IAMRole", Namespace: "team-a", Name: "app", Action: plan.None, AWS: &plan.Resource{Account: "123456789012", Region: "eu-west-1", Action: plan.Update, Risk: plan.Safe,
		Fields: []plan.Field{{Path: "Inline[app]", Have: "{}", Want: "{}", Statements: []iampolicy.StatementChange{{Change: iampolicy.StatementChanged, Sid: "Tables", Effect: "Allow",
			Elements: []iampolicy.ElementChange{{Element: "Resource", Removed: []string{"arn:a"}}}}, {Change: iampolicy.StatementRemoved, Effect: "Deny", Widens: true}}}},
		Calls: []plan.Call{{Action: "iam:PutRolePolicy", Count: 1, Risk: plan.Safe}}}},
	{Kind: "AWSResource", Namespace: "team-a", Name: "names", Action: plan.None, AWS: &plan.Resource{Account: "123456789012", Region: "eu-west-1", Action: plan.Update, Risk: plan.Safe,
		Fields: []plan.Field{{Path: "Properties.DomainName", Have: "example.com", Want: "example.org", Note: "AWS may refuse to change it"}}, Calls: []plan.Call{{Action: "cloudformation:UpdateResource", Count: 1, Risk: plan.Safe}}}},
	{Kind: "GlueTable", Namespace: "team-a", Name: "calls", Action: plan.Create, Waits: "GlueDatabase/calls to exist in AWS"},
})

func TestPlansPrintWhatChanges(t *testing.T) {
	for format, name := range map[string]string{"text": "plan.txt", "wide": "plan-wide.txt", "markdown": "plan.md", "json": "plan.json", "yaml": "plan.yaml"} {
		t.Run(format, func(t *testing.T) {
			var b strings.Builder
			if err := newShared(Program{IOStreams: genericiooptions.IOStreams{Out: &b}}).printPlan(format, mixed); err != nil {
				t.Fatal(err)
			}
			golden.Check(t, name, b.String())
		})
	}
}

func TestLongValuesAreCutAroundTheirDifference(t *testing.T) {
	long := strings.Repeat("é", 300)
	got := changeOf(plan.Field{Have: long + "old" + long, Want: long + "new" + long})
	if !strings.Contains(got, "old") || !strings.Contains(got, "new") || len([]rune(got)) > 2*maxShown+16 || !utf8.ValidString(got) {
		t.Errorf("%q", got)
	}
	if sum := strings.Repeat("0123456789abcdef", 4); changeOf(plan.Field{Want: sum}) != "(none) -> 0123456789ab…" {
		t.Errorf("%q", changeOf(plan.Field{Want: sum}))
	}
}

func TestPlansOfNothingDoNotSayThatNothingChanges(t *testing.T) {
	if text, markdown := textOf(plan.Of(nil), false), markdownOf(plan.Of(nil)); text != "There is nothing to plan.\n" || markdown != "### There is nothing to plan.\n" {
		t.Errorf("%q, %q", text, markdown)
	}
}

func TestPlansSayHowLongADeletionCanBeUndone(t *testing.T) {
	deleted := func(risk plan.Risk, of *plan.Recoverable) plan.Item {
		return plan.Item{Kind: "S3Bucket", Name: "a", Action: plan.Delete, Risk: risk, Recoverable: of, AWS: &plan.Resource{Action: plan.Delete, Risk: risk}}
	}
	for want, it := range map[string]plan.Item{
		"- S3Bucket a: delete (recoverable until 2026-05-01T12:00:00Z)\n": deleted(plan.Safe, &plan.Recoverable{Until: "2026-05-01T12:00:00Z"}),
		"- S3Bucket a: delete (recoverable for 24h, then deletes data)\n": deleted(plan.DataLoss, &plan.Recoverable{For: "24h"}),
		"- S3Bucket a: delete (deletes data)\n":                           deleted(plan.DataLoss, nil),
		"- S3Bucket a: delete\n":                                          deleted(plan.Safe, nil),
	} {
		p := plan.Of([]plan.Item{it})
		if text, markdown := textOf(p, false), markdownOf(p); !strings.HasPrefix(text, want) || !strings.Contains(markdown, want) || it.Recoverable != nil && !strings.Contains(markdown, "| delete (recoverable ") {
			t.Errorf("no %q in\n%s\n%s", want, text, markdown)
		}
	}
}

// An arrow would announce a correction.
func TestPlansSayWhatDiffersWithoutAnArrow(t *testing.T) {
	text := textOf(plan.Of([]plan.Item{{Kind: "S3Bucket", Name: "a", Action: plan.None, AWS: &plan.Resource{Action: plan.None, Reported: true,
		Fields: []plan.Field{{Path: "Versioning.Enabled", Have: "false", Want: "true"}, {Path: "Tags[a]", Have: "b"}}}}}), false)
	for _, want := range []string{"Versioning.Enabled: false, declared is true\n", "Tags[a]: b, declared is (none)\n"} {
		if !strings.Contains(text, want) || strings.Contains(text, "->") {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

func TestPlansWithoutChangesSaySo(t *testing.T) {
	same := plan.Of([]plan.Item{{Kind: "Service", Name: "a", Action: plan.None}})
	if got := textOf(same, false); got != "No changes.\n" {
		t.Errorf("%q", got)
	}
	if got := textOf(same, true); !strings.Contains(got, "Service a: no change") {
		t.Errorf("wide: %q", got)
	}
	if got := markdownOf(same); got != "### No changes.\n" {
		t.Errorf("%q", got)
	}
}

// A value in a manifest must not write into the comment on a pull request.
func TestMarkdown_NoValueEndsTheBlockOfText(t *testing.T) {
	text := markdownOf(plan.Of([]plan.Item{{Kind: "ConfigMap", Name: "a", Action: plan.Create, Fields: []plan.Field{{Path: "data.a", Want: "x\n````\n@everybody\n"}}}}))
	if _, block, found := strings.Cut(text, "\n`````text\n"); !found || !strings.HasSuffix(block, "\n`````\n\n</details>\n") || strings.Count(text, "`````") != 2 {
		t.Errorf("%s", text)
	}
}
