// SPDX-License-Identifier: Apache-2.0

// Package kyverno makes Kyverno's policies from security intents: they limit the specs of pods that are created or changed. If Kyverno can
// enforce a rule over the cluster, it has one policy there, and none in every namespace.
package kyverno

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/nexus-operator/nexus-operator/internal/intent"
)

const (
	name            = "Kyverno"
	systemNamespace = "kube-system"
	// maxName limits how long a policy's name may be: Kyverno keeps it in labels.
	maxName = 63
)

type engine struct{}

// New returns the engine.
func New() intent.Engine { return engine{} }

func (engine) Name() string { return name }

func (engine) Requires() []schema.GroupVersionKind {
	return []schema.GroupVersionKind{kind("Policy"), kind("ClusterPolicy")}
}

func (e engine) Makes() []schema.GroupVersionKind {
	out := e.Requires()
	for _, v := range e.Variants() {
		out = append(out, v.Makes()...)
	}
	return out
}

// Variants implements intent.Varied: the policies in CEL take the place of kyverno.io/v1, which later releases drop.
func (engine) Variants() []intent.Engine {
	var out []intent.Engine
	for _, version := range celVersions() {
		out = append(out, celEngine{version})
	}
	return out
}

// Unsupported are the kinds of releases that serve neither kyverno.io/v1 nor policies of a namespace in CEL.
func (engine) Unsupported() []schema.GroupKind {
	return []schema.GroupKind{{Group: celGroup, Kind: validating}, {Group: celGroup, Kind: mutating}}
}

func kind(k string) schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: "kyverno.io", Version: "v1", Kind: k}
}

func (engine) Translate(p intent.Policy, f intent.Facts) intent.Translation {
	var t intent.Translation
	for _, r := range p.Rules {
		object, claim := translate(p, f, r)
		if object != nil {
			t.Objects = append(t.Objects, object)
		}
		t.Claims = append(t.Claims, claim)
	}
	return t
}

func translate(p intent.Policy, f intent.Facts, r intent.Rule) (*unstructured.Unstructured, intent.Claim) {
	say := answerTo(r.Canonical)
	if say == nil {
		return nil, notCovered(r)
	}
	a := say(r)
	if a.rule == nil {
		return nil, a.claim
	}
	if reason, message := refuse(p); reason != "" {
		return nil, intent.Not(r, reason, message)
	}
	return object(p, f, r, a), a.claim
}

func notCovered(r intent.Rule) intent.Claim {
	return intent.Not(r, intent.ReasonNotCovered, "Kyverno checks and completes objects as they are written: it has no means for "+r.ID)
}

// refuse says why the policy can have no object of kyverno.io at all.
func refuse(p intent.Policy) (reason, message string) {
	if reason, message = outOfPlace(p); reason != "" {
		return reason, message
	}
	if pattern := wildcard(p.Selector); pattern != "" {
		return intent.ReasonSelectorUnsupported,
			fmt.Sprintf("Kyverno would read %q as a pattern and select more pods than meant: use labels without * and ?", pattern)
	}
	return "", ""
}

// outOfPlace says why another policy of the binding has the object, or none has.
func outOfPlace(p intent.Policy) (reason, message string) {
	switch {
	case p.Namespace != "" && p.FromCluster:
		return intent.ReasonElsewhere, "Kyverno's policy over the cluster of the same binding says it for every selected namespace"
	case p.Namespace == "" && !p.Namespaces.All && len(p.Namespaces.Names) == 0:
		// A ClusterPolicy without namespaces would apply to all of them.
		return intent.ReasonSelectorUnsupported, "the binding selects no namespace"
	}
	return "", ""
}

// wildcard finds a label that Kyverno would read as a pattern.
func wildcard(s intent.Selector) string {
	for _, k := range sortedKeys(s.Labels) {
		if v := s.Labels[k]; strings.ContainsAny(k+v, "*?") {
			return k + "=" + v
		}
	}
	for _, e := range s.Expressions {
		for _, v := range append([]string{e.Key}, e.Values...) {
			if strings.ContainsAny(v, "*?") {
				return v
			}
		}
	}
	return ""
}

// object is a Policy in a namespace, and a ClusterPolicy over the cluster.
func object(p intent.Policy, f intent.Facts, r intent.Rule, a answer) *unstructured.Unstructured {
	k := "Policy"
	if p.Namespace == "" {
		k = "ClusterPolicy"
	}
	u := intent.NewObject(name, kind(k), p, r, "")
	u.SetName(intent.ShortenName(u.GetName(), maxName))
	annotations := u.GetAnnotations()
	if r.Description != "" {
		annotations["policies.kyverno.io/description"] = withoutVariables(r.Description)
	}
	for k, v := range a.annotations {
		annotations[k] = v
	}
	u.SetAnnotations(annotations)
	spec := map[string]any{"admission": true, "background": true, "rules": []any{rule(p, f, a)}}
	for k, v := range a.spec {
		spec[k] = v
	}
	u.Object["spec"] = spec
	return u
}

// withoutVariables takes pairs of braces apart: Kyverno looks for variables in the whole policy, and refuses
// it for one that it does not know.
func withoutVariables(text string) string {
	for strings.Contains(text, "{{") {
		text = strings.ReplaceAll(text, "{{", "{ {")
	}
	return text
}

// rule adds the selection of pods to an answer. Unused fields of the rule are present and empty, as Kyverno's own client writes them;
// Kyverno takes them for absent.
func rule(p intent.Policy, f intent.Facts, a answer) map[string]any {
	out := map[string]any{
		"skipBackgroundRequests": true,
		"match":                  map[string]any{"any": []any{map[string]any{"resources": pods(p, a.operations)}}, "resources": map[string]any{}},
		"exclude":                exclude(p, f),
		"mutate":                 map[string]any{},
		"generate":               map[string]any{"clone": map[string]any{}, "cloneList": map[string]any{}},
	}
	for k, v := range a.rule {
		out[k] = v
	}
	return out
}

// pods returns the pods selected. Kyverno refuses a selector that requires nothing, and namespaces in a Policy.
func pods(p intent.Policy, operations []string) map[string]any {
	out := map[string]any{"kinds": []any{"v1/Pod"}}
	if len(operations) > 0 {
		out["operations"] = list(operations)
	}
	if s := p.Selector.Unstructured(); len(s) > 0 {
		out["selector"] = s
	}
	if p.Namespace == "" && !p.Namespaces.All {
		out["namespaces"] = list(p.Namespaces.Names)
	}
	return out
}

// exclude keeps a ClusterPolicy out of namespaces that are never touched, selected by name or not.
func exclude(p intent.Policy, f intent.Facts) map[string]any {
	out := map[string]any{"resources": map[string]any{}}
	if p.Namespace != "" {
		return out
	}
	names := append([]string{systemNamespace}, p.Namespaces.Exclude...)
	if f.OperatorNamespace != "" {
		names = append(names, f.OperatorNamespace)
	}
	slices.Sort(names)
	out["any"] = []any{map[string]any{"resources": map[string]any{"namespaces": list(slices.Compact(names))}}}
	return out
}
