// SPDX-License-Identifier: Apache-2.0

package s3

import (
	"bytes"
	"context"
	"encoding/xml"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/nexus-operator/nexus-operator/internal/emulator/proxy"
)

// controlAccessByTags: moto does not know attribute-based access control of buckets.
func (s *Service) controlAccessByTags(_ context.Context, x *proxy.Exchange) *proxy.Answer {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	if x.Op == "PutBucketAbac" {
		s.abac[x.Bucket] = bytes.Contains(x.Body, []byte("Enabled"))
		return xmlAnswer("")
	}
	return xmlAnswer("<AbacStatus " + xmlns + "><Status>" + map[bool]string{true: "Enabled", false: "Disabled"}[s.abac[x.Bucket]] +
		"</Status></AbacStatus>")
}

// refuseTagging: the tags of a bucket with attribute-based access control are set one by one. AWS does not publish the code of the refusal.
// https://docs.aws.amazon.com/AmazonS3/latest/API/API_PutBucketTagging.html
func (s *Service) refuseTagging(_ context.Context, x *proxy.Exchange) *proxy.Answer {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	if !s.abac[x.Bucket] {
		return nil
	}
	return x.Refuse(http.StatusBadRequest, "InvalidRequest",
		"PutBucketTagging is not supported for buckets that have ABAC enabled. Use TagResource or UntagResource.")
}

// tagBucket: moto has the tags that S3 Control sets and those of the bucket apart.
func (s *Service) tagBucket(ctx context.Context, x *proxy.Exchange) *proxy.Answer {
	bucket := x.Resource
	a, err := s.Ask(ctx, x, http.MethodGet, "/"+bucket+"?tagging", http.Header{}, nil)
	if err != nil {
		return proxy.ProxyError(x, err)
	}
	if !a.OK() && proxy.ErrorCode(a) != "NoSuchTagSet" {
		return a
	}
	var have bucketTags
	_ = xml.Unmarshal(a.Body, &have) // an error answer has no tags
	tags := map[string]string{}
	for _, t := range have.Tags {
		tags[t.Key] = t.Value
	}
	changed := proxy.RequestTags(x.Request)
	maps.Copy(tags, changed)
	for _, key := range x.HTTP.URL.Query()["tagKeys"] {
		changed[key] = ""
		delete(tags, key)
	}
	for key := range changed {
		if strings.HasPrefix(key, "aws:") {
			return x.Refuse(http.StatusBadRequest, "InvalidTag", "System tags cannot be added, updated or removed by requester")
		}
	}
	return s.setBucketTags(ctx, x, bucket, tags)
}

func (s *Service) setBucketTags(ctx context.Context, x *proxy.Exchange, bucket string, tags map[string]string) *proxy.Answer {
	var set bucketTags
	for _, key := range slices.Sorted(maps.Keys(tags)) {
		set.Tags = append(set.Tags, bucketTag{key, tags[key]})
	}
	body, err := xml.Marshal(set)
	if err == nil {
		var a *proxy.Answer
		if a, err = s.Ask(ctx, x, http.MethodPut, "/"+bucket+"?tagging", http.Header{"Content-Type": {"application/xml"}},
			body); err == nil && !a.OK() {
			err = fmt.Errorf("status %d: %.300s", a.Status, a.Body)
		}
	}
	if err != nil {
		return proxy.ProxyError(x, err)
	}
	s.setUntagged(bucket, false)
	return &proxy.Answer{Status: http.StatusNoContent, Header: http.Header{"X-Amz-Request-Id": {proxy.RequestID}}, Body: nil}
}

func xmlAnswer(body string) *proxy.Answer {
	return &proxy.Answer{Status: http.StatusOK, Header: http.Header{"Content-Type": {"application/xml"},
		"X-Amz-Request-Id": {proxy.RequestID}}, Body: []byte(body)}
}
