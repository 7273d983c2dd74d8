// SPDX-License-Identifier: Apache-2.0

// Package intent is the engine-neutral half of security intents, and is pure: it resolves bindings, intents and namespaces to policies
// (Resolve), and defines the interface of engines (Engine).
//
//	bindings ─┐
//	intents ──┼─ Resolve ─→ Policy ──┬─ engine.Translate(policy, facts) ─→ objects + claims
//	namespaces┘                      └─ …
//
// A Policy becomes a NimbusPolicy, or a ClusterNimbusPolicy; engines turn it into their own objects and claim for every rule how far they
// enforce it. An engine without means for a rule claims that too: no rule stays without a claim.
package intent
