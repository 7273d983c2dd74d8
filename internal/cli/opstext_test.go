// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/console"
	"github.com/nexus-operator/nexus-operator/internal/inspect"
	"github.com/nexus-operator/nexus-operator/internal/testkit/golden"
)

var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

func ago(d time.Duration) metav1.Time { return metav1.NewTime(noon.Add(-d)) }

var sickOperator = &inspect.OperatorStatus{
	APIVersion: inspect.APIVersion, Kind: "OperatorStatus", Namespace: "nexus-system", Client: "v1.1.0", Skew: true,
	Workloads: []inspect.Workload{{Kind: "StatefulSet", Name: "nexus-operator", Image: "nexus-operator:v1.0.0", Version: "v1.0.0", Replicas: 2,
		Ready: 1, Created: ago(49 * time.Hour)}},
	Pods: []inspect.Pod{{Name: "nexus-operator-0", Ready: true, Created: ago(49 * time.Hour)},
		{Name: "nexus-operator-1", Restarts: 4, Reason: "CrashLoopBackOff", Message: "container operator keeps crashing",
			Created: ago(time.Hour)}},
	Leases: []inspect.Lease{{Name: "nexus-operator.nexus.ai", Shard: "0/2", Holder: "nexus-operator-0_3f0e", Since: new(ago(time.Hour))},
		{Name: "nexus-operator-1.nexus.ai", Shard: "1/2"}},
	CRDs:         []inspect.Definition{{Name: "a", Established: true}, {Name: "b"}},
	Capabilities: []inspect.PhaseCount{{Phase: "Failed", Count: 1}, {Phase: "Running", Count: 12}},
	Warnings: []inspect.Event{{Namespace: "team-a", Object: "S3Bucket/logs", Reason: "Conflict", Count: 3, Last: ago(2 * time.Minute),
		Message: "the bucket logs exists and has no owner tags: choose another name, or import it"}},
	Problems: []string{"1 of 2 pods of StatefulSet nexus-operator are ready: kubectl -n nexus-system describe pods"},
}

func TestStatusPrintsTheHealthOfTheOperator(t *testing.T) {
	golden.Check(t, "status-operator.txt", textOfOperator(sickOperator, noon, false))
	golden.Check(t, "status-operator-wide.txt", textOfOperator(sickOperator, noon, true))
}

func TestStatusPrintsConditions(t *testing.T) {
	statuses := inspect.ObjectStatuses{Objects: []inspect.ObjectStatus{{Kind: "NexusAICapability", Namespace: "team-a", Name: "myapp",
		Phase: "Failed", Progress: "3/11", Conditions: []metav1.Condition{
			{Type: "Ready", Status: metav1.ConditionFalse, Reason: "Conflict", LastTransitionTime: ago(3 * time.Minute),
				Message: "S3Bucket/myapp-dev-logs: the bucket exists and has no owner tags: choose another name, or import it with adoptionPolicy Always and an explicit deletionPolicy"},
			{Type: "BackendReady", Status: metav1.ConditionUnknown, Reason: "NotStarted", LastTransitionTime: ago(4 * time.Hour)}}},
		{Kind: "SecurityIntent", Name: "dns"}}}
	golden.Check(t, "status-objects.txt", textOfStatuses(statuses, noon, false))
	golden.Check(t, "status-objects-wide.txt", textOfStatuses(statuses, noon, true))
}

// sickTree is a capability with a failed bucket, a table that waits and a pod that is starting.
var sickTree = &inspect.Node{Kind: "NexusAICapability", Namespace: "team-a", Name: "myapp", Health: inspect.Failed, Reason: "Conflict",
	Created: new(ago(time.Hour)), Message: "S3Bucket/logs: taken",
	Children: []*inspect.Node{
		{Kind: "AWSProvider", Namespace: "team-a", Name: "aws", Relation: inspect.Uses, Health: inspect.Ready, Created: new(ago(time.Hour))},
		{APIVersion: "aws-infra-operator.runner.codes/v1alpha1", Kind: "S3Bucket", Namespace: "team-a", Name: "logs", Health: inspect.Failed,
			Reason: "Conflict", ARN: "arn:aws:s3:::logs",
			Message: strings.Repeat("the bucket exists and has another owner; ", 8), Created: new(ago(time.Hour))},
		{Kind: "GlueTable", Namespace: "team-a", Name: "calls", Health: inspect.Waiting, Reason: "NotStarted",
			Message: "it has not been created yet"},
		{Kind: "Deployment", Namespace: "myapp-dev", Name: "backend", Health: inspect.Progressing, Reason: "Progressing",
			Message: "1 of 2 replicas are available", Pods: "1/2", Created: new(ago(time.Minute)),
			Children: []*inspect.Node{{Kind: "Pod", Namespace: "myapp-dev", Name: "backend-1", Health: inspect.Ready,
				Created: new(ago(time.Minute))},
				{Kind: "Pod", Namespace: "myapp-dev", Name: "backend-2", Health: inspect.Progressing, Reason: "Progressing",
					Message: "the pod is starting", Created: new(ago(time.Second))}}},
	}}

func TestTreePrintsHealthAndTrouble(t *testing.T) {
	golden.Check(t, "tree.txt", textOfTree(sickTree, noon, false))
	golden.Check(t, "tree-wide.txt", textOfTree(sickTree, noon, true))
}

func TestExplainPrintsCauseEvidenceAndCommands(t *testing.T) {
	e := &inspect.Explanation{Object: sickTree, Cause: sickTree.Children[1], Path: []*inspect.Node{sickTree, sickTree.Children[1]}, Waiting: 1,
		Conditions: []metav1.Condition{{Type: "Ready", Status: metav1.ConditionFalse, Reason: "Conflict", Message: sickTree.Children[1].Message,
			LastTransitionTime: ago(3 * time.Minute)}},
		Events:   []inspect.Event{{Object: "S3Bucket/logs", Reason: "Conflict", Message: "another message", Count: 3, Last: ago(time.Minute)}},
		Commands: []string{"kubectl edit ncap/myapp -n team-a"},
		Failed: []*inspect.Node{{Kind: "IAMRole", Namespace: "team-a", Name: "app", Reason: "AccessDenied",
			Message: "iam:CreateRole is denied"}}}
	golden.Check(t, "explain.txt", textOfExplanation(e, noon))
	stream := &inspect.Node{Kind: "AWSResource", Namespace: "team-a", Name: "events", Health: inspect.Ready, Resource: &inspect.Resource{
		Type: "AWS::Kinesis::Stream", Identifier: "team-a-events", ARN: "arn:aws:kinesis:eu-west-1:123456789012:stream/team-a-events",
		Ignored:    []string{"/ShardCount"},
		Deprecated: "AWS deprecates spec.properties.Shards: it may ignore what is declared there, or not show it",
		Request:    &v1alpha1.AWSResourceRequest{Operation: "UPDATE", Token: "0f1e", Since: &metav1.Time{Time: noon.Add(-5 * time.Second)}},
		Drift:      []v1alpha1.DriftEntry{{Path: "Properties.RetentionPeriodHours", Want: "48", Have: "24"}}}}
	golden.Check(t, "explain-any-type.txt", textOfExplanation(&inspect.Explanation{Object: stream, Ready: true}, noon))
	if got := textOfExplanation(&inspect.Explanation{Object: sickTree.Children[0], Ready: true},
		noon); got != "AWSProvider team-a/aws is ready.\n" {
		t.Errorf("%q", got)
	}
}

func TestDriftPrintsARowForEachField(t *testing.T) {
	report := &inspect.DriftReport{Objects: []inspect.ObjectDrift{
		{Kind: "DynamoDBTable", Namespace: "team-a", Name: "calls", Policy: "Correct",
			Fields: []v1alpha1.DriftEntry{{Path: "Tags[team]", Want: "a"}}, Since: new(ago(time.Minute))},
		{Kind: "S3Bucket", Namespace: "team-b", Name: "logs", Policy: "Report", Since: new(ago(72 * time.Hour)),
			Fields: []v1alpha1.DriftEntry{{Path: "Versioning.Status", Want: "Enabled", Have: "Suspended"},
				{Path: "Policy", Want: `{"Version": "2012-10-17", "Statement": []}`, Have: ""}}},
	}}
	report.Objects = append(report.Objects, inspect.ObjectDrift{Kind: "S3Bucket", Namespace: "team-a", Name: "odd", Policy: "Correct",
		Message: "Versioning.Status does not keep its value"})
	golden.Check(t, "drift.txt", textOfDrift(report, noon, driftColumns{}))
	golden.Check(t, "drift-wide.txt", textOfDrift(report, noon, driftColumns{namespace: true, wide: true}))
}

func TestSecretsPrintsWhatPeopleFillIn(t *testing.T) {
	report := &inspect.SecretReport{Secrets: []inspect.SecretStatus{
		{Namespace: "team-a", Name: "myapp-dev-openai", Secret: "myapp/dev/openai", FilledIn: metav1.ConditionTrue, Keys: []string{"apiKey"},
			Created: ago(time.Hour)},
		{Namespace: "team-a", Name: "myapp-dev-wxcc", Secret: "myapp/dev/wxcc", FilledIn: metav1.ConditionFalse,
			Keys: []string{"clientId", "clientSecret"}, Created: ago(time.Hour)},
	}}
	golden.Check(t, "secrets.txt", textOfSecrets(report, noon, false))
	golden.Check(t, "secrets-everywhere.txt", textOfSecrets(report, noon, true))
}

// The shapes that programs read change with their version alone.
func TestShapesStayAsTheyAre(t *testing.T) {
	e := &inspect.Explanation{APIVersion: inspect.APIVersion, Kind: "Explanation", Object: sickTree.Children[0], Cause: sickTree.Children[1],
		Path: sickTree.Children[:2], Waiting: 1,
		Conditions: []metav1.Condition{{Type: "Ready", Status: metav1.ConditionFalse, Reason: "Conflict", LastTransitionTime: ago(time.Minute)}},
		Events:     sickOperator.Warnings, Commands: []string{"kubectl edit ncap/myapp -n team-a"}, Failed: sickTree.Children[1:2]}
	drift := &inspect.DriftReport{APIVersion: inspect.APIVersion, Kind: "DriftReport",
		Objects: []inspect.ObjectDrift{{Kind: "S3Bucket", Namespace: "team-a", Name: "logs", Capability: "myapp", Policy: "Report",
			Fields: []v1alpha1.DriftEntry{{Path: "Versioning.Enabled", Want: "true", Have: "false"}}, Since: new(ago(time.Hour))}}}
	secrets := &inspect.SecretReport{APIVersion: inspect.APIVersion, Kind: "SecretReport",
		Secrets: []inspect.SecretStatus{{Namespace: "team-a", Name: "a", Secret: "s", FilledIn: metav1.ConditionUnknown, Keys: []string{"k"},
			Created: ago(time.Hour)}}}
	for name, data := range map[string]any{"status-operator.json": sickOperator,
		"tree.json": &inspect.Tree{APIVersion: inspect.APIVersion, Kind: "Tree", Root: sickTree}, "explain.json": e, "drift.json": drift,
		"secrets.json": secrets} {
		var b strings.Builder
		if err := console.PrintAs(&b, "json", data, nil); err != nil {
			t.Fatal(err)
		}
		golden.Check(t, name, b.String())
		var y strings.Builder
		if err := console.PrintAs(&y, "yaml", data, nil); err != nil {
			t.Fatal(err)
		}
		again, err := yaml.YAMLToJSON([]byte(y.String()))
		if err != nil {
			t.Fatal(err)
		}
		var x, z any
		if json.Unmarshal(again, &x) != nil || json.Unmarshal([]byte(b.String()), &z) != nil || !reflect.DeepEqual(x, z) {
			t.Errorf("%s: YAML and JSON differ", name)
		}
	}
}
