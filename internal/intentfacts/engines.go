// SPDX-License-Identifier: Apache-2.0

package intentfacts

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/clock"

	"github.com/nexus-operator/nexus-operator/internal/clusterfacts"
	"github.com/nexus-operator/nexus-operator/internal/intent"
	"github.com/nexus-operator/nexus-operator/internal/options"
)

// Engine is a policy engine, and whether --adapters names it.
type Engine struct {
	intent.Engine
	Enabled bool
}

// EnabledEngines marks the engines that --adapters names.
func EnabledEngines(engines []intent.Engine, names []string) ([]Engine, error) {
	out := make([]Engine, len(engines))
	known := []string{options.AllAdapters}
	for i, e := range engines {
		name := strings.ToLower(e.Name())
		known = append(known, name)
		out[i] = Engine{Engine: e, Enabled: slices.Contains(names, name) || slices.Contains(names, options.AllAdapters)}
	}
	for _, n := range names {
		if !slices.Contains(known, n) {
			return nil, fmt.Errorf("--adapters: %q is not one of %s", n, strings.Join(known, ", "))
		}
	}
	return out, nil
}

// HoldNames reports whether one of the engines that can be used holds the intent allowEgressToNames.
func HoldNames(engines []Engine, f intent.Facts, served intent.Served) bool {
	return slices.ContainsFunc(engines, func(e Engine) bool {
		h, ok := e.Engine.(intent.NamesHolder)
		missing := func(k schema.GroupVersionKind) bool { return !served(k) }
		return ok && e.Enabled && !slices.ContainsFunc(e.Requires(), missing) && h.HoldsNames(f)
	})
}

// Settings holds the administrator's settings for all bindings.
type Settings struct {
	OperatorNamespace, MeshRootNamespace, TrustDomain string
	// TLSAssessorImage assesses TLS for intent assessTLS; empty is none.
	TLSAssessorImage string
	// DNSService is namespace/name of the Service of the cluster's DNS. DNSPorts are the ports of its pods, for a Service that does not
	// name them.
	DNSService string
	DNSPorts   []int
	// Enforcer is the name of the network plugin that enforces NetworkPolicies; if empty, the operator detects it.
	Enforcer string
	// AutoMode asks EKS about EKS Auto Mode; nil leaves it to the nodes.
	AutoMode clusterfacts.AutoMode
	// Clock tells how long pods of network plugins have not been ready; nil gives them no time.
	Clock clock.PassiveClock
	// VirtualPatches is namespace/name of the ConfigMap with the catalog of virtual patches; empty is none.
	VirtualPatches string
}

// SettingsOf returns the settings from the operator's options.
func SettingsOf(o options.Options) Settings {
	i := o.Intents
	return Settings{OperatorNamespace: o.Namespace, MeshRootNamespace: i.MeshRootNamespace, TrustDomain: i.MeshTrustDomain,
		TLSAssessorImage: i.TLSAssessorImage, DNSService: i.ClusterDNSService, DNSPorts: i.ClusterDNSPorts,
		Enforcer: i.NetworkPolicyEnforcer, VirtualPatches: i.VirtualPatches}
}
