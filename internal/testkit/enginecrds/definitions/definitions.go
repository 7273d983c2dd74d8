// SPDX-License-Identifier: Apache-2.0

// Package definitions holds the definitions of the policy engines' kinds as files. It imports nothing of tests, so that
// programs can use it.
package definitions

import "embed"

// Files has one YAML file for each engine.
//
//go:embed *.yaml
var Files embed.FS
