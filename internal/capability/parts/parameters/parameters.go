// SPDX-License-Identifier: Apache-2.0

// Package parameters makes the SSM parameters. All parts publish their values to the application there.
package parameters

import (
	"maps"
	"slices"

	awsv1 "github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/api/wellknown"
	"github.com/nexus-operator/nexus-operator/internal/capability/part"
	"github.com/nexus-operator/nexus-operator/internal/iampolicy"
)

// Names of the parameters: of their kind and step.
const (
	kindParameters = "SSMParameterSet"
	StepSSM        = "SSM"
)

// Part holds all values for the application.
func Part() part.Part {
	return part.Part{
		Steps: []part.Step{{Number: 4, Name: StepSSM, Phase: nexusv1.PhaseProvisioningSSM, Condition: nexusv1.ConditionParametersReady}},
		Kinds: []part.KindFacts{{
			Kind: kindParameters, Step: StepSSM, Removed: part.Removal{Stage: part.RemovesData + 20, Steps: []string{StepSSM}}, Grants: true,
			Refusal: "is made of all values of the capability: use exports",
			Prove: func(child awsv1.Resource, proof *part.Proof) {
				proof.Names = slices.Clone(child.(*awsv1.SSMParameterSet).Status.ManagedNames)
			},
		}},
		Compile: []func(*part.Compiler){addParameters},
		Rights:  []part.Turn[part.Granting]{part.At(40, parameterStatements)},
	}
}

// addParameters makes the one object that holds all SSM parameters.
func addParameters(k *part.Compiler) {
	o := &awsv1.SSMParameterSet{Spec: awsv1.SSMParameterSetSpec{
		Path: k.Names.ParameterPath(), Parameters: map[string]awsv1.SSMParameter{},
	}}
	for name, value := range parameterValues(k) {
		o.Spec.Parameters[name] = awsv1.SSMParameter{Value: value, Type: "String"}
	}
	k.ParameterSet = k.Resource(part.Child{Kind: kindParameters, Name: k.Names.Prefix(), Step: StepSSM, Component: "ssm"}, o)
}

// parameterValues returns the parameters by their names below the path. An application finds all its resources by them.
func parameterValues(k *part.Compiler) map[string]string {
	v := map[string]string{
		"aws/region": k.Home.Region, "aws/account-id": k.Home.Account,
		"app/capability": k.Names.Capability, "app/environment": k.Names.Environment, "app/version": k.Spec.Version,
		"k8s/namespace": k.Names.WorkloadNamespace(),
	}
	for _, found := range k.AllValues() {
		if found.Parameter != "" {
			v[found.Parameter] = found.Text
		}
	}
	return v
}

// maxNamedParameters limits the parameters that a policy names one by one. All policies of a role share 10,240
// characters.
const maxNamedParameters = 24

// SidParameters is the statement about the SSM parameters.
const SidParameters = "Parameters"

// parameterStatements name the parameters one by one, or those of the path that carry the tag of the parameter set. A right on the path
// alone would also cover parameters that others put below it. That is why the actions leave out ssm:GetParametersByPath: AWS authorizes it
// by the path.
// https://docs.aws.amazon.com/systems-manager/latest/userguide/sysman-paramstore-access.html
func parameterStatements(k *part.Compiler) []iampolicy.Statement {
	id := kindParameters + "/" + k.Names.Prefix()
	values, proof := parameterValues(k), k.Proof(id)
	if k.Expected != nil {
		proof = k.ExpectParameters(id, values)
	}
	path := "parameter" + k.Names.ParameterPath() + "/"
	names := proof.Names
	if k.AssumeOwned {
		names = slices.Collect(maps.Keys(values))
	}
	var arns []string
	for _, name := range names {
		if _, declared := values[name]; declared {
			arns = append(arns, k.Home.ARN("ssm", path+name))
		}
	}
	out := iampolicy.Statement{Sid: SidParameters, Action: []string{"ssm:GetParameter", "ssm:GetParameters"}, Resource: arns}
	switch {
	case len(arns) == 0:
		return nil
	case len(arns) > maxNamedParameters && !k.Access.Limited:
		out.Resource = []string{k.Home.ARN("ssm", path+"*")}
		out.Condition = iampolicy.Conditions{"StringEquals": {"aws:ResourceTag/" + wellknown.TagOwnerUID: {proof.UID}}}
	default:
		slices.Sort(out.Resource)
	}
	return []iampolicy.Statement{out}
}
