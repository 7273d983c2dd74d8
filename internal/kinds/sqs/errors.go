// SPDX-License-Identifier: Apache-2.0

package sqs

import (
	"time"

	"github.com/nexus-operator/nexus-operator/internal/awsclient"
	"github.com/nexus-operator/nexus-operator/internal/kind"
)

// awsServices: docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference
var awsServices = []kind.ServiceFacts{
	{
		Service: "sqs",
		Rows: []kind.ErrorRow{
			{Code: "QueueDoesNotExist|NonExistentQueue|ResourceNotFound", Class: awsclient.NotFound},
			{Code: "QueueNameExists|QueueAlreadyExists", Class: awsclient.Exists},
			{Code: "QueueDeletedRecently", Class: awsclient.Busy, After: time.Minute},
			{Operation: "CreateQueue|SetQueueAttributes", Code: "InvalidAttributeValue|InvalidParameterValue", Message: "parameter policy",
				Class: awsclient.Propagating, Within: awsclient.OfIAM},
			// "Value {…} for parameter RedrivePolicy is invalid. Reason: Dead letter target does not exist."
			{Operation: "CreateQueue|SetQueueAttributes", Code: "InvalidParameterValue", Message: "target does not exist",
				Class: awsclient.Missing},
			{Code: "OverLimit", Class: awsclient.Limit},
			{Code: "InvalidAttributeName|InvalidAttributeValue|InvalidAddress", Class: awsclient.Invalid},
			{Code: "KmsAccessDenied|KmsOptInRequired", Class: awsclient.Denied},
			{Code: "KmsThrottled", Class: awsclient.Throttled},
			{Code: "KmsNotFound|KmsDisabled|KmsInvalidState|KmsInvalidKeyUsage", Class: awsclient.Invalid},
			{Code: "BatchEntryIdsNotDistinct|EmptyBatchRequest|InvalidBatchEntryId|TooManyEntriesInBatchRequest", Class: awsclient.Invalid},
		},
		Answers: []kind.ErrorAnswer{
			{Operation: "ReceiveMessage", Code: "KmsAccessDenied", Message: "The caller doesn't have the required KMS access.", Status: 400,
				Class: awsclient.Denied},
			{Operation: "ReceiveMessage", Code: "KmsThrottled", Message: "KMS throttles requests for the following conditions.",
				Status: 400, Class: awsclient.Throttled},
			{Operation: "ReceiveMessage", Code: "KmsDisabled", Status: 400, Class: awsclient.Invalid},
			{Operation: "DeleteMessageBatch", Code: "EmptyBatchRequest",
				Message: "There should be at least one DeleteMessageBatchRequestEntry in the request.", Status: 400,
				Class: awsclient.Invalid},
			{Operation: "GetQueueUrl", Code: "AWS.SimpleQueueService.NonExistentQueue", Status: 400, Class: awsclient.NotFound},
			{Operation: "GetQueueUrl", Code: "QueueDoesNotExist", Status: 400, Class: awsclient.NotFound},
			{Operation: "CreateQueue", Code: "QueueNameExists", Status: 400, Class: awsclient.Exists},
			{Operation: "CreateQueue", Code: "AWS.SimpleQueueService.QueueDeletedRecently", Message: "You must wait 60 seconds",
				Status: 400, Class: awsclient.Busy},
			{Operation: "SetQueueAttributes", Code: "OverLimit", Status: 403, Class: awsclient.Limit},
			{Operation: "SetQueueAttributes", Code: "InvalidAttributeValue", Status: 400, Class: awsclient.Invalid},
			{Operation: "SetQueueAttributes", Code: "InvalidAttributeValue", Message: "Invalid value for the parameter Policy.",
				Status: 400, Class: awsclient.Propagating},
			{Operation: "SetQueueAttributes", Code: "InvalidParameterValue",
				Message: "Value {} for parameter RedrivePolicy is invalid. Reason: Dead letter target does not exist.", Status: 400,
				Class: awsclient.Missing},
		},
	},
}
