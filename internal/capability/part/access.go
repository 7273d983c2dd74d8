// SPDX-License-Identifier: Apache-2.0

package part

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
)

// AccessSet lists the entries that the pods of a component may use in AWS, as field/name, sorted; the zero value stands for all entries of
// the capability. Names of roles follow from the set, so that a role keeps its rights while pods have it: pods with other rights have
// another role.
type AccessSet struct {
	Limited bool
	List    []string
}

// Accessible returns all that a capability has to give access to, as field/name.
func (ps Parts) Accessible(s *nexusv1.NexusAICapabilitySpec) (out []string) {
	for _, e := range ps.Entries() {
		for _, name := range e.Names(s) {
			if e.Field != "" {
				name = e.Field + "/" + name
			}
			out = append(out, name)
		}
	}
	return out
}

// MeantBy returns the entries of a name: each entry with that name, in any field, or the entry of one field if the name includes the field.
func MeantBy(name nexusv1.AccessName, all []string) []string {
	return slices.DeleteFunc(slices.Clone(all), func(entry string) bool {
		return entry != string(name) && !strings.HasSuffix(entry, "/"+string(name))
	})
}

// AccessOf resolves the access of a component. The catalog is of no use without the bucket that its tables read.
func (ps Parts) AccessOf(s *nexusv1.NexusAICapabilitySpec, names *[]nexusv1.AccessName) AccessSet {
	if names == nil {
		return AccessSet{}
	}
	out, all := AccessSet{Limited: true}, ps.Accessible(s)
	for _, name := range *names {
		out.List = append(out.List, MeantBy(name, all)...)
	}
	for _, e := range ps.Entries() {
		if e.Brings != "" && out.Some(e.Field) {
			out.List = append(out.List, e.Brings)
		}
	}
	out.List = SortedOnce(out.List)
	return out
}

// may reports whether the set includes the name of a field.
func (a AccessSet) may(field, name string) bool {
	return !a.Limited || slices.Contains(a.List, field+"/"+name)
}

// Some reports whether the set includes anything of a field.
func (a AccessSet) Some(field string) bool {
	return !a.Limited || slices.ContainsFunc(a.List, func(entry string) bool { return strings.HasPrefix(entry, field+"/") })
}

// IsNone reports whether the set is empty.
func (a AccessSet) IsNone() bool { return a.Limited && len(a.List) == 0 }

// Purpose returns the prefix for the names of the objects of the set: the role, its ServiceAccount, its association and its settings.
func (a AccessSet) Purpose() string {
	switch {
	case !a.Limited:
		return "app"
	case len(a.List) == 0:
		return "access-none"
	default:
		sum := sha256.Sum256([]byte(strings.Join(a.List, "\n")))
		return "access-" + hex.EncodeToString(sum[:4])
	}
}

// Role names the role of the components with the set.
func (a AccessSet) Role(n Names) string { return n.Of(a.Purpose() + "-role") }

// ServiceAccount names the identity in Kubernetes of the components with the set.
func (a AccessSet) ServiceAccount(n Names) string { return n.Of(a.Purpose() + "-sa") }

// Association names the object that gives the role to the ServiceAccount through EKS Pod Identity.
func (a AccessSet) Association(n Names) string { return n.Of(a.Purpose() + "-identity") }

// ConfigMap names the settings of the components with the set.
func (a AccessSet) ConfigMap(n Names) string {
	if !a.Limited {
		return n.ConfigMap()
	}
	return n.Of(a.Purpose() + "-config")
}

// AccessSets returns the different sets of the components, that for everything first.
func (ps Parts) AccessSets(s *nexusv1.NexusAICapabilitySpec) []AccessSet {
	var out []AccessSet
	for _, c := range ComponentsOf(s) {
		out = append(out, ps.AccessOf(s, c.Access))
	}
	slices.SortFunc(out, func(a, b AccessSet) int {
		if a.Limited != b.Limited {
			return map[bool]int{false: -1, true: 1}[a.Limited]
		}
		return strings.Compare(a.Purpose(), b.Purpose())
	})
	return slices.CompactFunc(out, func(a, b AccessSet) bool { return a.Limited == b.Limited && a.Purpose() == b.Purpose() })
}

// Keep returns the elements that a set includes.
func Keep[T any](a AccessSet, field string, list []T, name func(T) string) []T {
	return slices.DeleteFunc(slices.Clone(list), func(e T) bool { return !a.may(field, name(e)) })
}

// restrict returns the spec of a capability without the entries that are not in the set.
func (ps Parts) restrict(a AccessSet, s *nexusv1.NexusAICapabilitySpec) *nexusv1.NexusAICapabilitySpec {
	if !a.Limited {
		return s
	}
	out := *s
	if s.DataServices != nil {
		out.DataServices = new(*s.DataServices)
	}
	for _, e := range ps.Entries() {
		if e.Narrow != nil {
			e.Narrow(a, &out)
		}
		if e.Keep != nil && out.DataServices != nil {
			e.Keep(a, s, out.DataServices)
		}
	}
	return &out
}

// Within returns a compiler that sees only the entries of the set: for the rights and the settings of its components. It adds no nodes.
func (k *Compiler) Within(a AccessSet) *Compiler {
	if !a.Limited {
		return k
	}
	out := *k
	out.Spec, out.Access, out.Whole = k.Parts.restrict(a, k.Spec), a, k
	return &out
}

// AccessOf resolves the access of a component of the capability.
func (k *Compiler) AccessOf(c Component) AccessSet { return k.Parts.AccessOf(k.Spec, c.Access) }

// Describe names the set in the description of its role.
func (a AccessSet) Describe() string {
	const most = 8
	switch {
	case !a.Limited:
		return ""
	case len(a.List) == 0:
		return " without access to data services"
	case len(a.List) > most:
		return fmt.Sprintf(" with access to %s and %d more", strings.Join(a.List[:most], ", "), len(a.List)-most)
	default:
		return " with access to " + strings.Join(a.List, ", ")
	}
}

// InsteadOf returns the remedy for a name of an access that matches no entry: a hint of its part, or the names that the access may use.
func (ps Parts) InsteadOf(name nexusv1.AccessName, s *nexusv1.NexusAICapabilitySpec, all []string) string {
	for _, e := range ps.Entries() {
		if e.Hint == nil {
			continue
		}
		if how := e.Hint(s, strings.TrimPrefix(string(name), e.Field+"/")); how != "" {
			return how
		}
	}
	if len(all) == 0 {
		return "it has none, so leave the list empty"
	}
	return "name one of " + strings.Join(all, ", ")
}

// ObjectsByName returns the IDs of the nodes of the parts that a resource can use, by the names of the parts.
func (ps Parts) ObjectsByName(c *nexusv1.NexusAICapability) map[string][]string {
	out := map[string][]string{}
	for _, e := range ps.Entries() {
		if e.Objects == nil {
			continue
		}
		for _, o := range e.Objects(ps, c) {
			out[o.Name] = append(out[o.Name], o.ID)
		}
	}
	return out
}
