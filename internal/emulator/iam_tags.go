// SPDX-License-Identifier: Apache-2.0

package emulator

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

// requestTags are the tags that a request gives to a resource.
func requestTags(d *request) map[string]string {
	for _, field := range tagMembers() {
		if tags := tagsIn(d.json[field]); len(tags) > 0 {
			return tags
		}
	}
	tags := map[string]string{}
	if of := d.facts().Rights.RequestTags; of != nil {
		tags = of(d)
	}
	for name := range d.form {
		if before, ok := strings.CutSuffix(name, ".Key"); ok && strings.Contains(name, "Tag") {
			tags[d.form.Get(name)] = d.form.Get(before + ".Value")
		}
	}
	return tags
}

// tagsIn reads tags in the forms that JSON services have: an object, or a list of pairs.
func tagsIn(v any) map[string]string {
	out := map[string]string{}
	switch tags := v.(type) {
	case map[string]any:
		for key, value := range tags {
			out[key] = text(value)
		}
	case []any:
		for _, each := range tags {
			pair, _ := each.(map[string]any)
			for _, names := range [][2]string{{"Key", "Value"}, {"key", "value"}, {"TagKey", "TagValue"}} {
				if key := text(pair[names[0]]); key != "" {
					out[key] = text(pair[names[1]])
				}
			}
		}
	}
	return out
}
