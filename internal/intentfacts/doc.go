// SPDX-License-Identifier: Apache-2.0

// Package intentfacts gathers the facts that the resolution and the translation of SecurityIntentBindings need: intents, namespaces, the
// cluster's DNS, the NetworkPolicies of other owners. The operator gathers them from its cache before it acts. A plan gathers them from the
// API server before it predicts the operator's actions.
package intentfacts
