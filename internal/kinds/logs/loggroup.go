// SPDX-License-Identifier: Apache-2.0

// Package logs is the kinds of CloudWatch Logs.
package logs

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatchlogs"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatchlogs/types"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/awsclient"
	"github.com/nexus-operator/nexus-operator/internal/kind"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// GroupState is a log group as both the spec and CloudWatch Logs can express it.
type GroupState struct {
	Name string `drift:"identity"`
	// ARN is the form without ":*".
	ARN string `drift:"id"`
	// Guarded is set while the log group must not be deleted with events in it.
	Guarded bool `drift:"id"`

	Class *string `drift:"immutable"`
	// Retention is a number of days; 0 is no limit.
	Retention *int32
	// RetentionPolicy is the policy of the account that decides instead of Retention, which is not shown then.
	RetentionPolicy string `drift:"observed"`
	// KMSKey is the ARN of a key; "" is none.
	KMSKey             *string
	DeletionProtection *bool
	Tags               map[string]string `drift:"tags"`
}

type group struct{ api *cloudwatchlogs.Client }

// NewGroup binds the LogGroup kind to an identity. Its IAM actions:
// https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazoncloudwatchlogs.html
func NewGroup(cfg aws.Config) kind.Kind[*v1alpha1.LogGroup, GroupState] {
	g := &group{api: cloudwatchlogs.NewFromConfig(cfg)}
	return kind.FromTable(kind.Table[*v1alpha1.LogGroup, GroupState]{
		Meta: kind.Meta{Facts: groupFacts(), Identity: kind.ByName, HoldsData: true, CreatesFirst: true,
			References: []string{"KMSKey"}},
		// The deletion protection is included: false is the consent to lift it for a deletion.
		Identify: func(sc kind.Scope, cr *v1alpha1.LogGroup) (GroupState, error) {
			return GroupState{Name: cr.Spec.LogGroupName, Guarded: sc.Data.Guarded,
				DeletionProtection: cr.Spec.DeletionProtectionEnabled}, nil
		},
		Declare: declare, Publish: publish,
		Explain: awsclient.ExplainVanished[GroupState](
			"CloudWatch Logs described the log group and answered that its tags do not exist"),
		Export: kind.Export[*v1alpha1.LogGroup, GroupState]{Identity: []string{"logGroupName"}, Spec: exported,
			Omit: undeclarable},
		Describe: kind.Read[GroupState]{Actions: []string{"logs:DescribeLogGroups"}, Do: g.describe},
		Create:   kind.Call[GroupState]{Action: "logs:CreateLogGroup", Do: kind.Send(g.api.CreateLogGroup, creation)},
		// The retention is a separate call, which follows the create: its success shows that the log group is new.
		SettleWithCreate: func(GroupState) bool { return true },
		DefaultsWhenNew:  true,
		Tagging: kind.Tagging[GroupState]{
			Reads: "logs:ListTagsForResource", List: g.tags,
			Sets: "logs:TagResource", Set: kind.Send(g.api.TagResource,
				func(have GroupState, tags map[string]string) *cloudwatchlogs.TagResourceInput {
					return &cloudwatchlogs.TagResourceInput{ResourceArn: &have.ARN, Tags: tags}
				}),
			Removes: "logs:UntagResource", Remove: kind.Send(g.api.UntagResource,
				func(have GroupState, keys []string) *cloudwatchlogs.UntagResourceInput {
					return &cloudwatchlogs.UntagResourceInput{ResourceArn: &have.ARN, TagKeys: keys}
				}),
		},
		// CloudWatch Logs aborts one of two requests that change a log group at the same time.
		OneByOne: true,
		Parts:    g.parts(),
		Holds:    g.streams, HoldsReads: []string{"logs:DescribeLogStreams"},
		Delete: []kind.Ending[GroupState]{
			{When: func(want, have GroupState) bool {
				return aws.ToBool(have.DeletionProtection) && kind.IsFalse(want.DeletionProtection)
			}, Call: g.protect()},
			{Call: kind.Call[GroupState]{Action: "logs:DeleteLogGroup", Effect: kind.Deletes, Do: kind.Send(g.api.DeleteLogGroup,
				func(want, _ GroupState) *cloudwatchlogs.DeleteLogGroupInput {
					return &cloudwatchlogs.DeleteLogGroupInput{LogGroupName: &want.Name}
				})}},
		},
	})
}

func (g *group) parts() []kind.Part[GroupState] {
	return []kind.Part[GroupState]{
		{Fields: []string{"Class"}, InCreate: true},
		{Fields: []string{"Retention"},
			Write: kind.Call[GroupState]{Action: "logs:PutRetentionPolicy", Do: kind.Send(g.api.PutRetentionPolicy,
				func(want, _ GroupState) *cloudwatchlogs.PutRetentionPolicyInput {
					return &cloudwatchlogs.PutRetentionPolicyInput{LogGroupName: &want.Name, RetentionInDays: want.Retention}
				})},
			Clear: kind.Call[GroupState]{Action: "logs:DeleteRetentionPolicy", Do: kind.Send(g.api.DeleteRetentionPolicy,
				func(want, _ GroupState) *cloudwatchlogs.DeleteRetentionPolicyInput {
					return &cloudwatchlogs.DeleteRetentionPolicyInput{LogGroupName: &want.Name}
				})}},
		{Fields: []string{"KMSKey"}, InCreate: true,
			Write: kind.Call[GroupState]{Action: "logs:AssociateKmsKey", Do: kind.Send(g.api.AssociateKmsKey,
				func(want, _ GroupState) *cloudwatchlogs.AssociateKmsKeyInput {
					return &cloudwatchlogs.AssociateKmsKeyInput{LogGroupName: &want.Name, KmsKeyId: want.KMSKey}
				})},
			Clear: kind.Call[GroupState]{Action: "logs:DisassociateKmsKey", Do: kind.Send(g.api.DisassociateKmsKey,
				func(want, _ GroupState) *cloudwatchlogs.DisassociateKmsKeyInput {
					return &cloudwatchlogs.DisassociateKmsKeyInput{LogGroupName: &want.Name}
				})}},
		{Fields: []string{"DeletionProtection"}, InCreate: true, Write: g.protect()},
	}
}

// protect sets or lifts the deletion protection. The call takes the ARN:
// https://github.com/hashicorp/terraform-provider-aws/pull/45298
func (g *group) protect() kind.Call[GroupState] {
	return kind.Call[GroupState]{Action: "logs:PutLogGroupDeletionProtection", Do: kind.Send(g.api.PutLogGroupDeletionProtection,
		func(want, have GroupState) *cloudwatchlogs.PutLogGroupDeletionProtectionInput {
			return &cloudwatchlogs.PutLogGroupDeletionProtectionInput{LogGroupIdentifier: &have.ARN,
				DeletionProtectionEnabled: want.DeletionProtection}
		})}
}

func declare(sc kind.Scope, cr *v1alpha1.LogGroup, s *GroupState) error {
	in := cr.Spec
	s.Class, s.Retention, s.KMSKey = in.LogGroupClass, in.RetentionInDays, in.KMSKeyID
	if in.KMSKeyRef == nil {
		return nil
	}
	target, err := sc.Ref("KMSKey", in.KMSKeyRef.Name)
	s.KMSKey = &target.ARN
	return err
}

func publish(cr *v1alpha1.LogGroup, s GroupState) {
	st := &cr.Status
	st.ARN, st.ID, st.LogGroupARN, st.RetentionPolicyName = s.ARN, s.Name, s.ARN, s.RetentionPolicy
}

func creation(want, _ GroupState) *cloudwatchlogs.CreateLogGroupInput {
	return &cloudwatchlogs.CreateLogGroupInput{LogGroupName: &want.Name, LogGroupClass: types.LogGroupClass(aws.ToString(want.Class)),
		KmsKeyId: kind.NonEmpty(want.KMSKey), DeletionProtectionEnabled: want.DeletionProtection, Tags: want.Tags}
}

// find returns the log group of a name, or nil. The list is sorted by name, so that the name itself comes before those that it begins: the
// first page that is not empty decides, however many follow.
// https://docs.aws.amazon.com/AmazonCloudWatchLogs/latest/APIReference/API_DescribeLogGroups.html
func (g *group) find(ctx context.Context, name string) (*types.LogGroup, error) {
	in := &cloudwatchlogs.DescribeLogGroupsInput{LogGroupNamePrefix: &name}
	found, err := kind.Pages(ctx, g.api.DescribeLogGroups, in, &in.NextToken,
		func(out *cloudwatchlogs.DescribeLogGroupsOutput) ([]types.LogGroup, *string) {
			return out.LogGroups, kind.Either(len(out.LogGroups) == 0, out.NextToken, nil)
		})
	i := slices.IndexFunc(found, func(d types.LogGroup) bool { return aws.ToString(d.LogGroupName) == name })
	if err != nil || i < 0 {
		return nil, err
	}
	return &found[i], nil
}

func (g *group) describe(ctx context.Context, want GroupState, _ kind.Look) (kind.Seen[GroupState], error) {
	d, err := g.find(ctx, want.Name)
	if d == nil {
		return kind.Seen[GroupState]{}, err
	}
	seen := kind.Seen[GroupState]{Exists: true, Created: time.UnixMilli(aws.ToInt64(d.CreationTime)), State: GroupState{
		Name: want.Name, ARN: strings.TrimSuffix(aws.ToString(cmp.Or(d.LogGroupArn, d.Arn)), ":*"),
		Class: kind.Ptr(string(cmp.Or(d.LogGroupClass, types.LogGroupClassStandard))), KMSKey: kind.NonNil(d.KmsKeyId),
		Retention: kind.NonNil(d.RetentionInDays), RetentionPolicy: aws.ToString(d.RetentionPolicyName),
		DeletionProtection: kind.NonNil(d.DeletionProtectionEnabled),
	}}
	if seen.State.RetentionPolicy != "" { // the days are those of the policy
		seen.State.Retention = want.Retention
	}
	if *seen.State.DeletionProtection && !kind.IsFalse(want.DeletionProtection) {
		seen.Holds = []kind.Hold{{Reason: status.ReasonDeletionProtected, Message: "the deletion protection of the log group to be removed: " +
			"set deletionProtectionEnabled: false to delete the log group, or deletionPolicy: Retain to keep it"}}
	}
	return seen, nil
}

// streams holds the deletion of a guarded log group while it has log streams: the number of stored bytes is out of date for hours.
func (g *group) streams(ctx context.Context, want GroupState, seen *kind.Seen[GroupState]) error {
	if !want.Guarded {
		return nil
	}
	out, err := awsclient.Lookup(ctx, g.api.DescribeLogStreams, &cloudwatchlogs.DescribeLogStreamsInput{LogGroupName: &want.Name})
	if out == nil || len(out.LogStreams) == 0 {
		return err
	}
	seen.Holds = append([]kind.Hold{{Reason: status.ReasonDataWouldBeLost, Message: "the log group to be empty: it holds " +
		kind.Either(out.NextToken != nil, "at least ", "") + status.Counted(len(out.LogStreams), "log stream", "log streams")}}, seen.Holds...)
	return nil
}

func (g *group) tags(ctx context.Context, have GroupState) (map[string]string, error) {
	out, err := g.api.ListTagsForResource(ctx, &cloudwatchlogs.ListTagsForResourceInput{ResourceArn: &have.ARN})
	if err != nil {
		return nil, err
	}
	return out.Tags, nil
}

// declarable are the classes that a spec can declare.
var declarable = []string{"STANDARD", "INFREQUENT_ACCESS", "DELIVERY"}

// exported declares a log group as it is, without a retention that is not set or that a policy of the account decides.
func exported(cr *v1alpha1.LogGroup, have GroupState) {
	out := &cr.Spec
	out.LogGroupClass = kind.Either(slices.Contains(declarable, *have.Class), have.Class, nil)
	if have.RetentionPolicy == "" && *have.Class != "DELIVERY" {
		out.RetentionInDays = kind.NonZero(have.Retention)
	}
	out.KMSKeyID, out.DeletionProtectionEnabled = kind.NonEmpty(have.KMSKey), have.DeletionProtection
}

// undeclarable names a class that no spec can declare.
func undeclarable(have GroupState) []string {
	if slices.Contains(declarable, *have.Class) {
		return nil
	}
	return []string{fmt.Sprintf("logGroupClass %s, which a LogGroup does not declare; the log group keeps it", *have.Class)}
}
