// SPDX-License-Identifier: Apache-2.0

package capability_test

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/capability/parts/messages"
)

const queueARN = "arn:aws:sqs:eu-central-1:123456789012:"

// The role may only send to the declared queues, and receive from them and from their dead-letter queues.
func TestQueues_GrantExactlyWhatIsDeclared(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := minimal(withData)
		c.Spec.DataServices.Queues = anyQueues(t)
		declared := map[string]bool{} // whether the workloads send to it
		for _, q := range c.Spec.DataServices.Queues {
			ending := ""
			if q.FIFO {
				ending = ".fifo"
			}
			declared["myapp-dev-"+q.Name+ending] = true
			if q.DeadLetter != nil {
				declared["myapp-dev-"+q.Name+"-dlq"+ending] = false
			}
		}
		g := compile(t, c, facts())
		if n := len(ofKind(g, "SQSQueue")); n != len(declared) {
			t.Fatalf("%d queues, want %d", n, len(declared))
		}
		documents := policies(t, object(t, g, "IAMRole/myapp-dev-app-role"))
		check := func(want bool, action, resource string) {
			t.Helper()
			if got := granted(t, documents, request{action: action, resource: resource}); got != want {
				t.Fatalf("%s on %s: granted %v, want %v", action, resource, got, want)
			}
		}
		for name, sends := range declared {
			check(sends, "sqs:SendMessage", queueARN+name)
			for _, action := range []string{"sqs:ReceiveMessage", "sqs:DeleteMessage", "sqs:ChangeMessageVisibility", "sqs:GetQueueAttributes", "sqs:GetQueueUrl"} {
				check(true, action, queueARN+name)
			}
			for _, action := range []string{"sqs:DeleteQueue", "sqs:PurgeQueue", "sqs:SetQueueAttributes", "sqs:AddPermission", "sqs:TagQueue"} {
				check(false, action, queueARN+name)
			}
			check(false, "sqs:ReceiveMessage", strings.Replace(queueARN, "eu-central-1", "eu-west-1", 1)+name)
			check(false, "sqs:ReceiveMessage", strings.Replace(queueARN, "123456789012", "999999999999", 1)+name)
			for _, other := range []string{name + "-other", "my" + name, strings.TrimSuffix(name, ".fifo") + ".fifo", strings.TrimSuffix(name, ".fifo") + "-dlq"} {
				if _, ours := declared[other]; !ours {
					check(false, "sqs:ReceiveMessage", queueARN+other)
				}
			}
		}
	})
}

// The URLs are those of SQS in the partition of the region.
func TestQueues_TheWorkloadsLearnTheURLs(t *testing.T) {
	c := minimal(withData, func(c *nexusv1.NexusAICapability) {
		c.Spec.DataServices.Queues = []nexusv1.QueueSpec{{Name: "call-jobs", FIFO: true, DeadLetter: &nexusv1.DeadLetterSpec{}}}
	})
	for region, begin := range map[string]string{
		"eu-central-1": "https://sqs.eu-central-1.amazonaws.com/123456789012/", "cn-north-1": "https://sqs.cn-north-1.amazonaws.com.cn/123456789012/",
	} {
		f := facts()
		c.Spec.Region = region
		if strings.HasPrefix(region, "cn-") {
			f.Provider.Partition = "aws-cn"
		}
		g := compile(t, c, f)
		for key, want := range map[string]string{"CALL_JOBS": "myapp-dev-call-jobs.fifo", "CALL_JOBS_DLQ": "myapp-dev-call-jobs-dlq.fifo"} {
			if got := at(t, object(t, g, "ConfigMap/myapp-dev-config"), "data", "NEXUS_SQS_QUEUE_URL_"+key); got != begin+want {
				t.Errorf("%s: %v, want %s", key, got, begin+want)
			}
			parameter := strings.ToLower(strings.ReplaceAll(key, "_", "-")) + "-queue-url"
			if got := at(t, object(t, g, "SSMParameterSet/myapp-dev"), "spec", "parameters", "sqs/"+parameter, "value"); got != begin+want {
				t.Errorf("%s: %v, want %s", parameter, got, begin+want)
			}
		}
	}
}

// The policies of a role have a limit of characters; the longest lists of queues and topics stay below it beside the
// default stores.
func TestQueues_TheLongestListsFit(t *testing.T) {
	c := minimal(withData)
	c.Spec.CapabilityName, c.Spec.Environment = strings.Repeat("c", 25), strings.Repeat("e", 16)
	for i := range 16 {
		c.Spec.DataServices.Queues = append(c.Spec.DataServices.Queues, nexusv1.QueueSpec{Name: fmt.Sprintf("%s-%02d", strings.Repeat("q", 25), i), FIFO: true,
			DeadLetter: &nexusv1.DeadLetterSpec{}})
		c.Spec.DataServices.Topics = append(c.Spec.DataServices.Topics, nexusv1.TopicSpec{Name: fmt.Sprintf("%s-%02d", strings.Repeat("t", 37), i), FIFO: true})
	}
	if g := compile(t, c, facts()); g.Len() > 128 {
		t.Errorf("%d objects do not fit into status.resources", g.Len())
	}
}

// Messages go with a queue, and with its dead-letter queue, only where the queue's own field says so.
func TestForceDestroyQueue_FollowsTheField(t *testing.T) {
	c := minimal(queue(nexusv1.QueueSpec{Name: "jobs", ForceDestroy: true, DeadLetter: &nexusv1.DeadLetterSpec{}}, nexusv1.QueueSpec{Name: "mail"}))
	for name, want := range map[string][2]bool{
		"myapp-dev-jobs": {true, true}, "myapp-dev-jobs-dlq": {true, true}, "myapp-dev-mail": {false, true}, "myapp-dev-mail-dlq": {}, "myapp-dev-other": {},
	} {
		force, known := messages.ForceDestroyQueue(c, name)
		if got := [2]bool{force, known}; got != want {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}
