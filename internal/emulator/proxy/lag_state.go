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

// memory holds what was written and answered, as far as reads lag behind it.
type memory struct {
	core *Core

	mu            sync.Mutex
	lag           lag.Lag
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
	*Answer
}

// maxRecordedAnswer bounds the answers that are kept.
const maxRecordedAnswer = 1 << 20

func (m *memory) clear() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.seq, m.tokens, m.resources, m.conditionsLag = 0, map[string]bool{}, map[string]*history{}, 0
	m.setLag(lag.Lag{})
}

func (m *memory) setLag(l lag.Lag) {
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

// CreatedWithin reports whether the resource of a request was created less than
// so long ago.
func (m *memory) CreatedWithin(x *Exchange, d time.Duration) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	h := m.resources[m.core.Identity(x, x.Service, x.Resource)]
	return h != nil && h.last[created].seq != 0 && m.core.Now().Sub(h.last[created].at) < d
}

// DeletedWithin reports whether the resource of a request was deleted less than so long ago, and not created again.
func (m *memory) DeletedWithin(x *Exchange, d time.Duration) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	h := m.resources[m.core.Identity(x, x.Service, x.Resource)]
	return h != nil && !h.exists && h.last[deleted].seq != 0 && m.core.Now().Sub(h.last[deleted].at) < d
}

// touch records a write of a kind, whose lag lasts for the window.
func (m *memory) touch(h *history, e event, w lag.Window) {
	last := h.last[e]
	if last.seq != 0 && w.Reads == 0 && m.core.Now().Sub(last.at) >= w.Time {
		last.floor = last.seq
	}
	h.last[e] = write{at: m.core.Now(), seq: m.seq, floor: last.floor, reads: map[string]int{}}
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
func (m *memory) covers(h *history, e event, w lag.Window, read string, alternate bool) bool {
	last := h.last[e]
	if last.seq <= m.lagSince {
		return false
	}
	wrong, reads := true, last.reads[read]
	if alternate {
		wrong, reads = reads%2 == 1, reads/2
	}
	if !(reads < w.Reads || w.Time > 0 && m.core.Now().Sub(last.at) < w.Time) {
		return false
	}
	last.reads[read]++
	return wrong
}

// lateAnswer returns what a read is answered and, if this is not the true
// answer, what it is instead.
func (m *memory) lateAnswer(x *Exchange, a *Answer) (late *Answer, what string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	l := m.lag.Of(x.Service)
	read := m.core.Identity(x, x.Service, x.Resource) + "|" + x.Op + "|" + x.HTTP.URL.RequestURI() + "|" + string(x.Body)
	r := &reading{x: x, lag: l, key: read, names: x.names()}
	for _, name := range r.names {
		r.histories = append(r.histories, m.historyOf(m.core.Identity(x, x.Service, name)))
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
		m.seq++
		m.answers[read] = recorded{m.seq, a.Clone()}
	}
	return a, ""
}

// reading is a read with the histories of the resources that it names.
type reading struct {
	x         *Exchange
	lag       lag.Lag
	key       string
	names     []string
	histories []*history
}

// hidden returns the names of the resources that the read does not find.
func (m *memory) hidden(r *reading) []string {
	if r.x.Resource == "" {
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
	return old.Answer != nil && old.seq > h.born && old.seq > h.last[e].floor
}

// lateTags returns the answer with other tags, or nil if its tags do not lag.
func (m *memory) lateTags(r *reading, a *Answer, old recorded) *Answer {
	row := tagReadOf(r.x.Request)
	if row == nil {
		return nil
	}
	for _, h := range r.histories {
		if !m.covers(h, tagged, r.lag.Tags.Window, r.key, false) {
			continue
		}
		switch {
		case r.lag.Tags.Empty && !row.NeverEmpty:
			return row.withoutTags(r.x.Request, a)
		case h.usable(tagged, old):
			return row.withTagsOf(r.x.Request, a, old.Answer)
		case h.last[tagged].floor < h.born && !row.NeverEmpty: // it was just created
			return row.withoutTags(r.x.Request, a)
		}
	}
	return nil
}

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
