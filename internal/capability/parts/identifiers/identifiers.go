// SPDX-License-Identifier: Apache-2.0

// Package identifiers implements the fields with the name and the location of a capability.
package identifiers

import (
	"regexp"
	"slices"
	"strings"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/capability/part"
)

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

// Part returns the part of the fields with the name and the location of a capability.
func Part() part.Part {
	return part.Part{Checks: []part.Turn[part.Checking]{part.At(0,
		func(v *part.Verdict, c *nexusv1.NexusAICapability, _ part.Facts) { checkIdentity(v, c) })}}
}

// Region is spec.region.
func Region() part.Part {
	return part.Part{Checks: []part.Turn[part.Checking]{part.At(2,
		func(v *part.Verdict, c *nexusv1.NexusAICapability, f part.Facts) { checkRegion(v, c.Spec.Region, f) })}}
}

// maxNames follows from the names that AWS and Kubernetes allow.
const maxNames = 41 // {cap}-{env}-backend-svc-internal is a Service's name

// The patterns of the schema, here once more: the operator does not trust that a server checked them.
var (
	environmentPattern = regexp.MustCompile(`^[a-z][a-z0-9]{0,15}$`)
	versionPattern     = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9_.-]*[A-Za-z0-9])?$`)
)

var reservedPrefixes = []string{"aws", "ssm", "xn--", "sthree-", "amzn-s3-demo-"}
