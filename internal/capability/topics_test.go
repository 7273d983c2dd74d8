// SPDX-License-Identifier: Apache-2.0

package capability_test

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/iampolicy"
)

// The role may only publish to the declared topics.
func TestTopics_GrantExactlyWhatIsDeclared(t *testing.T) {
	const begin = "arn:aws:sns:eu-central-1:123456789012:"
	rapid.Check(t, func(t *rapid.T) {
		c := minimal(withData)
		c.Spec.DataServices.Queues = anyQueues(t)
		c.Spec.DataServices.Topics = anyTopics(t, c.Spec.DataServices.Queues)
		declared := map[string]bool{}
		for _, topic := range c.Spec.DataServices.Topics {
			name := "myapp-dev-" + topic.Name
			if topic.FIFO {
				name += ".fifo"
			}
			declared[name] = true
		}
		documents := policies(t, object(t, compile(t, c, facts()), "IAMRole/myapp-dev-app-role"))
		check := func(want bool, action, resource string) {
			t.Helper()
			if got := granted(t, documents, request{action: action, resource: resource}); got != want {
				t.Fatalf("%s on %s: granted %v, want %v", action, resource, got, want)
			}
		}
		for name := range declared {
			check(true, "sns:Publish", begin+name)
			for _, action := range []string{"sns:Subscribe", "sns:SetTopicAttributes", "sns:AddPermission", "sns:DeleteTopic"} {
				check(false, action, begin+name)
			}
			for _, other := range []string{name + "-other", "my" + name, strings.TrimSuffix(name, ".fifo") + ".fifo"} {
				check(declared[other], "sns:Publish", begin+other)
			}
			check(false, "sns:Publish", strings.Replace(begin, "123456789012", "999999999999", 1)+name)
		}
	})
}

// A queue accepts messages from outside the account only from the topics that it subscribes to.
func TestTopics_OnlyTheirsReachAQueue(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := minimal(withData)
		c.Spec.DataServices.Queues = anyQueues(t)
		c.Spec.DataServices.Topics = anyTopics(t, c.Spec.DataServices.Queues)
		g := compile(t, c, facts())
		for _, q := range c.Spec.DataServices.Queues {
			var want []string
			for _, topic := range c.Spec.DataServices.Topics {
				if !slices.Contains(topic.SubscribeQueues, nexusv1.QueueName(q.Name)) {
					continue
				}
				object := object(t, g, "SNSTopic/myapp-dev-"+topic.Name)
				want = append(want, "arn:aws:sns:eu-central-1:123456789012:"+at(t, object, "spec", "topicName").(string))
				subscriptions := at(t, object, "spec", "subscriptions").([]any)
				if !slices.ContainsFunc(subscriptions, func(s any) bool {
					return s.(map[string]any)["queueRef"].(map[string]any)["name"] == "myapp-dev-"+q.Name
				}) {
					t.Fatalf("%s does not subscribe to %s", q.Name, topic.Name)
				}
			}
			queue := object(t, g, "SQSQueue/myapp-dev-"+q.Name)
			text := at(t, queue, "spec", "policy").(string)
			if len(want) == 0 {
				if text != "" {
					t.Fatalf("%s has the policy %s", q.Name, text)
				}
				continue
			}
			slices.Sort(want)
			policy, err := iampolicy.Parse(text)
			if err != nil || len(policy.Statement) != 1 {
				t.Fatalf("%s: %v", text, err)
			}
			s := policy.Statement[0]
			sources := slices.Sorted(slices.Values(s.Condition["ArnEquals"]["aws:SourceArn"]))
			if s.Effect != "Allow" || !slices.Equal(s.Action, []string{"sqs:SendMessage"}) || !slices.Equal(s.Principal["Service"], []string{"sns.amazonaws.com"}) ||
				len(s.Principal) != 1 || len(s.Condition) != 1 || !slices.Equal(sources, want) || !slices.Equal(s.Resource, []string{queueARN + at(t, queue, "spec", "queueName").(string)}) {
				t.Fatalf("%s takes messages by %s, want those of %v", q.Name, text, want)
			}
		}
	})
}
