// SPDX-License-Identifier: Apache-2.0

package cloudcontrol

import "github.com/nexus-operator/nexus-operator/internal/kind"

// resourceFacts returns no facts about an AWSResource, because they depend on its type.
func resourceFacts() kind.Facts { return kind.Facts{} }
