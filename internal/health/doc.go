// SPDX-License-Identifier: Apache-2.0

// Package health judges whether an object that a capability consists of is fit for use, and names a remedy when it is not. The reconciler
// of capabilities and nexusctl ask the same code, so that they cannot disagree.
package health
