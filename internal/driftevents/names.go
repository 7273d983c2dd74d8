// SPDX-License-Identifier: Apache-2.0

package driftevents

import (
	"regexp"
	"slices"
	"strings"
)

// The limits for the texts of one event. Events of AWS are far below them.
const (
	maxTexts  = 256
	maxNames  = 1024
	maxDepth  = 16
	maxText   = 2048
	maxParts  = 24
	maxParent = 16
)

// Names is the set of texts in an event that may identify a resource: each text of its parameters, and the parts of ARNs, URLs and paths.
type Names map[string]bool

// namesIn collects the texts of values that were decoded from JSON.
func namesIn(values ...any) Names {
	c := collector{names: Names{}}
	for _, v := range values {
		c.collect(v, 0)
	}
	return c.names
}

type collector struct {
	names Names
	texts int
}

func (c *collector) collect(v any, depth int) {
	if depth > maxDepth || c.texts >= maxTexts {
		return
	}
	switch v := v.(type) {
	case string:
		c.add(v)
	case []string:
		for _, s := range v {
			c.add(s)
		}
	case []any:
		for _, e := range v {
			c.collect(e, depth+1)
		}
	case map[string]any:
		for _, e := range v {
			c.collect(e, depth+1)
		}
	}
}

// add adds a text and the names in it.
func (c *collector) add(text string) {
	if text == "" || len(text) > maxText || c.texts >= maxTexts || len(c.names) >= maxNames {
		return
	}
	c.texts++
	c.names[text] = true
	switch {
	case strings.HasPrefix(text, "arn:"):
		c.addARN(text)
	case strings.Contains(text, "://"):
		c.names[text[strings.LastIndexByte(text, '/')+1:]] = true
	case strings.HasPrefix(text, "/"):
		c.addParents(text)
	case strings.HasSuffix(text, "."):
		c.names[strings.TrimSuffix(text, ".")] = true
	}
	for _, part := range partsOf(text) {
		c.names[part] = true
	}
	delete(c.names, "")
}

// addARN adds the resource of an ARN, its parts, and the ARNs of the resources that contain it, such as the topic of a subscription.
func (c *collector) addARN(text string) {
	resource := resourceOf(text)
	for _, part := range partsOf(resource) {
		c.names[part] = true
	}
	c.names[nameOf(resource)] = true
	head := strings.TrimSuffix(text, resource)
	for range maxParent {
		i := strings.LastIndexAny(resource, ":/")
		if i <= 0 {
			return
		}
		resource = resource[:i]
		c.names[head+resource] = true
	}
}

// addParents adds a path and those above it.
func (c *collector) addParents(path string) {
	for range maxParent {
		c.names[path] = true
		i := strings.LastIndexByte(path, '/')
		if i <= 0 {
			return
		}
		path = path[:i]
	}
}

// partsOf splits an identifier that AWS joins of several.
func partsOf(text string) []string {
	parts := strings.FieldsFunc(text, func(r rune) bool { return r == '/' || r == ':' || r == '|' })
	return parts[:min(len(parts), maxParts)]
}

// resourceOf returns the last field of an ARN; empty for other texts.
func resourceOf(arn string) string {
	fields := strings.SplitN(arn, ":", 6)
	if len(fields) < 6 {
		return ""
	}
	return fields[5]
}

// nameOf returns the resource of an ARN without its type: function:f is f, and table/db/t is db/t.
func nameOf(resource string) string {
	if i := strings.IndexAny(resource, ":/"); i >= 0 {
		return resource[i+1:]
	}
	return resource
}

// ServiceOfARN returns the service of an ARN; empty for other texts.
func ServiceOfARN(arn string) string {
	fields := strings.SplitN(arn, ":", 4)
	if len(fields) < 4 || fields[0] != "arn" {
		return ""
	}
	return fields[2]
}

// Resource holds the identifiers of the resource of an object in AWS.
type Resource struct {
	// ARN and ID are those of the object's status; empty for unknown.
	ARN, ID string
	// Services are the prefixes of IAM actions that change the resource. None stands for every service.
	Services []string
}

// recordForm is the identifier of a record set of Route 53: hosted zone, name, type and set. Zones of AWS begin with Z, and those of
// emulators do not.
var recordForm = regexp.MustCompile(`^([A-Z0-9]{1,32})_(.+)_[A-Z]{1,10}(_.*)?$`)

// identifier returns the identifier in the parts that events name.
func (r Resource) identifier() string {
	if m := recordForm.FindStringSubmatch(r.ID); m != nil && r.ARN == "" {
		return m[1] + "/" + strings.TrimSuffix(m[2], ".")
	}
	return r.ID
}

// Keys returns the keys of the resource in an index. An event that names the resource contains one of them.
func (r Resource) Keys() []string {
	var keys []string
	for _, text := range []string{r.ARN, r.identifier(), nameOf(resourceOf(r.ARN))} {
		if text == "" || len(text) > maxText {
			continue
		}
		keys = append(keys, strings.TrimSuffix(text, "."))
		if parts := partsOf(text); len(parts) > 1 && !strings.HasPrefix(text, "arn:") {
			keys = append(keys, parts[len(parts)-1])
		}
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}

// IsNamedBy reports whether an event is about the resource: it contains the ARN, or, for an event of one of the resource's services,
// the identifier or all of its parts.
func (r Resource) IsNamedBy(e Event) bool {
	if r.ARN != "" && e.Names[r.ARN] {
		return true
	}
	if len(r.Services) > 0 && !slices.Contains(r.Services, e.Service) {
		return false
	}
	name := nameOf(resourceOf(r.ARN))
	if ServiceOfARN(r.ARN) == "iam" { // the path is no part of the identity, and few events contain it
		name = name[strings.LastIndexByte(name, '/')+1:]
	}
	if e.Names.contain(name) {
		return true
	}
	isInside := r.ID != "" && strings.HasSuffix(name, "/"+r.ID) // such as a table of Glue: its name is unique in its database only
	return !isInside && e.Names.contain(r.identifier())
}

// contain reports whether an event contains an identifier, or all parts of one that has several.
func (n Names) contain(id string) bool {
	if id == "" {
		return false
	}
	if n[strings.TrimSuffix(id, ".")] {
		return true
	}
	parts := partsOf(id)
	if len(parts) < 2 {
		return false
	}
	return !slices.ContainsFunc(parts, func(p string) bool { return !n[p] })
}
