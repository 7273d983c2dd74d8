// SPDX-License-Identifier: Apache-2.0

package iam

import (
	"github.com/nexus-operator/nexus-operator/internal/awsclient"
	"github.com/nexus-operator/nexus-operator/internal/kind"
)

// awsServices: docs.aws.amazon.com/IAM/latest/APIReference/API_CreateRole.html and its siblings
var awsServices = []kind.ServiceFacts{
	{
		Service: "iam",
		Rows: []kind.ErrorRow{
			{Code: "NoSuchEntity", Class: awsclient.NotFound},
			{Code: "EntityAlreadyExists", Class: awsclient.Exists},
			{Code: "EntityTemporarilyUnmodifiable", Class: awsclient.Busy},
			{Code: "DeleteConflict", Class: awsclient.NotEmpty},
			{Code: "OpenIdIdpCommunication", Class: awsclient.Transient},
			{Code: "PolicyNotAttachable|UnmodifiableEntity|NotSupportedService|PolicyEvaluation", Class: awsclient.Invalid},
		},
		Answers: []kind.ErrorAnswer{
			{Operation: "GetRole", Code: "NoSuchEntity", Message: "The role with name r cannot be found.", Status: 404,
				Class: awsclient.NotFound},
			{Operation: "CreateRole", Code: "EntityAlreadyExists", Message: "Role with name r already exists.", Status: 409,
				Class: awsclient.Exists},
			{Operation: "DeleteRole", Code: "EntityTemporarilyUnmodifiable", Status: 409, Class: awsclient.Busy},
			{Operation: "DeleteRole", Code: "DeleteConflict", Message: "Cannot delete entity, must detach all policies first.", Status: 409,
				Class: awsclient.NotEmpty},
			{Operation: "CreateRole", Code: "LimitExceeded", Message: "Cannot exceed quota for RolesPerAccount: 1000", Status: 409,
				Class: awsclient.Limit},
			{Operation: "CreateRole", Code: "MalformedPolicyDocument",
				Message: `Invalid principal in policy: "AWS":"arn:aws:iam::1:role/new"`, Status: 400, Class: awsclient.Propagating},
			{Operation: "PutRolePolicy", Code: "MalformedPolicyDocument", Message: "Syntax errors in policy.", Status: 400,
				Class: awsclient.Invalid},
			{Operation: "UpdateRole", Code: "ConcurrentModification", Status: 409, Class: awsclient.Transient},
			{Operation: "UpdateRole", Code: "UnmodifiableEntity", Status: 400, Class: awsclient.Invalid},
			{Operation: "CreateRole", Code: "ServiceFailure", Status: 500, Class: awsclient.Transient},
			{Operation: "CreateRole", Code: "Throttling", Message: "Rate exceeded", Status: 400, Class: awsclient.Throttled},
			{Operation: "CreateOpenIDConnectProvider", Code: "OpenIdIdpCommunicationError", Status: 400, Class: awsclient.Transient},
		},
	},
}
