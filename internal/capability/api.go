// SPDX-License-Identifier: Apache-2.0

package capability

import (
	awsv1 "github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/capability/part"
	"github.com/nexus-operator/nexus-operator/internal/capability/parts/buckets"
	"github.com/nexus-operator/nexus-operator/internal/capability/parts/messages"
	"github.com/nexus-operator/nexus-operator/internal/capability/parts/namespace"
)

// ClosedToBalancer is a SecurityIntent that closes a component, where it is bound to it, to the component's load balancer.
type ClosedToBalancer = part.ClosedToBalancer

// Facts holds everything that Compile needs to know besides the capability.
type Facts = part.Facts

// IdentityFacts describes the ways in which pods get credentials.
type IdentityFacts = part.IdentityFacts

// Names derives every name of a capability from its capabilityName and environment.
type Names = part.Names

// Proof says what a child owns in AWS.
type Proof = part.Proof

// Stage is a set of kinds whose objects are removed together, and the steps that are undone by it.
type Stage = part.Stage

// The names that other rooms use.
const (
	DefaultRegion    = part.DefaultRegion
	LabelComponent   = part.LabelComponent
	LabelEnvironment = part.LabelEnvironment
	LabelInstance    = part.LabelInstance
	LabelName        = part.LabelName
	LabelPartOf      = part.LabelPartOf
	LabelVersion     = part.LabelVersion
	StepResources    = part.StepResources
)

// EffectiveDeletionPolicy decides about the AWS resources: as the capability says, else Retain in production and Delete elsewhere.
func EffectiveDeletionPolicy(c *nexusv1.NexusAICapability) nexusv1.DeletionPolicy {
	return part.EffectiveDeletionPolicy(c)
}

// ForceDestroy reports whether the objects of a bucket may be deleted with it; known is false for a bucket that the capability does not
// declare.
func ForceDestroy(c *nexusv1.NexusAICapability, bucket string) (force, known bool) {
	return buckets.ForceDestroy(c, bucket)
}

// ForceDestroyQueue reports whether the messages of a queue may be deleted with it; known is false for a queue that the capability does not
// declare.
func ForceDestroyQueue(c *nexusv1.NexusAICapability, name string) (force, known bool) {
	return messages.ForceDestroyQueue(c, name)
}

// IsExisting reports whether an object of a capability only observes a store that the capability does not own.
func IsExisting(child awsv1.Resource) bool {
	return part.IsExisting(child)
}

// IsOfAI reports whether the labels are those of an object that spec.ai declares, or declared.
func IsOfAI(labels map[string]string) bool {
	return part.IsOfAI(labels)
}

// IsSystemNamespace reports whether a namespace of that name belongs to a component of the cluster.
func IsSystemNamespace(name string) bool {
	return namespace.IsSystemNamespace(name)
}

// NamesOf returns the names of c.
func NamesOf(c *nexusv1.NexusAICapability) part.Names {
	return part.NamesOf(c)
}

// ProviderName names the AWSProvider of c: the one it refers to, or the one made for it.
func ProviderName(c *nexusv1.NexusAICapability) string {
	return part.ProviderName(c)
}
