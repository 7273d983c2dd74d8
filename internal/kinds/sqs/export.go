// SPDX-License-Identifier: Apache-2.0

package sqs

import (
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/kind"
)

// exported declares a queue as it is. Of the two types of encryption, only the one in use is declared.
func exported(cr *v1alpha1.SQSQueue, have QueueState) {
	out := &cr.Spec
	out.FifoQueue = strings.HasSuffix(have.Name, ".fifo")
	out.DelaySeconds, out.MaximumMessageSize, out.MessageRetentionPeriod = seconds(have.DelaySeconds), seconds(have.MaximumMessageSize), seconds(have.MessageRetentionPeriod)
	out.VisibilityTimeout, out.ReceiveMessageWaitTimeSeconds = seconds(have.VisibilityTimeout), seconds(have.ReceiveMessageWaitTimeSeconds)
	if out.FifoQueue {
		out.ContentBasedDeduplication, out.DeduplicationScope, out.FifoThroughputLimit = truth(have.ContentBasedDeduplication), have.DeduplicationScope, have.FifoThroughputLimit
	}
	if out.KMSMasterKeyID = kind.NonEmpty(have.KmsMasterKeyId); out.KMSMasterKeyID != nil {
		out.KMSDataKeyReusePeriodSeconds = seconds(have.KmsDataKeyReusePeriodSeconds)
	} else {
		out.SQSManagedSSEEnabled = truth(have.SqsManagedSseEnabled)
	}
	out.Policy = kind.NonEmpty(have.Policy)
	if d := have.DeadLetter; d != nil && d.TargetARN != "" {
		out.DeadLetterQueue = &v1alpha1.SQSDeadLetterQueue{TargetARN: d.TargetARN, MaxReceiveCount: aws.Int32(int32(d.MaxReceiveCount))}
	}
}

// seconds is the number that an attribute holds; nil for none.
func seconds(attribute *string) *int32 {
	n, err := strconv.ParseInt(aws.ToString(attribute), 10, 32)
	if err != nil {
		return nil
	}
	return aws.Int32(int32(n))
}

// truth is the truth value that an attribute holds; nil for none.
func truth(attribute *string) *bool {
	b, err := strconv.ParseBool(aws.ToString(attribute))
	if err != nil {
		return nil
	}
	return &b
}
