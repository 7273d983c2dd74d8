// SPDX-License-Identifier: Apache-2.0

// Package gitops tests the files for Argo CD and Flux in examples/gitops: Argo CD's health script runs in the Lua interpreter
// that Argo CD uses, and kstatus, which Flux uses, judges the same objects. It is its own module, so that neither is a
// dependency of the operator.
package gitops
