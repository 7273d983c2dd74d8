// SPDX-License-Identifier: Apache-2.0

// Package kind is a leaf.
package kind

import _ "github.com/nexus-operator/nexus-operator/internal/options" // want depguard: not allowed from list 'leaves'
