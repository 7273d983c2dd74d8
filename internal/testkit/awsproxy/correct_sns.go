// SPDX-License-Identifier: Apache-2.0

package awsproxy

import (
	"context"
	"regexp"
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
