// SPDX-License-Identifier: Apache-2.0

package sqs

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
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
	name    = "jobs"
	arnBase = "arn:aws:sqs:" + kindtest.Region + ":" + kindtest.Account + ":"
	key     = "arn:aws:kms:" + kindtest.Region + ":" + kindtest.Account + ":key/1234abcd-12ab-34cd-56ef-1234567890ab"

	create = "sqs:CreateQueue"
	set    = "sqs:SetQueueAttributes"
	tag    = "sqs:TagQueue"
	untag  = "sqs:UntagQueue"
	remove = "sqs:DeleteQueue"
)

const (
	denyPlain = `{"Version":"2012-10-17","Statement":[{"Effect":"Deny","Principal":"*","Action":"sqs:*","Resource":"*","Condition":{"Bool":{"aws:SecureTransport":"false"}}}]}`
	// denyPlainAgain means the same in the words that SQS may return.
	denyPlainAgain = `{"Version":"2012-10-17","Statement":{"Sid":"","Effect":"Deny","Principal":{"AWS":"*"},"Action":["SQS:*"],"Resource":["*"],"Condition":{"Bool":{"aws:SecureTransport":["false"]}}}}`
	allowSend      = `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"AWS":"arn:aws:iam::123456789012:root"},"Action":"sqs:SendMessage","Resource":"*"}]}`
)

type spec = v1alpha1.SQSQueueSpec

func queueOf(edits ...func(s *spec)) *v1alpha1.SQSQueue {
	o := &v1alpha1.SQSQueue{}
	o.Name, o.Spec.QueueName = name, name
	for _, edit := range edits {
		edit(&o.Spec)
	}
	return o
}

func fifo(s *spec) { s.QueueName, s.FifoQueue = name+".fifo", true }

// everything declares every number of a queue, also those with the value 0.
func everything(s *spec) {
	s.DelaySeconds, s.MaximumMessageSize, s.MessageRetentionPeriod = aws.Int32(0), aws.Int32(4096), aws.Int32(3600)
	s.VisibilityTimeout, s.ReceiveMessageWaitTimeSeconds = aws.Int32(0), aws.Int32(20)
}

func policy(p string) func(s *spec) { return func(s *spec) { s.Policy = &p } }

func kms(id string) func(s *spec) { return func(s *spec) { s.KMSMasterKeyID = &id } }

func kmsBy(ref string) func(s *spec) {
	return func(s *spec) { s.KMSMasterKeyRef = &v1alpha1.ObjectReference{Name: ref} }
}

func managed(on bool) func(s *spec) { return func(s *spec) { s.SQSManagedSSEEnabled = &on } }

func letters(target string, count int32) func(s *spec) {
	return func(s *spec) {
		s.DeadLetterQueue = &v1alpha1.SQSDeadLetterQueue{TargetARN: arnBase + target, MaxReceiveCount: &count}
	}
}

func noLetters(s *spec) { s.DeadLetterQueue = &v1alpha1.SQSDeadLetterQueue{} }

func lettersTo(ref string) func(s *spec) {
	return func(s *spec) {
		s.DeadLetterQueue = &v1alpha1.SQSDeadLetterQueue{TargetRef: &v1alpha1.ObjectReference{Name: ref}, MaxReceiveCount: aws.Int32(3)}
	}
}

func tagged(k, v string) func(s *spec) {
	return func(s *spec) { s.Tags = map[string]v1alpha1.TagValue{k: v1alpha1.TagValue(v)} }
}

func destroy(s *spec) { s.ForceDestroy = true }

func recreate(s *spec) { s.RecreateOnLoss = true }

func deletion(p v1alpha1.DeletionPolicy) func(s *spec) {
	return func(s *spec) { s.DeletionPolicy = p }
}

func guarded(s *kindtest.Subject) { s.Guarded = true }

// clocked lets AWS have the clock of the subject.
func clocked(s *kindtest.Subject) { s.Rig.AWS.SetClock(func() time.Time { return s.Clock }) }

func api(r *kindtest.Rig) *sqs.Client { return sqs.NewFromConfig(r.Config) }

func makeQueue(t *testing.T, r *kindtest.Rig, name string, attributes, tags map[string]string) string {
	t.Helper()
	out, err := api(r).CreateQueue(t.Context(), &sqs.CreateQueueInput{QueueName: &name, Attributes: attributes, Tags: tags})
	kindtest.Must(t, err)
	return *out.QueueUrl
}

func existing(tags map[string]string) func(*testing.T, *kindtest.Rig) {
	return func(t *testing.T, r *kindtest.Rig) { makeQueue(t, r, name, nil, tags) }
}

// targets makes the queues that dead letters go to.
func targets(s *kindtest.Subject) {
	for _, name := range []string{"failed", "other"} {
		if _, err := api(s.Rig).CreateQueue(context.Background(), &sqs.CreateQueueInput{QueueName: &name}); err != nil {
			panic(err)
		}
	}
	s.Targets = map[string]kind.Target{"KMSKey/orders": {ID: "1234abcd-12ab-34cd-56ef-1234567890ab", ARN: key},
		"SQSQueue/failed": {ID: "failed", ARN: arnBase + "failed"}}
}

func urlOf(t *testing.T, r *kindtest.Rig, name string) *string {
	t.Helper()
	out, err := api(r).GetQueueUrl(t.Context(), &sqs.GetQueueUrlInput{QueueName: &name})
	kindtest.Must(t, err)
	return out.QueueUrl
}

func exists(t *testing.T, r *kindtest.Rig) bool {
	t.Helper()
	_, err := api(r).GetQueueUrl(t.Context(), &sqs.GetQueueUrlInput{QueueName: aws.String(name)})
	if err != nil && !awsclient.IsNotFound(err) {
		t.Fatal(err)
	}
	return err == nil
}

func deleteQueue(t *testing.T, r *kindtest.Rig) {
	t.Helper()
	_, err := api(r).DeleteQueue(t.Context(), &sqs.DeleteQueueInput{QueueUrl: urlOf(t, r, name)})
	kindtest.Must(t, err)
}

// change sets attributes of the queue outside the operator, by pairs of name and value.
func change(pairs ...string) func(*testing.T, *kindtest.Rig) { return changeOf(name, pairs...) }

func changeOf(queue string, pairs ...string) func(*testing.T, *kindtest.Rig) {
	return func(t *testing.T, r *kindtest.Rig) {
		t.Helper()
		in := &sqs.SetQueueAttributesInput{QueueUrl: urlOf(t, r, queue), Attributes: map[string]string{}}
		for pair := range slices.Chunk(pairs, 2) {
			in.Attributes[pair[0]] = pair[1]
		}
		_, err := api(r).SetQueueAttributes(t.Context(), in)
		kindtest.Must(t, err)
	}
}

func send(t *testing.T, r *kindtest.Rig) {
	t.Helper()
	for _, body := range []string{"one", "two"} {
		_, err := api(r).SendMessage(t.Context(), &sqs.SendMessageInput{QueueUrl: urlOf(t, r, name), MessageBody: &body})
		kindtest.Must(t, err)
	}
	_, err := api(r).ReceiveMessage(t.Context(),
		&sqs.ReceiveMessageInput{QueueUrl: urlOf(t, r, name), MaxNumberOfMessages: 1, VisibilityTimeout: 3600})
	kindtest.Must(t, err)
}

func ownerTags(uid, cluster string) map[string]string {
	return engine.Identity{Kind: "SQSQueue", Namespace: kindtest.Namespace, Name: name, UID: uid, Cluster: cluster}.OwnerTags()
}

var ownerPaths = []string{"Tags[nexus.ai/cluster]", "Tags[nexus.ai/managed-by]", "Tags[nexus.ai/owner]", "Tags[nexus.ai/owner-uid]"}

func TestQueue(t *testing.T) {
	kindtest.Run(t, engine.For(NewQueue), slices.Concat(lives(), refusals(), edits(), drifts(), deletions(), owners()))
}

func lives() []kindtest.Case {
	return []kindtest.Case{
		{Name: "absent is created by one call", Object: queueOf(), Cause: engine.New, Actions: []string{create}},
		{Name: "with every number, zeros too", Object: queueOf(everything), Cause: engine.New, Actions: []string{create}},
		{Name: "with a policy and tags", Object: queueOf(policy(denyPlain), tagged("team", "a")), Cause: engine.New, Actions: []string{create}},
		{Name: "with a KMS key", Object: queueOf(kms(key), func(s *spec) { s.KMSDataKeyReusePeriodSeconds = aws.Int32(600) }), Cause: engine.New,
			Actions: []string{create}},
		{Name: "with a key of SQS", Object: queueOf(managed(true)), Cause: engine.New, Actions: []string{create}},
		{Name: "without encryption", Object: queueOf(managed(false)), Cause: engine.New, Actions: []string{create}},
		{Name: "with a dead-letter queue by ARN", Object: queueOf(letters("failed", 5)), Facts: targets, Cause: engine.New,
			Actions: []string{create}},
		{Name: "with a dead-letter queue by reference", Object: queueOf(lettersTo("failed")), Facts: targets, Cause: engine.New,
			Actions: []string{create}},
		{Name: "a FIFO queue", Object: queueOf(fifo, func(s *spec) {
			s.ContentBasedDeduplication, s.DeduplicationScope, s.FifoThroughputLimit = aws.Bool(true), aws.String("messageGroup"),
				aws.String("perMessageGroupId")
		}), Cause: engine.New, Actions: []string{create}},
		{Name: "cleared settings that a new queue does not have", Existing: queueOf(), Object: queueOf(noLetters, kms(""), policy("")),
			Cause: engine.InSync},
		{Name: "settings that are no longer declared stay as they are", Existing: queueOf(everything, policy(denyPlain)), Object: queueOf(),
			Cause: engine.InSync},
		{Name: "false deduplication of a standard queue is no attribute",
			Object: queueOf(func(s *spec) { s.ContentBasedDeduplication = aws.Bool(false) }), Cause: engine.New, Actions: []string{create}},
		{Name: "a lost queue is reported, not created again", Existing: queueOf(), Object: queueOf(), Drift: true, Facts: clocked,
			Before: deleteQueue, Stalled: status.ReasonMissing},
		{Name: "and created again where the object says so", Existing: queueOf(recreate), Object: queueOf(recreate), Drift: true, Facts: clocked,
			Before: deleteQueue,
			Cause:  engine.New, Actions: []string{create}},
	}
}

func refusals() []kindtest.Case {
	refused := func(name string, edits ...func(s *spec)) kindtest.Case {
		return kindtest.Case{Name: name, Object: queueOf(edits...), Stalled: status.ReasonInvalidSpec}
	}
	return []kindtest.Case{
		refused("a FIFO queue whose name does not end in .fifo", fifo, func(s *spec) { s.QueueName = name }),
		refused("a name that ends in .fifo of a standard queue", fifo, func(s *spec) { s.FifoQueue = false }),
		refused("deduplication of a standard queue", func(s *spec) { s.ContentBasedDeduplication = aws.Bool(true) }),
		refused("a scope of deduplication of a standard queue", func(s *spec) { s.DeduplicationScope = aws.String("queue") }),
		refused("a throughput limit of a standard queue", func(s *spec) { s.FifoThroughputLimit = aws.String("perQueue") }),
		refused("high throughput without its scope", fifo, func(s *spec) { s.FifoThroughputLimit = aws.String("perMessageGroupId") }),
		refused("two types of encryption", kms(key), managed(true)),
		refused("two types of encryption, one by reference", kmsBy("orders"), managed(true)),
		refused("a KMS key and a reference to one", kms(key), kmsBy("orders")),
		refused("a reuse period without a KMS key", func(s *spec) { s.KMSDataKeyReusePeriodSeconds = aws.Int32(60) }),
		refused("two dead-letter queues", letters("failed", 1),
			func(s *spec) { s.DeadLetterQueue.TargetRef = &v1alpha1.ObjectReference{Name: "failed"} }),
		refused("a dead-letter queue without a count", letters("failed", 1), func(s *spec) { s.DeadLetterQueue.MaxReceiveCount = nil }),
		refused("a count without a dead-letter queue", noLetters, func(s *spec) { s.DeadLetterQueue.MaxReceiveCount = aws.Int32(1) }),
		refused("a FIFO dead-letter queue of a standard queue", letters("failed.fifo", 1)),
		refused("the queue as its own dead-letter queue", lettersTo(name)),
		refused("a policy that is no document", policy("{")),
		refused("a delay of more than 15 minutes", func(s *spec) { s.DelaySeconds = aws.Int32(901) }),
	}
}

func edits() []kindtest.Case {
	number := func(path string, put func(s *spec, v *int32), from, to int32) kindtest.Case {
		return kindtest.Case{Name: path + " is edited", Existing: queueOf(func(s *spec) { put(s, &from) }),
			Object: queueOf(func(s *spec) { put(s, &to) }),
			Cause:  engine.Edited, Diff: []string{path}, Actions: []string{set}}
	}
	return []kindtest.Case{
		number("DelaySeconds", func(s *spec, v *int32) { s.DelaySeconds = v }, 5, 0),
		number("MaximumMessageSize", func(s *spec, v *int32) { s.MaximumMessageSize = v }, 1024, 2048),
		number("MessageRetentionPeriod", func(s *spec, v *int32) { s.MessageRetentionPeriod = v }, 60, 120),
		number("VisibilityTimeout", func(s *spec, v *int32) { s.VisibilityTimeout = v }, 30, 0),
		number("ReceiveMessageWaitTimeSeconds", func(s *spec, v *int32) { s.ReceiveMessageWaitTimeSeconds = v }, 20, 0),
		{Name: "many attributes take one call", Existing: queueOf(), Object: queueOf(everything), Cause: engine.Edited,
			Diff:    []string{"MaximumMessageSize", "MessageRetentionPeriod", "VisibilityTimeout", "ReceiveMessageWaitTimeSeconds"},
			Actions: []string{set}},
		{Name: "deduplication by content", Existing: queueOf(fifo),
			Object: queueOf(fifo, func(s *spec) { s.ContentBasedDeduplication = aws.Bool(true) }),
			Cause:  engine.Edited, Diff: []string{"ContentBasedDeduplication"}, Actions: []string{set}},
		{Name: "deduplication by content is turned off", Existing: queueOf(fifo, func(s *spec) { s.ContentBasedDeduplication = aws.Bool(true) }),
			Object: queueOf(fifo, func(s *spec) { s.ContentBasedDeduplication = aws.Bool(false) }), Cause: engine.Edited,
			Diff: []string{"ContentBasedDeduplication"}, Actions: []string{set}},
		{Name: "high throughput", Existing: queueOf(fifo), Object: queueOf(fifo, func(s *spec) {
			s.DeduplicationScope, s.FifoThroughputLimit = aws.String("messageGroup"), aws.String("perMessageGroupId")
		}), Cause: engine.Edited, Diff: []string{"DeduplicationScope", "FifoThroughputLimit"}, Actions: []string{set}},
		{Name: "a KMS key replaces the key of SQS", Existing: queueOf(managed(true)), Object: queueOf(kms(key)), Cause: engine.Edited,
			Diff: []string{"KmsMasterKeyId", "SqsManagedSseEnabled"}, Actions: []string{set}},
		{Name: "the key of SQS replaces a KMS key", Existing: queueOf(kms(key)), Object: queueOf(managed(true)), Cause: engine.Edited,
			Diff: []string{"KmsMasterKeyId", "SqsManagedSseEnabled"}, Actions: []string{set}},
		{Name: "a KMS key by reference", Existing: queueOf(managed(true)), Object: queueOf(kmsBy("orders")), Facts: targets, Cause: engine.Edited,
			Diff: []string{"KmsMasterKeyId", "SqsManagedSseEnabled"}, Actions: []string{set}},
		{Name: "a reference to the key of the ARN", Existing: queueOf(kms(key)), Object: queueOf(kmsBy("orders")), Facts: targets,
			Cause: engine.InSync},
		{Name: "a KMS key is cleared", Existing: queueOf(kms(key)), Object: queueOf(kms("")), Cause: engine.Edited,
			Diff: []string{"KmsMasterKeyId"}, Actions: []string{set}},
		{Name: "the key's ID names the key of the ARN", Existing: queueOf(kms(key)), Object: queueOf(kms("1234abcd-12ab-34cd-56ef-1234567890ab")),
			Cause: engine.InSync},
		{Name: "the reuse period of data keys", Existing: queueOf(kms(key)),
			Object: queueOf(kms(key), func(s *spec) { s.KMSDataKeyReusePeriodSeconds = aws.Int32(60) }),
			Cause:  engine.Edited, Diff: []string{"KmsDataKeyReusePeriodSeconds"}, Actions: []string{set}},
		{Name: "encryption is turned off", Existing: queueOf(managed(true)), Object: queueOf(managed(false)), Cause: engine.Edited,
			Diff: []string{"SqsManagedSseEnabled"}, Actions: []string{set}},
		{Name: "a policy is set", Existing: queueOf(), Object: queueOf(policy(denyPlain)), Cause: engine.Edited, Diff: []string{"Policy"},
			Actions: []string{set}},
		{Name: "another policy", Existing: queueOf(policy(denyPlain)), Object: queueOf(policy(allowSend)), Cause: engine.Edited,
			Diff: []string{"Policy"}, Actions: []string{set}},
		{Name: "the same policy in other words", Existing: queueOf(policy(denyPlain)), Object: queueOf(policy(denyPlainAgain)),
			Cause: engine.InSync},
		{Name: "a policy is removed", Existing: queueOf(policy(denyPlain)), Object: queueOf(policy("")), Cause: engine.Edited,
			Diff: []string{"Policy"}, Actions: []string{set}},
		{Name: "a change of a number keeps the policy", Existing: queueOf(policy(denyPlain)), Object: queueOf(policy(denyPlain), everything),
			Cause:   engine.Edited,
			Diff:    []string{"MaximumMessageSize", "MessageRetentionPeriod", "VisibilityTimeout", "ReceiveMessageWaitTimeSeconds"},
			Actions: []string{set}},
		{Name: "a dead-letter queue is set", Existing: queueOf(), Object: queueOf(lettersTo("failed")), Facts: targets, Cause: engine.Edited,
			Diff: []string{"DeadLetter.TargetARN", "DeadLetter.MaxReceiveCount"}, Actions: []string{set}},
		{Name: "another count", Existing: queueOf(letters("failed", 5)), Object: queueOf(letters("failed", 6)), Facts: targets,
			Cause: engine.Edited,
			Diff:  []string{"DeadLetter.MaxReceiveCount"}, Actions: []string{set}},
		{Name: "another dead-letter queue", Existing: queueOf(letters("failed", 5)), Object: queueOf(letters("other", 5)), Facts: targets,
			Cause: engine.Edited,
			Diff:  []string{"DeadLetter.TargetARN"}, Actions: []string{set}},
		{Name: "a reference to the queue of the ARN", Existing: queueOf(letters("failed", 3)), Object: queueOf(lettersTo("failed")),
			Facts: targets, Cause: engine.InSync},
		{Name: "a dead-letter queue is removed", Existing: queueOf(letters("failed", 5)), Object: queueOf(noLetters), Facts: targets,
			Cause: engine.Edited,
			Diff:  []string{"DeadLetter.TargetARN", "DeadLetter.MaxReceiveCount"}, Actions: []string{set}},
		{Name: "tags are added and dropped", Existing: queueOf(tagged("old", "1")), Object: queueOf(tagged("team", "a")), Cause: engine.Edited,
			Diff: []string{"Tags[team]", "Tags[old]"}, Actions: []string{tag, untag}},
	}
}

func drifts() []kindtest.Case {
	drift := func(path string, object *v1alpha1.SQSQueue, pairs ...string) kindtest.Case {
		return kindtest.Case{Name: path + " is restored", Existing: object, Object: object, Drift: true, Facts: targets,
			Before: changeOf(object.Spec.QueueName, pairs...),
			Cause:  engine.Drifted, Diff: []string{path}, Actions: []string{set}}
	}
	high := queueOf(fifo, func(s *spec) {
		s.ContentBasedDeduplication, s.DeduplicationScope, s.FifoThroughputLimit = aws.Bool(true), aws.String("messageGroup"),
			aws.String("perMessageGroupId")
	})
	return []kindtest.Case{
		drift("DelaySeconds", queueOf(everything), "DelaySeconds", "7"),
		drift("MaximumMessageSize", queueOf(everything), "MaximumMessageSize", "2048"),
		drift("MessageRetentionPeriod", queueOf(everything), "MessageRetentionPeriod", "60"),
		drift("VisibilityTimeout", queueOf(everything), "VisibilityTimeout", "30"),
		drift("ReceiveMessageWaitTimeSeconds", queueOf(everything), "ReceiveMessageWaitTimeSeconds", "1"),
		drift("ContentBasedDeduplication", high, "ContentBasedDeduplication", "false"),
		drift("DeduplicationScope", high, "DeduplicationScope", "queue"),
		drift("FifoThroughputLimit", high, "FifoThroughputLimit", "perQueue"),
		drift("KmsMasterKeyId", queueOf(kms(key)), "KmsMasterKeyId", "alias/other"),
		drift("KmsDataKeyReusePeriodSeconds", queueOf(kms(key), func(s *spec) { s.KMSDataKeyReusePeriodSeconds = aws.Int32(60) }),
			"KmsDataKeyReusePeriodSeconds", "300"),
		drift("SqsManagedSseEnabled", queueOf(managed(true)), "SqsManagedSseEnabled", "false"),
		drift("Policy", queueOf(policy(denyPlain)), "Policy", allowSend),
		drift("DeadLetter.MaxReceiveCount", queueOf(letters("failed", 5)), redrivePolicy, DeadLetter{arnBase + "failed", 9}.encode()),
		drift("DeadLetter.TargetARN", queueOf(letters("failed", 5)), redrivePolicy, DeadLetter{arnBase + "other", 5}.encode()),
		{Name: "a count that was set as a text is the same", Existing: queueOf(letters("failed", 5)), Object: queueOf(letters("failed", 5)),
			Drift: true, Facts: targets,
			Before: change(redrivePolicy, `{"deadLetterTargetArn":"`+arnBase+`failed","maxReceiveCount":"5"}`), Cause: engine.InSync},
		{Name: "settings that are not declared may change", Existing: queueOf(), Object: queueOf(), Drift: true,
			Before: change("VisibilityTimeout", "7", "Policy", allowSend), Cause: engine.InSync},
		{Name: "tags of others stay", Existing: queueOf(tagged("team", "a")), Object: queueOf(tagged("team", "a")), Drift: true,
			Cause: engine.InSync,
			Before: func(t *testing.T, r *kindtest.Rig) {
				_, err := api(r).TagQueue(t.Context(), &sqs.TagQueueInput{QueueUrl: urlOf(t, r, name), Tags: map[string]string{"theirs": "1"}})
				kindtest.Must(t, err)
			}},
	}
}

func deletions() []kindtest.Case {
	deleting := func(c kindtest.Case) kindtest.Case {
		c.Existing, c.Deleting, c.Drift = c.Object, true, true
		if c.Waiting == "" && c.Cause == "" {
			c.Cause, c.Actions = engine.Deleting, []string{remove}
		}
		return c
	}
	return []kindtest.Case{
		deleting(kindtest.Case{Name: "deleting", Object: queueOf(everything)}),
		deleting(kindtest.Case{Name: "deleting a queue with messages waits", Object: queueOf(), Before: send,
			Waiting: status.ReasonQueueNotEmpty}),
		deleting(kindtest.Case{Name: "forceDestroy deletes the messages too", Object: queueOf(destroy), Before: send}),
		deleting(kindtest.Case{Name: "but not those of a guarded queue", Object: queueOf(destroy), Before: send, Facts: guarded,
			Waiting: status.ReasonDataWouldBeLost}),
		deleting(kindtest.Case{Name: "deleting an empty guarded queue", Object: queueOf(), Facts: guarded}),
		deleting(kindtest.Case{Name: "deleting a queue that is gone", Object: queueOf(), Before: deleteQueue, Cause: engine.Gone}),
		deleting(kindtest.Case{Name: "deleting with Orphan takes our tags off and nothing else",
			Object: queueOf(deletion(v1alpha1.DeletionOrphan)), Before: send,
			Cause: engine.Deleting, Diff: ownerPaths, Actions: []string{untag}}),
		deleting(kindtest.Case{Name: "a reference that is gone does not stop a deletion", Object: queueOf(lettersTo("failed")),
			Facts: targets, Before: func(t *testing.T, r *kindtest.Rig) {
				_, err := api(r).DeleteQueue(t.Context(), &sqs.DeleteQueueInput{QueueUrl: urlOf(t, r, "failed")})
				kindtest.Must(t, err)
			}}),
	}
}

func owners() []kindtest.Case {
	always := func(s *spec) { s.AdoptionPolicy, s.DeletionPolicy = v1alpha1.AdoptAlways, v1alpha1.DeletionRetain }
	return []kindtest.Case{
		{Name: "left by an earlier object of this name, it is taken over", Object: queueOf(),
			Before: existing(ownerTags("an-earlier-one", kindtest.Cluster)),
			Cause:  engine.Edited, Diff: []string{"Tags[nexus.ai/owner-uid]"}, Actions: []string{tag}},
		{Name: "unless adoption is refused", Object: queueOf(func(s *spec) { s.AdoptionPolicy = v1alpha1.AdoptNever }),
			Before: existing(ownerTags("an-earlier-one", kindtest.Cluster)), Stalled: status.ReasonConflict},
		{Name: "another cluster's is left alone", Object: queueOf(), Before: existing(ownerTags("uid-of-"+name, "another")),
			Stalled: status.ReasonConflict},
		{Name: "a queue without owner is left alone", Object: queueOf(), Before: existing(nil), Stalled: status.ReasonConflict},
		{Name: "a queue without owner is adopted where user and provider say so", Object: queueOf(always), Before: existing(nil),
			Facts: func(s *kindtest.Subject) { s.AllowAdoption = true }, Cause: engine.Edited, Diff: ownerPaths, Actions: []string{tag}},
	}
}

func life() kindtest.Life {
	return kindtest.Life{
		Sample: queueOf(everything, policy(denyPlain), tagged("team", "a")), Exists: exists,
		Foreign: existing(map[string]string{"owner": "somebody"}),
		Invalid: []v1alpha1.Resource{queueOf(policy("{")), queueOf(lettersTo(name))},
		Edited: queueOf(policy(allowSend), tagged("team", "b"),
			func(s *spec) { s.VisibilityTimeout, s.DelaySeconds = aws.Int32(9), aws.Int32(5) }),
	}
}

func TestQueueSurvivesFaults(t *testing.T) { kindtest.Faults(t, engine.For(NewQueue), life()) }

func TestQueueSurvivesLag(t *testing.T) { kindtest.Lag(t, engine.For(NewQueue), life()) }

func subject(t *testing.T, o *v1alpha1.SQSQueue) (*kindtest.Subject, *kindtest.Rig) {
	t.Helper()
	r := kindtest.NewRig(t)
	return kindtest.NewSubject(r, engine.For(NewQueue), o), r
}

func TestQueueCosts(t *testing.T) {
	s, _ := subject(t, queueOf(everything, policy(denyPlain), tagged("team", "a")))
	kindtest.Costs(t, s,
		kindtest.Cost{Name: "create", Calls: map[string]int{"CreateQueue": 1, "GetQueueUrl": 2, "GetQueueAttributes": 1, "ListQueueTags": 1}},
		kindtest.Cost{Name: "check", Calls: map[string]int{"GetQueueAttributes": 1, "ListQueueTags": 1}},
		kindtest.Cost{Name: "check after a restart", Calls: map[string]int{"GetQueueAttributes": 1, "ListQueueTags": 1}, Change: s.Forget},
		kindtest.Cost{Name: "edit", Calls: map[string]int{"SetQueueAttributes": 1, "GetQueueAttributes": 2, "ListQueueTags": 2},
			Change: func() { s.Edit(queueOf(tagged("team", "a"), kms(key))) }},
		kindtest.Cost{Name: "delete", Calls: map[string]int{"DeleteQueue": 1, "GetQueueAttributes": 2, "ListQueueTags": 1},
			Change: func() { s.Deleting = true }})
}

// SQS refuses the name of a queue that was deleted within the last minute. The object waits, and does not fail.
func TestTheNameOfADeletedQueueIsWaitedFor(t *testing.T) {
	s, r := subject(t, queueOf())
	clocked(s)
	makeQueue(t, r, name, nil, nil)
	deleteQueue(t, r)
	_, err := s.Pass(t.Context(), nil)
	if w, ok := status.AsWaiting(err); !ok || w.Reason != status.ReasonBusy || w.After < 30*time.Second ||
		!strings.Contains(w.For, "60 seconds") {
		t.Fatalf("got %v, want to wait", err)
	}
	if c := s.Object.CommonStatus().Conditions; len(c) == 0 || slices.ContainsFunc(c, func(c metav1.Condition) bool {
		return c.Type == status.Stall && c.Status == "True" || c.Type == status.Ready && (c.Status != "False" || c.Reason != status.ReasonBusy)
	}) {
		t.Errorf("conditions %+v", c)
	}
	kindtest.Settled(t, s)
	if n := r.AWS.Calls().Match("sqs", "CreateQueue", "").Count(); n > 4 {
		t.Errorf("%d creates:\n%s", n, r.AWS.Calls())
	}
}

// CreateQueue succeeds where a queue of the name has the attributes of the request, no matter who owns it.
func TestACreateThatMetAForeignQueueClaimsNothing(t *testing.T) {
	s, r := subject(t, queueOf(tagged("team", "a")))
	foreign := ownerTags("uid-of-"+name, "another")
	var made error
	r.AWS.Fault(emulator.Match{Service: "sqs", Op: "GetQueueUrl", Times: 1}, emulator.Observe(func() { // after the look before the create
		_, made = api(r).CreateQueue(context.Background(), &sqs.CreateQueueInput{QueueName: aws.String(name), Tags: foreign})
	}))
	_, err := s.Settle(t.Context(), nil)
	kindtest.Must(t, made)
	if st, ok := status.AsStalled(err); !ok || st.Reason != status.ReasonConflict {
		t.Fatalf("got %v, want a conflict", err)
	}
	if n := r.AWS.Calls().Match("sqs", "CreateQueue", "").Count(); n != 2 {
		t.Fatalf("%d creates, want the foreign one and the one that met it:\n%s", n, r.AWS.Calls())
	}
	s.Deleting = true
	kindtest.Settled(t, s)
	out, err := api(r).ListQueueTags(t.Context(), &sqs.ListQueueTagsInput{QueueUrl: urlOf(t, r, name)})
	kindtest.Must(t, err)
	if !maps.Equal(out.Tags, foreign) {
		t.Errorf("the foreign queue has tags %v\n%s", out.Tags, r.AWS.Calls())
	}
}

func TestAReferenceToAQueueThatIsNotReadyIsWaitedFor(t *testing.T) {
	s, r := subject(t, queueOf(lettersTo("failed")))
	_, err := s.Pass(t.Context(), nil)
	if w, ok := status.AsWaiting(err); !ok || w.For != "SQSQueue/failed" || r.AWS.Calls().Count() > 0 {
		t.Fatalf("got %v, want to wait for the queue\n%s", err, r.AWS.Calls())
	}
	targets(s)
	kindtest.Settled(t, s)
}

func TestMessagesHoldADeletionAndAreCounted(t *testing.T) {
	s, r := subject(t, queueOf())
	kindtest.Settled(t, s)
	send(t, r)
	s.Deleting = true
	_, err := s.Settle(t.Context(), nil)
	if err == nil || !strings.Contains(err.Error(),
		"about 2 messages; receive or purge them, set forceDestroy: true, or set deletionPolicy: Retain") {
		t.Fatalf("got %v", err)
	}
	if n := r.AWS.Calls().Match("sqs", "DeleteQueue", "").Count(); n > 0 {
		t.Errorf("%d deletes", n)
	}
	_, err = api(r).PurgeQueue(t.Context(), &sqs.PurgeQueueInput{QueueUrl: urlOf(t, r, name)})
	kindtest.Must(t, err)
	kindtest.Settled(t, s)
	if exists(t, r) {
		t.Error("the queue was left behind")
	}
}

// The URL in the status leads only to a queue of this name in this account.
func TestAForgedURLIsNotUsed(t *testing.T) {
	s, r := subject(t, queueOf())
	kindtest.Settled(t, s)
	victim := makeQueue(t, r, "victim", nil, nil)
	s.Object.(*v1alpha1.SQSQueue).Status.QueueURL = victim
	mark := r.AWS.Mark()
	s.Edit(queueOf(everything))
	kindtest.Settled(t, s)
	if n := r.AWS.Since(mark).Match("sqs", "", "victim").Count(); n > 0 {
		t.Errorf("%d calls to another queue:\n%s", n, r.AWS.Since(mark))
	}
}

// Operators that search by a part of a name have taken, and deleted, queues of longer names.
func TestQueuesOfSimilarNamesAreLeftAlone(t *testing.T) {
	s, r := subject(t, queueOf(tagged("team", "a")))
	similar := []string{"my-" + name, name + "-old"}
	for _, n := range similar {
		makeQueue(t, r, n, nil, ownerTags("uid-of-"+n, "another"))
	}
	mark := r.AWS.Mark()
	kindtest.Settled(t, s)
	if !exists(t, r) {
		t.Fatal("the queue was not created")
	}
	s.Edit(queueOf(everything))
	kindtest.Settled(t, s)
	s.Deleting = true
	kindtest.Settled(t, s)
	if exists(t, r) {
		t.Error("the queue was left behind")
	}
	for _, n := range similar {
		if calls := r.AWS.Since(mark).Match("sqs", "", n); calls.Count() > 0 || urlOf(t, r, n) == nil {
			t.Errorf("calls about %s:\n%s", n, calls)
		}
	}
}

func TestPublishedFields(t *testing.T) {
	s, r := subject(t, queueOf())
	kindtest.Settled(t, s)
	o := s.Object.(*v1alpha1.SQSQueue)
	if st := o.Status; st.ARN != arnBase+name || st.QueueARN != st.ARN || st.ID != name || st.QueueURL != *urlOf(t, r, name) {
		t.Errorf("%+v", st)
	}
	if got := any(o).(kind.Referable).ReferableAttributes(); got["queueURL"] != o.Status.QueueURL {
		t.Error(got)
	}
}
