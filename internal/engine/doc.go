// SPDX-License-Identifier: Apache-2.0

// Package engine is the life of every AWS kind, written once: whose a resource is, what differs, what
// would be done about it, doing it, and what must be persisted before.
//
// The parts in the order of a pass: Decide reads AWS and returns a Plan, a value that can be printed;
// Advance persists the Intent, runs the plan's steps and looks again until AWS is as declared. A kind
// (package kind) only says what is wanted, what is there and which calls lead across.
//
// Crash safety rests on three facts. The engine writes to AWS only after the finalizer and the intent are
// persisted. A resource carries its owner's tags from the moment it exists. And Ready is only ever
// said of what was seen after the last write.
package engine
