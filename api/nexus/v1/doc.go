// SPDX-License-Identifier: Apache-2.0

// Package v1 holds NexusAICapability: a whole AI capability (its AWS data services, its identity, its
// workloads and its traffic) in one object.
//
// An absent field takes the documented default; nothing is defaulted by the schema, so that an object
// reads as its author wrote it.
//
// +kubebuilder:object:generate=true
// +groupName=nexus.ai
package v1
