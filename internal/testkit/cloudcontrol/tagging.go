// SPDX-License-Identifier: Apache-2.0

package cloudcontrol

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"
)

// Tagging answers GetResources of the tagging API with the resources that have an ARN and tags as a list.
// https://docs.aws.amazon.com/resourcegroupstagging/latest/APIReference/API_GetResources.html
func (d *Double) Tagging() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var in struct {
			ResourceARNList []string
			TagFilters      []struct {
				Key    string
				Values []string
			}
		}
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		d.mu.Lock()
		defer d.mu.Unlock()
		d.requests.settle()
		found := []any{}
		for _, resource := range d.resources {
			tags, arn := tagsOf(resource.properties), arnIn(resource)
			matches := arn != "" && (len(in.ResourceARNList) == 0 || slices.Contains(in.ResourceARNList, arn))
			for _, filter := range in.TagFilters {
				value, has := tags[filter.Key]
				matches = matches && has && (len(filter.Values) == 0 || slices.Contains(filter.Values, value))
			}
			if matches {
				found = append(found, map[string]any{"ResourceARN": arn, "Tags": listOf(tags)})
			}
		}
		w.Header().Set("Content-Type", "application/x-amz-json-1.1")
		_ = json.NewEncoder(w).Encode(map[string]any{"ResourceTagMappingList": found})
	})
}

// listOf returns tags in the form of the tagging API.
func listOf(tags map[string]string) []map[string]string {
	out := []map[string]string{}
	for _, key := range slices.Sorted(maps.Keys(tags)) {
		out = append(out, map[string]string{"Key": key, "Value": tags[key]})
	}
	return out
}

func tagsOf(properties map[string]any) map[string]string {
	out := map[string]string{}
	byKey, _ := properties["Tags"].(map[string]any) // as in AWS::SSM::Parameter
	for key := range byKey {
		out[key], _ = byKey[key].(string)
	}
	list, _ := properties["Tags"].([]any)
	for _, element := range list {
		tag, _ := element.(map[string]any)
		key, _ := tag["Key"].(string)
		out[key], _ = tag["Value"].(string)
	}
	return out
}

// arnIn returns the ARN of a resource among its properties: the one that ends in its identifier, or the first one if none does. Others name
// a role or a key.
func arnIn(r *resource) (first string) {
	for _, name := range slices.Sorted(maps.Keys(r.properties)) {
		text, ok := r.properties[name].(string)
		switch {
		case !ok || !strings.HasSuffix(strings.ToLower(name), "arn"):
		case strings.HasSuffix(text, r.identifier):
			return text
		case first == "":
			first = text
		}
	}
	return first
}
