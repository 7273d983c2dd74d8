// SPDX-License-Identifier: Apache-2.0

// Package appmodel describes an application as its author knows it, with components, stores and their needs, and writes the
// NexusAICapability that declares it. The readers of Compose files and of Kubernetes manifests, and the questions of nexusctl init, fill in
// the same model. Anything that a capability cannot express becomes a Note, so that no reader drops it silently.
package appmodel
