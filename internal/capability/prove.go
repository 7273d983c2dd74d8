// SPDX-License-Identifier: Apache-2.0

package capability

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	awsv1 "github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/api/wellknown"
	"github.com/nexus-operator/nexus-operator/internal/capability/part"
	"github.com/nexus-operator/nexus-operator/internal/capability/parts"
	"github.com/nexus-operator/nexus-operator/internal/capability/parts/resources"
	"github.com/nexus-operator/nexus-operator/internal/graph"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// Granting holds the kinds of the resources that the roles of a capability get rights on.
var Granting = parts.All.KindsThat(func(f part.KindFacts) bool { return f.Grants })

// Proving holds the kinds that proofs are gathered of: the granting kinds, and kinds with identifiers that AWS assigns. The identifiers of
// the user pool go to the workloads, those of the certificate to the load balancer.
var Proving = append(slices.Clone(Granting), parts.All.KindsThat(func(f part.KindFacts) bool { return f.Proves })...)

// Prove returns the proof of the AWS resource that a child of the kind owns, with the ID of its node. A child proves something when the
// capability controls it, it goes through the capability's provider, and the operator recorded its ARN in the status of a resource that the
// child owned when it was last observed. Tenants can write such objects but not their status. A resource that has another owner by now
// proves nothing. Neither does a child that stays only because of finalizers of others after its resource was deleted.
func Prove(c *nexusv1.NexusAICapability, kind string, child awsv1.Resource) (id string, proof part.Proof, ok bool) {
	if _, is := parts.All.ExistingOf(c, kind, child.GetName()); is {
		return proveExisting(c, kind, child)
	}
	st := child.CommonStatus()
	declared, isPart := resources.Find(parts.All, c, kind, child.GetName())
	if !isChildOf(c, child) || st.ARN == "" && !isPart || !ownsNow(kind, child) {
		return "", part.Proof{}, false
	}
	proof = part.Proof{ARN: st.ARN, UID: string(child.GetUID())}
	if prove := parts.All.FactsOf(kind).Prove; prove != nil {
		prove(child, &proof)
	}
	if isPart {
		proof.Values, proof.Settled = resources.ExportedBy(declared, child), status.ReadyAt(st.Conditions, child.GetGeneration())
	}
	return graph.ID(kind, child.GetNamespace(), child.GetName(), c.Namespace), proof, true
}

// ownsNow reports whether a child manages a resource that it owned when it was last observed.
func ownsNow(kind string, child awsv1.Resource) bool {
	st := child.CommonStatus()
	return st.OwnsResource() && !awsv1.IsLeftBehind(kind, child) && child.CommonSpec().ManagementPolicy != awsv1.ManageObserve &&
		!status.IsDisputed(st.Conditions)
}

// proveExisting returns the proof of the existing store that a child observes. The ARN comes from the status, which tenants cannot write,
// once AWS returned the store under the name that the child declares. While the object is paused, it does not notice another owner.
func proveExisting(c *nexusv1.NexusAICapability, kind string, child awsv1.Resource) (id string, proof part.Proof, ok bool) {
	st, paused := child.CommonStatus(), child.GetAnnotations()[wellknown.AnnotationPaused] == "true"
	if !isChildOf(c, child) || !part.IsExisting(child) || paused || st.ARN == "" || st.Ownership == "" ||
		st.Ownership == awsv1.OwnershipDisputed {
		return "", part.Proof{}, false
	}
	proof = part.Proof{ARN: st.ARN, UID: string(child.GetUID()), Foreign: st.Ownership == awsv1.OwnershipObservedForeign}
	return graph.ID(kind, child.GetNamespace(), child.GetName(), c.Namespace), proof, true
}

// isChildOf reports whether the capability controls an object that uses the provider of the capability.
func isChildOf(c *nexusv1.NexusAICapability, child awsv1.Resource) bool {
	owner, provider := metav1.GetControllerOf(child), child.CommonSpec().ProviderRef
	return owner != nil && owner.UID == c.UID && provider.Name == part.ProviderName(c) &&
		(provider.Namespace == "" || provider.Namespace == c.Namespace)
}
