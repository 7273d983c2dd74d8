// SPDX-License-Identifier: Apache-2.0

// Package sns holds the emulator's facts and corrections for Amazon SNS.
package sns

import (
	"context"
	"encoding/json"
	"html"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"strings"

	"github.com/nexus-operator/nexus-operator/internal/emulator/policy"
	"github.com/nexus-operator/nexus-operator/internal/emulator/proxy"
	"github.com/nexus-operator/nexus-operator/internal/emulator/services/iam"
	"github.com/nexus-operator/nexus-operator/internal/emulator/services/kms"
)

// Service holds the state of subscriptions that moto lacks.
type Service struct {
	proxy.Base
	pending string // protocol of subscriptions that are not confirmed
}

// Facts returns all that the proxy asks of the service.
func (s *Service) Facts() *proxy.Facts {
	return &proxy.Facts{
		Prefix: "sns",
		// a subscription is a part of its topic
		Requests: proxy.RequestFacts{Keys: []string{"TopicArn", "SubscriptionArn"}, ShortName: func(name string) string {
			name, _, _ = strings.Cut(name, ":")
			return name
		}},
		Errors: proxy.ErrorFacts{
			Missing: map[string]proxy.Error{
				"":                    {Status: http.StatusNotFound, Code: "NotFound", Message: "Topic does not exist"},
				"ListTagsForResource": {Status: http.StatusNotFound, Code: "ResourceNotFound", Message: "Resource does not exist"},
			},
			Throttled: proxy.RateExceeded,
			Denied:    "AuthorizationError",
		},
		Writes: proxy.WriteFacts{Data: []string{"Publish"}, IdempotentCreates: []string{"CreateTopic"},
			TagReads: []proxy.TagRead{{Op: "ListTagsForResource", Where: "Tags"}}},
		Names: map[string]proxy.NameRule{"CreateTopic": {Member: "Name", Min: 1, Max: 256,
			Pattern: regexp.MustCompile(`^[A-Za-z0-9_-]+(\.fifo)?$`), Code: "InvalidParameter"}},
		Rights: proxy.RightFacts{
			Namings: map[string]proxy.Naming{"sns *": {Members: []string{"TopicArn", "Name"}}},
			Dependents: []proxy.Dependent{
				proxy.Tagging("sns:CreateTopic", "sns:TagResource", "sns *"),
				handsSubscription("sns:Subscribe"), handsSubscription("sns:SetSubscriptionAttributes"),
				{Action: "sns:CreateTopic", Needs: "iam:PassRole", Never: noDeliveries},
				{Action: "sns:SetTopicAttributes", Needs: "iam:PassRole", Never: noDeliveries},
				{Action: "sns:Publish", Needs: kms.Rights, On: keyOfTopic, Page: proxy.UsersOfKeys},
			},
		},
		Inventory: []proxy.InventoryKind{{Name: "sns/topic", Global: false, List: proxy.ListXML("sns", "ListTopics", "2010-03-31", "TopicArn")}},
		Rewrites: []proxy.Rewrite{
			{Kind: "SNSTopic", Field: "subscriptions.filterPolicyScope", What: "without a filter policy there is none"},
			{Kind: "SNSTopic", Field: "policy", What: proxy.RewrittenPolicy,
				Ops: []string{"GetTopicAttributes"}, Text: inAttribute("Policy", proxy.RewritePolicy)},
			{Kind: "SNSTopic", Field: "deliveryPolicy", What: "members that were left out get their defaults",
				Ops: []string{"GetTopicAttributes"}, Text: inAttribute("DeliveryPolicy", fillDeliveryPolicy)},
			{Kind: "SNSTopic", Field: "subscriptions.endpoint", What: "the password in a URL becomes stars", IsRecorded: true,
				Ops:  []string{"ListSubscriptionsByTopic"},
				Text: func(body string) string { return passwordOfURL.ReplaceAllString(body, "$1:****@") }},
		},
		Unset:  map[string]string{"GetDataProtectionPolicy": `<GetDataProtectionPolicyResponse xmlns="http://sns.amazonaws.com/doc/2010-03-31/"><GetDataProtectionPolicyResult/></GetDataProtectionPolicyResponse>`},
		Events: proxy.EventFacts{Data: []string{"Publish"}},
	}
}

var (
	passwordOfURL = regexp.MustCompile(`(<Endpoint>https?://[^:/@<]+):[^@<]+@`)
	topicKey      = regexp.MustCompile(`<key>KmsMasterKeyId</key>\s*<value>([^<]*)</value>`)
)

const noDeliveries = "only for roles that log deliveries, for which there is no field"

// Corrections returns the deviations of moto that the service makes up for.
func (s *Service) Corrections() []proxy.Correction {
	return []proxy.Correction{
		{Name: "attributes of subscriptions that SNS refuses",
			Ops: []string{"Subscribe", "SetSubscriptionAttributes"}, Before: s.checkSubscription},
		{Name: "attributes of subscriptions that SNS does not show", Ops: []string{"GetSubscriptionAttributes"}, After: s.hideEmptyAttributes},
		{Name: "subscriptions wait for their confirmation", Ops: []string{"ListSubscriptionsByTopic"}, After: s.hidePendingSubscriptions},
	}
}

// Reset forgets the state.
func (s *Service) Reset() { s.Locked(func() { s.pending = "" }) }

// inAttribute returns a function that rewrites one attribute in an answer.
func inAttribute(name string, rewrite func(string) string) func(string) string {
	return func(body string) string {
		return attributeEntry.ReplaceAllStringFunc(body, func(entry string) string {
			m := attributeEntry.FindStringSubmatch(entry)
			if m[1] != name || m[2] == "" {
				return entry
			}
			before := html.UnescapeString(m[2])
			after := rewrite(before)
			if after == before {
				return entry
			}
			return "<entry><key>" + name + "</key><value>" + proxy.Escape(after) + "</value></entry>"
		})
	}
}

// SetSubscriptionsPending lets subscriptions of a protocol of SNS wait for their confirmation; "" ends it.
func (s *Service) SetSubscriptionsPending(protocol string) { s.Locked(func() { s.pending = protocol }) }

var (
	listedSubscription = regexp.MustCompile(`(?s)<member>.*?</member>`)
	listedARN          = regexp.MustCompile(`<SubscriptionArn>[^<]*</SubscriptionArn>`)
)

// hidePendingSubscriptions: moto confirms every subscription at once. AWS lists a subscription that its endpoint has not
// confirmed without its ARN.
// https://docs.aws.amazon.com/sns/latest/api/API_Subscribe.html
func (s *Service) hidePendingSubscriptions(_ context.Context, _ *proxy.Exchange, a *proxy.Answer) *proxy.Answer {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	if s.pending == "" || !a.OK() {
		return a
	}
	protocol := regexp.MustCompile(`<Protocol>` + regexp.QuoteMeta(s.pending) + `</Protocol>`)
	return a.WithBody(listedSubscription.ReplaceAllFunc(a.Body, func(member []byte) []byte {
		if !protocol.Match(member) {
			return member
		}
		return listedARN.ReplaceAll(member, []byte("<SubscriptionArn>PendingConfirmation</SubscriptionArn>"))
	}))
}

// refusedSubscription is the error of SNS about an attribute of a subscription.
func refusedSubscription(x *proxy.Exchange, message string) *proxy.Answer {
	return x.Refuse(http.StatusBadRequest, "InvalidParameter", "Invalid parameter: "+message)
}

// checkSubscription: moto subscribes streams without a role, takes empty dead-letter queues and leaves policies that a new
// scope does not admit. SNS removes the dead-letter queue where a request has no value.
// https://docs.aws.amazon.com/sns/latest/api/API_Subscribe.html
func (s *Service) checkSubscription(ctx context.Context, x *proxy.Exchange) *proxy.Answer {
	if x.Op == "Subscribe" {
		if x.Form.Get("Protocol") == "firehose" && !strings.Contains(x.Form.Encode(), "SubscriptionRoleArn") {
			return refusedSubscription(x, "SubscriptionRoleArn is required for the firehose protocol")
		}
		return nil
	}
	value, isSet := x.Form.Get("AttributeValue"), x.Form.Has("AttributeValue")
	switch x.Form.Get("AttributeName") {
	case "RedrivePolicy":
		if isSet && value == "" {
			return refusedSubscription(x, "RedrivePolicy: value is not a JSON document")
		}
		if !isSet {
			x.Body = append(x.Body, "&AttributeValue="...)
		}
	case "FilterPolicyScope":
		if value == "MessageAttributes" && isNested(s.filterPolicy(ctx, x)) {
			return refusedSubscription(x, "Filter policy scope MessageAttributes does not support nested filter policy")
		}
	}
	return nil
}

// filterPolicy returns the filter policy of the subscription of a request; empty for none.
func (s *Service) filterPolicy(ctx context.Context, x *proxy.Exchange) string {
	a, err := s.AskQuery(ctx, x, "sns", "2010-03-31",
		url.Values{"Action": {"GetSubscriptionAttributes"}, "SubscriptionArn": {x.Form.Get("SubscriptionArn")}})
	if err != nil || !a.OK() {
		return ""
	}
	return attributeIn(a.Body, "FilterPolicy")
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
func (s *Service) hideEmptyAttributes(_ context.Context, _ *proxy.Exchange, a *proxy.Answer) *proxy.Answer {
	if !a.OK() {
		return a
	}
	policy := attributeIn(a.Body, "FilterPolicy")
	return a.WithBody(attributeEntry.ReplaceAllFunc(a.Body, func(entry []byte) []byte {
		m := attributeEntry.FindSubmatch(entry)
		name, value := string(m[1]), string(m[2])
		if value == "" || (policy == "" || policy == "{}") && (name == "FilterPolicyScope" || name == "FilterPolicy") {
			if name == "FilterPolicyScope" {
				s.Meet("SNSTopic.subscriptions.filterPolicyScope")
			}
			return nil
		}
		return entry
	}))
}

// subscriptionRole is the role that a request gives to a subscription of SNS.
func subscriptionRole(q *proxy.Asker) string {
	const name = "SubscriptionRoleArn"
	form := q.X.Form
	if form.Get("AttributeName") == name {
		return form.Get("AttributeValue")
	}
	for key, values := range form {
		if proxy.SameMember("Attributes.entry.#.key", key) && values[0] == name {
			return form.Get(strings.TrimSuffix(key, "key") + "value")
		}
	}
	return ""
}

// keyOfTopic returns the rights that the key of a topic takes for a message.
func keyOfTopic(q *proxy.Asker) []policy.Demand {
	body, err := q.Query("sns", "GetTopicAttributes", "2010-03-31", url.Values{"TopicArn": {q.X.Form.Get("TopicArn")}})
	if err != nil {
		return nil
	}
	return kms.Through(q, "sns", proxy.FirstMatch(topicKey, body), nil, "kms:GenerateDataKey", "kms:Decrypt")
}

// handsSubscription is the right to give SNS the role of a subscription, which a request has among attributes.
func handsSubscription(action string) proxy.Dependent {
	return proxy.Dependent{Action: action, Needs: "iam:PassRole", Page: "https://docs.aws.amazon.com/sns/latest/dg/firehose-endpoints.html",
		On: func(q *proxy.Asker) []policy.Demand {
			if role := subscriptionRole(q); role != "" {
				return []policy.Demand{iam.Passes(q, role, "sns")}
			}
			return nil
		}}
}

// fillDeliveryPolicy adds the members that a delivery policy leaves out.
// https://docs.aws.amazon.com/sns/latest/dg/sns-message-delivery-retries.html
func fillDeliveryPolicy(policy string) string {
	var document struct {
		HTTP struct {
			DefaultHealthyRetryPolicy    map[string]any `json:"defaultHealthyRetryPolicy"`
			DisableSubscriptionOverrides bool           `json:"disableSubscriptionOverrides"`
			DefaultRequestPolicy         map[string]any `json:"defaultRequestPolicy"`
			DefaultThrottlePolicy        map[string]any `json:"defaultThrottlePolicy,omitempty"`
		} `json:"http"`
	}
	if json.Unmarshal([]byte(policy), &document) != nil {
		return policy
	}
	retries := map[string]any{"minDelayTarget": 20, "maxDelayTarget": 20, "numRetries": 3, "numMaxDelayRetries": 0, "numNoDelayRetries": 0,
		"numMinDelayRetries": 0, "backoffFunction": "linear"}
	maps.Copy(retries, document.HTTP.DefaultHealthyRetryPolicy)
	requests := map[string]any{"headerContentType": "text/plain; charset=UTF-8"}
	maps.Copy(requests, document.HTTP.DefaultRequestPolicy)
	document.HTTP.DefaultHealthyRetryPolicy, document.HTTP.DefaultRequestPolicy = retries, requests
	out, err := json.Marshal(document)
	if err != nil {
		return policy
	}
	return string(out)
}
