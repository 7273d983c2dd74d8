// SPDX-License-Identifier: Apache-2.0

// Package answers finds the members of AWS's answers that do not affect a result.
//
// A Recording keeps the answers of the SDK's clients while something reads AWS. Unread then repeats the reading without AWS, each time with
// one member of one answer changed: a changed member that makes no difference was not read. So a setting that AWS adds is found without a
// list that names it.
package answers
