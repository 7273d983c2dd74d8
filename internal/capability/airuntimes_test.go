// SPDX-License-Identifier: Apache-2.0

package capability_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/capability"
	"github.com/nexus-operator/nexus-operator/internal/graph"
	"github.com/nexus-operator/nexus-operator/internal/iampolicy"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

const agentImage = "123456789012.dkr.ecr.eu-central-1.amazonaws.com/team/agent:1.0"

// agentRuntime declares an agent runtime that may use some parts.
func agentRuntime(name string, access ...nexusv1.AccessName) func(*nexusv1.AISpec) {
	return func(ai *nexusv1.AISpec) {
		ai.AgentRuntimes = append(ai.AgentRuntimes, nexusv1.AgentRuntimeSpec{Name: name, Image: agentImage, Access: access, Env: []nexusv1.AgentVariable{{Name: "LOG_LEVEL", Value: "debug"}}})
	}
}

// imageIn returns the image of an agent in the registry of a region.
func imageIn(region string) string {
	image := strings.Replace(agentImage, "eu-central-1", region, 1)
	if strings.HasPrefix(region, "cn-") {
		image = strings.Replace(image, "amazonaws.com/", "amazonaws.com.cn/", 1)
	}
	return image
}

// anyRuntime adds an agent runtime that may use some secrets, where the region of its image is known.
func anyRuntime(t *rapid.T, c *nexusv1.NexusAICapability, region string) {
	if region == "" || !rapid.Bool().Draw(t, "agent runtime") {
		return
	}
	access := rapid.SliceOfDistinct(rapid.SampledFrom([]nexusv1.AccessName{"openai", "secrets/github", "license"}), rapid.ID).Draw(t, "access of the agent")
	c.Spec.AI.AgentRuntimes = []nexusv1.AgentRuntimeSpec{{Name: "agent-of-" + rapid.StringMatching(`[a-z]{1,20}`).Draw(t, "agent"), Image: imageIn(region), Access: access,
		Protocol: rapid.SampledFrom([]string{"", "MCP"}).Draw(t, "protocol")}}
}

// moveTo sets the region of a capability, and of the images of its agents.
func moveTo(c *nexusv1.NexusAICapability, region string) {
	c.Spec.Region = region
	if c.Spec.AI != nil {
		for i := range c.Spec.AI.AgentRuntimes {
			c.Spec.AI.AgentRuntimes[i].Image = imageIn(region)
		}
	}
}

const (
	idOfAssistant    = "AWSResource/myapp-dev-assistant"
	idOfAssistantsOf = "IAMRole/myapp-dev-assistant.service"
)

// An agent acts as a role with the rights of its access, and with those to pull its image and to write its logs. The workloads invoke it.
func TestRuntimes_ActWithTheRightsOfTheirAccess(t *testing.T) {
	c := minimal(withData, withAI(knowledge, sessions, agentRuntime("assistant", "sessions", "openai")), with("web", access("agentRuntimes/assistant")), with("other", access("sessions")))
	g := compile(t, c, facts())
	const (
		memory  = "arn:aws:bedrock-agentcore:eu-central-1:123456789012:memory/myapp-dev-sessions"
		itself  = "arn:aws:bedrock-agentcore:eu-central-1:123456789012:runtime/myapp-dev-assistant"
		logs    = "arn:aws:logs:eu-central-1:123456789012:log-group:/aws/bedrock-agentcore/runtimes/myapp_dev_assistant-abcdefghij-DEFAULT"
		image   = "arn:aws:ecr:eu-central-1:123456789012:repository/team/agent"
		vectors = "arn:aws:s3vectors:eu-central-1:123456789012:bucket/store/index/myapp-dev-knowledge-passages"
	)
	for id, expected := range map[string]map[request]bool{
		idOfAssistantsOf: {
			{"bedrock-agentcore:CreateEvent", memory, ""}: true, {"bedrock-agentcore:DeleteMemory", memory, ""}: false, {"s3vectors:QueryVectors", vectors, ""}: false,
			{"ecr:BatchGetImage", image, ""}: true, {"ecr:BatchGetImage", image + "2", ""}: false, {"ecr:PutImage", image, ""}: false, {"ecr:GetAuthorizationToken", "*", ""}: true,
			{"logs:PutLogEvents", logs + ":log-stream:a", ""}: true, {"logs:DeleteLogGroup", logs, ""}: false,
			{"logs:PutLogEvents", strings.Replace(logs, "assistant", "other", 1) + ":log-stream:a", ""}: false,
			{"bedrock-agentcore:InvokeAgentRuntime", itself, ""}:                                        false, {"ssm:GetParameter", "arn:aws:ssm:eu-central-1:123456789012:parameter/myapp/dev/app/version", ""}: false,
		},
		"IAMRole/" + roleOf(c, "web"): {
			{"bedrock-agentcore:InvokeAgentRuntime", itself, ""}: true, {"bedrock-agentcore:InvokeAgentRuntime", itself + "/runtime-endpoint/DEFAULT", ""}: true,
			{"bedrock-agentcore:UpdateAgentRuntime", itself, ""}: false, {"bedrock-agentcore:InvokeAgentRuntime", itself + "-of-others", ""}: false, {"bedrock-agentcore:CreateEvent", memory, ""}: false,
		},
		"IAMRole/" + roleOf(c, "other"): {{"bedrock-agentcore:InvokeAgentRuntime", itself, ""}: false},
	} {
		documents := policies(t, object(t, g, id))
		for r, may := range expected {
			if got := granted(t, documents, r); got != may {
				t.Errorf("%s: %s on %s: %v", id, r.action, r.resource, got)
			}
		}
	}
	trust, err := iampolicy.Parse(at(t, object(t, g, idOfAssistantsOf), "spec", "assumeRolePolicyDocument").(string))
	if err != nil || !slices.Equal(trust.Statement[0].Principal["Service"], []string{"bedrock-agentcore.amazonaws.com"}) || !slices.Equal(trust.Statement[0].Condition["StringEquals"]["aws:SourceAccount"], []string{"123456789012"}) {
		t.Errorf("the role trusts %+v, %v", trust, err)
	}
	properties := at(t, object(t, g, idOfAssistant), "spec", "properties").(map[string]any)
	variables := properties["EnvironmentVariables"].(map[string]any)
	if variables["LOG_LEVEL"] != "debug" || variables["NEXUS_MEMORY_ID_SESSIONS"] != "assigned-to-sessions" || properties["AgentRuntimeName"] != "myapp_dev_assistant" {
		t.Errorf("%v", properties)
	}
	for name := range variables {
		if strings.HasPrefix(name, "AWS_") || strings.HasPrefix(name, "NEXUS_BACKEND") || strings.HasPrefix(name, "NEXUS_VECTOR") || name == "NEXUS_SSM_PREFIX" {
			t.Errorf("the agent has the variable %s", name)
		}
	}
	data := at(t, object(t, g, "ConfigMap/"+strings.TrimSuffix(roleOf(c, "web"), "role")+"config"), "data").(map[string]any)
	if data["NEXUS_AGENT_RUNTIME_ARN_ASSISTANT"] != "assigned-to-assistant" {
		t.Errorf("%v", data)
	}
	for _, id := range []string{idOfAssistantsOf, "AWSResource/myapp-dev-sessions"} {
		if !slices.ContainsFunc(g.Unmet(idOfAssistant, func(string) graph.Progress { return graph.Pending }), func(unmet string) bool { return strings.Contains(unmet, id) }) {
			t.Errorf("the runtime does not wait for %s", id)
		}
	}
	if used := capability.UsersOf(c, "AWSResource", "myapp-dev-sessions"); !slices.Equal(used, []string{idOfAssistant}) {
		t.Errorf("the memory is used by %v", used)
	}
}

// A runtime is not created before its role has the rights on all that it may use.
func TestRuntimes_WaitForTheRightsOfTheirRoles(t *testing.T) {
	c := minimal(withData, withAI(sessions, agentRuntime("assistant", "sessions")))
	f := bounded(c, facts())
	g := builtWith(t, c, f)
	f.Owned = everything(t, g, c, f)
	delete(f.Owned, "AWSResource/myapp-dev-sessions")
	g, err := capability.Compile(c, f)
	if err != nil {
		t.Fatal(err)
	}
	if n, _ := g.Node(idOfAssistant); n.Unresolved != "AWSResource/myapp-dev-sessions" {
		t.Errorf("it waits for %q", n.Unresolved)
	}
	if text := fmt.Sprint(object(t, g, idOfAssistantsOf).Object); strings.Contains(text, "CreateEvent") {
		t.Errorf("rights without proof: %s", text)
	}
}

func TestRuntimes_AreRefusedByTheirFields(t *testing.T) {
	edited := func(edit func(*nexusv1.AgentRuntimeSpec)) func(*nexusv1.AISpec) {
		return func(ai *nexusv1.AISpec) {
			sessions(ai)
			agentRuntime("assistant", "sessions")(ai)
			edit(&ai.AgentRuntimes[0])
		}
	}
	for name, k := range map[string]struct {
		edit        func(*nexusv1.AISpec)
		field, text string
	}{
		"no ECR": {edited(func(r *nexusv1.AgentRuntimeSpec) { r.Image = "registry.example/agent:1" }), ".image", "must be an image in Amazon ECR"},
		"no tag": {edited(func(r *nexusv1.AgentRuntimeSpec) { r.Image = strings.TrimSuffix(agentImage, ":1.0") }), ".image", "with a tag or a digest"},
		"another region": {edited(func(r *nexusv1.AgentRuntimeSpec) {
			r.Image = strings.Replace(agentImage, "eu-central-1", "us-east-1", 1)
		}), ".image", "in region us-east-1"},
		"another account": {edited(func(r *nexusv1.AgentRuntimeSpec) {
			r.Image = strings.Replace(agentImage, "123456789012", "999999999999", 1)
		}), ".image", "in account 999999999999"},
		"a protocol":         {edited(func(r *nexusv1.AgentRuntimeSpec) { r.Protocol = "FTP" }), ".protocol", `supported values: "HTTP", "MCP", "A2A"`},
		"nothing":            {edited(func(r *nexusv1.AgentRuntimeSpec) { r.Access = []nexusv1.AccessName{"nothing"} }), ".access[0]", "is nothing that"},
		"itself":             {edited(func(r *nexusv1.AgentRuntimeSpec) { r.Access = []nexusv1.AccessName{"assistant"} }), ".access[0]", "is nothing that"},
		"twice":              {edited(func(r *nexusv1.AgentRuntimeSpec) { r.Access = []nexusv1.AccessName{"sessions", "sessions"} }), ".access[1]", "Duplicate value"},
		"a taken name":       {edited(func(r *nexusv1.AgentRuntimeSpec) { r.Name = "sessions"; r.Access = nil }), ".name", "another part"},
		"an operator's name": {edited(func(r *nexusv1.AgentRuntimeSpec) { r.Env[0].Name = "NEXUS_REGION" }), ".env[0].name", "begins with NEXUS_"},
		"a variable twice":   {edited(func(r *nexusv1.AgentRuntimeSpec) { r.Env = append(r.Env, r.Env[0]) }), ".env[1]", "Duplicate value"},
		"too many variables": {func(ai *nexusv1.AISpec) {
			edited(func(r *nexusv1.AgentRuntimeSpec) {
				for i := len(r.Env); i < 20; i++ {
					r.Env = append(r.Env, nexusv1.AgentVariable{Name: fmt.Sprintf("V%d", i)})
				}
				for _, name := range []string{"a", "b", "c", "d"} { // 9 variables each
					store := nexusv1.VectorStoreSpec{Name: name}
					for i := range 8 {
						store.Indexes = append(store.Indexes, nexusv1.VectorIndexSpec{Name: fmt.Sprintf("index-%d", i), Dimension: 1})
					}
					ai.VectorStores, r.Access = append(ai.VectorStores, store), append(r.Access, nexusv1.AccessName(name))
				}
			})(ai)
		}, ".env", "AWS allows 50"},
	} {
		t.Run(name, func(t *testing.T) {
			s, ok := status.AsStalled(capability.Validate(minimal(withData, withAI(k.edit)), bounded(minimal(withAI()), facts())))
			if !ok || s.Field != "spec.ai.agentRuntimes[0]"+k.field || !strings.Contains(s.Message, k.text) {
				t.Errorf("%v, want %s: %s", s, k.field, k.text)
			}
		})
	}
}

// A role with more rights than AWS allows is refused before AWS refuses it, also where no component has them.
func TestRuntimes_WithTooManyRightsAreRefused(t *testing.T) {
	c := minimal(withAI(agentRuntime("assistant")), func(c *nexusv1.NexusAICapability) {
		c.Spec.ProviderRef = &nexusv1.ProviderReference{Name: "shared"}
		c.Spec.Backend.Access, c.Spec.Frontend.Access = &[]nexusv1.AccessName{}, &[]nexusv1.AccessName{}
		c.Spec.DataServices = &nexusv1.DataServicesSpec{}
		actions := []nexusv1.PartAction{"kinesis:DescribeStream", "kinesis:DescribeStreamSummary", "kinesis:GetRecords", "kinesis:GetShardIterator", "kinesis:ListShards",
			"kinesis:ListTagsForStream", "kinesis:MergeShards", "kinesis:PutRecord", "kinesis:PutRecords", "kinesis:SplitShard", "kinesis:IncreaseStreamRetentionPeriod", "kinesis:DecreaseStreamRetentionPeriod"}
		for i := range 16 {
			name := fmt.Sprintf("store-%d", i)
			c.Spec.DataServices.Resources = append(c.Spec.DataServices.Resources, nexusv1.ResourcePart{Name: name, Type: "AWS::Kinesis::Stream",
				Properties: raw(`{"Name":"{name}"}`), Access: &nexusv1.PartAccess{Actions: actions}})
			c.Spec.AI.AgentRuntimes[0].Access = append(c.Spec.AI.AgentRuntimes[0].Access, nexusv1.AccessName(name))
		}
		for i := range 16 {
			name := fmt.Sprintf("queue-%d", i)
			c.Spec.DataServices.Queues = append(c.Spec.DataServices.Queues, nexusv1.QueueSpec{Name: name})
			c.Spec.AI.AgentRuntimes[0].Access = append(c.Spec.AI.AgentRuntimes[0].Access, nexusv1.AccessName(name))
		}
		c.Spec.CapabilityName = strings.Repeat("x", 37)
	})
	s, ok := status.AsStalled(capability.Validate(c, bounded(c, facts())))
	if !ok || s.Field != "spec.ai.agentRuntimes[0]" || !strings.Contains(s.Message, "AWS allows 10240") {
		t.Errorf("%v", s)
	}
}

// A runtime has no rights on other parts without access, and an edit of another part leaves it as it is.
func TestRuntimes_WithoutAccessHaveNone(t *testing.T) {
	c := minimal(withData, withAI(knowledge, sessions, agentRuntime("assistant")))
	rights := rightsOf(t, compile(t, c, facts()), "myapp-dev-assistant.service")
	for _, action := range slices.Sorted(maps.Keys(rights)) {
		if !strings.HasPrefix(action, "ecr:") && !strings.HasPrefix(action, "logs:") {
			t.Errorf("it may %s on %v", action, rights[action])
		}
	}
}
