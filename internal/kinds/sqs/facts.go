// SPDX-License-Identifier: Apache-2.0

package sqs

import "github.com/nexus-operator/nexus-operator/internal/kind"

// queueFacts returns the facts about an SQSQueue that other packages use.
func queueFacts() kind.Facts {
	return kind.Facts{
		EarlierKeys: kind.EarlierKeys{Kept: "messages stay encrypted with the key that they were sent with"},
		Rights: kind.Rights{
			Calls: []kind.Right{{Actions: "sqs:*", On: []string{"${Name}"}}},
		},
		Services: awsServices,
		NotSettings: []string{
			"Attributes[ApproximateNumberOfMessages]", "Attributes[ApproximateNumberOfMessagesDelayed]",
			"Attributes[ApproximateNumberOfMessagesNotVisible]", "Attributes[CreatedTimestamp]", "Attributes[FifoQueue]",
			"Attributes[KmsDataKeyReusePeriodSeconds]=300", "Attributes[LastModifiedTimestamp]",
			"Attributes[SqsManagedSseEnabled]=false",
		},
		Reach: kind.Everywhere,
		OneValue: map[string]string{
			"KMSMasterKeyRef": kind.AsItsTarget,
		},
		Schemas: kind.Schemas{
			Types: []string{"AWS::SQS::Queue"},
			Properties: map[string]map[string]string{
				"AWS::SQS::Queue": {
					"RedriveAllowPolicy": kind.IsInAnswer,
					"RedrivePolicy":      "as deadLetterQueue",
				},
			},
		},
		ARN: kind.ARNForm{
			Service: "sqs",
			Without: ":",
		},
		Terraform: kind.Terraform{
			Type:     "aws_sqs_queue",
			Identity: []string{"name"},
			Parts:    []string{"aws_sqs_queue_"},
		},
	}
}
