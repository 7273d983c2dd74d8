// SPDX-License-Identifier: Apache-2.0

package capabilityfacts

import (
	"fmt"

	"github.com/nexus-operator/nexus-operator/internal/awssession"
	"github.com/nexus-operator/nexus-operator/internal/capability"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// MayCreateNamespace refuses namespaces of the cluster's components, and those that --workload-namespaces does not name:
// the error is a *status.Stalled.
func (s Settings) MayCreateNamespace(name string) error {
	if capability.IsSystemNamespace(name) {
		return &status.Stalled{Reason: status.ReasonNotPermitted, Field: "spec.capabilityName", Message: fmt.Sprintf(
			"the workload namespace would be %s, a name of the cluster's own components, which is never created for a capability: choose another capabilityName or environment", name)}
	}
	if awssession.MatchesAny(s.WorkloadNamespaces, name) {
		return nil
	}
	return &status.Stalled{Reason: status.ReasonNotPermitted, Message: fmt.Sprintf(
		"the workload namespace %s does not exist and the operator may not create it: create this NexusAICapability in a namespace %s instead, where its workloads may run, "+
			"or have an administrator start the operator with %s", name, name,
		awssession.FlagAllowing("--workload-namespaces", s.WorkloadNamespaces, name))}
}
