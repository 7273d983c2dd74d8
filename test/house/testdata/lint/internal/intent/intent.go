// SPDX-License-Identifier: Apache-2.0

// Package intent is pure.
package intent

import _ "os" // want depguard: not allowed from list 'pure'
