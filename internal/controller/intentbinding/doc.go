// SPDX-License-Identifier: Apache-2.0

// Package intentbinding reconciles SecurityIntentBindings and ClusterSecurityIntentBindings: it gathers the intents and the
// facts of the cluster, derives NimbusPolicies, and applies the objects of the policy engines.
package intentbinding
