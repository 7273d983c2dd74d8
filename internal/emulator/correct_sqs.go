// SPDX-License-Identifier: Apache-2.0

package emulator

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"time"
)

// queueRest sets how long SQS refuses to create a queue of the name of a deleted one.
// https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_CreateQueue.html
const queueRest = time.Minute

// SetQueueRest changes how long a queue of the name of a deleted one is refused, for tests that cannot wait that long.
func (p *Proxy) SetQueueRest(d time.Duration) {
	p.state.mu.Lock()
	defer p.state.mu.Unlock()
	p.state.queueRest = d
}

// refuseRecentQueue: moto creates a queue of the name of one that was just deleted.
func refuseRecentQueue(_ context.Context, p *Proxy, x *exchange) *answer {
	s := &p.state
	s.mu.Lock()
	defer s.mu.Unlock()
	h := s.resources[s.identity(x, x.service, x.resource)]
	if h == nil || h.exists || h.last[deleted].seq == 0 || s.now().Sub(h.last[deleted].at) >= s.queueRest {
		return nil
	}
	return queueError(x, "QueueDeletedRecently", "You must wait 60 seconds after deleting a queue before you can create another with the same name.")
}

// createQueueAgain: moto replaces the tags of an existing queue. AWS returns a queue whose attributes are those of
// the request as it is, and refuses to create it where they differ.
func createQueueAgain(ctx context.Context, p *Proxy, x *exchange) *answer {
	existing, got, err := p.askJSON(ctx, x, "GetQueueUrl", map[string]any{"QueueName": x.json["QueueName"]})
	if err != nil || existing.status != http.StatusOK {
		return nil
	}
	_, found, err := p.askJSON(ctx, x, "GetQueueAttributes", map[string]any{"QueueUrl": got["QueueUrl"], "AttributeNames": []string{"All"}})
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
func noteQueuePolicy(ctx context.Context, p *Proxy, x *exchange) *answer {
	if attributes, _ := x.json["Attributes"].(map[string]any); attributes["Policy"] != nil {
		return nil
	}
	_, found, err := p.askJSON(ctx, x, "GetQueueAttributes", map[string]any{"QueueUrl": x.json["QueueUrl"], "AttributeNames": []string{"Policy"}})
	if err == nil {
		x.policy = text(member(found, "Attributes.Policy"))
	}
	return nil
}

func restoreQueuePolicy(ctx context.Context, p *Proxy, x *exchange, a *answer) *answer {
	if x.policy == "" || !a.ok() {
		return a
	}
	restored, _, err := p.askJSON(ctx, x, "SetQueueAttributes", map[string]any{"QueueUrl": x.json["QueueUrl"], "Attributes": map[string]string{"Policy": x.policy}})
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
