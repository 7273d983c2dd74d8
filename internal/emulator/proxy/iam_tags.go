// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"slices"
	"strings"
	"sync"

	"github.com/nexus-operator/nexus-operator/internal/testkit/awsmodels"
)

// tagMembers are the members with tags in the requests of all services, by AWS's models.
var tagMembers = sync.OnceValue(func() []string {
	models, err := awsmodels.Read()
	if err != nil {
		panic(err) // the file is part of the program
	}
	var out []string
	for _, members := range models.Tags {
		out = append(out, members.All()...)
	}
	slices.Sort(out)
	return slices.Compact(out)
})

// RequestTags are the tags that a request gives to a resource.
func RequestTags(d *Request) map[string]string {
	for _, field := range tagMembers() {
		if tags := TagsIn(d.JSON[field]); len(tags) > 0 {
			return tags
		}
	}
	tags := map[string]string{}
	if of := d.facts().Rights.RequestTags; of != nil {
		tags = of(d)
	}
	for name := range d.Form {
		if before, ok := strings.CutSuffix(name, ".Key"); ok && strings.Contains(name, "Tag") {
			tags[d.Form.Get(name)] = d.Form.Get(before + ".Value")
		}
	}
	return tags
}

// TagsIn reads tags in the forms that JSON services have: an object, or a list of pairs.
func TagsIn(v any) map[string]string {
	out := map[string]string{}
	switch tags := v.(type) {
	case map[string]any:
		for key, value := range tags {
			out[key] = Text(value)
		}
	case []any:
		for _, each := range tags {
			pair, _ := each.(map[string]any)
			for _, names := range [][2]string{{"Key", "Value"}, {"key", "value"}, {"TagKey", "TagValue"}} {
				if key := Text(pair[names[0]]); key != "" {
					out[key] = Text(pair[names[1]])
				}
			}
		}
	}
	return out
}
