// SPDX-License-Identifier: Apache-2.0

package emulator_test

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	ddbtypes "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/glue"
	gluetypes "github.com/aws/aws-sdk-go-v2/service/glue/types"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	iamtypes "github.com/aws/aws-sdk-go-v2/service/iam/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	s3types "github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	smtypes "github.com/aws/aws-sdk-go-v2/service/secretsmanager/types"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
	ssmtypes "github.com/aws/aws-sdk-go-v2/service/ssm/types"

	"github.com/nexus-operator/nexus-operator/internal/emulator"
	"github.com/nexus-operator/nexus-operator/internal/testkit/must"
)

type tags map[string]string

// taggedResource is a resource with tags: it is created with a=1 and then gets b=2.
type taggedResource struct {
	create, tag func(context.Context, clients) error
	read        func(context.Context, clients) (tags, error)
	neverEmpty  bool
}

const tableARN = "arn:aws:dynamodb:ap-southeast-1:123456789012:table/orders"

var taggedResources = map[string]taggedResource{
	"dynamodb": {
		create: func(ctx context.Context, c clients) error {
			return createTable(ctx, c, "orders", ddbtypes.Tag{Key: aws.String("a"), Value: aws.String("1")})
		},
		tag: func(ctx context.Context, c clients) error {
			_, err := c.dynamodb.TagResource(ctx, &dynamodb.TagResourceInput{ResourceArn: aws.String(tableARN),
				Tags: []ddbtypes.Tag{{Key: aws.String("b"), Value: aws.String("2")}}})
			return err
		},
		read: func(ctx context.Context, c clients) (tags, error) {
			out, err := c.dynamodb.ListTagsOfResource(ctx, &dynamodb.ListTagsOfResourceInput{ResourceArn: aws.String(tableARN)})
			if err != nil {
				return nil, err
			}
			return collect(out.Tags, func(t ddbtypes.Tag) (*string, *string) { return t.Key, t.Value }), nil
		},
	},
	"s3": {
		create: func(ctx context.Context, c clients) error {
			return createBucket(ctx, c, *bucket, s3types.Tag{Key: aws.String("a"), Value: aws.String("1")})
		},
		tag: func(ctx context.Context, c clients) error {
			_, err := c.s3.PutBucketTagging(ctx, &s3.PutBucketTaggingInput{Bucket: bucket, Tagging: &s3types.Tagging{TagSet: []s3types.Tag{
				{Key: aws.String("a"), Value: aws.String("1")}, {Key: aws.String("b"), Value: aws.String("2")}}}})
			return err
		},
		read: func(ctx context.Context, c clients) (tags, error) {
			out, err := c.s3.GetBucketTagging(ctx, &s3.GetBucketTaggingInput{Bucket: bucket})
			if code(err) == "NoSuchTagSet" {
				return tags{}, nil
			} else if err != nil {
				return nil, err
			}
			return collect(out.TagSet, func(t s3types.Tag) (*string, *string) { return t.Key, t.Value }), nil
		},
	},
	"glue": {
		create: func(ctx context.Context, c clients) error {
			_, err := c.glue.CreateDatabase(ctx,
				&glue.CreateDatabaseInput{DatabaseInput: &gluetypes.DatabaseInput{Name: aws.String("lake")}, Tags: tags{"a": "1"}})
			return err
		},
		tag: func(ctx context.Context, c clients) error {
			_, err := c.glue.TagResource(ctx,
				&glue.TagResourceInput{ResourceArn: aws.String("arn:aws:glue:ap-southeast-1:123456789012:database/lake"), TagsToAdd: tags{"b": "2"}})
			return err
		},
		read: func(ctx context.Context, c clients) (tags, error) {
			out, err := c.glue.GetTags(ctx, &glue.GetTagsInput{ResourceArn: aws.String("arn:aws:glue:ap-southeast-1:123456789012:database/lake")})
			if err != nil {
				return nil, err
			}
			return out.Tags, nil
		},
	},
	"glue, parameters of a table": {
		create: func(ctx context.Context, c clients) error {
			_, err := c.glue.CreateTable(ctx, &glue.CreateTableInput{DatabaseName: aws.String("lake"),
				TableInput: &gluetypes.TableInput{Name: aws.String("calls"), Parameters: tags{"a": "1"}}})
			return err
		},
		tag: func(ctx context.Context, c clients) error {
			_, err := c.glue.UpdateTable(ctx, &glue.UpdateTableInput{DatabaseName: aws.String("lake"),
				TableInput: &gluetypes.TableInput{Name: aws.String("calls"), Parameters: tags{"a": "1", "b": "2"}}})
			return err
		},
		read: func(ctx context.Context, c clients) (tags, error) {
			out, err := c.glue.GetTable(ctx, &glue.GetTableInput{DatabaseName: aws.String("lake"), Name: aws.String("calls")})
			if err != nil {
				return nil, err
			}
			return out.Table.Parameters, nil
		},
		neverEmpty: true,
	},
	"iam, list": {create: createTaggedRole, tag: tagRole, read: func(ctx context.Context, c clients) (tags, error) {
		out, err := c.iam.ListRoleTags(ctx, &iam.ListRoleTagsInput{RoleName: role})
		if err != nil {
			return nil, err
		}
		return collect(out.Tags, func(t iamtypes.Tag) (*string, *string) { return t.Key, t.Value }), nil
	}},
	"iam, description": {create: createTaggedRole, tag: tagRole, read: func(ctx context.Context, c clients) (tags, error) {
		out, err := c.iam.GetRole(ctx, &iam.GetRoleInput{RoleName: role})
		if err != nil {
			return nil, err
		}
		return collect(out.Role.Tags, func(t iamtypes.Tag) (*string, *string) { return t.Key, t.Value }), nil
	}},
	"secretsmanager": {
		create: func(ctx context.Context, c clients) error {
			_, err := c.secrets.CreateSecret(ctx, &secretsmanager.CreateSecretInput{Name: aws.String("keys"), SecretString: aws.String("s"),
				Tags: []smtypes.Tag{{Key: aws.String("a"), Value: aws.String("1")}}})
			return err
		},
		tag: func(ctx context.Context, c clients) error {
			_, err := c.secrets.TagResource(ctx, &secretsmanager.TagResourceInput{SecretId: aws.String("keys"),
				Tags: []smtypes.Tag{{Key: aws.String("b"), Value: aws.String("2")}}})
			return err
		},
		read: func(ctx context.Context, c clients) (tags, error) {
			out, err := c.secrets.DescribeSecret(ctx, &secretsmanager.DescribeSecretInput{SecretId: aws.String("keys")})
			if err != nil {
				return nil, err
			}
			return collect(out.Tags, func(t smtypes.Tag) (*string, *string) { return t.Key, t.Value }), nil
		},
	},
	"ssm": {
		create: func(ctx context.Context, c clients) error {
			_, err := c.ssm.PutParameter(ctx,
				&ssm.PutParameterInput{Name: aws.String("/app/x"), Value: aws.String("1"), Type: ssmtypes.ParameterTypeString,
					Tags: []ssmtypes.Tag{{Key: aws.String("a"), Value: aws.String("1")}}})
			return err
		},
		tag: func(ctx context.Context, c clients) error {
			_, err := c.ssm.AddTagsToResource(ctx,
				&ssm.AddTagsToResourceInput{ResourceType: ssmtypes.ResourceTypeForTaggingParameter, ResourceId: aws.String("/app/x"),
					Tags: []ssmtypes.Tag{{Key: aws.String("b"), Value: aws.String("2")}}})
			return err
		},
		read: func(ctx context.Context, c clients) (tags, error) {
			out, err := c.ssm.ListTagsForResource(ctx,
				&ssm.ListTagsForResourceInput{ResourceType: ssmtypes.ResourceTypeForTaggingParameter, ResourceId: aws.String("/app/x")})
			if err != nil {
				return nil, err
			}
			return collect(out.TagList, func(t ssmtypes.Tag) (*string, *string) { return t.Key, t.Value }), nil
		},
	},
}

func createTaggedRole(ctx context.Context, c clients) error {
	_, err := c.iam.CreateRole(ctx, &iam.CreateRoleInput{RoleName: role, AssumeRolePolicyDocument: aws.String(trustAll),
		Tags: []iamtypes.Tag{{Key: aws.String("a"), Value: aws.String("1")}}})
	return err
}

func tagRole(ctx context.Context, c clients) error {
	_, err := c.iam.TagRole(ctx, &iam.TagRoleInput{RoleName: role, Tags: []iamtypes.Tag{{Key: aws.String("b"), Value: aws.String("2")}}})
	return err
}

func collect[T any](list []T, pair func(T) (*string, *string)) tags {
	out := tags{}
	for _, e := range list {
		key, value := pair(e)
		out[*key] = *value
	}
	return out
}

func TestTagReadsLagBehindWrites(t *testing.T) {
	for name, r := range taggedResources {
		for _, empty := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, empty %v", name, empty), func(t *testing.T) {
				p := proxy(t)
				c, ctx := clientsOf(p.URL()), t.Context()
				expect := func(when string, want ...tags) {
					t.Helper()
					for i, w := range want {
						if got, err := r.read(ctx, c); err != nil || !maps.Equal(got, w) {
							t.Errorf("%s, read %d: want %v, got %v, %v", when, i+1, w, got, err)
						}
					}
				}
				if strings.Contains(name, "table") {
					must.Succeed(t, taggedResources["glue"].create(ctx, c))
				}
				p.SetLag(emulator.Lag{Tags: emulator.TagLag{Window: emulator.ForReads(2), Empty: empty}})
				one, two := tags{"a": "1"}, tags{"a": "1", "b": "2"}
				none := tags{}
				if r.neverEmpty {
					none = one
				}
				must.Succeed(t, r.create(ctx, c))
				expect("created", none, none, one, one)
				if !empty || r.neverEmpty {
					none = one
				}
				must.Succeed(t, r.tag(ctx, c))
				expect("tagged", none, none, two)
				if !r.neverEmpty && p.Calls().Lagging().Count() != 4 {
					t.Errorf("ledger:\n%s", p.Calls())
				}
			})
		}
	}
}

// Services without an SDK in the module are asked by hand.
func TestTagReadsOfOtherServicesLag(t *testing.T) {
	for _, tt := range []struct{ name, service, target, create, read string }{
		{"sqs", "sqs", "AmazonSQS", `CreateQueue {"QueueName":"jobs","tags":{"owner":"me"}}`,
			`ListQueueTags {"QueueUrl":"http://127.0.0.1/123456789012/jobs"}`},
		{"kms", "kms", "TrentService", `CreateKey {"Tags":[{"TagKey":"owner","TagValue":"me"}]}`, `ListResourceTags {"KeyId":"<KeyId>"}`},
		{"cognito-idp", "cognito-idp", "AWSCognitoIdentityProviderService", `CreateUserPool {"PoolName":"users","UserPoolTags":{"owner":"me"}}`,
			`DescribeUserPool {"UserPoolId":"<Id>"}`},
		{"sns", "sns", "", "Action=CreateTopic&Name=news&Tags.member.1.Key=owner&Tags.member.1.Value=me&Version=2010-03-31",
			"Action=ListTagsForResource&ResourceArn=arn:aws:sns:ap-southeast-1:123456789012:news&Version=2010-03-31"},
		{"rds", "rds", "", "Action=CreateDBInstance&DBInstanceIdentifier=db1&DBInstanceClass=db.t4g.micro&Engine=postgres&AllocatedStorage=20&MasterUsername=me&MasterUserPassword=not-a-secret&Tags.Tag.1.Key=owner&Tags.Tag.1.Value=me&Version=2014-10-31",
			"Action=ListTagsForResource&ResourceName=arn:aws:rds:ap-southeast-1:123456789012:db:db1&Version=2014-10-31"},
		{"ec2", "ec2", "", "Action=CreateVpc&CidrBlock=10.9.0.0/16&TagSpecification.1.ResourceType=vpc&TagSpecification.1.Tag.1.Key=owner&TagSpecification.1.Tag.1.Value=me&Version=2016-11-15",
			"Action=DescribeVpcs&VpcId.1=<vpcId>&Version=2016-11-15"},
		{"ec2 by tag", "ec2", "",
			"Action=CreateVpc&CidrBlock=10.9.0.0/16&TagSpecification.1.ResourceType=vpc&TagSpecification.1.Tag.1.Key=owner&TagSpecification.1.Tag.1.Value=me&Version=2016-11-15",
			"Action=DescribeVpcs&Filter.1.Name=tag:owner&Filter.1.Value.1=me&Version=2016-11-15"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := proxy(t)
			p.SetLag(emulator.Lag{Tags: emulator.TagLag{Window: emulator.ForReads(1), Empty: true}})
			created := askByHand(t, p, tt.service, tt.target, tt.create)
			first := askByHand(t, p, tt.service, tt.target, fillIn(tt.read, created))
			second := askByHand(t, p, tt.service, tt.target, fillIn(tt.read, created))
			if strings.Contains(first, "owner</") || strings.Contains(first, `"owner"`) || !strings.Contains(second, "owner") {
				t.Errorf("created: %s\nfirst: %s\nthen: %s", created, first, second)
			}
		})
	}
}
