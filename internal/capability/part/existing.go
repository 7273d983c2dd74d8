// SPDX-License-Identifier: Apache-2.0

package part

import (
	"regexp"
	"slices"
	"strings"

	awsv1 "github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
)

// existingEnding is the suffix of the names of objects of existing stores. No purpose has a dot. An entry that changes from its own store
// to an existing one, or back, therefore becomes another object: the object of the former store is dropped under the guards of its data.
const existingEnding = ".existing"

// ExistingKind describes the ARNs of a kind of store.
type ExistingKind struct {
	Noun, Service, Prefix string
	// Names are the names that a store of the kind may have.
	Names *regexp.Regexp
	Most  int
	// Ending is the number of characters, after a hyphen, that AWS adds to the name at the end of an ARN.
	Ending int
	// IsGlobal is true for ARNs without region, and HasNoAccount for those without account.
	IsGlobal, HasNoAccount bool
	// HasPath is true for a kind with a path before the name in its ARNs.
	HasPath bool
	// NeedsOperator is true for stores that the administrator of the cluster has to allow as well.
	NeedsOperator bool
	// ARN returns the ARN of a store; nil where service, prefix and name make it.
	ARN func(h Home, e Existing) string
}

// Existing is an entry for a store that exists already.
type Existing struct {
	Kind, Purpose string
	// Of describes the ARNs of the kind.
	Of *ExistingKind
	// Field is that of the entry.
	Field string
	Store *nexusv1.ExistingStore
}

// ExistingIn returns the entries for stores that exist already.
func (ps Parts) ExistingIn(s *nexusv1.NexusAICapabilitySpec) (out []Existing) {
	for _, e := range ps.Entries() {
		if e.Existing != nil {
			out = append(out, e.Existing(s)...)
		}
	}
	return out
}

// ExistingOf returns the entry of the object with a kind and a name.
func (ps Parts) ExistingOf(c *nexusv1.NexusAICapability, kind, name string) (Existing, bool) {
	if !strings.HasSuffix(name, existingEnding) {
		return Existing{}, false
	}
	all, n := ps.ExistingIn(&c.Spec), NamesOf(c)
	i := slices.IndexFunc(all, func(e Existing) bool { return e.Kind == kind && e.Object(n) == name })
	if i < 0 {
		return Existing{}, false
	}
	return all[i], true
}

// IsExisting reports whether an object of a capability only observes a store that the capability does not own.
func IsExisting(child awsv1.Resource) bool {
	return child.CommonSpec().ManagementPolicy == awsv1.ManageObserve && strings.HasSuffix(child.GetName(), existingEnding)
}

// ObjectOf is the name of the object of a store of the capability, or of one that exists already.
func (n Names) ObjectOf(purpose string, store *nexusv1.ExistingStore) string {
	if store != nil {
		return n.Of(purpose) + existingEnding
	}
	return n.Of(purpose)
}

// Object is the name of the object of the entry.
func (e Existing) Object(n Names) string { return n.ObjectOf(e.Purpose, e.Store) }

// NameIn is the name of an existing store in AWS. An ARN names it at its end.
func (e Existing) NameIn() string {
	if e.Store.Name != "" {
		return e.Store.Name
	}
	of := e.Of
	_, name, _ := strings.Cut(e.Store.ARN, ":"+of.Service+":")
	for range 2 { // region and account
		_, name, _ = strings.Cut(name, ":")
	}
	name = strings.TrimPrefix(name, of.Prefix)
	if of.HasPath {
		name = name[strings.LastIndex(name, "/")+1:]
	}
	if of.Ending > 0 {
		name = SecretARNEnding.ReplaceAllString(name, "")
	}
	return name
}

// ARNIn is the ARN of an existing store in a place; for a secret without the characters that AWS chose, unless the entry has them.
func (e Existing) ARNIn(h Home) string {
	of := e.Of
	switch {
	case of.ARN != nil:
		return of.ARN(h, e)
	case of.Ending > 0 && e.Store.ARN != "":
		return e.Store.ARN
	case of.Ending > 0:
		return h.ARN(of.Service, of.Prefix+e.NameIn()+"-")
	default:
		return h.ARN(of.Service, of.Prefix+e.NameIn())
	}
}

// isProvenBy reports whether an ARN that AWS showed is that of the entry.
func (e Existing) isProvenBy(h Home, arn string) bool {
	want, chosen := e.ARNIn(h), e.Of.Ending
	if chosen == 0 || e.Store.ARN != "" {
		return arn == want
	}
	return strings.HasPrefix(arn, want) && (len(arn) == len(want)+chosen || strings.Contains(arn, "<"))
}

// Observe adds the object of an existing store, which declares nothing but its name, and which no deletion policy makes the operator
// delete.
func (k *Compiler) Observe(e Existing, step, component string, o awsv1.Resource) {
	common := o.CommonSpec()
	common.ManagementPolicy, common.DeletionPolicy = awsv1.ManageObserve, awsv1.DeletionRetain
	k.AddGrant(k.throughProvider(Child{e.Kind, e.Object(k.Names), step, component}, o))
}

// AppendARN adds an ARN unless it is empty.
func AppendARN(arns []string, arn string) []string {
	if arn == "" {
		return arns
	}
	return append(arns, arn)
}

// FieldOf returns the field of an access that names the stores of a kind.
func (ps Parts) FieldOf(kind string) string {
	for _, p := range ps {
		if slices.ContainsFunc(p.Kinds, func(f KindFacts) bool { return f.Kind == kind && f.Existing != nil }) {
			return p.Entries.Field
		}
	}
	return ""
}

// SecretARNEnding matches the random suffix that Secrets Manager adds to the ARN of a secret.
var SecretARNEnding = regexp.MustCompile(`-[A-Za-z0-9]{6}$`)

// Describes returns the fields that describe a store, and whether an entry sets them.
func (ps Parts) Describes(e Existing, s *nexusv1.NexusAICapabilitySpec) map[string]bool {
	for _, of := range ps.Entries() {
		if of.Describes != nil && of.Field == ps.FieldOf(e.Kind) {
			return of.Describes(s, e.Purpose)
		}
	}
	return nil
}

// entryOf returns the entry of a list that fits.
func entryOf[T any](list []T, fits func(T) bool) (out T) {
	if i := slices.IndexFunc(list, fits); i >= 0 {
		return list[i]
	}
	return out
}
