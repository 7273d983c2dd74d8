// SPDX-License-Identifier: Apache-2.0

package capability

import (
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/capability/part"
	"github.com/nexus-operator/nexus-operator/internal/capability/parts/bedrock"
)

// maxAIEntries limits each list of spec.ai.
const maxAIEntries = 8

// checkAI checks spec.ai.
func checkAI(v *part.Verdict, c *nexusv1.NexusAICapability, f part.Facts) {
	ai := aiOf(&c.Spec)
	v.Require(max(len(ai.VectorStores), len(ai.Guardrails), len(ai.InferenceProfiles), len(ai.Memory), len(ai.KnowledgeBases), len(ai.Gateways), len(ai.AgentRuntimes)) <= maxAIEntries, aiField, "at most %d entries in each list", maxAIEntries)
	checkVectorStores(v, ai.VectorStores)
	checkAIGuardrails(v, ai.Guardrails)
	checkInferenceProfiles(v, ai.InferenceProfiles, f)
	checkMemory(v, ai.Memory)
	checkKnowledgeBases(v, &c.Spec, f)
	checkGateways(v, &c.Spec)
	checkAgentRuntimes(v, c, f)
	checkAINames(v, &c.Spec)
	if region := bedrock.Spec(&c.Spec).Region; region != "" && len(ai.Guardrails)+len(ai.InferenceProfiles)+len(ai.KnowledgeBases) > 0 {
		own := f.RegionOf(c)
		v.Require(own == "" || own == region, "spec.dataServices.bedrock.region", "is %s, and spec.ai creates guardrails, inference profiles and knowledge bases in %s: use one region for both", region, own)
	}
}

// checkAINames requires that no two parts have the same name: objects, rights and variables are named after it.
func checkAINames(v *part.Verdict, s *nexusv1.NexusAICapabilitySpec) {
	// Only the declaration is copied: the object itself may be written at the same time.
	others := nexusv1.NexusAICapability{Spec: *s}
	others.Spec.AI = nil
	taken, b := map[string]bool{}, bedrock.Spec(s)
	for name := range v.Parts.ObjectsByName(&others) {
		taken[name] = true
	}
	for _, m := range b.Models {
		taken[m.Name] = true
	}
	for _, kb := range b.KnowledgeBases {
		taken[kb.Name] = true
	}
	for _, g := range b.Guardrails {
		taken[g.Name] = true
	}
	for _, r := range aiParts(v.Parts, s) {
		v.Require(!taken[r.Name], r.Field+".name", "%q is the name of another part of the capability: choose another name", r.Name)
		taken[r.Name] = true
	}
}
