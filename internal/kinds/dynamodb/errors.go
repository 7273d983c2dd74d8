// SPDX-License-Identifier: Apache-2.0

package dynamodb

import (
	"time"

	"github.com/nexus-operator/nexus-operator/internal/awsclient"
	"github.com/nexus-operator/nexus-operator/internal/kind"
)

// awsServices: docs.aws.amazon.com/amazondynamodb/latest/developerguide/Programming.Errors.html
var awsServices = []kind.ServiceFacts{
	{
		Service: "dynamodb",
		Rows: []kind.ErrorRow{
			{Code: "ResourceNotFound|TableNotFound|PolicyNotFound|IndexNotFound|BackupNotFound", Class: awsclient.NotFound},
			{Operation: "CreateTable", Code: "ResourceInUse", Class: awsclient.Exists},
			{Code: "TableAlreadyExists", Class: awsclient.Exists},
			{Code: "ResourceInUse|TableInUse|BackupInUse|ContinuousBackupsUnavailable", Class: awsclient.Busy},
			// "Only 1 online index can be created or deleted simultaneously per table."
			{Code: "LimitExceeded", Message: "online index", Class: awsclient.Busy},
			// "Only N tables can be created, updated, or deleted simultaneously": control-plane concurrency, which passes.
			{Code: "LimitExceeded", Message: "simultaneous", Class: awsclient.Throttled},
			{Code: "LimitExceeded", Message: "concurrent", Class: awsclient.Throttled},
			{Code: "LimitExceeded", Message: "too many operations", Class: awsclient.Throttled},
			// Changes of the billing mode, and of throughput downward, that may come once a day or so: they are no quota, because they become
			// possible with time.
			{Code: "LimitExceeded", Message: "limited to once in", Class: awsclient.Busy, After: 10 * time.Minute},
			{Code: "LimitExceeded", Message: "decreases are limited", Class: awsclient.Busy, After: 10 * time.Minute},
			{Code: "Validation", Message: "protected against deletion", Class: awsclient.Protected},
			// For 24 hours after a replica was made of the table.
			// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/globaltables_HowItWorks.html
			{Operation: "DeleteTable", Code: "Validation", Message: "source region for new replica", Class: awsclient.Busy,
				After: 10 * time.Minute},
			{Operation: "UpdateTimeToLive", Code: "Validation", Message: "within a fixed interval", Class: awsclient.Busy,
				After: 10 * time.Minute},
			{Operation: "UpdateTimeToLive", Code: "Validation", Message: "timetolive is already", Class: awsclient.Exists},
			// The table already has the settings that UpdateTable asks for, although a read that lags does not show it.
			{Operation: "UpdateTable", Code: "Validation", Message: "will not change", Class: awsclient.Exists},
			{Operation: "UpdateTable", Code: "Validation", Message: "index which already exists", Class: awsclient.Exists},
			{Operation: "UpdateTable", Code: "Validation", Message: "already has an enabled stream", Class: awsclient.Exists},
			{Operation: "UpdateTable", Code: "Validation", Message: "has no stream to disable", Class: awsclient.Exists},
			{Code: "TransactionConflict|TransactionInProgress|ReplicatedWriteConflict", Class: awsclient.Transient},
		},
		Answers: []kind.ErrorAnswer{
			{Operation: "DescribeTable", Code: "ResourceNotFoundException", Message: "Requested resource not found: Table: t not found",
				Status: 400, Class: awsclient.NotFound},
			{Operation: "CreateTable", Code: "ResourceInUseException", Message: "Table already exists: t", Status: 400,
				Class: awsclient.Exists},
			{Operation: "RestoreTable", Code: "TableAlreadyExistsException", Status: 400, Class: awsclient.Exists},
			{Operation: "UpdateTable", Code: "ResourceInUseException", Message: "Attempt to change a resource which is still in use",
				Status: 400, Class: awsclient.Busy},
			{Operation: "DeleteTable", Code: "ResourceInUseException", Message: "Table is being created", Status: 400,
				Class: awsclient.Busy},
			{Operation: "UpdateContinuousBackups", Code: "ContinuousBackupsUnavailableException", Message: "Backups are being enabled",
				Status: 400, Class: awsclient.Busy},
			{Operation: "UpdateTable", Code: "LimitExceededException",
				Message: "Subscriber limit exceeded: Only 1 online index can be created or deleted simultaneously per table", Status: 400,
				Class: awsclient.Busy},
			{Operation: "CreateTable", Code: "LimitExceededException",
				Message: "Subscriber limit exceeded: Only 500 tables can be created, updated, or deleted simultaneously", Status: 400,
				Class: awsclient.Throttled},
			{Operation: "CreateTable", Code: "LimitExceededException", Message: "Too many concurrent table operations", Status: 400,
				Class: awsclient.Throttled},
			{Operation: "UpdateTable", Code: "LimitExceededException", Message: "Too many operations for a given subscriber", Status: 400,
				Class: awsclient.Throttled},
			{Operation: "CreateTable", Code: "LimitExceededException",
				Message: "Subscriber limit exceeded: There is a limit of 2500 tables per subscriber", Status: 400, Class: awsclient.Limit},
			{Operation: "DeleteTable", Code: "ValidationException",
				Message: "Resource cannot be deleted as it is currently protected against deletion. Disable deletion protection first.",
				Status:  400, Class: awsclient.Protected},
			{Operation: "DeleteTable", Code: "ValidationException",
				Message: "Replica cannot be deleted because it has acted as a source region for new replica(s) being added to the table in the last 24 hours.",
				Status:  400, Class: awsclient.Busy},
			{Operation: "UpdateTimeToLive", Code: "ValidationException",
				Message: "Time to live has been modified multiple times within a fixed interval", Status: 400, Class: awsclient.Busy},
			{Operation: "UpdateTimeToLive", Code: "ValidationException", Message: "TimeToLive is already enabled", Status: 400,
				Class: awsclient.Exists},
			{Operation: "UpdateTable", Code: "ValidationException",
				Message: "The provisioned throughput for the table will not change. The requested value equals the current value",
				Status:  400, Class: awsclient.Exists},
			{Operation: "UpdateTable", Code: "ValidationException", Message: "Attempting to create an index which already exists",
				Status: 400, Class: awsclient.Exists},
			{Operation: "UpdateTable", Code: "ValidationException", Message: "Table already has an enabled stream: TableName: t",
				Status: 400, Class: awsclient.Exists},
			{Operation: "UpdateTable", Code: "ValidationException", Message: "Table has no stream to disable: TableName: t", Status: 400,
				Class: awsclient.Exists},
			{Operation: "CreateTable", Code: "ValidationException", Message: "One or more parameter values were invalid", Status: 400,
				Class: awsclient.Invalid},
			{Operation: "UpdateTable", Code: "ReplicatedWriteConflictException", Status: 400, Class: awsclient.Transient},
			{Operation: "DescribeTable", Code: "ProvisionedThroughputExceededException", Status: 400, Class: awsclient.Throttled},
			{Operation: "DescribeTable", Code: "InternalServerError", Status: 500, Class: awsclient.Transient},
			{Operation: "UpdateTable", Code: "LimitExceededException",
				Message: "Subscriber limit exceeded: Update to PayPerRequest mode are limited to once in 1 day(s).", Status: 400,
				Class: awsclient.Busy},
			{Operation: "UpdateTable", Code: "LimitExceededException",
				Message: "Subscriber limit exceeded: Provisioned throughput decreases are limited within a given UTC day.", Status: 400,
				Class: awsclient.Busy},
		},
	},
}
