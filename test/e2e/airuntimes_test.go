// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"slices"
	"strings"
	"testing"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	double "github.com/nexus-operator/nexus-operator/internal/testkit/cloudcontrol"
	"github.com/nexus-operator/nexus-operator/internal/testkit/extent"
)

const (
	runtimeTypes  = "--types=AWS::BedrockAgentCore::Memory,AWS::BedrockAgentCore::Runtime"
	runtimesSpace = "--ambient-namespaces=runs-*"
	typeOfRuntime = "AWS::BedrockAgentCore::Runtime"
)

// runs is a capability of one backend that invokes an agent, which keeps its sessions in a memory.
func (b *bed) runs(name string) *nexusv1.NexusAICapability {
	c := b.small(name)
	c.Spec.Frontend, c.Spec.Region, c.Spec.DeletionPolicy = nexusv1.FrontendSpec{}, "ap-southeast-1", nexusv1.DeletionDelete
	c.Spec.AI = &nexusv1.AISpec{
		Memory: []nexusv1.MemorySpec{{Name: "sessions"}},
		AgentRuntimes: []nexusv1.AgentRuntimeSpec{{Name: "assistant", Image: homeAccount + ".dkr.ecr.ap-southeast-1.amazonaws.com/agent:1",
			Access: []nexusv1.AccessName{"sessions"}}},
	}
	return c
}

// A runtime waits until AgentCore can assume its role, is changed in place by an edit, rests, and goes before its role.
func TestRuntimes_AnAgentRunsIsUpdatedAndGoesBeforeItsRole(t *testing.T) {
	extent.Full(t)
	b := newBed(t, runtimeTypes, runtimesSpace)
	d := b.controls()
	c := b.runs("runs-agent")
	agents := c.Spec.AI.AgentRuntimes
	c.Spec.AI.AgentRuntimes = nil // so that the next create is that of the runtime
	b.Create(c)
	b.Running(c)
	d.Fail("CREATE", double.Failure{Code: "InvalidRequest",
		Message: "Role validation failed for 'r'. Please verify that the role exists and its trust policy allows assumption by this service"})
	b.Edit(c, func() { c.Spec.AI.AgentRuntimes = agents })
	b.Running(c)
	ids := d.Identifiers(typeOfRuntime)
	if len(ids) != 1 {
		t.Fatalf("the runtimes are %v", ids)
	}
	variables, _ := d.Properties(typeOfRuntime, ids[0])["EnvironmentVariables"].(map[string]any)
	if id, _ := variables["NEXUS_MEMORY_ID_SESSIONS"].(string); id == "" ||
		!strings.HasSuffix(d.Identifiers("AWS::BedrockAgentCore::Memory")[0], "/"+id) {
		t.Errorf("the agent has the variables %v", variables)
	}
	role := c.Name + "-assistant.service"
	b.contains(b.inline(role), "bedrock-agentcore:CreateEvent", b.part(c, "sessions").Status.ARN, "repository/agent")
	b.contains(b.inline(c.Name+"-app-role"), "bedrock-agentcore:InvokeAgentRuntime", b.part(c, "assistant").Status.ARN)

	b.Edit(c, func() {
		c.Spec.AI.AgentRuntimes[0].Image = strings.Replace(c.Spec.AI.AgentRuntimes[0].Image, ":1", ":2", 1)
	})
	b.Running(c)
	b.Quiet()
	if again := d.Identifiers(typeOfRuntime); !slices.Equal(again, ids) {
		t.Errorf("an edit makes %v of %v", again, ids)
	}
	calls, kube := b.Mark()
	b.Restart(runtimeTypes, runtimesSpace)
	b.Passed("nexusaicapability", "awsresource", "iamrole")
	if writes := b.World.AWS().Since(calls).Writes(); writes.Count() > 0 {
		t.Errorf("a second pass writes to AWS:\n%s", writes)
	}
	for _, w := range b.KubeWrites(kube) {
		t.Errorf("a second pass writes to Kubernetes: %s", w)
	}
	calls, _ = b.Mark()
	b.Remove(c)
	b.nothingLeft(c.Namespace)
	b.deletedBefore(b.World.AWS().Since(calls), typeOfRuntime, role)
	if left := append(d.Identifiers(typeOfRuntime), d.Identifiers("AWS::BedrockAgentCore::Memory")...); len(left) > 0 {
		t.Errorf("%v is left", left)
	}
}
