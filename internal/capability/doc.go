// SPDX-License-Identifier: Apache-2.0

// Package capability defines the meaning of a NexusAICapability: the objects that it becomes, their order, and its status by their states.
//
// Everything here is pure. Compile turns a capability and the facts about its surroundings into a graph. Validate returns the error that
// prevents this. Summarize turns the states of the graph's objects into the status of the capability. Nothing here reads the cluster, AWS,
// the clock or the environment.
package capability
