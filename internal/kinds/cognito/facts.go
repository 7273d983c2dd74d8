// SPDX-License-Identifier: Apache-2.0

package cognito

import "github.com/nexus-operator/nexus-operator/internal/kind"

// userPoolFacts declares what other packages know about a CognitoUserPool.
func userPoolFacts() kind.Facts {
	return kind.Facts{
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
