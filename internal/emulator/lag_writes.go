// SPDX-License-Identifier: Apache-2.0

package emulator

import (
	"slices"
	"strings"
)

// isData reports whether a request is about the content of resources. This does not change settings and does not lag.
func isData(x *exchange) bool { return x.key != "" || slices.Contains(x.facts().Writes.Data, x.op) }

// createdID returns the id that AWS has given to a new resource; "" if the
// request names it.
func createdID(x *exchange, a *answer) string {
	if of := x.facts().Writes.CreatedID; of != nil {
		return of(x, a)
	}
	return ""
}

func isCreation(x *exchange) bool {
	w := &x.facts().Writes
	return strings.HasPrefix(x.op, "Create") && x.op != "CreateTags" || w.Endings[x.op] != "" || w.Creates != nil && w.Creates(x)
}

// noun returns what an operation creates.
func noun(op string) string {
	return strings.TrimPrefix(strings.TrimPrefix(op, "Create"), "Put")
}

// recordWrite records what a request has created, changed or deleted. The same
// creation with the same client token changes nothing.
func (m *memory) recordWrite(x *exchange, a *answer) {
	if !a.ok() || x.existed || !isWrite(x.op) || isData(x) {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	id := m.core.identity(x, x.service, x.resource)
	if token := text(member(x.json, "ClientRequestToken")); token != "" && isCreation(x) {
		if m.tokens[id+"|"+token] {
			return
		}
		m.tokens[id+"|"+token] = true
	}
	m.seq++
	l := m.lag.of(x.service)
	newID := createdID(x, a)
	for _, name := range x.names() {
		if name != "" {
			m.recordWriteTo(m.historyOf(m.core.identity(x, x.service, name)), x, l, newID == "")
		}
	}
	if newID != "" {
		m.recordCreation(m.historyOf(m.core.identity(x, x.service, newID)), noun(x.op), l)
	}
	m.recordWriteToLists(x)
}

// recordWriteToLists records a write for reads that name no resource: those of
// the service and of the tagging API.
func (m *memory) recordWriteToLists(x *exchange) {
	services := []string{x.service}
	for _, f := range allFacts() {
		if f.Writes.ListsAll && f.Prefix != x.service {
			services = append(services, f.Prefix)
		}
	}
	for _, service := range services {
		l, h := m.lag.of(service), m.historyOf(m.core.identity(x, service, ""))
		m.touch(h, updated, l.Lists)
		if setsTags(x) {
			m.touch(h, tagged, l.Tags.Window)
		}
	}
}

// recordWriteTo records a write to one resource, which it may create.
func (m *memory) recordWriteTo(h *history, x *exchange, l Lag, mayCreate bool) {
	again := h.exists && h.noun != "" && (h.noun != noun(x.op) || slices.Contains(x.facts().Writes.IdempotentCreates, x.op))
	switch {
	case mayCreate && isCreation(x) && !again:
		m.recordCreation(h, noun(x.op), l)
	case h.noun != "" && (x.op == "Delete"+h.noun || x.op == "Delete"+h.noun+"s" || x.op == x.facts().Writes.Endings[h.noun]):
		h.last[created], h.last[updated], h.last[tagged] = write{}, write{}, write{}
		if h.exists { // a request to delete what is gone, which fails later, lets nothing appear again
			m.touch(h, deleted, l.Deleted)
		}
		h.exists = false
	default:
		m.touch(h, updated, l.Settings)
		if setsTags(x) {
			m.touch(h, tagged, l.Tags.Window)
		}
	}
}

func (m *memory) recordCreation(h *history, what string, l Lag) {
	*h = history{noun: what, exists: true, born: m.seq}
	m.touch(h, created, l.NotFound.AfterCreate)
	m.touch(h, tagged, l.Tags.Window)
}
