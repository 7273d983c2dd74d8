// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/cloudcontrol"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/nexus-operator/nexus-operator/internal/testkit/extent"
)

// deletedByHand deletes the resources of types in AWS, as a person who knows nothing of the operator, and returns what they were.
func (b *bed) deletedByHand(identifiers func(typeName string) []string, types ...string) map[string]string {
	b.Helper()
	config := aws.Config{Region: "ap-southeast-1", BaseEndpoint: aws.String(b.World.AWS().URL()),
		Credentials: credentials.NewStaticCredentialsProvider("a", "b", "")}
	client, was := cloudcontrol.NewFromConfig(config), map[string]string{}
	for _, typeName := range types {
		was[typeName] = fmt.Sprint(identifiers(typeName))
		for _, id := range identifiers(typeName) {
			if _, err := client.DeleteResource(b.Ctx(), &cloudcontrol.DeleteResourceInput{TypeName: &typeName, Identifier: &id}); err != nil {
				b.Fatal(err)
			}
		}
	}
	return was
}

// Parts that a person deleted in AWS, with the role as which one of them acts, are made again: also those that others are below.
func TestAI_PartsThatAPersonDeletedComeBack(t *testing.T) {
	extent.Full(t)
	flags := []string{"--types=" + printedAITypes, "--ambient-namespaces=team-*", aiBoundary, "--check-interval=2s"}
	b := newBed(t, flags...)
	d := b.controls()
	c := withAllAI(b.small("team-hands"))
	c.Spec.AI.KnowledgeBases[0].RecreateOnLoss = true
	b.createBoundary()
	b.Create(c)
	b.Running(c)
	// What others are below goes first, so that the operator makes none of them again below it.
	lost := []string{"AWS::BedrockAgentCore::Gateway", "AWS::BedrockAgentCore::GatewayTarget", typeOfRuntime, "AWS::Bedrock::KnowledgeBase",
		"AWS::Bedrock::DataSource",
		"AWS::Bedrock::Guardrail", "AWS::Bedrock::GuardrailVersion", "AWS::Bedrock::ApplicationInferenceProfile"}
	was := b.deletedByHand(d.Identifiers, lost...)
	admin, role := iam.NewFromConfig(b.admin(homeAccount)), aws.String(c.Name+"-assistant.service")
	if _, err := admin.DeleteRolePolicy(b.Ctx(), &iam.DeleteRolePolicyInput{RoleName: role, PolicyName: aws.String("service")}); err != nil {
		t.Fatal(err)
	}
	if _, err := admin.DeleteRole(b.Ctx(), &iam.DeleteRoleInput{RoleName: role}); err != nil {
		t.Fatal(err)
	}
	b.Eventually(3*time.Minute, "all parts to be there again", func() error {
		for _, typeName := range lost {
			if is := d.Identifiers(typeName); len(is) == 0 || fmt.Sprint(is) == was[typeName] {
				return fmt.Errorf("%s: %v", typeName, is)
			}
		}
		return nil
	})
	b.Running(c)
	b.Quiet()
	base := b.part(c, "handbook")
	settings := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: c.Namespace, Name: c.Name + "-config"}}
	if err := b.Get(settings); err != nil || settings.Data["NEXUS_BEDROCK_KNOWLEDGE_BASE_HANDBOOK"] != base.Status.ID {
		t.Errorf("the workloads know %v, and the knowledge base is %s: %v", settings.Data, base.Status.ID, err)
	}
	if !b.roleExists(*role) {
		t.Error("the role is missing")
	}
	b.Remove(c)
	b.nothingLeft(c.Namespace)
	for _, typeName := range append(typesOfAI, typeOfRuntime) {
		if left := d.Identifiers(typeName); len(left) > 0 {
			t.Errorf("%s: %v is left", typeName, left)
		}
	}
}
