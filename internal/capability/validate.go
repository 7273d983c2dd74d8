// SPDX-License-Identifier: Apache-2.0

package capability

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/distribution/reference"
	corev1 "k8s.io/api/core/v1"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// Bounds that follow from the names AWS and Kubernetes allow.
const (
	maxLabel         = 63
	maxNames         = 41 // {cap}-{env}-backend-svc-internal is a Service's name
	maxList          = 16
	maxTablePurpose  = 40
	maxBucketPurpose = 20 // {cap}-{env}-{purpose} is a bucket's name
	maxSecretPurpose = 40
	maxQueuePurpose  = 28 // {cap}-{env}-{purpose}-dlq.fifo is a queue's name
	maxIntents       = 32
	maxTopicPurpose  = 40
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
	healthPattern      = regexp.MustCompile(`^/[!-~]*$`)
	hostPattern        = regexp.MustCompile(`^([*][.])?[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`)
	certificatePattern = regexp.MustCompile(`^arn:aws[a-z-]*:(acm:[a-z0-9-]+:[0-9]{12}:certificate/[A-Za-z0-9-]+|iam::[0-9]{12}:server-certificate/[A-Za-z0-9+=,.@_/-]+)$`)
	hostedZonePattern  = regexp.MustCompile(`^[A-Z0-9]+$`)
	zoneNamePattern    = regexp.MustCompile(`^[a-z0-9_]([-a-z0-9_]*[a-z0-9_])?([.][a-z0-9_]([-a-z0-9_]*[a-z0-9_])?)*$`)
	annotationPattern  = regexp.MustCompile(`^([a-z0-9]([a-z0-9.-]*[a-z0-9])?/)?[A-Za-z0-9]([A-Za-z0-9_.-]*[A-Za-z0-9])?$`)
	groupPattern       = regexp.MustCompile(`^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$`)
	keyPattern         = regexp.MustCompile(`^arn:aws[a-z-]*:kms:[a-z0-9-]+:[0-9]{12}:key/[A-Za-z0-9-]+$`)
	boundaryPattern    = regexp.MustCompile(`^arn:aws[a-z-]*:iam::([0-9]{12}|aws):policy/.+$`)
	secretKeyPattern   = regexp.MustCompile(`^[A-Za-z0-9_.-]{1,64}$`)
	actionPattern      = regexp.MustCompile(`^[a-z0-9-]+:[A-Za-z0-9]+[A-Za-z0-9*]*$`)
	resourcePattern    = regexp.MustCompile(`^([*]|arn:aws[a-z-]*:[a-z0-9-]+:[^\s]+)$`)
	subdomainPattern   = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`)
	routePattern       = regexp.MustCompile(`^/([A-Za-z0-9._~-]+(/[A-Za-z0-9._~-]+)*)?$`)
	accessPattern      = regexp.MustCompile(`^([a-z0-9A-Z]+/)?[a-z]([a-z0-9-]*[a-z0-9])?$`)
	schedulePattern    = regexp.MustCompile(`^(cron[(].+[)])?$`)
)

var (
	reservedPrefixes = []string{"aws", "ssm", "xn--", "sthree-", "amzn-s3-demo-"}
	reservedEndings  = []string{"-s3alias", "--ol-s3", "--x-s3", "--table-s3"}
	ungrantable      = []string{"iam", "organizations", "account", "sts"}
)

// Validate is admission once more, and what admission cannot see. It returns nil or a *status.Stalled
// that names the first field at fault.
func Validate(c *nexusv1.NexusAICapability, f Facts) error { return check(c, f, nil) }

// check is Validate, and adds to read the proofs that it looks at.
func check(c *nexusv1.NexusAICapability, f Facts, read reads) error {
	v := &verdict{read: read}
	for _, run := range inTurn(func(p part) turn[checking] { return p.check }, func(run checking) bool { return run == nil }) {
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

func checkComponent(v *verdict, at string, c nexusv1.ComponentSpec) {
	v.matches(at+".image", c.Image, 512, imagePattern)
	if _, err := reference.ParseNormalizedNamed(c.Image); err != nil {
		v.require(false, at+".image", "%q is no image reference: %v; write registry/repository:tag, in lower case", status.Truncate(c.Image, 64), err)
	}
	checkWords(v, at+".command", c.Command)
	checkWords(v, at+".args", c.Args)
	if c.Replicas != nil {
		v.require(*c.Replicas >= 0 && *c.Replicas <= 1000, at+".replicas", "0 to 1000")
	}
	if c.Port != nil {
		v.require(*c.Port >= 1 && *c.Port <= 65535, at+".port", "1 to 65535")
	}
	if c.Service != nil {
		oneOf(v, at+".service.type", c.Service.Type, "", corev1.ServiceTypeClusterIP, corev1.ServiceTypeNodePort, corev1.ServiceTypeLoadBalancer)
		v.annotations(at+".service.annotations", c.Service.Annotations)
		v.ownedAnnotations(at+".service.annotations", c.Service.Annotations, ownServiceAnnotations, "service.type or spec.ingress.scheme")
	}
	if c.Resources != nil {
		checkResources(v, at+".resources", *c.Resources)
	}
	checkEnvironment(v, at, c)
	checkProbes(v, at+".probes", c.Probes)
	checkPlacement(v, at, c)
	checkSecurity(v, at+".securityContext", c.SecurityContext)
	checkScratch(v, at+".scratchVolumes", c.ScratchVolumes)
	checkScaling(v, at, c)
}

func checkResources(v *verdict, at string, r nexusv1.ComponentResources) {
	v.require(len(r.Requests) <= maxList && len(r.Limits) <= maxList, at, "at most %d resources", maxList)
	for _, name := range sortedKeys(r.Limits) {
		limit := r.Limits[name]
		v.require(limit.Sign() >= 0, at+".limits."+string(name), "must not be negative")
	}
	for _, name := range sortedKeys(r.Requests) {
		request := r.Requests[name]
		v.require(request.Sign() >= 0, at+".requests."+string(name), "must not be negative")
		if limit, ok := r.Limits[name]; ok {
			v.require(request.Cmp(limit) <= 0, at+".requests."+string(name), "%s is more than the limit %s", request.String(), limit.String())
		}
	}
}

func checkIngress(v *verdict, in nexusv1.IngressSpec, f Facts) {
	oneOf(v, "spec.ingress.scheme", in.Scheme, nexusv1.SchemeInternal, nexusv1.SchemeInternetFacing)
	v.matches("spec.ingress.healthCheckPath", in.HealthCheckPath, 1024, healthPattern)
	v.optional("spec.ingress.host", in.Host, 253, hostPattern)
	v.optional("spec.ingress.certificateArn", in.CertificateArn, 2048, certificatePattern)
	checkZone(v, in)
	checkGateway(v, in)
	v.annotations("spec.ingress.annotations", in.Annotations)
	for _, key := range sortedKeys(in.Annotations) {
		v.require(!strings.HasPrefix(key, albGroup), fmt.Sprintf("spec.ingress.annotations[%s]", status.Truncate(key, 64)),
			"is not passed on: set spec.ingress.groupName, which an administrator must allow")
	}
	v.ownedAnnotations("spec.ingress.annotations", in.Annotations, ownAnnotations, "scheme, healthCheckPath, certificateArn, host or hostedZoneName of spec.ingress")
	if in.GroupName == "" {
		return
	}
	v.matches("spec.ingress.groupName", in.GroupName, 63, groupPattern)
	if !groupAllowed(f.AllowedIngressGroups, in.GroupName) {
		v.refuse(status.ReasonNotPermitted, "spec.ingress.groupName",
			"the operator's --allowed-ingress-groups does not match %s: leave groupName out for its own load balancer, or ask an administrator", in.GroupName)
	}
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

func checkRights(v *verdict, id *nexusv1.IdentitySpec, f Facts) {
	if id == nil {
		return
	}
	const at = "spec.identity.extraPolicyStatements"
	v.optional("spec.identity.permissionsBoundaryARN", id.PermissionsBoundaryARN, 2048, boundaryPattern)
	if b := id.PermissionsBoundaryARN; b != "" && f.Boundary != "" && b != f.Boundary {
		v.refuse(status.ReasonNotPermitted, "spec.identity.permissionsBoundaryARN",
			"the provider bounds every role by %s: leave the field out or repeat that", f.Boundary)
	}
	if len(id.ExtraPolicyStatements) == 0 {
		return
	}
	v.require(id.PermissionsBoundaryARN != "", at, "need spec.identity.permissionsBoundaryARN")
	v.require(len(id.ExtraPolicyStatements) <= maxList, at, "at most %d", maxList)
	for i, s := range id.ExtraPolicyStatements {
		checkStatement(v, fmt.Sprintf("%s[%d]", at, i), s)
	}
	// The account is known once the provider was read, and with it whether it has a boundary.
	if f.Account != "" && f.Boundary != id.PermissionsBoundaryARN {
		v.refuse(status.ReasonNotPermitted, at, "need a spec.providerRef to an AWSProvider whose permissionsBoundaryARN "+
			"is the same as spec.identity.permissionsBoundaryARN: the boundary is an administrator's to choose")
	}
}

func checkStatement(v *verdict, at string, s nexusv1.PolicyStatement) {
	v.require(len(s.Actions) >= 1 && len(s.Actions) <= 32, at+".actions", "1 to 32")
	v.require(len(s.Resources) >= 1 && len(s.Resources) <= 32, at+".resources", "1 to 32")
	for _, a := range s.Actions {
		v.matches(at+".actions", string(a), 128, actionPattern)
		service, _, _ := strings.Cut(string(a), ":")
		v.require(!slices.Contains(ungrantable, service), at+".actions", "actions of %s cannot be granted here", service)
	}
	for _, r := range s.Resources {
		v.matches(at+".resources", string(r), 512, resourcePattern)
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
	k := newCompiler(c, f)
	k.assumeOwned, k.read = true, v.read
	for _, p := range allParts() {
		if p.surroundings != nil {
			p.surroundings(v, c, f, k)
		}
	}
	for _, a := range accessSets(s) {
		size := len(k.document(k.rightsWithin(a)...))
		if extra := extraStatements(k); len(extra) > 0 && !a.limited {
			size += len(k.document(extra...))
		}
		v.require(size <= maxPolicies, "spec.identity.extraPolicyStatements",
			"the policies of the role %s have %d characters, AWS allows %d: declare fewer statements, tables, buckets, queues, topics, secrets or actions", a.role(n), size, maxPolicies)
	}
}
