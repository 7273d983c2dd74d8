// SPDX-License-Identifier: Apache-2.0

package intent

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/nexus-operator/nexus-operator/api/intent/v1alpha1"
)

// Served reports whether a kind is served by the API server, in that version.
type Served func(schema.GroupVersionKind) bool

// Translate calls an engine after the checks that all engines share: missing kinds, rules that no engine could serve. The claims are one
// per rule, in the order of the rules.
func Translate(e Engine, p Policy, f Facts, enabled bool, served Served) Translation {
	e = VariantOf(e, served)
	if reason, message := unavailable(e, enabled, served); reason != "" {
		return noneOf(p.Rules, reason, message)
	}
	if len(p.NodeSelector) > 0 {
		return noneOf(p.Rules, ReasonNodeSelectorUnsupported, "no engine honors selector.nodeSelector: remove it")
	}
	able := p
	able.Rules = nil
	refused := map[string]Claim{}
	for _, r := range p.Rules {
		if c, ok := refuseInvalid(r); ok {
			refused[r.ID] = c
			continue
		}
		able.Rules = append(able.Rules, r)
	}
	if len(able.Rules) == 0 {
		return Translation{Claims: inOrder(p.Rules, refused, nil)}
	}
	t := e.Translate(able, f)
	t.Claims = inOrder(p.Rules, refused, t.Claims)
	if why := f.NotRunning[e.Name()]; why != "" {
		t.Claims = withoutEngine(t.Claims, why)
	}
	return t
}

// withoutEngine returns the claims of an engine that does not run. Its objects exist already for the time when it does.
func withoutEngine(claims []Claim, why string) []Claim {
	out := slices.Clone(claims)
	for i, c := range out {
		if c.Level != v1alpha1.LevelNone {
			out[i] = Claim{Intent: c.Intent, Level: v1alpha1.LevelNone, Reason: ReasonNoEnforcer, Message: why}
		}
	}
	return out
}

func unavailable(e Engine, enabled bool, served Served) (reason, message string) {
	if !enabled {
		return ReasonEngineDisabled, fmt.Sprintf("%s is not among the operator's --adapters", e.Name())
	}
	missing := missingKinds(e, served)
	if len(missing) == 0 {
		return "", ""
	}
	if v, ok := e.(Versioned); ok {
		for _, k := range v.Unsupported() {
			if served(k.WithVersion("v1")) {
				return ReasonEngineVersionUnsupported,
					fmt.Sprintf("%s is installed with %s only; install a version that serves %s", e.Name(), k, missing[0].GroupVersion())
			}
		}
	}
	names := make([]string, len(missing))
	for i, k := range missing {
		names[i] = k.Kind + "." + k.Group + "/" + k.Version
	}
	return ReasonEngineMissing, fmt.Sprintf("%s is not installed: %s is not served", e.Name(), strings.Join(names, ", "))
}

// missingKinds returns the kinds that an engine requires and the API server does not serve.
func missingKinds(e Engine, served Served) []schema.GroupVersionKind {
	return slices.DeleteFunc(slices.Clone(e.Requires()), func(k schema.GroupVersionKind) bool { return served(k) })
}

// refuseInvalid returns the claim for a rule that no engine could enforce.
func refuseInvalid(r Rule) (Claim, bool) {
	e, known := Lookup(r.ID)
	if !known {
		return Not(r, ReasonUnknownIntent,
			fmt.Sprintf("%q is not the id of an intent; SecurityIntent %s has a typing error, or is for a newer version", r.ID, r.Intent)), true
	}
	if problem := e.Check(r.Params); problem != "" {
		return Not(r, ReasonInvalidParams, fmt.Sprintf("SecurityIntent %s: %s", r.Intent, problem)), true
	}
	return Claim{}, false
}

func noneOf(rules []Rule, reason, message string) Translation {
	t := Translation{Claims: make([]Claim, len(rules))}
	for i, r := range rules {
		t.Claims[i] = Not(r, reason, message)
	}
	return t
}

// inOrder merges claims; a rule that an engine was silent about counts as not covered.
func inOrder(rules []Rule, refused map[string]Claim, made []Claim) []Claim {
	out := make([]Claim, len(rules))
	for i, r := range rules {
		out[i] = Not(r, ReasonNotCovered, "the engine said nothing of this intent")
		if c, ok := refused[r.ID]; ok {
			out[i] = c
		}
		for _, c := range made {
			if c.Intent == r.ID {
				out[i] = c
			}
		}
	}
	return out
}
