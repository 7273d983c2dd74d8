// SPDX-License-Identifier: Apache-2.0

package emulator_test

import (
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/nexus-operator/nexus-operator/internal/emulator"
	"github.com/nexus-operator/nexus-operator/internal/testkit/must"
)

const sendAllowed = `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":"*","Action":"sqs:SendMessage","Resource":"*"}]}`

// "You must wait 60 seconds after deleting a queue before you can create another with the same name":
// https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_CreateQueue.html
func TestSQS_NameOfADeletedQueueRestsForAMinute(t *testing.T) {
	p := proxy(t)
	c, now := sqs.NewFromConfig(config(p.URL())), time.Now()
	p.SetClock(func() time.Time { return now })
	create := func(name string) (string, string) {
		out, err := c.CreateQueue(t.Context(), &sqs.CreateQueueInput{QueueName: &name})
		if err != nil {
			return "", code(err)
		}
		return *out.QueueUrl, ""
	}
	url, _ := create("jobs")
	_, err := c.DeleteQueue(t.Context(), &sqs.DeleteQueueInput{QueueUrl: &url})
	must.Succeed(t, err)
	now = now.Add(59 * time.Second)
	if _, got := create("jobs"); got != "AWS.SimpleQueueService.QueueDeletedRecently" {
		t.Errorf("within the minute: %q", got)
	}
	if _, got := create("others"); got != "" {
		t.Errorf("another name: %q", got)
	}
	now = now.Add(time.Second)
	if _, got := create("jobs"); got != "" {
		t.Errorf("after the minute: %q", got)
	}
}

// "If you provide the name of an existing queue along with the exact names and values of all the queue's attributes,
// CreateQueue returns the queue URL for the existing queue": the same page.
func TestSQS_CreatingAQueueAgainChangesNothing(t *testing.T) {
	p := proxy(t)
	c := sqs.NewFromConfig(config(p.URL()))
	create := func(owner string, attributes map[string]string) (*sqs.CreateQueueOutput, error) {
		return c.CreateQueue(t.Context(),
			&sqs.CreateQueueInput{QueueName: aws.String("jobs"), Attributes: attributes, Tags: map[string]string{"owner": owner}})
	}
	first, err := create("me", map[string]string{"VisibilityTimeout": "7", "Policy": sendAllowed})
	must.Succeed(t, err)
	for _, attributes := range []map[string]string{nil, {"VisibilityTimeout": "7"}, {"VisibilityTimeout": "7", "Policy": " " + sendAllowed}} {
		again, err := create("you", attributes)
		must.Succeed(t, err)
		if *again.QueueUrl != *first.QueueUrl {
			t.Errorf("%s, want %s", *again.QueueUrl, *first.QueueUrl)
		}
	}
	if _, err := create("you", map[string]string{"VisibilityTimeout": "8"}); code(err) != "QueueAlreadyExists" {
		t.Errorf("with another attribute: %v", err)
	}
	out, err := c.ListQueueTags(t.Context(), &sqs.ListQueueTagsInput{QueueUrl: first.QueueUrl})
	must.Succeed(t, err)
	if out.Tags["owner"] != "me" {
		t.Errorf("tags %v", out.Tags)
	}
	if n := p.Calls().Count(); n != 6 {
		t.Errorf("the corrections are in the ledger:\n%s", p.Calls())
	}
}

// SetQueueAttributes sets the attributes of the request and no others:
// https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_SetQueueAttributes.html
func TestSQS_APolicyOutlivesChangesOfOtherAttributes(t *testing.T) {
	p := proxy(t)
	c := sqs.NewFromConfig(config(p.URL()))
	q, err := c.CreateQueue(t.Context(),
		&sqs.CreateQueueInput{QueueName: aws.String("jobs"), Attributes: map[string]string{"Policy": sendAllowed}})
	must.Succeed(t, err)
	for _, change := range []struct{ name, value, policy string }{{"VisibilityTimeout", "7", sendAllowed}, {"Policy", "", ""}} {
		_, err := c.SetQueueAttributes(t.Context(),
			&sqs.SetQueueAttributesInput{QueueUrl: q.QueueUrl, Attributes: map[string]string{change.name: change.value}})
		must.Succeed(t, err)
		out, err := c.GetQueueAttributes(t.Context(),
			&sqs.GetQueueAttributesInput{QueueUrl: q.QueueUrl, AttributeNames: []types.QueueAttributeName{types.QueueAttributeNameAll}})
		must.Succeed(t, err)
		if got := strings.ReplaceAll(out.Attributes["Policy"], " ", ""); got != emulator.RewritePolicy(change.policy) {
			t.Errorf("after %s=%q: policy %q, want %q", change.name, change.value, got, change.policy)
		}
	}
}
