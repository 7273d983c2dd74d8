// SPDX-License-Identifier: Apache-2.0

package lag

import "time"

// Event is a kind of write, as far as reads lag behind it.
type Event int

// The kinds of writes.
const (
	Created Event = iota
	Updated
	Tagged
	Deleted
	events
)

// Memory holds the written state. Its user has a lock.
type Memory struct {
	// Now is the clock.
	Now func() time.Time

	lag       Lag
	since     int                 // position of the last write before Set
	seq       int                 // position of the last write or recorded answer
	resources map[string]*History // by identity
}

// History holds the writes to one resource.
type History struct {
	// Noun is Table of CreateTable; "" if the creation was not seen.
	Noun string
	// Exists is false after a deletion.
	Exists bool
	born   int // position of the creation
	last   [events]write
}

// write is the last write of a kind.
type write struct {
	at    time.Time
	seq   int            // its position; 0: there was none
	floor int            // position of the last write with a lag that had passed before this one
	reads map[string]int // answers since, by read
}

// Clear forgets all writes, and ends all lag.
func (m *Memory) Clear() {
	m.seq, m.resources = 0, map[string]*History{}
	m.Set(Lag{})
}

// Set lets reads lag behind the writes from now on.
func (m *Memory) Set(l Lag) { m.lag, m.since = l, m.seq }

// Lag returns how reads lag.
func (m *Memory) Lag() Lag { return m.lag }

// Next returns the position of the next write or recorded answer.
func (m *Memory) Next() int {
	m.seq++
	return m.seq
}

// HistoryOf returns the history of a resource, which may be empty.
func (m *Memory) HistoryOf(identity string) *History {
	h := m.resources[identity]
	if h == nil {
		h = &History{Exists: true}
		m.resources[identity] = h
	}
	return h
}

// Within reports whether the last write of a kind to a resource was less than so long ago.
func (m *Memory) Within(identity string, e Event, d time.Duration) bool {
	h := m.resources[identity]
	return h != nil && (e != Deleted || !h.Exists) && h.last[e].seq != 0 && m.Now().Sub(h.last[e].at) < d
}

// Touch records a write of a kind. The lag lasts for the window.
func (m *Memory) Touch(h *History, e Event, w Window) {
	last := h.last[e]
	if last.seq != 0 && w.Reads == 0 && m.Now().Sub(last.at) >= w.Time {
		last.floor = last.seq
	}
	h.last[e] = write{at: m.Now(), seq: m.seq, floor: last.floor, reads: map[string]int{}}
}

// Create records the creation of a resource, or that of another one of its name.
func (m *Memory) Create(h *History, noun string, l Lag) {
	*h = History{Noun: noun, Exists: true, born: m.seq}
	m.Touch(h, Created, l.NotFound.AfterCreate)
	m.Touch(h, Tagged, l.Tags.Window)
}

// Delete records the deletion of a resource. A second deletion fails later, and lets no deleted resource appear again.
func (m *Memory) Delete(h *History, l Lag) {
	h.last[Created], h.last[Updated], h.last[Tagged] = write{}, write{}, write{}
	if h.Exists {
		m.Touch(h, Deleted, l.Deleted)
	}
	h.Exists = false
}

// Covers reports whether the next answer to a read falls into the window after
// the last write of a kind. Of alternating answers every second one does.
func (m *Memory) Covers(h *History, e Event, w Window, read string, alternate bool) bool {
	last := h.last[e]
	if last.seq <= m.since {
		return false
	}
	wrong, reads := true, last.reads[read]
	if alternate {
		wrong, reads = reads%2 == 1, reads/2
	}
	if !(reads < w.Reads || w.Time > 0 && m.Now().Sub(last.at) < w.Time) {
		return false
	}
	last.reads[read]++
	return wrong
}

// Usable reports whether an earlier answer, by its position, is of the present incarnation of the
// resource and not older than the lag behind the last write allows.
func (h *History) Usable(e Event, answered int) bool {
	return answered > h.born && answered > h.last[e].floor
}

// IsNew reports whether no earlier write of a kind counts: the resource was just created.
func (h *History) IsNew(e Event) bool { return h.last[e].floor < h.born }
