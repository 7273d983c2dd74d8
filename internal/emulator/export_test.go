// SPDX-License-Identifier: Apache-2.0

package emulator

// RewritePolicy returns a policy in the form in which the proxy answers it.
var RewritePolicy = rewritePolicy
