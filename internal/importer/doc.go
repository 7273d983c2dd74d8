// SPDX-License-Identifier: Apache-2.0

// Package importer declares AWS resources that exist: from an account it makes manifests, and proves with the operator's
// own decision that nothing would change.
package importer
