// SPDX-License-Identifier: Apache-2.0

// Package sqs is the SQS kinds.
package sqs

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/awsclient"
	"github.com/nexus-operator/nexus-operator/internal/iampolicy"
	"github.com/nexus-operator/nexus-operator/internal/kind"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// QueueState is a queue as both the spec and SQS can express it. The fields in attributes have the names and
// the values of the attributes of SQS, which are texts.
type QueueState struct {
	Name string `drift:"identity"`
	// URL is the queue's own, as SQS returned it; empty while it is not known.
	URL string `drift:"id"`
	ARN string `drift:"id"`
	// Guarded is set while the queue must not be deleted with messages in it, whatever ForceDestroy says.
	ForceDestroy, Guarded bool `drift:"id"`

	DelaySeconds, MaximumMessageSize, MessageRetentionPeriod           *string
	VisibilityTimeout, ReceiveMessageWaitTimeSeconds                   *string
	ContentBasedDeduplication, DeduplicationScope                      *string
	FifoThroughputLimit                                                *string
	KmsMasterKeyId, KmsDataKeyReusePeriodSeconds, SqsManagedSseEnabled *string //nolint:revive // names of SQS
	Policy                                                             *string `drift:"json"`
	DeadLetter                                                         *DeadLetter
	Tags                                                               map[string]string `drift:"tags"`
}

// DeadLetter says where messages go that were received too often; zero for nowhere.
type DeadLetter struct {
	TargetARN       string
	MaxReceiveCount int
}

// attributes are the fields of the state that are attributes of SQS. Read only.
var attributes = []string{
	"DelaySeconds", "MaximumMessageSize", "MessageRetentionPeriod", "VisibilityTimeout", "ReceiveMessageWaitTimeSeconds",
	"ContentBasedDeduplication", "DeduplicationScope", "FifoThroughputLimit",
	"KmsMasterKeyId", "KmsDataKeyReusePeriodSeconds", "SqsManagedSseEnabled", "Policy",
}

// settling limits how long SQS may take to show a change of an attribute to every read, and to delete a queue.
// https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_SetQueueAttributes.html
const settling = time.Minute

type queue struct{ api *sqs.Client }

// NewQueue binds the SQSQueue kind to an identity. Its IAM actions:
// https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazonsqs.html
func NewQueue(cfg aws.Config) kind.Kind[*v1alpha1.SQSQueue, QueueState] {
	q := &queue{api: sqs.NewFromConfig(cfg)}
	return kind.FromTable(kind.Table[*v1alpha1.SQSQueue, QueueState]{
		Meta:     kind.Meta{Facts: queueFacts(), Identity: kind.ByName, HoldsData: true, Settle: settling, References: []string{"KMSKey", "SQSQueue"}},
		Identify: identify, Declare: declare, Publish: publish, Explain: awsclient.ExplainVanished[QueueState]("SQS described the queue and answered that its tags do not exist"), Export: kind.Export[*v1alpha1.SQSQueue, QueueState]{Identity: []string{"queueName"}, Spec: exported},
		Describe: kind.Read[QueueState]{Actions: []string{"sqs:GetQueueUrl", "sqs:GetQueueAttributes"}, Do: q.describe},
		// SQS answers with success where a queue of the name has the attributes of the request.
		Create: kind.Call[QueueState]{Action: "sqs:CreateQueue", Effect: kind.Ensures, Do: kind.Send(q.api.CreateQueue, func(want, _ QueueState) *sqs.CreateQueueInput {
			return &sqs.CreateQueueInput{QueueName: &want.Name, Attributes: creation(want), Tags: want.Tags}
		})},
		Tagging: kind.Tagging[QueueState]{
			Reads: "sqs:ListQueueTags", List: q.tags,
			Sets: "sqs:TagQueue", Set: kind.Send(q.api.TagQueue, func(have QueueState, tags map[string]string) *sqs.TagQueueInput {
				return &sqs.TagQueueInput{QueueUrl: &have.URL, Tags: tags}
			}),
			Removes: "sqs:UntagQueue", Remove: kind.Send(q.api.UntagQueue, func(have QueueState, keys []string) *sqs.UntagQueueInput {
				return &sqs.UntagQueueInput{QueueUrl: &have.URL, TagKeys: keys}
			}),
		},
		Parts: []kind.Part[QueueState]{{InCreate: true, Fields: append([]string{"DeadLetter"}, attributes...),
			Write: kind.Call[QueueState]{Action: "sqs:SetQueueAttributes", DoDiff: kind.SendDiff(q.api.SetQueueAttributes, func(want, have QueueState, diff kind.Diff) *sqs.SetQueueAttributesInput {
				return &sqs.SetQueueAttributesInput{QueueUrl: &have.URL, Attributes: changes(want, diff)}
			})}}},
		Delete: []kind.Ending[QueueState]{{Call: kind.Call[QueueState]{Action: "sqs:DeleteQueue", Effect: kind.Deletes, Do: kind.Send(q.api.DeleteQueue, func(_, have QueueState) *sqs.DeleteQueueInput {
			return &sqs.DeleteQueueInput{QueueUrl: &have.URL}
		})}}},
	})
}

// identify takes the URL from the status, because SQS may change how URLs are composed, if it is one of a queue of
// this name in this account.
func identify(sc kind.Scope, cr *v1alpha1.SQSQueue) (QueueState, error) {
	s := QueueState{Name: cr.Spec.QueueName, ForceDestroy: cr.Spec.ForceDestroy, Guarded: sc.Data.Guarded}
	if url := cr.Status.QueueURL; strings.HasSuffix(url, "/"+sc.Account+"/"+s.Name) {
		s.URL = url
	}
	return s, nil
}

func declare(sc kind.Scope, cr *v1alpha1.SQSQueue, s *QueueState) error {
	in := cr.Spec
	s.DelaySeconds, s.MaximumMessageSize, s.MessageRetentionPeriod = kind.Text(in.DelaySeconds), kind.Text(in.MaximumMessageSize), kind.Text(in.MessageRetentionPeriod)
	s.VisibilityTimeout, s.ReceiveMessageWaitTimeSeconds = kind.Text(in.VisibilityTimeout), kind.Text(in.ReceiveMessageWaitTimeSeconds)
	if in.FifoQueue { // a standard queue has none of these attributes
		s.ContentBasedDeduplication, s.DeduplicationScope, s.FifoThroughputLimit = kind.Text(in.ContentBasedDeduplication), in.DeduplicationScope, in.FifoThroughputLimit
	}
	if err := declareEncryption(sc, in, s); err != nil {
		return err
	}
	if policy := aws.ToString(in.Policy); policy != "" {
		if _, err := iampolicy.ParseOfUser(policy); err != nil {
			return status.Invalid("spec.policy", "%v", err)
		}
	}
	s.Policy = in.Policy
	return declareDeadLetter(sc, in.DeadLetterQueue, s)
}

// declareEncryption turns one type of encryption off if the other is declared: a queue has one at most.
// https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-server-side-encryption.html
func declareEncryption(sc kind.Scope, in v1alpha1.SQSQueueSpec, s *QueueState) error {
	if in.KMSMasterKeyRef != nil {
		target, err := sc.Ref("KMSKey", in.KMSMasterKeyRef.Name)
		if err != nil {
			return err
		}
		in.KMSMasterKeyID = &target.ARN
	}
	s.KmsMasterKeyId, s.KmsDataKeyReusePeriodSeconds, s.SqsManagedSseEnabled = in.KMSMasterKeyID, kind.Text(in.KMSDataKeyReusePeriodSeconds), kind.Text(in.SQSManagedSSEEnabled)
	switch {
	case aws.ToString(in.KMSMasterKeyID) != "":
		s.SqsManagedSseEnabled = kind.Text(aws.Bool(false))
	case aws.ToBool(in.SQSManagedSSEEnabled):
		s.KmsMasterKeyId = new(string)
	}
	return nil
}

func declareDeadLetter(sc kind.Scope, in *v1alpha1.SQSDeadLetterQueue, s *QueueState) error {
	if in == nil {
		return nil
	}
	s.DeadLetter = &DeadLetter{TargetARN: in.TargetARN, MaxReceiveCount: int(aws.ToInt32(in.MaxReceiveCount))}
	if in.TargetRef == nil {
		return nil
	}
	target, err := sc.Ref("SQSQueue", in.TargetRef.Name)
	s.DeadLetter.TargetARN = target.ARN
	return err
}

func publish(cr *v1alpha1.SQSQueue, s QueueState) {
	st := &cr.Status
	st.ARN, st.ID, st.QueueARN, st.QueueURL = s.ARN, s.Name, s.ARN, s.URL
}

// describe reads all attributes in one call.
func (q *queue) describe(ctx context.Context, want QueueState, look kind.Look) (kind.Seen[QueueState], error) {
	absent := kind.Seen[QueueState]{}
	url := want.URL
	if url == "" {
		out, err := awsclient.Lookup(ctx, q.api.GetQueueUrl, &sqs.GetQueueUrlInput{QueueName: &want.Name})
		if out == nil {
			return absent, err
		}
		url = aws.ToString(out.QueueUrl)
	}
	out, err := awsclient.Lookup(ctx, q.api.GetQueueAttributes, &sqs.GetQueueAttributesInput{QueueUrl: &url, AttributeNames: []types.QueueAttributeName{types.QueueAttributeNameAll}})
	if out == nil {
		return absent, err
	}
	seen := kind.Seen[QueueState]{Exists: true, State: seenQueue(want, out.Attributes), Created: time.Unix(number(out.Attributes, types.QueueAttributeNameCreatedTimestamp), 0)}
	seen.State.URL = url
	if look.Deleting {
		seen.Holds = holds(want, out.Attributes)
	}
	return seen, nil
}

func seenQueue(want QueueState, found map[string]string) QueueState {
	s := QueueState{Name: want.Name, ARN: found["QueueArn"], DeadLetter: &DeadLetter{}}
	for _, name := range attributes {
		if v, ok := found[name]; ok {
			*field(&s, name) = &v
		}
	}
	s.KmsMasterKeyId = kind.KMSKeyAs(want.KmsMasterKeyId, s.KmsMasterKeyId)
	if s.SqsManagedSseEnabled == nil { // SQS may leave out a setting that is off
		s.SqsManagedSseEnabled = kind.Text(aws.Bool(false))
	}
	if want.ContentBasedDeduplication != nil && s.ContentBasedDeduplication == nil {
		s.ContentBasedDeduplication = kind.Text(aws.Bool(false))
	}
	var redrive struct {
		Target string      `json:"deadLetterTargetArn"`
		Count  json.Number `json:"maxReceiveCount"` // SQS returns a number or a text, as it was set
	}
	if json.Unmarshal([]byte(found[redrivePolicy]), &redrive) == nil {
		count, _ := redrive.Count.Int64()
		s.DeadLetter = &DeadLetter{TargetARN: redrive.Target, MaxReceiveCount: int(count)}
	}
	return s
}

// holds counts the messages of a queue. The numbers are approximate: SQS may show a message up to a minute late.
// https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_GetQueueAttributes.html
func holds(want QueueState, found map[string]string) []kind.Hold {
	n := number(found, types.QueueAttributeNameApproximateNumberOfMessages) + number(found, types.QueueAttributeNameApproximateNumberOfMessagesDelayed) +
		number(found, types.QueueAttributeNameApproximateNumberOfMessagesNotVisible)
	held := fmt.Sprintf("the queue to be empty: it holds about %d messages", n)
	switch {
	case n == 0 || want.ForceDestroy && !want.Guarded:
		return nil
	case want.Guarded:
		return []kind.Hold{{Reason: status.ReasonDataWouldBeLost, Message: held}}
	default:
		return []kind.Hold{{Reason: status.ReasonQueueNotEmpty, Message: held + "; receive or purge them, set forceDestroy: true, or set deletionPolicy: Retain"}}
	}
}

func (q *queue) tags(ctx context.Context, have QueueState) (map[string]string, error) {
	out, err := q.api.ListQueueTags(ctx, &sqs.ListQueueTagsInput{QueueUrl: &have.URL})
	if err != nil {
		return nil, err
	}
	return out.Tags, nil
}

const redrivePolicy = "RedrivePolicy"

// creation returns the declared attributes of a new queue, which has no need of empty ones.
func creation(want QueueState) map[string]string {
	out := map[string]string{}
	for _, name := range attributes {
		if v := aws.ToString(*field(&want, name)); v != "" {
			out[name] = v
		}
	}
	if d := want.DeadLetter; d != nil && *d != (DeadLetter{}) {
		out[redrivePolicy] = d.encode()
	}
	if strings.HasSuffix(want.Name, ".fifo") {
		out["FifoQueue"] = "true"
	}
	return out
}

// changes returns the attributes that differ: SQS keeps those that a request does not name, and "" clears one.
func changes(want QueueState, diff kind.Diff) map[string]string {
	out := map[string]string{}
	for _, name := range attributes {
		if diff.Under(name) {
			out[name] = aws.ToString(*field(&want, name))
		}
	}
	if diff.Under("DeadLetter") {
		out[redrivePolicy] = want.DeadLetter.encode()
	}
	return out
}

func (d DeadLetter) encode() string {
	if d == (DeadLetter{}) {
		return ""
	}
	return fmt.Sprintf(`{"deadLetterTargetArn":%q,"maxReceiveCount":%d}`, d.TargetARN, d.MaxReceiveCount)
}

// field returns the field of the state that is the attribute of the name.
func field(s *QueueState, name string) **string {
	return reflect.ValueOf(s).Elem().FieldByName(name).Addr().Interface().(**string)
}

func number(found map[string]string, name types.QueueAttributeName) int64 {
	n, _ := strconv.ParseInt(found[string(name)], 10, 64)
	return n
}
