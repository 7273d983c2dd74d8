// SPDX-License-Identifier: Apache-2.0

package cloudcontrol

import "github.com/nexus-operator/nexus-operator/internal/kind"

// resourceFacts returns the few facts about an AWSResource that do not depend on its type, whose schema declares the members that AWS
// returns for the resource.
func resourceFacts() kind.Facts {
	return kind.Facts{
		RolesShown: map[string][]string{
			"the role of a private type's handlers; AWS's own types, which alone have schemas of AWS, have none": {
				"cloudformation:DescribeType ExecutionRoleArn",
				"cloudformation:DescribeType LoggingConfig.LogRoleArn",
			},
		},
		EarlierKeys: kind.EarlierKeys{Kept: "a resource of any type may keep data under an earlier key"},
		Rights: kind.Rights{
			// AWS evaluates the calls of a handler for their services.
			Calls: []kind.Right{{Actions: "cloudformation:*"}},
		},
		Services:    awsServices,
		NotSettings: []string{"cloudformation.DescribeType", "TypeName"},
	}
}
