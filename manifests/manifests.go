// SPDX-License-Identifier: Apache-2.0

// Package manifests holds the operator's generated manifests.
package manifests

import "embed"

// Files are the manifests of an installation in namespace nexus-system, without the CustomResourceDefinitions. The ones in
// the first file come first.
//
//go:embed rbac.yaml deployment.yaml
var Files embed.FS
