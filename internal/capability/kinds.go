// SPDX-License-Identifier: Apache-2.0

package capability

import (
	"slices"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/capability/part"
	"github.com/nexus-operator/nexus-operator/internal/capability/parts"
	"github.com/nexus-operator/nexus-operator/internal/capability/parts/resources"
)

// IsStore reports whether objects of a kind hold data that is lost when their AWS resource is deleted, or the key without which data
// cannot be read. Secrets Manager keeps a deleted secret for its recovery window.
func IsStore(kind string) bool { return parts.All.FactsOf(kind).Store || resources.IsStoreKind(kind) }

// IsStoreOrSecret reports whether objects of a kind are stores or secrets.
func IsStoreOrSecret(kind string) bool { return IsStore(kind) || parts.All.FactsOf(kind).IsSecret }

// IsKept reports whether the AWS resource of a declared object stays when only the object is deleted. That holds for a store or a secret
// with its value, which are the kinds with HoldsData in their Meta. It also holds for a database of the catalog, because its deletion would
// wait for its tables.
func IsKept(kind string) bool { return IsStoreOrSecret(kind) || parts.All.FactsOf(kind).Kept }

// BilledTypes holds the types of AWSResources that get the cost allocation tag.
var BilledTypes = parts.All.BilledTypes()

// ProvingKinds returns the kinds that a capability needs proofs of.
func ProvingKinds(c *nexusv1.NexusAICapability) []string {
	out := slices.Clone(Proving)
	for _, r := range parts.All.ResourcesByName(&c.Spec) {
		if kind := resources.KindOfResource(r.ResourcePart); resources.IsResourceKind(kind) && !slices.Contains(out, kind) {
			out = append(out, kind)
		}
	}
	if len(part.DataOf(&c.Spec).Roles) > 0 {
		out = append(out, part.KindRole)
	}
	if c.Spec.Budget != nil && !slices.Contains(out, part.KindAnyType) {
		out = append(out, part.KindAnyType)
	}
	return out
}

// MayHaveMade reports whether the last objects that a capability made may be of a kind. Those of dataServices.resources are of the kinds
// that it declares: a capability in deletion is not edited any more.
func MayHaveMade(c *nexusv1.NexusAICapability, kind string) bool {
	return !resources.IsResourceKind(kind) || slices.Contains(ProvingKinds(c), kind)
}
