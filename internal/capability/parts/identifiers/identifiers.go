// SPDX-License-Identifier: Apache-2.0

// Package identifiers implements the fields with the name and the location of a capability.
package identifiers

import (
	"slices"
	"strings"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/capability/part"
)

func checkIdentity(v *part.Verdict, c *nexusv1.NexusAICapability) {
	s := &c.Spec
	v.Require(len(c.Name) <= part.MaxLabel, "metadata.name", "at most %d characters: it is a label of every child", part.MaxLabel)
	for _, p := range reservedPrefixes {
		v.Require(!strings.HasPrefix(s.CapabilityName, p), "spec.capabilityName", "must not begin with %s: AWS reserves it", p)
	}
	v.Require(!strings.HasPrefix(s.CapabilityName+"-", "kube-"), "spec.capabilityName",
		"must not be kube nor begin with kube-: Kubernetes reserves these namespaces")
	v.Require(len(s.CapabilityName)+len(s.Environment) <= maxNames, "spec.capabilityName",
		"capabilityName and environment together have at most %d characters", maxNames)
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

var reservedPrefixes = []string{"aws", "ssm", "xn--", "sthree-", "amzn-s3-demo-"}
