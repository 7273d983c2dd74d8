// SPDX-License-Identifier: Apache-2.0

// Package manifests holds the operator's generated manifests.
package manifests

import "embed"

// Files are the manifests of an installation in namespace nexus-system, without the CustomResourceDefinitions: the Namespace,
// the rights, and the Deployment with the objects beside it.
//
//go:embed 00-namespace.yaml rbac.yaml deployment.yaml
var Files embed.FS
