// SPDX-License-Identifier: Apache-2.0

// Package kubearmor makes KubeArmor's policies from security intents: they limit the executables that processes in a container may run, the
// files that they may access, and the capabilities that they may use. Its policies are namespaced, so a policy over the cluster has nothing
// to add to those in the namespaces.
package kubearmor

import (
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/nexus-operator/nexus-operator/api/intent/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/intent"
)

const name = "KubeArmor"

type engine struct{}

// New returns the engine.
func New() intent.Engine { return engine{} }

func (engine) Name() string { return name }

func (engine) Requires() []schema.GroupVersionKind { return []schema.GroupVersionKind{kind()} }

func (e engine) Makes() []schema.GroupVersionKind { return e.Requires() }

func kind() schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: "security.kubearmor.com", Version: "v1", Kind: "KubeArmorPolicy"}
}

func (engine) Translate(p intent.Policy, f intent.Facts) intent.Translation {
	var t intent.Translation
	for _, r := range p.Rules {
		parts := partsOf(r)
		claim := claimOf(p, r, len(parts) > 0)
		if r.Canonical == "virtualPatch" {
			parts, claim = patches(p, r, f)
		}
		if claim.Level != v1alpha1.LevelNone {
			for _, part := range parts {
				t.Objects = append(t.Objects, object(p, r, part))
			}
		}
		t.Claims = append(t.Claims, limited(r, f, parts, claim))
	}
	return t
}

func claimOf(p intent.Policy, r intent.Rule, covered bool) intent.Claim {
	switch {
	case !covered:
		return intent.Not(r, intent.ReasonNotCovered,
			"KubeArmor watches processes, files and capabilities in containers: it has no means for "+r.ID)
	case p.Namespace == "":
		return intent.Not(r, intent.ReasonElsewhere, "KubeArmor's policies are in the namespaces")
	case len(p.Selector.Expressions) > 0:
		return intent.Not(r, intent.ReasonSelectorUnsupported, "KubeArmor selects pods by equal labels only: use matchLabels, or == in CEL")
	}
	return intent.Enforces(r)
}

// limited lowers a claim that KubeArmor enforces, unless it is known to have no gap on these nodes. An audit needs no security
// module.
func limited(r intent.Rule, f intent.Facts, parts []part, c intent.Claim) intent.Claim {
	limit := limitOf(parts)
	if c.Level != v1alpha1.LevelNone && f.NoAgents != intent.NoNodes {
		const why = "KubeArmor does not run on nodes with Windows or of AWS Fargate, which are %s of the cluster: run pods that intents select on other nodes"
		if f.NoAgents == intent.AllNodes {
			return intent.Not(r, intent.ReasonNodesNotCovered, fmt.Sprintf(why, "all"))
		}
		return intent.Partly(r, intent.ReasonNodesNotCovered, fmt.Sprintf(why, "some"))
	}
	if c.Level != v1alpha1.LevelNone && !r.Audit() && f.SELinux != intent.NoNodes {
		const why = "KubeArmor does not hold pods by SELinux, and has nothing else on %s; kubectl get nodes -L " + enforcerLabel +
			" shows them: start their kernel with bpf among its security modules (lsm=)"
		if f.SELinux == intent.AllNodes {
			return intent.Not(r, intent.ReasonNoEnforcer, fmt.Sprintf(why, "any node"))
		}
		return intent.Partly(r, intent.ReasonNoEnforcer, fmt.Sprintf(why, "some of the nodes"))
	}
	if limit == "" || f.AppArmor || c.Level != v1alpha1.LevelEnforced {
		return c
	}
	return intent.Partly(r, intent.ReasonEngineLimit, limit+"; kubectl get nodes -L "+enforcerLabel+" shows by what it enforces")
}

// enforcerLabel is the label that KubeArmor's operator sets on nodes.
const enforcerLabel = "kubearmor.io/enforcer"

// object makes a policy of one part. Unused sections are present and empty, as KubeArmor's own client writes them.
func object(p intent.Policy, r intent.Rule, part part) *unstructured.Unstructured {
	u := intent.NewObject(name, kind(), p, r, part.suffix)
	spec := map[string]any{
		"action": action(r), "selector": selector(p.Selector),
		"capabilities": map[string]any{}, "file": map[string]any{}, "network": map[string]any{}, "process": map[string]any{},
		"syscalls": map[string]any{},
	}
	spec[part.section] = part.rules
	if r.Description != "" {
		spec["message"] = r.Description
	}
	if n, ok := severity(r); ok {
		spec["severity"] = n
	}
	if len(r.Tags) > 0 {
		spec["tags"] = list(r.Tags)
	}
	u.Object["spec"] = spec
	if part.adorn != nil {
		part.adorn(u, p, r)
	}
	return u
}

// selector without labels selects every pod of the namespace: KubeArmor counts the namespace as one of the
// labels that must match.
func selector(s intent.Selector) map[string]any {
	if len(s.Labels) == 0 {
		return map[string]any{}
	}
	labels := map[string]any{}
	for k, v := range s.Labels {
		labels[k] = v
	}
	return map[string]any{"matchLabels": labels}
}

func list(values []string) []any {
	out := make([]any, len(values))
	for i, v := range values {
		out[i] = v
	}
	return out
}
