// SPDX-License-Identifier: Apache-2.0

package s3double_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/nexus-operator/nexus-operator/internal/emulator"
	"github.com/nexus-operator/nexus-operator/internal/testkit/s3double"
	"github.com/nexus-operator/nexus-operator/internal/testkit/world"
)

func TestMain(m *testing.M) { world.Main(m, world.Options{NoKubernetes: true}) }

const name = "double-and-emulator"

// request is one request that both sides answer.
type request struct {
	what string
	do   func(ctx context.Context, c *s3.Client) (any, error)
}

// answers sends the requests and renders the client's result for each: the output, or status and error code.
func answers(t *testing.T, p *emulator.Proxy, region string, requests []request) []string {
	t.Helper()
	c := s3.NewFromConfig(aws.Config{Region: region, BaseEndpoint: aws.String(p.URL()),
		Credentials: credentials.NewStaticCredentialsProvider("AKIDTEST", "secret", ""),
		Retryer:     func() aws.Retryer { return aws.NopRetryer{} },
		HTTPClient:  &http.Client{Transport: &http.Transport{}}})
	out := make([]string, 0, len(requests))
	for _, r := range requests {
		value, err := r.do(t.Context(), c)
		out = append(out, render(t, value, err))
	}
	return out
}

func render(t *testing.T, value any, err error) string {
	t.Helper()
	if err != nil {
		var api smithy.APIError
		var response *smithyhttp.ResponseError
		if !errors.As(err, &api) || !errors.As(err, &response) {
			return "not an answer of S3: " + err.Error()
		}
		return fmt.Sprintf("%d %s", response.HTTPStatusCode(), api.ErrorCode())
	}
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	var fields map[string]any
	if err := json.Unmarshal(text, &fields); err != nil {
		t.Fatal(err)
	}
	// Not compared: request ids, the owner of a listing, when a bucket was created, and empty fields, which S3 leaves
	// out or sends empty.
	for _, field := range []string{"ResultMetadata", "Owner", "Buckets", "BucketArn", "AccessPointAlias", "RequestCharged",
		"TransitionDefaultMinimumObjectSize"} {
		delete(fields, field)
	}
	for k, v := range fields {
		if v == nil || v == "" {
			delete(fields, k)
		}
	}
	clean, err := json.Marshal(fields)
	if err != nil {
		t.Fatal(err)
	}
	return string(clean)
}

// TestDoubleAnswersAsTheEmulator sends the same requests to the corrected emulator and to the double.
func TestDoubleAnswersAsTheEmulator(t *testing.T) {
	p := world.Shared(t).AWS()
	for _, region := range []string{emulator.DefaultRegion, "us-east-1"} {
		requests := life(region)
		if err := p.Reset(); err != nil {
			t.Fatal(err)
		}
		emulator := answers(t, p, region, requests)
		p.Divert("s3", s3double.New(p.Account(), time.Now))
		double := answers(t, p, region, requests)
		for i, r := range requests {
			if emulator[i] != double[i] {
				t.Errorf("%s, request %d, %s:\n emulator %s\n double   %s", region, i+1, r.what, emulator[i], double[i])
			}
		}
	}
}

// TestDoubleKeepsTheLedgerAndTheFaults shows that a diverted service stays visible and breakable.
func TestDoubleKeepsTheLedgerAndTheFaults(t *testing.T) {
	p := world.Shared(t).AWS()
	if err := p.Reset(); err != nil {
		t.Fatal(err)
	}
	double := s3double.New(p.Account(), time.Now)
	p.Divert("s3", double)
	p.Fault(emulator.At("s3.CreateBucket("+name+")#1"), emulator.LoseAnswer())
	requests := []request{create(emulator.DefaultRegion), create(emulator.DefaultRegion)}
	got := answers(t, p, emulator.DefaultRegion, requests)
	if got[1] != "409 BucketAlreadyOwnedByYou" {
		t.Errorf("the lost create had no effect: %v", got)
	}
	if n := p.Calls().Match("s3", "CreateBucket", name).Count(); n != 2 {
		t.Errorf("%d creates in the ledger, want 2:\n%s", n, p.Calls())
	}
	if names := double.Names(); len(names) != 1 || names[0] != name {
		t.Errorf("the double has %v", names)
	}
	if err := p.Reset(); err != nil {
		t.Fatal(err)
	}
	if after := answers(t, p, emulator.DefaultRegion, []request{get("tagging")}); after[0] != "404 NoSuchBucket" {
		t.Errorf("Reset does not end the diversion: %v", after)
	}
}

// TestDoubleRefusesWhatAWSRefuses has the requests that the emulator accepts although AWS does not.
func TestDoubleRefusesWhatAWSRefuses(t *testing.T) {
	p := world.Shared(t).AWS()
	if err := p.Reset(); err != nil {
		t.Fatal(err)
	}
	p.Divert("s3", s3double.New(p.Account(), time.Now))
	stranger := request{"get tagging for another owner", func(ctx context.Context, c *s3.Client) (any, error) {
		return c.GetBucketTagging(ctx, &s3.GetBucketTaggingInput{Bucket: aws.String(name), ExpectedBucketOwner: aws.String("999999999999")})
	}}
	got := answers(t, p, emulator.DefaultRegion, []request{create(emulator.DefaultRegion), versioning("Sometimes"), policy("{"), stranger})
	for i, want := range []string{"400 MalformedXML", "400 MalformedPolicy", "403 AccessDenied"} {
		if got[i+1] != want {
			t.Errorf("got %s, want %s", got[i+1], want)
		}
	}
}
