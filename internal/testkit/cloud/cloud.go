// SPDX-License-Identifier: Apache-2.0

// Package cloud asks the AWS emulator directly for its resources: these requests are in no ledger and meet no fault.
package cloud

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/cognitoidentityprovider"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/glue"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/kms"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	"github.com/aws/aws-sdk-go-v2/service/sns"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
	ssmtypes "github.com/aws/aws-sdk-go-v2/service/ssm/types"
	"github.com/aws/smithy-go"

	"github.com/nexus-operator/nexus-operator/internal/emulator"
)

// Cloud is the emulator's services.
type Cloud struct {
	S3      *s3.Client
	Dynamo  *dynamodb.Client
	IAM     *iam.Client
	Glue    *glue.Client
	SSM     *ssm.Client
	Secrets *secretsmanager.Client
	SNS     *sns.Client
	SQS     *sqs.Client
	KMS     *kms.Client
	Cognito *cognitoidentityprovider.Client
}

// New returns the services at an address.
func New(url string) *Cloud {
	c := aws.Config{Region: emulator.DefaultRegion, BaseEndpoint: aws.String(url),
		Credentials: credentials.NewStaticCredentialsProvider("a", "b", "")}
	return &Cloud{s3.NewFromConfig(c), dynamodb.NewFromConfig(c), iam.NewFromConfig(c), glue.NewFromConfig(c), ssm.NewFromConfig(c),
		secretsmanager.NewFromConfig(c),
		sns.NewFromConfig(c), sqs.NewFromConfig(c), kms.NewFromConfig(c), cognitoidentityprovider.NewFromConfig(c)}
}

// ARN returns the ARN of a regional resource.
func ARN(service, resource string) *string {
	return aws.String("arn:aws:" + service + ":" + emulator.DefaultRegion + ":123456789012:" + resource)
}

// Tags reads the tags of a resource of an inventory, by its kind and name there.
func (c *Cloud) Tags(ctx context.Context, kind, name string) (map[string]string, error) {
	out := map[string]string{}
	switch kind {
	case "s3/bucket":
		a, err := c.S3.GetBucketTagging(ctx, &s3.GetBucketTaggingInput{Bucket: &name})
		if code(err) == "NoSuchTagSet" {
			return out, nil
		} else if err != nil {
			return nil, err
		}
		for _, t := range a.TagSet {
			out[*t.Key] = *t.Value
		}
	case "dynamodb/table":
		a, err := c.Dynamo.ListTagsOfResource(ctx, &dynamodb.ListTagsOfResourceInput{ResourceArn: ARN("dynamodb", "table/"+name)})
		if err != nil {
			return nil, err
		}
		for _, t := range a.Tags {
			out[*t.Key] = *t.Value
		}
	case "iam/role":
		a, err := c.IAM.ListRoleTags(ctx, &iam.ListRoleTagsInput{RoleName: &name})
		if err != nil {
			return nil, err
		}
		for _, t := range a.Tags {
			out[*t.Key] = *t.Value
		}
	case "ssm/parameter":
		if _, err := c.SSM.GetParameter(ctx, &ssm.GetParameterInput{Name: &name}); err != nil {
			return nil, err
		}
		a, err := c.SSM.ListTagsForResource(ctx,
			&ssm.ListTagsForResourceInput{ResourceId: &name, ResourceType: ssmtypes.ResourceTypeForTaggingParameter})
		if err != nil {
			return nil, err
		}
		for _, t := range a.TagList {
			out[*t.Key] = *t.Value
		}
	case "secretsmanager/secret":
		a, err := c.Secrets.DescribeSecret(ctx, &secretsmanager.DescribeSecretInput{SecretId: &name})
		if err != nil {
			return nil, err
		}
		if a.DeletedDate != nil {
			return nil, errors.New("scheduled for deletion")
		}
		for _, t := range a.Tags {
			out[*t.Key] = *t.Value
		}
	default:
		return c.glueTags(ctx, kind, name)
	}
	return out, nil
}

func (c *Cloud) glueTags(ctx context.Context, kind, name string) (map[string]string, error) {
	var err error
	what := strings.TrimPrefix(kind, "glue/") + "/" + name
	switch kind {
	case "glue/database":
		_, err = c.Glue.GetDatabase(ctx, &glue.GetDatabaseInput{Name: &name})
	case "glue/crawler":
		_, err = c.Glue.GetCrawler(ctx, &glue.GetCrawlerInput{Name: &name})
	case "glue/table":
		database, table, _ := strings.Cut(name, "/")
		a, err := c.Glue.GetTable(ctx, &glue.GetTableInput{DatabaseName: &database, Name: &table})
		if err != nil {
			return nil, err
		}
		return a.Table.Parameters, nil
	default:
		return nil, fmt.Errorf("no such kind: %s", kind)
	}
	if err != nil {
		return nil, err
	}
	a, err := c.Glue.GetTags(ctx, &glue.GetTagsInput{ResourceArn: ARN("glue", what)})
	if err != nil {
		return nil, err
	}
	return a.Tags, nil
}

// describe reads all that there is to know of a resource: its answers to every question, in order.
func (c *Cloud) describe(ctx context.Context, kind, name string) string {
	var b strings.Builder
	writeAnswer := func(answer any, err error) {
		if err != nil {
			answer = code(err)
		}
		text, _ := json.Marshal(answer)
		b.Write(text)
		b.WriteByte('\n')
	}
	switch kind {
	case "sns/topic":
		c.describeTopic(ctx, name, writeAnswer)
		return b.String()
	case "sqs/queue":
		c.describeQueue(ctx, name, writeAnswer)
		return b.String()
	case "cognito-idp/pool":
		c.describePools(ctx, name, writeAnswer)
		return b.String()
	case "eks/pod-identity-association":
		return name // the emulator knows nothing of it but its name
	}
	tags, err := c.Tags(ctx, kind, name)
	writeAnswer(tags, err)
	switch kind {
	case "s3/bucket":
		c.describeBucket(ctx, name, writeAnswer)
	case "dynamodb/table":
		writeAnswer(ask(ctx, c.Dynamo.DescribeTable, &dynamodb.DescribeTableInput{TableName: &name}))
		writeAnswer(ask(ctx, c.Dynamo.DescribeTimeToLive, &dynamodb.DescribeTimeToLiveInput{TableName: &name}))
		writeAnswer(ask(ctx, c.Dynamo.DescribeContinuousBackups, &dynamodb.DescribeContinuousBackupsInput{TableName: &name}))
		writeAnswer(ask(ctx, c.Dynamo.Scan, &dynamodb.ScanInput{TableName: &name}))
	case "iam/role":
		c.describeRole(ctx, name, writeAnswer)
	case "ssm/parameter":
		writeAnswer(ask(ctx, c.SSM.GetParameter, &ssm.GetParameterInput{Name: &name, WithDecryption: aws.Bool(true)}))
	case "secretsmanager/secret":
		writeAnswer(ask(ctx, c.Secrets.DescribeSecret, &secretsmanager.DescribeSecretInput{SecretId: &name}))
	case "glue/database":
		writeAnswer(ask(ctx, c.Glue.GetDatabase, &glue.GetDatabaseInput{Name: &name}))
	case "glue/crawler":
		writeAnswer(ask(ctx, c.Glue.GetCrawler, &glue.GetCrawlerInput{Name: &name}))
	case "glue/table":
		database, table, _ := strings.Cut(name, "/")
		writeAnswer(ask(ctx, c.Glue.GetTable, &glue.GetTableInput{DatabaseName: &database, Name: &table}))
	}
	return b.String()
}

func ask[I, O, F any](ctx context.Context, call func(context.Context, I, ...F) (O, error), in I) (any, error) {
	return call(ctx, in)
}

func (c *Cloud) describeBucket(ctx context.Context, name string, writeAnswer func(any, error)) {
	writeAnswer(ask(ctx, c.S3.GetBucketVersioning, &s3.GetBucketVersioningInput{Bucket: &name}))
	writeAnswer(ask(ctx, c.S3.GetBucketEncryption, &s3.GetBucketEncryptionInput{Bucket: &name}))
	writeAnswer(ask(ctx, c.S3.GetPublicAccessBlock, &s3.GetPublicAccessBlockInput{Bucket: &name}))
	writeAnswer(ask(ctx, c.S3.GetBucketOwnershipControls, &s3.GetBucketOwnershipControlsInput{Bucket: &name}))
	writeAnswer(ask(ctx, c.S3.GetBucketLifecycleConfiguration, &s3.GetBucketLifecycleConfigurationInput{Bucket: &name}))
	writeAnswer(ask(ctx, c.S3.GetBucketCors, &s3.GetBucketCorsInput{Bucket: &name}))
	writeAnswer(ask(ctx, c.S3.GetBucketPolicy, &s3.GetBucketPolicyInput{Bucket: &name}))
	writeAnswer(ask(ctx, c.S3.ListObjectsV2, &s3.ListObjectsV2Input{Bucket: &name}))
}

func (c *Cloud) describeRole(ctx context.Context, name string, writeAnswer func(any, error)) {
	role, err := c.IAM.GetRole(ctx, &iam.GetRoleInput{RoleName: &name})
	if err == nil {
		role.Role.Tags = nil // in the order of their writes; they were read before
	}
	writeAnswer(role, err)
	writeAnswer(ask(ctx, c.IAM.ListAttachedRolePolicies, &iam.ListAttachedRolePoliciesInput{RoleName: &name}))
	inline, err := c.IAM.ListRolePolicies(ctx, &iam.ListRolePoliciesInput{RoleName: &name})
	writeAnswer(inline, err)
	if err == nil {
		slices.Sort(inline.PolicyNames)
		for _, p := range inline.PolicyNames {
			writeAnswer(ask(ctx, c.IAM.GetRolePolicy, &iam.GetRolePolicyInput{RoleName: &name, PolicyName: &p}))
		}
	}
}

func code(err error) string {
	if e, ok := errors.AsType[smithy.APIError](err); ok {
		return e.ErrorCode()
	}
	if err != nil {
		return err.Error()
	}
	return ""
}

// volatile matches values that differ between all runs.
var volatile = regexp.MustCompile(`"(ResultMetadata|CreationDate|CreationDateTime|CreationTime|CreateDate|CreateTime|UpdateTime|LastUpdated|LastModifiedDate|LastModified|LastChangedDate|` +
	`CreatedDate|LastAccessedDate|RoleId|TableId|VersionId|LastUsedDate|EarliestRestorableDateTime|LatestRestorableDateTime|RoleLastUsed)":("[^"]*"|\{[^{}]*\}|[^,{}]*)`)

var (
	// SecretSuffix matches the ARN of a secret with the suffix that AWS chooses, and keeps the part before it.
	SecretSuffix = regexp.MustCompile(`((?::|%3A)secret(?::|%3A)[A-Za-z0-9/_+=.@-]*)-[A-Za-z0-9]{6}\b`)
	versionIDs   = regexp.MustCompile(`"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"`)
)

// State describes everything of an inventory, by kind and name. Values that differ between all runs are left out, and so are the UIDs of
// objects unless raw is wanted.
func (c *Cloud) State(ctx context.Context, inventory map[string][]string, raw bool) map[string]string {
	out := map[string]string{}
	var mu sync.Mutex
	var group sync.WaitGroup
	slots := make(chan struct{}, 4)
	for kind, names := range inventory {
		for _, name := range names {
			group.Go(func() {
				slots <- struct{}{}
				defer func() { <-slots }()
				text := c.describe(ctx, kind, name)
				text = regexp.MustCompile(`"ResultMetadata":\{\}`).ReplaceAllString(text, "")
				if !raw {
					text = normal(text)
				}
				mu.Lock()
				defer mu.Unlock()
				out[kind+" "+name] = text
			})
		}
	}
	group.Wait()
	return out
}

func normal(text string) string {
	text = volatile.ReplaceAllString(text, `"$1":"~"`)
	text = SecretSuffix.ReplaceAllString(text, "$1-~")
	return versionIDs.ReplaceAllString(text, `"~"`)
}
