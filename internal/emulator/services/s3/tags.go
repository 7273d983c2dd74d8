// SPDX-License-Identifier: Apache-2.0

package s3

import (
	"context"
	"encoding/xml"
	"net/http"
	"slices"
	"strings"

	"github.com/nexus-operator/nexus-operator/internal/emulator/proxy"
)

// bucketTag is a tag as S3 writes it.
type bucketTag struct{ Key, Value string }

type bucketTags struct {
	XMLName xml.Name    `xml:"Tagging"`
	Tags    []bucketTag `xml:"TagSet>Tag"`
}

// SetSystemTag gives a bucket a tag that only AWS may change, such as those of CloudFormation. The key
// begins with "aws:".
func (s *Service) SetSystemTag(bucket, key, value string) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	s.system[bucket] = append(s.system[bucket], bucketTag{key, value})
}

func (s *Service) systemTags(bucket string) []bucketTag {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	return slices.Clone(s.system[bucket])
}

func isSystemTag(t bucketTag) bool { return strings.HasPrefix(t.Key, "aws:") }

// checkSystemTags: S3 refuses a set of tags that adds, changes or drops a system tag; moto refuses every
// set that has one. They are kept here and moto does not get them.
func (s *Service) checkSystemTags(_ context.Context, x *proxy.Exchange) *proxy.Answer {
	var in bucketTags
	if xml.Unmarshal(x.Body, &in) != nil {
		return nil // moto refuses it
	}
	wanted := s.systemTags(x.Bucket)
	sent := slices.DeleteFunc(slices.Clone(in.Tags), func(t bucketTag) bool { return !isSystemTag(t) })
	for _, t := range sent {
		if !slices.Contains(wanted, t) {
			return x.Refuse(http.StatusBadRequest, "InvalidTag", "System tags cannot be added/updated by requester")
		}
	}
	if len(sent) != len(wanted) {
		return x.Refuse(http.StatusBadRequest, "InvalidTag", "System tags cannot be removed by requester")
	}
	if len(sent) == 0 {
		return nil
	}
	in.Tags = slices.DeleteFunc(in.Tags, isSystemTag)
	body, err := xml.Marshal(in)
	if err != nil {
		return proxy.ProxyError(x, err)
	}
	x.Body = body
	return nil
}

func (s *Service) addSystemTags(_ context.Context, x *proxy.Exchange, a *proxy.Answer) *proxy.Answer {
	system := s.systemTags(x.Bucket)
	if len(system) == 0 || a.Status != http.StatusOK && proxy.ErrorCode(a) != "NoSuchTagSet" {
		return a
	}
	var out bucketTags
	_ = xml.Unmarshal(a.Body, &out) // an error answer has no tags
	out.Tags = append(out.Tags, system...)
	body, err := xml.Marshal(out)
	if err != nil {
		return proxy.ProxyError(x, err)
	}
	return &proxy.Answer{Status: http.StatusOK, Header: http.Header{"Content-Type": {"application/xml"},
		"X-Amz-Request-Id": {proxy.RequestID}}, Body: body}
}

// hideOldTags: moto keeps the tags of a deleted bucket for the next one of its name, until that one is given tags.
func (s *Service) hideOldTags(_ context.Context, x *proxy.Exchange, a *proxy.Answer) *proxy.Answer {
	switch {
	case !a.OK():
	case x.Op == "DeleteBucket":
		s.setUntagged(x.Bucket, true)
	case x.Op == "PutBucketTagging":
		s.setUntagged(x.Bucket, false)
	case s.isUntagged(x.Bucket):
		return x.Refuse(http.StatusNotFound, "NoSuchTagSet", "The TagSet does not exist")
	}
	return a
}

func (s *Service) setUntagged(bucket string, is bool) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	s.untagged[bucket] = is
}

func (s *Service) isUntagged(bucket string) bool {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	return s.untagged[bucket]
}
