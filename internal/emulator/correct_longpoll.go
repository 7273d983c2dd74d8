// SPDX-License-Identifier: Apache-2.0

package emulator

import (
	"context"
	"encoding/json"
	"net/http"
	"time"
)

// pollPause is the pause between two looks for a message.
const pollPause = 50 * time.Millisecond

// longPoll answers sqs.ReceiveMessage with a wait: while moto waits for a message, it answers no other request. The proxy asks without a wait
// until there is a message, the time is over, or the client has gone, which must not take a message with it.
func (p *Proxy) longPoll(ctx context.Context, x *exchange) *answer {
	wait, _ := x.json["WaitTimeSeconds"].(float64)
	if x.service != "sqs" || x.op != "ReceiveMessage" || wait <= 0 {
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
		a, err := p.ask(ctx, x, http.MethodPost, x.http.URL.RequestURI(), http.Header{
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
