// SPDX-License-Identifier: Apache-2.0

package ecr

import (
	"github.com/nexus-operator/nexus-operator/internal/awsclient"
	"github.com/nexus-operator/nexus-operator/internal/kind"
)

// awsServices: docs.aws.amazon.com/AmazonECR/latest/APIReference
var awsServices = []kind.ServiceFacts{
	{
		Service: "ecr",
		Rows: []kind.ErrorRow{
			{Code: "RepositoryNotFound|ImageNotFound|LifecyclePolicyNotFound|RepositoryPolicyNotFound", Class: awsclient.NotFound},
			// A policy that names a role which ECR does not see yet.
			{Code: "InvalidParameter", Message: "invalid repository policy", Class: awsclient.Propagating, Within: awsclient.OfIAM},
			{Code: "RepositoryAlreadyExists", Class: awsclient.Exists},
			{Code: "RepositoryNotEmpty", Class: awsclient.NotEmpty},
			{Code: "Kms|InvalidTagParameter", Class: awsclient.Invalid},
		},
		Answers: []kind.ErrorAnswer{
			{Operation: "DescribeRepositories", Code: "RepositoryNotFoundException", Status: 400, Class: awsclient.NotFound},
			{Operation: "CreateRepository", Code: "RepositoryAlreadyExistsException", Status: 400, Class: awsclient.Exists},
			{Operation: "DeleteRepository", Code: "RepositoryNotEmptyException", Status: 400, Class: awsclient.NotEmpty},
			{Operation: "CreateRepository", Code: "KmsException", Status: 400, Class: awsclient.Invalid},
			{Operation: "SetRepositoryPolicy", Code: "InvalidParameterException",
				Message: "Invalid parameter at 'PolicyText' failed to satisfy constraint: 'Invalid repository policy provided'",
				Status:  400, Class: awsclient.Propagating},
		},
	},
}
