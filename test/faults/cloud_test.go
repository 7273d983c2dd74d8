package faults

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	dynamodbtypes "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/glue"
	gluetypes "github.com/aws/aws-sdk-go-v2/service/glue/types"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	iamtypes "github.com/aws/aws-sdk-go-v2/service/iam/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	s3types "github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	secretstypes "github.com/aws/aws-sdk-go-v2/service/secretsmanager/types"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
	ssmtypes "github.com/aws/aws-sdk-go-v2/service/ssm/types"
	"github.com/aws/smithy-go"

	"github.com/nexus-operator/nexus-operator/internal/testkit/awsproxy"
)

// cloud asks the emulator itself: what it is asked is in no ledger and meets no fault.
type cloud struct {
	s3      *s3.Client
	dynamo  *dynamodb.Client
	iam     *iam.Client
	glue    *glue.Client
	ssm     *ssm.Client
	secrets *secretsmanager.Client
}

func newCloud(url string) *cloud {
	c := aws.Config{Region: awsproxy.DefaultRegion, BaseEndpoint: aws.String(url), Credentials: credentials.NewStaticCredentialsProvider("a", "b", "")}
	return &cloud{s3.NewFromConfig(c), dynamodb.NewFromConfig(c), iam.NewFromConfig(c), glue.NewFromConfig(c), ssm.NewFromConfig(c), secretsmanager.NewFromConfig(c)}
}

const ownerUID = "nexus.ai/owner-uid"

func arn(service, resource string) *string {
	return aws.String("arn:aws:" + service + ":" + awsproxy.DefaultRegion + ":123456789012:" + resource)
}

// tags reads the tags of a resource of an inventory, by its kind and name there.
func (c *cloud) tags(ctx context.Context, kind, name string) (map[string]string, error) {
	out := map[string]string{}
	switch kind {
	case "s3/bucket":
		a, err := c.s3.GetBucketTagging(ctx, &s3.GetBucketTaggingInput{Bucket: &name})
		if code(err) == "NoSuchTagSet" {
			return out, nil
		} else if err != nil {
			return nil, err
		}
		for _, t := range a.TagSet {
			out[*t.Key] = *t.Value
		}
	case "dynamodb/table":
		a, err := c.dynamo.ListTagsOfResource(ctx, &dynamodb.ListTagsOfResourceInput{ResourceArn: arn("dynamodb", "table/"+name)})
		if err != nil {
			return nil, err
		}
		for _, t := range a.Tags {
			out[*t.Key] = *t.Value
		}
	case "iam/role":
		a, err := c.iam.ListRoleTags(ctx, &iam.ListRoleTagsInput{RoleName: &name})
		if err != nil {
			return nil, err
		}
		for _, t := range a.Tags {
			out[*t.Key] = *t.Value
		}
	case "ssm/parameter":
		if _, err := c.ssm.GetParameter(ctx, &ssm.GetParameterInput{Name: &name}); err != nil {
			return nil, err
		}
		a, err := c.ssm.ListTagsForResource(ctx, &ssm.ListTagsForResourceInput{ResourceId: &name, ResourceType: ssmtypes.ResourceTypeForTaggingParameter})
		if err != nil {
			return nil, err
		}
		for _, t := range a.TagList {
			out[*t.Key] = *t.Value
		}
	case "secretsmanager/secret":
		a, err := c.secrets.DescribeSecret(ctx, &secretsmanager.DescribeSecretInput{SecretId: &name})
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

func (c *cloud) glueTags(ctx context.Context, kind, name string) (map[string]string, error) {
	var err error
	what := strings.TrimPrefix(kind, "glue/") + "/" + name
	switch kind {
	case "glue/database":
		_, err = c.glue.GetDatabase(ctx, &glue.GetDatabaseInput{Name: &name})
	case "glue/crawler":
		_, err = c.glue.GetCrawler(ctx, &glue.GetCrawlerInput{Name: &name})
	case "glue/table":
		database, table, _ := strings.Cut(name, "/")
		a, err := c.glue.GetTable(ctx, &glue.GetTableInput{DatabaseName: &database, Name: &table})
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
	a, err := c.glue.GetTags(ctx, &glue.GetTagsInput{ResourceArn: arn("glue", what)})
	if err != nil {
		return nil, err
	}
	return a.Tags, nil
}

// describe reads all that there is to know of a resource: its answers to every question, in order.
func (c *cloud) describe(ctx context.Context, kind, name string) string {
	var b strings.Builder
	tell := func(answer any, err error) {
		if err != nil {
			answer = code(err)
		}
		text, _ := json.Marshal(answer)
		b.Write(text)
		b.WriteByte('\n')
	}
	tags, err := c.tags(ctx, kind, name)
	tell(tags, err)
	switch kind {
	case "s3/bucket":
		c.describeBucket(ctx, name, tell)
	case "dynamodb/table":
		tell(ask(ctx, c.dynamo.DescribeTable, &dynamodb.DescribeTableInput{TableName: &name}))
		tell(ask(ctx, c.dynamo.DescribeTimeToLive, &dynamodb.DescribeTimeToLiveInput{TableName: &name}))
		tell(ask(ctx, c.dynamo.DescribeContinuousBackups, &dynamodb.DescribeContinuousBackupsInput{TableName: &name}))
		tell(ask(ctx, c.dynamo.Scan, &dynamodb.ScanInput{TableName: &name}))
	case "iam/role":
		c.describeRole(ctx, name, tell)
	case "ssm/parameter":
		tell(ask(ctx, c.ssm.GetParameter, &ssm.GetParameterInput{Name: &name, WithDecryption: aws.Bool(true)}))
	case "secretsmanager/secret":
		tell(ask(ctx, c.secrets.DescribeSecret, &secretsmanager.DescribeSecretInput{SecretId: &name}))
	case "glue/database":
		tell(ask(ctx, c.glue.GetDatabase, &glue.GetDatabaseInput{Name: &name}))
	case "glue/crawler":
		tell(ask(ctx, c.glue.GetCrawler, &glue.GetCrawlerInput{Name: &name}))
	case "glue/table":
		database, table, _ := strings.Cut(name, "/")
		tell(ask(ctx, c.glue.GetTable, &glue.GetTableInput{DatabaseName: &database, Name: &table}))
	}
	return b.String()
}

func ask[I, O, F any](ctx context.Context, call func(context.Context, I, ...F) (O, error), in I) (any, error) {
	return call(ctx, in)
}

func (c *cloud) describeBucket(ctx context.Context, name string, tell func(any, error)) {
	tell(ask(ctx, c.s3.GetBucketVersioning, &s3.GetBucketVersioningInput{Bucket: &name}))
	tell(ask(ctx, c.s3.GetBucketEncryption, &s3.GetBucketEncryptionInput{Bucket: &name}))
	tell(ask(ctx, c.s3.GetPublicAccessBlock, &s3.GetPublicAccessBlockInput{Bucket: &name}))
	tell(ask(ctx, c.s3.GetBucketOwnershipControls, &s3.GetBucketOwnershipControlsInput{Bucket: &name}))
	tell(ask(ctx, c.s3.GetBucketLifecycleConfiguration, &s3.GetBucketLifecycleConfigurationInput{Bucket: &name}))
	tell(ask(ctx, c.s3.GetBucketCors, &s3.GetBucketCorsInput{Bucket: &name}))
	tell(ask(ctx, c.s3.GetBucketPolicy, &s3.GetBucketPolicyInput{Bucket: &name}))
	tell(ask(ctx, c.s3.ListObjectsV2, &s3.ListObjectsV2Input{Bucket: &name}))
}

func (c *cloud) describeRole(ctx context.Context, name string, tell func(any, error)) {
	tell(ask(ctx, c.iam.GetRole, &iam.GetRoleInput{RoleName: &name}))
	tell(ask(ctx, c.iam.ListAttachedRolePolicies, &iam.ListAttachedRolePoliciesInput{RoleName: &name}))
	inline, err := c.iam.ListRolePolicies(ctx, &iam.ListRolePoliciesInput{RoleName: &name})
	tell(inline, err)
	if err == nil {
		slices.Sort(inline.PolicyNames)
		for _, p := range inline.PolicyNames {
			tell(ask(ctx, c.iam.GetRolePolicy, &iam.GetRolePolicyInput{RoleName: &name, PolicyName: &p}))
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

// volatile is what no two runs have in common.
var volatile = regexp.MustCompile(`"(ResultMetadata|CreationDate|CreationDateTime|CreationTime|CreateDate|CreateTime|UpdateTime|LastUpdated|LastModifiedDate|LastModified|LastChangedDate|` +
	`CreatedDate|LastAccessedDate|RoleId|TableId|VersionId|LastUsedDate|EarliestRestorableDateTime|LatestRestorableDateTime|RoleLastUsed)":("[^"]*"|\{[^{}]*\}|[^,{}]*)`)

var (
	secretSuffix = regexp.MustCompile(`(:secret:[A-Za-z0-9/_+=.@-]*)-[A-Za-z0-9]{6}\b`)
	versionIDs   = regexp.MustCompile(`"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"`)
)

// state describes everything of an inventory, by kind and name. What no two runs have in common is left
// out, and so are the UIDs of objects unless raw is wanted.
func (c *cloud) state(ctx context.Context, inventory map[string][]string, raw bool) map[string]string {
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
	text = secretSuffix.ReplaceAllString(text, "$1-~")
	return versionIDs.ReplaceAllString(text, `"~"`)
}

var foreignTags = map[string]string{"nexus.ai/managed-by": "nexus-operator", "nexus.ai/cluster": "another-cluster", "nexus.ai/owner": "S3Bucket/elsewhere/decoy", ownerUID: "00000000-0000-0000-0000-000000000000"}

// layDecoys makes resources that are not ours and lie close to what is: names of the same prefix,
// without tags and with another cluster's.
func (c *cloud) layDecoys(t *testing.T) map[string]string {
	t.Helper()
	ctx := t.Context()
	must := func(_ any, err error) {
		t.Helper()
		if err != nil {
			t.Fatalf("laying decoys: %v", err)
		}
	}
	location := &s3types.CreateBucketConfiguration{LocationConstraint: awsproxy.DefaultRegion}
	for _, name := range []string{"myapp-dev-decoy", "myapp-dev-foreign"} {
		must(c.s3.CreateBucket(ctx, &s3.CreateBucketInput{Bucket: &name, CreateBucketConfiguration: location}))
		must(c.s3.PutObject(ctx, &s3.PutObjectInput{Bucket: &name, Key: aws.String("data"), Body: strings.NewReader("precious")}))
	}
	var s3Tags []s3types.Tag
	var dynamoTags []dynamodbtypes.Tag
	var iamTags []iamtypes.Tag
	var ssmTags []ssmtypes.Tag
	var secretTags []secretstypes.Tag
	for _, k := range slices.Sorted(maps.Keys(foreignTags)) {
		v := foreignTags[k]
		s3Tags = append(s3Tags, s3types.Tag{Key: &k, Value: &v})
		dynamoTags = append(dynamoTags, dynamodbtypes.Tag{Key: &k, Value: &v})
		iamTags = append(iamTags, iamtypes.Tag{Key: &k, Value: &v})
		ssmTags = append(ssmTags, ssmtypes.Tag{Key: &k, Value: &v})
		secretTags = append(secretTags, secretstypes.Tag{Key: &k, Value: &v})
	}
	must(c.s3.PutBucketTagging(ctx, &s3.PutBucketTaggingInput{Bucket: aws.String("myapp-dev-foreign"), Tagging: &s3types.Tagging{TagSet: s3Tags}}))
	for name, tags := range map[string][]dynamodbtypes.Tag{"myapp-dev-decoy": nil, "myapp-dev-foreign": dynamoTags} {
		must(c.dynamo.CreateTable(ctx, &dynamodb.CreateTableInput{TableName: &name, BillingMode: dynamodbtypes.BillingModePayPerRequest, Tags: tags,
			AttributeDefinitions: []dynamodbtypes.AttributeDefinition{{AttributeName: aws.String("pk"), AttributeType: "S"}},
			KeySchema:            []dynamodbtypes.KeySchemaElement{{AttributeName: aws.String("pk"), KeyType: "HASH"}}}))
		must(c.dynamo.PutItem(ctx, &dynamodb.PutItemInput{TableName: &name, Item: map[string]dynamodbtypes.AttributeValue{"pk": &dynamodbtypes.AttributeValueMemberS{Value: "precious"}}}))
	}
	for name, tags := range map[string][]iamtypes.Tag{"myapp-dev-decoy": nil, "myapp-dev-foreign": iamTags} {
		must(c.iam.CreateRole(ctx, &iam.CreateRoleInput{RoleName: &name, Tags: tags, AssumeRolePolicyDocument: aws.String(`{"Version":"2012-10-17","Statement":[]}`)}))
	}
	for name, tags := range map[string][]ssmtypes.Tag{"/myapp/dev/decoy": nil, "/myapp/dev/foreign": ssmTags} {
		must(c.ssm.PutParameter(ctx, &ssm.PutParameterInput{Name: &name, Value: aws.String("precious"), Type: "String", Tags: tags}))
	}
	for name, tags := range map[string][]secretstypes.Tag{"myapp/dev/decoy": nil, "myapp/dev/foreign": secretTags} {
		must(c.secrets.CreateSecret(ctx, &secretsmanager.CreateSecretInput{Name: &name, SecretString: aws.String("precious"), Tags: tags}))
	}
	for name, tags := range map[string]map[string]string{"myapp_dev_decoy": nil, "myapp_dev_foreign": foreignTags} {
		must(c.glue.CreateDatabase(ctx, &glue.CreateDatabaseInput{DatabaseInput: &gluetypes.DatabaseInput{Name: &name}, Tags: tags}))
	}
	return c.decoys(ctx)
}

// decoys describes the decoys as they are now, byte for byte.
func (c *cloud) decoys(ctx context.Context) map[string]string {
	return c.state(ctx, map[string][]string{
		"s3/bucket": {"myapp-dev-decoy", "myapp-dev-foreign"}, "dynamodb/table": {"myapp-dev-decoy", "myapp-dev-foreign"},
		"iam/role": {"myapp-dev-decoy", "myapp-dev-foreign"}, "ssm/parameter": {"/myapp/dev/decoy", "/myapp/dev/foreign"},
		"secretsmanager/secret": {"myapp/dev/decoy", "myapp/dev/foreign"}, "glue/database": {"myapp_dev_decoy", "myapp_dev_foreign"},
	}, true)
}

// secretValues are the values that no log, status or ledger may hold.
func (c *cloud) secretValues(ctx context.Context, inventory map[string][]string) []string {
	var out []string
	for _, name := range inventory["secretsmanager/secret"] {
		a, err := c.secrets.GetSecretValue(ctx, &secretsmanager.GetSecretValueInput{SecretId: &name})
		if err != nil || a.SecretString == nil {
			continue
		}
		var fields map[string]string
		if json.Unmarshal([]byte(*a.SecretString), &fields) != nil {
			fields = map[string]string{"": *a.SecretString}
		}
		for _, v := range fields {
			if len(v) >= 12 { // shorter ones are placeholders, and words
				out = append(out, v)
			}
		}
	}
	return out
}

var errNotYet = errors.New("not yet")

// spoilDecoy does to a decoy what nobody may.
func (c *cloud) spoilDecoy(ctx context.Context) error {
	_, err := c.s3.PutObject(ctx, &s3.PutObjectInput{Bucket: aws.String("myapp-dev-decoy"), Key: aws.String("data"), Body: strings.NewReader("touched!")})
	return err
}
