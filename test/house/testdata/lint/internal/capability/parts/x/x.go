// SPDX-License-Identifier: Apache-2.0

// Package x is pure, as every part of a capability is.
package x

import (
	_ "net/http" // want depguard: not allowed from list 'pure'
)
