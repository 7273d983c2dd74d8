// SPDX-License-Identifier: Apache-2.0

package awsclient

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
)

func TestOwners_ServeAMinute(t *testing.T) {
	known, now := &owners{tags: map[string]tagsAt{}}, time.Unix(0, 0)
	known.remember("a", map[string]string{"k": "v"}, now)
	known.remember("b", nil, now.Add(30*time.Second))
	got, unknown := known.of([]string{"a", "b", "c"}, now.Add(59*time.Second))
	if got["a"]["k"] != "v" || !slices.Equal(unknown, []string{"c"}) {
		t.Errorf("%v, unknown %v", got, unknown)
	}
	if got, unknown = known.of([]string{"a", "b"}, now.Add(time.Minute)); len(got) != 1 || !slices.Equal(unknown, []string{"a"}) {
		t.Errorf("after a minute: %v, unknown %v", got, unknown)
	}
	known.remember("c", nil, now.Add(time.Hour))
	if len(known.tags) != 1 {
		t.Errorf("old answers stay: %v", known.tags)
	}
}

func TestOwners_RegionsOfARNs(t *testing.T) {
	for _, c := range []struct{ partition, arn, want string }{
		{"aws", "arn:aws:ec2:eu-west-1:1:vpc/v", "eu-west-1"}, {"aws", "arn:aws:s3:::b", "ap-southeast-1"},
		{"aws", "arn:aws:route53:::hostedzone/Z", "us-east-1"},
		{"aws-cn", "arn:aws-cn:route53:::hostedzone/Z", "cn-northwest-1"},
		{"aws-us-gov", "arn:aws-us-gov:route53:::hostedzone/Z", "us-gov-west-1"},
	} {
		if got := regionOf(&Session{Partition: c.partition, Region: "ap-southeast-1"}, c.arn); got != c.want {
			t.Errorf("%s: %s, want %s", c.arn, got, c.want)
		}
	}
}

// taggingServer answers as the tagging API, which refuses a request with an ARN of a form that it does not know.
func taggingServer(t *testing.T, requests *int) *httptest.Server {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		*requests++
		var in struct{ ResourceARNList []string }
		_ = json.NewDecoder(r.Body).Decode(&in)
		w.Header().Set("Content-Type", "application/x-amz-json-1.1")
		var found []any
		for _, arn := range in.ResourceARNList {
			if arn == "arn:aws:strange:eu-west-1:1:x" {
				w.WriteHeader(http.StatusBadRequest)
				_, _ = fmt.Fprint(w, `{"__type":"InvalidParameterException","message":"not a valid AmazonResourceName (ARN)"}`)
				return
			}
			found = append(found, map[string]any{"ResourceARN": arn, "Tags": []map[string]string{{"Key": "of", "Value": arn}}})
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"ResourceTagMappingList": found})
	}))
	t.Cleanup(server.Close)
	return server
}

func TestOwnersOf_AStrangeARNHidesNoOwner(t *testing.T) {
	requests := 0
	server := taggingServer(t, &requests)
	s := &Session{Partition: "aws", Region: "eu-west-1", now: time.Now, memo: &memo{values: map[string]func() any{}},
		Config: aws.Config{Region: "eu-west-1", BaseEndpoint: aws.String(server.URL), HTTPClient: server.Client(),
			Credentials: credentials.NewStaticCredentialsProvider("a", "b", "")}}
	arns := []string{"arn:aws:sqs:eu-west-1:1:a", "arn:aws:sqs:eu-west-1:1:b", "arn:aws:strange:eu-west-1:1:x", "arn:aws:sqs:eu-west-1:1:c"}
	got, err := s.OwnersOf(t.Context(), arns)
	if err != nil {
		t.Fatal(err)
	}
	for _, arn := range arns {
		want := arn
		if arn == arns[2] {
			want = ""
		}
		if got[arn]["of"] != want {
			t.Errorf("%s has the tags %v", arn, got[arn])
		}
	}
	if _, err := s.OwnersOf(t.Context(), arns); err != nil || requests > 5 {
		t.Errorf("%d requests, %v", requests, err)
	}
}
