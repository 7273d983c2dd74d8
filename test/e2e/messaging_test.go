// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	sqstypes "github.com/aws/aws-sdk-go-v2/service/sqs/types"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
)

const (
	queueHost = "https://sqs.ap-southeast-1.amazonaws.com/123456789012/"
	queueARNs = "arn:aws:sqs:ap-southeast-1:123456789012:"
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
	b := newBed(t, "--check-interval=2s")
	api := sqs.NewFromConfig(b.admin(homeAccount))
	c := b.Capability("examples/capability-with-messaging.yaml")
	b.Create(c)
	t.Logf("Running after %.1f s", b.Running(c).Seconds())
	const role, jobs, aside, calls = "dispatch-dev-app-role", "dispatch-dev-jobs", "dispatch-dev-jobs-dlq", "dispatch-dev-calls.fifo"
	b.tells(c, "sqs/jobs-queue-url", "NEXUS_SQS_QUEUE_URL_JOBS", queueHost+jobs)
	b.tells(c, "sqs/jobs-dlq-queue-url", "NEXUS_SQS_QUEUE_URL_JOBS_DLQ", queueHost+aside)
	b.tells(c, "sqs/calls-queue-url", "NEXUS_SQS_QUEUE_URL_CALLS", queueHost+calls)
	b.contains(b.inline(role), `"Queues"`, `"DeadLetterQueues"`, `"`+queueARNs+jobs+`"`, `"`+queueARNs+aside+`"`, `"`+queueARNs+calls+`"`, "sqs:SendMessage")
	b.lacks(b.inline(role), "sqs:*", queueARNs+"*", queueARNs+"dispatch-dev-*")
	attribute := func(queue string, name sqstypes.QueueAttributeName) string {
		t.Helper()
		out, err := api.GetQueueAttributes(b.Ctx(), &sqs.GetQueueAttributesInput{QueueUrl: aws.String(b.queueURL(api, queue)), AttributeNames: []sqstypes.QueueAttributeName{"All"}})
		return must(b, out, err).Attributes[string(name)]
	}
	for name, want := range map[sqstypes.QueueAttributeName]string{"VisibilityTimeout": "300", "ReceiveMessageWaitTimeSeconds": "20", "SqsManagedSseEnabled": "true",
		"RedrivePolicy": `{"deadLetterTargetArn":"` + queueARNs + aside + `","maxReceiveCount":3}`} {
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
	_, err := api.SetQueueAttributes(b.Ctx(), &sqs.SetQueueAttributesInput{QueueUrl: aws.String(b.queueURL(api, jobs)), Attributes: map[string]string{
		"Policy": `{"Version":"2012-10-17","Statement":{"Effect":"Allow","Principal":"*","Action":"sqs:*","Resource":"*"}}`, "DelaySeconds": "9"}})
	must(b, 0, err)
	b.Eventually(20*time.Second, "the queue to be healed", func() error {
		if p, d := attribute(jobs, "Policy"), attribute(jobs, "DelaySeconds"); p != "" || d != "0" {
			return fmt.Errorf("the policy is %q and the delay %s", p, d)
		}
		return nil
	})
	b.Running(c)

	// A dropped queue with a message is held until a person names it; one without is removed, with what led to it.
	_, err = api.SendMessage(b.Ctx(), &sqs.SendMessageInput{QueueUrl: aws.String(b.queueURL(api, jobs)), MessageBody: aws.String("work")})
	must(b, 0, err)
	b.Edit(c, func() { c.Spec.DataServices.Queues = nil })
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
	b.Shows(&v1alpha1.SQSQueue{ObjectMeta: metav1.ObjectMeta{Namespace: c.Namespace, Name: "dispatch-dev-mail"}}, "Ready", metav1.ConditionFalse, "QueueNotEmpty")
	b.Edit(c, func() { c.Spec.DataServices.Queues[0].ForceDestroy = true })
	b.Gone(c)
	if inv := b.Inventory(); len(inv) > 0 {
		t.Errorf("left behind in AWS: %v", inv)
	}
}
