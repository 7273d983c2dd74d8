// SPDX-License-Identifier: Apache-2.0

package part

import (
	"slices"

	awsv1 "github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
)

// DeletionPolicyOf decides about the AWS resource of an object. A budget holds no data, and one that is retained would
// go on sending notifications about a capability that is gone.
func (ps Parts) DeletionPolicyOf(c *nexusv1.NexusAICapability, kind, component string, o awsv1.Resource) awsv1.DeletionPolicy {
	policy := ps.childDeletionPolicy(c, kind, o)
	if component == ComponentBudget && policy == awsv1.DeletionRetain {
		return awsv1.DeletionDelete
	}
	return policy
}

// ComponentBudget is the label of the objects of a budget.
const ComponentBudget = "budget"

// AllowForce sets whether the objects of a bucket, or the messages of a queue, may be deleted with it. The setting of a store that the
// capability no longer declares is not known, and then it stays unchanged.
func AllowForce(force *bool, mayDeleteData, declared, known bool) {
	if mayDeleteData || known {
		*force = mayDeleteData || declared
	}
}

// childDeletionPolicy decides about the AWS resource of an object. Certificates, records and associations of EKS Pod Identity
// hold no data. A record that is kept would lead to a load balancer that is gone, and an association would give the role to
// pods of others: they are kept only with the Ingress and the workloads. Resources of untagged types are never kept.
func (ps Parts) childDeletionPolicy(c *nexusv1.NexusAICapability, kind string, o awsv1.Resource) awsv1.DeletionPolicy {
	policy := EffectiveDeletionPolicy(c)
	isShortLived := ps.FactsOf(kind).IsTemporary
	if r, is := o.(*awsv1.AWSResource); is &&
		slices.ContainsFunc(ps, func(p Part) bool { return slices.Contains(p.Untagged, r.Spec.TypeName) }) {
		isShortLived = true
	}
	if policy == nexusv1.DeletionRetain && isShortLived {
		policy = nexusv1.DeletionDelete
	}
	return awsv1.DeletionPolicy(policy)
}

// EffectiveDeletionPolicy returns the deletion policy of the AWS resources: spec.deletionPolicy, or by default Retain in production and
// Delete in all other environments.
func EffectiveDeletionPolicy(c *nexusv1.NexusAICapability) nexusv1.DeletionPolicy {
	switch {
	case c.Spec.DeletionPolicy != "":
		return c.Spec.DeletionPolicy
	case IsProduction(c):
		return nexusv1.DeletionRetain
	default:
		return nexusv1.DeletionDelete
	}
}

// IsProduction reports whether a capability gets the defaults of production.
func IsProduction(c *nexusv1.NexusAICapability) bool {
	return c.Spec.Environment == "prod" || c.Spec.Environment == "production"
}
