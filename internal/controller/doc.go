// SPDX-License-Identifier: Apache-2.0

// Package controller wires the operator: a manager with every reconciler, the cluster's identity and issuer, the metrics of objects, and
// the permissions. Each reconciler has its own package, which imports no other one; shared code is in package reconciler.
package controller
