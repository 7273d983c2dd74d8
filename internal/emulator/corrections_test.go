// SPDX-License-Identifier: Apache-2.0

package emulator_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	ddbtypes "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/glue"
	gluetypes "github.com/aws/aws-sdk-go-v2/service/glue/types"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	s3types "github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	secretstypes "github.com/aws/aws-sdk-go-v2/service/secretsmanager/types"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
	ssmtypes "github.com/aws/aws-sdk-go-v2/service/ssm/types"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"golang.org/x/sync/errgroup"

	"github.com/nexus-operator/nexus-operator/internal/emulator"
	"github.com/nexus-operator/nexus-operator/internal/testkit/must"
	"github.com/nexus-operator/nexus-operator/internal/testkit/world"
)

func TestANewBucketIsAsAWSMakesIt(t *testing.T) {
	p := proxy(t)
	c, ctx := clientsOf(p.URL()), t.Context()
	must.Succeed(t, createBucket(ctx, c, "some-bucket", s3types.Tag{Key: aws.String("owner"), Value: aws.String("a&b")}))
	encryption, err := c.s3.GetBucketEncryption(ctx, &s3.GetBucketEncryptionInput{Bucket: bucket})
	must.Succeed(t, err)
	if got := encryption.ServerSideEncryptionConfiguration.Rules[0].ApplyServerSideEncryptionByDefault.SSEAlgorithm; got != s3types.ServerSideEncryptionAes256 {
		t.Errorf("encryption %s", got)
	}
	ownership, err := c.s3.GetBucketOwnershipControls(ctx, &s3.GetBucketOwnershipControlsInput{Bucket: bucket})
	must.Succeed(t, err)
	if got := ownership.OwnershipControls.Rules[0].ObjectOwnership; got != s3types.ObjectOwnershipBucketOwnerEnforced {
		t.Errorf("ownership %s", got)
	}
	access, err := c.s3.GetPublicAccessBlock(ctx, &s3.GetPublicAccessBlockInput{Bucket: bucket})
	must.Succeed(t, err)
	block := access.PublicAccessBlockConfiguration
	if !*block.BlockPublicAcls || !*block.BlockPublicPolicy || !*block.IgnorePublicAcls || !*block.RestrictPublicBuckets {
		t.Errorf("public access block %+v", block)
	}
	tags, err := c.s3.GetBucketTagging(ctx, &s3.GetBucketTaggingInput{Bucket: bucket})
	must.Succeed(t, err)
	if len(tags.TagSet) != 1 || *tags.TagSet[0].Key != "owner" || *tags.TagSet[0].Value != "a&b" {
		t.Errorf("tags %v", tags.TagSet)
	}
	if got := p.Calls().Count(); got != 5 {
		t.Errorf("the corrections are in the ledger:\n%s", p.Calls())
	}
	_, err = c.s3.DeletePublicAccessBlock(ctx, &s3.DeletePublicAccessBlockInput{Bucket: bucket})
	must.Succeed(t, err)
	_, err = c.s3.GetPublicAccessBlock(ctx, &s3.GetPublicAccessBlockInput{Bucket: bucket})
	if code(err) != "NoSuchPublicAccessBlockConfiguration" {
		t.Errorf("after its deletion: %v", err)
	}
}

func TestCreatingABucketAgainResetsNothing(t *testing.T) {
	p := proxy(t)
	cfg := config(p.URL())
	cfg.Region = "us-east-1"
	c, ctx := clientsFor(cfg), t.Context()
	create := func() error { _, err := c.s3.CreateBucket(ctx, &s3.CreateBucketInput{Bucket: bucket}); return err }
	must.Succeed(t, create())
	_, err := c.s3.DeletePublicAccessBlock(ctx, &s3.DeletePublicAccessBlockInput{Bucket: bucket})
	must.Succeed(t, err)
	must.Succeed(t, create())
	if _, err := c.s3.GetPublicAccessBlock(ctx, &s3.GetPublicAccessBlockInput{Bucket: bucket}); err == nil {
		t.Error("creating the bucket again has set its public access block")
	}
	elsewhere := clientsOf(p.URL())
	must.Succeed(t, createBucket(ctx, elsewhere, "other-bucket"))
	if got := code(createBucket(ctx, elsewhere, "other-bucket")); got != "BucketAlreadyOwnedByYou" {
		t.Errorf("elsewhere: %s", got)
	}
}

// A condition on TLS does not hold for requests that use it, as all in AWS do here.
func TestOnlyStatementsWithoutConditionsDenyRequestsToABucket(t *testing.T) {
	c, ctx := clientsOf(proxy(t).URL()), t.Context()
	must.Succeed(t, createBucket(ctx, c, *bucket))
	write := func(policy string) string {
		t.Helper()
		_, err := c.s3.PutBucketPolicy(ctx, &s3.PutBucketPolicyInput{Bucket: bucket, Policy: &policy})
		must.Succeed(t, err)
		out, err := c.s3.GetBucketPolicy(ctx, &s3.GetBucketPolicyInput{Bucket: bucket})
		must.Succeed(t, err)
		if *out.Policy != emulator.RewritePolicy(policy) {
			t.Errorf("read %s, written %s", *out.Policy, policy)
		}
		_, err = c.s3.PutObject(ctx, &s3.PutObjectInput{Bucket: bucket, Key: aws.String("object")})
		return code(err)
	}
	const plain = `{"Effect":"Deny","Principal":"*","Action":"s3:*","Resource":["arn:aws:s3:::some-bucket/*"],"Condition":{"Bool":{"aws:SecureTransport":"false"}}}`
	const all = `{"Effect":"Deny","Principal":"*","Action":"s3:PutObject","Resource":"arn:aws:s3:::some-bucket/*"}`
	if got := write(`{"Version":"2012-10-17","Statement":[` + plain + `]}`); got != "" {
		t.Errorf("a condition that does not hold denies: %s", got)
	}
	if got := write(`{"Version":"2012-10-17","Statement":[` + plain + `,` + all + `]}`); got == "" {
		t.Error("a denied request was answered")
	}
}

func TestASecretInItsRecoveryWindowCannotBeCreatedAgain(t *testing.T) {
	p := proxy(t)
	c, ctx := clientsOf(p.URL()), t.Context()
	create := func() error {
		_, err := c.secrets.CreateSecret(ctx, &secretsmanager.CreateSecretInput{Name: aws.String("keys"), SecretString: aws.String("s")})
		return err
	}
	must.Succeed(t, create())
	if got := code(create()); got != "ResourceExistsException" {
		t.Errorf("existing: %s", got)
	}
	_, err := c.secrets.DeleteSecret(ctx, &secretsmanager.DeleteSecretInput{SecretId: aws.String("keys")})
	must.Succeed(t, err)
	if err := create(); code(err) != "InvalidRequestException" || !strings.Contains(err.Error(), "already scheduled for deletion") {
		t.Errorf("in the recovery window: %v", err)
	}
}

func TestOnlyARoleThatTrustsTheCallerCanBeAssumed(t *testing.T) {
	p := proxy(t)
	c, ctx := clientsOf(p.URL()), t.Context()
	withID := `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"AWS":"*"},"Action":"sts:AssumeRole","Condition":{"StringEquals":{"sts:ExternalId":"nexus-1"}}}]}`
	must.Succeed(t, createRole(ctx, c, "open", trustAll))
	must.Succeed(t, createRole(ctx, c, "guarded", withID))
	for _, tt := range []struct {
		role, account, id, want string
	}{
		{"open", "123456789012", "", ""},
		{"guarded", "123456789012", "nexus-1", ""},
		{"guarded", "123456789012", "", "AccessDenied"},
		{"guarded", "123456789012", "nexus-2", "AccessDenied"},
		{"missing", "123456789012", "", "AccessDenied"},
		{"open", "210987654321", "", "AccessDenied"},
	} {
		in := &sts.AssumeRoleInput{RoleArn: aws.String("arn:aws:iam::" + tt.account + ":role/" + tt.role), RoleSessionName: aws.String("s")}
		if tt.id != "" {
			in.ExternalId = &tt.id
		}
		if _, err := c.sts.AssumeRole(ctx, in); code(err) != tt.want {
			t.Errorf("%+v: %v", tt, err)
		}
	}
}

func TestAccountsKeepTheirResourcesToThemselves(t *testing.T) {
	p := proxy(t)
	c, ctx, other := clientsOf(p.URL()), t.Context(), "210987654321"
	arn := aws.String("arn:aws:iam::" + other + ":role/open")
	assume := func(url string) aws.Config {
		out, err := clientsOf(url).sts.AssumeRole(ctx, &sts.AssumeRoleInput{RoleArn: arn, RoleSessionName: aws.String("s")})
		must.Succeed(t, err)
		as := config(p.URL())
		as.Credentials = credentials.NewStaticCredentialsProvider(*out.Credentials.AccessKeyId, *out.Credentials.SecretAccessKey,
			*out.Credentials.SessionToken)
		return as
	}
	must.Succeed(t, createRole(ctx, clientsFor(assume(world.Shared(t).MotoURL())), "open", trustAll)) // moto checks no trust policy
	there := assume(p.URL())
	must.Succeed(t, createTable(ctx, clientsFor(there), "same-name"))
	must.Succeed(t, createBucket(ctx, clientsFor(there), "theirs"))
	must.Succeed(t, createTable(ctx, c, "same-name"))
	_, tagsErr := c.s3.GetBucketTagging(ctx, &s3.GetBucketTaggingInput{Bucket: aws.String("theirs")})
	_, deleteErr := c.s3.DeleteBucket(ctx, &s3.DeleteBucketInput{Bucket: aws.String("theirs")})
	for _, err := range []error{tagsErr, deleteErr} {
		if code(err) != "AccessDenied" {
			t.Errorf("a bucket of another account: %v", err)
		}
	}
	if err := createBucket(ctx, c, "theirs"); code(err) != "BucketAlreadyExists" {
		t.Errorf("a name that another account has: %v", err)
	}
	keys, err := there.Credentials.Retrieve(ctx)
	must.Succeed(t, err)
	found, err := p.InventoryOf(ctx, keys.AccessKeyID, region, "eu-west-1")
	must.Succeed(t, err)
	want := map[string][]string{"dynamodb/table": {"same-name"}, "iam/role": {"open"}, "s3/bucket": {"theirs"}}
	if difference := emulator.Diff(want, found); difference != "" {
		t.Errorf("in account %s:\n%s", other, difference)
	}
	here, err := p.Inventory(ctx)
	must.Succeed(t, err)
	if difference := emulator.Diff(map[string][]string{"dynamodb/table": {"same-name"}}, here); difference != "" {
		t.Errorf("in account %s:\n%s", p.Account(), difference)
	}
	if got := p.AccountOf(keys.AccessKeyID); got != other || p.AccountOf("AKIDTEST") != p.Account() {
		t.Errorf("the assumed role acts in %s", got)
	}
}

func TestNamesThatAWSRefusesAreRefused(t *testing.T) {
	p := proxy(t)
	c, ctx := clientsOf(p.URL()), t.Context()
	parameter := func(name string) error {
		_, err := c.ssm.PutParameter(ctx, &ssm.PutParameterInput{Name: &name, Value: aws.String("1"), Type: ssmtypes.ParameterTypeString})
		return err
	}
	secret := func(name string) error {
		_, err := c.secrets.CreateSecret(ctx, &secretsmanager.CreateSecretInput{Name: &name, SecretString: aws.String("s")})
		return err
	}
	for _, tt := range []struct{ what, got, want string }{
		{"bucket in upper case", code(createBucket(ctx, c, "Some-Bucket")), "InvalidBucketName"},
		{"bucket like an address", code(createBucket(ctx, c, "10.0.0.1")), "InvalidBucketName"},
		{"bucket with a reserved suffix", code(createBucket(ctx, c, "x-s3alias")), "InvalidBucketName"},
		{"role of 65 characters", code(createRole(ctx, c, strings.Repeat("r", 65), trustAll)), "ValidationError"},
		{"role of 64 characters", code(createRole(ctx, c, strings.Repeat("r", 64), trustAll)), ""},
		{"table of 2 characters", code(createTable(ctx, c, "ab")), "ValidationException"},
		{"table with a slash", code(createTable(ctx, c, "a/b/c")), "ValidationException"},
		{"secret with a blank", code(secret("a b")), "ValidationException"},
		{"parameter of AWS", code(parameter("/aws/x")), "ValidationException"},
		{"parameter without a leading slash", code(parameter("a/b")), "ValidationException"},
		{"parameter with a colon", code(parameter("/a:b")), "ValidationException"},
		{"parameter", code(parameter("/a/b_c.d-e")), ""},
	} {
		if tt.got != tt.want {
			t.Errorf("%s: want %q, got %q", tt.what, tt.want, tt.got)
		}
	}
}

func TestReadsMayMissWhatWasJustCreated(t *testing.T) {
	p := proxy(t)
	c, ctx := clientsOf(p.URL()), t.Context()
	now := time.Now()
	p.SetClock(func() time.Time { return now })
	p.SetEventualConsistency("iam", time.Minute)
	must.Succeed(t, createRole(ctx, c, "app-role", trustAll))
	get := func() error { _, err := c.iam.GetRole(ctx, &iam.GetRoleInput{RoleName: role}); return err }
	if got := code(get()); got != "NoSuchEntity" {
		t.Errorf("at once: %s", got)
	}
	now = now.Add(time.Minute)
	must.Succeed(t, get())
	must.Succeed(t, createTable(ctx, c, "orders"))
	if !tableExists(ctx, c, "orders") {
		t.Error("another service is affected")
	}
}

func TestTablesTakeTheirTime(t *testing.T) {
	p := proxy(t)
	c, ctx := clientsOf(p.URL()), t.Context()
	status := func() ddbtypes.TableStatus {
		out, err := c.dynamodb.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: table})
		must.Succeed(t, err)
		return out.Table.TableStatus
	}
	backups := func() error {
		_, err := c.dynamodb.UpdateContinuousBackups(ctx, &dynamodb.UpdateContinuousBackupsInput{TableName: table,
			PointInTimeRecoverySpecification: &ddbtypes.PointInTimeRecoverySpecification{PointInTimeRecoveryEnabled: aws.Bool(true)}})
		return err
	}
	now := time.Now()
	p.SetClock(func() time.Time { return now })
	p.DynamoDB.SetTableCreating(time.Minute)
	must.Succeed(t, createTable(ctx, c, "orders"))
	if got := status(); got != ddbtypes.TableStatusCreating {
		t.Errorf("at once: %s", got)
	}
	if got := code(backups()); got != "ContinuousBackupsUnavailableException" {
		t.Errorf("backups at once: %s", got)
	}
	if _, err := c.dynamodb.DeleteTable(ctx, &dynamodb.DeleteTableInput{TableName: table}); code(err) != "ResourceInUseException" {
		t.Errorf("deletion at once: %v", err)
	}
	now = now.Add(time.Minute)
	if got := status(); got != ddbtypes.TableStatusActive {
		t.Errorf("later: %s", got)
	}
	must.Succeed(t, backups())
}

func TestIndexesTakeTheirTime(t *testing.T) {
	p := proxy(t)
	c, ctx := clientsOf(p.URL()), t.Context()
	must.Succeed(t, createTable(ctx, c, "orders"))
	update := func(in dynamodb.UpdateTableInput) error {
		in.TableName = table
		_, err := c.dynamodb.UpdateTable(ctx, &in)
		return err
	}
	definition := func(name string) ddbtypes.AttributeDefinition {
		return ddbtypes.AttributeDefinition{AttributeName: &name, AttributeType: ddbtypes.ScalarAttributeTypeS}
	}
	add := func(name, key string) ddbtypes.GlobalSecondaryIndexUpdate {
		return ddbtypes.GlobalSecondaryIndexUpdate{Create: &ddbtypes.CreateGlobalSecondaryIndexAction{IndexName: &name,
			KeySchema:  []ddbtypes.KeySchemaElement{{AttributeName: &key, KeyType: ddbtypes.KeyTypeHash}},
			Projection: &ddbtypes.Projection{ProjectionType: ddbtypes.ProjectionTypeAll}}}
	}
	drop := func(name string) ddbtypes.GlobalSecondaryIndexUpdate {
		return ddbtypes.GlobalSecondaryIndexUpdate{Delete: &ddbtypes.DeleteGlobalSecondaryIndexAction{IndexName: &name}}
	}
	change := func(definitions []ddbtypes.AttributeDefinition, updates ...ddbtypes.GlobalSecondaryIndexUpdate) string {
		return code(update(dynamodb.UpdateTableInput{AttributeDefinitions: definitions, GlobalSecondaryIndexUpdates: updates}))
	}
	states := func() string {
		out, err := c.dynamodb.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: table})
		must.Succeed(t, err)
		s := string(out.Table.TableStatus)
		for _, g := range out.Table.GlobalSecondaryIndexes {
			s += " " + *g.IndexName + "=" + string(g.IndexStatus)
		}
		return s + fmt.Sprint(" ", len(out.Table.AttributeDefinitions))
	}
	both := []ddbtypes.AttributeDefinition{definition("id"), definition("a")}
	now := time.Now()
	p.SetClock(func() time.Time { return now })
	p.DynamoDB.SetIndexesTake(time.Hour)
	for _, step := range []struct {
		name         string
		definitions  []ddbtypes.AttributeDefinition
		updates      []ddbtypes.GlobalSecondaryIndexUpdate
		code, states string
		passes       time.Duration
	}{
		{"two at once", append(both, definition("b")), []ddbtypes.GlobalSecondaryIndexUpdate{add("by-a", "a"), add("by-b", "b")},
			"LimitExceededException", "ACTIVE 1", 0},
		{"a key that is not defined", both[:1], []ddbtypes.GlobalSecondaryIndexUpdate{add("by-a", "a")}, "ValidationException", "ACTIVE 1", 0},
		{"a definition that is not used", append(both, definition("b")), []ddbtypes.GlobalSecondaryIndexUpdate{add("by-a", "a")},
			"ValidationException", "ACTIVE 1", 0},
		{"an index that is missing", nil, []ddbtypes.GlobalSecondaryIndexUpdate{drop("by-a")}, "ResourceNotFoundException", "ACTIVE 1", 0},
		{"one", both, []ddbtypes.GlobalSecondaryIndexUpdate{add("by-a", "a")}, "", "UPDATING by-a=CREATING 2", 0},
		{"a change while it is allocated", nil, []ddbtypes.GlobalSecondaryIndexUpdate{drop("by-a")}, "ResourceInUseException",
			"UPDATING by-a=CREATING 2", 0},
		{"a change while it is filled", nil, []ddbtypes.GlobalSecondaryIndexUpdate{drop("by-a")}, "LimitExceededException",
			"ACTIVE by-a=CREATING 2", 40 * time.Minute},
		{"once more", both, []ddbtypes.GlobalSecondaryIndexUpdate{add("by-a", "a")}, "ValidationException", "ACTIVE by-a=ACTIVE 2", time.Hour},
		{"its deletion", nil, []ddbtypes.GlobalSecondaryIndexUpdate{drop("by-a")}, "", "UPDATING by-a=DELETING 1", 0},
	} {
		now = now.Add(step.passes)
		if got := change(step.definitions, step.updates...); got != step.code {
			t.Errorf("%s: %q, want %q", step.name, got, step.code)
		}
		if got := states(); got != step.states {
			t.Errorf("%s: %s, want %s", step.name, got, step.states)
		}
	}
	now = now.Add(time.Hour)
	if got := states(); got != "ACTIVE 1" {
		t.Errorf("in the end: %s", got)
	}
}

func TestTablesRefuseWhatDoesNotChange(t *testing.T) {
	p := proxy(t)
	c, ctx := clientsOf(p.URL()), t.Context()
	must.Succeed(t, createTable(ctx, c, "orders"))
	for _, step := range []struct {
		name string
		in   dynamodb.UpdateTableInput
		code string
	}{
		{"to provisioned capacity",
			dynamodb.UpdateTableInput{BillingMode: ddbtypes.BillingModeProvisioned, ProvisionedThroughput: unitsOf(2)}, ""},
		{"the same capacity", dynamodb.UpdateTableInput{ProvisionedThroughput: unitsOf(2)}, "ValidationException"},
		{"another", dynamodb.UpdateTableInput{ProvisionedThroughput: unitsOf(3)}, ""},
		{"no stream to end", dynamodb.UpdateTableInput{StreamSpecification: &ddbtypes.StreamSpecification{StreamEnabled: aws.Bool(false)}},
			"ValidationException"},
		{"a stream", dynamodb.UpdateTableInput{StreamSpecification: streamOf("KEYS_ONLY")}, ""},
		{"another view", dynamodb.UpdateTableInput{StreamSpecification: streamOf("NEW_IMAGE")}, "ValidationException"},
		{"its end", dynamodb.UpdateTableInput{StreamSpecification: &ddbtypes.StreamSpecification{StreamEnabled: aws.Bool(false)}}, ""},
		{"a stream again", dynamodb.UpdateTableInput{StreamSpecification: streamOf("NEW_IMAGE")}, ""},
		{"a class", dynamodb.UpdateTableInput{TableClass: ddbtypes.TableClassStandardInfrequentAccess}, ""},
	} {
		step.in.TableName = table
		if _, err := c.dynamodb.UpdateTable(ctx, &step.in); code(err) != step.code {
			t.Errorf("%s: %v, want %q", step.name, err, step.code)
		}
	}
	out, err := c.dynamodb.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: table})
	must.Succeed(t, err)
	if d := out.Table; d.TableClassSummary.TableClass != ddbtypes.TableClassStandardInfrequentAccess ||
		d.StreamSpecification.StreamViewType != "NEW_IMAGE" || d.LatestStreamArn == nil {
		t.Errorf("%+v", d)
	}
}

func unitsOf(n int64) *ddbtypes.ProvisionedThroughput {
	return &ddbtypes.ProvisionedThroughput{ReadCapacityUnits: &n, WriteCapacityUnits: &n}
}

func streamOf(view ddbtypes.StreamViewType) *ddbtypes.StreamSpecification {
	return &ddbtypes.StreamSpecification{StreamEnabled: aws.Bool(true), StreamViewType: view}
}

func TestRotationsOfSecretsAreKept(t *testing.T) {
	p := proxy(t)
	c, ctx := clientsOf(p.URL()), t.Context()
	id := aws.String("keys")
	rotate := func(function *string) string {
		_, err := c.secrets.RotateSecret(ctx,
			&secretsmanager.RotateSecretInput{SecretId: id, RotationLambdaARN: function, RotateImmediately: aws.Bool(false),
				RotationRules: &secretstypes.RotationRulesType{AutomaticallyAfterDays: aws.Int64(30)}})
		return code(err)
	}
	shown := func() bool {
		out, err := c.secrets.DescribeSecret(ctx, &secretsmanager.DescribeSecretInput{SecretId: id})
		must.Succeed(t, err)
		return aws.ToBool(out.RotationEnabled)
	}
	if got := rotate(aws.String("arn:f")); got != "ResourceNotFoundException" {
		t.Errorf("missing: %s", got)
	}
	_, err := c.secrets.CreateSecret(ctx, &secretsmanager.CreateSecretInput{Name: id, SecretString: aws.String("v")})
	must.Succeed(t, err)
	if got := rotate(nil); got != "InvalidRequestException" {
		t.Errorf("without a function: %s", got)
	}
	if got := rotate(aws.String("arn:f")); got != "" || !shown() {
		t.Errorf("%s, or the rotation is not shown", got)
	}
	_, err = c.secrets.CancelRotateSecret(ctx, &secretsmanager.CancelRotateSecretInput{SecretId: id})
	if must.Succeed(t, err); shown() {
		t.Error("the canceled rotation is shown as enabled")
	}
	policy := func(text string) string {
		_, err := c.secrets.PutResourcePolicy(ctx,
			&secretsmanager.PutResourcePolicyInput{SecretId: id, ResourcePolicy: &text, BlockPublicPolicy: aws.Bool(true)})
		return code(err)
	}
	for text, want := range map[string]string{
		`{`: "MalformedPolicyDocumentException",
		`{"Statement":[{"Effect":"Allow","Principal":"*","Action":"secretsmanager:GetSecretValue","Resource":"*"}]}`: "PublicPolicyException",
		`{"Statement":[{"Effect":"Deny","Principal":"*","Action":"secretsmanager:GetSecretValue","Resource":"*"}]}`:  "",
	} {
		if got := policy(text); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

func TestACrawlerCanBeUpdated(t *testing.T) {
	p := proxy(t)
	c, ctx := clientsOf(p.URL()), t.Context()
	update := func() error {
		_, err := c.glue.UpdateCrawler(ctx, &glue.UpdateCrawlerInput{Name: aws.String("crawl"), Description: aws.String("new")})
		return err
	}
	if got := code(update()); got != "EntityNotFoundException" {
		t.Errorf("missing: %s", got)
	}
	_, err := c.glue.CreateCrawler(ctx,
		&glue.CreateCrawlerInput{Name: aws.String("crawl"), Role: aws.String("r"), DatabaseName: aws.String("lake"),
			Targets: &gluetypes.CrawlerTargets{S3Targets: []gluetypes.S3Target{{Path: aws.String("s3://some-bucket/x")}}},
			Tags:    map[string]string{"k": "v"}})
	must.Succeed(t, err)
	must.Succeed(t, update())
	got, err := c.glue.GetCrawler(ctx, &glue.GetCrawlerInput{Name: aws.String("crawl")})
	must.Succeed(t, err)
	if *got.Crawler.Description != "new" || *got.Crawler.Role != "r" || *got.Crawler.Targets.S3Targets[0].Path != "s3://some-bucket/x" {
		t.Errorf("%+v", got.Crawler)
	}
	tags, err := c.glue.GetTags(ctx, &glue.GetTagsInput{ResourceArn: aws.String("arn:aws:glue:ap-southeast-1:123456789012:crawler/crawl")})
	if err != nil || tags.Tags["k"] != "v" {
		t.Errorf("tags %v, %v", tags, err)
	}
}

func TestAnOperationThatIsMissingFailsAtOnce(t *testing.T) {
	p := proxy(t)
	c := clientsOf(p.URL())
	_, err := c.iam.SimulateCustomPolicy(t.Context(),
		&iam.SimulateCustomPolicyInput{ActionNames: []string{"s3:Get*"}, PolicyInputList: []string{"{}"}})
	if code(err) != "NotImplemented" {
		t.Errorf("got %v", err)
	}
}

func TestTheInventoryShowsEverythingThatExists(t *testing.T) {
	p := proxy(t)
	c, ctx := clientsOf(p.URL()), t.Context()
	before, err := p.Inventory(ctx)
	must.Succeed(t, err)
	if emulator.Diff(nil, before) != "" {
		t.Fatalf("not empty: %v", before)
	}
	for i := range 110 {
		must.Succeed(t, createTable(ctx, c, fmt.Sprintf("table-%03d", i)))
	}
	_, err = c.dynamodb.UpdateTable(ctx, &dynamodb.UpdateTableInput{TableName: aws.String("table-000"),
		SSESpecification: &ddbtypes.SSESpecification{Enabled: aws.Bool(true)}}) // brings AWS's own key
	must.Succeed(t, err)
	must.Succeed(t, createBucket(ctx, c, "some-bucket"))
	must.Succeed(t, createRole(ctx, c, "app-role", trustAll))
	for _, r := range otherRequests {
		if strings.HasPrefix(r.label, "glue.Create") || strings.HasPrefix(r.label, "ssm.Put") ||
			strings.HasPrefix(r.label, "secretsmanager.Create") {
			r.do(ctx, c)
		}
	}
	_, err = c.secrets.DeleteSecret(ctx, &secretsmanager.DeleteSecretInput{SecretId: aws.String("app/dev/keys")})
	must.Succeed(t, err)
	mark := p.Mark()
	after, err := p.Inventory(ctx)
	must.Succeed(t, err)
	if p.Since(mark).Count() != 0 {
		t.Error("the inventory is in the ledger")
	}
	asked, err := emulator.InventoryAt(ctx, p.URL())
	must.Succeed(t, err)
	if difference := emulator.Diff(after, asked); difference != "" || p.Since(mark).Writes().Count() != 0 || p.Since(mark).Count() == 0 {
		t.Errorf("asked by the endpoint:\n%s", difference)
	}
	if got := after["dynamodb/table"]; len(got) != 110 || !slices.IsSorted(got) {
		t.Errorf("tables: %v", got)
	}
	want := "+ s3/bucket some-bucket\n+ iam/role app-role\n+ glue/database lake\n+ glue/table lake/calls\n+ ssm/parameter /app/dev/x\n" +
		"+ secretsmanager/secret app/dev/keys (scheduled for deletion)"
	delete(after, "dynamodb/table")
	if got := emulator.Diff(before, after); got != want {
		t.Errorf("want\n%s\ngot\n%s", want, got)
	}
}

func TestAnIssuerCanBeRegistered(t *testing.T) {
	p := proxy(t)
	arn, err := p.CreateOIDCProvider(t.Context(), world.DefaultIssuer)
	must.Succeed(t, err)
	got, err := clientsOf(p.URL()).iam.GetOpenIDConnectProvider(t.Context(),
		&iam.GetOpenIDConnectProviderInput{OpenIDConnectProviderArn: &arn})
	must.Succeed(t, err)
	if "https://"+*got.Url != world.DefaultIssuer || !slices.Equal(got.ClientIDList, []string{"sts.amazonaws.com"}) {
		t.Errorf("%s: %+v", arn, got)
	}
}

func TestIAMIsEnforcedForClientsButNotForTheProxy(t *testing.T) {
	p := proxy(t)
	c, ctx := clientsOf(p.URL()), t.Context()
	id, secret, err := p.CreateUser(ctx, "operator",
		`{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":["s3:CreateBucket","secretsmanager:CreateSecret"],"Resource":"*"}]}`)
	must.Succeed(t, err)
	if p.Calls().Count() != 0 {
		t.Error("setting up is in the ledger")
	}
	cfg := config(p.URL())
	cfg.Credentials = credentials.NewStaticCredentialsProvider(id, secret, "")
	limited := clientsFor(cfg)

	p.EnforceIAM(true)
	must.Succeed(t, createBucket(ctx, limited, "some-bucket"))
	if err := createTable(ctx, limited, "orders"); err == nil {
		t.Error("a right that was not given was not needed")
	}
	if _, err := p.Inventory(ctx); err != nil {
		t.Error(err)
	}
	if err := createTable(ctx, c, "orders"); err == nil {
		t.Error("the inventory has left IAM off")
	}
	p.EnforceIAM(false)
	access, err := c.s3.GetPublicAccessBlock(ctx, &s3.GetPublicAccessBlockInput{Bucket: bucket})
	if err != nil || !*access.PublicAccessBlockConfiguration.BlockPublicAcls {
		t.Errorf("the correction did not work under IAM: %v", err)
	}
}

func TestSystemTagsOfABucketCannotBeChanged(t *testing.T) {
	p := proxy(t)
	c, ctx := clientsOf(p.URL()), t.Context()
	must.Succeed(t, createBucket(ctx, c, *bucket))
	p.S3.SetSystemTag(*bucket, "aws:cloudformation:stack-name", "stack")
	put := func(tags ...string) string {
		set := []s3types.Tag{}
		for i := 0; i < len(tags); i += 2 {
			set = append(set, s3types.Tag{Key: &tags[i], Value: &tags[i+1]})
		}
		_, err := c.s3.PutBucketTagging(ctx, &s3.PutBucketTaggingInput{Bucket: bucket, Tagging: &s3types.Tagging{TagSet: set}})
		return code(err)
	}
	for _, row := range []struct {
		name string
		got  string
		want string
	}{
		{"dropping it", put("team", "a"), "InvalidTag"},
		{"changing it", put("aws:cloudformation:stack-name", "other"), "InvalidTag"},
		{"adding another", put("aws:cloudformation:stack-name", "stack", "aws:x", "1"), "InvalidTag"},
		{"keeping it", put("aws:cloudformation:stack-name", "stack", "team", "a"), ""},
	} {
		if row.got != row.want {
			t.Errorf("%s: %q, want %q", row.name, row.got, row.want)
		}
	}
	out, err := c.s3.GetBucketTagging(ctx, &s3.GetBucketTaggingInput{Bucket: bucket})
	must.Succeed(t, err)
	if len(out.TagSet) != 2 {
		t.Errorf("tags %v, want the system tag and the other", out.TagSet)
	}
}

func TestANewBucketHasNoTagsOfADeletedOne(t *testing.T) {
	p := proxy(t)
	c, ctx := clientsOf(p.URL()), t.Context()
	tags := func() ([]s3types.Tag, string) {
		out, err := c.s3.GetBucketTagging(ctx, &s3.GetBucketTaggingInput{Bucket: bucket})
		if err != nil {
			return nil, code(err)
		}
		return out.TagSet, ""
	}
	team := s3types.Tag{Key: aws.String("team"), Value: aws.String("a")}
	must.Succeed(t, createBucket(ctx, c, *bucket, team))
	_, err := c.s3.DeleteBucket(ctx, &s3.DeleteBucketInput{Bucket: bucket})
	must.Succeed(t, err)
	must.Succeed(t, createBucket(ctx, c, *bucket))
	if old, refused := tags(); refused != "NoSuchTagSet" {
		t.Errorf("the next bucket of the name has the tags %v, %q", old, refused)
	}
	_, err = c.s3.PutBucketTagging(ctx, &s3.PutBucketTaggingInput{Bucket: bucket, Tagging: &s3types.Tagging{TagSet: []s3types.Tag{team}}})
	must.Succeed(t, err)
	if now, refused := tags(); len(now) != 1 {
		t.Errorf("its own tag does not show: %v, %q", now, refused)
	}
}

func TestHigherThroughputOfParameterStoreShowsInItsSetting(t *testing.T) {
	p := proxy(t)
	c, ctx := clientsOf(p.URL()), t.Context()
	setting := func(id string) (string, error) {
		out, err := c.ssm.GetServiceSetting(ctx, &ssm.GetServiceSettingInput{SettingId: &id})
		if err != nil {
			return "", err
		}
		return aws.ToString(out.ServiceSetting.SettingValue), nil
	}
	const id = "/ssm/parameter-store/high-throughput-enabled"
	for _, on := range []bool{false, true, false} {
		p.SSM.SetHigherThroughput(on)
		if got, err := setting(id); err != nil || got != fmt.Sprint(on) {
			t.Errorf("the setting is %q (%v), want %v", got, err, on)
		}
	}
	if _, err := setting("/ssm/documents/console/public-sharing-permission"); code(err) != "NotImplemented" {
		t.Errorf("another setting: %v", err)
	}
}

// moto lost all tags of one parameter in about one of sixty runs if its first writes were parallel.
func TestTheFirstParameterIsWrittenAlone(t *testing.T) {
	must.Succeed(t, proxy(t).Reset())
	moto, err := url.Parse(world.Shared(t).MotoURL())
	must.Succeed(t, err)
	forward := httputil.NewSingleHostReverseProxy(moto)
	var inFlight, most, requests atomic.Int32
	gate := make(chan struct{}) // closed by the second request
	backend := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if n := requests.Add(1); n == 3 { // the first two prepare
			close(gate)
		} else if n == 1 {
			select {
			case <-gate:
			case <-time.After(200 * time.Millisecond): // the others' time to overtake
			}
			most.Store(inFlight.Load())
		}
		inFlight.Add(1)
		forward.ServeHTTP(w, r)
	}))
	t.Cleanup(backend.Close)
	p, err := emulator.Start(backend.URL)
	must.Succeed(t, err)
	t.Cleanup(func() { _ = p.Close() })
	c, ctx := clientsOf(p.URL()), t.Context()
	var writes errgroup.Group
	for i := range 8 {
		writes.Go(func() error {
			_, err := c.ssm.PutParameter(ctx,
				&ssm.PutParameterInput{Name: aws.String(fmt.Sprintf("/a/%d", i)), Value: aws.String("v"), Type: ssmtypes.ParameterTypeString,
					Tags: []ssmtypes.Tag{{Key: aws.String("owner"), Value: aws.String("me")}}})
			return err
		})
	}
	must.Succeed(t, writes.Wait())
	if most.Load() != 0 {
		t.Errorf("%d requests overtook the first one", most.Load())
	}
	if got, sent := p.Calls().Count(), requests.Load(); got != 8 || sent != 10 {
		t.Errorf("%d requests in the ledger, %d at the emulator:\n%s", got, sent, p.Calls())
	}
	for i := range 8 {
		out, err := c.ssm.ListTagsForResource(ctx,
			&ssm.ListTagsForResourceInput{ResourceType: ssmtypes.ResourceTypeForTaggingParameter, ResourceId: aws.String(fmt.Sprintf("/a/%d", i))})
		must.Succeed(t, err)
		if len(out.TagList) != 1 {
			t.Errorf("parameter %d lost its tags", i)
		}
	}
}

func TestTheEncryptionOfATableCanBeChanged(t *testing.T) {
	p := proxy(t)
	c, ctx := clientsOf(p.URL()), t.Context()
	must.Succeed(t, createTable(ctx, c, "orders"))
	for _, want := range []string{"arn:aws:kms:ap-southeast-1:123456789012:key/own", ""} {
		_, err := c.dynamodb.UpdateTable(ctx, &dynamodb.UpdateTableInput{TableName: table, SSESpecification: &ddbtypes.SSESpecification{
			Enabled: aws.Bool(want != ""), KMSMasterKeyId: aws.String(want)}})
		must.Succeed(t, err)
		out, err := c.dynamodb.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: table})
		must.Succeed(t, err)
		got := ""
		if d := out.Table.SSEDescription; d != nil {
			got = aws.ToString(d.KMSMasterKeyArn)
		}
		if got != want {
			t.Errorf("the key is %q, want %q", got, want)
		}
	}
}

func TestTheDescriptionOfASecretCanBeCleared(t *testing.T) {
	c, ctx := clientsOf(proxy(t).URL()), t.Context()
	_, err := c.secrets.CreateSecret(ctx,
		&secretsmanager.CreateSecretInput{Name: aws.String("s"), SecretString: aws.String("v"), Description: aws.String("old")})
	must.Succeed(t, err)
	for _, want := range []string{"", "new"} {
		_, err := c.secrets.UpdateSecret(ctx, &secretsmanager.UpdateSecretInput{SecretId: aws.String("s"), Description: aws.String(want)})
		must.Succeed(t, err)
		out, err := c.secrets.DescribeSecret(ctx, &secretsmanager.DescribeSecretInput{SecretId: aws.String("s")})
		must.Succeed(t, err)
		if got := aws.ToString(out.Description); got != want {
			t.Errorf("the description is %q, want %q", got, want)
		}
	}
}

// moto iterates over a dictionary in DescribeParameters, and fails when another request changes it at the same time.
func TestAReadInWhichTheEmulatorFailsIsRepeated(t *testing.T) {
	moto, err := url.Parse(world.Shared(t).MotoURL())
	must.Succeed(t, err)
	forward := httputil.NewSingleHostReverseProxy(moto)
	var requests, failures atomic.Int32
	backend := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		if failures.Add(-1) < 0 {
			forward.ServeHTTP(w, r)
			return
		}
		w.WriteHeader(http.StatusInternalServerError)
		_, _ = fmt.Fprint(w, "<!doctype html>\n<title>500 Internal Server Error</title>")
	}))
	t.Cleanup(backend.Close)
	p, err := emulator.Start(backend.URL)
	must.Succeed(t, err)
	t.Cleanup(func() { _ = p.Close() })
	c, ctx := clientsOf(p.URL()), t.Context()
	failures.Store(2)
	if _, err := c.ssm.DescribeParameters(ctx, &ssm.DescribeParametersInput{}); err != nil || requests.Load() != 3 || p.Calls().Count() != 1 {
		t.Errorf("a read: %v, after %d requests", err, requests.Load())
	}
	requests.Store(0)
	failures.Store(2)
	if _, err := c.ssm.DeleteParameter(ctx, &ssm.DeleteParameterInput{Name: aws.String("/a")}); code(err) != "NotImplemented" ||
		requests.Load() != 1 {
		t.Errorf("a write: %v, after %d requests", err, requests.Load())
	}
}
