// SPDX-License-Identifier: Apache-2.0

package emulator

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
)

// tagService is the tagging API. It holds resources that moto does not have.
type tagService struct {
	base
	tagged     map[string][]string // ARNs that a search by a tag finds, by key=value
	alsoTagged http.Handler        // lists tagged resources that the emulator does not have; see ListTagged
}

func (s *tagService) Facts() *Facts {
	return &Facts{
		Prefix:   "tag",
		Requests: RequestFacts{SigningNames: []string{"tagging"}},
		Writes:   WriteFacts{ListsAll: true, TagReads: []tagRead{{op: "GetResources", where: "ResourceTagMappingList"}}},
		Events:   EventFacts{Source: func(*exchange) string { return "tagging" }},
	}
}

func (s *tagService) Corrections() []Correction {
	return []Correction{
		{Name: "resources of SetTagged", Ops: []string{"GetResources"}, Instead: s.resourcesByTag},
		{Name: "resources by their ARNs", Ops: []string{"GetResources"}, Instead: s.resourcesByARN},
		{Name: "resources that the emulator does not have", Ops: []string{"GetResources"}, After: s.addTagged},
	}
}

func (s *tagService) Reset() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tagged, s.alsoTagged = nil, nil
}

// taggedResource is a resource in an answer of the tagging API.
type taggedResource struct {
	ResourceARN string
	Tags        []map[string]string
}

// tagLister is a service of which moto leaves resources out in the tagging API.
type tagLister interface {
	// TagsOf returns the tags of a resource, by the last part of its ARN; nil for those that moto lists.
	TagsOf(ctx context.Context, x *exchange, resource string) []map[string]string
}

// SetTagged lets a search for a tag with a value find resources of these ARNs, such as load balancers, which the tests do not make.
func (s *tagService) SetTagged(key, value string, arns ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.tagged == nil {
		s.tagged = map[string][]string{}
	}
	s.tagged[key+"="+value] = arns
}

// ListTagged adds the resources that a handler of GetResources lists to those of the emulator, until Reset. The handler filters them as AWS
// does, and answers with all of them at once.
func (s *tagService) ListTagged(h http.Handler) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.alsoTagged = h
}

// addTagged adds the resources of ListTagged to the last page of an answer.
func (s *tagService) addTagged(ctx context.Context, x *exchange, a *answer) *answer {
	s.mu.Lock()
	also := s.alsoTagged
	s.mu.Unlock()
	var page, more struct {
		PaginationToken        string
		ResourceTagMappingList []taggedResource
	}
	if also == nil || a.status != http.StatusOK || json.Unmarshal(a.body, &page) != nil || page.PaginationToken != "" {
		return a
	}
	added, err := askHandler(ctx, also, x)
	if err == nil {
		err = json.Unmarshal(added.body, &more)
	}
	if err != nil {
		return proxyError(x, err)
	}
	return a.withJSON(map[string]any{"PaginationToken": "", "ResourceTagMappingList": append(page.ResourceTagMappingList, more.ResourceTagMappingList...)})
}

// resourcesByTag answers a search with the resources of SetTagged.
func (s *tagService) resourcesByTag(_ context.Context, x *exchange) *answer {
	filters, _ := x.json["TagFilters"].([]any)
	if len(filters) != 1 {
		return nil
	}
	filter, _ := filters[0].(map[string]any)
	values := list(filter["Values"])
	if len(values) != 1 {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var found []taggedResource
	for _, arn := range s.tagged[text(filter["Key"])+"="+text(values[0])] {
		found = append(found, taggedResource{arn, []map[string]string{{"Key": text(filter["Key"]), "Value": text(values[0])}}})
	}
	if found == nil {
		return nil
	}
	return jsonAnswer(map[string]any{"PaginationToken": "", "ResourceTagMappingList": found})
}

// resourcesByARN answers GetResources with ResourceARNList, which moto ignores, and shows addresses, repositories and hosted zones, which moto
// leaves out: https://docs.aws.amazon.com/resourcegroupstagging/latest/APIReference/API_GetResources.html. AWS shows hosted zones in
// us-east-1 only.
func (s *tagService) resourcesByARN(ctx context.Context, x *exchange) *answer {
	arns := list(x.json["ResourceARNList"])
	if len(arns) == 0 {
		return nil
	}
	found, err := s.allTagged(ctx, x)
	if err != nil {
		return proxyError(x, err)
	}
	for _, arn := range arns {
		parts := strings.SplitN(arn, ":", 6)
		if len(parts) < 6 {
			return errorAnswer(x.request, awsError{http.StatusBadRequest, "InvalidParameterException", "ARN " + arn + " is not valid."})
		}
		for _, other := range s.services {
			if lister, lists := other.(tagLister); lists && other.Facts().Prefix == parts[2] {
				found = append(found, taggedResource{ResourceARN: arn, Tags: lister.TagsOf(ctx, x, parts[5])})
			}
		}
	}
	found = slices.DeleteFunc(found, func(r taggedResource) bool { return len(r.Tags) == 0 || !slices.Contains(arns, r.ResourceARN) })
	body, err := json.Marshal(map[string]any{"PaginationToken": "", "ResourceTagMappingList": found})
	if err != nil {
		return proxyError(x, err)
	}
	return &answer{http.StatusOK, http.Header{"Content-Type": {"application/x-amz-json-1.1"}}, body}
}

// allTagged reads all pages of what moto shows.
func (s *tagService) allTagged(ctx context.Context, x *exchange) ([]taggedResource, error) {
	var out []taggedResource
	scoped := *x.request
	scoped.service = "tagging" // the name that signatures have
	inner, request := &exchange{request: &scoped}, map[string]any{}
	for {
		a, _, err := s.askJSON(ctx, inner, x.op, request)
		if err != nil {
			return nil, err
		}
		var page struct {
			PaginationToken        string
			ResourceTagMappingList []taggedResource
		}
		if err := json.Unmarshal(a.body, &page); err != nil {
			return nil, err
		}
		out = append(out, page.ResourceTagMappingList...)
		if page.PaginationToken == "" {
			return out, nil
		}
		request["PaginationToken"] = page.PaginationToken
	}
}
