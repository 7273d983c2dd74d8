// SPDX-License-Identifier: Apache-2.0

package capability_test

import (
	"strings"
	"testing"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/testkit/awstypes"
	"github.com/nexus-operator/nexus-operator/internal/testkit/cloudcontrol"
)

// padded returns a name of a length.
func padded(name string, length int) string { return name + strings.Repeat("x", length-len(name)) }

// withEveryPart declares every part of an AI application, and a budget, with names of a length.
func withEveryPart(length int) func(*nexusv1.NexusAICapability) {
	name := func(begin string) string { return padded(begin, length) }
	store := padded("store", max(5, min(length, 20)))
	return func(c *nexusv1.NexusAICapability) {
		toolGateway()(c)
		gateways, functions := c.Spec.AI.Gateways, c.Spec.DataServices.Resources
		handbook()(c)
		c.Spec.AI.Gateways, c.Spec.DataServices.Resources = gateways, functions
		safety(c.Spec.AI)
		chat(c.Spec.AI)
		sessions(c.Spec.AI)
		agentRuntime("r")(c.Spec.AI)
		ai := c.Spec.AI
		ai.VectorStores[0].Name, ai.VectorStores[0].Indexes[0].Name, ai.Guardrails[0].Name, ai.InferenceProfiles[0].Name = store, name("idx"), name("g"), name("p")
		ai.Memory[0].Name, ai.AgentRuntimes[0].Name, ai.Gateways[0].Name, ai.KnowledgeBases[0].Name = name("m"), name("r"), name("t"), name("k")
		ai.KnowledgeBases[0].Create.VectorIndex = nexusv1.VectorIndexReference{Store: store, Index: name("idx")}
		ai.KnowledgeBases[0].Create.Source.Prefix = padded("docs/", 300)
		for i := range ai.Gateways[0].Targets {
			ai.Gateways[0].Targets[i].Name = padded(string(rune('a'+i)), length)
		}
		c.Spec.Budget = &nexusv1.BudgetSpec{Monthly: 1e9, Emails: []nexusv1.BudgetEmail{"team@example.com"}}
	}
}

// assignedTo returns properties with values for the references, as AWS assigns them.
func assignedTo(value any) any {
	switch v := value.(type) {
	case map[string]any:
		if ref, is := v["$ref"].(string); is {
			return assignedValue(ref, v["field"].(string))
		}
		out := map[string]any{}
		for name, item := range v {
			out[name] = assignedTo(item)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = assignedTo(v[i])
		}
		return out
	case int64:
		return float64(v) // as JSON has it
	default:
		return v
	}
}

func assignedValue(ref, field string) string {
	const arn = "arn:aws:"
	switch kind := kindOf(ref); {
	case kind == "IAMRole":
		return arn + "iam::123456789012:role/r"
	case kind == "S3Bucket":
		return arn + "s3:::documents"
	case kind == "LambdaFunction":
		return arn + "lambda:eu-central-1:123456789012:function:f"
	case field == "status.id" && strings.Contains(ref, "-t"):
		return "gateway-abcdefghij"
	case field == "status.id":
		return "ABCDEFGHIJ"
	case strings.Contains(ref, "-idx"):
		return arn + "s3vectors:eu-central-1:123456789012:bucket/store/index/idx"
	case strings.Contains(ref, "-store"):
		return arn + "s3vectors:eu-central-1:123456789012:bucket/store"
	default:
		return arn + "bedrock:eu-central-1:123456789012:guardrail/abcdefghij"
	}
}

// AWS's schemas allow the properties of all parts, with the shortest and the longest names that a capability may have.
func TestAI_AllPartsFitTheSchemas(t *testing.T) {
	types, err := awstypes.Bundled()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = types.Close() }()
	for _, capability := range []string{"a", padded("app", 37), padded("the--app", 37), "a1-2"} {
		for _, length := range []int{3, 40} {
			c := minimal(withEveryPart(length))
			c.Spec.CapabilityName = capability
			f, seen := bounded(c, facts()), map[string]bool{}
			f.Provider.Region = "eu-central-1"
			for _, o := range ofKind(compile(t, c, f), "AWSResource") {
				typeName := at(t, o, "spec", "typeName").(string)
				schema, err := types.Schema(typeName)
				if err != nil || schema == nil {
					t.Fatalf("%s: %v", typeName, err)
				}
				why, err := cloudcontrol.Validator(schema)
				if err != nil {
					t.Fatal(err)
				}
				if text := why(assignedTo(at(t, o, "spec", "properties")).(map[string]any)); text != "" {
					t.Errorf("%s, %d: %s %s: %s", capability, length, typeName, o.GetName(), text)
				}
				seen[typeName] = true
			}
			if len(seen) != 12 {
				t.Errorf("only %v", seen)
			}
		}
	}
}
