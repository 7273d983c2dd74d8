// SPDX-License-Identifier: Apache-2.0

package awsclient

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/glue"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
	"github.com/aws/aws-sdk-go-v2/service/sts"

	"github.com/nexus-operator/nexus-operator/internal/status"
)

// canned is a server that gives one answer, and an aws.Config that leads to it.
func canned(t *testing.T, answer func(http.ResponseWriter)) aws.Config {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { answer(w) }))
	client := NewHTTPClient()
	t.Cleanup(func() {
		server.Close()
		client.(*http.Client).CloseIdleConnections()
	})
	return aws.Config{
		Region: "us-east-1", BaseEndpoint: aws.String(server.URL), Retryer: newRetryer, HTTPClient: client,
		Credentials: staticProvider{keys: StaticKeys{AccessKeyID: "AKIAUSER", SecretAccessKey: NewSecret(canary)}},
	}
}

// jsonError is an error of the AWS JSON protocol (DynamoDB, Glue, SSM, Secrets Manager).
func jsonError(status int, code, message string) func(http.ResponseWriter) {
	return func(w http.ResponseWriter) {
		w.Header().Set("Content-Type", "application/x-amz-json-1.1")
		w.Header().Set("X-Amzn-Requestid", "4442587f")
		w.WriteHeader(status)
		_, _ = fmt.Fprintf(w, `{"__type":"com.amazonaws#%s","message":%q}`, code, message)
	}
}

// xmlError is an error of S3.
func xmlError(status int, code, message string) func(http.ResponseWriter) {
	return func(w http.ResponseWriter) {
		w.Header().Set("Content-Type", "application/xml")
		w.Header().Set("X-Amz-Request-Id", "4442587f")
		w.WriteHeader(status)
		_, _ = fmt.Fprintf(w, `<?xml version="1.0" encoding="UTF-8"?><Error><Code>%s</Code><Message>%s</Message><RequestId>4442587f</RequestId><HostId>h</HostId></Error>`, code, message)
	}
}

func bare(status int, contentType, body string) func(http.ResponseWriter) {
	return func(w http.ResponseWriter) {
		if contentType != "" {
			w.Header().Set("Content-Type", contentType)
		}
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	}
}

// operations are one call of each client that is linked in.
var operations = map[string]func(context.Context, aws.Config) error{
	"s3 HeadBucket": func(ctx context.Context, cfg aws.Config) error {
		_, err := s3.NewFromConfig(cfg).HeadBucket(ctx, &s3.HeadBucketInput{Bucket: aws.String("b")})
		return err
	},
	"s3 GetBucketPolicy": func(ctx context.Context, cfg aws.Config) error {
		_, err := s3.NewFromConfig(cfg).GetBucketPolicy(ctx, &s3.GetBucketPolicyInput{Bucket: aws.String("b")})
		return err
	},
	"s3 CreateBucket": func(ctx context.Context, cfg aws.Config) error {
		_, err := s3.NewFromConfig(cfg).CreateBucket(ctx, &s3.CreateBucketInput{Bucket: aws.String("b")})
		return err
	},
	"dynamodb DescribeTable": func(ctx context.Context, cfg aws.Config) error {
		_, err := dynamodb.NewFromConfig(cfg).DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: aws.String("t")})
		return err
	},
	"dynamodb UpdateTable": func(ctx context.Context, cfg aws.Config) error {
		_, err := dynamodb.NewFromConfig(cfg).UpdateTable(ctx, &dynamodb.UpdateTableInput{TableName: aws.String("t")})
		return err
	},
	"glue GetDatabase": func(ctx context.Context, cfg aws.Config) error {
		_, err := glue.NewFromConfig(cfg).GetDatabase(ctx, &glue.GetDatabaseInput{Name: aws.String("d")})
		return err
	},
	"iam GetRole": func(ctx context.Context, cfg aws.Config) error {
		_, err := iam.NewFromConfig(cfg).GetRole(ctx, &iam.GetRoleInput{RoleName: aws.String("r")})
		return err
	},
	"ssm GetParameter": func(ctx context.Context, cfg aws.Config) error {
		_, err := ssm.NewFromConfig(cfg).GetParameter(ctx, &ssm.GetParameterInput{Name: aws.String("p")})
		return err
	},
	"secretsmanager DescribeSecret": func(ctx context.Context, cfg aws.Config) error {
		_, err := secretsmanager.NewFromConfig(cfg).DescribeSecret(ctx, &secretsmanager.DescribeSecretInput{SecretId: aws.String("s")})
		return err
	},
	"sts GetCallerIdentity": func(ctx context.Context, cfg aws.Config) error {
		_, err := sts.NewFromConfig(cfg).GetCallerIdentity(ctx, &sts.GetCallerIdentityInput{})
		return err
	},
}

func TestErrorsAreReadThroughEachServicesOwnProtocol(t *testing.T) {
	for _, c := range []struct {
		operation string
		answer    func(http.ResponseWriter)
		want      Class
	}{
		{"s3 HeadBucket", bare(404, "application/xml", ""), NotFound},
		{"s3 HeadBucket", bare(404, "", ""), NotFound},
		{"s3 HeadBucket", bare(403, "application/xml", ""), Denied},
		{"s3 HeadBucket", bare(301, "application/xml", ""), NameTaken},
		{"s3 GetBucketPolicy", xmlError(404, "NoSuchBucketPolicy", "none"), NotFound},
		{"s3 CreateBucket", xmlError(409, "BucketAlreadyOwnedByYou", "yours"), Exists},
		{"s3 CreateBucket", xmlError(409, "BucketAlreadyExists", "theirs"), NameTaken},
		{"s3 CreateBucket", xmlError(503, "SlowDown", "slow"), Throttled},
		{"dynamodb DescribeTable", jsonError(400, "ResourceNotFoundException", "none"), NotFound},
		{"dynamodb UpdateTable", jsonError(400, "ResourceInUseException", "busy"), Busy},
		{"dynamodb UpdateTable", jsonError(400, "LimitExceededException", "Only 500 tables can be updated simultaneously"), Throttled},
		{"glue GetDatabase", jsonError(400, "EntityNotFoundException", "none"), NotFound},
		{"iam GetRole", queryError(404, "NoSuchEntity", "none"), NotFound},
		{"iam GetRole", queryError(400, "Throttling", "Rate exceeded"), Throttled},
		{"ssm GetParameter", jsonError(400, "ParameterNotFound", ""), NotFound},
		{"secretsmanager DescribeSecret", jsonError(400, "ResourceNotFoundException", "none"), NotFound},
		{"sts GetCallerIdentity", queryError(403, "InvalidClientTokenId", "x"), Unauthenticated},
	} {
		err := operations[c.operation](t.Context(), canned(t, c.answer))
		f := Classify(err)
		if f.Class != c.want || f.Service+" "+f.Operation != c.operation {
			t.Errorf("%s: %+v, want %s\n%v", c.operation, f, c.want, err)
		}
	}
}

// A proxy's, an emulator's or a broken answer is never "not found", for any service.
func TestNothingButAWSSaysNotFound(t *testing.T) {
	for name, answer := range map[string]func(http.ResponseWriter){
		"html 404":          bare(404, "text/html", "<!doctype html>\n<html lang=en><title>404 Not Found</title><h1>Not Found</h1></html>"),
		"well-formed 404":   bare(404, "text/html; charset=utf-8", "<html><body>Not Found</body></html>"),
		"html 500":          bare(500, "text/html", "<html>Internal Server Error"),
		"bare 500":          bare(500, "", ""),
		"bare 403":          bare(403, "", ""),
		"bare 429":          bare(429, "", ""),
		"truncated success": bare(200, "application/json", `{"Table":{"Tab`),
		"hung up":           func(http.ResponseWriter) { panic(http.ErrAbortHandler) },
	} {
		for operation, call := range operations {
			if service, _, _ := strings.Cut(operation, " "); name == "truncated success" &&
				(service == "s3" || service == "iam" || service == "sts") {
				continue // no body is read, or it is XML
			}
			err := call(t.Context(), canned(t, answer))
			f := Classify(err)
			want := map[string]Class{"html 404": Unknown, "well-formed 404": Unknown, "bare 403": Denied, "bare 429": Throttled}[name]
			if want == "" {
				want = Transient
			}
			if f.Class != want {
				t.Errorf("%s, %s: %s, want %s (%v)", operation, name, f.Class, want, err)
			}
		}
	}
}

func TestInputThatTheSDKRefusesIsInvalid(t *testing.T) {
	cfg := canned(t, bare(200, "", ""))
	_, err := s3.NewFromConfig(cfg).HeadBucket(t.Context(), &s3.HeadBucketInput{})
	if !Is(err, Invalid) {
		t.Errorf("%+v for %v", Classify(err), err)
	}
	stalledWith(t, Explain(err, "s3:HeadBucket"), status.ReasonRefusedByAWS)
}

func TestATokenThatExpiredBetweenCallsIsExplainedAsItsRole(t *testing.T) {
	f := newSTS(t)
	f.trust(roleA, userARN, external)
	s := f.sessions(t, "")
	session := mustOpen(t, s, static(with(roleA, "")))
	f.trust(roleA, userARN, "changed")
	f.clock.advance(hour)
	_, err := s3.NewFromConfig(session.Config).HeadBucket(t.Context(), &s3.HeadBucketInput{Bucket: aws.String("b")})
	got := Explain(err, "s3:HeadBucket")
	stalledWith(t, got, status.ReasonRoleNotAssumable, roleA)
	if strings.Contains(got.Error(), "operation error") {
		t.Errorf("the SDK's wrapping shows: %v", got)
	}
}
