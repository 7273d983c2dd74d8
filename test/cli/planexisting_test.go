// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	ddb "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/testkit/extent"
	"github.com/nexus-operator/nexus-operator/internal/testkit/operator"
)

// A plan names the consent that an existing store lacks, makes nothing in AWS of it, and plans its removal without a guard.
func TestPlan_ShowsExistingStores(t *testing.T) {
	extent.Full(t)
	const namespaces, object = "--ambient-namespaces=webstack-dev", "webstack-dev-orders.existing"
	x := newTool(t, namespaces, "--check-interval=1h")
	x.MakeNamespace(operator.Namespace)
	selector, template := operatorPod(namespaces)
	x.installed(&appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "nexus-operator", Namespace: operator.Namespace},
		Spec: appsv1.DeploymentSpec{Selector: &selector, Template: template}})
	c := x.Capability("examples/existing-table.yaml")
	api := dynamodb.NewFromConfig(aws.Config{Region: "ap-southeast-1", BaseEndpoint: aws.String(x.World.MotoURL()),
		Credentials: credentials.NewStaticCredentialsProvider("a", "b", "")})
	if _, err := api.CreateTable(t.Context(),
		&dynamodb.CreateTableInput{TableName: aws.String("existing-orders"), BillingMode: ddb.BillingModePayPerRequest,
			KeySchema: []ddb.KeySchemaElement{{AttributeName: aws.String("id"), KeyType: ddb.KeyTypeHash}},
			AttributeDefinitions: []ddb.AttributeDefinition{{AttributeName: aws.String("id"),
				AttributeType: ddb.ScalarAttributeTypeS}}}); err != nil {
		t.Fatal(err)
	}
	team := &v1alpha1.AWSProvider{ObjectMeta: metav1.ObjectMeta{Name: "team", Namespace: c.Namespace},
		Spec: v1alpha1.AWSProviderSpec{Region: "ap-southeast-1"}}
	x.Create(team)
	x.Ready(team)
	args := []string{"-f", "-", "--operator-namespace", operator.Namespace}
	declared := func() string {
		return x.manifest(&nexusv1.NexusAICapability{ObjectMeta: metav1.ObjectMeta{Name: c.Name, Namespace: c.Namespace}, Spec: c.Spec})
	}
	of := func(items []item) item {
		t.Helper()
		i := slices.IndexFunc(items, func(it item) bool { return it.Name == object && it.Kind == "DynamoDBTable" })
		if i < 0 {
			t.Fatalf("the plan lacks %s: %+v", object, items)
		}
		return items[i]
	}
	if it := of(x.plan(declared(), args...)); it.Problem == nil || it.Problem.Reason != "NotPermitted" ||
		!strings.Contains(it.Problem.Message, "spec.allowedExternalARNs") {
		t.Errorf("the plan does not name the consent: %+v", it)
	}
	x.Edit(team, func() {
		team.Spec.AllowedExternalARNs = []v1alpha1.ExternalARNPattern{"arn:aws:dynamodb:ap-southeast-1:123456789012:table/existing-*"}
	})
	x.Ready(team)
	if it := of(x.plan(declared(), args...)); it.Problem != nil || it.Action != "Create" || calls(it) > 0 {
		t.Errorf("the plan does not observe the table alone: %+v", it)
	}
	x.apply(declared())
	x.Running(c)
	x.unchanged(declared(), args...)

	c.Spec.DataServices.DynamoDB = nil
	c.Spec.Components[0].Access = &[]nexusv1.AccessName{"files"}
	if it := of(x.plan(declared(), args...)); it.Action != "Delete" || it.Waits != "" || calls(it) > 0 {
		t.Errorf("the plan does not leave the table alone: %+v", it)
	}
}

// calls counts the calls to AWS of an item.
func calls(it item) int {
	if it.AWS == nil {
		return 0
	}
	return len(it.AWS.Calls)
}
