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

// What a queue has unless its spec says otherwise. The first two are AWS's own defaults.
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
	maxQueuePurpose  = 28 // {cap}-{env}-{purpose}-dlq.fifo is a queue's name
	deadLetterEnding = "-dlq"
	fifoEnding       = ".fifo" // of every FIFO queue and topic
)

// queueNames fits the names of queues in SQS.
var queueNames = regexp.MustCompile(`^[A-Za-z0-9_-]+([.]fifo)?$`)

// existingQueues describes the ARNs of queues that exist already.
var existingQueues = existingKind{noun: "queue", service: "sqs", names: queueNames, most: 80}

// queuesPart is spec.dataServices.queues.
func queuesPart() part {
	return part{
		steps: []Step{{0, StepSQS, nexusv1.PhaseProvisioningDataServices, nexusv1.ConditionDataServicesReady}},
		kinds: []kindFacts{{
			kind: kindQueue, step: StepSQS, removed: removal{stage: removesData + 40}, grants: true, store: true, isBilled: true,
			refusal:  "is declared in spec.dataServices.queues",
			existing: &existingQueues,
			doom:     doomQueue,
		}},
		checks: []turn[checking]{at(40, func(v *verdict, c *nexusv1.NexusAICapability, _ Facts) {
			checkQueues(v, "spec.dataServices.queues", dataOf(&c.Spec).Queues)
		})},
		compile: []func(*compiler){addQueues},
		rights:  []turn[granting]{at(60, queueStatements)},
		values:  queueValues,
		entries: stores[nexusv1.QueueSpec]{
			place: 40, field: ofQueues, encryptedBy: "sqs", at: "spec.dataServices.queues", of: existingQueue,
			declared: func(s *nexusv1.NexusAICapabilitySpec) []nexusv1.QueueSpec { return dataOf(s).Queues },
			selected: selectedQueues,
			set:      func(data *nexusv1.DataServicesSpec, list []nexusv1.QueueSpec) { data.Queues = list },
			describes: func(q nexusv1.QueueSpec) map[string]bool {
				return map[string]bool{"fifo": q.FIFO, "visibilityTimeoutSeconds": q.VisibilityTimeoutSeconds != nil,
					"messageRetentionSeconds": q.MessageRetentionSeconds != nil, "deadLetter": q.DeadLetter != nil, "forceDestroy": q.ForceDestroy}
			},
		}.entries(),
	}
}

func doomQueue(c *nexusv1.NexusAICapability, want awsv1.Resource, mayDeleteData bool) {
	o := want.(*awsv1.SQSQueue)
	force, known := ForceDestroyQueue(c, o.Name)
	allowForce(&o.Spec.ForceDestroy, mayDeleteData, force, known)
}

// selectedQueues returns the declared queues by name.
func selectedQueues(s *nexusv1.NexusAICapabilitySpec) []nexusv1.QueueSpec {
	return byName(slices.Clone(dataOf(s).Queues), func(q nexusv1.QueueSpec) string { return q.Name })
}

func addQueues(k *compiler) {
	for _, q := range selectedQueues(k.spec) {
		if e := existingQueue(q); e.store != nil {
			k.observe(e, StepSQS, "sqs", &awsv1.SQSQueue{Spec: awsv1.SQSQueueSpec{QueueName: e.nameIn(), FifoQueue: strings.HasSuffix(e.nameIn(), fifoEnding)}})
			continue
		}
		var after []graph.Edge
		o := &awsv1.SQSQueue{Spec: queueSpec(k, q.Name, q)}
		o.Spec.Policy = new(deliveryPolicy(k, q))
		o.Spec.VisibilityTimeout = new(int32Or(q.VisibilityTimeoutSeconds, defaultVisibilitySeconds))
		o.Spec.MessageRetentionPeriod = new(int32Or(q.MessageRetentionSeconds, defaultRetentionSeconds))
		if d := q.DeadLetter; d != nil {
			aside := &awsv1.SQSQueue{Spec: queueSpec(k, deadLetter(q.Name), q)}
			id := addQueue(k, deadLetter(q.Name), aside, nil)
			after = graph.NeedReady(id)
			o.Spec.DeadLetterQueue = &awsv1.SQSDeadLetterQueue{
				TargetRef:       &awsv1.ObjectReference{Name: k.names.Of(deadLetter(q.Name))},
				MaxReceiveCount: new(int32Or(d.MaxReceiveCount, defaultMaxReceiveCount)),
			}
		}
		addQueue(k, q.Name, o, after)
	}
}

func addQueue(k *compiler, purpose string, o *awsv1.SQSQueue, after []graph.Edge) string {
	id := k.resource(child{kindQueue, k.names.Of(purpose), StepSQS, "sqs"}, o, append(after, k.afterKey("")...)...)
	k.addGrant(id)
	return id
}

// queueSpec says every setting, so that what a user removes goes back to its default.
func queueSpec(k *compiler, purpose string, q nexusv1.QueueSpec) awsv1.SQSQueueSpec {
	out := awsv1.SQSQueueSpec{
		QueueName: messageName(k.names, purpose, q.FIFO), FifoQueue: q.FIFO,
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
	if key := k.storeKey(""); key != "" {
		out.KMSMasterKeyID = &key
	} else {
		out.SQSManagedSSEEnabled = new(true)
	}
	return out
}

// queueURL returns the address of a queue, in the form in which SQS returns it.
// https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-queue-message-identifiers.html
func queueURL(h home, name string) string {
	return "https://" + h.service("sqs") + "/" + h.account + "/" + name
}

// queueURLs are the URLs of all queues by their purposes.
func queueURLs(k *compiler) map[string]string {
	out := map[string]string{}
	for _, q := range selectedQueues(k.spec) {
		out[q.Name] = queueURL(k.home, nameInSQS(k, q))
		if aside := deadLetter(q.Name); q.DeadLetter != nil {
			out[aside] = queueURL(k.home, messageName(k.names, aside, q.FIFO))
		}
	}
	return out
}

// queueValues tell the application the URLs.
func queueValues(k *compiler) (out []value) {
	for purpose, url := range queueURLs(k) {
		out = append(out, value{"sqs/" + purpose + "-queue-url", "NEXUS_SQS_QUEUE_URL_" + environmentVariable(purpose), url})
	}
	return out
}

// nameInSQS is the name of a queue in SQS.
func nameInSQS(k *compiler, q nexusv1.QueueSpec) string {
	if e := existingQueue(q); e.store != nil {
		return e.nameIn()
	}
	return messageName(k.names, q.Name, q.FIFO)
}

// consume lists the actions for receiving from a queue.
// https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazonsqs.html
var consume = []string{"sqs:ChangeMessageVisibility", "sqs:DeleteMessage", "sqs:GetQueueAttributes", "sqs:GetQueueUrl", "sqs:ReceiveMessage"}

// queueStatements allow sending to the queues, and receiving from them and from their dead-letter queues, to which SQS
// alone sends.
func queueStatements(k *compiler) []iampolicy.Statement {
	var sent, received []string
	add := func(list *[]string, purpose string, fifo bool) {
		if arn := k.owned(kindQueue+"/"+k.names.Of(purpose), k.home.arn("sqs", messageName(k.names, purpose, fifo))); arn != "" {
			*list = append(*list, arn)
		}
	}
	for _, q := range selectedQueues(k.spec) {
		if e := existingQueue(q); e.store != nil {
			sent = appendARN(sent, k.external(e))
			continue
		}
		add(&sent, q.Name, q.FIFO)
		if q.DeadLetter != nil {
			add(&received, deadLetter(q.Name), q.FIFO)
		}
	}
	return withResources(
		iampolicy.Statement{Sid: "Queues", Action: append(slices.Clone(consume), "sqs:SendMessage"), Resource: sent},
		iampolicy.Statement{Sid: "DeadLetterQueues", Action: consume, Resource: received})
}

// ForceDestroyQueue reports whether the messages of a queue may be deleted with it; known is false for a queue that the
// capability does not declare.
func ForceDestroyQueue(c *nexusv1.NexusAICapability, name string) (force, known bool) {
	for _, q := range selectedQueues(&c.Spec) {
		if n := NamesOf(c).Of(q.Name); q.Existing == nil && (name == n || q.DeadLetter != nil && name == deadLetter(n)) {
			return q.ForceDestroy, true
		}
	}
	return false, false
}

func checkQueues(v *verdict, at string, list []nexusv1.QueueSpec) {
	v.distinct(at, namesIn(list, func(q nexusv1.QueueSpec) string { return q.Name }), maxQueuePurpose)
	within := func(field string, n *int32, least, most int32) {
		v.require(n == nil || *n >= least && *n <= most, field, "%d to %d", least, most)
	}
	for i, q := range list {
		field := fmt.Sprintf("%s[%d]", at, i)
		v.require(!strings.HasSuffix(q.Name, deadLetterEnding), field+".name", "names that end in %s are those of dead-letter queues", deadLetterEnding)
		within(field+".visibilityTimeoutSeconds", q.VisibilityTimeoutSeconds, 0, 43200)
		within(field+".messageRetentionSeconds", q.MessageRetentionSeconds, 60, maxRetentionSeconds)
		if q.DeadLetter != nil {
			within(field+".deadLetter.maxReceiveCount", q.DeadLetter.MaxReceiveCount, 1, 1000)
		}
	}
}

func existingQueue(q nexusv1.QueueSpec) existing {
	return existing{kind: kindQueue, of: &existingQueues, purpose: q.Name, store: q.Existing}
}

// deadLetter is the purpose of the dead-letter queue of a queue. No other queue has such a name.
func deadLetter(queue string) string { return queue + deadLetterEnding }

// messageName names a queue or a topic in AWS.
func messageName(n Names, purpose string, fifo bool) string {
	if fifo {
		return n.Of(purpose) + fifoEnding
	}
	return n.Of(purpose)
}
