// SPDX-License-Identifier: Apache-2.0

package kyverno

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/nexus-operator/nexus-operator/internal/intent"
)

const (
	celGroup             = "policies.kyverno.io"
	validating           = "ValidatingPolicy"
	mutating             = "MutatingPolicy"
	namespacedValidating = "NamespacedValidatingPolicy"
	namespacedMutating   = "NamespacedMutatingPolicy"
)

// celKinds are the kinds of Kyverno 1.14 and later, with rules in CEL; the namespaced kinds came with 1.16.
func celKinds() []string {
	return []string{validating, namespacedValidating, mutating, namespacedMutating}
}

// celVersions lists the versions that Kyverno serves, the preferred one first.
func celVersions() []string { return []string{"v1", "v1beta1", "v1alpha1"} }

// celEngine makes Kyverno's policies in CEL, of one version.
type celEngine struct{ version string }

func (celEngine) Name() string { return name }

func (e celEngine) Requires() []schema.GroupVersionKind {
	var out []schema.GroupVersionKind
	for _, k := range celKinds() {
		out = append(out, schema.GroupVersionKind{Group: celGroup, Version: e.version, Kind: k})
	}
	return out
}

func (e celEngine) Makes() []schema.GroupVersionKind { return e.Requires() }

func (e celEngine) Translate(p intent.Policy, f intent.Facts) intent.Translation {
	var t intent.Translation
	for _, r := range p.Rules {
		object, claim := e.translate(p, f, r)
		if object != nil {
			t.Objects = append(t.Objects, object)
		}
		t.Claims = append(t.Claims, claim)
	}
	return t
}

func (e celEngine) translate(p intent.Policy, f intent.Facts, r intent.Rule) (*unstructured.Unstructured, intent.Claim) {
	say := answerTo(r.Canonical)
	if say == nil {
		return nil, notCovered(r)
	}
	a := say(r)
	if a.rule == nil {
		return nil, a.claim
	}
	if reason, message := outOfPlace(p); reason != "" {
		return nil, intent.Not(r, reason, message)
	}
	kind := map[bool]string{true: validating, false: namespacedValidating}[p.Namespace == ""]
	spec := validatingSpec(r)
	if r.Canonical == "cocoWorkload" {
		kind = map[bool]string{true: mutating, false: namespacedMutating}[p.Namespace == ""]
		spec = mutatingSpec(r)
	}
	u := intent.NewObject(name, schema.GroupVersionKind{Group: celGroup, Version: e.version, Kind: kind}, p, r, "")
	u.SetName(intent.ShortenName(u.GetName(), maxName))
	if r.Description != "" {
		annotations := u.GetAnnotations()
		annotations["policies.kyverno.io/description"] = r.Description
		u.SetAnnotations(annotations)
	}
	constraints := map[string]any{"resourceRules": podRules(r)}
	if s := p.Selector.Unstructured(); len(s) > 0 {
		constraints["objectSelector"] = s
	}
	if p.Namespace == "" {
		constraints["namespaceSelector"] = namespaceSelector(p, f)
	}
	spec["matchConstraints"] = constraints
	u.Object["spec"] = spec
	return u, a.claim
}

// podRules match pods when they are created: the fields that the rules check cannot change afterwards, except that a pod gets ephemeral
// containers.
func podRules(r intent.Rule) []any {
	created := map[string]any{"apiGroups": []any{""}, "apiVersions": []any{"v1"}, "resources": []any{"pods"}, "operations": []any{"CREATE"}}
	if r.Canonical == "cocoWorkload" {
		return []any{created}
	}
	return []any{created, map[string]any{"apiGroups": []any{""}, "apiVersions": []any{"v1"}, "resources": []any{"pods/ephemeralcontainers"},
		"operations": []any{"UPDATE"}}}
}

// namespaceSelector selects the namespaces of a policy over the cluster by the label of their name.
func namespaceSelector(p intent.Policy, f intent.Facts) map[string]any {
	excluded := append([]string{systemNamespace}, p.Namespaces.Exclude...)
	if f.OperatorNamespace != "" {
		excluded = append(excluded, f.OperatorNamespace)
	}
	slices.Sort(excluded)
	const label = "kubernetes.io/metadata.name"
	expressions := []any{map[string]any{"key": label, "operator": "NotIn", "values": list(slices.Compact(excluded))}}
	if !p.Namespaces.All {
		expressions = append(expressions, map[string]any{"key": label, "operator": "In", "values": list(p.Namespaces.Names)})
	}
	return map[string]any{"matchExpressions": expressions}
}

// validatingSpec holds pods to a Pod Security Standard.
func validatingSpec(r intent.Rule) map[string]any {
	action := "Deny"
	if r.Audit() {
		action = "Audit"
	}
	var validations []any
	for _, c := range controlsOf(r.Param("psaLevel", "baseline")) {
		validations = append(validations, map[string]any{"expression": c.expression, "message": c.message})
	}
	return map[string]any{
		"validationActions": []any{action},
		"evaluation":        map[string]any{"admission": map[string]any{"enabled": true}, "background": map[string]any{"enabled": true}},
		"variables": []any{
			map[string]any{"name": "containers",
				"expression": "object.spec.containers + object.spec.?initContainers.orValue([]) + object.spec.?ephemeralContainers.orValue([])"},
			map[string]any{"name": "contexts", "expression": "variables.containers.map(c, c.?securityContext.orValue({}))"},
			map[string]any{"name": "podContext", "expression": "object.spec.?securityContext.orValue({})"},
		},
		"validations": validations,
	}
}

// mutatingSpec gives pods a runtime class when they are created. Without controllers, Kyverno leaves their templates alone.
func mutatingSpec(r intent.Rule) map[string]any {
	return map[string]any{
		"autogen":    map[string]any{"podControllers": map[string]any{"controllers": []any{}}},
		"evaluation": map[string]any{"admission": map[string]any{"enabled": true}},
		"mutations": []any{map[string]any{
			"patchType": "ApplyConfiguration",
			"applyConfiguration": map[string]any{"expression": fmt.Sprintf("Object{spec: Object.spec{runtimeClassName: %q}}",
				r.Param("runtimeClass", "kata-clh"))},
		}},
	}
}
