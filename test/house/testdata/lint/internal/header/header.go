// want goheader: Expected:SPDX-License-Identifier: Apache-2.0
// Package header has no header.
package header
