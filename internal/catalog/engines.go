// SPDX-License-Identifier: Apache-2.0

package catalog

import (
	"github.com/nexus-operator/nexus-operator/internal/intent"
	"github.com/nexus-operator/nexus-operator/internal/intent/engines/cilium"
	"github.com/nexus-operator/nexus-operator/internal/intent/engines/eksautomode"
	"github.com/nexus-operator/nexus-operator/internal/intent/engines/istio"
	"github.com/nexus-operator/nexus-operator/internal/intent/engines/kubearmor"
	"github.com/nexus-operator/nexus-operator/internal/intent/engines/kyverno"
	"github.com/nexus-operator/nexus-operator/internal/intent/engines/networkpolicy"
	"github.com/nexus-operator/nexus-operator/internal/intent/engines/tlsassessor"
)

// Engines returns every policy engine that security intents are translated for, in the order of their coverage in the
// status. Adding an engine is a line here.
func Engines() []intent.Engine {
	return []intent.Engine{
		networkpolicy.New(),
		kubearmor.New(),
		kyverno.New(),
		istio.New(),
		cilium.New(),
		eksautomode.New(),
		tlsassessor.New(),
	}
}
