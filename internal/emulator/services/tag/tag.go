// SPDX-License-Identifier: Apache-2.0

// Package tag holds the emulator's facts and corrections for the tagging API of AWS Resource Groups.
package tag

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"github.com/nexus-operator/nexus-operator/internal/emulator/policy"
	"github.com/nexus-operator/nexus-operator/internal/emulator/proxy"
)

// Service is the tagging API. It holds resources that moto does not have.
type Service struct {
	proxy.Base
	tagged     map[string][]string // ARNs that a search by a tag finds, by key=value
	alsoTagged http.Handler        // lists tagged resources that the emulator does not have; see ListTagged
}

// Facts returns all that the proxy asks of the service.
func (s *Service) Facts() *proxy.Facts {
	return &proxy.Facts{
		Prefix:   "tag",
		Requests: proxy.RequestFacts{SigningNames: []string{"tagging"}},
		Writes:   proxy.WriteFacts{ListsAll: true, TagReads: []proxy.TagRead{{Op: "GetResources", Where: "ResourceTagMappingList"}}},
		Events:   proxy.EventFacts{Source: func(*proxy.Exchange) string { return "tagging" }},
	}
}

// Corrections returns the deviations of moto that the service makes up for.
func (s *Service) Corrections() []proxy.Correction {
	return []proxy.Correction{
		{Name: "resources of SetTagged", Ops: []string{"GetResources"}, Instead: s.resourcesByTag},
		{Name: "resources by their ARNs", Ops: []string{"GetResources"}, Instead: s.resourcesByARN},
		{Name: "resources that the emulator does not have", Ops: []string{"GetResources"}, After: s.addTagged},
	}
}

// Reset forgets the state.
func (s *Service) Reset() { s.Locked(func() { s.tagged, s.alsoTagged = nil, nil }) }

// taggedResource is a resource in an answer of the tagging API.
type taggedResource struct {
	ResourceARN string
	Tags        []map[string]string
}

// tagLister is a service with resources that moto leaves out of the tagging API.
type tagLister interface {
	// TagsOf returns the tags of a resource, by the last part of its ARN; nil for those that moto lists.
	TagsOf(ctx context.Context, x *proxy.Exchange, resource string) []map[string]string
}

// SetTagged lets a search for a tag with a value find resources of these ARNs, such as load balancers, which the tests do not make.
func (s *Service) SetTagged(key, value string, arns ...string) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	if s.tagged == nil {
		s.tagged = map[string][]string{}
	}
	s.tagged[key+"="+value] = arns
}

// ListTagged adds the resources that a handler of GetResources lists to those of the emulator, until Reset. The handler filters them as AWS
// does, and answers with all of them at once.
func (s *Service) ListTagged(h http.Handler) { s.Locked(func() { s.alsoTagged = h }) }

// addTagged adds the resources of ListTagged to the last page of an answer.
func (s *Service) addTagged(ctx context.Context, x *proxy.Exchange, a *proxy.Answer) *proxy.Answer {
	s.Mu.Lock()
	also := s.alsoTagged
	s.Mu.Unlock()
	var page, more struct {
		PaginationToken        string
		ResourceTagMappingList []taggedResource
	}
	if also == nil || a.Status != http.StatusOK || json.Unmarshal(a.Body, &page) != nil || page.PaginationToken != "" {
		return a
	}
	added, err := proxy.AskHandler(ctx, also, x)
	if err == nil {
		err = json.Unmarshal(added.Body, &more)
	}
	if err != nil {
		return proxy.ProxyError(x, err)
	}
	return a.WithJSON(map[string]any{"PaginationToken": "",
		"ResourceTagMappingList": append(page.ResourceTagMappingList, more.ResourceTagMappingList...)})
}

// resourcesByTag answers a search with the resources of SetTagged.
func (s *Service) resourcesByTag(_ context.Context, x *proxy.Exchange) *proxy.Answer {
	filters, _ := x.JSON["TagFilters"].([]any)
	if len(filters) != 1 {
		return nil
	}
	filter, _ := filters[0].(map[string]any)
	values := policy.List(filter["Values"])
	if len(values) != 1 {
		return nil
	}
	s.Mu.Lock()
	defer s.Mu.Unlock()
	var found []taggedResource
	for _, arn := range s.tagged[proxy.Text(filter["Key"])+"="+proxy.Text(values[0])] {
		found = append(found, taggedResource{arn, []map[string]string{{"Key": proxy.Text(filter["Key"]), "Value": proxy.Text(values[0])}}})
	}
	if found == nil {
		return nil
	}
	return proxy.JSONAnswer(map[string]any{"PaginationToken": "", "ResourceTagMappingList": found})
}

// resourcesByARN answers GetResources with ResourceARNList, which moto ignores, and shows addresses, repositories and hosted zones, which
// moto leaves out: https://docs.aws.amazon.com/resourcegroupstagging/latest/APIReference/API_GetResources.html. AWS shows hosted zones in
// us-east-1 only.
func (s *Service) resourcesByARN(ctx context.Context, x *proxy.Exchange) *proxy.Answer {
	arns := policy.List(x.JSON["ResourceARNList"])
	if len(arns) == 0 {
		return nil
	}
	found, err := s.allTagged(ctx, x)
	if err != nil {
		return proxy.ProxyError(x, err)
	}
	for _, arn := range arns {
		parts := strings.SplitN(arn, ":", 6)
		if len(parts) < 6 {
			return x.Refuse(http.StatusBadRequest, "InvalidParameterException", "ARN "+arn+" is not valid.")
		}
		for _, other := range s.Services {
			if lister, lists := other.(tagLister); lists && other.Facts().Prefix == parts[2] {
				found = append(found, taggedResource{ResourceARN: arn, Tags: lister.TagsOf(ctx, x, parts[5])})
			}
		}
	}
	found = slices.DeleteFunc(found, func(r taggedResource) bool { return len(r.Tags) == 0 || !slices.Contains(arns, r.ResourceARN) })
	body, err := json.Marshal(map[string]any{"PaginationToken": "", "ResourceTagMappingList": found})
	if err != nil {
		return proxy.ProxyError(x, err)
	}
	return &proxy.Answer{Status: http.StatusOK, Header: http.Header{"Content-Type": {"application/x-amz-json-1.1"}}, Body: body}
}

// allTagged reads all pages of moto's list.
func (s *Service) allTagged(ctx context.Context, x *proxy.Exchange) ([]taggedResource, error) {
	var out []taggedResource
	scoped := *x.Request
	scoped.Service = "tagging" // the name that signatures have
	inner, request := &proxy.Exchange{Request: &scoped}, map[string]any{}
	for {
		a, _, err := s.AskJSON(ctx, inner, x.Op, request)
		if err != nil {
			return nil, err
		}
		var page struct {
			PaginationToken        string
			ResourceTagMappingList []taggedResource
		}
		if err := json.Unmarshal(a.Body, &page); err != nil {
			return nil, err
		}
		out = append(out, page.ResourceTagMappingList...)
		if page.PaginationToken == "" {
			return out, nil
		}
		request["PaginationToken"] = page.PaginationToken
	}
}
