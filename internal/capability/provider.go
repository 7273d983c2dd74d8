// SPDX-License-Identifier: Apache-2.0

package capability

import (
	"slices"

	awsv1 "github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
)

// kindProvider is the kind of providers.
const kindProvider = "AWSProvider"

// providerPart is the AWSProvider of a capability that refers to none.
func providerPart() part {
	return part{
		kinds:     []kindFacts{{kind: kindProvider, removed: removal{stage: removesLast}}},
		compile:   []func(*compiler){addProvider},
		publishes: []turn[publishing]{at(10, func(k *compiler) []string { return []string{kindProvider + "/" + ProviderName(k.c)} })},
	}
}

func providerID(k *compiler) string { return kindProvider + "/" + k.names.Prefix() }

// addProvider makes the AWSProvider of a capability that refers to none. It has no credentials: the
// operator lends its own identity to this capability's children only, where the administrator allows it, and bounds
// their roles by the administrator's default boundary.
func addProvider(k *compiler) {
	if k.spec.ProviderRef != nil {
		return
	}
	p := &awsv1.AWSProvider{Spec: awsv1.AWSProviderSpec{Region: k.home.region, PermissionsBoundaryARN: k.facts.DefaultBoundary}}
	p.Namespace = k.c.Namespace
	k.add(child{kindProvider, k.names.Prefix(), "", "provider"}, awsv1.GroupVersion, p, nil)
}

// childDeletionPolicy decides about the AWS resource of an object. Certificates, records and associations of EKS Pod Identity
// hold no data. A record that is kept would lead to a load balancer that is gone, and an association would give the role to
// pods of others: they are kept only with the Ingress and the workloads. Resources of untagged types are never kept.
func (ps parts) childDeletionPolicy(c *nexusv1.NexusAICapability, kind string, o awsv1.Resource) awsv1.DeletionPolicy {
	policy := EffectiveDeletionPolicy(c)
	isShortLived := ps.factsOf(kind).isTemporary
	if r, is := o.(*awsv1.AWSResource); is && slices.ContainsFunc(ps, func(p part) bool { return slices.Contains(p.untagged, r.Spec.TypeName) }) {
		isShortLived = true
	}
	if policy == nexusv1.DeletionRetain && isShortLived {
		policy = nexusv1.DeletionDelete
	}
	return awsv1.DeletionPolicy(policy)
}

// EffectiveDeletionPolicy decides about the AWS resources: as the capability says, else Retain in
// production and Delete elsewhere.
func EffectiveDeletionPolicy(c *nexusv1.NexusAICapability) nexusv1.DeletionPolicy {
	switch {
	case c.Spec.DeletionPolicy != "":
		return c.Spec.DeletionPolicy
	case isProduction(c):
		return nexusv1.DeletionRetain
	default:
		return nexusv1.DeletionDelete
	}
}

// isProduction reports whether a capability gets the defaults of production.
func isProduction(c *nexusv1.NexusAICapability) bool {
	return c.Spec.Environment == "prod" || c.Spec.Environment == "production"
}
