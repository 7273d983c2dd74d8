// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"bytes"
	"encoding/json"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"
)

// TagRead is a read that shows the tags of a resource.
type TagRead struct {
	Op string // may contain *
	// Where is the path of the member in JSON, or the name of the element in XML.
	Where string
	// None holds the error about a resource without tags; it has no code if the answer has an empty list.
	None Error
	// NeverEmpty is for parameters that the operator uses as tags.
	NeverEmpty bool
}

func setsTags(x *Exchange) bool {
	return isCreation(x) || strings.Contains(x.Op, "Tag") || slices.Contains(x.facts().Writes.TagWrites, x.Op)
}

// tagReadOf returns the row of a request, or nil.
func tagReadOf(d *Request) *TagRead {
	rows := d.facts().Writes.TagReads
	for i := range rows {
		row := &rows[i]
		if matches, _ := path.Match(row.Op, d.Op); matches {
			return row
		}
	}
	return nil
}

// showsNone reports whether an answer is the error about a resource without tags.
func (r *TagRead) showsNone(a *Answer) bool {
	return r.None.Code != "" && !a.OK() && ErrorCode(a) == r.None.Code
}

// withoutTags returns the answer as for a resource without tags; nil if it is
// that already, or another error.
func (r *TagRead) withoutTags(d *Request, a *Answer) *Answer {
	switch {
	case !a.OK():
		return nil
	case r.None.Code != "":
		return ErrorAnswer(d, r.None)
	case d.Protocol == protocolJSON || d.Protocol == protocolREST:
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
	body := r.elements().ReplaceAll(a.Body, []byte("<"+r.Where+"/>"))
	if bytes.Equal(body, a.Body) {
		return nil
	}
	return a.WithBody(body)
}

// withTagsOf returns the answer with the tags of an earlier answer to the same read; nil if the earlier answer is an error about another
// subject.
func (r *TagRead) withTagsOf(d *Request, a, old *Answer) *Answer {
	whole := a.OK() && r.showsNone(old) || r.showsNone(a) && old.OK()
	switch {
	case whole:
		return old.Clone()
	case !a.OK() || !old.OK():
		return nil
	case d.Protocol == protocolJSON || d.Protocol == protocolREST:
		before, _ := DecodeJSON(old.Body).(map[string]any)
		return r.changeJSON(a, func(parent map[string]any, key string) bool {
			tags := Member(before, r.Where)
			if tags == nil {
				delete(parent, key)
			} else {
				parent[key] = tags
			}
			return true
		})
	}
	tags := r.elements().FindAll(old.Body, -1)
	if len(tags) != len(r.elements().FindAll(a.Body, -1)) {
		return old.Clone()
	}
	return a.WithBody(r.elements().ReplaceAllFunc(a.Body, func([]byte) []byte {
		next := tags[0]
		tags = tags[1:]
		return next
	}))
}

// changeJSON applies a change to the member that holds the tags, of the object
// that contains it; nil if there is no such object or change returns false.
func (r *TagRead) changeJSON(a *Answer, change func(parent map[string]any, key string) bool) *Answer {
	body, ok := DecodeJSON(a.Body).(map[string]any)
	if !ok {
		return nil
	}
	parent, key := body, r.Where
	if i := strings.LastIndexByte(r.Where, '.'); i >= 0 {
		key = r.Where[i+1:]
		if parent, ok = Member(body, r.Where[:i]).(map[string]any); !ok {
			return nil
		}
	}
	if !change(parent, key) {
		return nil
	}
	return a.WithJSON(body)
}

// elements matches the elements that hold tags. They do not contain each other.
func (r *TagRead) elements() *regexp.Regexp {
	return regexp.MustCompile(`(?s)<` + r.Where + `>.*?</` + r.Where + `>|<` + r.Where + `\s*/>`)
}

// DecodeJSON decodes without loss of digits; nil if the text is no JSON.
func DecodeJSON(body []byte) any {
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
		since = m.core.Now()
		m.evaluated[arn] = since
	}
	return m.core.Now().Sub(since) >= m.conditionsLag
}
