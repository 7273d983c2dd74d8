// SPDX-License-Identifier: Apache-2.0

// Package securityintent reconciles SecurityIntents: it reports whether the catalog knows the intent and whether its parameters
// are valid.
package securityintent
