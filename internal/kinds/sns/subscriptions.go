// SPDX-License-Identifier: Apache-2.0

package sns

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sns"
	"github.com/aws/aws-sdk-go-v2/service/sns/types"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/kind"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// The attributes of a subscription, and their values where none was set.
const (
	filterPolicy = "FilterPolicy"
	filterScope  = "FilterPolicyScope"
	rawDelivery  = "RawMessageDelivery"
	redrive      = "RedrivePolicy"
	roleARN      = "SubscriptionRoleArn"
)

var unset = map[string]string{filterPolicy: "{}", filterScope: inAttributes, rawDelivery: "false", redrive: "", roleARN: ""}

// inAttributes is the scope of a filter policy that looks at the attributes of messages.
const inAttributes = "MessageAttributes"

// keyOf is the key of a subscription: no two of a topic have the same. It has stars in the place of the password of a URL, as SNS shows
// the endpoint, so that a declared subscription is found again and no status or message holds the password.
func keyOf(protocol, endpoint string) string { return masked(protocol + " " + endpoint) }

// masked hides the password of the URL in a key.
func masked(key string) string { return passwordOfURL.ReplaceAllString(key, "$1"+maskedPassword) }

var passwordOfURL = regexp.MustCompile(`^(https?\s+https?://[^:/@]*):[^/]*@`)

// settingKey is the key of an attribute of a subscription.
func settingKey(attribute, subscription string) string { return attribute + " " + subscription }

// subscriptionParts make and remove subscriptions, and set their attributes.
func (t *topic) subscriptionParts() []kind.Part[TopicState] {
	later := func(TopicState) bool { return true } // a new subscription gets them from Subscribe
	set := kind.KeyCall[TopicState]{Action: "sns:SetSubscriptionAttributes", Do: t.set}
	return []kind.Part[TopicState]{
		{Fields: []string{"Subscriptions"}, Reads: "sns:ListSubscriptionsByTopic", Read: t.subscriptions,
			Each: &kind.Each[TopicState]{Set: kind.KeyCall[TopicState]{Action: "sns:Subscribe", Do: t.subscribe}, Unset: kind.KeyCall[TopicState]{Action: "sns:Unsubscribe", Do: t.unsubscribe}}},
		{Fields: []string{"Settings"}, Default: later, Each: &kind.Each[TopicState]{Set: set, Stage: stageOfSetting}},
	}
}

// stageOfSetting sets the scope before the filter policy where it becomes MessageBody, and after it where it becomes
// MessageAttributes: SNS checks each against the other, and only policies for bodies may be nested.
func stageOfSetting(want TopicState, key string) int {
	switch {
	case !strings.HasPrefix(key, settingKey(filterScope, "")):
		return 1
	case aws.ToString(want.Settings[key]) == inAttributes:
		return 2
	default:
		return 0
	}
}

// declareSubscriptions adds the subscriptions of the spec, and as nil those that the operator made before.
func declareSubscriptions(sc kind.Scope, cr *v1alpha1.SNSTopic, s *TopicState) error {
	recorded := slices.Concat(cr.Status.ManagedSubscriptions, sc.Keys["Subscriptions"])
	if len(recorded)+len(cr.Spec.Subscriptions) == 0 {
		return nil
	}
	s.Subscriptions, s.Settings, s.Endpoints = map[string]*bool{}, map[string]*string{}, map[string]string{}
	for _, key := range recorded {
		s.Subscriptions[masked(key)] = nil
	}
	for i, in := range cr.Spec.Subscriptions {
		path := fmt.Sprintf("spec.subscriptions[%d]", i)
		endpoint, err := arnOf(sc, &in.Endpoint, in.QueueRef)
		if err != nil {
			return err
		}
		key := keyOf(in.Protocol, *endpoint)
		if s.Subscriptions[key] != nil {
			return status.Invalid(path, "repeats an endpoint of the list; declare each once")
		}
		if strings.Contains(*endpoint, maskedPassword) {
			return status.Invalid(path+".endpoint", "has stars in the place of the password, as SNS shows it; write the password")
		}
		s.Subscriptions[key], s.Endpoints[key] = aws.Bool(true), *endpoint
		if err := declareSettings(sc, in, path, key, s); err != nil {
			return err
		}
	}
	return nil
}

func declareSettings(sc kind.Scope, in v1alpha1.SNSSubscription, path, key string, s *TopicState) error {
	if !isJSON(in.FilterPolicy) {
		return status.Invalid(path+".filterPolicy", "is not JSON")
	}
	target, err := arnOf(sc, in.DeadLetterQueueARN, in.DeadLetterQueueRef)
	if err != nil {
		return err
	}
	if target != nil && *target != "" {
		target = aws.String(fmt.Sprintf(`{"deadLetterTargetArn":%q}`, *target))
	}
	role, err := subscriptionRole(sc, in, path)
	if err != nil {
		return err
	}
	scope, err := declaredScope(in, path)
	if err != nil {
		return err
	}
	for attribute, value := range map[string]*string{filterPolicy: in.FilterPolicy, filterScope: scope, rawDelivery: kind.Text(in.RawMessageDelivery), redrive: target, roleARN: role} {
		if value != nil {
			s.Settings[settingKey(attribute, key)] = kind.Either(*value == "", kind.Ptr(unset[attribute]), value)
		}
	}
	return nil
}

// declaredScope returns nil where there is no filter policy: SNS keeps the scope then and does not show it.
func declaredScope(in v1alpha1.SNSSubscription, path string) (*string, error) {
	if in.FilterPolicyScope != nil && in.FilterPolicy == nil {
		return nil, status.Invalid(path+".filterPolicyScope", "needs filterPolicy: SNS shows no scope of a subscription without a filter policy")
	}
	var policy map[string]any
	_ = json.Unmarshal([]byte(aws.ToString(in.FilterPolicy)), &policy) // it is empty or was checked
	return kind.Either(len(policy) == 0, nil, in.FilterPolicyScope), nil
}

// subscriptionRole returns the role of a stream's subscription.
func subscriptionRole(sc kind.Scope, in v1alpha1.SNSSubscription, path string) (*string, error) {
	if why := kind.WhyNotPassed(sc, in.SubscriptionRoleARN); why != "" {
		return nil, &status.Stalled{Reason: status.ReasonNotPermitted, Field: path + ".subscriptionRoleArn",
			Message: why + ": name an IAMRole of this namespace in subscriptionRoleRef"}
	}
	if in.SubscriptionRoleRef == nil {
		return kind.NonEmpty(&in.SubscriptionRoleARN), nil
	}
	target, err := sc.Ref("IAMRole", in.SubscriptionRoleRef.Name)
	return &target.ARN, err
}

// arnOf returns the ARN of the SQSQueue that is referred to, and otherwise the literal.
func arnOf(sc kind.Scope, literal *string, ref *v1alpha1.ObjectReference) (*string, error) {
	if ref == nil {
		return literal, nil
	}
	target, err := sc.Ref("SQSQueue", ref.Name)
	return &target.ARN, err
}

func isJSON(text *string) bool {
	return aws.ToString(text) == "" || json.Valid([]byte(*text))
}

// subscriptions reads the subscriptions that are declared or recorded, or all of them, and the attributes of the confirmed ones.
func (t *topic) subscriptions(ctx context.Context, want TopicState, have *TopicState) error {
	have.Subscriptions, have.ARNs, have.Settings = map[string]*bool{}, map[string]string{}, map[string]*string{}
	in := &sns.ListSubscriptionsByTopicInput{TopicArn: &have.ARN}
	all, err := kind.Pages(ctx, t.api.ListSubscriptionsByTopic, in, &in.NextToken, func(out *sns.ListSubscriptionsByTopicOutput) ([]types.Subscription, *string) {
		return out.Subscriptions, out.NextToken
	})
	if err != nil {
		return err
	}
	for _, s := range all {
		key, arn := keyOf(aws.ToString(s.Protocol), aws.ToString(s.Endpoint)), aws.ToString(s.SubscriptionArn)
		wanted, ours := want.Subscriptions[key]
		// one that is not confirmed cannot be removed, and ends after two days
		if (ours || want.Everything) && (wanted != nil || isConfirmed(arn)) {
			have.Subscriptions[key], have.ARNs[key] = aws.Bool(true), arn
		}
	}
	have.Declared = slices.DeleteFunc(kind.SortedKeys(want.Subscriptions), func(key string) bool { return want.Subscriptions[key] == nil })
	for _, key := range kind.Either(want.Everything, kind.SortedKeys(have.Subscriptions), have.Declared) {
		if err := t.settings(ctx, want, have, key); err != nil {
			return err
		}
	}
	return nil
}

// isConfirmed distinguishes an ARN from PendingConfirmation and Deleted.
func isConfirmed(arn string) bool { return strings.HasPrefix(arn, "arn:") }

// settings reads the declared attributes of a subscription, or all of them.
func (t *topic) settings(ctx context.Context, want TopicState, have *TopicState, key string) error {
	var found map[string]string
	for _, attribute := range kind.SortedKeys(unset) {
		wanted := want.Settings[settingKey(attribute, key)]
		if wanted == nil && !want.Everything {
			continue
		}
		if isConfirmed(have.ARNs[key]) {
			if found == nil {
				out, err := t.api.GetSubscriptionAttributes(ctx, &sns.GetSubscriptionAttributesInput{SubscriptionArn: kind.Ptr(have.ARNs[key])})
				if err != nil {
					return err
				}
				found = kind.NonNil(out).Attributes
			}
			value, ok := found[attribute]
			wanted = kind.Ptr(kind.Either(ok, value, unset[attribute]))
		}
		have.Settings[settingKey(attribute, key)] = wanted
	}
	return nil
}

func (t *topic) subscribe(ctx context.Context, want, have TopicState, key string) error {
	protocol, _, _ := strings.Cut(key, " ")
	endpoint := want.Endpoints[key]
	in := &sns.SubscribeInput{TopicArn: &want.ARN, Protocol: &protocol, Endpoint: &endpoint, Attributes: map[string]string{}}
	for attribute, none := range unset {
		if v := want.Settings[settingKey(attribute, key)]; v != nil && *v != none {
			in.Attributes[attribute] = *v
		}
	}
	_, err := t.api.Subscribe(ctx, in)
	return err
}

func (t *topic) unsubscribe(ctx context.Context, _, have TopicState, key string) error {
	_, err := t.api.Unsubscribe(ctx, &sns.UnsubscribeInput{SubscriptionArn: kind.Ptr(have.ARNs[key])})
	return err
}

// set leaves out an empty value, which removes the setting: SNS refuses an empty dead-letter queue.
func (t *topic) set(ctx context.Context, want, have TopicState, key string) error {
	attribute, subscription, _ := strings.Cut(key, " ")
	_, err := t.api.SetSubscriptionAttributes(ctx, &sns.SetSubscriptionAttributesInput{
		SubscriptionArn: kind.Ptr(have.ARNs[subscription]), AttributeName: &attribute, AttributeValue: kind.NonEmpty(want.Settings[key])})
	return err
}

// notes reports the subscriptions that wait for their endpoints. SNS deletes them after two days.
// https://docs.aws.amazon.com/sns/latest/dg/SendMessageToHttp.confirm.html
func notes(want, have TopicState) []kind.Note {
	if len(want.Subscriptions) == 0 || have.Subscriptions == nil {
		return nil
	}
	var pending []string
	for _, key := range have.Declared {
		if arn := have.ARNs[key]; arn != "" && !isConfirmed(arn) {
			pending = append(pending, key)
		}
	}
	n := len(pending)
	if n == 0 {
		return []kind.Note{{Type: v1alpha1.ConditionSubscriptionsConfirmed, Reason: status.ReasonReady, True: true, Message: "every declared subscription is confirmed"}}
	}
	return []kind.Note{{Type: v1alpha1.ConditionSubscriptionsConfirmed, Reason: status.ReasonWaiting, Recheck: true, Message: fmt.Sprintf(
		"%d of %d subscriptions wait until their endpoints confirm them (%s): confirm them, or remove them from subscriptions; "+
			"SNS deletes them after two days, and the operator then subscribes again, with another message to the endpoint",
		n, len(have.Declared), strings.Join(pending[:min(n, 5)], ", ")+kind.Either(n > 5, ", …", ""))}}
}

// publishSubscriptions records the subscriptions that the operator made, so that they are removed when the spec
// drops them. A look that did not read them changes nothing.
func publishSubscriptions(st *v1alpha1.SNSTopicStatus, s TopicState) {
	if s.Subscriptions == nil {
		return
	}
	managed := slices.Sorted(slices.Values(slices.Concat(kind.SortedKeys(s.Subscriptions), s.Declared)))
	st.ManagedSubscriptions, st.SubscriptionARNs, st.SubscriptionsPending = slices.Compact(managed), nil, 0
	for _, key := range s.Declared {
		switch arn := s.ARNs[key]; {
		case isConfirmed(arn):
			st.SubscriptionARNs = append(st.SubscriptionARNs, arn)
		case arn != "":
			st.SubscriptionsPending++
		}
	}
	st.SubscriptionsConfirmed = int32(len(st.SubscriptionARNs))
}
