// SPDX-License-Identifier: Apache-2.0

package cloudcontrol

import "github.com/nexus-operator/nexus-operator/internal/kind"

// resourceFacts returns the few facts about an AWSResource that do not depend on its type, whose schema declares the members that AWS
// returns for the resource.
func resourceFacts() kind.Facts {
	return kind.Facts{
		Errors:      awsErrors,
		NotSettings: []string{"cloudformation.DescribeType", "TypeName"},
	}
}
