// SPDX-License-Identifier: Apache-2.0

package install

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"reflect"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"
	eventtypes "github.com/aws/aws-sdk-go-v2/service/eventbridge/types"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	sqstypes "github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/nexus-operator/nexus-operator/api/wellknown"
	"github.com/nexus-operator/nexus-operator/internal/awsclient"
	"github.com/nexus-operator/nexus-operator/internal/iampolicy"
)

// The patterns of the rules that fill a queue of drift events: requests that changed something, and a heartbeat a minute.
const (
	changesPattern    = `{"detail":{"errorCode":[{"exists":false}],"readOnly":[false]},"detail-type":["AWS API Call via CloudTrail","AWS Service Event via CloudTrail"]}`
	heartbeatSchedule = "rate(1 minute)"
	heartbeatSuffix   = "-heartbeat"
	targetID          = "queue"
)

// DriftEvents is a queue with CloudTrail's events of changes, and the rules that fill it, as they were found.
type DriftEvents struct {
	// QueueURL is that of the queue, and QueueARN its ARN.
	QueueURL, QueueARN string
	// Exists is false where there is no queue yet.
	Exists bool
	// Waiting is the number of messages in the queue.
	Waiting string
	// Rules are the rules of EventBridge.
	Rules []EventRule
}

// EventRule is a rule of EventBridge, as it was found.
type EventRule struct {
	ARN string `json:"arn"`
	// State is ENABLED, DISABLED or Missing.
	State string `json:"state"`
	// Sends reports whether the rule sends to the queue.
	Sends bool `json:"sends"`
}

// Events is the queue of drift events in an account, with the rules that fill it.
type Events struct{ owner owner }

// eventClients reads and changes the queue and the rules. It is no field of Events, because nexusctl would keep every method of its
// clients: see docs/design/0043.
type eventClients struct {
	owner owner
	sqs   *sqs.Client
	rules *eventbridge.Client
}

func (e *Events) open() eventClients {
	config := e.owner.session.Config
	return eventClients{owner: e.owner, sqs: sqs.NewFromConfig(config), rules: eventbridge.NewFromConfig(config)}
}

// Look looks at the queue of a name and at its rules, which have the same name, and returns the necessary changes. The error is a
// *ForeignError where the name is in use, or one of the kinds that awsclient.Explain returns.
func (e *Events) Look(ctx context.Context, name string) (*DriftEvents, []Change, error) {
	clients := e.open()
	found := &DriftEvents{QueueARN: e.owner.regionalARN("sqs", name)}
	changes, err := clients.queue(ctx, name, found)
	if err != nil {
		return nil, nil, err
	}
	for _, rule := range []*eventbridge.PutRuleInput{
		{Name: &name, EventPattern: aws.String(changesPattern), State: eventtypes.RuleStateEnabled,
			Description: aws.String("changes in AWS, for the operator's checks")},
		{Name: aws.String(name + heartbeatSuffix), ScheduleExpression: aws.String(heartbeatSchedule), State: eventtypes.RuleStateEnabled,
			Description: aws.String("shows the operator that events arrive")},
	} {
		next, err := clients.rule(ctx, rule, found)
		if err != nil {
			return nil, nil, err
		}
		changes = append(changes, next...)
	}
	return found, changes, nil
}

// queueAttributes returns the attributes that the queue is to have. Its policy lets the two rules send to it, and no other sender.
func (e eventClients) queueAttributes(name string) map[string]string {
	rule := e.owner.regionalARN("events", "rule/"+name)
	policy, _ := json.Marshal(map[string]any{"Version": "2012-10-17", "Statement": []any{map[string]any{ // maps of texts have no error
		"Sid": "NexusDriftEvents", "Effect": "Allow", "Principal": map[string]any{"Service": "events.amazonaws.com"}, "Action": "sqs:SendMessage",
		"Resource":  e.owner.regionalARN("sqs", name),
		"Condition": map[string]any{"ArnEquals": map[string]any{"aws:SourceArn": []string{rule, rule + heartbeatSuffix}}}}}})
	return map[string]string{"MessageRetentionPeriod": "345600", "VisibilityTimeout": "60", "SqsManagedSseEnabled": "true",
		"Policy": string(policy)}
}

// queue finds the changes that the queue needs.
func (e eventClients) queue(ctx context.Context, name string, found *DriftEvents) ([]Change, error) {
	want := e.queueAttributes(name)
	at, err := e.sqs.GetQueueUrl(ctx, &sqs.GetQueueUrlInput{QueueName: &name})
	if awsclient.IsNotFound(err) {
		s := e.owner.session
		found.QueueURL = "https://sqs." + s.Region + "." + wellknown.DNSSuffix(s.Partition) + "/" + s.Account + "/" + name
		return []Change{e.newQueue(found, name, want)}, nil
	}
	if err != nil {
		return nil, awsclient.ExplainOnce(err, "sqs:GetQueueUrl")
	}
	found.Exists, found.QueueURL = true, aws.ToString(at.QueueUrl)
	tags, err := e.sqs.ListQueueTags(ctx, &sqs.ListQueueTagsInput{QueueUrl: at.QueueUrl})
	if err != nil {
		return nil, awsclient.ExplainOnce(err, "sqs:ListQueueTags")
	}
	if !e.owner.isOurs(tags.Tags) {
		return nil, &ForeignError{ARN: found.QueueARN, Remedy: "choose another name with --name"}
	}
	have, err := e.sqs.GetQueueAttributes(ctx,
		&sqs.GetQueueAttributesInput{QueueUrl: at.QueueUrl, AttributeNames: []sqstypes.QueueAttributeName{sqstypes.QueueAttributeNameAll}})
	if err != nil {
		return nil, awsclient.ExplainOnce(err, "sqs:GetQueueAttributes")
	}
	found.Waiting = have.Attributes["ApproximateNumberOfMessages"]
	return e.attributes(found, have.Attributes, want)
}

// attributes finds the changes that an existing queue needs.
func (e eventClients) attributes(found *DriftEvents, have, want map[string]string) ([]Change, error) {
	differ := maps.Clone(want)
	maps.DeleteFunc(differ, func(key, value string) bool {
		return have[key] == value || key == "Policy" && iampolicy.Equal(have[key], value)
	})
	if len(differ) == 0 {
		return nil, nil
	}
	was, wants := map[string]any{}, map[string]any{}
	for key, value := range differ {
		was[key], wants[key] = have[key], value
	}
	diff, err := Diff(was, wants)
	return []Change{{Object: found.QueueARN, Action: "set the attributes of the queue of drift events", Diff: diff,
		do: func(ctx context.Context) error {
			_, err := e.sqs.SetQueueAttributes(ctx, &sqs.SetQueueAttributesInput{QueueUrl: &found.QueueURL, Attributes: differ})
			return awsclient.ExplainOnce(err, "sqs:SetQueueAttributes")
		}}}, err
}

func (e eventClients) newQueue(found *DriftEvents, name string, attributes map[string]string) Change {
	return Change{Object: found.QueueARN, Action: "create the queue of drift events", Creates: &Record{ARN: found.QueueARN},
		do: func(ctx context.Context) error {
			out, err := e.sqs.CreateQueue(ctx, &sqs.CreateQueueInput{QueueName: &name, Attributes: attributes, Tags: e.owner.tags()})
			if err != nil {
				return awsclient.ExplainOnce(err, "sqs:CreateQueue")
			}
			found.QueueURL = aws.ToString(out.QueueUrl)
			return nil
		}}
}

// rule finds the changes that a rule and its target need.
func (e eventClients) rule(ctx context.Context, want *eventbridge.PutRuleInput, found *DriftEvents) ([]Change, error) {
	name := aws.ToString(want.Name)
	seen := EventRule{ARN: e.owner.regionalARN("events", "rule/"+name), State: "Missing"}
	defer func() { found.Rules = append(found.Rules, seen) }()
	have, err := e.rules.DescribeRule(ctx, &eventbridge.DescribeRuleInput{Name: &name})
	if awsclient.IsNotFound(err) {
		return []Change{e.newRule(seen.ARN, want), e.target(seen.ARN, name, found.QueueARN)}, nil
	}
	if err != nil {
		return nil, awsclient.ExplainOnce(err, "events:DescribeRule")
	}
	tags, err := e.tagsOfRule(ctx, seen.ARN)
	if err != nil {
		return nil, awsclient.ExplainOnce(err, "events:ListTagsForResource")
	}
	if !e.owner.isOurs(tags) {
		return nil, &ForeignError{ARN: seen.ARN, Remedy: "choose another name with --name"}
	}
	seen.State = string(have.State)
	var changes []Change
	was := map[string]any{"pattern": aws.ToString(have.EventPattern), "schedule": aws.ToString(have.ScheduleExpression), "state": seen.State}
	wants := map[string]any{"pattern": aws.ToString(want.EventPattern), "schedule": aws.ToString(want.ScheduleExpression),
		"state": string(eventtypes.RuleStateEnabled)}
	if sameJSON(aws.ToString(have.EventPattern), aws.ToString(want.EventPattern)) {
		was["pattern"] = wants["pattern"]
	}
	if !maps.Equal(was, wants) {
		diff, err := Diff(was, wants)
		if err != nil {
			return nil, err
		}
		changes = append(changes, Change{Object: seen.ARN, Action: "set the rule", Diff: diff, do: func(ctx context.Context) error {
			_, err := e.rules.PutRule(ctx, want)
			return awsclient.ExplainOnce(err, "events:PutRule")
		}})
	}
	targets, err := e.targets(ctx, name)
	if err != nil {
		return nil, awsclient.ExplainOnce(err, "events:ListTargetsByRule")
	}
	if seen.Sends = targets[targetID] == found.QueueARN; !seen.Sends {
		changes = append(changes, e.target(seen.ARN, name, found.QueueARN))
	}
	return changes, nil
}

func (e eventClients) newRule(arn string, want *eventbridge.PutRuleInput) Change {
	in := *want
	for _, tag := range e.owner.iamTags() {
		in.Tags = append(in.Tags, eventtypes.Tag{Key: tag.Key, Value: tag.Value})
	}
	return Change{Object: arn, Action: "create the rule", Creates: &Record{ARN: arn}, do: func(ctx context.Context) error {
		_, err := e.rules.PutRule(ctx, &in)
		return awsclient.ExplainOnce(err, "events:PutRule")
	}}
}

// target has a rule send to the queue.
func (e eventClients) target(arn, rule, queue string) Change {
	return Change{Object: arn, Action: "send its events to " + queue, do: func(ctx context.Context) error {
		out, err := e.rules.PutTargets(ctx,
			&eventbridge.PutTargetsInput{Rule: &rule, Targets: []eventtypes.Target{{Id: aws.String(targetID), Arn: &queue}}})
		if err == nil && out.FailedEntryCount > 0 {
			return &ForeignError{ARN: arn, Remedy: "EventBridge refused its target: " + aws.ToString(out.FailedEntries[0].ErrorMessage)}
		}
		return awsclient.ExplainOnce(err, "events:PutTargets")
	}}
}

// targets returns the ARNs of the targets of a rule by their IDs: a rule has five at most, which fit a page.
func (e eventClients) targets(ctx context.Context, rule string) (map[string]string, error) {
	out, err := e.rules.ListTargetsByRule(ctx, &eventbridge.ListTargetsByRuleInput{Rule: &rule})
	if err != nil {
		return nil, err
	}
	targets := map[string]string{}
	for _, t := range out.Targets {
		targets[aws.ToString(t.Id)] = aws.ToString(t.Arn)
	}
	return targets, nil
}

func (e eventClients) tagsOfRule(ctx context.Context, arn string) (map[string]string, error) {
	out, err := e.rules.ListTagsForResource(ctx, &eventbridge.ListTagsForResourceInput{ResourceARN: &arn})
	if err != nil {
		return nil, err
	}
	tags := map[string]string{}
	for _, t := range out.Tags {
		tags[aws.ToString(t.Key)] = aws.ToString(t.Value)
	}
	return tags, nil
}

// removeQueue deletes the queue of drift events with its messages.
func (e *Events) removeQueue(ctx context.Context, record Record, name string) ([]Change, error) {
	clients, url, tags := e.open(), "", map[string]string(nil)
	at, err := clients.sqs.GetQueueUrl(ctx, &sqs.GetQueueUrlInput{QueueName: &name})
	if err == nil {
		url = aws.ToString(at.QueueUrl)
		var out *sqs.ListQueueTagsOutput
		if out, err = clients.sqs.ListQueueTags(ctx, &sqs.ListQueueTagsInput{QueueUrl: &url}); err == nil {
			tags = out.Tags
		}
	}
	return e.owner.judge(record, tags, err, func() ([]Change, error) {
		return []Change{removal(record, "delete the queue of drift events with its messages", func(ctx context.Context) error {
			_, err := clients.sqs.DeleteQueue(ctx, &sqs.DeleteQueueInput{QueueUrl: &url})
			return unlessGone(err, "sqs:DeleteQueue")
		})}, nil
	})
}

// removeRule deletes a rule after its targets, without which EventBridge deletes none.
func (e *Events) removeRule(ctx context.Context, record Record, name string) ([]Change, error) {
	clients, tags := e.open(), map[string]string(nil)
	_, err := clients.rules.DescribeRule(ctx, &eventbridge.DescribeRuleInput{Name: &name})
	if err == nil {
		tags, err = clients.tagsOfRule(ctx, record.ARN)
	}
	return e.owner.judge(record, tags, err, func() ([]Change, error) {
		return []Change{removal(record, "delete the rule with its targets", func(ctx context.Context) error {
			return clients.deleteRule(ctx, name)
		})}, nil
	})
}

func (e eventClients) deleteRule(ctx context.Context, name string) error {
	targets, err := e.targets(ctx, name)
	if err != nil {
		return unlessGone(err, "events:ListTargetsByRule")
	}
	if len(targets) > 0 {
		in := &eventbridge.RemoveTargetsInput{Rule: &name}
		for id := range targets {
			in.Ids = append(in.Ids, id)
		}
		if _, err := e.rules.RemoveTargets(ctx, in); err != nil {
			return unlessGone(err, "events:RemoveTargets")
		}
	}
	_, err = e.rules.DeleteRule(ctx, &eventbridge.DeleteRuleInput{Name: &name})
	return unlessGone(err, "events:DeleteRule")
}

// sameJSON reports whether two documents are equal but for their order and spaces.
func sameJSON(a, b string) bool {
	var x, y any
	err := cmp.Or(json.Unmarshal([]byte(a), &x), json.Unmarshal([]byte(b), &y))
	return a == b || err == nil && reflect.DeepEqual(x, y)
}
