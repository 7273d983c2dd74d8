// SPDX-License-Identifier: Apache-2.0

package secretsmanager

import (
	"github.com/nexus-operator/nexus-operator/internal/awsclient"
	"github.com/nexus-operator/nexus-operator/internal/kind"
)

// awsServices: docs.aws.amazon.com/secretsmanager/latest/apireference/API_CreateSecret.html and its siblings
var awsServices = []kind.ServiceFacts{
	{
		Service: "secretsmanager",
		Rows: []kind.ErrorRow{
			{Code: "ResourceNotFound", Class: awsclient.NotFound},
			{Code: "ResourceExists", Class: awsclient.Exists},
			{Code: "InvalidRequest", Message: "scheduled for deletion", Class: awsclient.ScheduledForDeletion},
			{Code: "InvalidRequest", Message: "marked for deletion", Class: awsclient.ScheduledForDeletion},
			// The name of a secret that was deleted without a recovery window is free a few seconds later.
			{Code: "InvalidRequest", Message: "was deleted", Class: awsclient.Busy},
			{Operation: "RotateSecret", Code: "InvalidRequest", Message: "previous rotation", Class: awsclient.Busy},
			{Code: "MalformedPolicyDocument", Message: "unsupported principal", Class: awsclient.Propagating, Within: awsclient.OfIAM},
			{Operation: "RotateSecret", Code: "AccessDenied", Message: "cannot invoke the specified lambda", Class: awsclient.Propagating,
				Within: awsclient.OfIAM},
			{Code: "EncryptionFailure|DecryptionFailure|PublicPolicy", Class: awsclient.Invalid},
			{Code: "InvalidNextToken", Class: awsclient.Transient},
		},
		Answers: []kind.ErrorAnswer{
			{Operation: "DescribeSecret", Code: "ResourceNotFoundException", Message: "Secrets Manager can't find the specified secret.",
				Status: 400, Class: awsclient.NotFound},
			{Operation: "CreateSecret", Code: "ResourceExistsException", Status: 400, Class: awsclient.Exists},
			{Operation: "CreateSecret", Code: "InvalidRequestException",
				Message: "You can't create this secret because a secret with this name is already scheduled for deletion.", Status: 400,
				Class: awsclient.ScheduledForDeletion},
			{Operation: "PutSecretValue", Code: "InvalidRequestException",
				Message: "You can't perform this operation on the secret because it was marked for deletion.", Status: 400,
				Class: awsclient.ScheduledForDeletion},
			{Operation: "PutSecretValue", Code: "InvalidRequestException", Message: "something else", Status: 400,
				Class: awsclient.Invalid},
			{Operation: "RotateSecret", Code: "AccessDeniedException",
				Message: "Secrets Manager cannot invoke the specified Lambda function.", Status: 400, Class: awsclient.Propagating},
			{Operation: "CreateSecret", Code: "EncryptionFailure", Status: 400, Class: awsclient.Invalid},
			{Operation: "CreateSecret", Code: "LimitExceededException", Status: 400, Class: awsclient.Limit},
			{Operation: "CreateSecret", Code: "PreconditionNotMetException", Status: 400, Class: awsclient.Conflict},
			{Operation: "CreateSecret", Code: "InternalServiceError", Status: 500, Class: awsclient.Transient},
			{Operation: "ListSecretVersionIds", Code: "InvalidNextTokenException", Status: 400, Class: awsclient.Transient},
			{Operation: "CreateSecret", Code: "InvalidRequestException",
				Message: "You can't perform this operation on the secret because it was deleted.", Status: 400, Class: awsclient.Busy},
			{Operation: "RotateSecret", Code: "InvalidRequestException",
				Message: "A previous rotation isn't complete. That rotation will be reattempted.", Status: 400, Class: awsclient.Busy},
			{Operation: "PutResourcePolicy", Code: "MalformedPolicyDocumentException",
				Message: "This resource policy contains an unsupported principal.", Status: 400, Class: awsclient.Propagating},
		},
	},
}
