// SPDX-License-Identifier: Apache-2.0

package capability

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// Bounds that follow from the names AWS and Kubernetes allow.
const (
	maxLabel = 63
	maxNames = 41 // {cap}-{env}-backend-svc-internal is a Service's name
	maxList  = 16
	// maxPolicies limits the characters of all inline policies of a role, without white space.
	// https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_iam-quotas.html
	maxPolicies = 10240
)

// The patterns of the schema, here once more: the operator does not trust that a server checked them.
var (
	namePattern        = regexp.MustCompile(`^[a-z]([a-z0-9-]*[a-z0-9])?$`)
	environmentPattern = regexp.MustCompile(`^[a-z][a-z0-9]{0,15}$`)
	versionPattern     = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9_.-]*[A-Za-z0-9])?$`)
	regionPattern      = regexp.MustCompile(`^[a-z]{2}(-[a-z]+)+-[0-9]+$`)
	imagePattern       = regexp.MustCompile(`^[^\s]+$`)
	annotationPattern  = regexp.MustCompile(`^([a-z0-9]([a-z0-9.-]*[a-z0-9])?/)?[A-Za-z0-9]([A-Za-z0-9_.-]*[A-Za-z0-9])?$`)
	boundaryPattern    = regexp.MustCompile(`^arn:aws[a-z-]*:iam::([0-9]{12}|aws):policy/.+$`)
	actionPattern      = regexp.MustCompile(`^[a-z0-9-]+:[A-Za-z0-9]+[A-Za-z0-9*]*$`)
	resourcePattern    = regexp.MustCompile(`^([*]|arn:aws[a-z-]*:[a-z0-9-]+:[^\s]+)$`)
	subdomainPattern   = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`)
	routePattern       = regexp.MustCompile(`^/([A-Za-z0-9._~-]+(/[A-Za-z0-9._~-]+)*)?$`)
	accessPattern      = regexp.MustCompile(`^([a-z0-9A-Z]+/)?[a-z]([a-z0-9-]*[a-z0-9])?$`)
)

var (
	reservedPrefixes = []string{"aws", "ssm", "xn--", "sthree-", "amzn-s3-demo-"}
	ungrantable      = []string{"iam", "organizations", "account", "sts"}
)

// Validate is admission once more, and what admission cannot see. It returns nil or a *status.Stalled
// that names the first field at fault.
func Validate(c *nexusv1.NexusAICapability, f Facts) error { return check(c, f, nil) }

// check is Validate, and adds to read the proofs that it looks at.
func check(c *nexusv1.NexusAICapability, f Facts, read reads) error {
	v := &verdict{parts: allParts(), read: read}
	for _, run := range inTurn(v.parts, func(p part) []turn[checking] { return p.checks }) {
		run(v, c, f)
	}
	if v.first == nil {
		checkSurroundings(v, c, f)
	}
	if v.first != nil {
		return v.first
	}
	return nil
}

// verdict keeps the first requirement that is not met.
type verdict struct {
	first *status.Stalled
	read  reads
	parts parts
}

func (v *verdict) require(ok bool, field, format string, args ...any) {
	if !ok && v.first == nil {
		v.first = status.Invalid(field, format, args...)
	}
}

// refuse is for what is not wrong in itself.
func (v *verdict) refuse(reason, field, format string, args ...any) {
	if v.first == nil {
		v.first = &status.Stalled{Reason: reason, Field: field, Message: fmt.Sprintf(format, args...)}
	}
}

// matches requires a bounded text of a pattern; empty is for the caller to allow.
func (v *verdict) matches(field, text string, most int, p *regexp.Regexp) {
	v.require(len(text) <= most, field, "at most %d characters", most)
	v.require(p.MatchString(text), field, "%q does not match %s", status.Truncate(text, 64), p)
}

func (v *verdict) optional(field, text string, most int, p *regexp.Regexp) {
	if text != "" {
		v.matches(field, text, most, p)
	}
}

func oneOf[T ~string](v *verdict, field string, value T, allowed ...T) {
	v.require(slices.Contains(allowed, value), field, "%q is none of %v", string(value), allowed)
}

func checkIdentity(v *verdict, c *nexusv1.NexusAICapability) {
	s := &c.Spec
	v.require(len(c.Name) <= maxLabel, "metadata.name", "at most %d characters: it is a label of every child", maxLabel)
	v.matches("spec.capabilityName", s.CapabilityName, 40, namePattern)
	for _, p := range reservedPrefixes {
		v.require(!strings.HasPrefix(s.CapabilityName, p), "spec.capabilityName", "must not begin with %s: AWS reserves it", p)
	}
	v.require(!strings.HasPrefix(s.CapabilityName+"-", "kube-"), "spec.capabilityName",
		"must not be kube nor begin with kube-: Kubernetes reserves these namespaces")
	v.matches("spec.environment", s.Environment, 16, environmentPattern)
	v.require(len(s.CapabilityName)+len(s.Environment) <= maxNames, "spec.capabilityName",
		"capabilityName and environment together have at most %d characters", maxNames)
	v.matches("spec.version", s.Version, maxLabel, versionPattern)
	v.optional("spec.region", s.Region, 32, regionPattern)
	if s.ProviderRef != nil {
		v.require(s.ProviderRef.Name != "" && len(s.ProviderRef.Name) <= 253, "spec.providerRef.name", "1 to 253 characters")
	}
	oneOf(v, "spec.deletionPolicy", s.DeletionPolicy, "", nexusv1.DeletionDelete, nexusv1.DeletionRetain, nexusv1.DeletionOrphan)
	oneOf(v, "spec.driftPolicy", s.DriftPolicy, "", nexusv1.DriftCorrect, nexusv1.DriftReport)
}

func checkRegion(v *verdict, region string, f Facts) {
	v.require(region == "" || len(f.Regions) == 0 || slices.Contains(f.Regions, region), "spec.region",
		"%q is no AWS region that this operator knows: correct it, or have an administrator add a new region to --additional-regions", region)
}

func (v *verdict) annotations(at string, annotations map[string]nexusv1.AnnotationValue) {
	v.require(len(annotations) <= 32, at, "at most 32")
	for _, key := range sortedKeys(annotations) {
		at := fmt.Sprintf("%s[%s]", at, status.Truncate(key, 64))
		v.matches(at, key, 317, annotationPattern)
		v.require(len(annotations[key]) <= 1024, at, "at most 1024 characters")
	}
}

// ownedAnnotations refuses the annotations that the operator sets: a value that is dropped silently is taken for one in force.
func (v *verdict) ownedAnnotations(at string, annotations map[string]nexusv1.AnnotationValue, owned []string, remedy string) {
	for _, key := range sortedKeys(annotations) {
		v.require(!slices.Contains(owned, key) && !strings.HasPrefix(key, reservedNexus), fmt.Sprintf("%s[%s]", at, status.Truncate(key, 64)),
			"is set by the operator: remove it, and set %s where another value is needed", remedy)
	}
}

// checkSurroundings reports mistakes that only the facts and the compiled objects can show.
func checkSurroundings(v *verdict, c *nexusv1.NexusAICapability, f Facts) {
	s := &c.Spec
	n := NamesOf(c)
	if s.Region != "" && f.ProviderRegion != "" && s.Region != f.ProviderRegion {
		v.refuse(status.ReasonImmutable, "spec.region",
			"AWSProvider/%s is in %s and a region cannot change: set spec.region to it or leave it out", ProviderName(c), f.ProviderRegion)
	}
	if ns := n.WorkloadNamespace(); ns == f.OperatorNamespace {
		v.refuse(status.ReasonConflict, "spec.capabilityName",
			"the workload namespace would be %s, the operator's own: choose another capabilityName or environment", ns)
	}
	k := newCompiler(v.parts, c, f)
	k.assumeOwned, k.read = true, v.read
	for _, p := range k.parts {
		if p.surroundings != nil {
			p.surroundings(v, c, f, k)
		}
	}
	for _, a := range k.parts.accessSets(s) {
		size := len(k.document(k.rightsWithin(a)...))
		if extra := extraStatements(k); len(extra) > 0 && !a.limited {
			size += len(k.document(extra...))
		}
		v.require(size <= maxPolicies, "spec.identity.extraPolicyStatements",
			"the policies of the role %s have %d characters, AWS allows %d: declare fewer statements, tables, buckets, queues, topics, secrets or actions", a.role(n), size, maxPolicies)
	}
}

// identifiersPart holds the fields that name a capability and say where it is.
func identifiersPart() part {
	return part{checks: []turn[checking]{at(0, func(v *verdict, c *nexusv1.NexusAICapability, _ Facts) { checkIdentity(v, c) })}}
}

// regionPart is spec.region.
func regionPart() part {
	return part{checks: []turn[checking]{at(2, func(v *verdict, c *nexusv1.NexusAICapability, f Facts) { checkRegion(v, c.Spec.Region, f) })}}
}
