// SPDX-License-Identifier: Apache-2.0

package emulator_test

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sns"

	"github.com/nexus-operator/nexus-operator/internal/testkit/must"
)

// A subscription is listed with the ARN PendingConfirmation until its endpoint confirms it:
// https://docs.aws.amazon.com/sns/latest/api/API_Subscribe.html
func TestSNS_PendingSubscriptionsAreListedWithoutARN(t *testing.T) {
	p := proxy(t)
	c := sns.NewFromConfig(config(p.URL()))
	topic, err := c.CreateTopic(t.Context(), &sns.CreateTopicInput{Name: aws.String("news")})
	must.Succeed(t, err)
	for protocol, endpoint := range map[string]string{"email": "me@example.com", "sqs": "arn:aws:sqs:" + region + ":123456789012:jobs"} {
		_, err := c.Subscribe(t.Context(), &sns.SubscribeInput{TopicArn: topic.TopicArn, Protocol: &protocol, Endpoint: &endpoint})
		must.Succeed(t, err)
	}
	pending := func() (n int) {
		out, err := c.ListSubscriptionsByTopic(t.Context(), &sns.ListSubscriptionsByTopicInput{TopicArn: topic.TopicArn})
		must.Succeed(t, err)
		for _, s := range out.Subscriptions {
			if *s.SubscriptionArn == "PendingConfirmation" && *s.Protocol == "email" {
				n++
			}
		}
		if len(out.Subscriptions) != 2 {
			t.Errorf("%d subscriptions", len(out.Subscriptions))
		}
		return n
	}
	if n := pending(); n != 0 {
		t.Errorf("%d are pending", n)
	}
	p.SNS.SetSubscriptionsPending("email")
	if n := pending(); n != 1 {
		t.Errorf("%d are pending, want that of the email address", n)
	}
	if got := p.Calls().Match("sns", "Subscribe", "news").Count(); got != 2 {
		t.Errorf("the ledger names the topic in %d calls:\n%s", got, p.Calls())
	}
}
