// SPDX-License-Identifier: Apache-2.0

package part

import nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"

// Stores describes the entries of a list of stores. Some of the stores may exist already.
type Stores[T any] struct {
	// Place, field and EncryptedBy are those of entries.
	Place       int
	Field       string
	EncryptedBy string
	// At is the field of the capability that has the list.
	At string
	// Of returns the entry of a store.
	Of func(T) Existing
	// Declared returns the list, and Selected the wanted stores by name.
	Declared, Selected func(s *nexusv1.NexusAICapabilitySpec) []T
	// ObjectOf returns the name of the object of a store that does not exist already; nil where the name of the entry makes it.
	ObjectOf func(c *nexusv1.NexusAICapability, item T) string
	// Set replaces the list, and Keep is that of entries for a list that needs more; both nil leaves the list.
	Set  func(data *nexusv1.DataServicesSpec, list []T)
	Keep func(a AccessSet, s *nexusv1.NexusAICapabilitySpec, data *nexusv1.DataServicesSpec)
	// Hint is that of entries.
	Hint func(s *nexusv1.NexusAICapabilitySpec, name string) string
	// Describes is that of entries for one store; nil describes nothing.
	Describes func(T) map[string]bool
}

func (l Stores[T]) name(item T) string { return l.Of(item).Purpose }

// Entries are the stores.
func (l Stores[T]) Entries() Entries {
	out := Entries{
		Place: l.Place, Field: l.Field, EncryptedBy: l.EncryptedBy,
		Names:   func(s *nexusv1.NexusAICapabilitySpec) []string { return NamesIn(l.Selected(s), l.name) },
		Objects: l.objects, Keep: l.Keep, Hint: l.Hint,
		Existing: func(s *nexusv1.NexusAICapabilitySpec) []Existing {
			return existingOfList(l.At, l.Declared(s), l.Of)
		},
	}
	if l.Set != nil {
		out.Keep = func(a AccessSet, s *nexusv1.NexusAICapabilitySpec, data *nexusv1.DataServicesSpec) {
			l.Set(data, Keep(a, l.Field, l.Declared(s), l.name))
		}
	}
	if l.Describes != nil {
		out.Describes = func(s *nexusv1.NexusAICapabilitySpec, name string) map[string]bool {
			return l.Describes(entryOf(l.Declared(s), func(item T) bool { return l.name(item) == name }))
		}
	}
	return out
}

// objects returns the objects of the stores.
func (l Stores[T]) objects(_ Parts, c *nexusv1.NexusAICapability) (out []NamedObject) {
	for _, item := range l.Selected(&c.Spec) {
		e := l.Of(item)
		name := e.Object(NamesOf(c))
		if l.ObjectOf != nil && e.Store == nil {
			name = l.ObjectOf(c, item)
		}
		out = append(out, NamedObject{e.Purpose, e.Kind + "/" + name})
	}
	return out
}

// existingOfList returns those of the entries of a list that are for stores that exist already.
func existingOfList[T any](field string, list []T, of func(T) Existing) (out []Existing) {
	for i, item := range list {
		if e := of(item); e.Store != nil {
			e.Field = Entry(field, i)
			out = append(out, e)
		}
	}
	return out
}
