// SPDX-License-Identifier: Apache-2.0

// Package permissions is pure.
package permissions

import _ "os" // want depguard: not allowed from list 'pure'
