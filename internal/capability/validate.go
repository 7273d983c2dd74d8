// SPDX-License-Identifier: Apache-2.0

package capability

import (
	"regexp"
	"slices"
	"strings"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/capability/part"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// Bounds that follow from the names AWS and Kubernetes allow.
const (
	maxNames = 41 // {cap}-{env}-backend-svc-internal is a Service's name
)

// The patterns of the schema, here once more: the operator does not trust that a server checked them.
var (
	environmentPattern = regexp.MustCompile(`^[a-z][a-z0-9]{0,15}$`)
	versionPattern     = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9_.-]*[A-Za-z0-9])?$`)
	imagePattern       = regexp.MustCompile(`^[^\s]+$`)
	boundaryPattern    = regexp.MustCompile(`^arn:aws[a-z-]*:iam::([0-9]{12}|aws):policy/.+$`)
	actionPattern      = regexp.MustCompile(`^[a-z0-9-]+:[A-Za-z0-9]+[A-Za-z0-9*]*$`)
	resourcePattern    = regexp.MustCompile(`^([*]|arn:aws[a-z-]*:[a-z0-9-]+:[^\s]+)$`)
	routePattern       = regexp.MustCompile(`^/([A-Za-z0-9._~-]+(/[A-Za-z0-9._~-]+)*)?$`)
)

var (
	reservedPrefixes = []string{"aws", "ssm", "xn--", "sthree-", "amzn-s3-demo-"}
	ungrantable      = []string{"iam", "organizations", "account", "sts"}
)

// Validate is admission once more, and what admission cannot see. It returns nil or a *status.Stalled
// that names the first field at fault.
func Validate(c *nexusv1.NexusAICapability, f part.Facts) error { return check(c, f, nil) }

// check is Validate, and adds to read the proofs that it looks at.
func check(c *nexusv1.NexusAICapability, f part.Facts, read part.Reads) error {
	v := &part.Verdict{Parts: allParts(), Read: read}
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

func checkIdentity(v *part.Verdict, c *nexusv1.NexusAICapability) {
	s := &c.Spec
	v.Require(len(c.Name) <= part.MaxLabel, "metadata.name", "at most %d characters: it is a label of every child", part.MaxLabel)
	v.Matches("spec.capabilityName", s.CapabilityName, 40, part.NamePattern)
	for _, p := range reservedPrefixes {
		v.Require(!strings.HasPrefix(s.CapabilityName, p), "spec.capabilityName", "must not begin with %s: AWS reserves it", p)
	}
	v.Require(!strings.HasPrefix(s.CapabilityName+"-", "kube-"), "spec.capabilityName",
		"must not be kube nor begin with kube-: Kubernetes reserves these namespaces")
	v.Matches("spec.environment", s.Environment, 16, environmentPattern)
	v.Require(len(s.CapabilityName)+len(s.Environment) <= maxNames, "spec.capabilityName",
		"capabilityName and environment together have at most %d characters", maxNames)
	v.Matches("spec.version", s.Version, part.MaxLabel, versionPattern)
	v.Optional("spec.region", s.Region, 32, part.RegionPattern)
	if s.ProviderRef != nil {
		v.Require(s.ProviderRef.Name != "" && len(s.ProviderRef.Name) <= 253, "spec.providerRef.name", "1 to 253 characters")
	}
	part.OneOf(v, "spec.deletionPolicy", s.DeletionPolicy, "", nexusv1.DeletionDelete, nexusv1.DeletionRetain, nexusv1.DeletionOrphan)
	part.OneOf(v, "spec.driftPolicy", s.DriftPolicy, "", nexusv1.DriftCorrect, nexusv1.DriftReport)
}

func checkRegion(v *part.Verdict, region string, f part.Facts) {
	v.Require(region == "" || len(f.Regions) == 0 || slices.Contains(f.Regions, region), "spec.region",
		"%q is no AWS region that this operator knows: correct it, or have an administrator add a new region to --additional-regions", region)
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
		if extra := extraStatements(k); len(extra) > 0 && !a.Limited {
			size += len(k.Document(extra...))
		}
		v.Require(size <= part.MaxPolicies, "spec.identity.extraPolicyStatements",
			"the policies of the role %s have %d characters, AWS allows %d: declare fewer statements, tables, buckets, queues, topics, secrets or actions", a.Role(n), size, part.MaxPolicies)
	}
}

// identifiersPart holds the fields that name a capability and say where it is.
func identifiersPart() part.Part {
	return part.Part{Checks: []part.Turn[part.Checking]{part.At(0, func(v *part.Verdict, c *nexusv1.NexusAICapability, _ part.Facts) { checkIdentity(v, c) })}}
}

// regionPart is spec.region.
func regionPart() part.Part {
	return part.Part{Checks: []part.Turn[part.Checking]{part.At(2, func(v *part.Verdict, c *nexusv1.NexusAICapability, f part.Facts) { checkRegion(v, c.Spec.Region, f) })}}
}
