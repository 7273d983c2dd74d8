// SPDX-License-Identifier: Apache-2.0

package capability

import (
	"slices"
	"strings"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
)

// fieldOf returns the field of an access that names the stores of a kind.
func (ps parts) fieldOf(kind string) string {
	for _, p := range ps {
		if slices.ContainsFunc(p.kinds, func(f kindFacts) bool { return f.kind == kind && f.existing != nil }) {
			return p.entries.field
		}
	}
	return ""
}

// MayUse reports whether pods with a ServiceAccount of a capability may use what an object of a kind declares: always where their
// components have no access, else where the access names it.
func MayUse(c *nexusv1.NexusAICapability, serviceAccount, kind, name string) bool {
	ps := allParts()
	sets := ps.accessSets(&c.Spec)
	i := slices.IndexFunc(sets, func(a accessSet) bool { return a.serviceAccount(NamesOf(c)) == serviceAccount })
	if i < 0 {
		return false
	}
	a := sets[i]
	if whole := ps.factsOf(kind).unlocks; whole != "" {
		return a.some(whole)
	}
	named := ps.objectsByName(c)
	return !a.limited || slices.ContainsFunc(a.list, func(entry string) bool {
		field, entryName, _ := strings.Cut(entry, "/")
		return field == ps.fieldOf(kind) && slices.Contains(named[entryName], kind+"/"+name)
	})
}
