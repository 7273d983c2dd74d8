// SPDX-License-Identifier: Apache-2.0

// Package networkpolicy turns the intents that limit network flows into Kubernetes' own NetworkPolicies.
//
//	rules of the policy and its siblings ─→ demands ─┐
//	foreign NetworkPolicies ────────────────────────┴─ division, per direction ─→ allotments ─→ objects, claims
//
// NetworkPolicies only ever allow: a pod that two of them select has the flows that either allows. An intent must never open a flow that
// was closed, so no pod is ever selected by two of our objects in one direction, nor by one of ours if another owner's policy already
// isolates it. Pods of several rules get, in one object of one rule, only the flows that all of them allow (cells.go). The owner of that
// object follows from the rules alone, so it does not matter which of the policies is being translated.
//
// Two things make this exact: a selector is a set over label keys, closed under intersection and, up to
// a list of sets, under subtraction (selectors.go); and allowed flows are a list of peers and ports, closed
// under intersection (flows.go). Both are bounded; a rule beyond the bound is left out and says so.
package networkpolicy
