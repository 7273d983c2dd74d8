// SPDX-License-Identifier: Apache-2.0

package lambda

import (
	"time"

	"github.com/nexus-operator/nexus-operator/internal/awsclient"
	"github.com/nexus-operator/nexus-operator/internal/kind"
)

const (
	// ofLambda: internal/service/lambda/consts.go of the Terraform provider for AWS, lambdaPropagationTimeout.
	ofLambda = 5 * time.Minute
	// ofGrants: "usually less than five minutes", docs.aws.amazon.com/kms/latest/APIReference/API_CreateGrant.html.
	ofGrants = 5 * time.Minute
)

// awsServices: docs.aws.amazon.com/lambda/latest/api
var awsServices = []kind.ServiceFacts{
	{
		Service: "lambda",
		Rows: []kind.ErrorRow{
			{Code: "ResourceNotFound", Class: awsclient.NotFound},
			// Lambda checks the permissions of the function's role, and the function's networks and key:
			// docs.aws.amazon.com/lambda/latest/api/API_CreateFunction.html. Each of them may have been made a moment ago.
			{Code: "InvalidParameterValue", Message: "execution role does not have permissions", Class: awsclient.Propagating,
				Within: ofLambda},
			{Code: "InvalidParameterValue", Message: "because the function's role", Class: awsclient.Propagating, Within: ofLambda},
			{Code: "InvalidParameterValue", Message: "kms key is invalid for creategrant", Class: awsclient.Propagating, Within: ofGrants},
			{Code: "InvalidParameterValue", Message: "throttled by ec2", Class: awsclient.Throttled},
			// An image, a layer, a subnet or a security group that comes later, such as by another pipeline.
			{Code: "InvalidParameterValue", Message: "does not exist", Class: awsclient.Missing},
			// "Error occurred while GetObject. S3 Error Code: NoSuchKey. S3 Error Message: The specified key does not exist."
			{Code: "InvalidParameterValue|InvalidRequestContent", Message: "s3 error code: nosuch", Class: awsclient.Missing},
			{Code: "ResourceConflict", Message: "already exist", Class: awsclient.Exists},
			{Code: "ResourceConflict|ResourceNotReady|ResourceInUse", Class: awsclient.Busy},
			{Code: "CodeStorageExceeded", Class: awsclient.Limit},
			{Code: "FunctionVersionsPerCapacityProviderLimitExceeded", Class: awsclient.Limit},
			{Code: "PreconditionFailed", Class: awsclient.Conflict},
			{Code: "CodeSigningConfigNotFound|CodeVerificationFailed|InvalidCodeSignature|RequestTooLarge", Class: awsclient.Invalid},
		},
		Answers: []kind.ErrorAnswer{
			{Operation: "GetFunction", Code: "ResourceNotFoundException", Status: 404, Class: awsclient.NotFound},
			{Operation: "CreateFunction", Code: "ResourceConflictException", Message: "Function already exist: f", Status: 409,
				Class: awsclient.Exists},
			{Operation: "UpdateFunctionCode", Code: "ResourceConflictException", Message: "An update is in progress", Status: 409,
				Class: awsclient.Busy},
			{Operation: "CreateFunction", Code: "InvalidParameterValueException",
				Message: "The role defined for the function cannot be assumed by Lambda.", Status: 400, Class: awsclient.Propagating},
			{Operation: "CreateFunction", Code: "CodeStorageExceededException", Status: 400, Class: awsclient.Limit},
			{Operation: "CreateFunction", Code: "TooManyRequestsException", Status: 429, Class: awsclient.Throttled},
			{Operation: "PublishVersion", Code: "FunctionVersionsPerCapacityProviderLimitExceededException", Status: 400,
				Class: awsclient.Limit},
			{Operation: "UpdateFunctionConfiguration", Code: "PreconditionFailedException", Status: 412, Class: awsclient.Conflict},
			{Operation: "CreateFunction", Code: "CodeVerificationFailedException", Status: 400, Class: awsclient.Invalid},
			{Operation: "CreateFunction", Code: "InvalidParameterValueException",
				Message: "The provided execution role does not have permissions to call CreateNetworkInterface on EC2", Status: 400,
				Class: awsclient.Propagating},
			{Operation: "CreateFunction", Code: "InvalidParameterValueException",
				Message: "Lambda cannot be set up because the function's role has no access to the queue", Status: 400,
				Class: awsclient.Propagating},
			{Operation: "CreateFunction", Code: "InvalidParameterValueException",
				Message: "Lambda was unable to configure access to your environment variables because the KMS key is invalid for CreateGrant.",
				Status:  400, Class: awsclient.Propagating},
			{Operation: "CreateFunction", Code: "InvalidParameterValueException",
				Message: "Your request has been throttled by EC2, please make sure you have enough API rate limit.", Status: 400,
				Class: awsclient.Throttled},
			{Operation: "CreateFunction", Code: "InvalidParameterValueException",
				Message: "Source image 1.dkr.ecr.eu-west-1.amazonaws.com/a:1 does not exist. Provide a valid source image.", Status: 400,
				Class: awsclient.Missing},
			{Operation: "UpdateFunctionCode", Code: "InvalidParameterValueException",
				Message: "Error occurred while GetObject. S3 Error Code: NoSuchKey. S3 Error Message: The specified key is missing.",
				Status:  400, Class: awsclient.Missing},
		},
	},
}
