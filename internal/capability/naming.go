// SPDX-License-Identifier: Apache-2.0

package capability

import (
	"strings"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
)

// kindCapability is the kind of capabilities.
const kindCapability = "NexusAICapability"

// Names derives every name of a capability from its capabilityName and environment. An environment has
// no hyphen, so {cap}-{env} belongs to one capability only.
type Names struct{ Capability, Environment string }

// NamesOf returns the names of c.
func NamesOf(c *nexusv1.NexusAICapability) Names {
	return Names{Capability: c.Spec.CapabilityName, Environment: c.Spec.Environment}
}

// ProviderName names the AWSProvider of c: the one it refers to, or the one made for it.
func ProviderName(c *nexusv1.NexusAICapability) string {
	if ref := c.Spec.ProviderRef; ref != nil {
		return ref.Name
	}
	return NamesOf(c).Prefix()
}

// Prefix is {cap}-{env}: the workload namespace, the provider, the parameter set, and the beginning of
// all other names.
func (n Names) Prefix() string { return n.Capability + "-" + n.Environment }

// Of names the object or AWS resource for a purpose.
func (n Names) Of(purpose string) string { return n.Prefix() + "-" + purpose }

// WorkloadNamespace returns the namespace of the workloads.
func (n Names) WorkloadNamespace() string { return n.Prefix() }

// environmentVariable makes a purpose the end of an environment variable's name.
func environmentVariable(purpose string) string {
	return strings.ToUpper(strings.ReplaceAll(purpose, "-", "_"))
}
