// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// nameKeys are the members of a JSON request of any service that name its resource, the most specific first, and formKeys those of the
// query protocol. A dot leads into a member.
var (
	nameKeys = []string{"Name", "Names", "RepositoryName", "FunctionName", "DomainName", "ResourceArn", "ResourceARN", "resourceArn",
		"ResourceId"}
	formKeys = []string{"ResourceName", "ResourceArn", "Name"}
)

// jsonResource returns the resource of a JSON request.
func (d *Request) jsonResource() string {
	f := d.facts().Requests
	if f.Resource != nil {
		if name, ok := f.Resource(d.Op, d.JSON); ok {
			return name
		}
	}
	for _, key := range slices.Concat(f.Keys, nameKeys) {
		if name := Text(Member(d.JSON, key)); name != "" {
			return d.ShortName(name)
		}
	}
	return ""
}

// Member returns the value at a path of members; nil for none. A number in the path is a position in a list.
func Member(body map[string]any, path string) any {
	var v any = body
	for part := range strings.SplitSeq(path, ".") {
		switch t := v.(type) {
		case map[string]any:
			v = t[part]
		case []any: // part is a position
			i, err := strconv.Atoi(part)
			if err != nil || i < 0 || i >= len(t) {
				return nil
			}
			v = t[i]
		default:
			return nil
		}
	}
	return v
}

// Text gives a string, or a list of strings joined by commas.
func Text(v any) string {
	switch t := v.(type) {
	case string:
		return t
	case []any:
		parts := make([]string, 0, len(t))
		for _, e := range t {
			parts = append(parts, fmt.Sprint(e))
		}
		return strings.Join(parts, ",")
	}
	return ""
}

// queryResource returns the resource of a request of the query protocol: by the keys, and by the endings of other keys.
func (d *Request) queryResource() string {
	form := d.Form
	for _, key := range slices.Concat(d.facts().Requests.Keys, formKeys) {
		if v := form.Get(key); v != "" {
			return d.ShortName(v)
		}
	}
	keys := make([]string, 0, len(form))
	for key := range form {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	for _, ending := range []string{"Id", "Name", "Id.1", "Name.1"} {
		for _, key := range keys {
			if strings.HasSuffix(key, ending) && !strings.Contains(key, "Filter") && !strings.Contains(key, "Tag") {
				return d.ShortName(form.Get(key))
			}
		}
	}
	return ""
}

// shortName returns the name within an ARN or a queue's URL, and any other text unchanged.
func (c *Catalog) shortName(s string) string {
	if strings.HasPrefix(s, "http://") || strings.HasPrefix(s, "https://") {
		return s[strings.LastIndexByte(s, '/')+1:]
	}
	parts := strings.SplitN(s, ":", 6)
	if len(parts) < 6 || parts[0] != "arn" {
		return s
	}
	name := parts[5]
	if short := c.of(parts[2]).Requests.ShortName; short != nil {
		return short(name)
	}
	if _, rest, ok := strings.Cut(name, "/"); ok {
		return rest
	}
	return name
}

// AfterColon is the name in an ARN of a service that writes type:name.
func AfterColon(name string) string { return name[strings.LastIndexByte(name, ':')+1:] }
