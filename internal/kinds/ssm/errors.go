// SPDX-License-Identifier: Apache-2.0

package ssm

import (
	"github.com/nexus-operator/nexus-operator/internal/awsclient"
	"github.com/nexus-operator/nexus-operator/internal/kind"
)

// awsServices: docs.aws.amazon.com/systems-manager/latest/APIReference/API_PutParameter.html and its siblings
var awsServices = []kind.ServiceFacts{
	{
		Service: "ssm",
		Rows: []kind.ErrorRow{
			{Code: "ParameterNotFound|ParameterVersionNotFound|DoesNotExist|ResourceNotFound", Class: awsclient.NotFound},
			// The tag calls name an absent parameter so.
			{Operation: "ListTags*|AddTags*|RemoveTags*", Code: "InvalidResourceId", Class: awsclient.NotFound},
			{Code: "ParameterAlreadyExists", Class: awsclient.Exists},
			{Code: "TooManyUpdates", Class: awsclient.Transient},
			{Code: "ParameterLimitExceeded|ParameterMaxVersionLimitExceeded|TooManyTags|PoliciesLimitExceeded", Class: awsclient.Limit},
			{Code: "HierarchyLevelLimitExceeded|HierarchyTypeMismatch|ParameterPatternMismatch|InvalidKeyId", Class: awsclient.Invalid},
			{Code: "UnsupportedParameterType|InvalidAllowedPattern|InvalidPolicyType|InvalidPolicyAttribute|IncompatiblePolicy",
				Class: awsclient.Invalid},
			{Code: "InvalidFilterKey|InvalidFilterOption|InvalidFilterValue|InvalidResourceType", Class: awsclient.Invalid},
			{Code: "ServiceSettingNotFound", Class: awsclient.NotFound},
			// The next look starts again with the first page.
			{Code: "InvalidNextToken", Class: awsclient.Transient},
		},
		Answers: []kind.ErrorAnswer{
			{Operation: "GetParameter", Code: "ParameterNotFound", Status: 400, Class: awsclient.NotFound},
			{Operation: "ListTagsForResource", Code: "InvalidResourceId", Status: 400, Class: awsclient.NotFound},
			{Operation: "PutParameter", Code: "ParameterAlreadyExists", Message: "The parameter already exists.", Status: 400,
				Class: awsclient.Exists},
			{Operation: "PutParameter", Code: "TooManyUpdates", Status: 400, Class: awsclient.Transient},
			{Operation: "PutParameter", Code: "ParameterLimitExceeded", Status: 400, Class: awsclient.Limit},
			{Operation: "AddTagsToResource", Code: "TooManyTagsError", Status: 400, Class: awsclient.Limit},
			{Operation: "PutParameter", Code: "HierarchyLevelLimitExceededException", Status: 400, Class: awsclient.Invalid},
			{Operation: "PutParameter", Code: "UnsupportedParameterType", Status: 400, Class: awsclient.Invalid},
			{Operation: "PutParameter", Code: "ThrottlingException", Message: "Rate exceeded", Status: 400, Class: awsclient.Throttled},
			{Operation: "DescribeParameters", Code: "InvalidFilterKey", Status: 400, Class: awsclient.Invalid},
			{Operation: "GetServiceSetting", Code: "ServiceSettingNotFound", Status: 400, Class: awsclient.NotFound},
			{Operation: "DescribeParameters", Code: "InvalidNextToken", Status: 400, Class: awsclient.Transient},
		},
	},
}
