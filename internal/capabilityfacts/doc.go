// SPDX-License-Identifier: Apache-2.0

// Package capabilityfacts gathers what a capability depends on outside its own spec: its provider, what its
// children own in AWS, its SecurityIntents. The operator gathers it from its cache before it acts, and a plan
// from the API server before it says what the operator would do.
package capabilityfacts
