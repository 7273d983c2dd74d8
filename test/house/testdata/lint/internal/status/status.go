// SPDX-License-Identifier: Apache-2.0

// Package status is a leaf.
package status

import _ "github.com/nexus-operator/nexus-operator/internal/options" // want depguard: not allowed from list 'leaves'
