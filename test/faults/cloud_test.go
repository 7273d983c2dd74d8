// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
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

	"github.com/nexus-operator/nexus-operator/internal/emulator"
	"github.com/nexus-operator/nexus-operator/internal/testkit/cloud"
)

// account is the emulator itself, in which decoys lie.
type account struct{ *cloud.Cloud }

const ownerUID = "nexus.ai/owner-uid"

var foreignTags = map[string]string{"nexus.ai/managed-by": "nexus-operator", "nexus.ai/cluster": "another-cluster",
	"nexus.ai/owner": "S3Bucket/elsewhere/decoy", ownerUID: "00000000-0000-0000-0000-000000000000"}

// layDecoys makes resources that are not ours and lie close to what is: names of the same prefix,
// without tags and with another cluster's.
func (c *account) layDecoys(t *testing.T) map[string]string {
	t.Helper()
	ctx := t.Context()
	must := func(_ any, err error) {
		t.Helper()
		// The account was empty: what exists was made by a call whose answer came too late for the client, which repeated it.
		if refusal, ok := errors.AsType[smithy.APIError](err); err != nil && !(ok && strings.Contains(refusal.ErrorCode(), "Already")) {
			t.Fatalf("laying decoys: %v", err)
		}
	}
	location := &s3types.CreateBucketConfiguration{LocationConstraint: emulator.DefaultRegion}
	for _, name := range []string{"myapp-dev-decoy", "myapp-dev-foreign"} {
		must(c.S3.CreateBucket(ctx, &s3.CreateBucketInput{Bucket: &name, CreateBucketConfiguration: location}))
		must(c.S3.PutObject(ctx, &s3.PutObjectInput{Bucket: &name, Key: aws.String("data"), Body: strings.NewReader("precious")}))
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
	must(c.S3.PutBucketTagging(ctx,
		&s3.PutBucketTaggingInput{Bucket: aws.String("myapp-dev-foreign"), Tagging: &s3types.Tagging{TagSet: s3Tags}}))
	for name, tags := range map[string][]dynamodbtypes.Tag{"myapp-dev-decoy": nil, "myapp-dev-foreign": dynamoTags} {
		must(c.Dynamo.CreateTable(ctx,
			&dynamodb.CreateTableInput{TableName: &name, BillingMode: dynamodbtypes.BillingModePayPerRequest, Tags: tags,
				AttributeDefinitions: []dynamodbtypes.AttributeDefinition{{AttributeName: aws.String("pk"), AttributeType: "S"}},
				KeySchema:            []dynamodbtypes.KeySchemaElement{{AttributeName: aws.String("pk"), KeyType: "HASH"}}}))
		must(c.Dynamo.PutItem(ctx, &dynamodb.PutItemInput{TableName: &name,
			Item: map[string]dynamodbtypes.AttributeValue{"pk": &dynamodbtypes.AttributeValueMemberS{Value: "precious"}}}))
	}
	for name, tags := range map[string][]iamtypes.Tag{"myapp-dev-decoy": nil, "myapp-dev-foreign": iamTags} {
		must(c.IAM.CreateRole(ctx,
			&iam.CreateRoleInput{RoleName: &name, Tags: tags, AssumeRolePolicyDocument: aws.String(`{"Version":"2012-10-17","Statement":[]}`)}))
	}
	for name, tags := range map[string][]ssmtypes.Tag{"/myapp/dev/decoy": nil, "/myapp/dev/foreign": ssmTags} {
		_, err := c.SSM.PutParameter(ctx, &ssm.PutParameterInput{Name: &name, Value: aws.String("precious"), Type: "String", Tags: tags})
		if _, repeated := errors.AsType[*ssmtypes.ParameterAlreadyExists](err); !repeated { // the SDK repeats a request whose answer was lost
			must(nil, err)
		}
	}
	for name, tags := range map[string][]secretstypes.Tag{"myapp/dev/decoy": nil, "myapp/dev/foreign": secretTags} {
		must(c.Secrets.CreateSecret(ctx, &secretsmanager.CreateSecretInput{Name: &name, SecretString: aws.String("precious"), Tags: tags}))
	}
	for name, tags := range map[string]map[string]string{"myapp_dev_decoy": nil, "myapp_dev_foreign": foreignTags} {
		must(c.Glue.CreateDatabase(ctx, &glue.CreateDatabaseInput{DatabaseInput: &gluetypes.DatabaseInput{Name: &name}, Tags: tags}))
	}
	return c.decoys(ctx)
}

// decoys describes the decoys as they are now, byte for byte.
func (c *account) decoys(ctx context.Context) map[string]string {
	return c.State(ctx, map[string][]string{
		"s3/bucket": {"myapp-dev-decoy", "myapp-dev-foreign"}, "dynamodb/table": {"myapp-dev-decoy", "myapp-dev-foreign"},
		"iam/role": {"myapp-dev-decoy", "myapp-dev-foreign"}, "ssm/parameter": {"/myapp/dev/decoy", "/myapp/dev/foreign"},
		"secretsmanager/secret": {"myapp/dev/decoy", "myapp/dev/foreign"}, "glue/database": {"myapp_dev_decoy", "myapp_dev_foreign"},
	}, true)
}

// secretValues are the values that no log, status or ledger may hold.
func (c *account) secretValues(ctx context.Context, inventory map[string][]string) []string {
	var out []string
	for _, name := range inventory["secretsmanager/secret"] {
		a, err := c.Secrets.GetSecretValue(ctx, &secretsmanager.GetSecretValueInput{SecretId: &name})
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

// spoilDecoy does to a decoy what no one may.
func (c *account) spoilDecoy(ctx context.Context) error {
	_, err := c.S3.PutObject(ctx,
		&s3.PutObjectInput{Bucket: aws.String("myapp-dev-decoy"), Key: aws.String("data"), Body: strings.NewReader("touched!")})
	return err
}
