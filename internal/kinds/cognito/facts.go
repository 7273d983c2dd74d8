// SPDX-License-Identifier: Apache-2.0

package cognito

import "github.com/nexus-operator/nexus-operator/internal/kind"

// userPoolFacts declares what other packages know about a CognitoUserPool.
func userPoolFacts() kind.Facts {
	return kind.Facts{
		Schemas: kind.Schemas{
			Types: []string{"AWS::Cognito::UserPool", "AWS::Cognito::UserPoolClient", "AWS::Cognito::UserPoolDomain", "AWS::Cognito::UserPoolGroup"},
			Unneeded: map[string]string{
				"cloudfront:updateDistribution cognito-idp:UpdateUserPoolDomain": "for domains of one's own, for which there is no field",
				"cognito-idp:AddCustomAttributes":                                "there is no field for attributes of the schema",
				"cognito-idp:GetGroup":                                           "groups are read by ListGroups",
				"cognito-idp:ListTagsForResource cognito-idp:UntagResource":      "tags are read by DescribeUserPool and set by UpdateUserPool",
			},
		},
		ARN: kind.ARNForm{
			Service: "cognito-idp",
			Prefix:  "userpool/",
			Without: "/",
		},
		Terraform: kind.Terraform{
			Type:     "aws_cognito_user_pool",
			Identity: []string{"id"},
			Parts: []string{
				"aws_cognito_user_group",
				"aws_cognito_user_pool_client",
				"aws_cognito_user_pool_domain",
			},
		},
	}
}
