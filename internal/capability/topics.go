// SPDX-License-Identifier: Apache-2.0

package capability

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	awsv1 "github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/graph"
	"github.com/nexus-operator/nexus-operator/internal/iampolicy"
)

// Names of the topics: of their kind, step, access and purposes.
const (
	kindTopic       = "SNSTopic"
	StepSNS         = "SNS"
	ofTopics        = "topics"
	maxTopicPurpose = 40
)

// topicNames fits the names of topics in SNS.
var topicNames = regexp.MustCompile(`^[A-Za-z0-9_-]+([.]fifo)?$`)

// existingTopics describes the ARNs of topics that exist already.
var existingTopics = existingKind{noun: "topic", service: "sns", names: topicNames, most: 256}

// topicsPart is spec.dataServices.topics.
func topicsPart() part {
	return part{
		steps: []Step{{0, StepSNS, nexusv1.PhaseProvisioningDataServices, nexusv1.ConditionDataServicesReady}},
		kinds: []kindFacts{{
			kind: kindTopic, step: StepSNS, removed: removal{stage: removesData + 30}, grants: true, isBilled: true,
			refusal:  "is declared in spec.dataServices.topics",
			existing: &existingTopics,
		}},
		checks: []turn[checking]{at(50, func(v *verdict, c *nexusv1.NexusAICapability, _ Facts) {
			checkTopics(v, "spec.dataServices.topics", new(dataOf(&c.Spec)))
		}), at(96, checkSubscribers)},
		compile: []func(*compiler){addTopics},
		rights:  []turn[granting]{at(70, topicStatements)},
		values:  topicValues,
		entries: stores[nexusv1.TopicSpec]{
			place: 50, field: ofTopics, encryptedBy: "sns", at: "spec.dataServices.topics", of: existingTopic,
			declared: func(s *nexusv1.NexusAICapabilitySpec) []nexusv1.TopicSpec { return dataOf(s).Topics },
			selected: selectedTopics,
			set:      func(data *nexusv1.DataServicesSpec, list []nexusv1.TopicSpec) { data.Topics = list },
			describes: func(t nexusv1.TopicSpec) map[string]bool {
				return map[string]bool{"fifo": t.FIFO, "subscribeQueues": len(t.SubscribeQueues) > 0}
			},
		}.entries(),
	}
}

// selectedTopics returns the declared topics by name.
func selectedTopics(s *nexusv1.NexusAICapabilitySpec) []nexusv1.TopicSpec {
	return byName(slices.Clone(dataOf(s).Topics), func(t nexusv1.TopicSpec) string { return t.Name })
}

// subscribes reports whether a queue gets the messages of a topic.
func subscribes(t nexusv1.TopicSpec, q nexusv1.QueueSpec) bool {
	return slices.Contains(t.SubscribeQueues, nexusv1.QueueName(q.Name))
}

func topicARN(k *compiler, t nexusv1.TopicSpec) string {
	if e := existingTopic(t); e.store != nil {
		return e.arnIn(k.home)
	}
	return k.home.arn("sns", messageName(k.names, t.Name, t.FIFO))
}

// addTopics makes each topic after the queues that it sends to.
func addTopics(k *compiler) {
	for _, t := range selectedTopics(k.spec) {
		if e := existingTopic(t); e.store != nil {
			k.observe(e, StepSNS, "sns", &awsv1.SNSTopic{Spec: awsv1.SNSTopicSpec{TopicName: e.nameIn(), FifoTopic: strings.HasSuffix(e.nameIn(), fifoEnding)}})
			continue
		}
		o := &awsv1.SNSTopic{Spec: awsv1.SNSTopicSpec{
			TopicName: messageName(k.names, t.Name, t.FIFO), FifoTopic: t.FIFO,
			DisplayName: new(""), KMSMasterKeyID: new(k.storeKey("")),
			Policy: new(k.document(topicPolicy(k, t))),
		}}
		if t.FIFO {
			o.Spec.ContentBasedDeduplication = new(false)
		}
		after := k.afterKey("")
		for _, q := range selectedQueues(k.spec) {
			if !subscribes(t, q) {
				continue
			}
			name := k.names.Of(q.Name)
			o.Spec.Subscriptions = append(o.Spec.Subscriptions, awsv1.SNSSubscription{Protocol: "sqs", QueueRef: &awsv1.ObjectReference{Name: name}})
			after = append(after, graph.NeedReady(kindQueue+"/"+name)...)
		}
		k.addGrant(k.resource(child{kindTopic, k.names.Of(t.Name), StepSNS, "sns"}, o, after...))
	}
}

// topicPolicy leaves the topic to the identities of its account and their policies. A new topic has such a policy, too;
// this one is declared, so that what else people allow in AWS is taken back.
// https://docs.aws.amazon.com/sns/latest/dg/sns-access-policy-language-api-permissions-reference.html
func topicPolicy(k *compiler, t nexusv1.TopicSpec) iampolicy.Statement {
	return iampolicy.Statement{Sid: "Account", Principal: iampolicy.Principals{"AWS": {k.accountRoot()}}, Action: []string{
		"sns:AddPermission", "sns:DeleteTopic", "sns:GetTopicAttributes", "sns:ListSubscriptionsByTopic", "sns:Publish", "sns:RemovePermission",
		"sns:SetTopicAttributes", "sns:Subscribe",
	}, Resource: []string{topicARN(k, t)}}
}

// deliveringTopics returns the ARNs of the topics that fit, by name.
func deliveringTopics(k *compiler, fits func(nexusv1.TopicSpec) bool) []string {
	var arns []string
	for _, t := range selectedTopics(k.spec) {
		if fits(t) {
			arns = append(arns, topicARN(k, t))
		}
	}
	return arns
}

// deliveryPolicy is the access policy of a queue: the topics that it subscribes to, and no others, may send to it. Empty
// for a queue that subscribes to none.
// https://docs.aws.amazon.com/sns/latest/dg/subscribe-sqs-queue-to-sns-topic.html
func deliveryPolicy(k *compiler, q nexusv1.QueueSpec) string {
	arns := deliveringTopics(k, func(t nexusv1.TopicSpec) bool { return subscribes(t, q) })
	if len(arns) == 0 {
		return ""
	}
	return k.document(iampolicy.Statement{Sid: "Topics", Principal: iampolicy.Principals{"Service": {"sns.amazonaws.com"}}, Action: []string{"sqs:SendMessage"},
		Resource:  []string{k.home.arn("sqs", messageName(k.names, q.Name, q.FIFO))},
		Condition: iampolicy.Conditions{"ArnEquals": {"aws:SourceArn": arns}}})
}

// topicValues tell the application the ARNs.
func topicValues(k *compiler) (out []value) {
	for _, t := range selectedTopics(k.spec) {
		out = append(out, value{"sns/" + t.Name + "-topic-arn", "NEXUS_SNS_TOPIC_ARN_" + environmentVariable(t.Name), topicARN(k, t)})
	}
	return out
}

// topicStatements allow publishing to the topics.
func topicStatements(k *compiler) []iampolicy.Statement {
	var arns []string
	for _, t := range selectedTopics(k.spec) {
		if e := existingTopic(t); e.store != nil {
			arns = appendARN(arns, k.external(e))
			continue
		}
		arns = appendARN(arns, k.owned(kindTopic+"/"+k.names.Of(t.Name), topicARN(k, t)))
	}
	return withResources(iampolicy.Statement{Sid: "Topics", Action: []string{"sns:Publish"}, Resource: arns})
}

func checkTopics(v *verdict, at string, d *nexusv1.DataServicesSpec) {
	fifo := map[nexusv1.QueueName]bool{}
	for _, q := range d.Queues {
		fifo[nexusv1.QueueName(q.Name)] = q.FIFO
	}
	v.distinct(at, namesIn(d.Topics, func(t nexusv1.TopicSpec) string { return t.Name }), maxTopicPurpose)
	for i, t := range d.Topics {
		field := fmt.Sprintf("%s[%d].subscribeQueues", at, i)
		v.require(len(t.SubscribeQueues) <= maxList, field, "at most %d", maxList)
		seen := map[nexusv1.QueueName]bool{}
		for j, q := range t.SubscribeQueues {
			at := fmt.Sprintf("%s[%d]", field, j)
			isFIFO, declared := fifo[q]
			v.require(declared, at, "%q is none of spec.dataServices.queues: declare the queue there", q)
			v.require(!isFIFO || t.FIFO, at, "%q is a FIFO queue, to which only a FIFO topic delivers: set fifo: true for both or for neither", q)
			v.require(!seen[q], at, "%q is there twice", q)
			seen[q] = true
		}
	}
}

func existingTopic(t nexusv1.TopicSpec) existing {
	return existing{kind: kindTopic, of: &existingTopics, purpose: t.Name, store: t.Existing}
}

// checkSubscribers refuses queues that the capability does not own.
func checkSubscribers(v *verdict, c *nexusv1.NexusAICapability, _ Facts) {
	d := dataOf(&c.Spec)
	for i, t := range d.Topics {
		for j, name := range t.SubscribeQueues {
			foreign := slices.ContainsFunc(d.Queues, func(q nexusv1.QueueSpec) bool { return q.Name == string(name) && q.Existing != nil })
			v.require(!foreign, fmt.Sprintf("spec.dataServices.topics[%d].subscribeQueues[%d]", i, j),
				"%q exists already, and its policy, which would have to let the topic send to it, is not the operator's: subscribe it where it is managed", name)
		}
	}
}
