// SPDX-License-Identifier: Apache-2.0

// Package sns is the SNS kinds.
package sns

import (
	"context"
	"fmt"
	"reflect"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sns"
	"github.com/aws/aws-sdk-go-v2/service/sns/types"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/awsclient"
	"github.com/nexus-operator/nexus-operator/internal/iampolicy"
	"github.com/nexus-operator/nexus-operator/internal/kind"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// TopicState is a topic as both the spec and SNS can express it. The fields in attributes have the names and the
// values of the attributes of SNS, which are texts.
type TopicState struct {
	Name string `drift:"identity"`
	ARN  string `drift:"id"`
	// Everything is true for an export: the subscriptions of all endpoints are read.
	Everything bool `drift:"id"`

	DisplayName, KmsMasterKeyId, ContentBasedDeduplication *string //nolint:revive // names of SNS
	DeliveryPolicy, Policy                                 *string `drift:"json"`
	// Subscriptions are by protocol and endpoint; nil for one that the operator made and the spec dropped.
	Subscriptions map[string]*bool `drift:"keys"`
	// Settings are attributes of subscriptions, by name, protocol and endpoint. Those of a subscription that does
	// not exist or is not confirmed are taken for the wanted ones: Subscribe sets them.
	Settings map[string]*string `drift:"json"`
	// Endpoints holds the endpoints of the declared subscriptions by their keys, with passwords.
	Endpoints map[string]string `drift:"observed"`
	// ARNs lists the ARNs of the subscriptions, or SNS's text for a subscription that is not confirmed.
	ARNs map[string]string `drift:"observed"`
	// Declared are the keys of the subscriptions that the spec declares.
	Declared []string          `drift:"observed"`
	Tags     map[string]string `drift:"tags"`
}

// attributes are the fields of the state that are attributes of SNS. Read only.
var attributes = []string{"DisplayName", "KmsMasterKeyId", "ContentBasedDeduplication", "DeliveryPolicy", "Policy"}

type topic struct{ api *sns.Client }

// NewTopic binds the SNSTopic kind to an identity. Its IAM actions:
// https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazonsns.html
func NewTopic(cfg aws.Config) kind.Kind[*v1alpha1.SNSTopic, TopicState] {
	t := &topic{api: sns.NewFromConfig(cfg)}
	return kind.FromTable(kind.Table[*v1alpha1.SNSTopic, TopicState]{
		Meta: kind.Meta{Facts: topicFacts(), Identity: kind.ByName, NoCreationTime: true, Reads: []string{"sns:GetSubscriptionAttributes"}, References: []string{"IAMRole", "KMSKey", "SQSQueue"}},
		Identify: func(sc kind.Scope, cr *v1alpha1.SNSTopic) (TopicState, error) {
			return TopicState{Name: cr.Spec.TopicName, ARN: fmt.Sprintf("arn:%s:sns:%s:%s:%s", sc.Partition, sc.Region, sc.Account, cr.Spec.TopicName)}, nil
		},
		Declare: declare, Publish: publish, Explain: awsclient.ExplainVanished[TopicState]("SNS described the topic and answered that a part of it does not exist"),
		Export:   kind.Export[*v1alpha1.SNSTopic, TopicState]{Identity: []string{"topicName"}, Ask: askForEverything, Spec: exported, Omit: undeclarable, Separate: t.separateSettings()},
		Describe: kind.Read[TopicState]{Actions: []string{"sns:GetTopicAttributes"}, Do: t.describe},
		// SNS answers with success where a topic of the name has the attributes of the request.
		Create: kind.Call[TopicState]{Action: "sns:CreateTopic", Effect: kind.Ensures, Do: kind.Send(t.api.CreateTopic, func(want, _ TopicState) *sns.CreateTopicInput {
			return &sns.CreateTopicInput{Name: &want.Name, Attributes: creation(want), Tags: kind.SDKTags[types.Tag](want.Tags)}
		})},
		Tagging: kind.Tagging[TopicState]{
			Reads: "sns:ListTagsForResource", List: t.tags,
			Sets: "sns:TagResource", Set: kind.Send(t.api.TagResource, func(have TopicState, tags map[string]string) *sns.TagResourceInput {
				return &sns.TagResourceInput{ResourceArn: &have.ARN, Tags: kind.SDKTags[types.Tag](tags)}
			}),
			Removes: "sns:UntagResource", Remove: kind.Send(t.api.UntagResource, func(have TopicState, keys []string) *sns.UntagResourceInput {
				return &sns.UntagResourceInput{ResourceArn: &have.ARN, TagKeys: keys}
			}),
		},
		Notes: notes,
		Parts: append(t.subscriptionParts(), t.attributeParts()...),
		// SNS removes the subscriptions of a topic with it.
		Delete: []kind.Ending[TopicState]{{Call: kind.Call[TopicState]{Action: "sns:DeleteTopic", Effect: kind.Deletes, Do: kind.Send(t.api.DeleteTopic, func(_, have TopicState) *sns.DeleteTopicInput {
			return &sns.DeleteTopicInput{TopicArn: &have.ARN}
		})}}},
	})
}

// attributeParts are one for each attribute: SetTopicAttributes sets one.
func (t *topic) attributeParts() []kind.Part[TopicState] {
	var parts []kind.Part[TopicState]
	for _, name := range attributes {
		parts = append(parts, kind.Part[TopicState]{Fields: []string{name}, InCreate: true,
			Write: kind.Call[TopicState]{Action: "sns:SetTopicAttributes", Do: kind.Send(t.api.SetTopicAttributes, func(want, have TopicState) *sns.SetTopicAttributesInput {
				return &sns.SetTopicAttributesInput{TopicArn: &have.ARN, AttributeName: &name, AttributeValue: *field(&want, name)}
			})}})
	}
	return parts
}

func declare(sc kind.Scope, cr *v1alpha1.SNSTopic, s *TopicState) error {
	in := cr.Spec
	s.DisplayName, s.KmsMasterKeyId, s.DeliveryPolicy, s.Policy = in.DisplayName, in.KMSMasterKeyID, in.DeliveryPolicy, in.Policy
	if in.KMSMasterKeyRef != nil {
		target, err := sc.Ref("KMSKey", in.KMSMasterKeyRef.Name)
		if err != nil {
			return err
		}
		s.KmsMasterKeyId = &target.ARN
	}
	if in.FifoTopic { // a standard topic does not have the attribute
		s.ContentBasedDeduplication = kind.Text(in.ContentBasedDeduplication)
	}
	if in.Policy != nil {
		if _, err := iampolicy.ParseOfUser(*in.Policy); err != nil {
			return status.Invalid("spec.policy", "%v", err)
		}
	}
	if !isJSON(in.DeliveryPolicy) {
		return status.Invalid("spec.deliveryPolicy", "is not JSON")
	}
	return declareSubscriptions(sc, cr, s)
}

func publish(cr *v1alpha1.SNSTopic, s TopicState) {
	cr.Status.ARN, cr.Status.ID, cr.Status.TopicARN = s.ARN, s.Name, s.ARN
	publishSubscriptions(&cr.Status, s)
}

func (t *topic) describe(ctx context.Context, want TopicState, _ kind.Look) (kind.Seen[TopicState], error) {
	out, err := awsclient.Lookup(ctx, t.api.GetTopicAttributes, &sns.GetTopicAttributesInput{TopicArn: &want.ARN})
	if out == nil {
		return kind.Seen[TopicState]{}, err
	}
	s := TopicState{Name: want.Name, ARN: want.ARN}
	for _, name := range attributes {
		if v, ok := out.Attributes[name]; ok {
			*field(&s, name) = &v
		}
	}
	if strings.HasSuffix(want.Name, ".fifo") && s.ContentBasedDeduplication == nil { // SNS may leave out a setting that is off
		s.ContentBasedDeduplication = kind.Text(aws.Bool(false))
	}
	s.KmsMasterKeyId, s.DeliveryPolicy = kind.KMSKeyAs(want.KmsMasterKeyId, s.KmsMasterKeyId), deliveryAs(want.DeliveryPolicy, s.DeliveryPolicy)
	return kind.Seen[TopicState]{Exists: true, State: s}, nil
}

func (t *topic) tags(ctx context.Context, have TopicState) (map[string]string, error) {
	out, err := t.api.ListTagsForResource(ctx, &sns.ListTagsForResourceInput{ResourceArn: &have.ARN})
	if err != nil {
		return nil, err
	}
	return kind.TagMap(out.Tags), nil
}

// creation returns the declared attributes of a new topic, which has no need of empty ones.
func creation(want TopicState) map[string]string {
	out := map[string]string{}
	for _, name := range attributes {
		if v := aws.ToString(*field(&want, name)); v != "" {
			out[name] = v
		}
	}
	if strings.HasSuffix(want.Name, ".fifo") {
		out["FifoTopic"] = "true"
	}
	return out
}

// field returns the field of the state that is the attribute of the name.
func field(s *TopicState, name string) **string {
	return reflect.ValueOf(s).Elem().FieldByName(name).Addr().Interface().(**string)
}
