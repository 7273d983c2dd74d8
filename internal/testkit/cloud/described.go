// SPDX-License-Identifier: Apache-2.0

package cloud

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cognitoidentityprovider"
	"github.com/aws/aws-sdk-go-v2/service/kms"
	kmstypes "github.com/aws/aws-sdk-go-v2/service/kms/types"
	"github.com/aws/aws-sdk-go-v2/service/sns"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	sqstypes "github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

// describeTopic reads a topic, which an inventory names by its ARN.
func (c *Cloud) describeTopic(ctx context.Context, arn string, writeAnswer func(any, error)) {
	writeAnswer(ask(ctx, c.SNS.GetTopicAttributes, &sns.GetTopicAttributesInput{TopicArn: &arn}))
	writeAnswer(ask(ctx, c.SNS.ListTagsForResource, &sns.ListTagsForResourceInput{ResourceArn: &arn}))
	writeAnswer(ask(ctx, c.SNS.ListSubscriptionsByTopic, &sns.ListSubscriptionsByTopicInput{TopicArn: &arn}))
}

// QueueAttributes returns the attributes of a queue at a URL.
func (c *Cloud) QueueAttributes(ctx context.Context, url string) (map[string]string, error) {
	out, err := c.SQS.GetQueueAttributes(ctx,
		&sqs.GetQueueAttributesInput{QueueUrl: &url, AttributeNames: []sqstypes.QueueAttributeName{"All"}})
	if err != nil {
		return nil, err
	}
	return out.Attributes, nil
}

// describeQueue reads a queue without the values that change with every run. An inventory names a queue by its URL.
func (c *Cloud) describeQueue(ctx context.Context, url string, writeAnswer func(any, error)) {
	attributes, err := c.QueueAttributes(ctx, url)
	delete(attributes, "CreatedTimestamp")
	delete(attributes, "LastModifiedTimestamp")
	writeAnswer(attributes, err)
	tags, err := c.SQS.ListQueueTags(ctx, &sqs.ListQueueTagsInput{QueueUrl: &url})
	if err != nil {
		writeAnswer(nil, err)
		return
	}
	writeAnswer(tags.Tags, nil)
}

// Key returns the ID of the key that an alias names; "" without one, or for a key that KMS deletes.
func (c *Cloud) Key(ctx context.Context, alias string) (string, error) {
	out, err := c.KMS.DescribeKey(ctx, &kms.DescribeKeyInput{KeyId: &alias})
	if code(err) == "NotFoundException" {
		return "", nil
	}
	if err != nil || out.KeyMetadata.KeyState == kmstypes.KeyStatePendingDeletion {
		return "", err
	}
	return aws.ToString(out.KeyMetadata.KeyId), nil
}

// Pools returns the IDs of the user pools of a name, which several may have.
func (c *Cloud) Pools(ctx context.Context, name string) ([]string, error) {
	var ids []string
	pages := cognitoidentityprovider.NewListUserPoolsPaginator(c.Cognito,
		&cognitoidentityprovider.ListUserPoolsInput{MaxResults: aws.Int32(60)})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, err
		}
		for _, p := range page.UserPools {
			if aws.ToString(p.Name) == name {
				ids = append(ids, aws.ToString(p.Id))
			}
		}
	}
	return ids, nil
}

// describePools reads the user pools of a name with their clients and groups.
func (c *Cloud) describePools(ctx context.Context, name string, writeAnswer func(any, error)) {
	ids, err := c.Pools(ctx, name)
	if err != nil {
		writeAnswer(nil, err)
	}
	for _, id := range ids {
		writeAnswer(ask(ctx, c.Cognito.DescribeUserPool, &cognitoidentityprovider.DescribeUserPoolInput{UserPoolId: &id}))
		writeAnswer(ask(ctx, c.Cognito.ListGroups, &cognitoidentityprovider.ListGroupsInput{UserPoolId: &id}))
		clients, err := c.Cognito.ListUserPoolClients(ctx, &cognitoidentityprovider.ListUserPoolClientsInput{UserPoolId: &id})
		if err != nil {
			writeAnswer(nil, err)
			continue
		}
		for _, x := range clients.UserPoolClients {
			writeAnswer(ask(ctx, c.Cognito.DescribeUserPoolClient,
				&cognitoidentityprovider.DescribeUserPoolClientInput{UserPoolId: &id, ClientId: x.ClientId}))
		}
	}
}
