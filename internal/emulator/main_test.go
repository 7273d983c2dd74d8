// SPDX-License-Identifier: Apache-2.0

package emulator_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	ddbtypes "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/glue"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	s3types "github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/aws/smithy-go"

	"github.com/nexus-operator/nexus-operator/internal/emulator"
	"github.com/nexus-operator/nexus-operator/internal/testkit/must"
	"github.com/nexus-operator/nexus-operator/internal/testkit/world"
)

const region = "ap-southeast-1"

func TestMain(m *testing.M) { world.Main(m, world.Options{NoKubernetes: true}) }

// proxy returns the package's proxy, emptied.
func proxy(t *testing.T) *emulator.Proxy {
	t.Helper()
	p := world.Shared(t).AWS()
	if err := p.Reset(); err != nil {
		t.Fatal(err)
	}
	p.SetLatency(0) // these tests are about the proxy's own times
	return p
}

func config(url string) aws.Config {
	return aws.Config{
		Region: region, BaseEndpoint: &url,
		Credentials: credentials.NewStaticCredentialsProvider("AKIDTEST", "secret", ""),
		Retryer:     func() aws.Retryer { return aws.NopRetryer{} },
		HTTPClient:  &http.Client{Transport: &http.Transport{}},
	}
}

type clients struct {
	s3       *s3.Client
	dynamodb *dynamodb.Client
	iam      *iam.Client
	glue     *glue.Client
	ssm      *ssm.Client
	secrets  *secretsmanager.Client
	sts      *sts.Client
}

func clientsOf(url string) clients { return clientsFor(config(url)) }

func clientsFor(c aws.Config) clients {
	return clients{s3.NewFromConfig(c), dynamodb.NewFromConfig(c), iam.NewFromConfig(c), glue.NewFromConfig(c),
		ssm.NewFromConfig(c), secretsmanager.NewFromConfig(c), sts.NewFromConfig(c)}
}

func createTable(ctx context.Context, c clients, name string, tags ...ddbtypes.Tag) error {
	_, err := c.dynamodb.CreateTable(ctx, &dynamodb.CreateTableInput{
		TableName: &name, Tags: tags, BillingMode: ddbtypes.BillingModePayPerRequest,
		AttributeDefinitions: []ddbtypes.AttributeDefinition{{AttributeName: aws.String("id"), AttributeType: ddbtypes.ScalarAttributeTypeS}},
		KeySchema:            []ddbtypes.KeySchemaElement{{AttributeName: aws.String("id"), KeyType: ddbtypes.KeyTypeHash}},
	})
	return err
}

func tableExists(ctx context.Context, c clients, name string) bool {
	_, err := c.dynamodb.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: &name})
	return err == nil
}

func createBucket(ctx context.Context, c clients, name string, tags ...s3types.Tag) error {
	_, err := c.s3.CreateBucket(ctx, &s3.CreateBucketInput{Bucket: &name,
		CreateBucketConfiguration: &s3types.CreateBucketConfiguration{LocationConstraint: region, Tags: tags}})
	return err
}

const trustAll = `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"AWS":"*"},"Action":"sts:AssumeRole"}]}`

func createRole(ctx context.Context, c clients, name, trust string) error {
	_, err := c.iam.CreateRole(ctx, &iam.CreateRoleInput{RoleName: &name, AssumeRolePolicyDocument: &trust})
	return err
}

// code gives the AWS error code of an error, "" of none, "?" of another error.
func code(err error) string {
	var api smithy.APIError
	switch {
	case err == nil:
		return ""
	case errors.As(err, &api):
		return api.ErrorCode()
	}
	return "?"
}

// askByHand sends a request to a service without an SDK in the module and
// returns the body of the answer: a form, or with a target "Operation {JSON}".
func askByHand(t *testing.T, p *emulator.Proxy, service, target, body string) string {
	t.Helper()
	contentType := "application/x-www-form-urlencoded"
	if target != "" {
		op, rest, _ := strings.Cut(body, " ")
		contentType, target, body = "application/x-amz-json-1.1", target+"."+op, rest
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, p.URL(), strings.NewReader(body))
	must.Succeed(t, err)
	r.Header.Set("Content-Type", contentType)
	if target != "" {
		r.Header.Set("X-Amz-Target", target)
	}
	r.Header.Set("Authorization",
		fmt.Sprintf("AWS4-HMAC-SHA256 Credential=AK/20250101/%s/%s/aws4_request, SignedHeaders=host, Signature=x", region, service))
	answer, err := http.DefaultClient.Do(r)
	must.Succeed(t, err)
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	must.Succeed(t, err)
	return string(text)
}

var placeholder = regexp.MustCompile(`<(\w+)>`)

// fillIn replaces <Name> by the value of the member or element of that name in
// an answer.
func fillIn(request, answer string) string {
	return placeholder.ReplaceAllStringFunc(request, func(found string) string {
		name := found[1 : len(found)-1]
		m := regexp.MustCompile(`(?:"` + name + `": *"|<` + name + `>)([^"<]+)`).FindStringSubmatch(answer)
		if m == nil {
			return found
		}
		return m[1]
	})
}
