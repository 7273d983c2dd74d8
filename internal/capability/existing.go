// SPDX-License-Identifier: Apache-2.0

package capability

import (
	"regexp"
	"slices"
	"strings"

	awsv1 "github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
)

// existingEnding ends the names of the objects of existing stores. No purpose has a dot, so that an entry whose store becomes an existing one, or
// the other way round, is another object: that of the former store is dropped under the guards of its data.
const existingEnding = ".existing"

// existingKind describes the ARNs of a kind of store.
type existingKind struct {
	noun, service, prefix string
	// names are the names that a store of the kind may have.
	names *regexp.Regexp
	most  int
	// ending is the number of characters, after a hyphen, that AWS adds to the name at the end of an ARN.
	ending int
	// isGlobal is true for ARNs without region, and hasNoAccount for those without account.
	isGlobal, hasNoAccount bool
	// hasPath is true for a kind whose names follow a path in the ARN.
	hasPath bool
	// needsOperator is true for stores that the administrator of the cluster has to allow as well.
	needsOperator bool
	// arn returns the ARN of a store; nil where service, prefix and name make it.
	arn func(h home, e existing) string
}

// existing is an entry for a store that exists already.
type existing struct {
	kind, purpose string
	// of describes the ARNs of the kind.
	of *existingKind
	// field is that of the entry.
	field string
	store *nexusv1.ExistingStore
}

// existingIn returns the entries for stores that exist already.
func (ps parts) existingIn(s *nexusv1.NexusAICapabilitySpec) (out []existing) {
	for _, e := range ps.allEntries() {
		if e.existing != nil {
			out = append(out, e.existing(s)...)
		}
	}
	return out
}

// existingOf returns the entry whose object has a kind and a name.
func (ps parts) existingOf(c *nexusv1.NexusAICapability, kind, name string) (existing, bool) {
	if !strings.HasSuffix(name, existingEnding) {
		return existing{}, false
	}
	all, n := ps.existingIn(&c.Spec), NamesOf(c)
	i := slices.IndexFunc(all, func(e existing) bool { return e.kind == kind && e.object(n) == name })
	if i < 0 {
		return existing{}, false
	}
	return all[i], true
}

// IsExisting reports whether an object of a capability only observes a store that the capability does not own.
func IsExisting(child awsv1.Resource) bool {
	return child.CommonSpec().ManagementPolicy == awsv1.ManageObserve && strings.HasSuffix(child.GetName(), existingEnding)
}

// UsesExisting reports whether a capability uses stores that exist already.
func UsesExisting(c *nexusv1.NexusAICapability) bool { return len(allParts().existingIn(&c.Spec)) > 0 }

// WithOwners marks the proofs of existing stores whose ARNs objects of the capability's namespace own.
func WithOwners(c *nexusv1.NexusAICapability, proofs map[string]Proof, owners map[string]bool) map[string]Proof {
	for _, e := range allParts().existingIn(&c.Spec) {
		id := e.kind + "/" + e.object(NamesOf(c))
		if proof, is := proofs[id]; is && owners[proof.ARN] {
			proof.Neighbor = true
			proofs[id] = proof
		}
	}
	return proofs
}

// object is the name of the object of a store of the capability, or of one that exists already.
func (n Names) object(purpose string, store *nexusv1.ExistingStore) string {
	if store != nil {
		return n.Of(purpose) + existingEnding
	}
	return n.Of(purpose)
}

func (e existing) object(n Names) string { return n.object(e.purpose, e.store) }

// nameIn is the name of an existing store in AWS. An ARN names it at its end.
func (e existing) nameIn() string {
	if e.store.Name != "" {
		return e.store.Name
	}
	of := e.of
	_, name, _ := strings.Cut(e.store.ARN, ":"+of.service+":")
	for range 2 { // region and account
		_, name, _ = strings.Cut(name, ":")
	}
	name = strings.TrimPrefix(name, of.prefix)
	if of.hasPath {
		name = name[strings.LastIndex(name, "/")+1:]
	}
	if of.ending > 0 {
		name = secretARNEnding.ReplaceAllString(name, "")
	}
	return name
}

// arnIn is the ARN of an existing store in a place; for a secret without the characters that AWS chose, unless the entry has them.
func (e existing) arnIn(h home) string {
	of := e.of
	switch {
	case of.arn != nil:
		return of.arn(h, e)
	case of.ending > 0 && e.store.ARN != "":
		return e.store.ARN
	case of.ending > 0:
		return h.arn(of.service, of.prefix+e.nameIn()+"-")
	default:
		return h.arn(of.service, of.prefix+e.nameIn())
	}
}

// isProvenBy reports whether an ARN that AWS showed is that of the entry.
func (e existing) isProvenBy(h home, arn string) bool {
	want, chosen := e.arnIn(h), e.of.ending
	if chosen == 0 || e.store.ARN != "" {
		return arn == want
	}
	return strings.HasPrefix(arn, want) && (len(arn) == len(want)+chosen || strings.Contains(arn, "<"))
}

// observe adds the object of an existing store, which declares nothing but its name, and which no deletion policy makes the operator delete.
func (k *compiler) observe(e existing, step, component string, o awsv1.Resource) {
	common := o.CommonSpec()
	common.ManagementPolicy, common.DeletionPolicy = awsv1.ManageObserve, awsv1.DeletionRetain
	k.addGrant(k.throughProvider(child{e.kind, e.object(k.names), step, component}, o))
}

// appendARN adds an ARN unless it is empty.
func appendARN(arns []string, arn string) []string {
	if arn == "" {
		return arns
	}
	return append(arns, arn)
}
