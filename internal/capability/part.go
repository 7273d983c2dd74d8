// SPDX-License-Identifier: Apache-2.0

package capability

import (
	"cmp"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	awsv1 "github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/iampolicy"
)

// parts are the parts of a capability. The lists and orders of the package are loops over them. Whoever needs one takes the parts from its
// caller, or from the compiler or the verdict.
type parts []part

// part holds all that the package needs to know of one part of a capability, such as its queues. A nil function or an empty list adds
// nothing to the lists of the package.
type part struct {
	// steps are the reported steps of the part.
	steps []Step
	// kinds are the kinds of the objects that the part becomes.
	kinds []kindFacts
	// checks require what the schema cannot, of the capability alone.
	checks []turn[checking]
	// surroundings requires what only the facts and the compiled objects show, of a capability that passed all checks. The rights of k
	// are those of a capability that owns all its children.
	surroundings func(v *verdict, c *nexusv1.NexusAICapability, f Facts, k *compiler)
	// compile adds the objects. Each function may use of those before only what joins compares, and reads proofs with the method proof
	// alone.
	compile []func(*compiler)
	// rights are the statements of the application's role.
	rights []turn[granting]
	// values tell the application what it needs to find the part.
	values func(*compiler) []value
	// publishes returns the IDs of objects whose status holds values that other objects need; "" for none.
	publishes []turn[publishing]
	// entries are the named entries that components can have access to.
	entries entries
	// resources are the resources that the part becomes as dataServices.resources does, in the order of their declaration.
	resources func(ps parts, s *nexusv1.NexusAICapabilitySpec) []resourcePart
	// billed are the types of these resources whose costs a budget counts by their tag. An update can change the tags of each: others
	// would refuse a budget that is declared later.
	billed []string
	// untagged are the types of these resources without tags, and without data. No later object would find the resource of one again.
	untagged []string
}

// The functions of parts.
type (
	checking   = func(*verdict, *nexusv1.NexusAICapability, Facts)
	granting   = func(*compiler) []iampolicy.Statement
	publishing = func(*compiler) []string
)

// turn is a function with its place among those of the other parts. Places keep the order of statements and messages, which the graph
// does not determine.
type turn[F any] struct {
	place int
	run   F
}

// at gives a function its place.
func at[F any](place int, run F) turn[F] { return turn[F]{place, run} }

// inTurn returns the functions of the parts by their places.
func inTurn[F any](ps parts, of func(part) []turn[F]) (out []F) {
	var all []turn[F]
	for _, p := range ps {
		all = append(all, of(p)...)
	}
	slices.SortStableFunc(all, func(a, b turn[F]) int { return cmp.Compare(a.place, b.place) })
	for _, t := range all {
		out = append(out, t.run)
	}
	return out
}

// kindFacts describes a kind of objects.
type kindFacts struct {
	kind string
	// version is that of a kind of Kubernetes; empty for AWS resources.
	version schema.GroupVersion
	// step is that of the objects of the kind for which no stepOf returns another.
	step string
	// stepOf returns the step of an object by its name; empty for one that the name does not decide.
	stepOf func(ps parts, c *nexusv1.NexusAICapability, name string) string
	// isPartial is true for the facts of some objects of a kind, of which another part holds the others.
	isPartial bool
	// removed is the place of the kind in a deletion. Kinds with the same place are removed together.
	removed removal
	// grants is true for a kind on whose resources the roles of a capability get rights, and proves for one with identifiers that AWS
	// assigns.
	grants, proves bool
	// store is true for a kind with data that is lost with the AWS resource, or for the key without which data cannot be read. kept is
	// true for another kind whose AWS resource stays when only the object is deleted.
	store, kept bool
	// isTemporary is true for a kind without data, whose resources are not retained.
	isTemporary bool
	// isSecret is true for a kind whose values AWS keeps for a while after the deletion.
	isSecret bool
	// unlocks is the field of an access that gives access to all objects of the kind.
	unlocks string
	// isBilled is true for a kind whose resources a budget counts by their tag.
	isBilled bool
	// refusal says why dataServices.resources declares no objects of the kind.
	refusal string
	// existing describes the ARNs of a kind whose stores may exist already.
	existing *existingKind
	// prove adds to a proof what else the status of a child says.
	prove func(child awsv1.Resource, proof *Proof)
	// doom changes a child that is to be deleted with its capability.
	doom func(c *nexusv1.NexusAICapability, want awsv1.Resource, mayDeleteData bool)
}

// removal is a place in a deletion.
type removal struct {
	stage int
	// steps are undone by the removal of the stage's kinds.
	steps []string
	// serviceRoles is true for the stage that removes the roles as which resources act.
	serviceRoles bool
}

// The stages of a deletion. Parts with several stages count from these.
const (
	removesTraffic   = 100
	removesWorkloads = 200
	removesIdentity  = 300
	// A role goes after what acts as it.
	removesRoleUsers = 330
	removesRoles     = 340
	removesResources = 400
	removesData      = 500
	removesLast      = 900
)

// value is something that an application finds in the parameter of a name below the path of its capability, and in a variable of its
// environment; either may be empty.
type value struct{ parameter, variable, text string }

// entries are the named entries of a part.
type entries struct {
	// place is that among the entries of other parts.
	place int
	// field distinguishes entries with the same name.
	field string
	// brings is an entry of another part that access to any of these needs as well.
	brings string
	// names returns all entries, in order.
	names func(s *nexusv1.NexusAICapabilitySpec) []string
	// keep removes from data, a copy of the data services of s, the entries that are not in the set.
	keep func(a accessSet, s *nexusv1.NexusAICapabilitySpec, data *nexusv1.DataServicesSpec)
	// narrow is keep for what a capability declares outside of its data services; out is a copy of the capability's own.
	narrow func(a accessSet, out *nexusv1.NexusAICapabilitySpec)
	// hint says how a capability gets an entry that it does not have; empty where the part makes none of that name by itself.
	hint func(s *nexusv1.NexusAICapabilitySpec, name string) string
	// objects returns the object of each entry that becomes one.
	objects func(ps parts, c *nexusv1.NexusAICapability) []namedObject
	// existing returns the entries for stores that exist already.
	existing func(s *nexusv1.NexusAICapabilitySpec) []existing
	// describes returns the fields of an entry that describe a store, and whether the entry sets them.
	describes func(s *nexusv1.NexusAICapabilitySpec, name string) map[string]bool
	// encryptedBy is the service that uses the capability's key for the entries; empty where none does.
	encryptedBy string
}

// namedObject is the ID of the object of an entry.
type namedObject struct{ name, id string }

// allEntries returns the entries of the parts by their places.
func (ps parts) allEntries() (out []entries) {
	for _, p := range ps {
		if p.entries.place > 0 {
			out = append(out, p.entries)
		}
	}
	slices.SortStableFunc(out, func(a, b entries) int { return cmp.Compare(a.place, b.place) })
	return out
}

// factsOf returns the facts of a kind; zero for one that no part has.
func (ps parts) factsOf(kind string) kindFacts {
	for _, p := range ps {
		if i := slices.IndexFunc(p.kinds, func(f kindFacts) bool { return f.kind == kind && !f.isPartial }); i >= 0 {
			return p.kinds[i]
		}
	}
	return kindFacts{}
}

// kindsThat returns the names of the kinds that fit.
func (ps parts) kindsThat(fit func(kindFacts) bool) (out []string) {
	for _, p := range ps {
		for _, f := range p.kinds {
			if fit(f) && !slices.Contains(out, f.kind) {
				out = append(out, f.kind)
			}
		}
	}
	return out
}

// stepsWhere returns the reported steps that fit, in the order of their numbers.
func (ps parts) stepsWhere(fit func(Step) bool) (out []Step) {
	for _, p := range ps {
		for _, s := range p.steps {
			if fit(s) {
				out = append(out, s)
			}
		}
	}
	slices.SortStableFunc(out, func(a, b Step) int { return cmp.Compare(a.Number, b.Number) })
	return out
}

// deletionOrder makes the stages of the kinds. Within a stage, parts are undone in the reverse order of their making.
func (ps parts) deletionOrder() (out []Stage) {
	stages := map[int]Stage{}
	for _, p := range slices.Backward(ps) {
		for _, f := range p.kinds {
			if f.removed.stage == 0 { // with the others of the kind
				continue
			}
			s := stages[f.removed.stage]
			s.Kinds = append(s.Kinds, f.groupVersionKind())
			s.Steps = append(s.Steps, f.removed.steps...)
			s.ServiceRoles = s.ServiceRoles || f.removed.serviceRoles
			stages[f.removed.stage] = s
		}
	}
	for _, at := range sortedKeys(stages) {
		out = append(out, stages[at])
	}
	return out
}

func (f kindFacts) groupVersionKind() schema.GroupVersionKind {
	if f.version.Empty() {
		return awsv1.GroupVersion.WithKind(f.kind)
	}
	return f.version.WithKind(f.kind)
}

// IsStore reports whether objects of a kind hold data that is lost when their AWS resource is deleted, or the key without which data
// cannot be read. Secrets Manager keeps a deleted secret for its recovery window.
func IsStore(kind string) bool { return allParts().factsOf(kind).store || IsStoreKind(kind) }

// IsStoreOrSecret reports whether objects of a kind are stores or secrets.
func IsStoreOrSecret(kind string) bool { return IsStore(kind) || allParts().factsOf(kind).isSecret }

// IsKept reports whether the AWS resource of a declared object stays when only the object is deleted: a store, a secret with its value,
// which are the kinds whose Meta has HoldsData, or a database of the catalog, whose deletion would wait for its tables.
func IsKept(kind string) bool { return IsStoreOrSecret(kind) || allParts().factsOf(kind).kept }
