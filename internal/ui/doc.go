// SPDX-License-Identifier: Apache-2.0

// Package ui serves the page of nexusctl ui on a loopback address.
//
// The page has no data functions: it shows the JSON output of the commands of nexusctl, and rows of lists that package inspect makes of
// watched objects. Only a holder of the token can read the API, and only a page that this server has served: docs/design/0076.
package ui
