// SPDX-License-Identifier: Apache-2.0

package capability

import (
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
		resource.Tags = map[string]awsv1.TagValue{part.TagCapability: awsv1.TagValue(part.Names{Capability: s.CapabilityName, Environment: s.Environment}.Prefix())}
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

// modelBehind is the ARN of the model of a profile. AWS decides and changes to which regions its own profiles lead.
func modelBehind(k *part.Compiler, p nexusv1.InferenceProfileSpec) string {
	if p.SystemProfile != "" {
		return bedrock.FoundationModel(k.Home, "*", p.ModelID)
	}
	return bedrock.FoundationModel(k.Home, k.Home.Region, p.ModelID)
}

func checkInferenceProfiles(v *part.Verdict, list []nexusv1.InferenceProfileSpec, f part.Facts) {
	v.Distinct(inferenceProfilesField, part.NamesIn(list, func(p nexusv1.InferenceProfileSpec) string { return p.Name }), bedrock.MaxPurpose)
	for i, p := range list {
		at := part.Entry(inferenceProfilesField, i)
		v.Matches(at+".modelID", p.ModelID, 140, bedrock.ModelPattern)
		if p.SystemProfile != "" {
			v.Matches(at+".systemProfile", p.SystemProfile, 160, bedrock.InferenceProfilePattern)
			v.Require(strings.HasSuffix(p.SystemProfile, "."+p.ModelID), at+".systemProfile", "a profile of %s is a geography, a dot and that ID", p.ModelID)
		}
	}
	// The account is known once the provider was read, and with it whether it has a boundary.
	if len(list) > 0 && f.Account != "" && f.Boundary == "" {
		v.Refuse(status.ReasonNotPermitted, inferenceProfilesField, "need a permissions boundary, in which an administrator says which models may be used: "+
			"a spec.providerRef to an AWSProvider with a permissionsBoundaryARN, or the operator's --default-permissions-boundary")
	}
}
