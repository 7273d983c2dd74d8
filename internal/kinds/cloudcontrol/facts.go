// SPDX-License-Identifier: Apache-2.0

package cloudcontrol

import "github.com/nexus-operator/nexus-operator/internal/kind"

// resourceFacts declares what other packages know about an AWSResource: the type says the rest.
func resourceFacts() kind.Facts { return kind.Facts{} }
