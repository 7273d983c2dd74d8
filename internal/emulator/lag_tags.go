// SPDX-License-Identifier: Apache-2.0

package emulator

import (
	"bytes"
	"encoding/json"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"
)

// tagRead is a read whose answer shows the tags of a resource.
type tagRead struct {
	op string // may contain *
	// where is the path of the member in JSON, or the name of the element in XML.
	where string
	// none is the error about a resource without tags; "" if the answer has an empty list.
	none awsError
	// neverEmpty is for parameters that the operator uses as tags.
	neverEmpty bool
}

func setsTags(x *exchange) bool {
	return isCreation(x) || strings.Contains(x.op, "Tag") || slices.Contains(x.facts().Writes.TagWrites, x.op)
}

// tagReadOf returns the row of a request, or nil.
func tagReadOf(d *request) *tagRead {
	rows := d.facts().Writes.TagReads
	for i := range rows {
		row := &rows[i]
		if matches, _ := path.Match(row.op, d.op); matches {
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
	p.memory.mu.Lock()
	defer p.memory.mu.Unlock()
	p.memory.conditionsLag, p.memory.evaluated = d, map[string]time.Time{}
}

// tagsVisible reports whether conditions on the tags of a resource hold already.
func (m *memory) tagsVisible(arn string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.conditionsLag == 0 {
		return true
	}
	since, known := m.evaluated[arn]
	if !known {
		since = m.core.now()
		m.evaluated[arn] = since
	}
	return m.core.now().Sub(since) >= m.conditionsLag
}
