// SPDX-License-Identifier: Apache-2.0

package part

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/iampolicy"
)

// External returns the ARN of an existing store: "" where it is not proven to exist, or where no keeper of its AWSProvider consented to
// rights on it.
func (k *Compiler) External(e Existing) string {
	id, arn, chosen := e.Kind+"/"+e.Object(k.Names), e.ARNIn(k.Home), e.Of.Ending
	if e.Store.ARN != "" {
		chosen = 0
	}
	proof := k.Proof(id)
	switch {
	case k.AssumeOwned:
		return arn + strings.Repeat("?", chosen)
	case k.Expected != nil:
		if chosen > 0 {
			arn += PlaceholderFor(id)
		}
		return k.Expect(id, Proof{ARN: arn}).ARN
	case k.Facts.Provider.Account == "": // the consent is not known, and the role stays as it is
		return k.Unknown
	case proof.ARN == "" || k.Facts.WhyExternal(k.Capability, e, proof) != "":
		return ""
	default:
		return proof.ARN
	}
}

// Withholds reports whether rights on an existing store are withheld because no keeper of its AWSProvider consented to them.
func (k *Compiler) Withholds() bool {
	return slices.ContainsFunc(k.Parts.ExistingIn(&k.Capability.Spec), func(e Existing) bool {
		return k.Facts.WhyExternal(k.Capability, e, k.Proof(e.Kind+"/"+e.Object(k.Names))) != ""
	})
}

// WhyExternal returns why rights on an existing store are withheld. The ARN that AWS returned decides. Until it is known, the ARN of the
// declaration decides.
func (f Facts) WhyExternal(c *nexusv1.NexusAICapability, e Existing, proof Proof) string {
	h, noun := f.HomeOf(c), e.Of.Noun
	arn := cmp.Or(proof.ARN, e.ARNIn(h))
	switch {
	case f.Provider.Account == "": // the provider is not ready, and the capability reports that
		return ""
	case proof.ARN != "" && !e.isProvenBy(h, proof.ARN):
		return fmt.Sprintf("%s.existing: AWS shows the %s as %s: correct the entry, under another name", e.Field, noun, proof.ARN)
	case proof.ARN == "" && e.Of.Ending > 0 && e.Store.ARN == "": // AWS chose the end of the ARN
		return ""
	case slices.ContainsFunc(f.Limits.ReservedARNs, func(reserved string) bool { return iampolicy.MatchesPattern(reserved, arn) }):
		return fmt.Sprintf("%s.existing: the operator works with the %s %s: no capability gets rights on it", e.Field, noun, arn)
	}
	return f.whyNotAllowed(c, e, arn, proof)
}

// whyNotAllowed returns the reason and the remedy if rights on an ARN are not allowed. Roles always need the administrator of the cluster
// as well: many of them trust every principal of the account. A pattern must not include stores that objects of the operator own by
// mistake: those need the ARN in full, and those of other namespaces also that of the administrator.
func (f Facts) whyNotAllowed(c *nexusv1.NexusAICapability, e Existing, arn string, proof Proof) string {
	noun := e.Of.Noun
	what, owned := arn+", or a pattern of it,", proof.Foreign || proof.Neighbor
	if owned {
		what = arn + ", in full because another object of the operator owns the " + noun + ","
	}
	limited := proof.Foreign || e.Of.NeedsOperator || len(f.Limits.AllowedExternalARNs) > 0
	switch {
	case !allowsExternal(f.Provider.ExternalARNs, arn, owned):
		return fmt.Sprintf("%s.existing: AWSProvider/%s does not allow rights on the %s %s: a person who may edit the AWSProvider adds %s to its spec.allowedExternalARNs",
			e.Field, ProviderName(c), noun, arn, what)
	case limited && !allowsExternal(f.Limits.AllowedExternalARNs, arn, proof.Foreign):
		return fmt.Sprintf("%s.existing: the operator does not allow rights on the %s %s: an administrator of the cluster adds %s to --allowed-external-arns (tenants.allowedExternalARNs of the chart)",
			e.Field, noun, arn, what)
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
