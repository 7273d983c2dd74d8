package main

import (
	"github.com/nexus-operator/nexus-operator/internal/intent"
	"github.com/nexus-operator/nexus-operator/internal/intent/engines/istio"
	"github.com/nexus-operator/nexus-operator/internal/intent/engines/kubearmor"
	"github.com/nexus-operator/nexus-operator/internal/intent/engines/kyverno"
	"github.com/nexus-operator/nexus-operator/internal/intent/engines/networkpolicy"
)

// engines is every policy engine that security intents are translated for, one line each, in the order in
// which they are told.
func engines() []intent.Engine {
	return []intent.Engine{
		networkpolicy.New(),
		kubearmor.New(),
		kyverno.New(),
		istio.New(),
	}
}
