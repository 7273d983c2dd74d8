// SPDX-License-Identifier: Apache-2.0

// Package v1alpha1 holds the kinds of security intents: what must be true (SecurityIntent), for which
// workloads (SecurityIntentBinding, ClusterSecurityIntentBinding), and the engine-neutral policies that
// are derived from both (NimbusPolicy, ClusterNimbusPolicy).
//
// +kubebuilder:object:generate=true
// +groupName=intent.security.nimbus.com
package v1alpha1
