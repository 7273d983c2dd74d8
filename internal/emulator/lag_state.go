// SPDX-License-Identifier: Apache-2.0

package emulator

import (
	"bytes"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// memory holds what was written and answered, as far as reads lag behind it.
type memory struct {
	core *core

	mu            sync.Mutex
	lag           Lag
	lagSince      int // position of the last write before SetLag
	conditionsLag time.Duration
	evaluated     map[string]time.Time // when tags of a resource were first evaluated, by its ARN
	seq           int                  // position of the last write or recorded answer
	tokens        map[string]bool      // identities of creations with their client tokens
	resources     map[string]*history  // by identity
	answers       map[string]recorded  // by read
}

// event is a kind of write, as far as reads lag behind it.
type event int

const (
	created event = iota
	updated
	tagged
	deleted
	events
)

// history holds what was written to one resource.
type history struct {
	noun   string // Table of CreateTable; "" if its creation was not seen
	exists bool
	born   int // position of the creation
	last   [events]write
}

// write is the last write of a kind.
type write struct {
	at    time.Time
	seq   int            // its position; 0: there was none
	floor int            // position of the last write whose lag had passed before this one
	reads map[string]int // answers since, by read
}

// recorded is the last true answer to a read.
type recorded struct {
	seq int
	*answer
}

// maxRecordedAnswer bounds the answers that are kept.
const maxRecordedAnswer = 1 << 20

func (m *memory) clear() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.seq, m.tokens, m.resources, m.conditionsLag = 0, map[string]bool{}, map[string]*history{}, 0
	m.setLag(Lag{})
}

func (m *memory) setLag(l Lag) {
	m.lag, m.lagSince, m.answers = l, m.seq, map[string]recorded{}
}

func (m *memory) clockSkew() time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.lag.ClockSkew
}

func (m *memory) unknownFields() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.lag.UnknownFields
}

// createdWithin reports whether the resource of a request was created less than
// so long ago.
func (m *memory) createdWithin(x *exchange, d time.Duration) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	h := m.resources[m.core.identity(x, x.service, x.resource)]
	return h != nil && h.last[created].seq != 0 && m.core.now().Sub(h.last[created].at) < d
}

// deletedWithin reports whether the resource of a request was deleted less than so long ago, and not created again.
func (m *memory) deletedWithin(x *exchange, d time.Duration) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	h := m.resources[m.core.identity(x, x.service, x.resource)]
	return h != nil && !h.exists && h.last[deleted].seq != 0 && m.core.now().Sub(h.last[deleted].at) < d
}

// touch records a write of a kind, whose lag lasts for the window.
func (m *memory) touch(h *history, e event, w Window) {
	last := h.last[e]
	if last.seq != 0 && w.Reads == 0 && m.core.now().Sub(last.at) >= w.Time {
		last.floor = last.seq
	}
	h.last[e] = write{at: m.core.now(), seq: m.seq, floor: last.floor, reads: map[string]int{}}
}

// historyOf returns the history of a resource, which may be empty.
func (m *memory) historyOf(id string) *history {
	h := m.resources[id]
	if h == nil {
		h = &history{exists: true}
		m.resources[id] = h
	}
	return h
}

// covers reports whether the next answer to a read falls into the window after
// the last write of a kind. Of alternating answers every second one does.
func (m *memory) covers(h *history, e event, w Window, read string, alternate bool) bool {
	last := h.last[e]
	if last.seq <= m.lagSince {
		return false
	}
	wrong, reads := true, last.reads[read]
	if alternate {
		wrong, reads = reads%2 == 1, reads/2
	}
	if !(reads < w.Reads || w.Time > 0 && m.core.now().Sub(last.at) < w.Time) {
		return false
	}
	last.reads[read]++
	return wrong
}

// lateAnswer returns what a read is answered and, if this is not the true
// answer, what it is instead.
func (m *memory) lateAnswer(x *exchange, a *answer) (late *answer, what string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	l := m.lag.of(x.service)
	read := m.core.identity(x, x.service, x.resource) + "|" + x.op + "|" + x.http.URL.RequestURI() + "|" + string(x.body)
	r := &reading{x: x, lag: l, key: read, names: x.names()}
	for _, name := range r.names {
		r.histories = append(r.histories, m.historyOf(m.core.identity(x, x.service, name)))
	}
	if hidden := m.hidden(r); len(hidden) > 0 {
		return hideResources(x.request, a, hidden), "not found"
	}
	old := m.answers[read]
	if what := m.stale(r, a, old); what != "" {
		return old.clone(), what
	}
	if changed := m.lateTags(r, a, old); changed != nil {
		return changed, "tags"
	}
	if l.remembersAnswers() && len(a.body) <= maxRecordedAnswer {
		m.seq++
		m.answers[read] = recorded{m.seq, a.clone()}
	}
	return a, ""
}

// reading is a read with the histories of the resources that it names.
type reading struct {
	x         *exchange
	lag       Lag
	key       string
	names     []string
	histories []*history
}

// hidden returns the names of the resources that the read does not find.
func (m *memory) hidden(r *reading) []string {
	if r.x.resource == "" {
		return nil
	}
	var names []string
	n := r.lag.NotFound
	for i, h := range r.histories {
		if m.covers(h, created, n.AfterCreate, r.key, n.Alternate) || m.covers(h, updated, n.AfterUpdate, r.key, n.Alternate) {
			names = append(names, r.names[i])
		}
	}
	return names
}

// stale says why an earlier answer is given to a read, if it is.
func (m *memory) stale(r *reading, a *answer, old recorded) string {
	if old.answer == nil || isNotFound(r.x.request, old.answer) {
		return ""
	}
	window := r.lag.Settings
	if r.x.resource == "" {
		window = r.lag.Lists
	}
	gone := isNotFound(r.x.request, a)
	for _, h := range r.histories {
		switch {
		case gone && h.usable(deleted, old) && m.covers(h, deleted, r.lag.Deleted, r.key, false):
			return "not yet deleted"
		case !gone && h.usable(updated, old) && m.covers(h, updated, window, r.key, false):
			return "settings"
		}
	}
	return ""
}

// usable reports whether an earlier answer is of the present incarnation of the
// resource and not older than the lag behind the last write allows.
func (h *history) usable(e event, old recorded) bool {
	return old.answer != nil && old.seq > h.born && old.seq > h.last[e].floor
}

// lateTags returns the answer with other tags, or nil if its tags do not lag.
func (m *memory) lateTags(r *reading, a *answer, old recorded) *answer {
	row := tagReadOf(r.x.request)
	if row == nil {
		return nil
	}
	for _, h := range r.histories {
		if !m.covers(h, tagged, r.lag.Tags.Window, r.key, false) {
			continue
		}
		switch {
		case r.lag.Tags.Empty && !row.neverEmpty:
			return row.withoutTags(r.x.request, a)
		case h.usable(tagged, old):
			return row.withTagsOf(r.x.request, a, old.answer)
		case h.last[tagged].floor < h.born && !row.neverEmpty: // it was just created
			return row.withoutTags(r.x.request, a)
		}
	}
	return nil
}

func (l Lag) remembersAnswers() bool {
	none := Window{}
	return l.Settings != none || l.Lists != none || l.Deleted != none || l.Tags.Window != none
}

func (a *answer) clone() *answer {
	return &answer{a.status, a.header.Clone(), bytes.Clone(a.body)}
}

// ok reports whether an answer is no error.
func (a *answer) ok() bool { return a.status < http.StatusMultipleChoices }

// names returns the resources that a request names.
func (x *exchange) names() []string {
	var names []string
	for key, values := range x.form {
		if strings.HasPrefix(key, "ResourceId.") && len(values) > 0 {
			names = append(names, values[0])
		}
	}
	if len(names) > 0 {
		slices.Sort(names)
		return names
	}
	return strings.Split(x.resource, ",")
}
