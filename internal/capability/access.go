// SPDX-License-Identifier: Apache-2.0

package capability

import (
	"slices"
	"strings"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/capability/part"
	"github.com/nexus-operator/nexus-operator/internal/capability/parts"
	"github.com/nexus-operator/nexus-operator/internal/capability/parts/workloads"
)

// Roles returns the names of the roles of a capability's workloads, that for everything first.
func Roles(c *nexusv1.NexusAICapability) []string {
	return part.NamesIn(parts.All.AccessSets(&c.Spec), func(a part.AccessSet) string { return a.Role(part.NamesOf(c)) })
}

// Associations returns the names of the objects that give these roles to the workloads through EKS Pod Identity.
func Associations(c *nexusv1.NexusAICapability) []string {
	return part.NamesIn(parts.All.AccessSets(&c.Spec), func(a part.AccessSet) string { return a.Association(part.NamesOf(c)) })
}

// ServiceAccounts returns the names of the identities of the workloads in Kubernetes.
func ServiceAccounts(c *nexusv1.NexusAICapability) []string {
	return part.NamesIn(parts.All.AccessSets(&c.Spec), func(a part.AccessSet) string { return a.ServiceAccount(part.NamesOf(c)) })
}

// MayUse reports whether pods with a ServiceAccount of a capability may use the resource of an object. They always may if their components
// declare no access. Otherwise the access must name it.
func MayUse(c *nexusv1.NexusAICapability, serviceAccount, kind, name string) bool {
	ps := parts.All
	sets := ps.AccessSets(&c.Spec)
	i := slices.IndexFunc(sets, func(a part.AccessSet) bool { return a.ServiceAccount(part.NamesOf(c)) == serviceAccount })
	if i < 0 {
		return false
	}
	a := sets[i]
	if whole := ps.FactsOf(kind).Unlocks; whole != "" {
		return a.Some(whole)
	}
	named := ps.ObjectsByName(c)
	return !a.Limited || slices.ContainsFunc(a.List, func(entry string) bool {
		field, entryName, _ := strings.Cut(entry, "/")
		return field == ps.FieldOf(kind) && slices.Contains(named[entryName], kind+"/"+name)
	})
}

// Workloads returns the components of a capability: backend, frontend, and the others by name.
func Workloads(c *nexusv1.NexusAICapability) []workloads.Workload {
	return workloads.Of(parts.All, c)
}
