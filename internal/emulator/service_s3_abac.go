// SPDX-License-Identifier: Apache-2.0

package emulator

import (
	"bytes"
	"context"
	"encoding/xml"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
)

// controlAccessByTags: moto does not know attribute-based access control of buckets.
func (s *s3Service) controlAccessByTags(_ context.Context, x *exchange) *answer {
	s.mu.Lock()
	defer s.mu.Unlock()
	if x.op == "PutBucketAbac" {
		s.abac[x.bucket] = bytes.Contains(x.body, []byte("Enabled"))
		return xmlAnswer("")
	}
	return xmlAnswer("<AbacStatus " + xmlns + "><Status>" + map[bool]string{true: "Enabled", false: "Disabled"}[s.abac[x.bucket]] + "</Status></AbacStatus>")
}

// refuseTagging: the tags of a bucket with attribute-based access control are set one by one. AWS does not publish the code of the refusal.
// https://docs.aws.amazon.com/AmazonS3/latest/API/API_PutBucketTagging.html
func (s *s3Service) refuseTagging(_ context.Context, x *exchange) *answer {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.abac[x.bucket] {
		return nil
	}
	return errorAnswer(x.request, awsError{http.StatusBadRequest, "InvalidRequest", "PutBucketTagging is not supported for buckets that have ABAC enabled. Use TagResource or UntagResource."})
}

// tagBucket: moto has the tags that S3 Control sets and those of the bucket apart.
func (s *s3Service) tagBucket(ctx context.Context, x *exchange) *answer {
	bucket := x.resource
	a, err := s.ask(ctx, x, http.MethodGet, "/"+bucket+"?tagging", http.Header{}, nil)
	if err != nil {
		return errorAnswer(x.request, awsError{http.StatusInternalServerError, "ProxyError", err.Error()})
	}
	if !a.ok() && errorCode(a) != "NoSuchTagSet" {
		return a
	}
	var have bucketTags
	_ = xml.Unmarshal(a.body, &have) // an error answer has no tags
	tags := map[string]string{}
	for _, t := range have.Tags {
		tags[t.Key] = t.Value
	}
	changed := requestTags(x.request)
	maps.Copy(tags, changed)
	for _, key := range x.http.URL.Query()["tagKeys"] {
		changed[key] = ""
		delete(tags, key)
	}
	for key := range changed {
		if strings.HasPrefix(key, "aws:") {
			return errorAnswer(x.request, awsError{http.StatusBadRequest, "InvalidTag", "System tags cannot be added, updated or removed by requester"})
		}
	}
	return s.setBucketTags(ctx, x, bucket, tags)
}

func (s *s3Service) setBucketTags(ctx context.Context, x *exchange, bucket string, tags map[string]string) *answer {
	var set bucketTags
	for _, key := range slices.Sorted(maps.Keys(tags)) {
		set.Tags = append(set.Tags, bucketTag{key, tags[key]})
	}
	body, err := xml.Marshal(set)
	if err == nil {
		var a *answer
		if a, err = s.ask(ctx, x, http.MethodPut, "/"+bucket+"?tagging", http.Header{"Content-Type": {"application/xml"}}, body); err == nil && !a.ok() {
			err = fmt.Errorf("status %d: %.300s", a.status, a.body)
		}
	}
	if err != nil {
		return errorAnswer(x.request, awsError{http.StatusInternalServerError, "ProxyError", err.Error()})
	}
	s.setUntagged(bucket, false)
	return &answer{http.StatusNoContent, http.Header{"X-Amz-Request-Id": {requestID}}, nil}
}

func xmlAnswer(body string) *answer {
	return &answer{http.StatusOK, http.Header{"Content-Type": {"application/xml"}, "X-Amz-Request-Id": {requestID}}, []byte(body)}
}
