// SPDX-License-Identifier: Apache-2.0

package capability

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/iampolicy"
)

// external returns the ARN of an existing store: "" where it is not proven to exist, or where no keeper of its AWSProvider consented to rights on it.
func (k *compiler) external(e existing) string {
	id, arn, chosen := e.kind+"/"+e.object(k.names), e.arnIn(k.home), e.of.ending
	if e.store.ARN != "" {
		chosen = 0
	}
	proof := k.proof(id)
	switch {
	case k.assumeOwned:
		return arn + strings.Repeat("?", chosen)
	case k.expected != nil:
		if chosen > 0 {
			arn += placeholderFor(id)
		}
		return k.expect(id, Proof{ARN: arn}).ARN
	case k.facts.Account == "": // what was consented to is not known, and the role stays as it is
		return k.unknown
	case proof.ARN == "" || k.facts.whyExternal(k.c, e, proof) != "":
		return ""
	default:
		return proof.ARN
	}
}

// withholds reports whether rights on an existing store are withheld because no keeper of its AWSProvider consented to them.
func (k *compiler) withholds() bool {
	return slices.ContainsFunc(k.parts.existingIn(&k.c.Spec), func(e existing) bool {
		return k.facts.whyExternal(k.c, e, k.proof(e.kind+"/"+e.object(k.names))) != ""
	})
}

// WithheldFrom says why the workloads get no rights on the existing store that an object observes, and what gives them; it is empty for every
// other object, and while that is not known.
func WithheldFrom(f Facts, c *nexusv1.NexusAICapability, kind, name string) string {
	e, is := allParts().existingOf(c, kind, name)
	if !is || c.DeletionTimestamp != nil {
		return ""
	}
	return f.whyExternal(c, e, f.Owned[kind+"/"+name])
}

// whyExternal says why rights on an existing store are withheld. The ARN that AWS showed decides; before, the one that the declaration gives.
func (f Facts) whyExternal(c *nexusv1.NexusAICapability, e existing, proof Proof) string {
	h, noun := f.home(c), e.of.noun
	arn := cmp.Or(proof.ARN, e.arnIn(h))
	switch {
	case f.Account == "": // the provider is not ready, which the capability says
		return ""
	case proof.ARN != "" && !e.isProvenBy(h, proof.ARN):
		return fmt.Sprintf("%s.existing: AWS shows the %s as %s: correct the entry, under another name", e.field, noun, proof.ARN)
	case proof.ARN == "" && e.of.ending > 0 && e.store.ARN == "": // AWS chose the end of the ARN
		return ""
	case slices.ContainsFunc(f.ReservedARNs, func(reserved string) bool { return iampolicy.MatchesPattern(reserved, arn) }):
		return fmt.Sprintf("%s.existing: the operator works with the %s %s: no capability gets rights on it", e.field, noun, arn)
	}
	return f.whyNotAllowed(c, e, arn, proof)
}

// whyNotAllowed says who does not allow rights on an ARN. Roles always need the administrator of the cluster as well: many of them trust every
// principal of the account. A pattern must not include stores that objects of the operator own by mistake: those need the ARN in full, and
// those of other namespaces also that of the administrator.
func (f Facts) whyNotAllowed(c *nexusv1.NexusAICapability, e existing, arn string, proof Proof) string {
	noun := e.of.noun
	what, owned := arn+", or a pattern of it,", proof.Foreign || proof.Neighbor
	if owned {
		what = arn + ", in full because another object of the operator owns the " + noun + ","
	}
	limited := proof.Foreign || e.of.needsOperator || len(f.AllowedExternalARNs) > 0
	switch {
	case !allowsExternal(f.ExternalARNs, arn, owned):
		return fmt.Sprintf("%s.existing: AWSProvider/%s does not allow rights on the %s %s: a person who may edit the AWSProvider adds %s to its spec.allowedExternalARNs",
			e.field, ProviderName(c), noun, arn, what)
	case limited && !allowsExternal(f.AllowedExternalARNs, arn, proof.Foreign):
		return fmt.Sprintf("%s.existing: the operator does not allow rights on the %s %s: an administrator of the cluster adds %s to --allowed-external-arns (tenants.allowedExternalARNs of the chart)",
			e.field, noun, arn, what)
	default:
		return ""
	}
}

// allowsExternal reports whether one of the patterns allows an ARN; with exact, only the ARN itself does.
func allowsExternal(patterns []string, arn string, exact bool) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		return pattern == arn || !exact && iampolicy.MatchesStore(pattern, arn)
	})
}

// IsExternalPattern reports whether a text is a pattern that allowedExternalARNs of an AWSProvider may have. Of other texts nothing follows.
func IsExternalPattern(pattern string) bool { return iampolicy.IsStorePattern(pattern, false) }
