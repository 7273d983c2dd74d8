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

// noun returns the type of the resource that an operation creates.
func noun(op string) string {
	return strings.TrimPrefix(strings.TrimPrefix(op, "Create"), "Put")
}

// recordWrite records the resources that a request has created, changed or deleted. The same creation with the same client token changes
// nothing.
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
	m.writes.Next()
	l := m.writes.Lag().Of(x.Service)
	newID := createdID(x, a)
	for _, name := range x.names() {
		if name != "" {
			m.recordWriteTo(m.writes.HistoryOf(m.core.Identity(x, x.Service, name)), x, l, newID == "")
		}
	}
	if newID != "" {
		m.writes.Create(m.writes.HistoryOf(m.core.Identity(x, x.Service, newID)), noun(x.Op), l)
	}
	m.recordWriteToLists(x)
}

// recordWriteToLists records a write for reads that name no resource: those of
// the service and of the tagging API.
func (m *memory) recordWriteToLists(x *Exchange) {
	services := []string{x.Service}
	for _, f := range m.core.catalog.all {
		if f.Writes.ListsAll && f.Prefix != x.Service {
			services = append(services, f.Prefix)
		}
	}
	for _, service := range services {
		l, h := m.writes.Lag().Of(service), m.writes.HistoryOf(m.core.Identity(x, service, ""))
		m.writes.Touch(h, lag.Updated, l.Lists)
		if setsTags(x) {
			m.writes.Touch(h, lag.Tagged, l.Tags.Window)
		}
	}
}

// recordWriteTo records a write to one resource, which it may create.
func (m *memory) recordWriteTo(h *lag.History, x *Exchange, l lag.Lag, mayCreate bool) {
	again := h.Exists && h.Noun != "" && (h.Noun != noun(x.Op) || slices.Contains(x.facts().Writes.IdempotentCreates, x.Op))
	switch {
	case mayCreate && isCreation(x) && !again:
		m.writes.Create(h, noun(x.Op), l)
	case h.Noun != "" && (x.Op == "Delete"+h.Noun || x.Op == "Delete"+h.Noun+"s" || x.Op == x.facts().Writes.Endings[h.Noun]):
		m.writes.Delete(h, l)
	default:
		m.writes.Touch(h, lag.Updated, l.Settings)
		if setsTags(x) {
			m.writes.Touch(h, lag.Tagged, l.Tags.Window)
		}
	}
}
