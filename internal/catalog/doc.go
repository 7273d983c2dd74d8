// SPDX-License-Identifier: Apache-2.0

// Package catalog lists the AWS kinds and the policy engines of the operator. The operator, the tests, and the generators of permissions
// read the lists here; no other package names a kind or an engine.
package catalog
