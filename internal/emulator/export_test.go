// SPDX-License-Identifier: Apache-2.0

package emulator

import "github.com/nexus-operator/nexus-operator/internal/emulator/proxy"

// RewritePolicy returns a policy in the form of the proxy's answers.
var RewritePolicy = proxy.RewritePolicy
