// SPDX-License-Identifier: Apache-2.0

// Package istio makes Istio's policies from security intents. Authorization is always a DENY with negated fields, "neither from these
// namespaces nor from these accounts": an ALLOW would be joined with the ALLOWs of other owners, and could open requests that they leave
// closed.
package istio

import (
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/nexus-operator/nexus-operator/api/intent/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/intent"
)

const name = "Istio"

// Istio's own defaults, for a cluster that has not told otherwise.
const (
	defaultRootNamespace = "istio-system"
	defaultTrustDomain   = "cluster.local"
)

type engine struct{}

// New returns the engine.
func New() intent.Engine { return engine{} }

func (engine) Name() string { return name }

func (engine) Requires() []schema.GroupVersionKind {
	return []schema.GroupVersionKind{kind("PeerAuthentication"), kind("AuthorizationPolicy")}
}

func (e engine) Makes() []schema.GroupVersionKind { return e.Requires() }

func kind(k string) schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: "security.istio.io", Version: "v1", Kind: k}
}

func (engine) Translate(p intent.Policy, f intent.Facts) intent.Translation {
	s := site{policy: p, mesh: intent.MeshOf(f.NamespaceLabels), waypoint: waypointOf(f.NamespaceLabels)}
	s.root, s.trustDomain = f.MeshRootNamespace, f.TrustDomain
	if s.root == "" {
		s.root = defaultRootNamespace
	}
	if s.trustDomain == "" {
		s.trustDomain = defaultTrustDomain
	}
	var t intent.Translation
	for _, r := range p.Rules {
		objects, claim := s.translate(r)
		t.Objects = append(t.Objects, objects...)
		t.Claims = append(t.Claims, claim)
	}
	return t
}

// site says where a policy applies.
type site struct {
	policy            intent.Policy
	mesh              intent.Mesh
	waypoint          string
	root, trustDomain string
}

// answer makes the objects of a rule, and claims how far they go in a namespace of the mesh.
type answer func(site, intent.Rule) ([]*unstructured.Unstructured, intent.Claim)

func answerTo(id string) answer {
	switch id {
	case "ensureTLS":
		return site.ensureTLS
	case "networkSegmentation":
		return site.networkSegmentation
	case "apiSegmentation":
		return site.apiSegmentation
	default:
		return nil
	}
}

func (s site) translate(r intent.Rule) ([]*unstructured.Unstructured, intent.Claim) {
	a := answerTo(r.Canonical)
	if a == nil {
		return nil, intent.Not(r, intent.ReasonNotCovered, "Istio has no means for "+r.ID)
	}
	if reason, message := s.refuse(r); reason != "" {
		return nil, intent.Not(r, reason, message)
	}
	objects, claim := a(s, r)
	if s.mesh == intent.OutsideMesh && claim.Level != v1alpha1.LevelNone {
		claim = intent.Partly(r, intent.ReasonNotInMesh, fmt.Sprintf(
			"namespace %s is not in the mesh, so nothing acts on the policy yet: label it istio-injection=enabled or istio.io/dataplane-mode=ambient, and restart its pods for the former", s.policy.Namespace))
	}
	return objects, claim
}

// refuse says why the policy can have no object of Istio's at all.
func (s site) refuse(r intent.Rule) (reason, message string) {
	switch {
	case s.policy.Namespace == "":
		return intent.ReasonElsewhere, "Istio's policies are in the namespaces"
	case s.policy.Namespace == s.root:
		return intent.ReasonMeshRoot, fmt.Sprintf("in %s, the mesh's root namespace, the policy would apply to the whole mesh", s.root)
	case len(s.policy.Selector.Expressions) > 0:
		return intent.ReasonSelectorUnsupported, "Istio selects pods by equal labels only: use matchLabels, or == in CEL"
	case r.Audit() && s.mesh == intent.AmbientMesh:
		// ztunnel tries policies since Istio 1.29, and only when told to; istiod kept them from it before,
		// and before that it enforced them (istio/istio#55414, istio/istio#58657).
		return intent.ReasonAuditUnsupported,
			fmt.Sprintf("namespace %s is in ambient mode, where a dry run is ignored or, in older versions, enforced: an audit needs sidecars",
				s.policy.Namespace)
	}
	return "", ""
}

// object starts an object with the policy's selector, if it selects at all: none is the whole namespace.
func (s site) object(k string, r intent.Rule, suffix string) *unstructured.Unstructured {
	u := intent.NewObject(name, kind(k), s.policy, r, suffix)
	spec := map[string]any{}
	if len(s.policy.Selector.Labels) > 0 {
		labels := map[string]any{}
		for k, v := range s.policy.Selector.Labels {
			labels[k] = v
		}
		spec["selector"] = map[string]any{"matchLabels": labels}
	}
	u.Object["spec"] = spec
	return u
}

// deny returns a policy that denies requests that match any of the rules, or only reports them when the rule is an audit.
func (s site) deny(r intent.Rule, suffix string, rules ...any) *unstructured.Unstructured {
	u := s.object("AuthorizationPolicy", r, suffix)
	if r.Audit() {
		annotations := u.GetAnnotations()
		annotations["istio.io/dry-run"] = "true"
		u.SetAnnotations(annotations)
	}
	spec := u.Object["spec"].(map[string]any)
	spec["action"] = "DENY"
	spec["rules"] = rules
	return u
}

// from is one source with all of the fields: each must hold.
func from(fields map[string]any) []any {
	return []any{map[string]any{"source": fields}}
}

// to is one operation with one field.
func to(field string, values []string) []any {
	return []any{map[string]any{"operation": map[string]any{field: list(values)}}}
}

func list(values []string) []any {
	out := make([]any, len(values))
	for i, v := range values {
		out[i] = v
	}
	return out
}
