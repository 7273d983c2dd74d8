// SPDX-License-Identifier: Apache-2.0

package eks

import (
	"time"

	"github.com/nexus-operator/nexus-operator/internal/awsclient"
	"github.com/nexus-operator/nexus-operator/internal/kind"
)

// awsServices: docs.aws.amazon.com/eks/latest/APIReference
var awsServices = []kind.ServiceFacts{
	{
		Service: "eks",
		Rows: []kind.ErrorRow{
			{Code: "ResourceNotFound", Class: awsclient.NotFound},
			{Code: "NotFound", Class: awsclient.NotFound},
			{Code: "ResourcePropagationDelay", Class: awsclient.Propagating, Within: awsclient.OfLinkedRoles},
			{Code: "InvalidState", Class: awsclient.Busy},
			// "No cluster found for name: orders."
			{Code: "Client", Message: "no cluster found", Class: awsclient.NotFound},
			{Code: "Client", Class: awsclient.Invalid},
			{Operation: "Create*", Code: "ResourceInUse", Class: awsclient.Exists},
			{Code: "ResourceInUse", Class: awsclient.Busy},
			// EKS has made the change that the operator saw to be missing: "Cluster is already at the desired configuration", "No changes
			// needed for the logging config provided", "Unsupported Kubernetes minor version update from 1.32 to 1.32".
			{Operation: "UpdateClusterConfig", Code: "InvalidParameter", Message: "already at the desired", Class: awsclient.Busy,
				After: time.Minute},
			{Operation: "UpdateClusterConfig", Code: "InvalidParameter", Message: "no changes needed", Class: awsclient.Busy,
				After: time.Minute},
			{Operation: "UpdateClusterVersion", Code: "InvalidParameter", Message: "minor version update from", Class: awsclient.Busy,
				After: time.Minute},
			// A role that EKS does not see yet, or not with its present trust policy: "Role provided in the request does not exist",
			// "Trust policy of the role provided is invalid".
			{Operation: "*PodIdentityAssociation", Code: "InvalidParameter", Message: "role provided", Class: awsclient.Propagating,
				Within: awsclient.OfIAM},
			// "The role with name … cannot be found", "Role with arn: … could not be assumed because it does not exist or the trusted entity
			// is not correct"
			{Operation: "CreateCluster", Code: "InvalidParameter", Message: "cannot be found", Class: awsclient.Propagating,
				Within: awsclient.OfIAM},
			{Operation: "CreateCluster", Code: "InvalidParameter", Message: "could not be assumed", Class: awsclient.Propagating,
				Within: awsclient.OfIAM},
			{Operation: "CreateCluster", Code: "InvalidParameter|InvalidRequest", Message: "error in role params",
				Class: awsclient.Propagating, Within: awsclient.OfIAM},
			{Operation: "CreateCluster", Code: "InvalidParameter|InvalidRequest", Message: "managed policies associated",
				Class: awsclient.Propagating, Within: awsclient.OfIAM},
			{Operation: "CreateCluster", Code: "InvalidParameter|InvalidRequest", Message: "iam role's policy must include",
				Class: awsclient.Propagating, Within: awsclient.OfIAM},
			{Operation: "CreateCluster|UpdateClusterConfig", Code: "InvalidParameter|InvalidRequest", Message: "does not exist",
				Class: awsclient.Missing},
			{Code: "UnsupportedAvailabilityZone", Class: awsclient.Invalid},
			{Code: "ResourceLimitExceeded", Class: awsclient.Limit},
		},
		Answers: []kind.ErrorAnswer{
			{Operation: "DescribeCluster", Code: "ResourceNotFoundException", Status: 404, Class: awsclient.NotFound},
			{Operation: "CreateCluster", Code: "ResourceInUseException", Status: 409, Class: awsclient.Exists},
			{Operation: "DeleteCluster", Code: "ResourceInUseException", Status: 409, Class: awsclient.Busy},
			{Operation: "UpdateClusterConfig", Code: "ResourceInUseException",
				Message: "Cannot LoggingUpdate because cluster c currently has update x in progress", Status: 409, Class: awsclient.Busy},
			{Operation: "UpdateClusterConfig", Code: "InvalidParameterException",
				Message: "Cluster is already at the desired configuration with endpointPublicAccess: true", Status: 400,
				Class: awsclient.Busy},
			{Operation: "UpdateClusterConfig", Code: "InvalidParameterException",
				Message: "No changes needed for the logging config provided", Status: 400, Class: awsclient.Busy},
			{Operation: "UpdateClusterConfig", Code: "InvalidParameterException", Message: "The subnet ID 'subnet-1' does not exist",
				Status: 400, Class: awsclient.Missing},
			{Operation: "UpdateClusterVersion", Code: "InvalidParameterException",
				Message: "Unsupported Kubernetes minor version update from 1.32 to 1.32", Status: 400, Class: awsclient.Busy},
			{Operation: "UpdateClusterVersion", Code: "InvalidParameterException", Message: "unsupported Kubernetes version", Status: 400,
				Class: awsclient.Invalid},
			{Operation: "CreateCluster", Code: "InvalidParameterException",
				Message: "Role with arn: arn:aws:iam::123456789012:role/c, could not be assumed because it does not exist or the trusted entity is not correct",
				Status:  400, Class: awsclient.Propagating},
			{Operation: "CreateCluster", Code: "InvalidParameterException", Message: "The role with name c cannot be found.", Status: 400,
				Class: awsclient.Propagating},
			{Operation: "CreateCluster", Code: "UnsupportedAvailabilityZoneException", Status: 400, Class: awsclient.Invalid},
			{Operation: "CreateCluster", Code: "ResourceLimitExceededException", Status: 400, Class: awsclient.Limit},
			{Operation: "CreatePodIdentityAssociation", Code: "ResourceInUseException", Message: "Association already exists: a-1",
				Status: 409, Class: awsclient.Exists},
			{Operation: "CreatePodIdentityAssociation", Code: "InvalidParameterException",
				Message: "Role provided in the request does not exist.", Status: 400, Class: awsclient.Propagating},
			{Operation: "UpdatePodIdentityAssociation", Code: "InvalidParameterException",
				Message: "Trust policy of the role provided is invalid.", Status: 400, Class: awsclient.Propagating},
			{Operation: "CreatePodIdentityAssociation", Code: "InvalidParameterException", Message: "Namespace is invalid", Status: 400,
				Class: awsclient.Invalid},
			{Operation: "ListTagsForResource", Code: "NotFoundException", Status: 404, Class: awsclient.NotFound},
			{Operation: "CreatePodIdentityAssociation", Code: "ResourcePropagationDelayException", Status: 428,
				Class: awsclient.Propagating},
			{Operation: "DeleteCluster", Code: "InvalidStateException", Status: 400, Class: awsclient.Busy},
			{Operation: "CreateCluster", Code: "ClientException", Status: 400, Class: awsclient.Invalid},
			{Operation: "DescribeCluster", Code: "ClientException", Message: "No cluster found for name: orders.", Status: 400,
				Class: awsclient.NotFound},
			{Operation: "CreateCluster", Code: "InvalidParameterException", Message: "Error in role params", Status: 400,
				Class: awsclient.Propagating},
			{Operation: "CreateCluster", Code: "InvalidParameterException",
				Message: "The provided role doesn't have the Amazon EKS Managed Policies associated with it.", Status: 400,
				Class: awsclient.Propagating},
			{Operation: "CreateCluster", Code: "InvalidParameterException",
				Message: "IAM role's policy must include the `ec2:DescribeSubnets` action", Status: 400, Class: awsclient.Propagating},
			{Operation: "CreateCluster", Code: "InvalidParameterException",
				Message: "The subnet ID 'subnet-1' does not exist (Service: AmazonEKS)", Status: 400, Class: awsclient.Missing},
		},
	},
}
