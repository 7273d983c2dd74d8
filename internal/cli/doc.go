// SPDX-License-Identifier: Apache-2.0

// Package cli is nexusctl: one file for each verb. A verb reads flags, asks another package, and prints the result.
package cli
