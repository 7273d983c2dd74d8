// SPDX-License-Identifier: Apache-2.0

// Package driftevents reads the events that EventBridge puts into a queue: changes that CloudTrail recorded, and heartbeats. It finds which
// resources an event names. Everything in a message is a claim of its sender, who may be anyone with the right to send to the queue: the
// package limits the texts that it keeps, and callers let an event cause reads only.
package driftevents
