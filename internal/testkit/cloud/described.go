// SPDX-License-Identifier: Apache-2.0

package cloud

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cognitoidentityprovider"
	"github.com/aws/aws-sdk-go-v2/service/sns"
)

// describeTopic reads a topic, which an inventory names by its ARN.
func (c *Cloud) describeTopic(ctx context.Context, arn string, writeAnswer func(any, error)) {
	writeAnswer(ask(ctx, c.SNS.GetTopicAttributes, &sns.GetTopicAttributesInput{TopicArn: &arn}))
	writeAnswer(ask(ctx, c.SNS.ListTagsForResource, &sns.ListTagsForResourceInput{ResourceArn: &arn}))
	writeAnswer(ask(ctx, c.SNS.ListSubscriptionsByTopic, &sns.ListSubscriptionsByTopicInput{TopicArn: &arn}))
}

// Pools returns the IDs of the user pools of a name, which several may have.
func (c *Cloud) Pools(ctx context.Context, name string) ([]string, error) {
	var ids []string
	pages := cognitoidentityprovider.NewListUserPoolsPaginator(c.Cognito, &cognitoidentityprovider.ListUserPoolsInput{MaxResults: aws.Int32(60)})
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
			writeAnswer(ask(ctx, c.Cognito.DescribeUserPoolClient, &cognitoidentityprovider.DescribeUserPoolClientInput{UserPoolId: &id, ClientId: x.ClientId}))
		}
	}
}
