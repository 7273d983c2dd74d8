// SPDX-License-Identifier: Apache-2.0

package logs

import (
	"github.com/nexus-operator/nexus-operator/internal/awsclient"
	"github.com/nexus-operator/nexus-operator/internal/kind"
)

// awsErrors: docs.aws.amazon.com/AmazonCloudWatchLogs/latest/APIReference
var awsErrors = []kind.ServiceErrors{
	{
		Service: "cloudwatchlogs",
		Rows: []kind.ErrorRow{
			{Code: "ResourceNotFound", Class: awsclient.NotFound},
			{Code: "ResourceAlreadyExists", Class: awsclient.Exists},
			// The name is all that the request says.
			{Operation: "DeleteLogGroup", Code: "Validation", Class: awsclient.Protected},
			{Code: "InvalidOperation", Class: awsclient.Invalid},
		},
		Answers: []kind.ErrorAnswer{
			{Operation: "PutRetentionPolicy", Code: "ResourceNotFoundException", Message: "The specified log group does not exist.",
				Status: 400, Class: awsclient.NotFound},
			{Operation: "CreateLogGroup", Code: "ResourceAlreadyExistsException", Message: "The specified log group already exists",
				Status: 400, Class: awsclient.Exists},
			{Operation: "DeleteLogGroup", Code: "ValidationException", Status: 400, Class: awsclient.Protected},
			{Operation: "PutLogGroupDeletionProtection", Code: "InvalidOperationException", Status: 400, Class: awsclient.Invalid},
		},
	},
}
