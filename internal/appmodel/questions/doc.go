// SPDX-License-Identifier: Apache-2.0

// Package questions completes an application with answers: those of flags, of a person at a terminal, or the defaults.
package questions
