// SPDX-License-Identifier: Apache-2.0

package emulator

import (
	"context"
	"encoding/json"
	"html"
	"net/http"
	"net/url"
	"regexp"
	"strings"
)

// SetSubscriptionsPending lets subscriptions of a protocol of SNS wait for their confirmation; "" ends it.
func (p *Proxy) SetSubscriptionsPending(protocol string) {
	p.state.mu.Lock()
	defer p.state.mu.Unlock()
	p.state.pending = protocol
}

var (
	listedSubscription = regexp.MustCompile(`(?s)<member>.*?</member>`)
	listedARN          = regexp.MustCompile(`<SubscriptionArn>[^<]*</SubscriptionArn>`)
)

// hidePendingSubscriptions: moto confirms every subscription at once. AWS lists a subscription that its endpoint has not
// confirmed without its ARN.
// https://docs.aws.amazon.com/sns/latest/api/API_Subscribe.html
func hidePendingSubscriptions(_ context.Context, p *Proxy, _ *exchange, a *answer) *answer {
	p.state.mu.Lock()
	defer p.state.mu.Unlock()
	if p.state.pending == "" || !a.ok() {
		return a
	}
	protocol := regexp.MustCompile(`<Protocol>` + regexp.QuoteMeta(p.state.pending) + `</Protocol>`)
	return a.withBody(listedSubscription.ReplaceAllFunc(a.body, func(member []byte) []byte {
		if !protocol.Match(member) {
			return member
		}
		return listedARN.ReplaceAll(member, []byte("<SubscriptionArn>PendingConfirmation</SubscriptionArn>"))
	}))
}

// refusedSubscription is the error of SNS about an attribute of a subscription.
func refusedSubscription(x *exchange, message string) *answer {
	return errorAnswer(x.request, awsError{http.StatusBadRequest, "InvalidParameter", "Invalid parameter: " + message})
}

// checkSubscription: moto subscribes streams without a role, takes empty dead-letter queues and leaves policies that a new
// scope does not admit. SNS removes the dead-letter queue where a request has no value.
// https://docs.aws.amazon.com/sns/latest/api/API_Subscribe.html
func checkSubscription(ctx context.Context, p *Proxy, x *exchange) *answer {
	if x.op == "Subscribe" {
		if x.form.Get("Protocol") == "firehose" && !strings.Contains(x.form.Encode(), "SubscriptionRoleArn") {
			return refusedSubscription(x, "SubscriptionRoleArn is required for the firehose protocol")
		}
		return nil
	}
	value, isSet := x.form.Get("AttributeValue"), x.form.Has("AttributeValue")
	switch x.form.Get("AttributeName") {
	case "RedrivePolicy":
		if isSet && value == "" {
			return refusedSubscription(x, "RedrivePolicy: value is not a JSON document")
		}
		if !isSet {
			x.body = append(x.body, "&AttributeValue="...)
		}
	case "FilterPolicyScope":
		if value == "MessageAttributes" && isNested(p.filterPolicy(ctx, x)) {
			return refusedSubscription(x, "Filter policy scope MessageAttributes does not support nested filter policy")
		}
	}
	return nil
}

// filterPolicy returns the filter policy of the subscription of a request; empty for none.
func (p *Proxy) filterPolicy(ctx context.Context, x *exchange) string {
	a, err := p.askQuery(ctx, x, "sns", "2010-03-31", url.Values{"Action": {"GetSubscriptionAttributes"}, "SubscriptionArn": {x.form.Get("SubscriptionArn")}})
	if err != nil || !a.ok() {
		return ""
	}
	return attributeIn(a.body, "FilterPolicy")
}

func isNested(policy string) bool {
	var rules map[string]any
	_ = json.Unmarshal([]byte(policy), &rules)
	for _, rule := range rules {
		if _, nested := rule.(map[string]any); nested {
			return true
		}
	}
	return false
}

var attributeEntry = regexp.MustCompile(`(?s)<entry>\s*<key>([^<]*)</key>\s*<value(?:/>|>([^<]*)</value>)\s*</entry>`)

// attributeIn returns an attribute in an answer; empty for none.
func attributeIn(body []byte, name string) string {
	for _, m := range attributeEntry.FindAllSubmatch(body, -1) {
		if string(m[1]) == name {
			return html.UnescapeString(string(m[2]))
		}
	}
	return ""
}

// hideEmptyAttributes: SNS shows no attribute that is empty, and no scope of a subscription without a filter policy, although
// it keeps it.
func hideEmptyAttributes(_ context.Context, p *Proxy, _ *exchange, a *answer) *answer {
	if !a.ok() {
		return a
	}
	policy := attributeIn(a.body, "FilterPolicy")
	return a.withBody(attributeEntry.ReplaceAllFunc(a.body, func(entry []byte) []byte {
		m := attributeEntry.FindSubmatch(entry)
		name, value := string(m[1]), string(m[2])
		if value == "" || (policy == "" || policy == "{}") && (name == "FilterPolicyScope" || name == "FilterPolicy") {
			if name == "FilterPolicyScope" {
				p.meet("SNSTopic.subscriptions.filterPolicyScope")
			}
			return nil
		}
		return entry
	}))
}
