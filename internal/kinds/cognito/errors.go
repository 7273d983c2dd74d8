// SPDX-License-Identifier: Apache-2.0

package cognito

import (
	"github.com/nexus-operator/nexus-operator/internal/awsclient"
	"github.com/nexus-operator/nexus-operator/internal/kind"
)

// awsServices: docs.aws.amazon.com/cognito-user-identity-pools/latest/APIReference
var awsServices = []kind.ServiceFacts{
	{
		Service: "cognitoidentityprovider",
		IAM:     "cognito-idp",
		Rows: []kind.ErrorRow{
			{Code: "ResourceNotFound|ScopeDoesNotExist|UserNotFound", Class: awsclient.NotFound},
			{Operation: "DescribeRiskConfiguration", Code: "UserPoolAddOnNotEnabled", Class: awsclient.NotFound},
			{Code: "GroupExists|DuplicateProvider", Class: awsclient.Exists},
			{Operation: "CreateUserPoolDomain", Code: "InvalidParameter", Message: "associated with another", Class: awsclient.NameTaken},
			{Operation: "CreateUserPoolDomain", Code: "InvalidParameter", Message: "already exists", Class: awsclient.Exists},
			{Operation: "DeleteUserPool", Code: "InvalidParameter", Message: "domain configured", Class: awsclient.NotEmpty},
			{Code: "InvalidSmsRoleTrustRelationship|InvalidSmsRoleAccessPolicy|InvalidEmailRoleAccessPolicy", Class: awsclient.Propagating,
				Within: awsclient.OfIAM},
			{Code: "UserImportInProgress", Class: awsclient.Busy},
			{Code: "FeatureUnavailableInTier|TierChangeNotAllowed|InvalidOAuthFlow|UserPoolTagging", Class: awsclient.Invalid},
		},
		Answers: []kind.ErrorAnswer{
			{Operation: "DescribeUserPool", Code: "ResourceNotFoundException", Status: 400, Class: awsclient.NotFound},
			{Operation: "CreateGroup", Code: "GroupExistsException", Status: 400, Class: awsclient.Exists},
			{Operation: "CreateUserPoolDomain", Code: "InvalidParameterException",
				Message: "Domain already associated with another user pool.", Status: 400, Class: awsclient.NameTaken},
			{Operation: "CreateUserPoolDomain", Code: "InvalidParameterException", Message: "Domain already exists.", Status: 400,
				Class: awsclient.Exists},
			{Operation: "DeleteUserPool", Code: "InvalidParameterException",
				Message: "User pool cannot be deleted. It has a domain configured that should be deleted first.", Status: 400,
				Class: awsclient.NotEmpty},
			{Operation: "DeleteUserPool", Code: "InvalidParameterException",
				Message: "The user pool cannot be deleted because deletion protection is activated.", Status: 400,
				Class: awsclient.Protected},
			{Operation: "CreateUserPool", Code: "InvalidSmsRoleTrustRelationshipException", Status: 400, Class: awsclient.Propagating},
			{Operation: "DescribeRiskConfiguration", Code: "UserPoolAddOnNotEnabledException", Status: 400, Class: awsclient.NotFound},
			{Operation: "UpdateUserPool", Code: "UserImportInProgressException", Status: 400, Class: awsclient.Busy},
			{Operation: "CreateUserPool", Code: "FeatureUnavailableInTierException", Status: 400, Class: awsclient.Invalid},
		},
	},
}
