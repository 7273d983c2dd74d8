// SPDX-License-Identifier: Apache-2.0

package capability

import (
	"maps"
	"slices"

	awsv1 "github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/api/wellknown"
	"github.com/nexus-operator/nexus-operator/internal/iampolicy"
)

// Names of the parameters: of their kind and step.
const (
	kindParameters = "SSMParameterSet"
	StepSSM        = "SSM"
)

// parametersPart holds all values for the application.
func parametersPart() part {
	return part{
		steps: []Step{{4, StepSSM, nexusv1.PhaseProvisioningSSM, nexusv1.ConditionParametersReady}},
		kinds: []kindFacts{{
			kind: kindParameters, step: StepSSM, removed: removal{stage: removesData + 20, steps: []string{StepSSM}}, grants: true,
			refusal: "is made of all values of the capability: use exports",
			prove: func(child awsv1.Resource, proof *Proof) {
				proof.Names = slices.Clone(child.(*awsv1.SSMParameterSet).Status.ManagedNames)
			},
		}},
		compile: []func(*compiler){addParameters},
		rights:  []turn[granting]{at(40, parameterStatements)},
	}
}

// addParameters makes the one object that holds all SSM parameters.
func addParameters(k *compiler) {
	o := &awsv1.SSMParameterSet{Spec: awsv1.SSMParameterSetSpec{
		Path: k.names.ParameterPath(), Parameters: map[string]awsv1.SSMParameter{},
	}}
	for name, value := range parameterValues(k) {
		o.Spec.Parameters[name] = awsv1.SSMParameter{Value: value, Type: "String"}
	}
	k.parameterSet = k.resource(child{kindParameters, k.names.Prefix(), StepSSM, "ssm"}, o)
}

// parameterValues are the parameters by their names below the path: what an application needs to find
// everything that belongs to it.
func parameterValues(k *compiler) map[string]string {
	v := map[string]string{
		"aws/region": k.home.region, "aws/account-id": k.home.account,
		"app/capability": k.names.Capability, "app/environment": k.names.Environment, "app/version": k.spec.Version,
		"k8s/namespace": k.names.WorkloadNamespace(),
	}
	for _, found := range k.allValues() {
		if found.parameter != "" {
			v[found.parameter] = found.text
		}
	}
	return v
}

// maxNamedParameters limits the parameters that a policy names one by one. All policies of a role share 10,240
// characters.
const maxNamedParameters = 24

// allValues are the values of all parts.
func (k *compiler) allValues() (out []value) {
	for _, p := range k.parts {
		if p.values != nil {
			out = append(out, p.values(k)...)
		}
	}
	return out
}

// valuesOf makes values of texts by the ends of their names.
func valuesOf(parameters, variables string, texts map[string]string) (out []value) {
	for _, name := range sortedKeys(texts) {
		out = append(out, value{parameters + name, variables + environmentVariable(name), texts[name]})
	}
	return out
}

// sidParameters is the statement about the SSM parameters.
const sidParameters = "Parameters"

// parameterStatements name the parameters one by one, or those of the path that carry the tag of the parameter set.
// A right on the path alone would reach whatever else anybody puts below it; that is why
// ssm:GetParametersByPath, which AWS decides by the path, is not among the actions.
// https://docs.aws.amazon.com/systems-manager/latest/userguide/sysman-paramstore-access.html
func parameterStatements(k *compiler) []iampolicy.Statement {
	id := kindParameters + "/" + k.names.Prefix()
	values, proof := parameterValues(k), k.proof(id)
	if k.expected != nil {
		proof = k.expectParameters(id, values)
	}
	path := "parameter" + k.names.ParameterPath() + "/"
	names := proof.Names
	if k.assumeOwned {
		names = slices.Collect(maps.Keys(values))
	}
	var arns []string
	for _, name := range names {
		if _, declared := values[name]; declared {
			arns = append(arns, k.home.arn("ssm", path+name))
		}
	}
	out := iampolicy.Statement{Sid: sidParameters, Action: []string{"ssm:GetParameter", "ssm:GetParameters"}, Resource: arns}
	switch {
	case len(arns) == 0:
		return nil
	case len(arns) > maxNamedParameters && !k.access.limited:
		out.Resource = []string{k.home.arn("ssm", path+"*")}
		out.Condition = iampolicy.Conditions{"StringEquals": {"aws:ResourceTag/" + wellknown.TagOwnerUID: {proof.UID}}}
	default:
		slices.Sort(out.Resource)
	}
	return []iampolicy.Statement{out}
}

// ParameterPath is the path of the SSM parameters.
func (n Names) ParameterPath() string { return "/" + n.Capability + "/" + n.Environment }
