// SPDX-License-Identifier: Apache-2.0

package emulator

import (
	"context"
	"encoding/json"
	"html"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"strings"
)

// snsService holds what moto does not know of subscriptions.
type snsService struct {
	base
	pending string // protocol whose subscriptions are not confirmed
}

func (s *snsService) Facts() *Facts {
	return &Facts{
		Prefix: "sns",
		Requests: RequestFacts{Keys: []string{"TopicArn", "SubscriptionArn"}, ShortName: func(name string) string { // a subscription is a part of its topic
			name, _, _ = strings.Cut(name, ":")
			return name
		}},
		Errors: ErrorFacts{
			Missing: map[string]awsError{
				"":                    {http.StatusNotFound, "NotFound", "Topic does not exist"},
				"ListTagsForResource": {http.StatusNotFound, "ResourceNotFound", "Resource does not exist"},
			},
			Throttled: rateExceeded,
			Denied:    "AuthorizationError",
		},
		Writes: WriteFacts{Data: []string{"Publish"}, IdempotentCreates: []string{"CreateTopic"}, TagReads: []tagRead{{op: "ListTagsForResource", where: "Tags"}}},
		Names:  map[string]nameRule{"CreateTopic": {"Name", 1, 256, regexp.MustCompile(`^[A-Za-z0-9_-]+(\.fifo)?$`), "InvalidParameter"}},
		Rights: RightFacts{
			Namings: map[string]naming{"sns *": {members: []string{"TopicArn", "Name"}}},
			Dependents: []dependent{
				tagging("sns:CreateTopic", "sns:TagResource", "sns *"),
				handsSubscription("sns:Subscribe"), handsSubscription("sns:SetSubscriptionAttributes"),
				{action: "sns:CreateTopic", needs: "iam:PassRole", never: noDeliveries},
				{action: "sns:SetTopicAttributes", needs: "iam:PassRole", never: noDeliveries},
				{action: "sns:Publish", needs: "kms", on: keyOfTopic, page: usersOfKeys},
			},
		},
		Inventory: []inventoryKind{{"sns/topic", false, listXML("sns", "ListTopics", "2010-03-31", "TopicArn")}},
		Rewrites: []Rewrite{
			{Kind: "SNSTopic", Field: "subscriptions.filterPolicyScope", What: "without a filter policy there is none"},
			{Kind: "SNSTopic", Field: "policy", What: rewrittenPolicy, ops: []string{"GetTopicAttributes"}, text: inAttribute("Policy", rewritePolicy)},
			{Kind: "SNSTopic", Field: "deliveryPolicy", What: "members that were left out get their defaults", ops: []string{"GetTopicAttributes"}, text: inAttribute("DeliveryPolicy", fillDeliveryPolicy)},
			{Kind: "SNSTopic", Field: "subscriptions.endpoint", What: "the password in a URL becomes stars", isRecorded: true, ops: []string{"ListSubscriptionsByTopic"},
				text: func(body string) string { return passwordOfURL.ReplaceAllString(body, "$1:****@") }},
		},
		Unset:  map[string]string{"GetDataProtectionPolicy": `<GetDataProtectionPolicyResponse xmlns="http://sns.amazonaws.com/doc/2010-03-31/"><GetDataProtectionPolicyResult/></GetDataProtectionPolicyResponse>`},
		Events: EventFacts{Data: []string{"Publish"}},
	}
}

var (
	passwordOfURL = regexp.MustCompile(`(<Endpoint>https?://[^:/@<]+):[^@<]+@`)
	topicKey      = regexp.MustCompile(`<key>KmsMasterKeyId</key>\s*<value>([^<]*)</value>`)
)

const noDeliveries = "only for roles that log deliveries, for which there is no field"

func (s *snsService) Corrections() []Correction {
	return []Correction{
		{Name: "attributes of subscriptions that SNS refuses", Ops: []string{"Subscribe", "SetSubscriptionAttributes"}, Before: s.checkSubscription},
		{Name: "attributes of subscriptions that SNS does not show", Ops: []string{"GetSubscriptionAttributes"}, After: s.hideEmptyAttributes},
		{Name: "subscriptions wait for their confirmation", Ops: []string{"ListSubscriptionsByTopic"}, After: s.hidePendingSubscriptions},
	}
}

func (s *snsService) Reset() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pending = ""
}

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
			return "<entry><key>" + name + "</key><value>" + escape(after) + "</value></entry>"
		})
	}
}

// SetSubscriptionsPending lets subscriptions of a protocol of SNS wait for their confirmation; "" ends it.
func (s *snsService) SetSubscriptionsPending(protocol string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pending = protocol
}

var (
	listedSubscription = regexp.MustCompile(`(?s)<member>.*?</member>`)
	listedARN          = regexp.MustCompile(`<SubscriptionArn>[^<]*</SubscriptionArn>`)
)

// hidePendingSubscriptions: moto confirms every subscription at once. AWS lists a subscription that its endpoint has not
// confirmed without its ARN.
// https://docs.aws.amazon.com/sns/latest/api/API_Subscribe.html
func (s *snsService) hidePendingSubscriptions(_ context.Context, _ *exchange, a *answer) *answer {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.pending == "" || !a.ok() {
		return a
	}
	protocol := regexp.MustCompile(`<Protocol>` + regexp.QuoteMeta(s.pending) + `</Protocol>`)
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
func (s *snsService) checkSubscription(ctx context.Context, x *exchange) *answer {
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
		if value == "MessageAttributes" && isNested(s.filterPolicy(ctx, x)) {
			return refusedSubscription(x, "Filter policy scope MessageAttributes does not support nested filter policy")
		}
	}
	return nil
}

// filterPolicy returns the filter policy of the subscription of a request; empty for none.
func (s *snsService) filterPolicy(ctx context.Context, x *exchange) string {
	a, err := s.askQuery(ctx, x, "sns", "2010-03-31", url.Values{"Action": {"GetSubscriptionAttributes"}, "SubscriptionArn": {x.form.Get("SubscriptionArn")}})
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
func (s *snsService) hideEmptyAttributes(_ context.Context, _ *exchange, a *answer) *answer {
	if !a.ok() {
		return a
	}
	policy := attributeIn(a.body, "FilterPolicy")
	return a.withBody(attributeEntry.ReplaceAllFunc(a.body, func(entry []byte) []byte {
		m := attributeEntry.FindSubmatch(entry)
		name, value := string(m[1]), string(m[2])
		if value == "" || (policy == "" || policy == "{}") && (name == "FilterPolicyScope" || name == "FilterPolicy") {
			if name == "FilterPolicyScope" {
				s.meet("SNSTopic.subscriptions.filterPolicyScope")
			}
			return nil
		}
		return entry
	}))
}

// subscriptionRole is the role that a request gives to a subscription of SNS.
func subscriptionRole(q *asker) string {
	const name = "SubscriptionRoleArn"
	form := q.x.form
	if form.Get("AttributeName") == name {
		return form.Get("AttributeValue")
	}
	for key, values := range form {
		if sameMember("Attributes.entry.#.key", key) && values[0] == name {
			return form.Get(strings.TrimSuffix(key, "key") + "value")
		}
	}
	return ""
}

// keyOfTopic returns what the key of a topic takes for a message.
func keyOfTopic(q *asker) []demand {
	body, err := q.query("sns", "GetTopicAttributes", "2010-03-31", url.Values{"TopicArn": {q.x.form.Get("TopicArn")}})
	if err != nil {
		return nil
	}
	return throughKMS(q, "sns", firstMatch(topicKey, body), nil, "kms:GenerateDataKey", "kms:Decrypt")
}

// handsSubscription is the right to give SNS the role of a subscription, which a request has among attributes.
func handsSubscription(action string) dependent {
	return dependent{action: action, needs: "iam:PassRole", page: "https://docs.aws.amazon.com/sns/latest/dg/firehose-endpoints.html", on: func(q *asker) []demand {
		if role := subscriptionRole(q); role != "" {
			return []demand{passes(q, role, "sns")}
		}
		return nil
	}}
}

// fillDeliveryPolicy adds what a delivery policy leaves out.
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
