// SPDX-License-Identifier: Apache-2.0

package capability

import (
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/capability/part"
	"github.com/nexus-operator/nexus-operator/internal/capability/parts"
	"github.com/nexus-operator/nexus-operator/internal/capability/parts/identity"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// Validate repeats the checks of admission, and adds checks that admission cannot make. It returns nil or a *status.Stalled that names the
// first field at fault.
func Validate(c *nexusv1.NexusAICapability, f part.Facts) error { return check(c, f, nil) }

// check is Validate, and adds to read the proofs that it looks at.
func check(c *nexusv1.NexusAICapability, f part.Facts, read part.Reads) error {
	v := &part.Verdict{Parts: parts.All, Read: read}
	for _, run := range part.InTurn(v.Parts, func(p part.Part) []part.Turn[part.Checking] { return p.Checks }) {
		run(v, c, f)
	}
	if v.First == nil {
		checkSurroundings(v, c, f)
	}
	if v.First != nil {
		return v.First
	}
	return nil
}

// checkSurroundings reports mistakes that only the facts and the compiled objects can show.
func checkSurroundings(v *part.Verdict, c *nexusv1.NexusAICapability, f part.Facts) {
	s := &c.Spec
	n := part.NamesOf(c)
	if s.Region != "" && f.ProviderRegion != "" && s.Region != f.ProviderRegion {
		v.Refuse(status.ReasonImmutable, "spec.region",
			"AWSProvider/%s is in %s and a region cannot change: set spec.region to it or leave it out", part.ProviderName(c), f.ProviderRegion)
	}
	if ns := n.WorkloadNamespace(); ns == f.OperatorNamespace {
		v.Refuse(status.ReasonConflict, "spec.capabilityName",
			"the workload namespace would be %s, the operator's own: choose another capabilityName or environment", ns)
	}
	k := part.NewCompiler(v.Parts, c, f)
	k.AssumeOwned, k.Read = true, v.Read
	for _, p := range k.Parts {
		if p.Surroundings != nil {
			p.Surroundings(v, c, f, k)
		}
	}
	for _, a := range k.Parts.AccessSets(s) {
		size := len(k.Document(k.RightsWithin(a)...))
		if extra := identity.ExtraStatements(k); len(extra) > 0 && !a.Limited {
			size += len(k.Document(extra...))
		}
		v.Require(size <= part.MaxPolicies, "spec.identity.extraPolicyStatements",
			"the policies of the role %s have %d characters, AWS allows %d: declare fewer statements, tables, buckets, queues, topics, secrets or actions", a.Role(n), size, part.MaxPolicies)
	}
}
