// SPDX-License-Identifier: Apache-2.0

// Package engines holds one package for each policy engine, and the tests of the rules for all of them: a new intent in the catalog fails
// here until every engine makes a claim for it.
package engines
