// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"strings"
	"testing"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/permissions"
	kit "github.com/nexus-operator/nexus-operator/internal/testkit/bed"
	"github.com/nexus-operator/nexus-operator/internal/testkit/extent"
)

const printedAITypes = "AWS::S3Vectors::*,AWS::Bedrock::*,AWS::BedrockAgentCore::*,AWS::Budgets::Budget"

// withAllAI adds every part of an AI application.
func withAllAI(c *nexusv1.NexusAICapability) *nexusv1.NexusAICapability {
	c.Spec.Frontend, c.Spec.Region, c.Spec.DeletionPolicy = nexusv1.FrontendSpec{}, "ap-southeast-1", nexusv1.DeletionDelete
	c.Spec.DataServices = &nexusv1.DataServicesSpec{S3: &nexusv1.S3Spec{Buckets: []nexusv1.BucketSpec{{Name: "documents"}}}}
	c.Spec.AI = &nexusv1.AISpec{
		InferenceProfiles: []nexusv1.InferenceProfileSpec{{Name: "chat", ModelID: "amazon.nova-lite-v1:0"}},
		Guardrails:        []nexusv1.GuardrailSpec{{Name: "safety"}},
		Memory:            []nexusv1.MemorySpec{{Name: "sessions", Strategies: []nexusv1.MemoryStrategy{"Summary"}}},
		VectorStores: []nexusv1.VectorStoreSpec{{Name: "knowledge", Indexes: []nexusv1.VectorIndexSpec{
			{Name: "passages", Dimension: 1024, NonFilterableKeys: []nexusv1.MetadataKey{"AMAZON_BEDROCK_TEXT", "AMAZON_BEDROCK_METADATA"}}}}},
		KnowledgeBases: []nexusv1.KnowledgeBaseSpec{{Name: "handbook",
			Create: nexusv1.KnowledgeBaseCreateSpec{EmbeddingModelID: "amazon.titan-embed-text-v2:0",
				VectorIndex: nexusv1.VectorIndexReference{Store: "knowledge", Index: "passages"},
				Source:      nexusv1.KnowledgeSourceSpec{Bucket: "documents"}}}},
		Gateways: []nexusv1.ToolGatewaySpec{{Name: "tools", Targets: []nexusv1.GatewayTargetSpec{
			{Name: "search", MCPServer: &nexusv1.GatewayServer{Endpoint: "https://mcp.example.com/mcp"}},
			{Name: "news", MCPServer: &nexusv1.GatewayServer{Endpoint: "https://news.example.com/mcp"}}}}},
		AgentRuntimes: []nexusv1.AgentRuntimeSpec{{Name: "assistant", Image: homeAccount + ".dkr.ecr.ap-southeast-1.amazonaws.com/agent:1",
			Access: []nexusv1.AccessName{"sessions", "tools", "handbook"}}},
	}
	return c
}

// A capability with every part of an AI application and a budget is created, edited and deleted by an operator that has the rights of the
// policy that is printed for it, and no others.
func TestPrivilege_EveryPartOfAIFitsThePrintedPolicy(t *testing.T) {
	extent.Full(t)
	scope := permissions.Scope{NamePrefix: "team-", Boundary: boundary, Types: strings.Split(printedAITypes, ",")}
	b := &bed{kit.Limited(t, policiesFor(t, scope), "--types="+printedAITypes, "--ambient-namespaces=team-*", aiBoundary)}
	d := b.controls()
	b.decidesRights(d)
	c := withAllAI(b.small("team-agent"))
	b.createBoundary()
	b.Create(c)
	b.Running(c)

	// With the budget, what exists gets another tag.
	b.Edit(c, func() { c.Spec.Budget = &nexusv1.BudgetSpec{Monthly: 500} })
	b.Running(c)
	b.Edit(c, func() {
		ai := c.Spec.AI
		ai.AgentRuntimes[0].Image = strings.Replace(ai.AgentRuntimes[0].Image, ":1", ":2", 1)
		ai.AgentRuntimes[0].Access = ai.AgentRuntimes[0].Access[:1]
		ai.KnowledgeBases[0].Create.Source.Prefix = "handbook/"
		ai.Guardrails[0].Create.BlockedWords = []nexusv1.BlockedWord{"fool"}
		ai.Memory[0].EventExpiryDays = new(int32(30))
		ai.Gateways[0].Targets = ai.Gateways[0].Targets[:1]
		c.Spec.DeletionPolicy = nexusv1.DeletionRetain
		c.Spec.Budget.Monthly, c.Spec.Budget.Emails = 700, []nexusv1.BudgetEmail{"team@example.com"}
	})
	b.Running(c)
	b.Quiet()
	// what no data is in goes
	for _, typeName := range []string{"AWS::Bedrock::GuardrailVersion", "AWS::BedrockAgentCore::GatewayTarget", budgetType} {
		if left := d.Identifiers(typeName); len(left) != 1 {
			t.Errorf("%s: there are %v after the edit", typeName, left)
		}
	}
	b.Edit(c, func() { c.Spec.Budget, c.Spec.DeletionPolicy = nil, nexusv1.DeletionDelete })
	b.Running(c)
	b.Quiet()
	b.Remove(c)
	b.nothingLeft(c.Namespace)
	for _, call := range b.World.AWS().Calls() {
		if strings.HasPrefix(call.Error, "AccessDenied") || call.Error == "AuthorizationError" {
			t.Errorf("%s was refused: the policy lacks %s", call.Label(), call.Action())
		}
	}
	for _, typeName := range append(typesOfAI, typeOfRuntime, budgetType) {
		if left := d.Identifiers(typeName); len(left) > 0 {
			t.Errorf("%s: %v is left", typeName, left)
		}
	}
}
