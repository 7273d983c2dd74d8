// SPDX-License-Identifier: Apache-2.0

package capability

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"
	"slices"
	"strings"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/iampolicy"
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

// aiPart is spec.ai, of which the resources part makes the objects.
func aiPart() part {
	return part{
		checks: []turn[checking]{at(100, checkAI)},
		entries: entries{
			place: 80, names: func(s *nexusv1.NexusAICapabilitySpec) []string { return accessibleAI(aiOf(s)) },
			narrow: func(a accessSet, out *nexusv1.NexusAICapabilitySpec) { out.AI = restrictAI(a, out.AI) },
		},
		resources: aiParts,
		billed: []string{"AWS::S3Vectors::VectorBucket", "AWS::S3Vectors::Index", typeGuardrail, typeInferenceProfile, "AWS::BedrockAgentCore::Memory",
			"AWS::Bedrock::KnowledgeBase", typeGateway, typeRuntime},
		// The name of a data source and of a target would be taken, and AWS allows 20 versions of a guardrail, of which each edit makes one.
		// https://docs.aws.amazon.com/general/latest/gr/bedrock.html
		untagged: []string{typeDataSource, typeGatewayTarget, typeGuardrailVersion},
	}
}

// aiOf returns the declared parts of an AI application; none when the spec names none.
func aiOf(s *nexusv1.NexusAICapabilitySpec) nexusv1.AISpec { return *cmp.Or(s.AI, &nexusv1.AISpec{}) }

// aiParts returns the resources that spec.ai becomes.
func aiParts(ps parts, s *nexusv1.NexusAICapabilitySpec) []resourcePart {
	ai := aiOf(s)
	return slices.Concat(vectorStoreParts(ai.VectorStores), guardrailParts(ai.Guardrails), inferenceProfileParts(s, ai.InferenceProfiles), memoryParts(ai.Memory), knowledgeBaseParts(ai.KnowledgeBases), gatewayParts(ai.Gateways), agentRuntimeParts(ps, s, ai.AgentRuntimes))
}

// composed returns a resource of a type that the operator composes.
func composed(name, typeName, field string, compose func(*compiler) map[string]any) resourcePart {
	return resourcePart{ResourcePart: nexusv1.ResourcePart{Name: name, Type: typeName}, field: field, component: componentAI, compose: compose}
}

// allows sets the actions that the workloads may use on the resource.
func (r resourcePart) allows(actions ...nexusv1.PartAction) resourcePart {
	r.Access = &nexusv1.PartAccess{Actions: actions}
	return r
}

// tells exports a value of the resource, as a variable and as a parameter.
func (r resourcePart) tells(variable, parameter string, value nexusv1.ExportedValue) resourcePart {
	if r.Exports == nil {
		r.Exports, r.parameters = map[string]nexusv1.ExportedValue{}, map[string]string{}
	}
	r.Exports[variable], r.parameters[variable] = value, parameter
	return r
}

// after makes the resource use others.
func (r resourcePart) after(names ...string) resourcePart {
	for _, name := range names {
		r.Uses = append(r.Uses, nexusv1.PartName(name))
	}
	return r
}

// statusOf refers to a field in the status of the object of another resource.
func statusOf(k *compiler, name, field string) map[string]any {
	return map[string]any{"$ref": kindAnyType + "/" + k.names.Of(name), "field": "status." + field}
}

// entry names an element of a list.
func entry(field string, i int) string { return fmt.Sprintf("%s[%d]", field, i) }

var doubled = regexp.MustCompile(`[-_]{2,}`)

// fitted returns a name of at most so many characters for a service that allows shorter names, or no two hyphens in a row. A name that does
// not fit is cut, and ends in a hash of the whole name, so that different names stay different.
func fitted(name string, most int, hyphen string) string {
	plain := doubled.ReplaceAllString(name, hyphen)
	if plain == name && len(name) <= most {
		return name
	}
	return strings.TrimRight(plain[:min(len(plain), most-1-2*hashBytes)], hyphen) + hyphen + shortHash(name)
}

const hashBytes = 4

func shortHash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:hashBytes])
}

// joined returns one statement for those with the same actions and no condition, so that the policy of a role stays short.
func joined(statements []iampolicy.Statement) (out []iampolicy.Statement) {
	for _, s := range statements {
		i := slices.IndexFunc(out, func(o iampolicy.Statement) bool {
			return slices.Equal(o.Action, s.Action) && len(o.Condition)+len(s.Condition) == 0
		})
		if i < 0 {
			out = append(out, s)
			continue
		}
		out[i].Resource = append(slices.Clone(out[i].Resource), s.Resource...)
	}
	return out
}

// accessibleAI returns what spec.ai has to give access to.
func accessibleAI(ai nexusv1.AISpec) (out []string) {
	for _, s := range ai.VectorStores {
		out = append(out, ofVectorStores+"/"+s.Name)
	}
	for _, g := range ai.Guardrails {
		out = append(out, ofGuardrails+"/"+g.Name)
	}
	for _, p := range ai.InferenceProfiles {
		out = append(out, ofProfiles+"/"+p.Name)
	}
	for _, m := range ai.Memory {
		out = append(out, ofMemory+"/"+m.Name)
	}
	for _, kb := range ai.KnowledgeBases {
		out = append(out, ofKnowledgeBases+"/"+kb.Name)
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
func restrictAI(a accessSet, ai *nexusv1.AISpec) *nexusv1.AISpec {
	if ai == nil {
		return nil
	}
	return &nexusv1.AISpec{
		VectorStores:      keep(a, ofVectorStores, ai.VectorStores, func(s nexusv1.VectorStoreSpec) string { return s.Name }),
		Guardrails:        keep(a, ofGuardrails, ai.Guardrails, func(g nexusv1.GuardrailSpec) string { return g.Name }),
		InferenceProfiles: keep(a, ofProfiles, ai.InferenceProfiles, func(p nexusv1.InferenceProfileSpec) string { return p.Name }),
		Memory:            keep(a, ofMemory, ai.Memory, func(m nexusv1.MemorySpec) string { return m.Name }),
		Gateways:          keep(a, ofGateways, ai.Gateways, func(g nexusv1.ToolGatewaySpec) string { return g.Name }),
		AgentRuntimes:     keep(a, ofRuntimes, ai.AgentRuntimes, func(r nexusv1.AgentRuntimeSpec) string { return r.Name }),
		KnowledgeBases:    keep(a, ofKnowledgeBases, ai.KnowledgeBases, func(kb nexusv1.KnowledgeBaseSpec) string { return kb.Name }),
	}
}
