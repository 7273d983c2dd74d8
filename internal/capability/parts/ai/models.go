// SPDX-License-Identifier: Apache-2.0

package ai

import (
	"cmp"
	"strings"

	awsv1 "github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/capability/part"
	"github.com/nexus-operator/nexus-operator/internal/capability/parts/bedrock"
	"github.com/nexus-operator/nexus-operator/internal/capability/parts/resources"
	"github.com/nexus-operator/nexus-operator/internal/iampolicy"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

const (
	guardrailsField       = aiField + ".guardrails"
	typeGuardrail         = "AWS::Bedrock::Guardrail"
	typeGuardrailVersion  = "AWS::Bedrock::GuardrailVersion"
	maxGuardrailName      = 50
	defaultBlockedInput   = "The request was blocked."
	defaultBlockedOutput  = "The answer was blocked."
	defaultFilterStrength = "HIGH"
	noFilter              = "NONE"
)

// contentFilters are the filters of a guardrail. That of attacks by prompts looks at prompts alone.
// https://docs.aws.amazon.com/bedrock/latest/userguide/guardrails-content-filters.html
var contentFilters = []string{"HATE", "INSULTS", "MISCONDUCT", "SEXUAL", "VIOLENCE", promptAttack}

const promptAttack = "PROMPT_ATTACK"

// guardrailParts returns the guardrails, each with the version of its declaration. A version never changes in AWS, so that its object is
// named after its contents: an edit makes another version, and the workloads roll over to it.
func guardrailParts(list []nexusv1.GuardrailSpec) (out []part.Resource) {
	for i, g := range list {
		at, variable, policy := part.Entry(guardrailsField, i), part.EnvironmentVariable(g.Name), guardrailPolicy(g.Create)
		contents := part.HashOf(policy)
		out = append(out, composed(g.Name, typeGuardrail, at, func(k *part.Compiler) map[string]any {
			properties := guardrailPolicy(g.Create)
			properties["Name"] = part.Fitted(k.Names.Of(g.Name), maxGuardrailName, "-")
			return properties
		}).Allows("bedrock:ApplyGuardrail").
			Tells("NEXUS_BEDROCK_GUARDRAIL_"+variable, "bedrock/"+g.Name+"-guardrail", "properties.GuardrailId"))
		version := composed(g.Name+"-version-"+contents, typeGuardrailVersion, at, func(k *part.Compiler) map[string]any {
			return map[string]any{"GuardrailIdentifier": statusOf(k, g.Name, "arn"), "Description": "Contents " + contents}
		}).Tells("NEXUS_BEDROCK_GUARDRAILVERSION_"+variable, "bedrock/"+g.Name+"-guardrail-version", "properties.Version").After(g.Name)
		version.Component = part.ComponentVersions
		out = append(out, version)
	}
	return out
}

func guardrailPolicy(p nexusv1.GuardrailPolicySpec) map[string]any {
	out := map[string]any{
		"BlockedInputMessaging":   cmp.Or(p.BlockedInputMessage, defaultBlockedInput),
		"BlockedOutputsMessaging": cmp.Or(p.BlockedOutputMessage, defaultBlockedOutput),
	}
	if strength := cmp.Or(p.ContentFilters, defaultFilterStrength); strength != noFilter {
		var filters []any
		for _, name := range contentFilters {
			filter := map[string]any{"Type": name, "InputStrength": strength, "OutputStrength": strength}
			if name == promptAttack {
				filter["OutputStrength"] = noFilter
			}
			filters = append(filters, filter)
		}
		out["ContentPolicyConfig"] = map[string]any{"FiltersConfig": filters}
	}
	if list := eachOf(p.DeniedTopics, func(t nexusv1.DeniedTopic) any {
		return map[string]any{"Name": t.Name, "Definition": t.Definition, "Type": "DENY"}
	}); len(list) > 0 {
		out["TopicPolicyConfig"] = map[string]any{"TopicsConfig": list}
	}
	if list := eachOf(p.BlockedWords, func(w nexusv1.BlockedWord) any { return map[string]any{"Text": string(w)} }); len(list) > 0 {
		out["WordPolicyConfig"] = map[string]any{"WordsConfig": list}
	}
	if list := eachOf(p.SensitiveInformation, func(s nexusv1.SensitiveInformation) any {
		return map[string]any{"Type": s.Type, "Action": s.Action}
	}); len(list) > 0 {
		out["SensitiveInformationPolicyConfig"] = map[string]any{"PiiEntitiesConfig": list}
	}
	return out
}

func eachOf[T any](list []T, of func(T) any) []any {
	var out []any
	for _, item := range list {
		out = append(out, of(item))
	}
	return out
}

func checkAIGuardrails(v *part.Verdict, list []nexusv1.GuardrailSpec) {
	for i, g := range list {
		at, p := part.Entry(guardrailsField, i)+".create", g.Create
		v.Require(p.ContentFilters != noFilter || len(p.DeniedTopics)+len(p.BlockedWords)+len(p.SensitiveInformation) > 0, at,
			"contentFilters: NONE needs deniedTopics, blockedWords or sensitiveInformation: a guardrail blocks something")
	}
}

const (
	inferenceProfilesField = aiField + ".inferenceProfiles"
	typeInferenceProfile   = "AWS::Bedrock::ApplicationInferenceProfile"
	maxProfileName         = 64
)

// inferenceProfileParts returns the profiles. A caller needs the right to the model, too: it is given only through the profile.
// https://docs.aws.amazon.com/bedrock/latest/userguide/inference-profiles-prereq.html
func inferenceProfileParts(s *nexusv1.NexusAICapabilitySpec, list []nexusv1.InferenceProfileSpec) (out []part.Resource) {
	for i, p := range list {
		resource := composed(p.Name, typeInferenceProfile, part.Entry(inferenceProfilesField, i), func(k *part.Compiler) map[string]any {
			return map[string]any{"InferenceProfileName": part.Fitted(k.Names.Of(p.Name), maxProfileName, "-"),
				"ModelSource": map[string]any{"CopyFrom": sourceOf(k, p)}}
		}).Allows("bedrock:InvokeModel", "bedrock:InvokeModelWithResponseStream").
			Tells("NEXUS_BEDROCK_MODEL_"+part.EnvironmentVariable(p.Name), "bedrock/"+p.Name+"-model", resources.ExportARN)
		resource.Tags = map[string]awsv1.TagValue{part.TagCapability: awsv1.TagValue(part.Names{Capability: s.CapabilityName,
			Environment: s.Environment}.Prefix())}
		resource.Behind = func(k *part.Compiler, arn string) []iampolicy.Statement {
			return []iampolicy.Statement{{Action: bedrock.Invoke, Resource: []string{modelBehind(k, p)},
				Condition: iampolicy.Conditions{"StringEquals": {"bedrock:InferenceProfileArn": {arn}}}}}
		}
		out = append(out, resource)
	}
	return out
}

// sourceOf is the ARN that a profile copies: of the model in the region, or of a profile of AWS over several regions.
func sourceOf(k *part.Compiler, p nexusv1.InferenceProfileSpec) string {
	if p.SystemProfile != "" {
		return k.Home.ARN("bedrock", "inference-profile/"+p.SystemProfile)
	}
	return bedrock.FoundationModel(k.Home, k.Home.Region, p.ModelID)
}

// modelBehind is the ARN of the model of a profile. AWS decides and changes the regions of its own profiles.
func modelBehind(k *part.Compiler, p nexusv1.InferenceProfileSpec) string {
	if p.SystemProfile != "" {
		return bedrock.FoundationModel(k.Home, "*", p.ModelID)
	}
	return bedrock.FoundationModel(k.Home, k.Home.Region, p.ModelID)
}

func checkInferenceProfiles(v *part.Verdict, list []nexusv1.InferenceProfileSpec, f part.Facts) {
	for i, p := range list {
		v.Require(p.SystemProfile == "" || strings.HasSuffix(p.SystemProfile, "."+p.ModelID), part.Entry(inferenceProfilesField, i)+".systemProfile",
			"a profile of %s is a geography, a dot and that ID", p.ModelID)
	}
	// The account is known once the provider was read, and with it whether it has a boundary.
	if len(list) > 0 && f.Provider.Account != "" && f.Provider.Boundary == "" {
		v.Refuse(status.ReasonNotPermitted, inferenceProfilesField, "need a permissions boundary, in which an administrator says which models may be used: "+
			"a spec.providerRef to an AWSProvider with a permissionsBoundaryARN, or the operator's --default-permissions-boundary")
	}
}
