// SPDX-License-Identifier: Apache-2.0

// Package ai implements spec.ai. Each entry becomes resources that package resources makes.
package ai

import (
	"cmp"
	"slices"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/capability/part"
	"github.com/nexus-operator/nexus-operator/internal/capability/parts/bedrock"
)

const aiField = "spec.ai"

// The fields of an access that distinguish parts of spec.ai.
const (
	ofVectorStores = "vectorStores"
	ofProfiles     = "inferenceProfiles"
	ofRuntimes     = "agentRuntimes"
	ofGateways     = "gateways"
	ofMemory       = "memory"
)

// Part returns the part of spec.ai. The resources part makes its objects.
func Part() part.Part {
	return part.Part{
		Checks: []part.Turn[part.Checking]{part.At(100, checkAI)},
		Entries: part.Entries{
			Place: 80, Names: func(s *nexusv1.NexusAICapabilitySpec) []string { return accessibleAI(aiOf(s)) },
			Narrow: func(a part.AccessSet, out *nexusv1.NexusAICapabilitySpec) { out.AI = restrictAI(a, out.AI) },
		},
		Resources: aiParts,
		Billed: []string{"AWS::S3Vectors::VectorBucket", "AWS::S3Vectors::Index", typeGuardrail, typeInferenceProfile,
			"AWS::BedrockAgentCore::Memory",
			"AWS::Bedrock::KnowledgeBase", typeGateway, typeRuntime},
		// The name of a data source and of a target would be taken. AWS allows 20 versions of a guardrail, and each edit makes one.
		// https://docs.aws.amazon.com/general/latest/gr/bedrock.html
		Untagged: []string{typeDataSource, typeGatewayTarget, typeGuardrailVersion},
	}
}

// aiOf returns the declared parts of an AI application; none when the spec names none.
func aiOf(s *nexusv1.NexusAICapabilitySpec) nexusv1.AISpec { return *cmp.Or(s.AI, &nexusv1.AISpec{}) }

// aiParts returns the resources that spec.ai becomes.
func aiParts(ps part.Parts, s *nexusv1.NexusAICapabilitySpec) []part.Resource {
	ai := aiOf(s)
	return slices.Concat(vectorStoreParts(ai.VectorStores), guardrailParts(ai.Guardrails), inferenceProfileParts(s, ai.InferenceProfiles),
		memoryParts(ai.Memory), knowledgeBaseParts(ai.KnowledgeBases), gatewayParts(ai.Gateways), agentRuntimeParts(ps, s, ai.AgentRuntimes))
}

// composed returns a resource of a type that the operator composes.
func composed(name, typeName, field string, compose func(*part.Compiler) map[string]any) part.Resource {
	return part.Resource{ResourcePart: nexusv1.ResourcePart{Name: name, Type: typeName}, Field: field, Component: part.ComponentAI,
		Compose: compose}
}

// statusOf refers to a field in the status of the object of another resource.
func statusOf(k *part.Compiler, name, field string) map[string]any {
	return map[string]any{"$ref": part.KindAnyType + "/" + k.Names.Of(name), "field": "status." + field}
}

// accessibleAI returns the entries of spec.ai that components can have access to.
func accessibleAI(ai nexusv1.AISpec) (out []string) {
	for _, s := range ai.VectorStores {
		out = append(out, ofVectorStores+"/"+s.Name)
	}
	for _, g := range ai.Guardrails {
		out = append(out, bedrock.OfGuardrails+"/"+g.Name)
	}
	for _, p := range ai.InferenceProfiles {
		out = append(out, ofProfiles+"/"+p.Name)
	}
	for _, m := range ai.Memory {
		out = append(out, ofMemory+"/"+m.Name)
	}
	for _, kb := range ai.KnowledgeBases {
		out = append(out, bedrock.OfKnowledgeBases+"/"+kb.Name)
	}
	for _, g := range ai.Gateways {
		out = append(out, ofGateways+"/"+g.Name)
	}
	for _, r := range ai.AgentRuntimes {
		out = append(out, ofRuntimes+"/"+r.Name)
	}
	return out
}

// restrictAI returns those of the parts of an AI application that are in the set.
func restrictAI(a part.AccessSet, ai *nexusv1.AISpec) *nexusv1.AISpec {
	if ai == nil {
		return nil
	}
	return &nexusv1.AISpec{
		VectorStores:      part.Keep(a, ofVectorStores, ai.VectorStores, func(s nexusv1.VectorStoreSpec) string { return s.Name }),
		Guardrails:        part.Keep(a, bedrock.OfGuardrails, ai.Guardrails, func(g nexusv1.GuardrailSpec) string { return g.Name }),
		InferenceProfiles: part.Keep(a, ofProfiles, ai.InferenceProfiles, func(p nexusv1.InferenceProfileSpec) string { return p.Name }),
		Memory:            part.Keep(a, ofMemory, ai.Memory, func(m nexusv1.MemorySpec) string { return m.Name }),
		Gateways:          part.Keep(a, ofGateways, ai.Gateways, func(g nexusv1.ToolGatewaySpec) string { return g.Name }),
		AgentRuntimes:     part.Keep(a, ofRuntimes, ai.AgentRuntimes, func(r nexusv1.AgentRuntimeSpec) string { return r.Name }),
		KnowledgeBases: part.Keep(a, bedrock.OfKnowledgeBases, ai.KnowledgeBases,
			func(kb nexusv1.KnowledgeBaseSpec) string { return kb.Name }),
	}
}

// checkAI checks spec.ai.
func checkAI(v *part.Verdict, c *nexusv1.NexusAICapability, f part.Facts) {
	ai := aiOf(&c.Spec)
	checkAIGuardrails(v, ai.Guardrails)
	checkInferenceProfiles(v, ai.InferenceProfiles, f)
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
