// SPDX-License-Identifier: Apache-2.0

// Package awsprovider reconciles AWSProviders: it authenticates with their credentials, records the account, and keeps a
// provider and its Secrets while objects use them.
package awsprovider
