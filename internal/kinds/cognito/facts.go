// SPDX-License-Identifier: Apache-2.0

package cognito

import "github.com/nexus-operator/nexus-operator/internal/kind"

// userPoolFacts returns the facts about a CognitoUserPool that other packages use.
func userPoolFacts() kind.Facts {
	return kind.Facts{
		RolesShown: map[string][]string{
			kind.Judged: {
				"cognito-idp:DescribeUserPool UserPool.SmsConfiguration.SnsCallerArn",
				"cognito-idp:GetUserPoolMfaConfig SmsMfaConfiguration.SmsConfiguration.SnsCallerArn",
				"cognito-idp:ListGroups Groups.RoleArn",
			},
			"Cognito sends the events of the client with it, and nothing else": {
				"cognito-idp:DescribeUserPoolClient UserPoolClient.AnalyticsConfiguration.RoleArn",
			},
		},
		Rights:      userPoolRights(),
		Services:    awsServices,
		NotSettings: notSettings(),
		Schemas: kind.Schemas{
			Types: []string{
				"AWS::Cognito::UserPool", "AWS::Cognito::UserPoolClient", "AWS::Cognito::UserPoolDomain", "AWS::Cognito::UserPoolGroup"},
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

// notSettings returns Facts.NotSettings of a CognitoUserPool.
func notSettings() []string {
	return []string{
		"cognitoidentityprovider.ListUserPoolClients", "cognitoidentityprovider.ListUserPools", "UserPool.Status",
		"UserPool.AdminCreateUserConfig.UnusedAccountValidityDays=7",
		"UserPool.AdminCreateUserConfig.InviteMessageTemplate=Your username is {username} and temporary password is {####}*",
		"UserPool.AdminCreateUserConfig.InviteMessageTemplate=Your temporary password", "UserPool.EstimatedNumberOfUsers",
		"UserPool.AccountRecoverySetting.RecoveryMechanisms[verified_email].Name",
		"UserPool.AccountRecoverySetting.RecoveryMechanisms[verified_email].Priority=1",
		"UserPool.AccountRecoverySetting.RecoveryMechanisms[verified_phone_number].Name",
		"UserPool.AccountRecoverySetting.RecoveryMechanisms[verified_phone_number].Priority=2",
		"UserPool.EmailConfiguration.EmailSendingAccount=COGNITO_DEFAULT",
		"UserPool.EmailVerificationMessage=Your verification code is {####}. ",
		"UserPool.EmailVerificationSubject=Your verification code",
		"UserPool.SmsVerificationMessage=Your verification code is {####}. ",
		"UserPool.VerificationMessageTemplate.DefaultEmailOption=CONFIRM_WITH_CODE",
		"UserPool.VerificationMessageTemplate.EmailMessage=Your verification code is {####}. ",
		"UserPool.VerificationMessageTemplate.EmailSubject=Your verification code",
		"UserPool.VerificationMessageTemplate.SmsMessage=Your verification code is {####}. ", "UserPool.UserPoolTier=ESSENTIALS",
		"UserPool.Policies.SignInPolicy.AllowedFirstAuthFactors=PASSWORD", "UserPool.MfaConfiguration",
		// Each pool has the standard attributes of OpenID Connect: those of users begin with custom: or dev:.
		"UserPool.SchemaAttributes[address]", "UserPool.SchemaAttributes[birthdate]", "UserPool.SchemaAttributes[email]",
		"UserPool.SchemaAttributes[email_verified]", "UserPool.SchemaAttributes[family_name]", "UserPool.SchemaAttributes[gender]",
		"UserPool.SchemaAttributes[given_name]", "UserPool.SchemaAttributes[identities]", "UserPool.SchemaAttributes[locale]",
		"UserPool.SchemaAttributes[middle_name]", "UserPool.SchemaAttributes[name]", "UserPool.SchemaAttributes[nickname]",
		"UserPool.SchemaAttributes[phone_number]", "UserPool.SchemaAttributes[phone_number_verified]",
		"UserPool.SchemaAttributes[picture]", "UserPool.SchemaAttributes[preferred_username]", "UserPool.SchemaAttributes[profile]",
		"UserPool.SchemaAttributes[sub]", "UserPool.SchemaAttributes[updated_at]", "UserPool.SchemaAttributes[website]",
		"UserPool.SchemaAttributes[zoneinfo]", "UserPoolClient.ClientId", "UserPoolClient.AuthSessionValidity=3",
		"UserPoolClient.EnableTokenRevocation=true", "UserPoolClient.ExplicitAuthFlows=ALLOW_REFRESH_TOKEN_AUTH",
		"UserPoolClient.PreventUserExistenceErrors=ENABLED", "UserPoolClient.RefreshTokenValidity=30",
		"UserPoolClient.SupportedIdentityProviders=COGNITO",
	}
}

// userPoolRights returns the rights in IAM that the actions of a CognitoUserPool take.
func userPoolRights() kind.Rights {
	return kind.Rights{
		Calls: []kind.Right{ // AWS chooses the identifiers
			{Actions: "cognito-idp:ListUserPools cognito-idp:DescribeUserPoolDomain"},
			{Actions: "cognito-idp:CreateUserPool", If: kind.GivesTag},
			// Any pool of the name is described to find the one that an answer was lost of.
			{Actions: "cognito-idp:DescribeUserPool", On: []string{"userpool/*"}},
			{Actions: "cognito-idp:UpdateUserPool", On: []string{"userpool/*"}, If: kind.HasTagOrIsAdopted}, // replaces the tags
			{Actions: "cognito-idp:*", On: []string{"userpool/*"}, If: kind.HasTag},
		},
		Needs: []kind.Need{
			// It is asked for at the create of a pool with tags, without an ARN.
			{For: "cognito-idp:CreateUserPool", Actions: "cognito-idp:TagResource", If: kind.GivesTag},
		},
		Passes: []kind.Pass{ // the role that sends text messages
			{For: "cognito-idp:UpdateUserPool cognito-idp:SetUserPoolMfaConfig", To: "cognito-idp.amazonaws.com", AnyRole: true},
		},
	}
}
