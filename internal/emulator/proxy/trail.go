// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"
)

// trailDelay is the time from a request to its event. AWS takes seconds to minutes.
const trailDelay = 300 * time.Millisecond

// trail sends an event of each write to a queue, as a rule of EventBridge does for CloudTrail.
type trail struct {
	proxy *Proxy

	mu    sync.Mutex
	queue string
	sink  func(event string)
	sent  sync.WaitGroup
}

// Trail has the proxy send an event to a queue for each request from now on that may change something and that AWS accepted, until Reset.
// The events have the form of those that CloudTrail sends through EventBridge, and are made from the requests. An empty URL ends it.
// The operations of SQS on messages cause none, as in AWS, where they are data events.
func (p *Proxy) Trail(queueURL string) {
	p.trail.mu.Lock()
	p.trail.queue, p.trail.sink = queueURL, nil
	p.trail.mu.Unlock()
	if queueURL == "" {
		p.trail.sent.Wait()
	}
}

// TrailTo is Trail with a function that gets the events, at once, instead of a queue.
func (p *Proxy) TrailTo(sink func(event string)) {
	p.trail.mu.Lock()
	defer p.trail.mu.Unlock()
	p.trail.queue, p.trail.sink = "", sink
}

// report sends the event of a request after its answer.
func (t *trail) report(x *Exchange, a *Answer) {
	t.mu.Lock()
	queue, sink := t.queue, t.sink
	if queue == "" && sink == nil || !isRecorded(x, a) {
		t.mu.Unlock()
		return
	}
	t.sent.Add(1)
	t.mu.Unlock()
	body, err := json.Marshal(t.event(x, idOfRequest(a)))
	if sink != nil && err == nil {
		sink(string(body))
	}
	if queue == "" {
		t.sent.Done()
		return
	}
	go func() {
		defer t.sent.Done()
		time.Sleep(trailDelay)
		if err == nil {
			err = t.proxy.SendMessage(context.Background(), queue, string(body))
		}
		if err != nil {
			t.proxy.ledger.Update(func() { x.call.Fault = "event lost: " + err.Error() })
		}
	}()
}

// isRecorded reports whether a request is a management event that changed something.
func isRecorded(x *Exchange, a *Answer) bool {
	return a != nil && x.call.Write && a.Status < 400 && !slices.Contains(x.facts().Events.Data, x.Op)
}

// SendMessage puts a message into a queue of the emulator. The ledger does not have it.
func (p *Proxy) SendMessage(ctx context.Context, queueURL, body string) error {
	u, err := url.Parse(queueURL)
	if err != nil {
		return err
	}
	text, err := json.Marshal(map[string]string{"QueueUrl": queueURL, "MessageBody": body})
	if err != nil {
		return err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, p.backend+"/", bytes.NewReader(text))
	if err != nil {
		return err
	}
	r.Host = u.Host
	r.Header = http.Header{"X-Amz-Target": {"AmazonSQS.SendMessage"}, "Content-Type": {"application/x-amz-json-1.0"},
		"Authorization": {scope("trail", trailRegion, "sqs")}}
	a, err := p.roundTrip(r)
	if err == nil && a.Status != http.StatusOK {
		err = fmt.Errorf("sending an event: status %d: %.300s", a.Status, a.Body)
	}
	return err
}

// trailRegion is the region of the queue of a trail.
const trailRegion = "ap-southeast-1"

// idOfRequest returns the ID of the request in an answer, and gives it one if the emulator did not. The emulator puts different ones into
// the two headers that services use, and clients of S3 read the other one. AWS has one ID for a request.
func idOfRequest(a *Answer) string {
	id := cmp.Or(a.Header.Get("X-Amz-Request-Id"), a.Header.Get("X-Amzn-Requestid"), rand.Text())
	a.Header.Set("X-Amzn-Requestid", id)
	a.Header.Set("X-Amz-Request-Id", id)
	return id
}

// event returns the event of a request:
// https://docs.aws.amazon.com/awscloudtrail/latest/userguide/cloudtrail-event-reference-record-contents.html
func (t *trail) event(x *Exchange, id string) map[string]any {
	facts := x.facts().Events
	account, region, source := t.proxy.AccountOf(x.AccessKey), cmp.Or(facts.Region, x.Region, GlobalRegion), x.Service
	if facts.Source != nil {
		source = facts.Source(x)
	}
	at := time.Now().UTC().Format(time.RFC3339)
	user := "arn:aws:iam::" + account + ":user/" + x.AccessKey
	return map[string]any{
		"version": "0", "id": rand.Text(), "detail-type": "AWS API Call via CloudTrail", "source": "aws." + x.Service,
		"account": account, "time": at, "region": region, "resources": []string{},
		"detail": map[string]any{
			"eventVersion": "1.11", "eventTime": at, "eventSource": source + ".amazonaws.com", "eventName": x.Op, "awsRegion": region,
			"userIdentity": map[string]any{"type": "IAMUser", "principalId": x.AccessKey, "arn": user, "accountId": account,
				"accessKeyId": x.AccessKey},
			"sourceIPAddress": "198.51.100.7", "userAgent": x.HTTP.UserAgent(), "requestParameters": x.parameters(), "responseElements": nil,
			"requestID": id, "eventID": rand.Text(), "readOnly": false, "eventType": "AwsApiCall", "managementEvent": true,
			"recipientAccountId": account, "eventCategory": "Management",
		},
	}
}

// parameters returns the parameters of a request as CloudTrail names them: with a small first letter.
func (x *Exchange) parameters() map[string]any {
	out := map[string]any{}
	for k, v := range x.JSON {
		out[lowerFirst(k)] = v
	}
	for k := range x.Form {
		if k != "Action" && k != "Version" {
			setIn(out, strings.Split(k, "."), x.Form.Get(k))
		}
	}
	if x.Bucket != "" {
		out["bucketName"] = x.Bucket
	}
	if x.Key != "" {
		out["key"] = x.Key
	}
	if x.Protocol == protocolREST || x.Protocol == ProtocolXML {
		out["path"] = pathParameters(x.HTTP.URL.EscapedPath())
	}
	if x.Protocol == ProtocolXML {
		out["body"] = xmlTexts(x.Body)
	}
	return out
}

// pathParameters returns the parts of a path. CloudTrail names those that are parameters.
func pathParameters(path string) []string {
	var out []string
	for part := range strings.SplitSeq(strings.Trim(path, "/"), "/") {
		if value, err := url.PathUnescape(part); err == nil {
			out = append(out, value)
		}
	}
	return out
}

func lowerFirst(s string) string { return strings.ToLower(s[:min(1, len(s))]) + s[min(1, len(s)):] }

// setIn sets a value in nested objects.
func setIn(out map[string]any, path []string, value string) {
	for _, p := range path[:len(path)-1] {
		inner, ok := out[lowerFirst(p)].(map[string]any)
		if !ok {
			inner = map[string]any{}
			out[lowerFirst(p)] = inner
		}
		out = inner
	}
	out[lowerFirst(path[len(path)-1])] = value
}

// xmlTexts returns the texts of an XML document.
func xmlTexts(body []byte) []string {
	var out []string
	for d := xml.NewDecoder(bytes.NewReader(body)); ; {
		token, err := d.Token()
		if err != nil {
			return out
		}
		if text, ok := token.(xml.CharData); ok && strings.TrimSpace(string(text)) != "" {
			out = append(out, strings.TrimSpace(string(text)))
		}
	}
}
