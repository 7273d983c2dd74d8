// SPDX-License-Identifier: Apache-2.0

// Package workloads reads the application of Kubernetes manifests, such as those of a rendered Helm chart. It reads the fields that a
// capability can express, and notes every other object and field.
package workloads
