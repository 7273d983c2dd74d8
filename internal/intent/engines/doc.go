// SPDX-License-Identifier: Apache-2.0

// Package engines holds one package for each policy engine, and the test of what all of them must keep:
// an intent that is new in the catalog fails here until every engine has its say.
package engines
