// SPDX-License-Identifier: Apache-2.0

// Package capability reconciles NexusAICapabilities: it compiles a capability to objects, applies them in the order of their
// dependencies, and sums up their states. It makes no call to AWS; its children do.
package capability
