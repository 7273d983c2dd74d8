// SPDX-License-Identifier: Apache-2.0

package capability

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
)

// maxAccess bounds the names of an access.
const maxAccess = 32

// accessSet lists what the pods of a component may use in AWS, as field/name, sorted; the zero value stands for everything of the capability.
// Names of roles follow from the set, so that a role keeps its rights while pods have it: pods with other rights have another role.
type accessSet struct {
	limited bool
	list    []string
}

// accessible returns all that a capability has to give access to, as field/name.
func (ps parts) accessible(s *nexusv1.NexusAICapabilitySpec) (out []string) {
	for _, e := range ps.allEntries() {
		for _, name := range e.names(s) {
			if e.field != "" {
				name = e.field + "/" + name
			}
			out = append(out, name)
		}
	}
	return out
}

// meantBy returns what a name stands for: everything with that name, or what the field has.
func meantBy(name nexusv1.AccessName, all []string) []string {
	return slices.DeleteFunc(slices.Clone(all), func(entry string) bool {
		return entry != string(name) && !strings.HasSuffix(entry, "/"+string(name))
	})
}

// accessOf resolves the access of a component. The catalog is of no use without the bucket that its tables read.
func (ps parts) accessOf(s *nexusv1.NexusAICapabilitySpec, names *[]nexusv1.AccessName) accessSet {
	if names == nil {
		return accessSet{}
	}
	out, all := accessSet{limited: true}, ps.accessible(s)
	for _, name := range *names {
		out.list = append(out.list, meantBy(name, all)...)
	}
	for _, e := range ps.allEntries() {
		if e.brings != "" && out.some(e.field) {
			out.list = append(out.list, e.brings)
		}
	}
	out.list = sortedOnce(out.list)
	return out
}

// may reports whether the set includes the name of a field.
func (a accessSet) may(field, name string) bool {
	return !a.limited || slices.Contains(a.list, field+"/"+name)
}

// some reports whether the set includes anything of a field.
func (a accessSet) some(field string) bool {
	return !a.limited || slices.ContainsFunc(a.list, func(entry string) bool { return strings.HasPrefix(entry, field+"/") })
}

// isNone reports whether the set is empty.
func (a accessSet) isNone() bool { return a.limited && len(a.list) == 0 }

// purpose begins the names of what the set has: the role, its ServiceAccount, its association and its settings.
func (a accessSet) purpose() string {
	switch {
	case !a.limited:
		return "app"
	case len(a.list) == 0:
		return "access-none"
	default:
		sum := sha256.Sum256([]byte(strings.Join(a.list, "\n")))
		return "access-" + hex.EncodeToString(sum[:4])
	}
}

func (a accessSet) role(n Names) string           { return n.Of(a.purpose() + "-role") }
func (a accessSet) serviceAccount(n Names) string { return n.Of(a.purpose() + "-sa") }
func (a accessSet) association(n Names) string    { return n.Of(a.purpose() + "-identity") }

// configMap names the settings of the components with the set.
func (a accessSet) configMap(n Names) string {
	if !a.limited {
		return n.ConfigMap()
	}
	return n.Of(a.purpose() + "-config")
}

// accessSets returns the different sets of the components, that for everything first.
func (ps parts) accessSets(s *nexusv1.NexusAICapabilitySpec) []accessSet {
	var out []accessSet
	for _, c := range componentsOf(s) {
		out = append(out, ps.accessOf(s, c.Access))
	}
	slices.SortFunc(out, func(a, b accessSet) int {
		if a.limited != b.limited {
			return map[bool]int{false: -1, true: 1}[a.limited]
		}
		return strings.Compare(a.purpose(), b.purpose())
	})
	return slices.CompactFunc(out, func(a, b accessSet) bool { return a.limited == b.limited && a.purpose() == b.purpose() })
}

// keep returns the elements that a set includes.
func keep[T any](a accessSet, field string, list []T, name func(T) string) []T {
	return slices.DeleteFunc(slices.Clone(list), func(e T) bool { return !a.may(field, name(e)) })
}

// restrict returns what a capability declares without the data services that are not in the set.
func (ps parts) restrict(a accessSet, s *nexusv1.NexusAICapabilitySpec) *nexusv1.NexusAICapabilitySpec {
	if !a.limited {
		return s
	}
	out := *s
	if s.DataServices != nil {
		out.DataServices = new(*s.DataServices)
	}
	for _, e := range ps.allEntries() {
		if e.narrow != nil {
			e.narrow(a, &out)
		}
		if e.keep != nil && out.DataServices != nil {
			e.keep(a, s, out.DataServices)
		}
	}
	return &out
}

// within returns a compiler that sees only what is in the set: for the rights and the settings of its components. It adds no nodes.
func (k *compiler) within(a accessSet) *compiler {
	if !a.limited {
		return k
	}
	out := *k
	out.spec, out.access, out.whole = k.parts.restrict(a, k.spec), a, k
	return &out
}

// accessOf resolves the access of a component of the capability.
func (k *compiler) accessOf(c component) accessSet { return k.parts.accessOf(k.spec, c.Access) }

// describe names the set in the description of its role.
func (a accessSet) describe() string {
	const most = 8
	switch {
	case !a.limited:
		return ""
	case len(a.list) == 0:
		return " without access to data services"
	case len(a.list) > most:
		return fmt.Sprintf(" with access to %s and %d more", strings.Join(a.list[:most], ", "), len(a.list)-most)
	default:
		return " with access to " + strings.Join(a.list, ", ")
	}
}

// checkAccess requires that each name of a component's access stands for something.
func checkAccess(v *verdict, s *nexusv1.NexusAICapabilitySpec, c component) {
	if c.Access == nil {
		return
	}
	at, all := c.field+".access", v.parts.accessible(s)
	v.require(len(*c.Access) <= maxAccess, at, "at most %d", maxAccess)
	seen := map[nexusv1.AccessName]bool{}
	for i, name := range *c.Access {
		field := fmt.Sprintf("%s[%d]", at, i)
		v.matches(field, string(name), maxLabel, accessPattern)
		v.require(!seen[name], field, "%q is there twice", name)
		v.require(len(meantBy(name, all)) > 0, field, "%q is no data service or secret of the capability: %s", name, v.parts.insteadOf(name, s, all))
		seen[name] = true
	}
}

// insteadOf says what an access may name in the place of a name that stands for nothing.
func (ps parts) insteadOf(name nexusv1.AccessName, s *nexusv1.NexusAICapabilitySpec, all []string) string {
	for _, e := range ps.allEntries() {
		if e.hint == nil {
			continue
		}
		if how := e.hint(s, strings.TrimPrefix(string(name), e.field+"/")); how != "" {
			return how
		}
	}
	if len(all) == 0 {
		return "it has none, so leave the list empty"
	}
	return "name one of " + strings.Join(all, ", ")
}

// Roles returns the names of the roles of a capability's workloads, that for everything first.
func Roles(c *nexusv1.NexusAICapability) []string {
	return namesIn(allParts().accessSets(&c.Spec), func(a accessSet) string { return a.role(NamesOf(c)) })
}

// Associations returns the names of the objects that give these roles to the workloads through EKS Pod Identity.
func Associations(c *nexusv1.NexusAICapability) []string {
	return namesIn(allParts().accessSets(&c.Spec), func(a accessSet) string { return a.association(NamesOf(c)) })
}

// ServiceAccounts returns the names of the identities of the workloads in Kubernetes.
func ServiceAccounts(c *nexusv1.NexusAICapability) []string {
	return namesIn(allParts().accessSets(&c.Spec), func(a accessSet) string { return a.serviceAccount(NamesOf(c)) })
}
