// SPDX-License-Identifier: Apache-2.0

// Package intent is the engine-neutral half of security intents, and is pure: what bindings, intents and
// namespaces come to (Resolve), and what an engine is asked and answers (Engine).
//
//	bindings ─┐
//	intents ──┼─ Resolve ─→ Policy ──┬─ engine.Translate(policy, facts) ─→ objects + claims
//	namespaces┘                      └─ …
//
// A Policy becomes a NimbusPolicy, or a ClusterNimbusPolicy; engines turn it into their own objects and
// say of every rule how far they go. An engine that has nothing for a rule says so too: nothing is left
// unsaid.
package intent
