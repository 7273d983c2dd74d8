// SPDX-License-Identifier: Apache-2.0

// Package plan previews the operator's actions: the Kubernetes objects that it would write, the AWS calls that it would make, and the
// losses that they cause. It asks the same code that the operator runs — Compile, the applier's comparison and the engine's Decide — and
// sends only reads and server-side dry runs.
package plan
