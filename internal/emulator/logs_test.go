// SPDX-License-Identifier: Apache-2.0

package emulator_test

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatchlogs"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatchlogs/types"

	"github.com/nexus-operator/nexus-operator/internal/testkit/must"
)

func TestLogs_KeepWhatMotoForgets(t *testing.T) {
	p := proxy(t)
	c, ctx, name := cloudwatchlogs.NewFromConfig(config(p.URL())), t.Context(), aws.String("/team/shop")
	group := func() types.LogGroup {
		t.Helper()
		out, err := c.DescribeLogGroups(ctx, &cloudwatchlogs.DescribeLogGroupsInput{LogGroupNamePrefix: name})
		must.Succeed(t, err)
		return out.LogGroups[0]
	}
	remove := func() error {
		_, err := c.DeleteLogGroup(ctx, &cloudwatchlogs.DeleteLogGroupInput{LogGroupName: name})
		return err
	}
	_, err := c.CreateLogGroup(ctx, &cloudwatchlogs.CreateLogGroupInput{LogGroupName: name, LogGroupClass: types.LogGroupClassInfrequentAccess,
		KmsKeyId: aws.String("key"), DeletionProtectionEnabled: aws.Bool(true), Tags: map[string]string{"team": "a"}})
	must.Succeed(t, err)
	g := group()
	if g.LogGroupClass != types.LogGroupClassInfrequentAccess || aws.ToString(g.KmsKeyId) != "key" || !*g.DeletionProtectionEnabled ||
		*g.Arn != *g.LogGroupArn+":*" {
		t.Errorf("%+v", g)
	}
	if remove() == nil {
		t.Error("a protected log group was deleted")
	}
	_, err = c.DisassociateKmsKey(ctx, &cloudwatchlogs.DisassociateKmsKeyInput{LogGroupName: name})
	must.Succeed(t, err)
	_, err = c.PutLogGroupDeletionProtection(ctx,
		&cloudwatchlogs.PutLogGroupDeletionProtectionInput{LogGroupIdentifier: g.LogGroupArn, DeletionProtectionEnabled: aws.Bool(false)})
	must.Succeed(t, err)
	if g := group(); g.KmsKeyId != nil || *g.DeletionProtectionEnabled {
		t.Errorf("%+v", g)
	}
	must.Succeed(t, remove())
	if _, err := c.DisassociateKmsKey(ctx, &cloudwatchlogs.DisassociateKmsKeyInput{LogGroupName: name}); err == nil {
		t.Error("a log group that does not exist was changed")
	}
	_, err = c.CreateLogGroup(ctx, &cloudwatchlogs.CreateLogGroupInput{LogGroupName: name})
	must.Succeed(t, err)
	tags, err := c.ListTagsForResource(ctx, &cloudwatchlogs.ListTagsForResourceInput{ResourceArn: g.LogGroupArn})
	must.Succeed(t, err)
	if g := group(); g.LogGroupClass != types.LogGroupClassStandard || len(tags.Tags) > 0 {
		t.Errorf("a new log group has the tags %v: %+v", tags.Tags, g)
	}
	for _, refused := range []string{"aws/shop", "a b"} {
		if _, err := c.CreateLogGroup(ctx, &cloudwatchlogs.CreateLogGroupInput{LogGroupName: &refused}); err == nil {
			t.Errorf("%q was taken", refused)
		}
	}
}
