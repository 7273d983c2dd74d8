// SPDX-License-Identifier: Apache-2.0

// Package awssession leads from an object to the AWS session of its provider: it reads credentials, checks the provider
// against the administrator's limits, and refuses a session of an account that was not checked.
package awssession
