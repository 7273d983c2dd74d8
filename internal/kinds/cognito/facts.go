// SPDX-License-Identifier: Apache-2.0

package cognito

import "github.com/nexus-operator/nexus-operator/internal/kind"

// userPoolFacts returns the facts about a CognitoUserPool that other packages use.
func userPoolFacts() kind.Facts {
	return kind.Facts{
		Schemas: kind.Schemas{
			Types: []string{"AWS::Cognito::UserPool", "AWS::Cognito::UserPoolClient", "AWS::Cognito::UserPoolDomain", "AWS::Cognito::UserPoolGroup"},
			Properties: map[string]map[string]string{
				"AWS::Cognito::UserPool": {
					"EmailAuthenticationMessage EmailAuthenticationSubject": "as emailMFAConfiguration",
					"EnabledMfas MfaConfiguration":                          "as mfa",
					"Schema":                                                "an import reports the attributes that are not those of each pool",
					"UserPoolName":                                          "as poolName",
					"UserPoolTags":                                          "as tags",
					"WebAuthnFactorConfiguration WebAuthnRelyingPartyID WebAuthnUserVerification": "as webAuthnConfiguration",
				},
				"AWS::Cognito::UserPoolClient": {
					"AccessTokenValidity AllowedOAuthFlows AllowedOAuthFlowsUserPoolClient AllowedOAuthScopes AnalyticsConfiguration DefaultRedirectURI EnablePropagateAdditionalUserContextData IdTokenValidity ReadAttributes RefreshTokenRotation TokenValidityUnits WriteAttributes": "as clients",
					"ClientName":     "as clients",
					"GenerateSecret": kind.IsInput,
					"UserPoolId":     kind.IsParent,
				},
				"AWS::Cognito::UserPoolDomain": {
					"CustomDomainConfig ManagedLoginVersion Routing": "as domain",
					"UserPoolId": kind.IsParent,
				},
				"AWS::Cognito::UserPoolGroup": {
					"GroupName RoleArn": "as groups",
					"UserPoolId":        kind.IsParent,
				},
			},
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
