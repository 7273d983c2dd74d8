// SPDX-License-Identifier: Apache-2.0

// Package plan says what the operator would do, before anything does it: which Kubernetes objects it would write,
// which AWS calls it would make, and what is lost by that. It asks the same code that the operator runs —
// Compile, the applier's comparison and the engine's Decide — and sends only reads and server-side dry runs.
package plan
