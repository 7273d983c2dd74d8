// SPDX-License-Identifier: Apache-2.0

// Package messages holds spec.dataServices.queues and spec.dataServices.topics, which send to queues.
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

// The defaults of a queue. The first two are AWS's own defaults.
const (
	defaultVisibilitySeconds int32 = 30
	defaultRetentionSeconds  int32 = 345600
	defaultMaxReceiveCount   int32 = 5
	// maxRetentionSeconds is that of dead-letter queues: a message that moves there keeps its age.
	// https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-dead-letter-queues.html
	maxRetentionSeconds int32 = 1209600
	// longPollSeconds is the longest wait of a receive call, which costs the fewest requests.
	longPollSeconds int32 = 20
)

// Names of the queues: of their kind, step, access and purposes.
const (
	kindQueue        = "SQSQueue"
	StepSQS          = "SQS"
	ofQueues         = "queues"
	deadLetterEnding = "-dlq"
	fifoEnding       = ".fifo" // of every FIFO queue and topic
)

// queueNames fits the names of queues in SQS.
var queueNames = regexp.MustCompile(`^[A-Za-z0-9_-]+([.]fifo)?$`)

// existingQueues describes the ARNs of queues that exist already.
var existingQueues = part.ExistingKind{Noun: "queue", Service: "sqs", Names: queueNames, Most: 80}

// Queues is spec.dataServices.queues.
func Queues() part.Part {
	return part.Part{
		Steps: []part.Step{{Name: StepSQS, Phase: nexusv1.PhaseProvisioningDataServices, Condition: nexusv1.ConditionDataServicesReady}},
		Kinds: []part.KindFacts{{
			Kind: kindQueue, Step: StepSQS, Removed: part.Removal{Stage: part.RemovesData + 40}, Grants: true, Store: true, IsBilled: true,
			Refusal:  "is declared in spec.dataServices.queues",
			Existing: &existingQueues,
			Doom:     doomQueue,
		}},
		Checks: []part.Turn[part.Checking]{part.At(40, func(v *part.Verdict, c *nexusv1.NexusAICapability, _ part.Facts) {
			checkQueues(v, "spec.dataServices.queues", part.DataOf(&c.Spec).Queues)
		})},
		Compile: []func(*part.Compiler){addQueues},
		Rights:  []part.Turn[part.Granting]{part.At(60, queueStatements)},
		Values:  queueValues,
		Entries: part.Stores[nexusv1.QueueSpec]{
			Place: 40, Field: ofQueues, EncryptedBy: "sqs", At: "spec.dataServices.queues", Of: existingQueue,
			Declared: func(s *nexusv1.NexusAICapabilitySpec) []nexusv1.QueueSpec { return part.DataOf(s).Queues },
			Selected: selectedQueues,
			Set:      func(data *nexusv1.DataServicesSpec, list []nexusv1.QueueSpec) { data.Queues = list },
			Describes: func(q nexusv1.QueueSpec) map[string]bool {
				return map[string]bool{"fifo": q.FIFO, "visibilityTimeoutSeconds": q.VisibilityTimeoutSeconds != nil,
					"messageRetentionSeconds": q.MessageRetentionSeconds != nil, "deadLetter": q.DeadLetter != nil, "forceDestroy": q.ForceDestroy}
			},
		}.Entries(),
	}
}

func doomQueue(c *nexusv1.NexusAICapability, want awsv1.Resource, mayDeleteData bool) {
	o := want.(*awsv1.SQSQueue)
	force, known := ForceDestroyQueue(c, o.Name)
	part.AllowForce(&o.Spec.ForceDestroy, mayDeleteData, force, known)
}

// selectedQueues returns the declared queues by name.
func selectedQueues(s *nexusv1.NexusAICapabilitySpec) []nexusv1.QueueSpec {
	return part.ByName(slices.Clone(part.DataOf(s).Queues), func(q nexusv1.QueueSpec) string { return q.Name })
}

func addQueues(k *part.Compiler) {
	for _, q := range selectedQueues(k.Spec) {
		if e := existingQueue(q); e.Store != nil {
			k.Observe(e, StepSQS, "sqs", &awsv1.SQSQueue{Spec: awsv1.SQSQueueSpec{QueueName: e.NameIn(),
				FifoQueue: strings.HasSuffix(e.NameIn(), fifoEnding)}})
			continue
		}
		var after []graph.Edge
		o := &awsv1.SQSQueue{Spec: queueSpec(k, q.Name, q)}
		o.Spec.Policy = new(deliveryPolicy(k, q))
		o.Spec.VisibilityTimeout = new(part.Int32Or(q.VisibilityTimeoutSeconds, defaultVisibilitySeconds))
		o.Spec.MessageRetentionPeriod = new(part.Int32Or(q.MessageRetentionSeconds, defaultRetentionSeconds))
		if d := q.DeadLetter; d != nil {
			aside := &awsv1.SQSQueue{Spec: queueSpec(k, deadLetter(q.Name), q)}
			id := addQueue(k, deadLetter(q.Name), aside, nil)
			after = graph.NeedReady(id)
			o.Spec.DeadLetterQueue = &awsv1.SQSDeadLetterQueue{
				TargetRef:       &awsv1.ObjectReference{Name: k.Names.Of(deadLetter(q.Name))},
				MaxReceiveCount: new(part.Int32Or(d.MaxReceiveCount, defaultMaxReceiveCount)),
			}
		}
		addQueue(k, q.Name, o, after)
	}
}

func addQueue(k *part.Compiler, purpose string, o *awsv1.SQSQueue, after []graph.Edge) string {
	id := k.Resource(part.Child{Kind: kindQueue, Name: k.Names.Of(purpose), Step: StepSQS, Component: "sqs"}, o,
		append(after, k.AfterKey("")...)...)
	k.AddGrant(id)
	return id
}

// queueSpec sets every field, so that a setting that a user removes returns to its default.
func queueSpec(k *part.Compiler, purpose string, q nexusv1.QueueSpec) awsv1.SQSQueueSpec {
	out := awsv1.SQSQueueSpec{
		QueueName: messageName(k.Names, purpose, q.FIFO), FifoQueue: q.FIFO,
		DelaySeconds:                  new(int32(0)),
		VisibilityTimeout:             new(defaultVisibilitySeconds),
		MessageRetentionPeriod:        new(maxRetentionSeconds),
		ReceiveMessageWaitTimeSeconds: new(longPollSeconds),
		DeadLetterQueue:               &awsv1.SQSDeadLetterQueue{},
		Policy:                        new(""),
		ForceDestroy:                  q.ForceDestroy,
		RecreateOnLoss:                true,
	}
	if q.FIFO {
		out.ContentBasedDeduplication = new(false)
	}
	if key := k.StoreKey(""); key != "" {
		out.KMSMasterKeyID = &key
	} else {
		out.SQSManagedSSEEnabled = new(true)
	}
	return out
}

// queueURL returns the URL of a queue, in the form that SQS returns.
// https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-queue-message-identifiers.html
func queueURL(h part.Home, name string) string {
	return "https://" + h.Service("sqs") + "/" + h.Account + "/" + name
}

// queueURLs are the URLs of all queues by their purposes.
func queueURLs(k *part.Compiler) map[string]string {
	out := map[string]string{}
	for _, q := range selectedQueues(k.Spec) {
		out[q.Name] = queueURL(k.Home, nameInSQS(k, q))
		if aside := deadLetter(q.Name); q.DeadLetter != nil {
			out[aside] = queueURL(k.Home, messageName(k.Names, aside, q.FIFO))
		}
	}
	return out
}

// queueValues returns the settings with the URLs of the queues.
func queueValues(k *part.Compiler) (out []part.Value) {
	for purpose, url := range queueURLs(k) {
		out = append(out, part.Value{Parameter: "sqs/" + purpose + "-queue-url",
			Variable: "NEXUS_SQS_QUEUE_URL_" + part.EnvironmentVariable(purpose), Text: url})
	}
	return out
}

// nameInSQS is the name of a queue in SQS.
func nameInSQS(k *part.Compiler, q nexusv1.QueueSpec) string {
	if e := existingQueue(q); e.Store != nil {
		return e.NameIn()
	}
	return messageName(k.Names, q.Name, q.FIFO)
}

// consume lists the actions for receiving from a queue.
// https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazonsqs.html
var consume = []string{"sqs:ChangeMessageVisibility", "sqs:DeleteMessage", "sqs:GetQueueAttributes", "sqs:GetQueueUrl",
	"sqs:ReceiveMessage"}

// queueStatements allow sending to the queues, and receiving from them and from their dead-letter queues. SQS alone sends to dead-letter
// queues.
func queueStatements(k *part.Compiler) []iampolicy.Statement {
	var sent, received []string
	add := func(list *[]string, purpose string, fifo bool) {
		if arn := k.Owned(kindQueue+"/"+k.Names.Of(purpose), k.Home.ARN("sqs", messageName(k.Names, purpose, fifo))); arn != "" {
			*list = append(*list, arn)
		}
	}
	for _, q := range selectedQueues(k.Spec) {
		if e := existingQueue(q); e.Store != nil {
			sent = part.AppendARN(sent, k.External(e))
			continue
		}
		add(&sent, q.Name, q.FIFO)
		if q.DeadLetter != nil {
			add(&received, deadLetter(q.Name), q.FIFO)
		}
	}
	return part.WithResources(
		iampolicy.Statement{Sid: "Queues", Action: append(slices.Clone(consume), "sqs:SendMessage"), Resource: sent},
		iampolicy.Statement{Sid: "DeadLetterQueues", Action: consume, Resource: received})
}

// ForceDestroyQueue reports whether the messages of a queue may be deleted with it; known is false for a queue that the
// capability does not declare.
func ForceDestroyQueue(c *nexusv1.NexusAICapability, name string) (force, known bool) {
	for _, q := range selectedQueues(&c.Spec) {
		if n := part.NamesOf(c).Of(q.Name); q.Existing == nil && (name == n || q.DeadLetter != nil && name == deadLetter(n)) {
			return q.ForceDestroy, true
		}
	}
	return false, false
}

func checkQueues(v *part.Verdict, at string, list []nexusv1.QueueSpec) {
	for i, q := range list {
		v.Require(!strings.HasSuffix(q.Name, deadLetterEnding), fmt.Sprintf("%s[%d].name", at, i),
			"names that end in %s are those of dead-letter queues", deadLetterEnding)
	}
}

func existingQueue(q nexusv1.QueueSpec) part.Existing {
	return part.Existing{Kind: kindQueue, Of: &existingQueues, Purpose: q.Name, Store: q.Existing}
}

// deadLetter is the purpose of the dead-letter queue of a queue. No other queue has such a name.
func deadLetter(queue string) string { return queue + deadLetterEnding }

// messageName names a queue or a topic in AWS.
func messageName(n part.Names, purpose string, fifo bool) string {
	if fifo {
		return n.Of(purpose) + fifoEnding
	}
	return n.Of(purpose)
}
