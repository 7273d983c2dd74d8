// SPDX-License-Identifier: Apache-2.0

package s3

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/smithy-go"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/awsclient"
	"github.com/nexus-operator/nexus-operator/internal/kind"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// Notification says which events S3 sends to a queue, a topic or a function.
type Notification struct {
	TargetARN      string
	Events         []string
	Prefix, Suffix string
}

// declaredTarget says where an element of a list in the spec sends its events.
type declaredTarget struct {
	events v1alpha1.S3NotificationEvents
	arn    string
	ref    *v1alpha1.ObjectReference
}

func declareNotification(sc kind.Scope, in *v1alpha1.S3Notification, s *BucketState) (err error) {
	if in == nil {
		return nil
	}
	s.EventBridge = in.EventBridge
	if s.Queues, err = notifications(sc, "SQSQueue", in.Queues, func(n v1alpha1.S3QueueNotification) declaredTarget {
		return declaredTarget{n.S3NotificationEvents, n.QueueARN, n.QueueRef}
	}); err != nil {
		return err
	}
	if s.Topics, err = notifications(sc, "SNSTopic", in.Topics, func(n v1alpha1.S3TopicNotification) declaredTarget {
		return declaredTarget{n.S3NotificationEvents, n.TopicARN, n.TopicRef}
	}); err != nil {
		return err
	}
	s.Functions, err = notifications(sc, "", in.LambdaFunctions, func(n v1alpha1.S3LambdaFunctionNotification) declaredTarget {
		return declaredTarget{n.S3NotificationEvents, n.LambdaFunctionARN, nil}
	})
	return err
}

// notifications returns the elements of a list by their IDs; nil when the list is not managed.
func notifications[T any](sc kind.Scope, kindName string, list *[]T, target func(T) declaredTarget) (map[string]Notification, error) {
	if list == nil {
		return nil, nil
	}
	out := make(map[string]Notification, len(*list))
	for _, element := range *list {
		t := target(element)
		if _, taken := out[t.events.ID]; taken {
			return nil, status.Invalid("spec.notification", "two notifications have the id %s", t.events.ID)
		}
		if t.ref != nil {
			found, err := sc.Ref(kindName, t.ref.Name)
			if err != nil {
				return nil, err
			}
			t.arn = found.ARN
		}
		out[t.events.ID] = Notification{t.arn, t.events.Events, t.events.FilterPrefix, t.events.FilterSuffix}
	}
	return out, nil
}

// configuration has the members of the three types of the SDK, which differ in the name of the ARN.
type configuration struct {
	Id                                    *string //nolint:revive // the name of the SDK
	QueueArn, TopicArn, LambdaFunctionArn *string
	Events                                []types.Event
	Filter                                *types.NotificationConfigurationFilter
}

// configurations returns notifications in a type of the SDK.
func configurations[T any](all map[string]Notification) []T {
	var out []T
	for _, id := range kind.SortedKeys(all) {
		n := all[id]
		c := configuration{Id: &id, QueueArn: &n.TargetARN, TopicArn: &n.TargetARN, LambdaFunctionArn: &n.TargetARN, Events: kind.Convert[[]types.Event](n.Events)}
		var rules []types.FilterRule
		for name, value := range map[types.FilterRuleName]string{types.FilterRuleNamePrefix: n.Prefix, types.FilterRuleNameSuffix: n.Suffix} {
			if value != "" {
				rules = append(rules, types.FilterRule{Name: name, Value: &value})
			}
		}
		if len(rules) > 0 {
			c.Filter = &types.NotificationConfigurationFilter{Key: &types.S3KeyFilter{FilterRules: rules}}
		}
		out = append(out, kind.Convert[T](c))
	}
	return out
}

// byID returns the notifications that S3 has, of one type of the SDK. S3 writes the names of filter rules with a capital;
// found gets them in the form of a request, so that it can be sent back.
func byID[T any](found []T) map[string]Notification {
	out := make(map[string]Notification, len(found))
	for _, f := range found {
		c := kind.Convert[configuration](f)
		n := Notification{TargetARN: aws.ToString(cmp.Or(c.QueueArn, c.TopicArn, c.LambdaFunctionArn)), Events: kind.Convert[[]string](c.Events)}
		rules := kind.NonNil(kind.NonNil(c.Filter).Key).FilterRules
		for i, rule := range rules {
			rules[i].Name = types.FilterRuleName(strings.ToLower(string(rule.Name)))
			*kind.Either(rules[i].Name == types.FilterRuleNamePrefix, &n.Prefix, &n.Suffix) = aws.ToString(rule.Value)
		}
		out[aws.ToString(c.Id)] = n
	}
	return out
}

func fromNotification(out *s3.GetBucketNotificationConfigurationOutput, _ BucketState, have *BucketState) {
	have.FoundNotification, have.EventBridge = *out, kind.Ptr(out.EventBridgeConfiguration != nil)
	have.Queues, have.Topics, have.Functions = byID(out.QueueConfigurations), byID(out.TopicConfigurations), byID(out.LambdaFunctionConfigurations)
}

// toNotification keeps undeclared settings: the request replaces everything.
func toNotification(want BucketState, found s3.GetBucketNotificationConfigurationOutput) *types.NotificationConfiguration {
	out := &types.NotificationConfiguration{EventBridgeConfiguration: found.EventBridgeConfiguration, QueueConfigurations: found.QueueConfigurations,
		TopicConfigurations: found.TopicConfigurations, LambdaFunctionConfigurations: found.LambdaFunctionConfigurations}
	if want.EventBridge != nil {
		out.EventBridgeConfiguration = kind.Either(*want.EventBridge, kind.NonNil(found.EventBridgeConfiguration), nil)
	}
	if want.Queues != nil {
		out.QueueConfigurations = configurations[types.QueueConfiguration](want.Queues)
	}
	if want.Topics != nil {
		out.TopicConfigurations = configurations[types.TopicConfiguration](want.Topics)
	}
	if want.Functions != nil {
		out.LambdaFunctionConfigurations = configurations[types.LambdaFunctionConfiguration](want.Functions)
	}
	return out
}

// explainTargets adds to S3's refusal, which names no target, the rights that the policies of the targets must allow.
// https://docs.aws.amazon.com/AmazonS3/latest/userguide/grant-destinations-permissions-to-s3.html
func explainTargets(err error, want BucketState) error {
	f := awsclient.Classify(err)
	if call, ok := errors.AsType[*smithy.OperationError](err); ok && f.Class == awsclient.Propagating {
		call.Err = &smithy.GenericAPIError{Code: f.Code, Message: f.Message + ": with aws:SourceArn " + want.ARN + ", s3.amazonaws.com needs " + neededRights(want)}
	}
	return err
}

func neededRights(want BucketState) string {
	var out []string
	for _, of := range []struct {
		action string
		all    map[string]Notification
	}{{"sqs:SendMessage", want.Queues}, {"sns:Publish", want.Topics}, {"lambda:InvokeFunction", want.Functions}} {
		var arns []string
		for _, id := range kind.SortedKeys(of.all) {
			arns = append(arns, of.all[id].TargetARN)
		}
		slices.Sort(arns)
		if arns = slices.Compact(arns); len(arns) > 0 {
			out = append(out, of.action+" in the policy of "+strings.Join(arns, " and "))
		}
	}
	return strings.Join(out, ", ")
}
