// SPDX-License-Identifier: Apache-2.0

// Package engine implements the lifecycle that all AWS kinds share: it determines the owner of a resource, compares the resource with the
// spec, plans the calls, persists the records that must precede them, and sends them.
//
// The parts in the order of a pass: Decide reads AWS and returns a Plan, a value that can be printed; Advance persists the Intent, runs the
// plan's steps and looks again until AWS is as declared. A kind (package kind) only computes the wanted state, reads the existing one, and
// plans the calls between the two.
//
// Crash safety rests on three facts. The engine writes to AWS only after the finalizer and the intent are persisted. A resource carries its
// owner's tags from the moment it exists. And Ready is only ever set after a look that followed the last write.
package engine
