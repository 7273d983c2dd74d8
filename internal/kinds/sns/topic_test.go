// SPDX-License-Identifier: Apache-2.0

package sns

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sns"
	"github.com/aws/aws-sdk-go-v2/service/sns/types"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/awsclient"
	"github.com/nexus-operator/nexus-operator/internal/emulator"
	"github.com/nexus-operator/nexus-operator/internal/engine"
	"github.com/nexus-operator/nexus-operator/internal/kind"
	"github.com/nexus-operator/nexus-operator/internal/kindtest"
	"github.com/nexus-operator/nexus-operator/internal/status"
	"github.com/nexus-operator/nexus-operator/internal/testkit/world"
)

func TestMain(m *testing.M) { world.Main(m, world.Options{NoKubernetes: true}) }

const (
	name  = "orders"
	home  = kindtest.Region + ":" + kindtest.Account + ":"
	arn   = "arn:aws:sns:" + home + name
	queue = "arn:aws:sqs:" + home + "jobs"
	dlq   = "arn:aws:sqs:" + home + "failed"
	mail  = "me@example.com"
	key   = "arn:aws:kms:" + home + "key/1234abcd-12ab-34cd-56ef-1234567890ab"

	create      = "sns:CreateTopic"
	set         = "sns:SetTopicAttributes"
	subscribe   = "sns:Subscribe"
	unsubscribe = "sns:Unsubscribe"
	setOne      = "sns:SetSubscriptionAttributes"
	tag         = "sns:TagResource"
	untag       = "sns:UntagResource"
	remove      = "sns:DeleteTopic"
)

const (
	mayPublish = `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"AWS":"arn:aws:iam::123456789012:root"},"Action":"sns:Publish","Resource":"*"}]}`
	// mayPublishAgain means the same in the words that SNS may return.
	mayPublishAgain = `{"Version":"2012-10-17","Statement":{"Effect":"Allow","Principal":{"AWS":["arn:aws:iam::123456789012:root"]},"Action":["SNS:Publish"],"Resource":"*"}}`
	noPublish       = `{"Version":"2012-10-17","Statement":[{"Effect":"Deny","Principal":"*","Action":"sns:Publish","Resource":"*"}]}`
	retries         = `{"http":{"defaultHealthyRetryPolicy":{"minDelayTarget":20,"maxDelayTarget":20,"numRetries":3}}}`
	moreRetries     = `{"http":{"defaultHealthyRetryPolicy":{"minDelayTarget":20,"maxDelayTarget":20,"numRetries":5}}}`
	failed          = `{"state":["failed"]}`
	failedAgain     = `{ "state" : [ "failed" ] }`
	done            = `{"state":["done"]}`
	// inBody is a filter of the scope MessageBody only: the other scope has no nested keys.
	inBody = `{"order":{"state":["done"]}}`
)

type spec = v1alpha1.SNSTopicSpec

func topicOf(edits ...func(s *spec)) *v1alpha1.SNSTopic {
	o := &v1alpha1.SNSTopic{}
	o.Name, o.Spec.TopicName = name, name
	for _, edit := range edits {
		edit(&o.Spec)
	}
	return o
}

func fifo(s *spec) { s.TopicName, s.FifoTopic = name+".fifo", true }

func deduplicated(on bool) func(s *spec) { return func(s *spec) { s.ContentBasedDeduplication = &on } }

func display(v string) func(s *spec) { return func(s *spec) { s.DisplayName = &v } }

func kms(v string) func(s *spec) { return func(s *spec) { s.KMSMasterKeyID = &v } }

func kmsBy(ref string) func(s *spec) {
	return func(s *spec) { s.KMSMasterKeyRef = &v1alpha1.ObjectReference{Name: ref} }
}

func policy(v string) func(s *spec) { return func(s *spec) { s.Policy = &v } }

func delivery(v string) func(s *spec) { return func(s *spec) { s.DeliveryPolicy = &v } }

func tagged(k, v string) func(s *spec) {
	return func(s *spec) { s.Tags = map[string]v1alpha1.TagValue{k: v1alpha1.TagValue(v)} }
}

func deletion(p v1alpha1.DeletionPolicy) func(s *spec) {
	return func(s *spec) { s.DeletionPolicy = p }
}

// to subscribes an endpoint.
func to(protocol, endpoint string, edits ...func(s *v1alpha1.SNSSubscription)) func(s *spec) {
	return func(s *spec) {
		sub := v1alpha1.SNSSubscription{Protocol: protocol, Endpoint: endpoint}
		for _, edit := range edits {
			edit(&sub)
		}
		s.Subscriptions = append(s.Subscriptions, sub)
	}
}

func toQueue(edits ...func(s *v1alpha1.SNSSubscription)) func(s *spec) {
	return to("sqs", queue, edits...)
}

const (
	stream     = "arn:aws:firehose:ap-southeast-1:123456789012:deliverystream/orders"
	streamRole = "arn:aws:iam::123456789012:role/nexus/stream"
)

func toStream(role string) func(s *spec) {
	return to("firehose", stream, func(s *v1alpha1.SNSSubscription) { s.SubscriptionRoleARN = role })
}

func passable(s *kindtest.Subject) { s.RolePath = "/nexus" }

func filter(v string) func(s *v1alpha1.SNSSubscription) {
	return func(s *v1alpha1.SNSSubscription) { s.FilterPolicy = &v }
}

func scope(v string) func(s *v1alpha1.SNSSubscription) {
	return func(s *v1alpha1.SNSSubscription) { s.FilterPolicyScope = &v }
}

func raw(on bool) func(s *v1alpha1.SNSSubscription) {
	return func(s *v1alpha1.SNSSubscription) { s.RawMessageDelivery = &on }
}

func letters(v string) func(s *v1alpha1.SNSSubscription) {
	return func(s *v1alpha1.SNSSubscription) { s.DeadLetterQueueARN = &v }
}

func byRef(s *v1alpha1.SNSSubscription) {
	s.Endpoint, s.QueueRef = "", &v1alpha1.ObjectReference{Name: "jobs"}
	s.DeadLetterQueueRef = &v1alpha1.ObjectReference{Name: "failed"}
}

func targets(s *kindtest.Subject) {
	s.Targets = map[string]kind.Target{"KMSKey/orders": {ID: "1234abcd-12ab-34cd-56ef-1234567890ab", ARN: key},
		"SQSQueue/jobs": {ID: "jobs", ARN: queue}, "SQSQueue/failed": {ID: "failed", ARN: dlq}}
}

func api(r *kindtest.Rig) *sns.Client { return sns.NewFromConfig(r.Config) }

func existing(tags map[string]string) func(*testing.T, *kindtest.Rig) {
	return func(t *testing.T, r *kindtest.Rig) {
		t.Helper()
		_, err := api(r).CreateTopic(t.Context(), &sns.CreateTopicInput{Name: aws.String(name), Tags: kind.SDKTags[types.Tag](tags)})
		kindtest.Must(t, err)
	}
}

func exists(t *testing.T, r *kindtest.Rig) bool {
	t.Helper()
	_, err := api(r).GetTopicAttributes(t.Context(), &sns.GetTopicAttributesInput{TopicArn: aws.String(arn)})
	if err != nil && !awsclient.IsNotFound(err) {
		t.Fatal(err)
	}
	return err == nil
}

func deleteTopic(t *testing.T, r *kindtest.Rig) {
	t.Helper()
	_, err := api(r).DeleteTopic(t.Context(), &sns.DeleteTopicInput{TopicArn: aws.String(arn)})
	kindtest.Must(t, err)
}

func change(topicARN, attribute, value string) func(*testing.T, *kindtest.Rig) {
	return func(t *testing.T, r *kindtest.Rig) {
		t.Helper()
		_, err := api(r).SetTopicAttributes(t.Context(),
			&sns.SetTopicAttributesInput{TopicArn: &topicARN, AttributeName: &attribute, AttributeValue: &value})
		kindtest.Must(t, err)
	}
}

// subscribers returns the endpoints of the topic with the ARNs of their subscriptions.
func subscribers(t *testing.T, r *kindtest.Rig) map[string]string {
	t.Helper()
	out, err := api(r).ListSubscriptionsByTopic(t.Context(), &sns.ListSubscriptionsByTopicInput{TopicArn: aws.String(arn)})
	kindtest.Must(t, err)
	found := map[string]string{}
	for _, s := range out.Subscriptions {
		found[*s.Endpoint] = *s.SubscriptionArn
	}
	return found
}

func subscribeBy(protocol, endpoint string) func(*testing.T, *kindtest.Rig) {
	return func(t *testing.T, r *kindtest.Rig) {
		t.Helper()
		_, err := api(r).Subscribe(t.Context(), &sns.SubscribeInput{TopicArn: aws.String(arn), Protocol: &protocol, Endpoint: &endpoint})
		kindtest.Must(t, err)
	}
}

func unsubscribeQueue(t *testing.T, r *kindtest.Rig) {
	t.Helper()
	_, err := api(r).Unsubscribe(t.Context(), &sns.UnsubscribeInput{SubscriptionArn: aws.String(subscribers(t, r)[queue])})
	kindtest.Must(t, err)
}

func changeQueue(attribute, value string) func(*testing.T, *kindtest.Rig) {
	return func(t *testing.T, r *kindtest.Rig) {
		t.Helper()
		_, err := api(r).SetSubscriptionAttributes(t.Context(), &sns.SetSubscriptionAttributesInput{
			SubscriptionArn: aws.String(subscribers(t, r)[queue]), AttributeName: &attribute, AttributeValue: &value})
		kindtest.Must(t, err)
	}
}

func ownerTags(uid, cluster string) map[string]string {
	return engine.Identity{Kind: "SNSTopic", Namespace: kindtest.Namespace, Name: name, UID: uid, Cluster: cluster}.OwnerTags()
}

var ownerPaths = []string{"Tags[nexus.ai/cluster]", "Tags[nexus.ai/managed-by]", "Tags[nexus.ai/owner]", "Tags[nexus.ai/owner-uid]"}

const subscription = "Subscriptions[sqs " + queue + "]"

func setting(attribute string) string { return "Settings[" + attribute + " sqs " + queue + "]" }

func TestTopic(t *testing.T) {
	kindtest.Run(t, engine.For(NewTopic), slices.Concat(lives(), edits(), subscriptions(), drifts(), deletions(), owners()))
}

func lives() []kindtest.Case {
	refused := func(name string, edits ...func(s *spec)) kindtest.Case {
		return kindtest.Case{Name: name, Object: topicOf(edits...), Facts: targets, Stalled: status.ReasonInvalidSpec}
	}
	return []kindtest.Case{
		{Name: "absent is created by one call", Object: topicOf(), Cause: engine.New, Actions: []string{create}},
		{Name: "with every attribute", Object: topicOf(display("Orders"), kms(key), policy(mayPublish), delivery(retries), tagged("team", "a")),
			Cause: engine.New, Actions: []string{create}},
		{Name: "a FIFO topic", Object: topicOf(fifo, deduplicated(true)), Cause: engine.New, Actions: []string{create}},
		{Name: "false deduplication of a standard topic is no attribute", Object: topicOf(deduplicated(false)), Cause: engine.New,
			Actions: []string{create}},
		{Name: "with the password of an endpoint", Object: topicOf(to("https", "https://user:secret@example.com/orders")), Cause: engine.New,
			Actions: []string{create}},
		{Name: "a subscription with a password is removed", Existing: topicOf(to("https", "https://user:secret@example.com/orders")),
			Object: topicOf(), Cause: engine.Edited,
			Diff: []string{"Subscriptions[https https://user:****@example.com/orders]"}, Actions: []string{unsubscribe}},
		{Name: "stars in the place of a password", Object: topicOf(to("https", "https://user:****@example.com/orders")),
			Stalled: status.ReasonInvalidSpec},
		{Name: "with subscriptions", Object: topicOf(toQueue(filter(failed), scope("MessageBody"), raw(true), letters(dlq)), to("email", mail)),
			Cause: engine.New, Actions: []string{create}},
		{Name: "with references to queues", Object: topicOf(toQueue(byRef)), Facts: targets, Cause: engine.New, Actions: []string{create}},
		{Name: "cleared attributes that a new topic does not have", Existing: topicOf(), Object: topicOf(display(""), kms(""), delivery("")),
			Cause: engine.InSync},
		{Name: "attributes that are no longer declared stay", Existing: topicOf(display("Orders"), policy(mayPublish)), Object: topicOf(),
			Cause: engine.InSync},
		{Name: "a lost topic is created again with its subscriptions", Existing: topicOf(toQueue()), Object: topicOf(toQueue()), Drift: true,
			Before: deleteTopic,
			Cause:  engine.New, Actions: []string{create}},
		refused("a FIFO topic whose name does not end in .fifo", fifo, func(s *spec) { s.TopicName = name }),
		refused("a name that ends in .fifo of a standard topic", fifo, func(s *spec) { s.FifoTopic = false }),
		refused("deduplication of a standard topic", deduplicated(true)),
		refused("a KMS key and a reference to one", kms(key), kmsBy("orders")),
		refused("a policy that is no document", policy("{")),
		refused("a delivery policy that is not JSON", delivery("{")),
		refused("a scope without a filter policy", toQueue(scope("MessageBody"))),
		refused("a stream without a role", to("firehose", stream)),
		refused("a filter policy that is not JSON", toQueue(filter("{"))),
		refused("a subscription without an endpoint", to("sqs", "")),
		refused("a subscription with two endpoints", toQueue(byRef, func(s *v1alpha1.SNSSubscription) { s.Endpoint = queue })),
		refused("a queue by another protocol", toQueue(byRef, func(s *v1alpha1.SNSSubscription) { s.Protocol = "email" })),
		refused("two dead-letter queues", toQueue(byRef, letters(dlq))),
		refused("the same endpoint twice", toQueue(), toQueue(byRef)),
	}
}

func edits() []kindtest.Case {
	edit := func(name, path string, from, to func(s *spec)) kindtest.Case {
		return kindtest.Case{Name: name, Existing: topicOf(from), Object: topicOf(to), Cause: engine.Edited, Diff: []string{path},
			Actions: []string{set}}
	}
	none := func(*spec) {}
	return []kindtest.Case{
		edit("a display name", "DisplayName", none, display("Orders")),
		edit("another display name", "DisplayName", display("Orders"), display("Sales")),
		edit("no display name", "DisplayName", display("Orders"), display("")),
		edit("a KMS key", "KmsMasterKeyId", none, kms(key)),
		edit("another KMS key", "KmsMasterKeyId", kms(key), kms("alias/other")),
		edit("no KMS key", "KmsMasterKeyId", kms(key), kms("")),
		edit("a delivery policy", "DeliveryPolicy", none, delivery(retries)),
		edit("another delivery policy", "DeliveryPolicy", delivery(retries), delivery(moreRetries)),
		edit("a delivery policy of defaults", "DeliveryPolicy", delivery(moreRetries),
			delivery(`{"http":{"defaultHealthyRetryPolicy":{"numRetries":3}}}`)),
		edit("no delivery policy", "DeliveryPolicy", delivery(retries), delivery("")),
		edit("a policy", "Policy", none, policy(mayPublish)),
		edit("another policy", "Policy", policy(mayPublish), policy(noPublish)),
		{Name: "the same policy in other words", Existing: topicOf(policy(mayPublish)), Object: topicOf(policy(mayPublishAgain)),
			Cause: engine.InSync},
		{Name: "the key's ID names the key of the ARN", Existing: topicOf(kms(key)), Object: topicOf(kms("1234abcd-12ab-34cd-56ef-1234567890ab")),
			Cause: engine.InSync},
		{Name: "a KMS key by reference", Existing: topicOf(), Object: topicOf(kmsBy("orders")), Facts: targets, Cause: engine.Edited,
			Diff: []string{"KmsMasterKeyId"}, Actions: []string{set}},
		{Name: "deduplication on", Existing: topicOf(fifo), Object: topicOf(fifo, deduplicated(true)), Cause: engine.Edited,
			Diff: []string{"ContentBasedDeduplication"}, Actions: []string{set}},
		{Name: "deduplication off", Existing: topicOf(fifo, deduplicated(true)), Object: topicOf(fifo, deduplicated(false)), Cause: engine.Edited,
			Diff: []string{"ContentBasedDeduplication"}, Actions: []string{set}},
		{Name: "tags are added and dropped", Existing: topicOf(tagged("old", "1")), Object: topicOf(tagged("team", "a")), Cause: engine.Edited,
			Diff: []string{"Tags[team]", "Tags[old]"}, Actions: []string{tag, untag}},
	}
}

func subscriptions() []kindtest.Case {
	edit := func(name, path string, from, to func(s *v1alpha1.SNSSubscription)) kindtest.Case {
		return kindtest.Case{Name: name, Existing: topicOf(toQueue(from)), Object: topicOf(toQueue(to)), Cause: engine.Edited,
			Diff: []string{setting(path)}, Actions: []string{setOne}}
	}
	none := func(*v1alpha1.SNSSubscription) {}
	return []kindtest.Case{
		{Name: "a queue is subscribed with its settings by one call", Existing: topicOf(),
			Object: topicOf(toQueue(filter(failed), raw(true), letters(dlq))), Cause: engine.Edited,
			Diff: []string{subscription}, Actions: []string{subscribe}},
		{Name: "a subscription is removed", Existing: topicOf(toQueue(), to("email", mail)), Object: topicOf(to("email", mail)),
			Cause: engine.Edited,
			Diff:  []string{subscription}, Actions: []string{unsubscribe}},
		{Name: "the last subscription is removed", Existing: topicOf(toQueue()), Object: topicOf(), Cause: engine.Edited,
			Diff: []string{subscription}, Actions: []string{unsubscribe}},
		{Name: "a reference to the queue of the ARN", Existing: topicOf(toQueue()),
			Object: topicOf(toQueue(byRef, func(s *v1alpha1.SNSSubscription) { s.DeadLetterQueueRef = nil })), Facts: targets, Cause: engine.InSync},
		{Name: "settings of a new subscription that are the default", Existing: topicOf(toQueue()),
			Object: topicOf(toQueue(filter(""), scope("MessageBody"), raw(false), letters(""))), Cause: engine.InSync},
		edit("a filter policy", filterPolicy, none, filter(failed)),
		edit("another filter policy", filterPolicy, filter(failed), filter(done)),
		edit("no filter policy", filterPolicy, filter(failed), filter("")),
		edit("raw delivery", rawDelivery, none, raw(true)),
		edit("no raw delivery", rawDelivery, raw(true), raw(false)),
		edit("a dead-letter queue", redrive, none, letters(dlq)),
		edit("another dead-letter queue", redrive, letters(dlq), letters(queue)),
		edit("no dead-letter queue", redrive, letters(dlq), letters("")),
		{Name: "the same filter in other words", Existing: topicOf(toQueue(filter(failed))), Object: topicOf(toQueue(filter(failedAgain))),
			Cause: engine.InSync},
		{Name: "a filter of the body: its scope first", Existing: topicOf(toQueue(filter(failed))),
			Object: topicOf(toQueue(filter(inBody), scope("MessageBody"))), Cause: engine.Edited,
			Diff: []string{setting(filterPolicy), setting(filterScope)}, Actions: []string{setOne, setOne}},
		{Name: "a filter of attributes: its scope last", Existing: topicOf(toQueue(filter(inBody), scope("MessageBody"))),
			Object: topicOf(toQueue(filter(failed), scope("MessageAttributes"))), Cause: engine.Edited,
			Diff: []string{setting(filterPolicy), setting(filterScope)}, Actions: []string{setOne, setOne}},
		{Name: "a filter of the body where there was none", Existing: topicOf(toQueue()),
			Object: topicOf(toQueue(filter(inBody), scope("MessageBody"))), Cause: engine.Edited,
			Diff: []string{setting(filterPolicy), setting(filterScope)}, Actions: []string{setOne, setOne}},
		{Name: "no filter policy, whatever its scope", Existing: topicOf(toQueue(filter(inBody), scope("MessageBody"))),
			Object: topicOf(toQueue(filter("{}"), scope("MessageBody"))), Cause: engine.Edited,
			Diff: []string{setting(filterPolicy)}, Actions: []string{setOne}},
		{Name: "a stream is subscribed with its role", Existing: topicOf(), Object: topicOf(toStream(streamRole)), Facts: passable,
			Cause: engine.Edited,
			Diff:  []string{"Subscriptions[firehose " + stream + "]"}, Actions: []string{subscribe}},
		{Name: "another role of a stream", Existing: topicOf(toStream(streamRole)), Object: topicOf(toStream(streamRole + "2")), Facts: passable,
			Cause: engine.Edited,
			Diff:  []string{"Settings[" + roleARN + " firehose " + stream + "]"}, Actions: []string{setOne}},
		{Name: "a role that the provider does not pass", Object: topicOf(toStream("arn:aws:iam::123456789012:role/admin")), Facts: passable,
			Stalled: status.ReasonNotPermitted},
		{Name: "a role by reference", Object: topicOf(to("firehose", stream,
			func(s *v1alpha1.SNSSubscription) { s.SubscriptionRoleRef = &v1alpha1.ObjectReference{Name: "stream"} })),
			Facts: func(s *kindtest.Subject) {
				s.Targets = map[string]kind.Target{"IAMRole/stream": {ID: "stream", ARN: streamRole}}
			}, Cause: engine.New, Actions: []string{create}},
		{Name: "settings that are no longer declared stay", Existing: topicOf(toQueue(raw(true))), Object: topicOf(toQueue()),
			Cause: engine.InSync},
	}
}

func drifts() []kindtest.Case {
	drift := func(path string, object *v1alpha1.SNSTopic, before func(*testing.T, *kindtest.Rig), action string) kindtest.Case {
		return kindtest.Case{Name: path + " is restored", Existing: object, Object: object, Drift: true, Before: before, Cause: engine.Drifted,
			Diff: []string{path}, Actions: []string{action}}
	}
	return []kindtest.Case{
		drift("DisplayName", topicOf(display("Orders")), change(arn, "DisplayName", "x"), set),
		drift("KmsMasterKeyId", topicOf(kms(key)), change(arn, "KmsMasterKeyId", "alias/other"), set),
		drift("DeliveryPolicy", topicOf(delivery(retries)), change(arn, "DeliveryPolicy", moreRetries), set),
		drift("Policy", topicOf(policy(mayPublish)), change(arn, "Policy", noPublish), set),
		drift("ContentBasedDeduplication", topicOf(fifo, deduplicated(true)), change(arn+".fifo", "ContentBasedDeduplication", "false"), set),
		drift(subscription, topicOf(toQueue(raw(true))), unsubscribeQueue, subscribe),
		drift(setting(filterPolicy), topicOf(toQueue(filter(failed))), changeQueue(filterPolicy, done), setOne),
		drift(setting(filterScope), topicOf(toQueue(filter(failed), scope("MessageBody"))), changeQueue(filterScope, "MessageAttributes"),
			setOne),
		drift(setting(rawDelivery), topicOf(toQueue(raw(true))), changeQueue(rawDelivery, "false"), setOne),
		drift(setting(redrive), topicOf(toQueue(letters(dlq))), changeQueue(redrive, `{"deadLetterTargetArn":"`+queue+`"}`), setOne),
		{Name: "subscriptions of others stay", Existing: topicOf(toQueue()), Object: topicOf(toQueue()), Drift: true,
			Before: subscribeBy("email", mail), Cause: engine.InSync},
		{Name: "also where the object has none", Existing: topicOf(), Object: topicOf(), Drift: true, Before: subscribeBy("email", mail),
			Cause: engine.InSync},
		{Name: "attributes that are not declared may change", Existing: topicOf(), Object: topicOf(), Drift: true,
			Before: change(arn, "DisplayName", "x"), Cause: engine.InSync},
		{Name: "tags of others stay", Existing: topicOf(tagged("team", "a")), Object: topicOf(tagged("team", "a")), Drift: true,
			Cause: engine.InSync,
			Before: func(t *testing.T, r *kindtest.Rig) {
				_, err := api(r).TagResource(t.Context(),
					&sns.TagResourceInput{ResourceArn: aws.String(arn), Tags: kind.SDKTags[types.Tag](map[string]string{"theirs": "1"})})
				kindtest.Must(t, err)
			}},
	}
}

func deletions() []kindtest.Case {
	orphan := topicOf(toQueue(), deletion(v1alpha1.DeletionOrphan))
	return []kindtest.Case{
		{Name: "deleting takes one call, subscriptions too", Existing: topicOf(toQueue()), Object: topicOf(toQueue()), Deleting: true,
			Drift: true, Cause: engine.Deleting, Actions: []string{remove}},
		{Name: "deleting a topic that is gone", Existing: topicOf(), Object: topicOf(), Deleting: true, Drift: true, Before: deleteTopic,
			Cause: engine.Gone},
		{Name: "deleting with Orphan takes our tags off and nothing else", Existing: orphan, Object: orphan, Deleting: true, Drift: true,
			Cause: engine.Deleting, Diff: ownerPaths, Actions: []string{untag}},
	}
}

func owners() []kindtest.Case {
	always := func(s *spec) { s.AdoptionPolicy, s.DeletionPolicy = v1alpha1.AdoptAlways, v1alpha1.DeletionRetain }
	return []kindtest.Case{
		{Name: "left by an earlier object of this name, it is taken over", Object: topicOf(),
			Before: existing(ownerTags("an-earlier-one", kindtest.Cluster)),
			Cause:  engine.Edited, Diff: []string{"Tags[nexus.ai/owner-uid]"}, Actions: []string{tag}},
		{Name: "unless adoption is refused", Object: topicOf(func(s *spec) { s.AdoptionPolicy = v1alpha1.AdoptNever }),
			Before: existing(ownerTags("an-earlier-one", kindtest.Cluster)), Stalled: status.ReasonConflict},
		{Name: "another cluster's is left alone", Object: topicOf(), Before: existing(ownerTags("uid-of-"+name, "another")),
			Stalled: status.ReasonConflict},
		{Name: "a topic without owner is left alone", Object: topicOf(), Before: existing(nil), Stalled: status.ReasonConflict},
		{Name: "a topic without owner is adopted where user and provider say so", Object: topicOf(always), Before: existing(nil),
			Facts: func(s *kindtest.Subject) { s.AllowAdoption = true }, Cause: engine.Edited, Diff: ownerPaths, Actions: []string{tag}},
	}
}

func life() kindtest.Life {
	return kindtest.Life{
		Sample: topicOf(display("Orders"), policy(mayPublish), tagged("team", "a"), toQueue(filter(failed)), to("email", mail)), Exists: exists,
		Foreign: existing(map[string]string{"owner": "somebody"}),
		Invalid: []v1alpha1.Resource{topicOf(policy("{")), topicOf(toQueue(byRef)), topicOf(toQueue(), toQueue())},
		Edited:  topicOf(display("Sales"), policy(noPublish), tagged("team", "b"), toQueue(filter(done), raw(true))),
	}
}

func TestTopicSurvivesFaults(t *testing.T) { kindtest.Faults(t, engine.For(NewTopic), life()) }

func TestTopicSurvivesLag(t *testing.T) { kindtest.Lag(t, engine.For(NewTopic), life()) }

func subject(t *testing.T, o *v1alpha1.SNSTopic) (*kindtest.Subject, *kindtest.Rig) {
	t.Helper()
	r := kindtest.NewRig(t)
	return kindtest.NewSubject(r, engine.For(NewTopic), o), r
}

func TestTopicCosts(t *testing.T) {
	s, _ := subject(t, topicOf(display("Orders"), toQueue(filter(failed)), to("email", mail)))
	kindtest.Costs(t, s,
		kindtest.Cost{Name: "create",
			Calls: map[string]int{"CreateTopic": 1, "Subscribe": 2, "GetTopicAttributes": 3, "ListTagsForResource": 2, "ListSubscriptionsByTopic": 2,
				"GetSubscriptionAttributes": 1}},
		kindtest.Cost{Name: "check",
			Calls:  map[string]int{"GetTopicAttributes": 1, "ListTagsForResource": 1, "ListSubscriptionsByTopic": 1, "GetSubscriptionAttributes": 1},
			Change: s.Forget},
		kindtest.Cost{Name: "edit",
			Calls:  map[string]int{"Unsubscribe": 2, "GetTopicAttributes": 2, "ListTagsForResource": 2, "ListSubscriptionsByTopic": 2},
			Change: func() { s.Edit(topicOf(display("Orders"))) }},
		kindtest.Cost{Name: "check without subscriptions", Calls: map[string]int{"GetTopicAttributes": 1, "ListTagsForResource": 1},
			Change: s.Forget},
		kindtest.Cost{Name: "delete", Calls: map[string]int{"DeleteTopic": 1, "GetTopicAttributes": 2, "ListTagsForResource": 1},
			Change: func() { s.Deleting = true }})
}

// CreateTopic succeeds where a topic of the name has the attributes of the request, no matter who owns it.
func TestACreateThatMetAForeignTopicClaimsNothing(t *testing.T) {
	s, r := subject(t, topicOf(toQueue()))
	foreign := ownerTags("uid-of-"+name, "another")
	var made error
	// after the look before the create
	r.AWS.Fault(emulator.Match{Service: "sns", Op: "GetTopicAttributes", Times: 1}, emulator.Observe(func() {
		_, made = api(r).CreateTopic(context.Background(), &sns.CreateTopicInput{Name: aws.String(name), Tags: kind.SDKTags[types.Tag](foreign)})
	}))
	_, err := s.Settle(t.Context(), nil)
	kindtest.Must(t, made)
	if st, ok := status.AsStalled(err); !ok || st.Reason != status.ReasonConflict {
		t.Fatalf("got %v, want a conflict", err)
	}
	s.Deleting = true
	kindtest.Settled(t, s)
	if got := subscribers(t, r); len(got) > 0 || !exists(t, r) {
		t.Errorf("the foreign topic has subscriptions %v\n%s", got, r.AWS.Calls())
	}
}

// A subscription carries no owner: only the record shows that the operator made it.
func TestASubscriptionWhoseRecordIsLostIsStillRemoved(t *testing.T) {
	s, r := subject(t, topicOf())
	kindtest.Settled(t, s)
	s.Edit(topicOf(toQueue()))
	killed := false
	r.AWS.Fault(emulator.Match{Service: "sns", Op: "Subscribe", Times: 1}, emulator.ForwardThen(func() { killed = true }))
	if _, err := s.Pass(t.Context(), func() bool { return true }); err == nil || !killed || len(subscribers(t, r)) != 1 {
		t.Fatalf("%v, %v", err, subscribers(t, r))
	}
	s.Edit(topicOf())
	kindtest.Settled(t, s)
	if got := subscribers(t, r); len(got) > 0 {
		t.Errorf("left behind: %v\n%s", got, r.AWS.Calls())
	}
}

// The record holds a declared subscription also while SNS does not show it.
func TestADeclaredSubscriptionStaysOnRecord(t *testing.T) {
	s, r := subject(t, topicOf(toQueue()))
	kindtest.Settled(t, s)
	s.Clock = s.Clock.Add(time.Minute) // the first Subscribe is not forgotten before
	unsubscribeQueue(t, r)
	r.AWS.Fault(emulator.Match{Service: "sns", Op: "Subscribe", Times: 1}, emulator.Fail(403, "AuthorizationError", "not authorized"))
	if _, err := s.Pass(t.Context(), nil); err == nil {
		t.Fatal("the fault did not strike")
	}
	r.AWS.Fault(emulator.Match{Service: "sns", Op: "Subscribe", Times: 1}, emulator.LoseAnswer())
	if _, err := s.Pass(t.Context(), func() bool { return true }); err == nil || len(subscribers(t, r)) != 1 {
		t.Fatalf("%v, %v\n%s", err, subscribers(t, r), r.AWS.Calls())
	}
	s.Edit(topicOf())
	kindtest.Settled(t, s)
	if got := subscribers(t, r); len(got) > 0 {
		t.Errorf("left behind: %v\n%s", got, r.AWS.Calls())
	}
}

// SNS shows no ARN for a subscription that its endpoint has not confirmed, and cannot change or remove it.
func TestAPendingSubscriptionIsLeftToItsEndpoint(t *testing.T) {
	s, r := subject(t, topicOf(to("email", mail, filter(failed)), toQueue()))
	r.AWS.SNS.SetSubscriptionsPending("email")
	kindtest.Settled(t, s)
	if st := s.Object.(*v1alpha1.SNSTopic).Status; st.SubscriptionsPending != 1 || st.SubscriptionsConfirmed != 1 ||
		len(st.SubscriptionARNs) != 1 {
		t.Errorf("%+v", st)
	}
	shown := func() *metav1.Condition {
		return meta.FindStatusCondition(s.Object.(*v1alpha1.SNSTopic).Status.Conditions, v1alpha1.ConditionSubscriptionsConfirmed)
	}
	if c := shown(); c == nil || c.Status != metav1.ConditionFalse || !strings.Contains(c.Message, "1 of 2 subscriptions") ||
		!strings.Contains(c.Message, mail) {
		t.Errorf("%+v", c)
	}
	s.Edit(topicOf(to("email", mail, filter(done)), toQueue()))
	kindtest.Settled(t, s)
	s.Edit(topicOf(toQueue()))
	kindtest.Settled(t, s)
	if c := shown(); c == nil || c.Status != metav1.ConditionTrue {
		t.Errorf("%+v", c)
	}
	if n := kindtest.Operations(r.AWS.Calls()); n["Subscribe"] != 2 || n["SetSubscriptionAttributes"]+n["Unsubscribe"] > 0 {
		t.Errorf("%v\n%s", n, r.AWS.Calls())
	}
}

// SNS shows neither the attributes of a subscription that is not confirmed nor the password of a URL.
func TestExport_DeclaresOnlyTheSubscriptionsThatSNSShows(t *testing.T) {
	_, r := subject(t, topicOf())
	existing(nil)(t, r)
	r.AWS.SNS.SetSubscriptionsPending("email")
	for protocol, endpoint := range map[string]string{"sqs": queue, "email": mail, "https": "https://user:****@example.com/"} {
		subscribeBy(protocol, endpoint)(t, r)
	}
	o := &v1alpha1.SNSTopic{}
	o.Spec.TopicName, o.Spec.ManagementPolicy = name, v1alpha1.ManageObserve
	found, err := engine.For(NewTopic).Bind(r.Config).Export(t.Context(), kindtest.NewSubject(r, engine.For(NewTopic), o).Scope(), o)
	kindtest.Must(t, err)
	if got := o.Spec.Subscriptions; !found.Exists || len(got) != 1 || got[0].Protocol != "sqs" || got[0].Endpoint != queue {
		t.Errorf("%+v", got)
	}
}

func TestAReferenceToAQueueThatIsNotReadyIsWaitedFor(t *testing.T) {
	s, r := subject(t, topicOf(toQueue(byRef)))
	_, err := s.Pass(t.Context(), nil)
	if w, ok := status.AsWaiting(err); !ok || w.For != "SQSQueue/jobs" || r.AWS.Calls().Count() > 0 {
		t.Fatalf("got %v, want to wait for the queue\n%s", err, r.AWS.Calls())
	}
	targets(s)
	kindtest.Settled(t, s)
	if got := subscribers(t, r); got[queue] == "" {
		t.Error(got)
	}
}

func TestPublishedFields(t *testing.T) {
	s, r := subject(t, topicOf(toQueue()))
	kindtest.Settled(t, s)
	st := s.Object.(*v1alpha1.SNSTopic).Status
	if st.ARN != arn || st.TopicARN != arn || st.ID != name || !slices.Equal(st.SubscriptionARNs, []string{subscribers(t, r)[queue]}) ||
		st.SubscriptionsConfirmed != 1 || !slices.Equal(st.ManagedSubscriptions, []string{"sqs " + queue}) {
		t.Errorf("%+v", st)
	}
}

func TestTopic_ListsOfOthers(t *testing.T) {
	kindtest.Lists(t, engine.For(NewTopic),
		kindtest.List{Field: "subscriptions", Object: topicOf(toQueue()), Edited: topicOf(toQueue(), to("sqs", dlq)),
			Add: subscribeBy("email", mail),
			Has: func(t *testing.T, r *kindtest.Rig) bool { t.Helper(); return subscribers(t, r)[mail] != "" }})
}
