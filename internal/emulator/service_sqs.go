// SPDX-License-Identifier: Apache-2.0

package emulator

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"
)

// sqsService holds what moto does not know of queues.
type sqsService struct {
	base
	queueRest time.Duration // how long the name of a deleted queue is refused
}

func (s *sqsService) Facts() *Facts {
	return &Facts{
		Prefix:   "sqs",
		Requests: RequestFacts{Targets: []string{"AmazonSQS"}, Keys: []string{"QueueName", "QueueUrl"}},
		Errors: ErrorFacts{
			Missing: map[string]awsError{"": {http.StatusBadRequest, "QueueDoesNotExist", "The specified queue does not exist."}},
			Answer: func(_ *request, a *answer) *answer {
				a.header.Set("X-Amzn-Query-Error", "AWS.SimpleQueueService.NonExistentQueue;Sender")
				return a
			},
		},
		Writes: WriteFacts{
			Data:              []string{"SendMessage", "SendMessageBatch", "ReceiveMessage", "DeleteMessage", "DeleteMessageBatch"},
			IdempotentCreates: []string{"CreateQueue"},
			TagReads:          []tagRead{{op: "ListQueueTags", where: "Tags"}},
		},
		Names: map[string]nameRule{"CreateQueue": {"QueueName", 1, 80, regexp.MustCompile(`^[A-Za-z0-9_-]+(\.fifo)?$`), "InvalidParameterValue"}},
		Rights: RightFacts{
			// https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-api-permissions-reference.html
			Action:  func(op string) string { return strings.TrimSuffix(op, "Batch") },
			Namings: map[string]naming{"sqs *": {members: []string{"@"}}},
			Dependents: []dependent{
				tagging("sqs:CreateQueue", "sqs:TagQueue", "sqs *"),
				{action: "sqs:*", needs: "kms", on: keyOfQueue, page: usersOfKeys},
			},
		},
		Inventory: []inventoryKind{{"sqs/queue", false, listJSON("sqs", "AmazonSQS.ListQueues", "QueueUrls", "")}},
		Rewrites:  []Rewrite{{Kind: "SQSQueue", Field: "policy", What: rewrittenPolicy, ops: []string{"GetQueueAttributes"}, member: "Attributes.Policy", text: rewritePolicy}},
		Events:    EventFacts{Data: []string{"SendMessage", "SendMessageBatch", "ReceiveMessage", "DeleteMessage", "DeleteMessageBatch", "ChangeMessageVisibility"}},
	}
}

func (s *sqsService) Corrections() []Correction {
	return []Correction{
		{Name: "messages that are waited for", Ops: []string{"ReceiveMessage"}, Instead: s.longPoll},
		{Name: "queues rest after their deletion", Ops: []string{"CreateQueue"}, Before: s.refuseRecentQueue},
		{Name: "creating a queue again", Ops: []string{"CreateQueue"}, Before: s.createQueueAgain},
		{Name: "the policy of a queue", Ops: []string{"SetQueueAttributes"}, Before: s.noteQueuePolicy, After: s.restoreQueuePolicy},
	}
}

func (s *sqsService) Reset() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.queueRest = queueRest
}

// queueRest sets how long SQS refuses to create a queue of the name of a deleted one.
// https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_CreateQueue.html
const queueRest = time.Minute

// SetQueueRest changes how long a queue of the name of a deleted one is refused, for tests that cannot wait that long.
func (s *sqsService) SetQueueRest(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.queueRest = d
}

// refuseRecentQueue: moto creates a queue of the name of one that was just deleted.
func (s *sqsService) refuseRecentQueue(_ context.Context, x *exchange) *answer {
	s.mu.Lock()
	rest := s.queueRest
	s.mu.Unlock()
	if !s.memory.deletedWithin(x, rest) {
		return nil
	}
	return queueError(x, "QueueDeletedRecently", "You must wait 60 seconds after deleting a queue before you can create another with the same name.")
}

// createQueueAgain: moto replaces the tags of an existing queue. AWS returns a queue whose attributes are those of
// the request as it is, and refuses to create it where they differ.
func (s *sqsService) createQueueAgain(ctx context.Context, x *exchange) *answer {
	existing, got, err := s.askJSON(ctx, x, "GetQueueUrl", map[string]any{"QueueName": x.json["QueueName"]})
	if err != nil || existing.status != http.StatusOK {
		return nil
	}
	_, found, err := s.askJSON(ctx, x, "GetQueueAttributes", map[string]any{"QueueUrl": got["QueueUrl"], "AttributeNames": []string{"All"}})
	if err != nil {
		return nil
	}
	have, _ := found["Attributes"].(map[string]any)
	want, _ := x.json["Attributes"].(map[string]any)
	for name, value := range want {
		if !sameAttribute(text(value), text(have[name])) {
			return queueError(x, "QueueNameExists", "A queue already exists with the same name and a different value for attribute "+name)
		}
	}
	address, err := url.Parse(text(got["QueueUrl"]))
	if err != nil {
		return nil
	}
	address.Host = x.http.Host // as moto does for the client's own requests
	return existing.withJSON(map[string]string{"QueueUrl": address.String()})
}

// sameAttribute compares documents by their values.
func sameAttribute(a, b string) bool {
	var x, y any
	if json.Unmarshal([]byte(a), &x) == nil && json.Unmarshal([]byte(b), &y) == nil {
		return fmt.Sprint(x) == fmt.Sprint(y)
	}
	return a == b
}

// noteQueuePolicy and restoreQueuePolicy: moto drops the policy of a queue whose other attributes are set. SQS keeps
// the attributes that a request does not name.
func (s *sqsService) noteQueuePolicy(ctx context.Context, x *exchange) *answer {
	if attributes, _ := x.json["Attributes"].(map[string]any); attributes["Policy"] != nil {
		return nil
	}
	_, found, err := s.askJSON(ctx, x, "GetQueueAttributes", map[string]any{"QueueUrl": x.json["QueueUrl"], "AttributeNames": []string{"Policy"}})
	if err == nil {
		x.before = text(member(found, "Attributes.Policy"))
	}
	return nil
}

func (s *sqsService) restoreQueuePolicy(ctx context.Context, x *exchange, a *answer) *answer {
	policy, _ := x.before.(string)
	if policy == "" || !a.ok() {
		return a
	}
	restored, _, err := s.askJSON(ctx, x, "SetQueueAttributes", map[string]any{"QueueUrl": x.json["QueueUrl"], "Attributes": map[string]string{"Policy": policy}})
	if err != nil || !restored.ok() {
		return restored
	}
	return a
}

// queueError is an error of SQS, with the code that clients of its former protocol know.
func queueError(x *exchange, code, message string) *answer {
	a := errorAnswer(x.request, awsError{http.StatusBadRequest, code, message})
	former := "AWS.SimpleQueueService." + code
	if code == "QueueNameExists" {
		former = "QueueAlreadyExists"
	}
	a.header.Set("X-Amzn-Query-Error", former+";Sender")
	return a
}

// pollPause is the pause between two looks for a message.
const pollPause = 50 * time.Millisecond

// longPoll answers sqs.ReceiveMessage with a wait: while moto waits for a message, it answers no other request. The proxy asks without a wait
// until there is a message, the time is over, or the client has gone, which must not take a message with it.
func (s *sqsService) longPoll(ctx context.Context, x *exchange) *answer {
	wait, _ := x.json["WaitTimeSeconds"].(float64)
	if wait <= 0 {
		return nil
	}
	in := map[string]any{}
	for k, v := range x.json {
		in[k] = v
	}
	in["WaitTimeSeconds"] = 0
	body, err := json.Marshal(in)
	if err != nil {
		return nil
	}
	until := time.Now().Add(time.Duration(wait * float64(time.Second)))
	for {
		a, err := s.ask(ctx, x, http.MethodPost, x.http.URL.RequestURI(), http.Header{
			"X-Amz-Target": x.http.Header["X-Amz-Target"], "Content-Type": x.http.Header["Content-Type"]}, body)
		var out struct{ Messages []any }
		if err == nil {
			_ = json.Unmarshal(a.body, &out)
		}
		if err != nil || a.status != http.StatusOK || len(out.Messages) > 0 || time.Now().After(until) {
			return a
		}
		select {
		case <-x.http.Context().Done():
			return a
		case <-time.After(pollPause):
		}
	}
}

// keyOfQueue returns what the key of a queue takes for its messages.
func keyOfQueue(q *asker) []demand {
	uses := map[string][]string{"SendMessage": {"kms:GenerateDataKey", "kms:Decrypt"}, "ReceiveMessage": {"kms:Decrypt"}}[q.x.op]
	if uses == nil {
		return nil
	}
	request := map[string]any{"QueueUrl": q.x.json["QueueUrl"], "AttributeNames": []string{"KmsMasterKeyId"}}
	return throughKMS(q, "sqs", text(q.found("AmazonSQS.GetQueueAttributes", request, "Attributes.KmsMasterKeyId")), nil, uses...)
}
