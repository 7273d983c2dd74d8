// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"strings"
	"testing"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/nexus-operator/nexus-operator/internal/iampolicy"
	"github.com/nexus-operator/nexus-operator/internal/plan"
	"github.com/nexus-operator/nexus-operator/internal/testkit/golden"
)

// mixed is a plan with everything that a plan can have.
var mixed = plan.Of([]plan.Item{
	{Kind: "NexusAICapability", Namespace: "team-a", Name: "myapp", Action: plan.Update,
		Fields: []plan.Field{{Path: "spec.backend.replicas", Have: "2", Want: "3"}}},
	{Kind: "Deployment", Namespace: "team-a", Name: "myapp-dev-backend", Action: plan.Update, Risk: plan.Disrupts,
		Fields: []plan.Field{{Path: "spec.template.spec.containers[app].image", Have: "app:1", Want: "app:2"}}},
	{Kind: "Service", Namespace: "team-a", Name: "myapp-dev-backend", Action: plan.None},
	{Kind: "S3Bucket", Namespace: "team-a", Name: "myapp-dev-old", Action: plan.Delete, Risk: plan.Safe,
		AWS: &plan.Resource{Account: "123456789012", Region: "eu-west-1", Action: plan.Delete,
			Risk: plan.DataLoss, Calls: []plan.Call{{Action: "s3:DeleteBucket", Count: 1, Risk: plan.DataLoss}}}},
	{Kind: "SSMParameterSet", Namespace: "team-a", Name: "myapp-dev", Action: plan.None,
		AWS: &plan.Resource{Account: "123456789012", Region: "eu-west-1", Action: plan.Update, Risk: plan.Safe,
			Fields: []plan.Field{{Path: "Parameters[a].Value", Have: "1"}},
			Calls:  []plan.Call{{Action: "ssm:PutParameter", Count: 3, Risk: plan.Safe}}}},
	{Kind: "DynamoDBTable", Namespace: "team-a", Name: "taken", Action: plan.Create,
		Problem: &plan.Problem{Reason: "Conflict", Message: "the AWS resource exists and belongs to another owner"}},
	{Kind: "S3Bucket", Namespace: "team-a", Name: "new", Action: plan.Create,
		Fields: []plan.Field{{Path: "spec.bucketName", Want: "new"}, {Path: "spec.policy", Want: "{}",
			Statements: []iampolicy.StatementChange{{Change: iampolicy.StatementAdded, Effect: "Allow", Widens: true,
				Elements: []iampolicy.ElementChange{{Element: "Action", Added: []string{"s3:GetObject"}}}}}}}},
	{Kind: "IAMRole", Namespace: "team-a", Name: "app", Action: plan.None,
		AWS: &plan.Resource{Account: "123456789012", Region: "eu-west-1", Action: plan.Update, Risk: plan.Safe,
			Fields: []plan.Field{{Path: "Inline[app]", Have: "{}", Want: "{}",
				Statements: []iampolicy.StatementChange{{Change: iampolicy.StatementChanged, Sid: "Tables", Effect: "Allow",
					Elements: []iampolicy.ElementChange{{Element: "Resource", Removed: []string{"arn:a"}}}},
					{Change: iampolicy.StatementRemoved, Effect: "Deny", Widens: true}}}},
			Calls: []plan.Call{{Action: "iam:PutRolePolicy", Count: 1, Risk: plan.Safe}}}},
	{Kind: "AWSResource", Namespace: "team-a", Name: "names", Action: plan.None,
		AWS: &plan.Resource{Account: "123456789012", Region: "eu-west-1", Action: plan.Update, Risk: plan.Safe,
			Fields: []plan.Field{{Path: "Properties.DomainName", Have: "example.com", Want: "example.org", Note: "AWS may refuse to change it"}},
			Calls:  []plan.Call{{Action: "cloudformation:UpdateResource", Count: 1, Risk: plan.Safe}}}},
	{Kind: "GlueTable", Namespace: "team-a", Name: "calls", Action: plan.Create, Waits: "GlueDatabase/calls to exist in AWS"},
})

func TestPlansPrintWhatChanges(t *testing.T) {
	for format, name := range map[string]string{"text": "plan.txt", "wide": "plan-wide.txt", "markdown": "plan.md", "json": "plan.json",
		"yaml": "plan.yaml"} {
		t.Run(format, func(t *testing.T) {
			var b strings.Builder
			if err := (&planVerb{Connection: newConnection(Program{IOStreams: genericiooptions.IOStreams{Out: &b}})}).printPlan(format,
				mixed); err != nil {
				t.Fatal(err)
			}
			golden.Check(t, name, b.String())
		})
	}
}
