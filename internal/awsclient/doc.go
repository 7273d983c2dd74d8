// SPDX-License-Identifier: Apache-2.0

// Package awsclient is the only way to AWS: identities, rate limits, and the classes of answers.
//
// Sessions turns an identity (a provider's keys, roles, region) into an aws.Config that is checked
// with STS, shared, and instrumented: every client made from it is rate limited per account, region
// and service, and metered. A failed call goes back to the workqueue; only a call that AWS rejected because of
// this machine's clock is repeated, once, with the clock corrected.
//
// Classify reads an error by a table of (service, operation, code, message, status), and Explain turns it into the kind of failure that
// steers the controllers. No other package of the operator compares AWS error codes, and none compares AWS error texts.
package awsclient
