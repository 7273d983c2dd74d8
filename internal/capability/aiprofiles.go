// SPDX-License-Identifier: Apache-2.0

package capability

import (
	"strings"

	awsv1 "github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/iampolicy"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

const (
	inferenceProfilesField = aiField + ".inferenceProfiles"
	typeInferenceProfile   = "AWS::Bedrock::ApplicationInferenceProfile"
	maxProfileName         = 64
	// tagCapability is the tag by which AWS can report the costs of a capability: of inference profiles, and with spec.budget of all that has costs.
	tagCapability = "capability"
)

// inferenceProfileParts returns the profiles. A caller needs the right to the model, too: it is given only through the profile.
// https://docs.aws.amazon.com/bedrock/latest/userguide/inference-profiles-prereq.html
func inferenceProfileParts(s *nexusv1.NexusAICapabilitySpec, list []nexusv1.InferenceProfileSpec) (out []resourcePart) {
	for i, p := range list {
		part := composed(p.Name, typeInferenceProfile, entry(inferenceProfilesField, i), func(k *compiler) map[string]any {
			return map[string]any{"InferenceProfileName": fitted(k.names.Of(p.Name), maxProfileName, "-"),
				"ModelSource": map[string]any{"CopyFrom": sourceOf(k, p)}}
		}).allows("bedrock:InvokeModel", "bedrock:InvokeModelWithResponseStream").
			tells("NEXUS_BEDROCK_MODEL_"+environmentVariable(p.Name), "bedrock/"+p.Name+"-model", exportARN)
		part.tags = map[string]awsv1.TagValue{tagCapability: awsv1.TagValue(Names{s.CapabilityName, s.Environment}.Prefix())}
		part.behind = func(k *compiler, arn string) []iampolicy.Statement {
			return []iampolicy.Statement{{Action: invoke, Resource: []string{modelBehind(k, p)},
				Condition: iampolicy.Conditions{"StringEquals": {"bedrock:InferenceProfileArn": {arn}}}}}
		}
		out = append(out, part)
	}
	return out
}

// sourceOf is the ARN that a profile copies: of the model in the region, or of a profile of AWS over several regions.
func sourceOf(k *compiler, p nexusv1.InferenceProfileSpec) string {
	if p.SystemProfile != "" {
		return k.home.arn("bedrock", "inference-profile/"+p.SystemProfile)
	}
	return foundationModel(k.home, k.home.region, p.ModelID)
}

// modelBehind is the ARN of the model of a profile. AWS decides and changes to which regions its own profiles lead.
func modelBehind(k *compiler, p nexusv1.InferenceProfileSpec) string {
	if p.SystemProfile != "" {
		return foundationModel(k.home, "*", p.ModelID)
	}
	return foundationModel(k.home, k.home.region, p.ModelID)
}

func checkInferenceProfiles(v *verdict, list []nexusv1.InferenceProfileSpec, f Facts) {
	v.distinct(inferenceProfilesField, namesIn(list, func(p nexusv1.InferenceProfileSpec) string { return p.Name }), maxBedrockPurpose)
	for i, p := range list {
		at := entry(inferenceProfilesField, i)
		v.matches(at+".modelID", p.ModelID, 140, modelPattern)
		if p.SystemProfile != "" {
			v.matches(at+".systemProfile", p.SystemProfile, 160, inferenceProfilePattern)
			v.require(strings.HasSuffix(p.SystemProfile, "."+p.ModelID), at+".systemProfile", "a profile of %s is a geography, a dot and that ID", p.ModelID)
		}
	}
	// The account is known once the provider was read, and with it whether it has a boundary.
	if len(list) > 0 && f.Account != "" && f.Boundary == "" {
		v.refuse(status.ReasonNotPermitted, inferenceProfilesField, "need a permissions boundary, in which an administrator says which models may be used: "+
			"a spec.providerRef to an AWSProvider with a permissionsBoundaryARN, or the operator's --default-permissions-boundary")
	}
}
