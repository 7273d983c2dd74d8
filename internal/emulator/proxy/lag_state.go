// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"bytes"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nexus-operator/nexus-operator/internal/emulator/lag"
)

// memory holds the writes and the answers, as far as reads lag behind them.
type memory struct {
	core *Core

	mu            sync.Mutex
	writes        lag.Memory
	conditionsLag time.Duration
	evaluated     map[string]time.Time // when tags of a resource were first evaluated, by its ARN
	tokens        map[string]bool      // identities of creations with their client tokens
	answers       map[string]recorded  // by read
}

// recorded is the last true answer to a read.
type recorded struct {
	seq int
	*Answer
}

// maxRecordedAnswer bounds the answers that are kept.
const maxRecordedAnswer = 1 << 20

func (m *memory) clear() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.tokens, m.conditionsLag, m.answers = map[string]bool{}, 0, map[string]recorded{}
	m.writes.Clear()
}

// setLag lets reads lag from now on; the caller holds the lock.
func (m *memory) setLag(l lag.Lag) {
	m.writes.Set(l)
	m.answers = map[string]recorded{}
}

func (m *memory) clockSkew() time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.writes.Lag().ClockSkew
}

func (m *memory) unknownFields() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.writes.Lag().UnknownFields
}

// CreatedWithin reports whether the resource of a request was created less than
// so long ago.
func (c *Core) CreatedWithin(x *Exchange, d time.Duration) bool {
	return c.memory.within(x, lag.Created, d)
}

// DeletedWithin reports whether the resource of a request was deleted less than so long ago, and not created again.
func (c *Core) DeletedWithin(x *Exchange, d time.Duration) bool {
	return c.memory.within(x, lag.Deleted, d)
}

func (m *memory) within(x *Exchange, e lag.Event, d time.Duration) bool {
	identity := m.core.Identity(x, x.Service, x.Resource)
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.writes.Within(identity, e, d)
}

// lateAnswer returns the answer to a read and, if this is not the true answer, the name of the lag.
func (m *memory) lateAnswer(x *Exchange, a *Answer) (late *Answer, what string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	l := m.writes.Lag().Of(x.Service)
	read := m.core.Identity(x, x.Service, x.Resource) + "|" + x.Op + "|" + x.HTTP.URL.RequestURI() + "|" + string(x.Body)
	r := &reading{x: x, lag: l, key: read, names: x.names()}
	for _, name := range r.names {
		r.histories = append(r.histories, m.writes.HistoryOf(m.core.Identity(x, x.Service, name)))
	}
	if hidden := m.hidden(r); len(hidden) > 0 {
		return hideResources(x.Request, a, hidden), "not found"
	}
	old := m.answers[read]
	if what := m.stale(r, a, old); what != "" {
		return old.Clone(), what
	}
	if changed := m.lateTags(r, a, old); changed != nil {
		return changed, "tags"
	}
	if l.RemembersAnswers() && len(a.Body) <= maxRecordedAnswer {
		m.answers[read] = recorded{m.writes.Next(), a.Clone()}
	}
	return a, ""
}

// reading is a read with the histories of the resources that it names.
type reading struct {
	x         *Exchange
	lag       lag.Lag
	key       string
	names     []string
	histories []*lag.History
}

// hidden returns the names of the resources that the read does not find.
func (m *memory) hidden(r *reading) []string {
	if r.x.Resource == "" {
		return nil
	}
	var names []string
	n := r.lag.NotFound
	for i, h := range r.histories {
		if m.writes.Covers(h, lag.Created, n.AfterCreate, r.key, n.Alternate) ||
			m.writes.Covers(h, lag.Updated, n.AfterUpdate, r.key, n.Alternate) {
			names = append(names, r.names[i])
		}
	}
	return names
}

// stale says why an earlier answer is given to a read, if it is.
func (m *memory) stale(r *reading, a *Answer, old recorded) string {
	if old.Answer == nil || isNotFound(r.x.Request, old.Answer) {
		return ""
	}
	window := r.lag.Settings
	if r.x.Resource == "" {
		window = r.lag.Lists
	}
	gone := isNotFound(r.x.Request, a)
	for _, h := range r.histories {
		switch {
		case gone && h.Usable(lag.Deleted, old.seq) && m.writes.Covers(h, lag.Deleted, r.lag.Deleted, r.key, false):
			return "not yet deleted"
		case !gone && h.Usable(lag.Updated, old.seq) && m.writes.Covers(h, lag.Updated, window, r.key, false):
			return "settings"
		}
	}
	return ""
}

// lateTags returns the answer with other tags, or nil if its tags do not lag.
func (m *memory) lateTags(r *reading, a *Answer, old recorded) *Answer {
	row := tagReadOf(r.x.Request)
	if row == nil {
		return nil
	}
	for _, h := range r.histories {
		if !m.writes.Covers(h, lag.Tagged, r.lag.Tags.Window, r.key, false) {
			continue
		}
		switch {
		case r.lag.Tags.Empty && !row.NeverEmpty:
			return row.withoutTags(r.x.Request, a)
		case old.Answer != nil && h.Usable(lag.Tagged, old.seq):
			return row.withTagsOf(r.x.Request, a, old.Answer)
		case h.IsNew(lag.Tagged) && !row.NeverEmpty: // it was just created
			return row.withoutTags(r.x.Request, a)
		}
	}
	return nil
}

// Clone copies an answer.
func (a *Answer) Clone() *Answer {
	return &Answer{a.Status, a.Header.Clone(), bytes.Clone(a.Body)}
}

// OK reports whether an answer is no error.
func (a *Answer) OK() bool { return a.Status < http.StatusMultipleChoices }

// names returns the resources that a request names.
func (x *Exchange) names() []string {
	var names []string
	for key, values := range x.Form {
		if strings.HasPrefix(key, "ResourceId.") && len(values) > 0 {
			names = append(names, values[0])
		}
	}
	if len(names) > 0 {
		slices.Sort(names)
		return names
	}
	return strings.Split(x.Resource, ",")
}
