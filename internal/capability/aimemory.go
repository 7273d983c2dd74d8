// SPDX-License-Identifier: Apache-2.0

package capability

import (
	"slices"
	"strings"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/capability/part"
)

const (
	memoryField           = aiField + ".memory"
	typeMemory            = "AWS::BedrockAgentCore::Memory"
	maxMemoryName         = 48
	maxMemoryPurpose      = 40
	defaultEventDays      = 90
	leastEventDays        = 3
	mostEventDays         = 365
	memoryStrategySuffix  = "MemoryStrategy"
	memoryIDVariable      = "NEXUS_MEMORY_ID_"
	memoryParameterPrefix = "bedrock-agentcore/"
)

// memoryStrategies are the strategies, each with the name that it has in the memory.
var memoryStrategies = map[nexusv1.MemoryStrategy]string{"Semantic": "semantic", "Summary": "summary", "UserPreference": "user_preference", "Episodic": "episodic"}

// memoryUse lists the actions on what a memory holds; none of them changes the memory.
// https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazonbedrockagentcore.html
var memoryUse = []nexusv1.PartAction{
	"bedrock-agentcore:CreateEvent", "bedrock-agentcore:DeleteEvent", "bedrock-agentcore:DeleteMemoryRecord", "bedrock-agentcore:GetEvent", "bedrock-agentcore:GetMemory",
	"bedrock-agentcore:GetMemoryRecord", "bedrock-agentcore:ListActors", "bedrock-agentcore:ListEvents", "bedrock-agentcore:ListMemoryRecords",
	"bedrock-agentcore:ListSessions", "bedrock-agentcore:RetrieveMemoryRecords",
}

func memoryParts(list []nexusv1.MemorySpec) (out []part.Resource) {
	for i, m := range list {
		resource := composed(m.Name, typeMemory, part.Entry(memoryField, i), func(k *part.Compiler) map[string]any { return memoryProperties(k, m) }).
			Allows(memoryUse...).Tells(memoryIDVariable+part.EnvironmentVariable(m.Name), memoryParameterPrefix+m.Name+"-memory-id", "properties.MemoryId")
		resource.RecreateOnLoss = m.RecreateOnLoss
		out = append(out, resource)
	}
	return out
}

// memoryProperties has names without hyphens, which AgentCore does not allow.
func memoryProperties(k *part.Compiler, m nexusv1.MemorySpec) map[string]any {
	out := map[string]any{
		"Name":                part.Fitted(strings.ReplaceAll(k.Names.Of(m.Name), "-", "_"), maxMemoryName, "_"),
		"EventExpiryDuration": int64(part.Int32Or(m.EventExpiryDays, defaultEventDays)),
	}
	var strategies []any
	for _, s := range slices.Sorted(slices.Values(m.Strategies)) {
		strategies = append(strategies, map[string]any{string(s) + memoryStrategySuffix: map[string]any{"Name": memoryStrategies[s]}})
	}
	if len(strategies) > 0 {
		out["MemoryStrategies"] = strategies
	}
	return out
}

func checkMemory(v *part.Verdict, list []nexusv1.MemorySpec) {
	v.Distinct(memoryField, part.NamesIn(list, func(m nexusv1.MemorySpec) string { return m.Name }), maxMemoryPurpose)
	for i, m := range list {
		at := part.Entry(memoryField, i)
		v.Require(m.EventExpiryDays == nil || *m.EventExpiryDays >= leastEventDays && *m.EventExpiryDays <= mostEventDays, at+".eventExpiryDays", "%d to %d", leastEventDays, mostEventDays)
		seen := map[nexusv1.MemoryStrategy]bool{}
		for j, s := range m.Strategies {
			field := part.Entry(at+".strategies", j)
			part.OneOf(v, field, s, part.SortedKeys(memoryStrategies)...)
			v.Require(!seen[s], field, "%q is there twice", string(s))
			seen[s] = true
		}
	}
}
