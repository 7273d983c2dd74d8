// SPDX-License-Identifier: Apache-2.0

package emulator_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	ddbtypes "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	s3types "github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
	ssmtypes "github.com/aws/aws-sdk-go-v2/service/ssm/types"
	"github.com/aws/aws-sdk-go-v2/service/sts"

	"github.com/nexus-operator/nexus-operator/internal/emulator"
	"github.com/nexus-operator/nexus-operator/internal/testkit/must"
)

// living is a resource with an update and a read of its existence.
type living struct {
	missing              string // the error
	create, update, read func(context.Context, clients) error
}

var livings = map[string]living{
	"dynamodb": {
		missing: "ResourceNotFoundException",
		create:  func(ctx context.Context, c clients) error { return createTable(ctx, c, "orders") },
		update:  func(ctx context.Context, c clients) error { return expireItems(ctx, c, true) },
		read: func(ctx context.Context, c clients) error {
			_, err := c.dynamodb.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: table})
			return err
		},
	},
	"s3": {
		missing: "NotFound", // the answer to HEAD has no body
		create:  func(ctx context.Context, c clients) error { return createBucket(ctx, c, *bucket) },
		update: func(ctx context.Context, c clients) error {
			return setVersioning(ctx, c, s3types.BucketVersioningStatusEnabled)
		},
		read: func(ctx context.Context, c clients) error {
			_, err := c.s3.HeadBucket(ctx, &s3.HeadBucketInput{Bucket: bucket})
			return err
		},
	},
	"iam": {
		missing: "NoSuchEntity",
		create:  func(ctx context.Context, c clients) error { return createRole(ctx, c, *role, trustAll) },
		update:  tagRole,
		read: func(ctx context.Context, c clients) error {
			_, err := c.iam.GetRole(ctx, &iam.GetRoleInput{RoleName: role})
			return err
		},
	},
	"secretsmanager": {
		missing: "ResourceNotFoundException",
		create: func(ctx context.Context, c clients) error {
			_, err := c.secrets.CreateSecret(ctx, &secretsmanager.CreateSecretInput{Name: aws.String("keys"), SecretString: aws.String("s")})
			return err
		},
		update: func(ctx context.Context, c clients) error {
			_, err := c.secrets.UpdateSecret(ctx, &secretsmanager.UpdateSecretInput{SecretId: aws.String("keys"), Description: aws.String("d")})
			return err
		},
		read: func(ctx context.Context, c clients) error {
			_, err := c.secrets.DescribeSecret(ctx, &secretsmanager.DescribeSecretInput{SecretId: aws.String("keys")})
			return err
		},
	},
}

func expireItems(ctx context.Context, c clients, on bool) error {
	_, err := c.dynamodb.UpdateTimeToLive(ctx, &dynamodb.UpdateTimeToLiveInput{TableName: table,
		TimeToLiveSpecification: &ddbtypes.TimeToLiveSpecification{AttributeName: aws.String("at"), Enabled: &on}})
	return err
}

func expiry(t *testing.T, c clients) string {
	t.Helper()
	out, err := c.dynamodb.DescribeTimeToLive(t.Context(), &dynamodb.DescribeTimeToLiveInput{TableName: table})
	must.Succeed(t, err)
	return string(out.TimeToLiveDescription.TimeToLiveStatus)
}

func setVersioning(ctx context.Context, c clients, to s3types.BucketVersioningStatus) error {
	_, err := c.s3.PutBucketVersioning(ctx, &s3.PutBucketVersioningInput{Bucket: bucket,
		VersioningConfiguration: &s3types.VersioningConfiguration{Status: to}})
	return err
}

func versioning(t *testing.T, c clients) string {
	t.Helper()
	out, err := c.s3.GetBucketVersioning(t.Context(), &s3.GetBucketVersioningInput{Bucket: bucket})
	must.Succeed(t, err)
	return string(out.Status)
}

func TestExistingResourcesAreNotFoundForAWhile(t *testing.T) {
	for name, l := range livings {
		t.Run(name, func(t *testing.T) {
			p := proxy(t)
			c, ctx := clientsOf(p.URL()), t.Context()
			expect := func(when string, want ...string) {
				t.Helper()
				var got []string
				for range want {
					got = append(got, code(l.read(ctx, c)))
				}
				if !slices.Equal(got, want) {
					t.Errorf("%s: want %q, got %q", when, want, got)
				}
			}
			p.SetLag(emulator.Lag{NotFound: emulator.NotFoundLag{AfterCreate: emulator.ForReads(2), AfterUpdate: emulator.ForReads(1)}})
			must.Succeed(t, l.create(ctx, c))
			expect("created", l.missing, l.missing, "", "")
			must.Succeed(t, l.update(ctx, c))
			expect("updated", l.missing, "", "")
			p.SetLag(emulator.Lag{NotFound: emulator.NotFoundLag{AfterUpdate: emulator.ForReads(2), Alternate: true}})
			expect("a write before SetLag", "", "")
			must.Succeed(t, updateAgain(ctx, c, l))
			expect("alternating", "", l.missing, "", l.missing, "", "")
		})
	}
}

// updateAgain makes another update; DynamoDB refuses one that changes nothing.
func updateAgain(ctx context.Context, c clients, l living) error {
	if l.missing == "ResourceNotFoundException" && tableExists(ctx, c, *table) {
		return expireItems(ctx, c, false)
	}
	return l.update(ctx, c)
}

func TestSingleParametersAreMissingFromABatch(t *testing.T) {
	p := proxy(t)
	c, ctx := clientsOf(p.URL()), t.Context()
	put := func(name string) {
		_, err := c.ssm.PutParameter(ctx, &ssm.PutParameterInput{Name: &name, Value: aws.String("1"), Type: ssmtypes.ParameterTypeString})
		must.Succeed(t, err)
	}
	put("/app/x")
	p.SetLag(emulator.Lag{NotFound: emulator.NotFoundLag{AfterCreate: emulator.ForReads(1)}})
	put("/app/y")
	for i, want := range []string{"[/app/x], missing [/app/y]", "[/app/x /app/y], missing []"} {
		out, err := c.ssm.GetParameters(ctx, &ssm.GetParametersInput{Names: []string{"/app/x", "/app/y"}})
		must.Succeed(t, err)
		var found []string
		for _, parameter := range out.Parameters {
			found = append(found, *parameter.Name)
		}
		slices.Sort(found)
		if got := fmt.Sprintf("%v, missing %v", found, out.InvalidParameters); got != want {
			t.Errorf("read %d: want %q, got %q", i+1, want, got)
		}
	}
}

func TestSettingsLagBehindWrites(t *testing.T) {
	p := proxy(t)
	c, ctx := clientsOf(p.URL()), t.Context()
	must.Succeed(t, createBucket(ctx, c, *bucket))
	must.Succeed(t, createTable(ctx, c, *table))
	p.SetLag(emulator.Lag{Settings: emulator.ForReads(2)})
	if versioning(t, c) != "" || expiry(t, c) != "DISABLED" {
		t.Error("the settings of new resources are different")
	}
	must.Succeed(t, setVersioning(ctx, c, s3types.BucketVersioningStatusEnabled))
	must.Succeed(t, expireItems(ctx, c, true))
	for i, want := range []struct{ versioning, expiry string }{{"", "DISABLED"}, {"", "DISABLED"}, {"Enabled", "ENABLED"}} {
		if v, e := versioning(t, c), expiry(t, c); v != want.versioning || e != want.expiry {
			t.Errorf("read %d: versioning %q, expiry %q", i+1, v, e)
		}
	}
}

func TestWithoutAnEarlierAnswerSettingsAreTrue(t *testing.T) {
	p := proxy(t)
	c, ctx := clientsOf(p.URL()), t.Context()
	p.SetLag(emulator.Lag{Settings: emulator.ForReads(2)})
	if tableExists(ctx, c, *table) {
		t.Fatal("the table exists")
	}
	must.Succeed(t, createTable(ctx, c, *table))
	if !tableExists(ctx, c, *table) {
		t.Error("the table is hidden by the answer before its creation")
	}
	must.Succeed(t, expireItems(ctx, c, true))
	if got := expiry(t, c); got != "ENABLED" {
		t.Errorf("got %s", got)
	}
}

func TestLagFollowsTheClockOfTheTest(t *testing.T) {
	p := proxy(t)
	c, ctx := clientsOf(p.URL()), t.Context()
	now := time.Now()
	p.SetClock(func() time.Time { return now })
	must.Succeed(t, createBucket(ctx, c, *bucket))
	p.SetLag(emulator.Lag{Settings: emulator.ForTime(3 * time.Second),
		NotFound: emulator.NotFoundLag{AfterCreate: emulator.ForTime(3 * time.Second)}})
	must.Succeed(t, createTable(ctx, c, *table))
	versioning(t, c)
	must.Succeed(t, setVersioning(ctx, c, s3types.BucketVersioningStatusEnabled))
	for range 5 {
		if versioning(t, c) != "" || tableExists(ctx, c, *table) {
			t.Error("the writes show although no time has passed")
		}
	}
	now = now.Add(3 * time.Second)
	if versioning(t, c) != "Enabled" || !tableExists(ctx, c, *table) {
		t.Error("the writes do not show although the time has passed")
	}
	must.Succeed(t, setVersioning(ctx, c, s3types.BucketVersioningStatusSuspended))
	now = now.Add(time.Hour)
	must.Succeed(t, setVersioning(ctx, c, s3types.BucketVersioningStatusEnabled))
	if got := versioning(t, c); got != "Enabled" {
		t.Errorf("an answer from before the last write but one: %q", got)
	}
}

func TestAttributesOfQueuesLagForAMinute(t *testing.T) {
	p := proxy(t)
	now := time.Now()
	p.SetClock(func() time.Time { return now })
	ask := func(body string) string { return askByHand(t, p, "sqs", "AmazonSQS", body) }
	const queue = `"QueueUrl":"http://127.0.0.1/123456789012/jobs"`
	p.SetLag(emulator.LikeAWS())
	ask(`CreateQueue {"QueueName":"jobs"}`)
	now = now.Add(time.Minute)
	read := `GetQueueAttributes {` + queue + `,"AttributeNames":["DelaySeconds"]}`
	before := ask(read)
	ask(`SetQueueAttributes {` + queue + `,"Attributes":{"DelaySeconds":"7"}}`)
	now = now.Add(59 * time.Second)
	if got := ask(read); got != before || !strings.Contains(got, `"DelaySeconds":"0"`) {
		t.Errorf("before: %s, after 59 s: %s", before, got)
	}
	now = now.Add(time.Second)
	if got := ask(read); !strings.Contains(got, `"DelaySeconds":"7"`) {
		t.Errorf("after a minute: %s", got)
	}
}

func TestListsAndDeletionsLag(t *testing.T) {
	p := proxy(t)
	c, ctx := clientsOf(p.URL()), t.Context()
	tables := func() int {
		out, err := c.dynamodb.ListTables(ctx, &dynamodb.ListTablesInput{})
		must.Succeed(t, err)
		return len(out.TableNames)
	}
	roles := func() int {
		out, err := c.iam.ListRoles(ctx, &iam.ListRolesInput{})
		must.Succeed(t, err)
		return len(out.Roles)
	}
	p.SetLag(emulator.Lag{Lists: emulator.ForReads(1), Deleted: emulator.ForReads(1)})
	tables()
	roles()
	must.Succeed(t, createTable(ctx, c, *table))
	must.Succeed(t, createRole(ctx, c, *role, trustAll))
	if tables()+roles() != 0 || tables()+roles() != 2 {
		t.Errorf("lists:\n%s", p.Calls())
	}
	read := livings["iam"].read
	if !tableExists(ctx, c, *table) || read(ctx, c) != nil {
		t.Error("new resources are hidden")
	}
	_, err := c.dynamodb.DeleteTable(ctx, &dynamodb.DeleteTableInput{TableName: table})
	must.Succeed(t, err)
	_, err = c.iam.DeleteRole(ctx, &iam.DeleteRoleInput{RoleName: role})
	must.Succeed(t, err)
	for i, want := range []bool{true, false} {
		if tableExists(ctx, c, *table) != want || (read(ctx, c) == nil) != want {
			t.Errorf("read %d after the deletions:\n%s", i+1, p.Calls())
		}
	}
}

func TestLagIsTheSameForEveryKeyOfAnAccount(t *testing.T) {
	p := proxy(t)
	c, ctx := clientsOf(p.URL()), t.Context()
	must.Succeed(t, createRole(ctx, c, *role, trustAll))
	assumed, err := c.sts.AssumeRole(ctx,
		&sts.AssumeRoleInput{RoleArn: aws.String("arn:aws:iam::123456789012:role/app-role"), RoleSessionName: aws.String("s")})
	must.Succeed(t, err)
	cfg := config(p.URL())
	cfg.Credentials = credentials.NewStaticCredentialsProvider(*assumed.Credentials.AccessKeyId, *assumed.Credentials.SecretAccessKey,
		*assumed.Credentials.SessionToken)
	other := clientsFor(cfg)
	p.SetLag(emulator.Lag{NotFound: emulator.NotFoundLag{AfterCreate: emulator.ForReads(1)}})
	must.Succeed(t, createTable(ctx, c, *table))
	if tableExists(ctx, other, *table) || !tableExists(ctx, other, *table) {
		t.Error("the lag does not concern the session of a role in the same account")
	}
}

func TestResetEndsAllLag(t *testing.T) {
	p := proxy(t)
	p.SetClock(func() time.Time { return time.Time{} })
	p.SetLag(emulator.LikeAWS().InReads(3))
	must.Succeed(t, p.Reset())
	c, ctx := clientsOf(p.URL()), t.Context()
	must.Succeed(t, createTable(ctx, c, *table))
	if !tableExists(ctx, c, *table) || p.Calls().Lagging().Count() != 0 {
		t.Errorf("ledger:\n%s", p.Calls())
	}
	p.Fault(emulator.Match{Op: "DescribeTable", Times: 1}, emulator.NotFound())
	if tableExists(ctx, c, *table) || !tableExists(ctx, c, *table) {
		t.Error("NotFound as a fault does not act once")
	}
}
