// SPDX-License-Identifier: Apache-2.0

package glue

import (
	"github.com/nexus-operator/nexus-operator/internal/awsclient"
	"github.com/nexus-operator/nexus-operator/internal/kind"
)

// awsServices: docs.aws.amazon.com/glue/latest/dg/aws-glue-api-exceptions.html
var awsServices = []kind.ServiceFacts{
	{
		Service: "glue",
		Rows: []kind.ErrorRow{
			{Code: "EntityNotFound|ResourceNotFound", Class: awsclient.NotFound},
			{Code: "AlreadyExists|ResourceAlreadyExists", Class: awsclient.Exists},
			{Code: "FederatedResourceAlreadyExists", Class: awsclient.Exists},
			{Code: "FederationSourceRetryable", Class: awsclient.Transient},
			{Code: "CrawlerRunning|CrawlerStopping|SchedulerTransitioning|ConcurrentRunsExceeded|ResourceNotReady", Class: awsclient.Busy},
			{Code: "SchedulerRunning|SchedulerNotRunning|CrawlerNotRunning|NoSchedule|VersionMismatch", Class: awsclient.Conflict},
			{Code: "ResourceNumberLimitExceeded", Class: awsclient.Limit},
			// Glue tries the crawler's role at once (see also "unable to assume" in the rows for all services): "role should be given
			// assume role permissions", "... is not authorized to perform: glue:GetConnection".
			{Code: "InvalidInput", Message: "assume role permissions", Class: awsclient.Propagating, Within: awsclient.OfIAM},
			{Code: "InvalidInput", Message: "is not authorized to perform", Class: awsclient.Propagating, Within: awsclient.OfIAM},
			{Code: "InvalidInput", Message: "trustpolicy", Class: awsclient.Propagating, Within: awsclient.OfIAM},
			{Operation: "Create*|Update*", Code: "AccessDenied|InvalidInput", Message: "lake formation permission",
				Class: awsclient.Propagating, Within: awsclient.OfIAM},
			{Code: "AccessDenied", Message: "assume provided role", Class: awsclient.Propagating, Within: awsclient.OfIAM},
			// The key of the Data Catalog, which every writer needs: AWS's words name it and the right.
			{Code: "GlueEncryption", Message: "not authorized to perform", Class: awsclient.Denied},
			{Code: "GlueEncryption|InvalidState|FederationSource|KMSKeyNotAccessible", Class: awsclient.Invalid},
		},
		Answers: []kind.ErrorAnswer{
			{Operation: "GetTable", Code: "EntityNotFoundException", Message: "Entity Not Found", Status: 400, Class: awsclient.NotFound},
			{Operation: "CreateDatabase", Code: "AlreadyExistsException", Message: "Database already exists.", Status: 400,
				Class: awsclient.Exists},
			{Operation: "UpdateCrawler", Code: "CrawlerRunningException", Message: "Crawler with name c is currently running", Status: 400,
				Class: awsclient.Busy},
			{Operation: "StartCrawlerSchedule", Code: "SchedulerRunningException", Status: 400, Class: awsclient.Conflict},
			{Operation: "CreateCrawler", Code: "ResourceNumberLimitExceededException", Status: 400, Class: awsclient.Limit},
			{Operation: "CreateCrawler", Code: "InvalidInputException",
				Message: "Service is unable to assume provided role. Please verify role's TrustPolicy", Status: 400,
				Class: awsclient.Propagating},
			{Operation: "CreateJob", Code: "InvalidInputException",
				Message: "Role r should be given assume role permissions for Glue Service.", Status: 400, Class: awsclient.Propagating},
			{Operation: "CreateCrawler", Code: "InvalidInputException",
				Message: "Unable to retrieve connection: User: arn:aws:sts::1:assumed-role/r/AWS-Crawler is not authorized to perform: glue:GetConnection",
				Status:  400, Class: awsclient.Propagating},
			{Operation: "CreateCrawler", Code: "AccessDeniedException", Message: "Service is unable to assume provided role", Status: 400,
				Class: awsclient.Propagating},
			{Operation: "CreateCrawler", Code: "AccessDeniedException", Message: "User: x is not authorized to perform: iam:PassRole",
				Status: 400, Class: awsclient.Denied},
			{Operation: "CreateTable", Code: "InvalidInputException", Message: "Unsupported type", Status: 400, Class: awsclient.Invalid},
			{Operation: "CreateTable", Code: "GlueEncryptionException", Status: 400, Class: awsclient.Invalid},
			{Operation: "CreateTable", Code: "GlueEncryptionException",
				Message: "User: arn:aws:sts::1:assumed-role/o/s is not authorized to perform: kms:GenerateDataKey on resource: arn:aws:kms:eu-west-1:1:key/k",
				Status:  400, Class: awsclient.Denied},
			{Operation: "UpdateTable", Code: "ConcurrentModificationException", Status: 400, Class: awsclient.Transient},
			{Operation: "GetTable", Code: "OperationTimeoutException", Status: 400, Class: awsclient.Transient},
			{Operation: "CreateDatabase", Code: "FederatedResourceAlreadyExistsException", Status: 400, Class: awsclient.Exists},
			{Operation: "GetTable", Code: "FederationSourceRetryableException", Status: 400, Class: awsclient.Transient},
			{Operation: "CreateCrawler", Code: "InvalidInputException",
				Message: "Service is unable to assume role r. Please verify the role's TrustPolicy", Status: 400,
				Class: awsclient.Propagating},
			{Operation: "UpdateCrawler", Code: "InvalidInputException", Message: "Please verify role's TrustPolicy", Status: 400,
				Class: awsclient.Propagating},
			{Operation: "CreateCrawler", Code: "AccessDeniedException",
				Message: "Insufficient Lake Formation permission(s): Required Create Table on d", Status: 400,
				Class: awsclient.Propagating},
			{Operation: "GetTables", Code: "AccessDeniedException",
				Message: "Insufficient Lake Formation permission(s): Required Describe on d", Status: 400, Class: awsclient.Denied},
		},
	},
}
