// SPDX-License-Identifier: Apache-2.0

// Package intentfacts gathers what SecurityIntentBindings are resolved and translated in: intents, namespaces, the cluster's
// DNS, the NetworkPolicies of others. The operator gathers it from its cache before it acts, and a plan from the API server
// before it says what the operator would do.
package intentfacts
