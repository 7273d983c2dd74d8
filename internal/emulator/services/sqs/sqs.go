// SPDX-License-Identifier: Apache-2.0

// Package sqs holds the emulator's facts and corrections for Amazon SQS.
package sqs

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/nexus-operator/nexus-operator/internal/emulator/policy"
	"github.com/nexus-operator/nexus-operator/internal/emulator/proxy"
	"github.com/nexus-operator/nexus-operator/internal/emulator/services/kms"
)

// Service holds the state of queues that moto lacks.
type Service struct {
	proxy.Base
	queueRest time.Duration // how long the name of a deleted queue is refused
}

// Facts returns all that the proxy asks of the service.
func (s *Service) Facts() *proxy.Facts {
	return &proxy.Facts{
		Prefix:   "sqs",
		Requests: proxy.RequestFacts{Targets: []string{"AmazonSQS"}, Keys: []string{"QueueName", "QueueUrl"}},
		Errors: proxy.ErrorFacts{
			Missing: map[string]proxy.Error{"": {Status: http.StatusBadRequest, Code: "QueueDoesNotExist",
				Message: "The specified queue does not exist."}},
			Answer: func(_ *proxy.Request, a *proxy.Answer) *proxy.Answer {
				a.Header.Set("X-Amzn-Query-Error", "AWS.SimpleQueueService.NonExistentQueue;Sender")
				return a
			},
		},
		Writes: proxy.WriteFacts{
			Data:              []string{"SendMessage", "SendMessageBatch", "ReceiveMessage", "DeleteMessage", "DeleteMessageBatch"},
			IdempotentCreates: []string{"CreateQueue"},
			TagReads:          []proxy.TagRead{{Op: "ListQueueTags", Where: "Tags"}},
		},
		Names: map[string]proxy.NameRule{"CreateQueue": {Member: "QueueName", Min: 1, Max: 80,
			Pattern: regexp.MustCompile(`^[A-Za-z0-9_-]+(\.fifo)?$`), Code: "InvalidParameterValue"}},
		Rights: proxy.RightFacts{
			// https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-api-permissions-reference.html
			Action:  func(op string) string { return strings.TrimSuffix(op, "Batch") },
			Namings: map[string]proxy.Naming{"sqs *": {Members: []string{"@"}}},
			Dependents: []proxy.Dependent{
				proxy.Tagging("sqs:CreateQueue", "sqs:TagQueue", "sqs *"),
				{Action: "sqs:*", Needs: kms.Rights, On: keyOfQueue, Page: proxy.UsersOfKeys},
			},
		},
		Inventory: []proxy.InventoryKind{{Name: "sqs/queue", Global: false,
			List: proxy.ListJSON("sqs", "AmazonSQS.ListQueues", "QueueUrls", "")}},
		Rewrites: []proxy.Rewrite{{Kind: "SQSQueue", Field: "policy", What: proxy.RewrittenPolicy, Ops: []string{"GetQueueAttributes"},
			Member: "Attributes.Policy", Text: proxy.RewritePolicy}},
		Events: proxy.EventFacts{Data: []string{"SendMessage", "SendMessageBatch", "ReceiveMessage", "DeleteMessage", "DeleteMessageBatch",
			"ChangeMessageVisibility"}},
	}
}

// Corrections returns the deviations of moto that the service makes up for.
func (s *Service) Corrections() []proxy.Correction {
	return []proxy.Correction{
		{Name: "messages that are waited for", Ops: []string{"ReceiveMessage"}, Instead: s.longPoll},
		{Name: "queues rest after their deletion", Ops: []string{"CreateQueue"}, Before: s.refuseRecentQueue},
		{Name: "creating a queue again", Ops: []string{"CreateQueue"}, Before: s.createQueueAgain},
		{Name: "the policy of a queue", Ops: []string{"SetQueueAttributes"}, Before: s.noteQueuePolicy, After: s.restoreQueuePolicy},
	}
}

// Reset forgets the state.
func (s *Service) Reset() { s.Locked(func() { s.queueRest = queueRest }) }

// queueRest sets how long SQS refuses to create a queue of the name of a deleted one.
// https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_CreateQueue.html
const queueRest = time.Minute

// SetQueueRest changes how long a queue of the name of a deleted one is refused, for tests that cannot wait that long.
func (s *Service) SetQueueRest(d time.Duration) { s.Locked(func() { s.queueRest = d }) }

// refuseRecentQueue: moto creates a queue of the name of one that was just deleted.
func (s *Service) refuseRecentQueue(_ context.Context, x *proxy.Exchange) *proxy.Answer {
	s.Mu.Lock()
	rest := s.queueRest
	s.Mu.Unlock()
	if !s.DeletedWithin(x, rest) {
		return nil
	}
	return queueError(x, "QueueDeletedRecently",
		"You must wait 60 seconds after deleting a queue before you can create another with the same name.")
}

// createQueueAgain: moto replaces the tags of an existing queue. AWS returns an existing queue as it is if it has the attributes of the
// request, and refuses to create it if they differ.
func (s *Service) createQueueAgain(ctx context.Context, x *proxy.Exchange) *proxy.Answer {
	existing, got, err := s.AskJSON(ctx, x, "GetQueueUrl", map[string]any{"QueueName": x.JSON["QueueName"]})
	if err != nil || existing.Status != http.StatusOK {
		return nil
	}
	_, found, err := s.AskJSON(ctx, x, "GetQueueAttributes", map[string]any{"QueueUrl": got["QueueUrl"], "AttributeNames": []string{"All"}})
	if err != nil {
		return nil
	}
	have, _ := found["Attributes"].(map[string]any)
	want, _ := x.JSON["Attributes"].(map[string]any)
	for name, value := range want {
		if !sameAttribute(proxy.Text(value), proxy.Text(have[name])) {
			return queueError(x, "QueueNameExists", "A queue already exists with the same name and a different value for attribute "+name)
		}
	}
	address, err := url.Parse(proxy.Text(got["QueueUrl"]))
	if err != nil {
		return nil
	}
	address.Host = x.HTTP.Host // as moto does for the client's own requests
	return existing.WithJSON(map[string]string{"QueueUrl": address.String()})
}

// sameAttribute compares documents by their values.
func sameAttribute(a, b string) bool {
	var x, y any
	if json.Unmarshal([]byte(a), &x) == nil && json.Unmarshal([]byte(b), &y) == nil {
		return fmt.Sprint(x) == fmt.Sprint(y)
	}
	return a == b
}

// noteQueuePolicy and restoreQueuePolicy: moto drops the policy of a queue when a request sets other attributes. SQS keeps the attributes
// that a request does not name.
func (s *Service) noteQueuePolicy(ctx context.Context, x *proxy.Exchange) *proxy.Answer {
	if attributes, _ := x.JSON["Attributes"].(map[string]any); attributes["Policy"] != nil {
		return nil
	}
	_, found, err := s.AskJSON(ctx, x, "GetQueueAttributes",
		map[string]any{"QueueUrl": x.JSON["QueueUrl"], "AttributeNames": []string{"Policy"}})
	if err == nil {
		x.Before = proxy.Text(proxy.Member(found, "Attributes.Policy"))
	}
	return nil
}

func (s *Service) restoreQueuePolicy(ctx context.Context, x *proxy.Exchange, a *proxy.Answer) *proxy.Answer {
	policy, _ := x.Before.(string)
	if policy == "" || !a.OK() {
		return a
	}
	restored, _, err := s.AskJSON(ctx, x, "SetQueueAttributes",
		map[string]any{"QueueUrl": x.JSON["QueueUrl"], "Attributes": map[string]string{"Policy": policy}})
	if err != nil || !restored.OK() {
		return restored
	}
	return a
}

// queueError is an error of SQS, with the code that clients of its former protocol know.
func queueError(x *proxy.Exchange, code, message string) *proxy.Answer {
	a := x.Refuse(http.StatusBadRequest, code, message)
	former := "AWS.SimpleQueueService." + code
	if code == "QueueNameExists" {
		former = "QueueAlreadyExists"
	}
	a.Header.Set("X-Amzn-Query-Error", former+";Sender")
	return a
}

// pollPause is the pause between two looks for a message.
const pollPause = 50 * time.Millisecond

// longPoll answers sqs.ReceiveMessage with a wait: while moto waits for a message, it answers no other request. The proxy asks without a
// wait until there is a message, the time is over, or the client has gone, which must not take a message with it.
func (s *Service) longPoll(ctx context.Context, x *proxy.Exchange) *proxy.Answer {
	wait, _ := x.JSON["WaitTimeSeconds"].(float64)
	if wait <= 0 {
		return nil
	}
	in := map[string]any{}
	for k, v := range x.JSON {
		in[k] = v
	}
	in["WaitTimeSeconds"] = 0
	body, err := json.Marshal(in)
	if err != nil {
		return nil
	}
	until := time.Now().Add(time.Duration(wait * float64(time.Second)))
	for {
		a, err := s.Ask(ctx, x, http.MethodPost, x.HTTP.URL.RequestURI(), http.Header{
			"X-Amz-Target": x.HTTP.Header["X-Amz-Target"], "Content-Type": x.HTTP.Header["Content-Type"]}, body)
		var out struct{ Messages []any }
		if err == nil {
			_ = json.Unmarshal(a.Body, &out)
		}
		if err != nil || a.Status != http.StatusOK || len(out.Messages) > 0 || time.Now().After(until) {
			return a
		}
		select {
		case <-x.HTTP.Context().Done():
			return a
		case <-time.After(pollPause):
		}
	}
}

// keyOfQueue returns the rights that the key of a queue takes for its messages.
func keyOfQueue(q *proxy.Asker) []policy.Demand {
	uses := map[string][]string{"SendMessage": {"kms:GenerateDataKey", "kms:Decrypt"}, "ReceiveMessage": {"kms:Decrypt"}}[q.X.Op]
	if uses == nil {
		return nil
	}
	request := map[string]any{"QueueUrl": q.X.JSON["QueueUrl"], "AttributeNames": []string{"KmsMasterKeyId"}}
	return kms.Through(q, "sqs", proxy.Text(q.Found("AmazonSQS.GetQueueAttributes", request, "Attributes.KmsMasterKeyId")), nil, uses...)
}
