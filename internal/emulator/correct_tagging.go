// SPDX-License-Identifier: Apache-2.0

package emulator

import (
	"context"
	"encoding/json"
	"encoding/xml"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// taggedResource is a resource in an answer of the tagging API.
type taggedResource struct {
	ResourceARN string
	Tags        []map[string]string
}

// SetTagged lets a search for a tag with a value find resources of these ARNs, such as load balancers, which the tests do not make.
func (p *Proxy) SetTagged(key, value string, arns ...string) {
	p.state.mu.Lock()
	defer p.state.mu.Unlock()
	if p.state.tagged == nil {
		p.state.tagged = map[string][]string{}
	}
	p.state.tagged[key+"="+value] = arns
}

// ListTagged adds the resources that a handler of GetResources lists to those of the emulator, until Reset. The handler filters them as AWS
// does, and answers with all of them at once.
func (p *Proxy) ListTagged(h http.Handler) {
	p.state.mu.Lock()
	defer p.state.mu.Unlock()
	p.state.alsoTagged = h
}

// addTagged adds the resources of ListTagged to the last page of an answer.
func addTagged(ctx context.Context, p *Proxy, x *exchange, a *answer) *answer {
	p.state.mu.Lock()
	also := p.state.alsoTagged
	p.state.mu.Unlock()
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
func (p *Proxy) resourcesByTag(_ context.Context, x *exchange) *answer {
	filters, _ := x.json["TagFilters"].([]any)
	if x.service != "tag" || x.op != "GetResources" || len(filters) != 1 {
		return nil
	}
	filter, _ := filters[0].(map[string]any)
	values := list(filter["Values"])
	if len(values) != 1 {
		return nil
	}
	p.state.mu.Lock()
	defer p.state.mu.Unlock()
	var found []taggedResource
	for _, arn := range p.state.tagged[text(filter["Key"])+"="+text(values[0])] {
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
func (p *Proxy) resourcesByARN(ctx context.Context, x *exchange) *answer {
	arns := list(x.json["ResourceARNList"])
	if x.service != "tag" || x.op != "GetResources" || len(arns) == 0 {
		return nil
	}
	found, err := p.allTagged(ctx, x)
	if err != nil {
		return proxyError(x, err)
	}
	for _, arn := range arns {
		parts := strings.SplitN(arn, ":", 6)
		switch {
		case len(parts) < 6:
			return errorAnswer(x.request, awsError{http.StatusBadRequest, "InvalidParameterException", "ARN " + arn + " is not valid."})
		case strings.HasPrefix(parts[5], "elastic-ip/"):
			found = append(found, p.tagsOfAddress(ctx, x, arn, strings.TrimPrefix(parts[5], "elastic-ip/")))
		case parts[2] == "ecr":
			found = append(found, p.tagsOfRepository(ctx, x, arn))
		case parts[2] == "route53" && x.region == "us-east-1":
			found = append(found, p.tagsOfZone(ctx, x, arn, strings.TrimPrefix(parts[5], "hostedzone/")))
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
func (p *Proxy) allTagged(ctx context.Context, x *exchange) ([]taggedResource, error) {
	var out []taggedResource
	scoped := *x.request
	scoped.service = "tagging" // the name that signatures have
	inner, request := &exchange{request: &scoped}, map[string]any{}
	for {
		a, _, err := p.askJSON(ctx, inner, x.op, request)
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

func (p *Proxy) tagsOfAddress(ctx context.Context, x *exchange, arn, id string) taggedResource {
	out := taggedResource{ResourceARN: arn}
	a, err := p.askEC2(ctx, &exchange{request: &request{accessKey: x.accessKey, region: x.region, service: "ec2"}},
		url.Values{"Action": {"DescribeTags"}, "Filter.1.Name": {"resource-id"}, "Filter.1.Value.1": {id}})
	var found struct {
		Tags []xmlTag `xml:"tagSet>item"`
	}
	if err == nil && xml.Unmarshal(a.body, &found) == nil {
		out.Tags = tagsOfXML(found.Tags)
	}
	return out
}

func (p *Proxy) tagsOfZone(ctx context.Context, x *exchange, arn, id string) taggedResource {
	out := taggedResource{ResourceARN: arn}
	a, err := p.ask(ctx, &exchange{request: &request{accessKey: x.accessKey, region: x.region, service: "route53"}}, http.MethodGet, "/2013-04-01/tags/hostedzone/"+id,
		http.Header{"Host": {"route53.amazonaws.com"}}, nil)
	var found struct {
		Tags []xmlTag `xml:"ResourceTagSet>Tags>Tag"`
	}
	if err == nil && xml.Unmarshal(a.body, &found) == nil {
		out.Tags = tagsOfXML(found.Tags)
	}
	return out
}

func (p *Proxy) tagsOfRepository(ctx context.Context, x *exchange, arn string) taggedResource {
	out := taggedResource{ResourceARN: arn}
	body, err := json.Marshal(map[string]string{"resourceArn": arn})
	if err != nil {
		return out
	}
	a, err := p.ask(ctx, &exchange{request: &request{accessKey: x.accessKey, region: x.region, service: "ecr"}}, http.MethodPost, "/",
		http.Header{"X-Amz-Target": {"AmazonEC2ContainerRegistry_V20150921.ListTagsForResource"}, "Content-Type": {"application/x-amz-json-1.1"}}, body)
	var found struct {
		Tags []struct{ Key, Value string }
	}
	if err == nil && json.Unmarshal(a.body, &found) == nil {
		for _, t := range found.Tags {
			out.Tags = append(out.Tags, map[string]string{"Key": t.Key, "Value": t.Value})
		}
	}
	return out
}

// xmlTag is a tag of EC2, or of Route 53.
type xmlTag struct {
	LowerKey   string `xml:"key"`
	LowerValue string `xml:"value"`
	Key        string `xml:"Key"`
	Value      string `xml:"Value"`
}

func tagsOfXML(all []xmlTag) []map[string]string {
	var out []map[string]string
	for _, t := range all {
		out = append(out, map[string]string{"Key": t.LowerKey + t.Key, "Value": t.LowerValue + t.Value})
	}
	return out
}
