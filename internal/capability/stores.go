// SPDX-License-Identifier: Apache-2.0

package capability

import (
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
)

// stores describes the entries of a list of stores, of which some may exist already.
type stores[T any] struct {
	// place, field and encryptedBy are those of entries.
	place       int
	field       string
	encryptedBy string
	// at is the field of the capability that has the list.
	at string
	// of returns the entry of a store.
	of func(T) existing
	// declared returns the list, and selected the wanted stores by name.
	declared, selected func(s *nexusv1.NexusAICapabilitySpec) []T
	// objectOf returns the name of the object of a store that does not exist already; nil where the name of the entry makes it.
	objectOf func(c *nexusv1.NexusAICapability, item T) string
	// set replaces the list, and keep is that of entries for a list that needs more; both nil leaves the list.
	set  func(data *nexusv1.DataServicesSpec, list []T)
	keep func(a accessSet, s *nexusv1.NexusAICapabilitySpec, data *nexusv1.DataServicesSpec)
	// hint is that of entries.
	hint func(s *nexusv1.NexusAICapabilitySpec, name string) string
	// describes is that of entries for one store; nil describes nothing.
	describes func(T) map[string]bool
}

func (l stores[T]) name(item T) string { return l.of(item).purpose }

// entries are the stores.
func (l stores[T]) entries() entries {
	out := entries{
		place: l.place, field: l.field, encryptedBy: l.encryptedBy,
		names:   func(s *nexusv1.NexusAICapabilitySpec) []string { return namesIn(l.selected(s), l.name) },
		objects: l.objects, keep: l.keep, hint: l.hint,
		existing: func(s *nexusv1.NexusAICapabilitySpec) []existing {
			return existingOfList(l.at, l.declared(s), l.of)
		},
	}
	if l.set != nil {
		out.keep = func(a accessSet, s *nexusv1.NexusAICapabilitySpec, data *nexusv1.DataServicesSpec) {
			l.set(data, keep(a, l.field, l.declared(s), l.name))
		}
	}
	if l.describes != nil {
		out.describes = func(s *nexusv1.NexusAICapabilitySpec, name string) map[string]bool {
			return l.describes(entryOf(l.declared(s), func(item T) bool { return l.name(item) == name }))
		}
	}
	return out
}

// objects returns the objects of the stores.
func (l stores[T]) objects(_ parts, c *nexusv1.NexusAICapability) (out []namedObject) {
	for _, item := range l.selected(&c.Spec) {
		e := l.of(item)
		name := e.object(NamesOf(c))
		if l.objectOf != nil && e.store == nil {
			name = l.objectOf(c, item)
		}
		out = append(out, namedObject{e.purpose, e.kind + "/" + name})
	}
	return out
}

// existingOfList returns those of the entries of a list that are for stores that exist already.
func existingOfList[T any](field string, list []T, of func(T) existing) (out []existing) {
	for i, item := range list {
		if e := of(item); e.store != nil {
			e.field = entry(field, i)
			out = append(out, e)
		}
	}
	return out
}
