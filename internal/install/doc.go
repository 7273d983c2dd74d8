// SPDX-License-Identifier: Apache-2.0

// Package install prepares an AWS account for the operator and for the workloads of a cluster. It looks first and returns the necessary
// changes, so that a dry run and the change itself come from the same look.
package install
