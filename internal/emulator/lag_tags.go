// SPDX-License-Identifier: Apache-2.0

package emulator

import (
	"bytes"
	"encoding/json"
	"net/http"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"
)

// tagRead is a read whose answer shows the tags of a resource.
type tagRead struct {
	service string
	op      string // may contain *
	// where is the path of the member in JSON, or the name of the element in XML.
	where string
	// none is the error about a resource without tags; "" if the answer has an empty list.
	none awsError
	// neverEmpty is for parameters that the operator uses as tags.
	neverEmpty bool
}

// tagReads is the table of them. A service whose reads are new adds a line.
var tagReads = []tagRead{
	{service: "acm", op: "ListTagsForCertificate", where: "Tags"},
	{service: "cognito-idp", op: "DescribeUserPool", where: "UserPool.UserPoolTags"},
	{service: "cognito-idp", op: "ListTagsForResource", where: "Tags"},
	{service: "dynamodb", op: "ListTagsOfResource", where: "Tags"},
	{service: "ec2", op: "Describe*", where: "tagSet"},
	{service: "ecr", op: "ListTagsForResource", where: "tags"},
	{service: "ecs", op: "DescribeClusters", where: "clusters.0.tags"},
	{service: "eks", op: "DescribeCluster", where: "cluster.tags"},
	{service: "eks", op: "DescribePodIdentityAssociation", where: "association.tags"},
	{service: "elasticache", op: "ListTagsForResource", where: "TagList"},
	{service: "elasticloadbalancing", op: "DescribeTags", where: "Tags"},
	{service: "glue", op: "GetTags", where: "Tags"},
	{service: "glue", op: "GetTable", where: "Table.Parameters", neverEmpty: true},
	{service: "glue", op: "GetDatabase", where: "Database.Parameters", neverEmpty: true},
	{service: "iam", op: "*", where: "Tags"},
	{service: "kms", op: "ListResourceTags", where: "Tags"},
	{service: "lambda", op: "GetFunction", where: "Tags"},
	{service: "logs", op: "ListTags*", where: "tags"},
	{service: "rds", op: "*", where: "TagList"},
	{service: "route53", op: "ListTagsForResource*", where: "Tags"},
	{service: "s3", op: "GetBucketTagging", where: "TagSet", none: awsError{http.StatusNotFound, "NoSuchTagSet", "The TagSet does not exist"}},
	{service: "s3", op: "ListTagsForResource", where: "Tags"},
	{service: "secretsmanager", op: "DescribeSecret", where: "Tags"},
	{service: "sns", op: "ListTagsForResource", where: "Tags"},
	{service: "sqs", op: "ListQueueTags", where: "Tags"},
	{service: "ssm", op: "ListTagsForResource", where: "TagList"},
	{service: "tag", op: "GetResources", where: "ResourceTagMappingList"},
}

// tagWrites are operations without "Tag" in their names that change tags, or
// parameters that the operator uses as tags. All creations do.
var tagWrites = []string{"cognito-idp.UpdateUserPool", "glue.UpdateTable", "glue.UpdateDatabase"}

func setsTags(x *exchange) bool {
	return isCreation(x) || strings.Contains(x.op, "Tag") || slices.Contains(tagWrites, x.service+"."+x.op)
}

// tagReadOf returns the row of a request, or nil.
func tagReadOf(d *request) *tagRead {
	for i := range tagReads {
		row := &tagReads[i]
		if matches, _ := path.Match(row.op, d.op); matches && row.service == d.service {
			return row
		}
	}
	return nil
}

// showsNone reports whether an answer is the error about a resource without tags.
func (r *tagRead) showsNone(a *answer) bool {
	return r.none.code != "" && !a.ok() && errorCode(a) == r.none.code
}

// withoutTags returns the answer as for a resource without tags; nil if it is
// that already, or another error.
func (r *tagRead) withoutTags(d *request, a *answer) *answer {
	switch {
	case !a.ok():
		return nil
	case r.none.code != "":
		return errorAnswer(d, r.none)
	case d.protocol == protocolJSON || d.protocol == protocolREST:
		return r.changeJSON(a, func(parent map[string]any, key string) bool {
			switch parent[key].(type) {
			case []any:
				parent[key] = []any{}
			case map[string]any:
				parent[key] = map[string]any{}
			default:
				return false
			}
			return true
		})
	}
	body := r.elements().ReplaceAll(a.body, []byte("<"+r.where+"/>"))
	if bytes.Equal(body, a.body) {
		return nil
	}
	return a.withBody(body)
}

// withTagsOf returns the answer with the tags of an earlier answer to the same
// read; nil if the earlier answer is an error about something else.
func (r *tagRead) withTagsOf(d *request, a, old *answer) *answer {
	whole := a.ok() && r.showsNone(old) || r.showsNone(a) && old.ok()
	switch {
	case whole:
		return old.clone()
	case !a.ok() || !old.ok():
		return nil
	case d.protocol == protocolJSON || d.protocol == protocolREST:
		before, _ := decodeJSON(old.body).(map[string]any)
		return r.changeJSON(a, func(parent map[string]any, key string) bool {
			tags := member(before, r.where)
			if tags == nil {
				delete(parent, key)
			} else {
				parent[key] = tags
			}
			return true
		})
	}
	tags := r.elements().FindAll(old.body, -1)
	if len(tags) != len(r.elements().FindAll(a.body, -1)) {
		return old.clone()
	}
	return a.withBody(r.elements().ReplaceAllFunc(a.body, func([]byte) []byte {
		next := tags[0]
		tags = tags[1:]
		return next
	}))
}

// changeJSON applies a change to the member that holds the tags, of the object
// that contains it; nil if there is no such object or change returns false.
func (r *tagRead) changeJSON(a *answer, change func(parent map[string]any, key string) bool) *answer {
	body, ok := decodeJSON(a.body).(map[string]any)
	if !ok {
		return nil
	}
	parent, key := body, r.where
	if i := strings.LastIndexByte(r.where, '.'); i >= 0 {
		key = r.where[i+1:]
		if parent, ok = member(body, r.where[:i]).(map[string]any); !ok {
			return nil
		}
	}
	if !change(parent, key) {
		return nil
	}
	return a.withJSON(body)
}

// elements matches the elements that hold tags. They do not contain each other.
func (r *tagRead) elements() *regexp.Regexp {
	return regexp.MustCompile(`(?s)<` + r.where + `>.*?</` + r.where + `>|<` + r.where + `\s*/>`)
}

// decodeJSON decodes without loss of digits; nil if the text is no JSON.
func decodeJSON(body []byte) any {
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.UseNumber()
	var v any
	if decoder.Decode(&v) != nil {
		return nil
	}
	return v
}

// SetTagConditionsLag lets conditions on the tags of a resource fail for so long after AWS evaluates them for the first time with
// those tags. Zero, the default, is no time.
// https://docs.aws.amazon.com/kms/latest/developerguide/abac.html
func (p *Proxy) SetTagConditionsLag(d time.Duration) {
	p.state.mu.Lock()
	defer p.state.mu.Unlock()
	p.state.conditionsLag, p.state.evaluated = d, map[string]time.Time{}
}

// tagsVisible reports whether conditions on the tags of a resource hold already.
func (s *state) tagsVisible(arn string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.conditionsLag == 0 {
		return true
	}
	since, known := s.evaluated[arn]
	if !known {
		since = s.now()
		s.evaluated[arn] = since
	}
	return s.now().Sub(since) >= s.conditionsLag
}
