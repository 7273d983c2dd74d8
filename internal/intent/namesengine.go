// SPDX-License-Identifier: Apache-2.0

package intent

import (
	"fmt"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// NamesEngine is an engine that holds the intent allowEgressToNames, and no other, by one object for each rule. It implements
// Engine and NamesHolder.
type NamesEngine struct {
	// Engine is the name, and Kind that of its objects.
	Engine string
	Kind   schema.GroupVersionKind
	// Others is the message for other intents.
	Others string
	// Holds reports whether the objects are enforced in a cluster with these facts; Missing names the missing part otherwise.
	Holds   func(Facts) bool
	Missing string
	// Spec returns the spec of the object for a rule, or the claim that says why it can have none.
	Spec func(Policy, Rule, NamesOutward, Facts) (map[string]any, *Claim)
	// Limit returns the claim of a rule that the object holds in part only, or nil. May be nil.
	Limit func(Rule, NamesOutward, Facts) *Claim
}

// Name implements Engine.
func (e NamesEngine) Name() string { return e.Engine }

// Requires implements Engine.
func (e NamesEngine) Requires() []schema.GroupVersionKind { return []schema.GroupVersionKind{e.Kind} }

// Makes implements Engine.
func (e NamesEngine) Makes() []schema.GroupVersionKind { return e.Requires() }

// HoldsNames implements NamesHolder.
func (e NamesEngine) HoldsNames(f Facts) bool { return e.Holds(f) }

// Translate implements Engine.
func (e NamesEngine) Translate(p Policy, f Facts) Translation {
	var t Translation
	for _, r := range p.Rules {
		spec, claim := e.translate(p, r, f)
		if spec != nil {
			u := NewObject(e.Engine, e.Kind, p, r, "")
			u.Object["spec"] = spec
			t.Objects = append(t.Objects, u)
		}
		t.Claims = append(t.Claims, claim)
	}
	return t
}

func (e NamesEngine) translate(p Policy, r Rule, f Facts) (map[string]any, Claim) {
	if r.Canonical != EgressToNames {
		return nil, Not(r, ReasonNotCovered, e.Others)
	}
	open, no := ReadNamesOutward(e.Engine, p, r, f)
	switch {
	case no != nil:
		return nil, *no
	case !e.Holds(f):
		return nil, Not(r, ReasonEngineMissing, e.Missing)
	}
	spec, no := e.Spec(p, r, open, f)
	if no != nil {
		return nil, *no
	}
	return spec, e.claim(p, r, open, f)
}

// claim says how far a rule is held. While it is not known where the cluster's DNS is, its names may not resolve.
func (e NamesEngine) claim(p Policy, r Rule, open NamesOutward, f Facts) Claim {
	var limit *Claim
	if e.Limit != nil {
		limit = e.Limit(r, open, f)
	}
	opened := f.OpenedBy(p, Egress)
	switch {
	case limit != nil && limit.Reason == ReasonNoEnforcer:
		return *limit
	case f.DNS.Problem != "":
		return Partly(r, ReasonDNSNotFound, f.DNS.Problem)
	case limit != nil:
		return *limit
	case opened != "":
		return Partly(r, ReasonOverlaps,
			fmt.Sprintf("%s opens egress of some of these pods beside these names, and isolates nothing: delete it, or remove its rules", opened))
	}
	c := Enforces(r)
	c.Message = open.Note
	return c
}
