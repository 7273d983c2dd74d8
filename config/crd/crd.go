// SPDX-License-Identifier: Apache-2.0

// Package crd holds the generated custom resource definitions.
package crd

import "github.com/nexus-operator/nexus-operator/charts"

// Bases are the CustomResourceDefinitions, one YAML file each. Their files belong to the chart, and the folder bases is a link to
// them (docs/adr/0024).
var Bases = charts.Definitions()
