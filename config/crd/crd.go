// SPDX-License-Identifier: Apache-2.0

// Package crd holds the generated custom resource definitions.
package crd

import "embed"

// Bases are the CustomResourceDefinitions, one YAML file each.
//
//go:embed bases/*.yaml
var Bases embed.FS
