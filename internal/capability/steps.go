// SPDX-License-Identifier: Apache-2.0

package capability

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	awsv1 "github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
)

// The names of the reported steps; graph.Node.Step is one of them, StepPolicies, or empty for the
// provider.
const (
	StepDynamoDB       = "DynamoDB"
	StepS3             = "S3"
	StepGlue           = "Glue"
	StepSSM            = "SSM"
	StepSecrets        = "Secrets"
	StepIAM            = "IAM"
	StepNamespace      = "Namespace"
	StepServiceAccount = "ServiceAccount"
	StepBackend        = "Backend"
	StepFrontend       = "Frontend"
	StepIngress        = "Ingress"
)

// Step is one line of the story that a capability's status tells. The story has an order; the work is
// done along the graph's edges.
type Step struct {
	Number int
	Name   string
	// Phase of a capability that is being made and has come as far as this step.
	Phase nexusv1.Phase
	// Condition that speaks of the step.
	Condition string
}

// Steps are the reported steps in their order.
var Steps = []Step{
	{1, StepDynamoDB, nexusv1.PhaseProvisioningDataServices, nexusv1.ConditionDataServicesReady},
	{2, StepS3, nexusv1.PhaseProvisioningDataServices, nexusv1.ConditionDataServicesReady},
	{3, StepGlue, nexusv1.PhaseProvisioningDataServices, nexusv1.ConditionDataServicesReady},
	{4, StepSSM, nexusv1.PhaseProvisioningSSM, nexusv1.ConditionParametersReady},
	{5, StepSecrets, nexusv1.PhaseProvisioningSecrets, nexusv1.ConditionSecretsReady},
	{6, StepIAM, nexusv1.PhaseProvisioningIAM, nexusv1.ConditionIdentityReady},
	{7, StepNamespace, nexusv1.PhaseDeploying, nexusv1.ConditionNamespaceReady},
	{8, StepServiceAccount, nexusv1.PhaseDeploying, nexusv1.ConditionIdentityReady},
	{9, StepBackend, nexusv1.PhaseDeployingBackend, nexusv1.ConditionBackendReady},
	{10, StepFrontend, nexusv1.PhaseDeployingFrontend, nexusv1.ConditionFrontendReady},
	{11, StepIngress, nexusv1.PhaseDeployingFrontend, nexusv1.ConditionIngressReady},
}

// StepOf returns the step of that name; ok is false for the provider's, which is in none.
func StepOf(name string) (Step, bool) {
	i := slices.IndexFunc(Steps, func(s Step) bool { return s.Name == name })
	if i < 0 {
		return Step{}, false
	}
	return Steps[i], true
}

// Parts that the numbered steps do not count; the condition of the data services speaks of all but Cognito.
const (
	StepKMS     = "KMS"
	StepSQS     = "SQS"
	StepSNS     = "SNS"
	StepCognito = "Cognito"
	// StepComponents is the part of spec.components.
	StepComponents = "Components"
	// StepResources is that of spec.dataServices.resources.
	StepResources = "Resources"
)

// UncountedSteps are these parts, with the number 0.
var UncountedSteps = []Step{
	{0, StepKMS, nexusv1.PhaseProvisioningDataServices, nexusv1.ConditionDataServicesReady},
	{0, StepSQS, nexusv1.PhaseProvisioningDataServices, nexusv1.ConditionDataServicesReady},
	{0, StepSNS, nexusv1.PhaseProvisioningDataServices, nexusv1.ConditionDataServicesReady},
	{0, StepResources, nexusv1.PhaseProvisioningDataServices, nexusv1.ConditionDataServicesReady},
	{0, StepCognito, nexusv1.PhaseProvisioningCognito, nexusv1.ConditionCognitoReady},
	{0, StepComponents, nexusv1.PhaseDeploying, nexusv1.ConditionComponentsReady},
}

// partStep returns the step of that name, also of a part that the numbered steps do not count.
func partStep(name string) (Step, bool) {
	if i := slices.IndexFunc(UncountedSteps, func(s Step) bool { return s.Name == name }); i >= 0 {
		return UncountedSteps[i], true
	}
	return StepOf(name)
}

// Stage is a set of kinds whose objects are removed together, and the steps that are undone by it.
type Stage struct {
	Kinds []schema.GroupVersionKind
	Steps []string
	// ServiceRoles is true for the stage that removes the roles as which resources act; the stage of the other roles leaves them out.
	ServiceRoles bool
}

// Includes reports whether an object of a kind and name is removed in the stage.
func (s Stage) Includes(kind, name string) bool {
	isOfKind := slices.ContainsFunc(s.Kinds, func(k schema.GroupVersionKind) bool { return k.Kind == kind })
	return isOfKind && (kind != kindRole || s.ServiceRoles == isServiceRole(name))
}

// DeletionOrder are the stages of a deletion that is ours to order: traffic stops first, then the
// workloads, and only then what they were held to; access ends before data goes; the provider is last,
// for nothing in AWS goes without it.
var DeletionOrder = []Stage{
	{Kinds: kinds(kindRecordSet)},
	{Kinds: kinds(kindIngress, kindRoute), Steps: []string{StepIngress}},
	{Kinds: kinds(kindGateway)},
	{Kinds: kinds(kindBalancerSettings, kindTargetSettings)}, // their controller needs them for as long as the Gateway is there
	{Kinds: kinds(kindCertificate, kindHostedZone)},
	{Kinds: kinds(kindDeployment, kindJob, kindCronJob, kindService, kindConfigMap, kindDisruptionBudget, kindAutoscaler), Steps: []string{StepFrontend, StepBackend}},
	{Kinds: kinds(kindServiceAccount), Steps: []string{StepServiceAccount}},
	{Kinds: kinds(kindPolicies)},
	{Kinds: kinds(kindQuota, kindNamespace), Steps: []string{StepNamespace}},
	{Kinds: kinds(kindAssociation, kindGlueCrawler)}, // a role goes after what acts as it
	{Kinds: kinds(kindRole), Steps: []string{StepIAM}},
	{Kinds: kinds(ResourceKinds()...)},
	{Kinds: kinds(kindRole), ServiceRoles: true}, // these resources act as them until they are gone
	{Kinds: kinds(kindPool)},
	{Kinds: kinds(kindSecret), Steps: []string{StepSecrets}},
	{Kinds: kinds(kindParameters), Steps: []string{StepSSM}},
	{Kinds: kinds(kindTopic)},
	{Kinds: kinds(kindQueue)},
	{Kinds: kinds(kindGlueTable)},
	{Kinds: kinds(kindGlueDatabase), Steps: []string{StepGlue}},
	{Kinds: kinds(kindBucket), Steps: []string{StepS3}},
	{Kinds: kinds(kindTable), Steps: []string{StepDynamoDB}},
	{Kinds: kinds(kindKey)},
	{Kinds: kinds(kindProvider)},
}

func kinds(names ...string) []schema.GroupVersionKind {
	out := make([]schema.GroupVersionKind, len(names))
	for i, n := range names {
		gv, ok := kube[n]
		if !ok {
			gv = awsv1.GroupVersion
		}
		out[i] = gv.WithKind(n)
	}
	return out
}

// stageOf returns the place of an object in DeletionOrder; the last one for what is not in it.
func stageOf(id string) int {
	kind, name, _ := strings.Cut(id, "/")
	i := slices.IndexFunc(DeletionOrder, func(s Stage) bool { return s.Includes(kind, name) })
	if i < 0 {
		return len(DeletionOrder) - 1
	}
	return i
}
