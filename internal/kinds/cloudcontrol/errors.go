// SPDX-License-Identifier: Apache-2.0

package cloudcontrol

import (
	"github.com/nexus-operator/nexus-operator/internal/awsclient"
	"github.com/nexus-operator/nexus-operator/internal/kind"
)

// awsServices has the errors of the API, and the handlers' error codes of requests that fail later:
// https://docs.aws.amazon.com/cloudformation-cli/latest/userguide/resource-type-test-contract-errors.html
var awsServices = []kind.ServiceFacts{
	{
		Service: "cloudcontrol",
		IAM:     "cloudformation",
		Rows: []kind.ErrorRow{
			// An update gives a resource the identifier of another one.
			{Operation: "UpdateResource", Code: "AlreadyExists", Class: awsclient.Invalid},
			{Code: "AlreadyExists", Class: awsclient.Exists},
			{Code: "ResourceNotFound|NotFound|RequestTokenNotFound", Class: awsclient.NotFound},
			{Code: "ConcurrentOperation|ResourceConflict", Class: awsclient.Busy},
			{Code: "ClientTokenConflict", Class: awsclient.Conflict},
			// The patch was made for a resource that has changed since it was read: github.com/pulumi/pulumi-aws-native/issues/277 has
			// the text.
			{Operation: "UpdateResource", Code: "Validation|InvalidRequest", Message: "nosuchpath", Class: awsclient.Conflict},
			// Bedrock tries the role of a knowledge base, and with it the vector index: "cannot assume role", and "The knowledge base
			// storage configuration provided is invalid". See also "unable to assume" in the rows for all services.
			// So does AgentCore with the role of a runtime: "Role validation failed for …. Please verify that the role exists and its
			// trust policy allows assumption by this service".
			{Code: "InvalidRequest", Message: "role validation failed", Class: awsclient.Propagating, Within: awsclient.OfIAM},
			{Code: "InvalidRequest", Message: "cannot assume role", Class: awsclient.Propagating, Within: awsclient.OfIAM},
			{Operation: "CreateResource", Code: "InvalidRequest", Message: "storage configuration provided is invalid",
				Class: awsclient.Propagating, Within: awsclient.OfIAM},
			{Code: "NotUpdatable|PrivateType|UnsupportedAction|TypeNotFound|Hook*", Class: awsclient.Invalid},
			{Code: "InvalidCredentials", Class: awsclient.Unauthenticated},
			{Code: "UnauthorizedTaggingOperation", Class: awsclient.Denied},
			{Code: "ServiceLimitExceeded", Class: awsclient.Limit},
			{Code: "NotStabilized|GeneralService|HandlerFailure|HandlerInternalFailure|NetworkFailure|ServiceInternal|ServiceTimeout",
				Class: awsclient.Transient},
		},
		Answers: []kind.ErrorAnswer{
			{Operation: "CreateResource", Code: "AlreadyExistsException", Status: 400, Class: awsclient.Exists},
			{Operation: "CreateResource", Code: "AlreadyExists", Class: awsclient.Exists},
			{Operation: "GetResource", Code: "ResourceNotFoundException", Status: 400, Class: awsclient.NotFound},
			{Operation: "DeleteResource", Code: "NotFound", Class: awsclient.NotFound},
			{Operation: "UpdateResource", Code: "ConcurrentOperationException", Status: 400, Class: awsclient.Busy},
			{Operation: "UpdateResource", Code: "ResourceConflict", Class: awsclient.Busy},
			{Operation: "CreateResource", Code: "ClientTokenConflictException", Status: 400, Class: awsclient.Conflict},
			{Operation: "UpdateResource", Code: "AlreadyExists", Class: awsclient.Invalid},
			{Operation: "UpdateResource", Code: "NotUpdatable", Class: awsclient.Invalid},
			{Operation: "UpdateResource", Code: "ValidationException",
				Message: "[REMOVE Operation] noSuchPath in source, path provided : //Entries", Status: 400, Class: awsclient.Conflict},
			{Operation: "CreateResource", Code: "InvalidCredentials", Class: awsclient.Unauthenticated},
			{Operation: "CreateResource", Code: "UnauthorizedTaggingOperation", Class: awsclient.Denied},
			{Operation: "CreateResource", Code: "AccessDenied", Class: awsclient.Denied},
			{Operation: "CreateResource", Code: "ServiceLimitExceeded", Class: awsclient.Limit},
			{Operation: "CreateResource", Code: "NotStabilized", Class: awsclient.Transient},
			{Operation: "CreateResource", Code: "InvalidRequest",
				Message: "Bedrock Knowledge Base was unable to assume the given role. Provide the proper permissions and retry the request.",
				Class:   awsclient.Propagating},
			{Operation: "CreateResource", Code: "InvalidRequest", Message: "Amazon Bedrock cannot assume role r",
				Class: awsclient.Propagating},
			{Operation: "CreateResource", Code: "InvalidRequest",
				Message: "Role validation failed for 'arn:aws:iam::123456789012:role/r'. Please verify that the role exists and its trust policy allows assumption by this service",
				Class:   awsclient.Propagating},
			{Operation: "CreateResource", Code: "InvalidRequest",
				Message: "The knowledge base storage configuration provided is invalid... Request failed", Class: awsclient.Propagating},
			{Operation: "CreateResource", Code: "InvalidRequest", Message: "Model validation failed", Class: awsclient.Invalid},
			{Operation: "CreateResource", Code: "InternalFailure", Class: awsclient.Transient},
			{Operation: "CreateResource", Code: "Throttling", Class: awsclient.Throttled},
			{Operation: "CreateResource", Code: "InvalidRequest", Class: awsclient.Invalid},
		},
	},
	{
		Service: "cloudformation",
		Rows: []kind.ErrorRow{
			{Code: "TypeNotFound|CFNRegistry", Class: awsclient.Invalid},
		},
		Answers: []kind.ErrorAnswer{
			{Operation: "DescribeType", Code: "TypeNotFoundException", Status: 404, Class: awsclient.Invalid},
		},
	},
}
