// SPDX-License-Identifier: Apache-2.0

// Package pass decides the operator's acts for a capability, as values: a reconciler gathers, asks for the acts, and carries them out; a
// plan gathers ahead, asks for the same acts, and prints them.
package pass
