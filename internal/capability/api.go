// SPDX-License-Identifier: Apache-2.0

package capability

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	awsv1 "github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/capability/part"
	"github.com/nexus-operator/nexus-operator/internal/capability/parts"
	"github.com/nexus-operator/nexus-operator/internal/capability/parts/identity"
	"github.com/nexus-operator/nexus-operator/internal/capability/parts/namespace"
	"github.com/nexus-operator/nexus-operator/internal/capability/parts/policies"
	"github.com/nexus-operator/nexus-operator/internal/capability/parts/resources"
	"github.com/nexus-operator/nexus-operator/internal/capability/parts/signin"
	"github.com/nexus-operator/nexus-operator/internal/capability/parts/traffic"
	"github.com/nexus-operator/nexus-operator/internal/capability/parts/workloads"
	"github.com/nexus-operator/nexus-operator/internal/capability/report"
	"github.com/nexus-operator/nexus-operator/internal/graph"
)

// Agent describes the EKS Pod Identity Agent, a DaemonSet of the add-on eks-pod-identity-agent.
type Agent = report.Agent

// ClosedToBalancer is a SecurityIntent that closes a component, where it is bound to it, to the component's load balancer.
type ClosedToBalancer = part.ClosedToBalancer

// CredentialPods are the pods of a Deployment's newest template, by whether they have a way to AWS credentials.
type CredentialPods = report.CredentialPods

// Facts holds the input of Compile about the surroundings of the capability.
type Facts = part.Facts

// Healing records the replacement of pods that started without credentials.
type Healing = report.Healing

// IdentityFacts describes how pods get credentials.
type IdentityFacts = part.IdentityFacts

// Names derives every name of a capability from its capabilityName and environment.
type Names = part.Names

// Observed is all that a capability's status is made of.
type Observed = report.Observed

// Proof describes the resource that a child owns in AWS.
type Proof = part.Proof

// Stage is a set of kinds that are removed together, and the steps that their removal undoes.
type Stage = part.Stage

// State is the observed state of one node of the graph.
type State = report.State

// StepState is the progress of a step.
type StepState = report.StepState

// Workload describes the objects of a component by their names.
type Workload = workloads.Workload

// The names that other rooms use.
const (
	AgentName             = report.AgentName
	AgentNamespace        = report.AgentNamespace
	AnnotationIdentity    = identity.AnnotationIdentity
	AnnotationRoleARN     = identity.AnnotationRoleARN
	AnnotationRun         = workloads.AnnotationRun
	DefaultRegion         = part.DefaultRegion
	GatewayGroup          = traffic.GatewayGroup
	LabelComponent        = part.LabelComponent
	LabelEnvironment      = part.LabelEnvironment
	LabelInstance         = part.LabelInstance
	LabelName             = part.LabelName
	LabelPartOf           = part.LabelPartOf
	LabelVersion          = part.LabelVersion
	ReplacementsExhausted = report.ReplacementsExhausted
	SignInClient          = signin.SignInClient
	StepDone              = report.StepDone
	StepIdle              = report.StepIdle
	StepIngress           = traffic.StepIngress
	StepPolicies          = policies.StepPolicies
	StepResources         = part.StepResources
	StepUnderWay          = report.StepUnderWay
)

// DeletionOrder lists the stages of a deletion that the operator orders. Traffic stops first, then the workloads, and then their policies
// and quotas. Access ends before data is deleted. The provider is last, because no AWS resource can be deleted without it.
var DeletionOrder = parts.DeletionOrder

// Steps are the reported steps in their order.
var Steps = parts.Steps

// UncountedSteps belong to parts that the numbered steps do not count, and have the number 0.
var UncountedSteps = parts.UncountedSteps

// ActingResource returns the ID of the node of the resource that acts as a service role; "" for every other object.
func ActingResource(kind, name string) string {
	return resources.ActingResource(kind, name)
}

// BalancedComponents returns the components with pods that a load balancer of AWS calls.
func BalancedComponents(c *nexusv1.NexusAICapability, f part.Facts) []policies.Balanced {
	return policies.BalancedComponents(c, f)
}

// BalancerSettingsKind returns the kind that configures the AWS Load Balancer Controller for a Gateway or a GatewayClass.
func BalancerSettingsKind() schema.GroupVersionKind {
	return traffic.BalancerSettingsKind()
}

// CNAMEObject names the Route53RecordSet of the CNAME record that the host of c has or had; "" where the records do not depend on it.
func CNAMEObject(c *nexusv1.NexusAICapability, f part.Facts) string {
	return traffic.CNAMEObject(c, f)
}

// EffectiveDeletionPolicy returns the deletion policy of the AWS resources: spec.deletionPolicy, or by default Retain in production and
// Delete in all other environments.
func EffectiveDeletionPolicy(c *nexusv1.NexusAICapability) nexusv1.DeletionPolicy {
	return part.EffectiveDeletionPolicy(c)
}

// GatewayObject names the Gateway that the capability's route belongs to; ok is false where there is none.
func GatewayObject(c *nexusv1.NexusAICapability) (namespace, name string, ok bool) {
	return traffic.GatewayObject(c)
}

// GatewayOf returns spec.ingress.gateway of a capability; nil if traffic comes through an Ingress, or not from outside.
func GatewayOf(c *nexusv1.NexusAICapability) *nexusv1.GatewaySpec {
	return traffic.GatewayOf(c)
}

// HasAssociation reports whether a graph gives a role to pods through EKS Pod Identity.
func HasAssociation(g *graph.Graph) bool {
	return identity.HasAssociation(g)
}

// HasIngress reports whether an Ingress or a Gateway leads traffic to components.
func HasIngress(c *nexusv1.NexusAICapability) bool {
	return workloads.HasIngress(c)
}

// HoldsData reports whether data is lost with the AWS resource of an object of dataServices.resources.
func HoldsData(o awsv1.Resource) bool {
	return resources.HoldsData(o)
}

// IngressWithRecords returns the Ingress with the load balancer that the records of the host lead to; ok is false when the capability keeps
// no records, or has a Gateway.
func IngressWithRecords(c *nexusv1.NexusAICapability) (namespace, name string, ok bool) {
	return traffic.IngressWithRecords(c)
}

// IsExisting reports whether an object of a capability only observes a store that the capability does not own.
func IsExisting(child awsv1.Resource) bool {
	return part.IsExisting(child)
}

// IsGatewayKind reports whether a kind belongs to the Gateway API or its extensions. A cluster need not have their definitions.
func IsGatewayKind(k schema.GroupVersionKind) bool {
	return traffic.IsGatewayKind(k)
}

// IsJobAtWork reports whether a Job has not ended and a container of it runs.
func IsJobAtWork(live *unstructured.Unstructured) bool {
	return workloads.IsJobAtWork(live)
}

// IsOfAI reports whether the labels are those of an object that spec.ai declares, or declared.
func IsOfAI(labels map[string]string) bool {
	return part.IsOfAI(labels)
}

// IsSameRun reports whether a live Job runs, or ran, the declaration of the desired Job.
func IsSameRun(live, desired metav1.Object) bool {
	return workloads.IsSameRun(live, desired)
}

// IsSystemNamespace reports whether a namespace of that name belongs to a component of the cluster.
func IsSystemNamespace(name string) bool {
	return namespace.IsSystemNamespace(name)
}

// IsUndecided reports whether the mode is Auto and has not chosen yet.
func IsUndecided(c *nexusv1.NexusAICapability, recorded nexusv1.IdentityStatus) bool {
	return identity.IsUndecided(c, recorded)
}

// IsWaiting reports whether the stores of a deleted capability are kept until the time is over.
func IsWaiting(c *nexusv1.NexusAICapability) bool {
	return report.IsWaiting(c)
}

// KeepsRecords reports whether the capability keeps the records of its host.
func KeepsRecords(c *nexusv1.NexusAICapability) bool {
	return traffic.KeepsRecords(c)
}

// MergeChanges adds changes of objects that are not in a list yet, in a stable order.
func MergeChanges(have, more []nexusv1.RolloutChange) []nexusv1.RolloutChange {
	return report.MergeChanges(have, more)
}

// NamesOf returns the names of c.
func NamesOf(c *nexusv1.NexusAICapability) part.Names {
	return part.NamesOf(c)
}

// NewChange describes one changed object within the bounds of the status.
func NewChange(kind, name, action string, fields []string) nexusv1.RolloutChange {
	return report.NewChange(kind, name, action, fields)
}

// OnlyProgress reports whether a status differs from the one before only in how far the capability has come within its phase.
func OnlyProgress(before, after nexusv1.NexusAICapabilityStatus) bool {
	return report.OnlyProgress(before, after)
}

// PodsToReplace chooses, among the pods of each Deployment that lack credentials, those to be replaced now.
func PodsToReplace(records []nexusv1.ReplacedPod, of map[string]report.CredentialPods, now time.Time) (chosen, kept []nexusv1.ReplacedPod,
	bounded bool) {
	return report.PodsToReplace(records, of, now)
}

// ProviderName names the AWSProvider of c: the one it refers to, or the one made for it.
func ProviderName(c *nexusv1.NexusAICapability) string {
	return part.ProviderName(c)
}

// RequestedIdentity is the mode that the spec asks for; empty is IRSA.
func RequestedIdentity(c *nexusv1.NexusAICapability) nexusv1.IdentityMode {
	return identity.RequestedIdentity(c)
}

// SignInHost is the host of STS that the pods of a capability call for their credentials; "" where the EKS Pod Identity Agent gives them,
// and while the region is not known.
func SignInHost(c *nexusv1.NexusAICapability, f part.Facts) string {
	return identity.SignInHost(c, f)
}

// StepNames returns the names of all steps in their order.
func StepNames() []string {
	return report.StepNames()
}

// Summarize derives the report of a capability from the states of its objects.
func Summarize(o report.Observed) report.Report {
	return report.Summarize(o)
}

// TypeHoldsData reports whether resources of a type of AWS hold data.
func TypeHoldsData(typeName string) bool {
	return resources.TypeHoldsData(typeName)
}

// WantsAddress reports whether a load balancer is declared for the component that people open.
func WantsAddress(c *nexusv1.NexusAICapability) bool {
	return workloads.WantsAddress(c)
}

// ZoneObject returns the name of the Route53HostedZone with the ID of the capability's zone; "" without one.
func ZoneObject(c *nexusv1.NexusAICapability) (name string, made bool) {
	return traffic.ZoneObject(c)
}
