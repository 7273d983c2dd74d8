// SPDX-License-Identifier: Apache-2.0

// Package capabilityfacts gathers the facts outside a capability's own spec that the capability depends on: its provider, the AWS resources
// of its children, its SecurityIntents. The operator gathers them from its cache before it acts. A plan gathers them from the API server
// before it predicts the operator's actions.
package capabilityfacts
