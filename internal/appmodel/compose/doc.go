// SPDX-License-Identifier: Apache-2.0

// Package compose reads the application of a Compose file. It reads the fields that a capability can express, and notes every other field.
// It opens no file and runs nothing. https://github.com/compose-spec/compose-spec/blob/main/spec.md
package compose
