// SPDX-License-Identifier: Apache-2.0

package logs

import (
	"github.com/nexus-operator/nexus-operator/internal/awsclient"
	"github.com/nexus-operator/nexus-operator/internal/kind"
)

// groupFacts returns the facts about a LogGroup that other packages use.
func groupFacts() kind.Facts {
	return kind.Facts{
		EarlierKeys: kind.EarlierKeys{Kept: "events stay encrypted with the key that they were received with"},
		Rights: kind.Rights{
			Calls: []kind.Right{
				{Actions: "logs:DescribeLogGroups"},
				{Actions: "logs:*", On: []string{"log-group:${Name}"}}, // most take the ARN with ":*" at its end, which the star allows
			},
			Decided: map[string]string{
				"cloudwatchlogs CreateLogGroup logs:TagLogGroup": "either this or logs:TagResource, which is granted",
			},
		},
		Services:    awsServices,
		NotSettings: []string{"LogGroups.Arn", "LogGroups.InheritedProperties", "LogGroups.MetricFilterCount", "LogGroups.StoredBytes"},
		Declarable:  true,
		OneValue: map[string]string{
			"KMSKeyRef": kind.AsItsTarget,
		},
		Schemas: kind.Schemas{
			Types: []string{"AWS::Logs::LogGroup"},
			Properties: map[string]map[string]string{
				"AWS::Logs::LogGroup": {
					"DataProtectionPolicy":                      "as dataProtectionStatus",
					"FieldIndexPolicies ResourcePolicyDocument": "policies, which have separate calls, are left alone",
				},
			},
			Unneeded: map[string]string{
				"logs:*DataProtectionPolicy":                    "there is no field for data protection",
				"logs:*IndexPolicy logs:*IndexPolicies":         "there is no field for field indexes",
				"logs:*ResourcePolicy logs:*ResourcePolicies":   "there is no field for a resource policy",
				"logs:PutBearerTokenAuthentication":             "there is no field for bearer tokens",
				"firehose:* logs:CreateLogDelivery s3:REST.*.*": "findings of data protection are delivered with them",
			},
		},
		ARN: kind.ARNForm{
			Service: "logs",
			Prefix:  "log-group:",
			Without: ":",
		},
		Terraform: kind.Terraform{
			Type:     "aws_cloudwatch_log_group",
			Identity: []string{"name"},
		},
	}
}

// awsServices: docs.aws.amazon.com/AmazonCloudWatchLogs/latest/APIReference
var awsServices = []kind.ServiceFacts{
	{
		Service: "cloudwatchlogs",
		IAM:     "logs",
		// docs.aws.amazon.com/AmazonCloudWatch/latest/logs/cloudwatch_limits_cwl.html
		PerSecond: 10,
		Burst:     10,
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
