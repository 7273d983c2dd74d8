// SPDX-License-Identifier: Apache-2.0

// Package iampolicy is pure, and a leaf.
package iampolicy

import (
	_ "os" // want depguard: not allowed from list 'pure'

	_ "github.com/nexus-operator/nexus-operator/internal/options" // want depguard: not allowed from list 'leaves'
)
