// SPDX-License-Identifier: Apache-2.0

package messages

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	awsv1 "github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/capability/part"
	"github.com/nexus-operator/nexus-operator/internal/graph"
	"github.com/nexus-operator/nexus-operator/internal/iampolicy"
)

// Names of the topics: of their kind, step, access and purposes.
const (
	KindTopic = "SNSTopic"
	StepSNS   = "SNS"
	ofTopics  = "topics"
)

// topicNames fits the names of topics in SNS.
var topicNames = regexp.MustCompile(`^[A-Za-z0-9_-]+([.]fifo)?$`)

// existingTopics describes the ARNs of topics that exist already.
var existingTopics = part.ExistingKind{Noun: "topic", Service: "sns", Names: topicNames, Most: 256}

// Topics is spec.dataServices.topics.
func Topics() part.Part {
	return part.Part{
		Steps: []part.Step{{Name: StepSNS, Phase: nexusv1.PhaseProvisioningDataServices, Condition: nexusv1.ConditionDataServicesReady}},
		Kinds: []part.KindFacts{{
			Kind: KindTopic, Step: StepSNS, Removed: part.Removal{Stage: part.RemovesData + 30}, Grants: true, IsBilled: true,
			Refusal:  "is declared in spec.dataServices.topics",
			Existing: &existingTopics,
		}},
		Checks: []part.Turn[part.Checking]{part.At(50, func(v *part.Verdict, c *nexusv1.NexusAICapability, _ part.Facts) {
			checkTopics(v, "spec.dataServices.topics", new(part.DataOf(&c.Spec)))
		}), part.At(96, checkSubscribers)},
		Compile: []func(*part.Compiler){addTopics},
		Rights:  []part.Turn[part.Granting]{part.At(70, topicStatements)},
		Values:  topicValues,
		Entries: part.Stores[nexusv1.TopicSpec]{
			Place: 50, Field: ofTopics, EncryptedBy: "sns", At: "spec.dataServices.topics", Of: existingTopic,
			Declared: func(s *nexusv1.NexusAICapabilitySpec) []nexusv1.TopicSpec { return part.DataOf(s).Topics },
			Selected: selectedTopics,
			Set:      func(data *nexusv1.DataServicesSpec, list []nexusv1.TopicSpec) { data.Topics = list },
			Describes: func(t nexusv1.TopicSpec) map[string]bool {
				return map[string]bool{"fifo": t.FIFO, "subscribeQueues": len(t.SubscribeQueues) > 0}
			},
		}.Entries(),
	}
}

// selectedTopics returns the declared topics by name.
func selectedTopics(s *nexusv1.NexusAICapabilitySpec) []nexusv1.TopicSpec {
	return part.ByName(slices.Clone(part.DataOf(s).Topics), func(t nexusv1.TopicSpec) string { return t.Name })
}

// subscribes reports whether a queue gets the messages of a topic.
func subscribes(t nexusv1.TopicSpec, q nexusv1.QueueSpec) bool {
	return slices.Contains(t.SubscribeQueues, nexusv1.QueueName(q.Name))
}

func topicARN(k *part.Compiler, t nexusv1.TopicSpec) string {
	if e := existingTopic(t); e.Store != nil {
		return e.ARNIn(k.Home)
	}
	return k.Home.ARN("sns", messageName(k.Names, t.Name, t.FIFO))
}

// addTopics makes each topic after the queues that it sends to.
func addTopics(k *part.Compiler) {
	for _, t := range selectedTopics(k.Spec) {
		if e := existingTopic(t); e.Store != nil {
			k.Observe(e, StepSNS, "sns", &awsv1.SNSTopic{Spec: awsv1.SNSTopicSpec{TopicName: e.NameIn(),
				FifoTopic: strings.HasSuffix(e.NameIn(), fifoEnding)}})
			continue
		}
		o := &awsv1.SNSTopic{Spec: awsv1.SNSTopicSpec{
			TopicName: messageName(k.Names, t.Name, t.FIFO), FifoTopic: t.FIFO,
			DisplayName: new(""), KMSMasterKeyID: new(k.StoreKey("")),
			Policy: new(k.Document(TopicPolicy(k, t))),
		}}
		if t.FIFO {
			o.Spec.ContentBasedDeduplication = new(false)
		}
		after := k.AfterKey("")
		for _, q := range selectedQueues(k.Spec) {
			if !subscribes(t, q) {
				continue
			}
			name := k.Names.Of(q.Name)
			o.Spec.Subscriptions = append(o.Spec.Subscriptions, awsv1.SNSSubscription{Protocol: "sqs", QueueRef: &awsv1.ObjectReference{Name: name}})
			after = append(after, graph.NeedReady(kindQueue+"/"+name)...)
		}
		k.AddGrant(k.Resource(part.Child{Kind: KindTopic, Name: k.Names.Of(t.Name), Step: StepSNS, Component: "sns"}, o, after...))
	}
}

// TopicPolicy leaves the topic to the identities of its account and their policies. A new topic has such a policy, too; this one is
// declared, so that the operator reverts any other permission that people add in AWS.
// https://docs.aws.amazon.com/sns/latest/dg/sns-access-policy-language-api-permissions-reference.html
func TopicPolicy(k *part.Compiler, t nexusv1.TopicSpec) iampolicy.Statement {
	return iampolicy.Statement{Sid: "Account", Principal: iampolicy.Principals{"AWS": {k.AccountRoot()}}, Action: []string{
		"sns:AddPermission", "sns:DeleteTopic", "sns:GetTopicAttributes", "sns:ListSubscriptionsByTopic", "sns:Publish", "sns:RemovePermission",
		"sns:SetTopicAttributes", "sns:Subscribe",
	}, Resource: []string{topicARN(k, t)}}
}

// DeliveringTopics returns the ARNs of the topics that fit, by name.
func DeliveringTopics(k *part.Compiler, fits func(nexusv1.TopicSpec) bool) []string {
	var arns []string
	for _, t := range selectedTopics(k.Spec) {
		if fits(t) {
			arns = append(arns, topicARN(k, t))
		}
	}
	return arns
}

// deliveryPolicy is the access policy of a queue: the topics that it subscribes to, and no others, may send to it. Empty
// for a queue that subscribes to none.
// https://docs.aws.amazon.com/sns/latest/dg/subscribe-sqs-queue-to-sns-topic.html
func deliveryPolicy(k *part.Compiler, q nexusv1.QueueSpec) string {
	arns := DeliveringTopics(k, func(t nexusv1.TopicSpec) bool { return subscribes(t, q) })
	if len(arns) == 0 {
		return ""
	}
	return k.Document(iampolicy.Statement{Sid: "Topics", Principal: iampolicy.Principals{"Service": {"sns.amazonaws.com"}},
		Action:    []string{"sqs:SendMessage"},
		Resource:  []string{k.Home.ARN("sqs", messageName(k.Names, q.Name, q.FIFO))},
		Condition: iampolicy.Conditions{"ArnEquals": {"aws:SourceArn": arns}}})
}

// topicValues returns the settings with the ARNs of the topics.
func topicValues(k *part.Compiler) (out []part.Value) {
	for _, t := range selectedTopics(k.Spec) {
		out = append(out, part.Value{Parameter: "sns/" + t.Name + "-topic-arn",
			Variable: "NEXUS_SNS_TOPIC_ARN_" + part.EnvironmentVariable(t.Name), Text: topicARN(k, t)})
	}
	return out
}

// topicStatements allow publishing to the topics.
func topicStatements(k *part.Compiler) []iampolicy.Statement {
	var arns []string
	for _, t := range selectedTopics(k.Spec) {
		if e := existingTopic(t); e.Store != nil {
			arns = part.AppendARN(arns, k.External(e))
			continue
		}
		arns = part.AppendARN(arns, k.Owned(KindTopic+"/"+k.Names.Of(t.Name), topicARN(k, t)))
	}
	return part.WithResources(iampolicy.Statement{Sid: "Topics", Action: []string{"sns:Publish"}, Resource: arns})
}

func checkTopics(v *part.Verdict, at string, d *nexusv1.DataServicesSpec) {
	fifo := map[nexusv1.QueueName]bool{}
	for _, q := range d.Queues {
		fifo[nexusv1.QueueName(q.Name)] = q.FIFO
	}
	for i, t := range d.Topics {
		field := fmt.Sprintf("%s[%d].subscribeQueues", at, i)
		for j, q := range t.SubscribeQueues {
			at := fmt.Sprintf("%s[%d]", field, j)
			isFIFO, declared := fifo[q]
			v.Require(declared, at, "%q is none of spec.dataServices.queues: declare the queue there", q)
			v.Require(!isFIFO || t.FIFO, at, "%q is a FIFO queue, to which only a FIFO topic delivers: set fifo: true for both or for neither", q)
		}
	}
}

func existingTopic(t nexusv1.TopicSpec) part.Existing {
	return part.Existing{Kind: KindTopic, Of: &existingTopics, Purpose: t.Name, Store: t.Existing}
}

// checkSubscribers refuses queues that the capability does not own.
func checkSubscribers(v *part.Verdict, c *nexusv1.NexusAICapability, _ part.Facts) {
	d := part.DataOf(&c.Spec)
	for i, t := range d.Topics {
		for j, name := range t.SubscribeQueues {
			foreign := slices.ContainsFunc(d.Queues, func(q nexusv1.QueueSpec) bool { return q.Name == string(name) && q.Existing != nil })
			v.Require(!foreign, fmt.Sprintf("spec.dataServices.topics[%d].subscribeQueues[%d]", i, j),
				"%q exists already, and its policy, which would have to let the topic send to it, is not the operator's: subscribe it where it is managed", name)
		}
	}
}
