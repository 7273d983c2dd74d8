// SPDX-License-Identifier: Apache-2.0

// Package capability says what a NexusAICapability means: which objects it becomes, in which order,
// and what their state says of the whole.
//
// Everything here is pure. Compile turns a capability and the facts about its surroundings into a
// graph; Validate says why it cannot; Summarize turns the states of the graph's objects into the
// capability's status. Nothing here reads the cluster, AWS, the clock or the environment.
package capability
