// SPDX-License-Identifier: Apache-2.0

package emulator_test

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/glue"
	gluetypes "github.com/aws/aws-sdk-go-v2/service/glue/types"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
	"github.com/aws/aws-sdk-go-v2/service/sts"

	"github.com/nexus-operator/nexus-operator/internal/emulator"
	"github.com/nexus-operator/nexus-operator/internal/testkit/must"
)

// skewedCalls are reads that need no resource, with the error for a wrong clock.
var skewedCalls = map[string]struct {
	code string
	call func(context.Context, clients) error
}{
	"s3": {"RequestTimeTooSkewed", func(ctx context.Context, c clients) error {
		_, err := c.s3.ListBuckets(ctx, &s3.ListBucketsInput{})
		return err
	}},
	"dynamodb": {"InvalidSignatureException", func(ctx context.Context, c clients) error {
		_, err := c.dynamodb.ListTables(ctx, &dynamodb.ListTablesInput{})
		return err
	}},
	"glue": {"InvalidSignatureException", func(ctx context.Context, c clients) error {
		_, err := c.glue.GetDatabases(ctx, &glue.GetDatabasesInput{})
		return err
	}},
	"iam": {"SignatureDoesNotMatch", func(ctx context.Context, c clients) error {
		_, err := c.iam.ListRoles(ctx, &iam.ListRolesInput{})
		return err
	}},
	"sts": {"SignatureDoesNotMatch", func(ctx context.Context, c clients) error {
		_, err := c.sts.GetCallerIdentity(ctx, &sts.GetCallerIdentityInput{})
		return err
	}},
}

func TestOnlyAClientThatLearnsTheClockSucceeds(t *testing.T) {
	for name, tt := range skewedCalls {
		for _, skew := range []time.Duration{time.Hour, -time.Hour} {
			p := proxy(t)
			ctx := t.Context()
			p.SetLag(emulator.Lag{ClockSkew: skew})
			c := clientsOf(p.URL())
			for i, want := range []string{tt.code, "", ""} {
				if err := tt.call(ctx, c); code(err) != want {
					t.Errorf("%s, %v, call %d: want %q, got %v", name, skew, i+1, want, err)
				}
			}
			if got := code(tt.call(ctx, clientsOf(p.URL()))); got != tt.code {
				t.Errorf("%s: a new client knows the skew: %q", name, got)
			}
			cfg := config(p.URL())
			cfg.Retryer = func() aws.Retryer { return retry.NewStandard() }
			if err := tt.call(ctx, clientsFor(cfg)); err != nil {
				t.Errorf("%s, %v, with retries: %v", name, skew, err)
			}
		}
	}
}

func TestASmallSkewIsAccepted(t *testing.T) {
	p := proxy(t)
	ctx := t.Context()
	p.SetLag(emulator.Lag{ClockSkew: 4 * time.Minute})
	for name, tt := range skewedCalls {
		if err := tt.call(ctx, clientsOf(p.URL())); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	p.SetLag(emulator.Lag{ClockSkew: time.Hour})
	err := skewedCalls["dynamodb"].call(ctx, clientsOf(p.URL()))
	if err == nil || !strings.Contains(err.Error(), "Signature expired: ") {
		t.Errorf("got %v", err)
	}
}

func TestClientsIgnoreUnknownFields(t *testing.T) {
	p := proxy(t)
	c, ctx := clientsOf(p.URL()), t.Context()
	p.SetLag(emulator.Lag{UnknownFields: true})
	for _, name := range slices.Sorted(maps.Keys(taggedResources)) { // the database before its table
		r := taggedResources[name]
		must.Succeed(t, r.create(ctx, c))
		if got, err := r.read(ctx, c); err != nil || len(got) != 1 || got["a"] != "1" {
			t.Errorf("%s: %v, %v", name, got, err)
		}
		if strings.HasPrefix(name, "iam") {
			_, err := c.iam.DeleteRole(ctx, &iam.DeleteRoleInput{RoleName: role})
			must.Succeed(t, err)
		}
	}
	for name, l := range livings {
		if err := l.read(ctx, c); err != nil && name != "iam" {
			t.Errorf("%s: %v", name, err)
		}
	}
	if got := code(livings["iam"].read(ctx, c)); got != "NoSuchEntity" {
		t.Errorf("errors with unknown elements: %q", got)
	}
	if _, err := c.glue.GetTable(ctx,
		&glue.GetTableInput{DatabaseName: aws.String("lake"), Name: aws.String("none")}); code(err) != "EntityNotFoundException" {
		t.Errorf("errors with unknown members: %v", err)
	}
	secret, err := c.secrets.GetSecretValue(ctx, &secretsmanager.GetSecretValueInput{SecretId: aws.String("keys")})
	if err != nil || *secret.SecretString != "s" {
		t.Errorf("secret: %v", err)
	}
	parameter, err := c.ssm.GetParameter(ctx, &ssm.GetParameterInput{Name: aws.String("/app/x")})
	if err != nil || *parameter.Parameter.Value != "1" || parameter.Parameter.Version != 1 {
		t.Errorf("parameter: %v, %v", parameter, err)
	}
	policy := `{"Version":"2012-10-17","Statement":[]}`
	_, err = c.s3.PutBucketPolicy(ctx, &s3.PutBucketPolicyInput{Bucket: bucket, Policy: &policy})
	must.Succeed(t, err)
	got, err := c.s3.GetBucketPolicy(ctx, &s3.GetBucketPolicyInput{Bucket: bucket})
	if err != nil || *got.Policy != emulator.RewritePolicy(policy) {
		t.Errorf("a policy is a document and stays as it is: %v, %v", got, err)
	}
}

func TestUnknownFieldsAreInEveryStructure(t *testing.T) {
	p := proxy(t)
	c, ctx := clientsOf(p.URL()), t.Context()
	must.Succeed(t, createRole(ctx, c, *role, trustAll))
	_, err := c.glue.CreateDatabase(ctx,
		&glue.CreateDatabaseInput{DatabaseInput: &gluetypes.DatabaseInput{Name: aws.String("lake"), Parameters: tags{"a": "1"}}})
	must.Succeed(t, err)
	p.SetLag(emulator.Lag{UnknownFields: true})
	for _, tt := range []struct {
		service, target, body string
		want                  int // names of members, or tags
	}{
		{"iam", "", "Action=GetRole&RoleName=app-role&Version=2010-05-08", 8},
		{"glue", "AWSGlue", `GetDatabase {"Name":"lake"}`, 2},
	} {
		got := askByHand(t, p, tt.service, tt.target, tt.body)
		if n := strings.Count(got, "UnknownToTheSDK"); n != tt.want {
			t.Errorf("%d in %s", n, got)
		}
	}
}
