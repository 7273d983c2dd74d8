// SPDX-License-Identifier: Apache-2.0

// Package kyverno is an engine, and is pure.
package kyverno

import _ "os" // want depguard: not allowed from list 'pure'
