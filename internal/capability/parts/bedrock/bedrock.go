// SPDX-License-Identifier: Apache-2.0

// Package bedrock implements spec.dataServices.bedrock, and the code that spec.ai shares with it: the names of models, and the actions on
// them.
package bedrock

import (
	"cmp"
	"fmt"
	"strings"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/capability/part"
	"github.com/nexus-operator/nexus-operator/internal/iampolicy"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// Spec returns spec.dataServices.bedrock; empty when it is absent.
func Spec(s *nexusv1.NexusAICapabilitySpec) nexusv1.BedrockSpec {
	if s.DataServices == nil || s.DataServices.Bedrock == nil {
		return nexusv1.BedrockSpec{}
	}
	return *s.DataServices.Bedrock
}

// The fields of an access that distinguish the Bedrock resources, including those of spec.ai.
const (
	OfModels         = "models"
	OfKnowledgeBases = "knowledgeBases"
	OfGuardrails     = "guardrails"
)

// Part is spec.dataServices.bedrock.
func Part() part.Part {
	return part.Part{
		Checks: []part.Turn[part.Checking]{part.At(140, checkBedrock)},
		Rights: []part.Turn[part.Granting]{part.At(110, bedrockStatements)},
		Values: bedrockValues,
		Entries: part.Entries{
			Place: 90,
			Names: func(s *nexusv1.NexusAICapabilitySpec) []string { return accessibleModels(Spec(s)) },
			Keep: func(a part.AccessSet, _ *nexusv1.NexusAICapabilitySpec, data *nexusv1.DataServicesSpec) {
				if data.Bedrock == nil {
					return
				}
				limited := *data.Bedrock
				limited.Models = part.Keep(a, OfModels, limited.Models, func(m nexusv1.BedrockModel) string { return m.Name })
				limited.KnowledgeBases = part.Keep(a, OfKnowledgeBases, limited.KnowledgeBases,
					func(kb nexusv1.BedrockKnowledgeBase) string { return kb.Name })
				limited.Guardrails = part.Keep(a, OfGuardrails, limited.Guardrails, func(g nexusv1.BedrockGuardrail) string { return g.Name })
				data.Bedrock = &limited
			},
		},
	}
}

// bedrockValues returns the settings with the Bedrock resources and their region.
func bedrockValues(k *part.Compiler) (out []part.Value) {
	b := Spec(k.Spec)
	if usesBedrock(b) {
		out = append(out, part.Value{Parameter: "bedrock/region", Variable: "NEXUS_BEDROCK_REGION", Text: bedrockHome(k).Region})
	}
	for _, m := range b.Models {
		out = append(out, part.Value{Parameter: "bedrock/" + m.Name + "-model",
			Variable: "NEXUS_BEDROCK_MODEL_" + part.EnvironmentVariable(m.Name), Text: invoked(m)})
	}
	for _, kb := range b.KnowledgeBases {
		out = append(out, part.Value{Parameter: "bedrock/" + kb.Name + "-knowledge-base",
			Variable: "NEXUS_BEDROCK_KNOWLEDGE_BASE_" + part.EnvironmentVariable(kb.Name), Text: kb.ID})
	}
	for _, g := range b.Guardrails {
		out = append(out, part.Value{Parameter: "bedrock/" + g.Name + "-guardrail",
			Variable: "NEXUS_BEDROCK_GUARDRAIL_" + part.EnvironmentVariable(g.Name), Text: g.ID},
			// One word, so that no guardrail can be named like the version of another.
			part.Value{Parameter: "bedrock/" + g.Name + "-guardrail-version",
				Variable: "NEXUS_BEDROCK_GUARDRAILVERSION_" + part.EnvironmentVariable(g.Name), Text: guardrailVersion(g)})
	}
	return out
}

// usesBedrock reports whether anything is named.
func usesBedrock(b nexusv1.BedrockSpec) bool {
	return len(b.Models)+len(b.KnowledgeBases)+len(b.Guardrails) > 0
}

// guardrailVersion is the one that is applied.
func guardrailVersion(g nexusv1.BedrockGuardrail) string { return cmp.Or(g.Version, "DRAFT") }

// invoked returns the name that an application uses to invoke a model.
func invoked(m nexusv1.BedrockModel) string { return cmp.Or(m.InferenceProfile, m.ModelID) }

// bedrockHome returns the home of the Bedrock resources: that of the capability with the region of Bedrock.
func bedrockHome(k *part.Compiler) part.Home {
	h := k.Home
	h.Region = cmp.Or(Spec(k.Spec).Region, h.Region)
	return h
}

// Invoke lists the actions for calling a model, through Converse as well.
// https://docs.aws.amazon.com/bedrock/latest/userguide/inference-prereq.html
var Invoke = []string{"bedrock:InvokeModel", "bedrock:InvokeModelWithResponseStream"}

// bedrockStatements allow the use of exactly the named resources. Actions that know no resource, such as bedrock:RetrieveAndGenerate, are
// not among them.
//
// A caller of an inference profile also needs the right to its model in each region that the profile leads to. AWS decides and
// changes which regions those are, so the model is allowed in all of them, but only through the profile.
// https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazonbedrock.html
// https://docs.aws.amazon.com/bedrock/latest/userguide/inference-profiles-prereq.html
func bedrockStatements(k *part.Compiler) []iampolicy.Statement {
	b, h := Spec(k.Spec), bedrockHome(k)
	var direct, profiles, behind, bases, guardrails []string
	for _, m := range b.Models {
		switch p := m.InferenceProfile; {
		case p == "":
			direct = append(direct, FoundationModel(h, h.Region, m.ModelID))
			continue
		case strings.HasPrefix(p, "arn:"):
			profiles = append(profiles, p)
		default:
			profiles = append(profiles, h.ARN("bedrock", "inference-profile/"+p))
		}
		behind = append(behind, FoundationModel(h, "*", m.ModelID))
	}
	for _, kb := range b.KnowledgeBases {
		bases = append(bases, h.ARN("bedrock", "knowledge-base/"+kb.ID))
	}
	for _, g := range b.Guardrails {
		guardrails = append(guardrails, h.ARN("bedrock", "guardrail/"+g.ID))
	}
	through := iampolicy.Conditions{"StringEquals": {"bedrock:InferenceProfileArn": part.SortedOnce(profiles)}}
	var out []iampolicy.Statement
	for _, s := range []iampolicy.Statement{
		{Sid: "Models", Action: Invoke, Resource: append(direct, profiles...)},
		{Sid: "ModelsOfProfiles", Action: Invoke, Resource: behind, Condition: through},
		{Sid: "KnowledgeBases", Action: []string{"bedrock:Retrieve"}, Resource: bases},
		{Sid: "Guardrails", Action: []string{"bedrock:ApplyGuardrail"}, Resource: guardrails},
	} {
		if len(s.Resource) > 0 {
			s.Resource = part.SortedOnce(s.Resource)
			out = append(out, s)
		}
	}
	return out
}

// FoundationModel names a model of AWS, which is in no account.
func FoundationModel(h part.Home, region, id string) string {
	return "arn:" + h.Partition + ":bedrock:" + region + "::foundation-model/" + id
}

func checkBedrock(v *part.Verdict, c *nexusv1.NexusAICapability, f part.Facts) {
	b := Spec(&c.Spec)
	const at = "spec.dataServices.bedrock"
	for i, m := range b.Models {
		checkModel(v, fmt.Sprintf("%s.models[%d]", at, i), m, cmp.Or(b.Region, f.RegionOf(c)), f)
	}
	// The account is known once the provider was read, and with it whether it has a boundary.
	if usesBedrock(b) && f.Provider.Account != "" && f.Provider.Boundary == "" {
		v.Refuse(status.ReasonNotPermitted, at, "needs a permissions boundary, in which an administrator says what of Bedrock may be used: "+
			"a spec.providerRef to an AWSProvider with a permissionsBoundaryARN, or the operator's --default-permissions-boundary")
	}
}

func checkModel(v *part.Verdict, at string, m nexusv1.BedrockModel, region string, f part.Facts) {
	if m.InferenceProfile == "" {
		return
	}
	v.Require(strings.HasPrefix(m.InferenceProfile, "arn:") || strings.HasSuffix(m.InferenceProfile, "."+m.ModelID), at+".inferenceProfile",
		"a profile of %s is a geography, a dot and that ID, or the ARN of an application inference profile", m.ModelID)
	v.Local(at+".inferenceProfile", "profile", m.InferenceProfile, region, f)
}

// accessibleModels returns the named Bedrock resources that components can have access to.
func accessibleModels(b nexusv1.BedrockSpec) (out []string) {
	for _, m := range b.Models {
		out = append(out, OfModels+"/"+m.Name)
	}
	for _, kb := range b.KnowledgeBases {
		out = append(out, OfKnowledgeBases+"/"+kb.Name)
	}
	for _, g := range b.Guardrails {
		out = append(out, OfGuardrails+"/"+g.Name)
	}
	return out
}
