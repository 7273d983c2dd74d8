// SPDX-License-Identifier: Apache-2.0

package awsclient

import (
	"context"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

// MostMessages is the number of messages that SQS hands out and deletes at a time.
const MostMessages = 10

// Message is a message of a queue.
type Message struct {
	Body string
	// Receipt deletes the message.
	Receipt string
}

// The methods of a client. As an interface, the client itself would keep all its methods in the binary.
type (
	receiveMessage func(context.Context, *sqs.ReceiveMessageInput, ...func(*sqs.Options)) (*sqs.ReceiveMessageOutput, error)
	deleteMessages func(context.Context, *sqs.DeleteMessageBatchInput, ...func(*sqs.Options)) (*sqs.DeleteMessageBatchOutput, error)
	queueClient    struct {
		receive receiveMessage
		remove  deleteMessages
	}
)

func (s *Session) queues() queueClient {
	return s.Memo("sqs:ReceiveMessage", func() any {
		c := sqs.NewFromConfig(s.Config)
		return queueClient{receive: c.ReceiveMessage, remove: c.DeleteMessageBatch}
	}).(queueClient)
}

// ReceiveMessages returns up to ten messages of a queue. It waits for the first one, for at most 20 seconds, and returns none then:
// https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-short-and-long-polling.html
// It needs the right sqs:ReceiveMessage on the queue. A failure is of the kinds that Explain returns.
func (s *Session) ReceiveMessages(ctx context.Context, queueURL string, wait time.Duration) ([]Message, error) {
	out, err := s.queues().receive(ctx,
		&sqs.ReceiveMessageInput{QueueUrl: &queueURL, MaxNumberOfMessages: MostMessages, WaitTimeSeconds: int32(wait / time.Second)})
	if err != nil {
		return nil, Explain(err, "sqs:ReceiveMessage")
	}
	messages := make([]Message, 0, len(out.Messages))
	for _, m := range out.Messages {
		messages = append(messages, Message{Body: aws.ToString(m.Body), Receipt: aws.ToString(m.ReceiptHandle)})
	}
	return messages, nil
}

// DeleteMessages deletes up to ten messages of a queue. Those that SQS does not delete come again. It needs the right sqs:DeleteMessage on
// the queue. A failure is of the kinds that Explain returns.
func (s *Session) DeleteMessages(ctx context.Context, queueURL string, messages []Message) error {
	if len(messages) == 0 {
		return nil
	}
	in := &sqs.DeleteMessageBatchInput{QueueUrl: &queueURL}
	for i, m := range messages {
		in.Entries = append(in.Entries, types.DeleteMessageBatchRequestEntry{Id: aws.String(fmt.Sprint(i)), ReceiptHandle: &m.Receipt})
	}
	_, err := s.queues().remove(ctx, in)
	return Explain(err, "sqs:DeleteMessage")
}
