// SPDX-License-Identifier: Apache-2.0

package sns

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sns"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/kind"
)

// askForEverything lets the only look read the subscriptions of all endpoints, and all their attributes.
func askForEverything(want, _ *TopicState) bool {
	want.Everything = true
	return false
}

// maskedPassword is the text of SNS in place of the password of a URL. A spec with it would subscribe with a wrong one.
const maskedPassword = ":****@"

// exported declares a topic as it is, with the subscriptions that are confirmed: SNS shows no attributes of the others.
func exported(cr *v1alpha1.SNSTopic, have TopicState) {
	out := &cr.Spec
	out.FifoTopic = strings.HasSuffix(have.Name, ".fifo")
	if on, err := strconv.ParseBool(aws.ToString(have.ContentBasedDeduplication)); out.FifoTopic && err == nil {
		out.ContentBasedDeduplication = &on
	}
	out.DisplayName, out.KMSMasterKeyID = kind.NonEmpty(have.DisplayName), kind.NonEmpty(have.KmsMasterKeyId)
	out.DeliveryPolicy, out.Policy = kind.NonEmpty(have.DeliveryPolicy), kind.NonEmpty(have.Policy)
	for _, key := range kind.SortedKeys(have.Subscriptions) {
		if strings.Contains(key, maskedPassword) {
			continue
		}
		out.Subscriptions = append(out.Subscriptions, exportedSubscription(key, have))
	}
}

// undeclarable names the subscriptions that an export leaves out.
func undeclarable(have TopicState) (out []string) {
	for _, key := range kind.SortedKeys(have.Subscriptions) {
		if strings.Contains(key, maskedPassword) {
			out = append(out, "the subscription "+key+" in spec.subscriptions: SNS hides the password of the URL")
		}
	}
	return out
}

// exportedSubscription declares the attributes that were set.
func exportedSubscription(key string, have TopicState) v1alpha1.SNSSubscription {
	var out v1alpha1.SNSSubscription
	out.Protocol, out.Endpoint, _ = strings.Cut(key, " ")
	value := func(attribute string) *string {
		v := have.Settings[settingKey(attribute, key)]
		return kind.Either(v == nil || *v == unset[attribute], nil, v)
	}
	out.FilterPolicy, out.FilterPolicyScope = value(filterPolicy), value(filterScope)
	if aws.ToString(value(rawDelivery)) == "true" {
		out.RawMessageDelivery = aws.Bool(true)
	}
	out.SubscriptionRoleARN = aws.ToString(value(roleARN))
	var letters struct{ DeadLetterTargetArn string }
	if policy := value(redrive); policy != nil && json.Unmarshal([]byte(*policy), &letters) == nil {
		out.DeadLetterQueueARN = kind.Ptr(letters.DeadLetterTargetArn)
	}
	return out
}

// separateSettings are the settings of a topic that no field says, with one read for each.
func (t *topic) separateSettings() []kind.SeparateSetting[TopicState] {
	return []kind.SeparateSetting[TopicState]{
		kind.ReadSeparately(kind.ImportRead{Setting: "dataProtectionPolicy", Action: "sns:GetDataProtectionPolicy"}, t.api.GetDataProtectionPolicy,
			func(have TopicState) *sns.GetDataProtectionPolicyInput {
				return &sns.GetDataProtectionPolicyInput{ResourceArn: &have.ARN}
			},
			func(out *sns.GetDataProtectionPolicyOutput) bool { return aws.ToString(out.DataProtectionPolicy) != "" }).If(func(have TopicState) bool { return !strings.HasSuffix(have.Name, ".fifo") }),
	}
}
