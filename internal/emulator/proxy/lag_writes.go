// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"slices"
	"strings"

	"github.com/nexus-operator/nexus-operator/internal/emulator/lag"
)

// isData reports whether a request is about the content of resources. This does not change settings and does not lag.
func isData(x *Exchange) bool { return x.Key != "" || slices.Contains(x.facts().Writes.Data, x.Op) }

// createdID returns the id that AWS has given to a new resource; "" if the
// request names it.
func createdID(x *Exchange, a *Answer) string {
	if of := x.facts().Writes.CreatedID; of != nil {
		return of(x, a)
	}
	return ""
}

func isCreation(x *Exchange) bool {
	w := &x.facts().Writes
	return strings.HasPrefix(x.Op, "Create") && x.Op != "CreateTags" || w.Endings[x.Op] != "" || w.Creates != nil && w.Creates(x)
}

// noun returns what an operation creates.
func noun(op string) string {
	return strings.TrimPrefix(strings.TrimPrefix(op, "Create"), "Put")
}

// recordWrite records what a request has created, changed or deleted. The same
// creation with the same client token changes nothing.
func (m *memory) recordWrite(x *Exchange, a *Answer) {
	if !a.OK() || x.Existed || !x.IsWrite() || isData(x) {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	id := m.core.Identity(x, x.Service, x.Resource)
	if token := Text(Member(x.JSON, "ClientRequestToken")); token != "" && isCreation(x) {
		if m.tokens[id+"|"+token] {
			return
		}
		m.tokens[id+"|"+token] = true
	}
	m.seq++
	l := m.lag.Of(x.Service)
	newID := createdID(x, a)
	for _, name := range x.names() {
		if name != "" {
			m.recordWriteTo(m.historyOf(m.core.Identity(x, x.Service, name)), x, l, newID == "")
		}
	}
	if newID != "" {
		m.recordCreation(m.historyOf(m.core.Identity(x, x.Service, newID)), noun(x.Op), l)
	}
	m.recordWriteToLists(x)
}

// recordWriteToLists records a write for reads that name no resource: those of
// the service and of the tagging API.
func (m *memory) recordWriteToLists(x *Exchange) {
	services := []string{x.Service}
	for _, f := range allFacts() {
		if f.Writes.ListsAll && f.Prefix != x.Service {
			services = append(services, f.Prefix)
		}
	}
	for _, service := range services {
		l, h := m.lag.Of(service), m.historyOf(m.core.Identity(x, service, ""))
		m.touch(h, updated, l.Lists)
		if setsTags(x) {
			m.touch(h, tagged, l.Tags.Window)
		}
	}
}

// recordWriteTo records a write to one resource, which it may create.
func (m *memory) recordWriteTo(h *history, x *Exchange, l lag.Lag, mayCreate bool) {
	again := h.exists && h.noun != "" && (h.noun != noun(x.Op) || slices.Contains(x.facts().Writes.IdempotentCreates, x.Op))
	switch {
	case mayCreate && isCreation(x) && !again:
		m.recordCreation(h, noun(x.Op), l)
	case h.noun != "" && (x.Op == "Delete"+h.noun || x.Op == "Delete"+h.noun+"s" || x.Op == x.facts().Writes.Endings[h.noun]):
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

func (m *memory) recordCreation(h *history, what string, l lag.Lag) {
	*h = history{noun: what, exists: true, born: m.seq}
	m.touch(h, created, l.NotFound.AfterCreate)
	m.touch(h, tagged, l.Tags.Window)
}
