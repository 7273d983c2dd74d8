// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sns"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	sqstypes "github.com/aws/aws-sdk-go-v2/service/sqs/types"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/testkit/extent"
)

const (
	queueHost = "https://sqs.ap-southeast-1.amazonaws.com/123456789012/"
	queueARNs = "arn:aws:sqs:ap-southeast-1:123456789012:"
	topicARNs = "arn:aws:sns:ap-southeast-1:123456789012:"
)

// queueURL is the address of a queue in the emulator; "" when there is none.
func (b *bed) queueURL(api *sqs.Client, name string) string {
	out, err := api.GetQueueUrl(b.Ctx(), &sqs.GetQueueUrlInput{QueueName: &name})
	if err != nil {
		return ""
	}
	return aws.ToString(out.QueueUrl)
}

// The queues of the example are made as declared, edited, healed, held while they hold messages, and removed.
func TestMessaging_QueuesLiveAndDieWithTheirCapability(t *testing.T) {
	extent.Full(t)
	b := newBed(t, "--check-interval=2s")
	api := sqs.NewFromConfig(b.admin(homeAccount))
	c := b.Capability("examples/capability-with-messaging.yaml")
	b.Create(c)
	t.Logf("Running after %.1f s", b.Running(c).Seconds())
	const role, jobs, aside, calls = "dispatch-dev-app-role", "dispatch-dev-jobs", "dispatch-dev-jobs-dlq", "dispatch-dev-calls.fifo"
	b.tells(c, "sqs/jobs-queue-url", "NEXUS_SQS_QUEUE_URL_JOBS", queueHost+jobs)
	b.tells(c, "sqs/jobs-dlq-queue-url", "NEXUS_SQS_QUEUE_URL_JOBS_DLQ", queueHost+aside)
	b.tells(c, "sqs/calls-queue-url", "NEXUS_SQS_QUEUE_URL_CALLS", queueHost+calls)
	b.contains(b.inline(role), `"Queues"`, `"DeadLetterQueues"`, `"`+queueARNs+jobs+`"`, `"`+queueARNs+aside+`"`, `"`+queueARNs+calls+`"`,
		"sqs:SendMessage")
	b.lacks(b.inline(role), "sqs:*", queueARNs+"*", queueARNs+"dispatch-dev-*")
	attribute := func(queue string, name sqstypes.QueueAttributeName) string {
		t.Helper()
		out, err := api.GetQueueAttributes(b.Ctx(),
			&sqs.GetQueueAttributesInput{QueueUrl: aws.String(b.queueURL(api, queue)), AttributeNames: []sqstypes.QueueAttributeName{"All"}})
		return must(b, out, err).Attributes[string(name)]
	}
	for name, want := range map[sqstypes.QueueAttributeName]string{"VisibilityTimeout": "300", "ReceiveMessageWaitTimeSeconds": "20",
		"SqsManagedSseEnabled": "true",
		"RedrivePolicy":        `{"deadLetterTargetArn":"` + queueARNs + aside + `","maxReceiveCount":3}`} {
		if got := strings.ReplaceAll(attribute(jobs, name), " ", ""); got != want {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
	}

	// An edit reaches the queue, and what people change in AWS is corrected.
	b.Edit(c, func() { c.Spec.DataServices.Queues[0].VisibilityTimeoutSeconds = nil })
	b.Running(c)
	if got := attribute(jobs, "VisibilityTimeout"); got != "30" {
		t.Errorf("the timeout is %s after the edit, want the default", got)
	}
	_, err := api.SetQueueAttributes(b.Ctx(),
		&sqs.SetQueueAttributesInput{QueueUrl: aws.String(b.queueURL(api, jobs)), Attributes: map[string]string{
			"Policy":       `{"Version":"2012-10-17","Statement":{"Effect":"Allow","Principal":"*","Action":"sqs:*","Resource":"*"}}`,
			"DelaySeconds": "9"}})
	must(b, 0, err)
	b.Eventually(20*time.Second, "the queue to be healed", func() error {
		if p, d := attribute(jobs, "Policy"), attribute(jobs, "DelaySeconds"); strings.Contains(p, "sqs:*") || d != "0" {
			return fmt.Errorf("the policy is %q and the delay %s", p, d)
		}
		return nil
	})
	b.Running(c)

	// A dropped queue with a message is held until a person names it; one without is removed, with what led to it.
	_, err = api.SendMessage(b.Ctx(), &sqs.SendMessageInput{QueueUrl: aws.String(b.queueURL(api, jobs)), MessageBody: aws.String("work")})
	must(b, 0, err)
	b.Edit(c, func() { c.Spec.DataServices.Queues, c.Spec.DataServices.Topics = nil, nil })
	b.contains(b.Shows(c, "Stalled", metav1.ConditionTrue, "DataWouldBeLost"), "SQSQueue/"+jobs, "about 1 message", "nexus.ai/delete-data")
	if b.queueURL(api, jobs) == "" {
		t.Error("the queue went with its message")
	}
	b.Edit(c, func() { c.Annotations = map[string]string{"nexus.ai/delete-data": jobs} })
	b.Running(c)
	for _, purpose := range []string{"jobs", "jobs-dlq", "calls"} {
		b.Gone(&v1alpha1.SQSQueue{ObjectMeta: metav1.ObjectMeta{Namespace: c.Namespace, Name: "dispatch-dev-" + purpose}})
	}
	b.tells(c, "sqs/jobs-queue-url", "NEXUS_SQS_QUEUE_URL_JOBS", "")
	b.lacks(b.inline(role), "sqs:")

	// The deletion of the capability waits for a queue with messages, unless its field says otherwise.
	b.Edit(c, func() { c.Annotations, c.Spec.DataServices.Queues = nil, []nexusv1.QueueSpec{{Name: "mail"}} })
	b.Running(c)
	mail := b.queueURL(api, "dispatch-dev-mail")
	_, err = api.SendMessage(b.Ctx(), &sqs.SendMessageInput{QueueUrl: &mail, MessageBody: aws.String("letter")})
	must(b, 0, err)
	must(b, 0, b.Client.Delete(b.Ctx(), c))
	b.Shows(&v1alpha1.SQSQueue{ObjectMeta: metav1.ObjectMeta{Namespace: c.Namespace, Name: "dispatch-dev-mail"}}, "Ready",
		metav1.ConditionFalse, "QueueNotEmpty")
	b.Edit(c, func() { c.Spec.DataServices.Queues[0].ForceDestroy = true })
	b.Gone(c)
	if inv := b.Inventory(); len(inv) > 0 {
		t.Errorf("left behind in AWS: %v", inv)
	}
}

// The topic of the example reaches its queue, and no other topic may; it is healed, edited and removed.
func TestMessaging_TopicsReachTheQueuesOfTheirCapability(t *testing.T) {
	extent.Full(t)
	b := newBed(t, "--check-interval=2s")
	queues, topics := sqs.NewFromConfig(b.admin(homeAccount)), sns.NewFromConfig(b.admin(homeAccount))
	c := b.Capability("examples/capability-with-messaging.yaml")
	b.Create(c)
	b.Running(c)
	const role, events = "dispatch-dev-app-role", topicARNs + "dispatch-dev-events"
	b.tells(c, "sns/events-topic-arn", "NEXUS_SNS_TOPIC_ARN_EVENTS", events)
	b.contains(b.inline(role), `"Topics"`, `"sns:Publish"`, `"`+events+`"`)
	b.lacks(b.inline(role), "sns:*", topicARNs+"*", topicARNs+"dispatch-dev-*", "sns:Subscribe")
	jobs := b.queueURL(queues, "dispatch-dev-jobs")
	policy := func() string {
		t.Helper()
		out, err := queues.GetQueueAttributes(b.Ctx(),
			&sqs.GetQueueAttributesInput{QueueUrl: &jobs, AttributeNames: []sqstypes.QueueAttributeName{"Policy"}})
		return must(b, out, err).Attributes["Policy"]
	}
	b.contains(policy(), "sns.amazonaws.com", "aws:SourceArn", `"`+events+`"`)
	delivered := func() {
		t.Helper()
		_, err := topics.Publish(b.Ctx(), &sns.PublishInput{TopicArn: aws.String(events), Message: aws.String("an event")})
		must(b, 0, err)
		received, err := queues.ReceiveMessage(b.Ctx(), &sqs.ReceiveMessageInput{QueueUrl: &jobs})
		if got := must(b, received, err).Messages; len(got) != 1 || !strings.Contains(aws.ToString(got[0].Body), "an event") {
			t.Fatalf("the queue got %+v", got)
		}
		_, err = queues.DeleteMessage(b.Ctx(), &sqs.DeleteMessageInput{QueueUrl: &jobs, ReceiptHandle: received.Messages[0].ReceiptHandle})
		must(b, 0, err)
	}
	delivered()

	// A topic that was deleted in AWS is created again, with its subscription.
	_, err := topics.DeleteTopic(b.Ctx(), &sns.DeleteTopicInput{TopicArn: aws.String(events)})
	must(b, 0, err)
	subscriptions := func() (int, error) {
		out, err := topics.ListSubscriptionsByTopic(b.Ctx(), &sns.ListSubscriptionsByTopicInput{TopicArn: aws.String(events)})
		if err != nil {
			return 0, err
		}
		return len(out.Subscriptions), nil
	}
	expect := func(what string, want int) {
		t.Helper()
		b.Eventually(40*time.Second, what, func() error {
			if n, err := subscriptions(); err != nil || n != want {
				return fmt.Errorf("%d subscriptions, %w", n, err)
			}
			return nil
		})
	}
	expect("the topic to be healed", 1)
	b.Running(c)
	delivered()

	// Without its subscription the topic loses its right on the queue; without the topic the role loses its right.
	b.Edit(c, func() { c.Spec.DataServices.Topics[0].SubscribeQueues = nil })
	b.Running(c)
	expect("the subscription to end", 0)
	b.lacks(policy(), "sns")
	b.Edit(c, func() { c.Spec.DataServices.Topics = nil })
	b.Running(c)
	b.Gone(&v1alpha1.SNSTopic{ObjectMeta: metav1.ObjectMeta{Namespace: c.Namespace, Name: "dispatch-dev-events"}})
	b.tells(c, "sns/events-topic-arn", "NEXUS_SNS_TOPIC_ARN_EVENTS", "")
	b.lacks(b.inline(role), "sns:")
	b.Remove(c)
	if inv := b.Inventory(); len(inv) > 0 {
		t.Errorf("left behind in AWS: %v", inv)
	}
}
