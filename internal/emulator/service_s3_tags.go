// SPDX-License-Identifier: Apache-2.0

package emulator

import (
	"context"
	"encoding/xml"
	"net/http"
	"slices"
	"strings"
)

// bucketTag is a tag as S3 writes it.
type bucketTag struct{ Key, Value string }

type bucketTags struct {
	XMLName xml.Name    `xml:"Tagging"`
	Tags    []bucketTag `xml:"TagSet>Tag"`
}

// SetSystemTag gives a bucket a tag that only AWS may change, such as those of CloudFormation. The key
// begins with "aws:".
func (s *s3Service) SetSystemTag(bucket, key, value string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.system[bucket] = append(s.system[bucket], bucketTag{key, value})
}

func (s *s3Service) systemTags(bucket string) []bucketTag {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.system[bucket])
}

func isSystemTag(t bucketTag) bool { return strings.HasPrefix(t.Key, "aws:") }

// checkSystemTags: S3 refuses a set of tags that adds, changes or drops a system tag; moto refuses every
// set that has one. They are kept here and moto does not get them.
func (s *s3Service) checkSystemTags(_ context.Context, x *exchange) *answer {
	var in bucketTags
	if xml.Unmarshal(x.body, &in) != nil {
		return nil // moto refuses it
	}
	wanted := s.systemTags(x.bucket)
	sent := slices.DeleteFunc(slices.Clone(in.Tags), func(t bucketTag) bool { return !isSystemTag(t) })
	for _, t := range sent {
		if !slices.Contains(wanted, t) {
			return errorAnswer(x.request, awsError{http.StatusBadRequest, "InvalidTag", "System tags cannot be added/updated by requester"})
		}
	}
	if len(sent) != len(wanted) {
		return errorAnswer(x.request, awsError{http.StatusBadRequest, "InvalidTag", "System tags cannot be removed by requester"})
	}
	if len(sent) == 0 {
		return nil
	}
	in.Tags = slices.DeleteFunc(in.Tags, isSystemTag)
	body, err := xml.Marshal(in)
	if err != nil {
		return errorAnswer(x.request, awsError{http.StatusInternalServerError, "ProxyError", err.Error()})
	}
	x.body = body
	return nil
}

func (s *s3Service) addSystemTags(_ context.Context, x *exchange, a *answer) *answer {
	system := s.systemTags(x.bucket)
	if len(system) == 0 || a.status != http.StatusOK && errorCode(a) != "NoSuchTagSet" {
		return a
	}
	var out bucketTags
	_ = xml.Unmarshal(a.body, &out) // an error answer has no tags
	out.Tags = append(out.Tags, system...)
	body, err := xml.Marshal(out)
	if err != nil {
		return errorAnswer(x.request, awsError{http.StatusInternalServerError, "ProxyError", err.Error()})
	}
	return &answer{http.StatusOK, http.Header{"Content-Type": {"application/xml"}, "X-Amz-Request-Id": {requestID}}, body}
}

// hideOldTags: moto keeps the tags of a deleted bucket for the next one of its name, until that one is given tags.
func (s *s3Service) hideOldTags(_ context.Context, x *exchange, a *answer) *answer {
	switch {
	case !a.ok():
	case x.op == "DeleteBucket":
		s.setUntagged(x.bucket, true)
	case x.op == "PutBucketTagging":
		s.setUntagged(x.bucket, false)
	case s.isUntagged(x.bucket):
		return errorAnswer(x.request, awsError{http.StatusNotFound, "NoSuchTagSet", "The TagSet does not exist"})
	}
	return a
}

func (s *s3Service) setUntagged(bucket string, is bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.untagged[bucket] = is
}

func (s *s3Service) isUntagged(bucket string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.untagged[bucket]
}
