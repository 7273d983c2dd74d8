// SPDX-License-Identifier: Apache-2.0

// Package part holds the code that the parts of a capability share: the interface of a part, the compiler and the verdict that parts add
// to, the facts and proofs that they read, and the resolution of names, entries and components. It depends on no part.
package part

import (
	"cmp"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	awsv1 "github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/iampolicy"
)

// Parts are the parts of a capability. All lists and orders are loops over them. A function that needs one takes the parts from its caller,
// or from the compiler or the verdict.
type Parts []Part

// Part holds all that a capability needs to know of one of its parts, such as the queues. A nil function or an empty list adds nothing.
type Part struct {
	// Steps are the reported steps of the part.
	Steps []Step
	// Kinds are the kinds of the objects that the part becomes.
	Kinds []KindFacts
	// Checks hold the rules that the schema cannot express, and those in CEL, which are not evaluated here. They read the capability alone.
	Checks []Turn[Checking]
	// Surroundings holds the rules that need the facts and the compiled objects. It reads a capability that passed all checks. The rights
	// of k are those of a capability that owns all its children.
	Surroundings func(v *Verdict, c *nexusv1.NexusAICapability, f Facts, k *Compiler)
	// Compile adds the objects. Each function reads proofs with Compiler.Proof alone. Of the functions before it, it may use only the
	// results that BuiltPart.joins compares.
	Compile []func(*Compiler)
	// Rights are the statements of the application's role.
	Rights []Turn[Granting]
	// Values returns the settings that the application needs to find the part.
	Values func(*Compiler) []Value
	// Publishes returns the IDs of objects that provide values for other objects in their status; "" for none.
	Publishes []Turn[Publishing]
	// Entries are the named entries that components can have access to.
	Entries Entries
	// Resources are the resources that the part becomes as dataServices.resources does, in the order of their declaration.
	Resources func(ps Parts, s *nexusv1.NexusAICapabilitySpec) []Resource
	// Billed are the types of these resources that a budget counts by their tag. AWS allows an update of their tags: a resource of another
	// type would refuse a budget that is declared later.
	Billed []string
	// Untagged are the types of these resources without tags, and without data. No later object would find the resource of one again.
	Untagged []string
}

// The functions of parts.
type (
	// Checking adds to the verdict about a capability.
	Checking = func(*Verdict, *nexusv1.NexusAICapability, Facts)
	// Granting returns statements of the application's role.
	Granting = func(*Compiler) []iampolicy.Statement
	// Publishing returns the IDs of objects that provide values for other objects in their status.
	Publishing = func(*Compiler) []string
)

// Turn is a function with its place among those of the other parts. Places keep the order of statements and messages, which the graph
// does not determine.
type Turn[F any] struct {
	place int
	run   F
}

// At gives a function its place.
func At[F any](place int, run F) Turn[F] { return Turn[F]{place, run} }

// InTurn returns the functions of the parts by their places.
func InTurn[F any](ps Parts, of func(Part) []Turn[F]) (out []F) {
	var all []Turn[F]
	for _, p := range ps {
		all = append(all, of(p)...)
	}
	slices.SortStableFunc(all, func(a, b Turn[F]) int { return cmp.Compare(a.place, b.place) })
	for _, t := range all {
		out = append(out, t.run)
	}
	return out
}

// KindFacts describes a kind of objects.
type KindFacts struct {
	// Kind is its name.
	Kind string
	// Version is that of a kind of Kubernetes; empty for AWS resources.
	Version schema.GroupVersion
	// Step is the step of the objects of the kind, unless StepOf returns another one.
	Step string
	// StepOf returns the step of an object by its name; empty for one that the name does not decide.
	StepOf func(ps Parts, c *nexusv1.NexusAICapability, name string) string
	// IsPartial is true if the facts are about some objects of the kind only. Another part holds the facts of the others.
	IsPartial bool
	// Removed is the place of the kind in a deletion. Kinds with the same place are removed together.
	Removed Removal
	// Grants is true if the roles of a capability get rights on the resources of the kind. Proves is true for a kind with identifiers that
	// AWS assigns.
	Grants, Proves bool
	// Store is true for a kind with data that is lost with the AWS resource, or for the key without which data cannot be read. Kept is true
	// for another kind that leaves its AWS resource when only the object is deleted.
	Store, Kept bool
	// IsTemporary is true for a kind without data. Its resources are not retained.
	IsTemporary bool
	// IsSecret is true if AWS keeps the values of the kind for a while after the deletion.
	IsSecret bool
	// Unlocks is the field of an access that gives access to all objects of the kind.
	Unlocks string
	// IsBilled is true if a budget counts the resources of the kind by their tag.
	IsBilled bool
	// Refusal says why dataServices.resources declares no objects of the kind.
	Refusal string
	// Existing describes the ARNs of a kind with stores that may exist already.
	Existing *ExistingKind
	// Prove adds further values from the status of a child to its proof.
	Prove func(child awsv1.Resource, proof *Proof)
	// Doom changes a child that is to be deleted with its capability.
	Doom func(c *nexusv1.NexusAICapability, want awsv1.Resource, mayDeleteData bool)
}

// Removal is a place in a deletion.
type Removal struct {
	// Stage counts from one of the stages below.
	Stage int
	// Steps are undone by the removal of the stage's kinds.
	Steps []string
	// ServiceRoles is true for the stage that removes the service roles of resources.
	ServiceRoles bool
}

// The stages of a deletion. Parts with several stages count from these.
const (
	RemovesTraffic   = 100
	RemovesWorkloads = 200
	RemovesIdentity  = 300
	// A role is removed after the resources that assume it.
	RemovesRoleUsers = 330
	RemovesRoles     = 340
	RemovesResources = 400
	RemovesData      = 500
	RemovesLast      = 900
)

// Value is something that an application finds in the parameter of a name below the path of its capability, and in a variable of its
// environment; either may be empty.
type Value struct{ Parameter, Variable, Text string }

// Entries are the named entries of a part.
type Entries struct {
	// Place is that among the entries of other parts.
	Place int
	// Field distinguishes entries with the same name.
	Field string
	// Brings is an entry of another part that access to any of these needs as well.
	Brings string
	// Names returns all entries, in order.
	Names func(s *nexusv1.NexusAICapabilitySpec) []string
	// Keep removes from data, a copy of the data services of s, the entries that are not in the set.
	Keep func(a AccessSet, s *nexusv1.NexusAICapabilitySpec, data *nexusv1.DataServicesSpec)
	// Narrow is Keep for the fields outside of the data services; out is a copy of the spec of the capability.
	Narrow func(a AccessSet, out *nexusv1.NexusAICapabilitySpec)
	// Hint says how a capability gets an entry that it does not have; empty where the part makes none of that name automatically.
	Hint func(s *nexusv1.NexusAICapabilitySpec, name string) string
	// Objects returns the object of each entry that becomes one.
	Objects func(ps Parts, c *nexusv1.NexusAICapability) []NamedObject
	// Existing returns the entries for stores that exist already.
	Existing func(s *nexusv1.NexusAICapabilitySpec) []Existing
	// Describes returns the fields of an entry that describe a store, and whether the entry sets them.
	Describes func(s *nexusv1.NexusAICapabilitySpec, name string) map[string]bool
	// EncryptedBy is the service that uses the capability's key for the entries; empty where none does.
	EncryptedBy string
}

// NamedObject is the ID of the object of an entry.
type NamedObject struct{ Name, ID string }

// Entries returns the entries of the parts by their places.
func (ps Parts) Entries() (out []Entries) {
	for _, p := range ps {
		if p.Entries.Place > 0 {
			out = append(out, p.Entries)
		}
	}
	slices.SortStableFunc(out, func(a, b Entries) int { return cmp.Compare(a.Place, b.Place) })
	return out
}

// FactsOf returns the facts of a kind; zero for one that no part has.
func (ps Parts) FactsOf(kind string) KindFacts {
	for _, p := range ps {
		if i := slices.IndexFunc(p.Kinds, func(f KindFacts) bool { return f.Kind == kind && !f.IsPartial }); i >= 0 {
			return p.Kinds[i]
		}
	}
	return KindFacts{}
}

// KindsThat returns the names of the kinds that fit.
func (ps Parts) KindsThat(fit func(KindFacts) bool) (out []string) {
	for _, p := range ps {
		for _, f := range p.Kinds {
			if fit(f) && !slices.Contains(out, f.Kind) {
				out = append(out, f.Kind)
			}
		}
	}
	return out
}

// StepsWhere returns the reported steps that fit, in the order of their numbers.
func (ps Parts) StepsWhere(fit func(Step) bool) (out []Step) {
	for _, p := range ps {
		for _, s := range p.Steps {
			if fit(s) {
				out = append(out, s)
			}
		}
	}
	slices.SortStableFunc(out, func(a, b Step) int { return cmp.Compare(a.Number, b.Number) })
	return out
}

// Step returns the reported step of a name; ok is false for that of the provider, which is in none.
func (ps Parts) Step(name string) (step Step, ok bool) {
	for _, p := range ps {
		if i := slices.IndexFunc(p.Steps, func(s Step) bool { return s.Name == name }); i >= 0 {
			return p.Steps[i], true
		}
	}
	return Step{}, false
}

// DeletionOrder makes the stages of the kinds. Within a stage, parts are undone in the reverse order of their making.
func (ps Parts) DeletionOrder() (out []Stage) {
	stages := map[int]Stage{}
	for _, p := range slices.Backward(ps) {
		for _, f := range p.Kinds {
			if f.Removed.Stage == 0 { // with the others of the kind
				continue
			}
			s := stages[f.Removed.Stage]
			s.Kinds = append(s.Kinds, f.groupVersionKind())
			s.Steps = append(s.Steps, f.Removed.Steps...)
			s.ServiceRoles = s.ServiceRoles || f.Removed.ServiceRoles
			stages[f.Removed.Stage] = s
		}
	}
	for _, at := range SortedKeys(stages) {
		out = append(out, stages[at])
	}
	return out
}

func (f KindFacts) groupVersionKind() schema.GroupVersionKind {
	if f.Version.Empty() {
		return awsv1.GroupVersion.WithKind(f.Kind)
	}
	return f.Version.WithKind(f.Kind)
}
