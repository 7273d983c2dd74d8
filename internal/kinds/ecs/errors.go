// SPDX-License-Identifier: Apache-2.0

package ecs

import (
	"github.com/nexus-operator/nexus-operator/internal/awsclient"
	"github.com/nexus-operator/nexus-operator/internal/kind"
)

// awsServices: docs.aws.amazon.com/AmazonECS/latest/APIReference
var awsServices = []kind.ServiceFacts{
	{
		Service: "ecs",
		Rows: []kind.ErrorRow{
			{Code: "ClusterNotFound|ServiceNotFound", Class: awsclient.NotFound},
			{Code: "ResourceNotFound|NamespaceNotFound", Class: awsclient.NotFound},
			{Code: "Client", Message: "was not active", Class: awsclient.Busy},
			{Code: "Client", Class: awsclient.Invalid},
			// The create of a cluster that exists with other settings: "Arguments on this idempotent request are inconsistent with
			// arguments used in previous request(s)."
			{Operation: "CreateCluster", Code: "InvalidParameter", Message: "idempotent request", Class: awsclient.Exists},
			// "The specified capacity provider 'spot' was not found. Specify a valid name or ARN and try again."
			{Code: "InvalidParameter", Message: "was not found", Class: awsclient.Missing},
			{Code: "UnsupportedFeature", Class: awsclient.Invalid}, // ECS has it not in this region
			{Code: "ClusterContains*", Class: awsclient.NotEmpty},
			{Code: "UpdateInProgress|ResourceInUse", Class: awsclient.Busy},
		},
		Answers: []kind.ErrorAnswer{
			{Operation: "DescribeServices", Code: "ClusterNotFoundException", Status: 400, Class: awsclient.NotFound},
			{Operation: "CreateCluster", Code: "InvalidParameterException",
				Message: "Arguments on this idempotent request are inconsistent with arguments used in previous request(s).", Status: 400,
				Class: awsclient.Exists},
			{Operation: "CreateCluster", Code: "InvalidParameterException",
				Message: "Unable to assume the service linked role. Please verify that the ECS service linked role exists.", Status: 400,
				Class: awsclient.Propagating},
			{Operation: "CreateCluster", Code: "InvalidParameterException", Message: "The specified capacity provider 'x' was not found.",
				Status: 400, Class: awsclient.Missing},
			{Operation: "DescribeCapacityProviders", Code: "UnsupportedFeatureException", Status: 400, Class: awsclient.Invalid},
			{Operation: "DeleteCluster", Code: "ClusterContainsServicesException",
				Message: "The Cluster cannot be deleted while Services are active.", Status: 400, Class: awsclient.NotEmpty},
			{Operation: "DeleteCluster", Code: "ClusterContainsTasksException",
				Message: "The Cluster cannot be deleted while Tasks are active.", Status: 400, Class: awsclient.NotEmpty},
			{Operation: "DeleteCluster", Code: "ClusterContainsContainerInstancesException",
				Message: "The Cluster cannot be deleted while Container Instances are active or draining.", Status: 400,
				Class: awsclient.NotEmpty},
			{Operation: "PutClusterCapacityProviders", Code: "UpdateInProgressException", Status: 400, Class: awsclient.Busy},
			{Operation: "CreateCluster", Code: "NamespaceNotFoundException", Status: 400, Class: awsclient.NotFound},
			{Operation: "CreateCluster", Code: "ClientException", Status: 400, Class: awsclient.Invalid},
			{Operation: "PutClusterCapacityProviders", Code: "ClientException", Message: "Cluster was not ACTIVE", Status: 400,
				Class: awsclient.Busy},
		},
	},
}
