// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"strings"
	"sync"
)

// Ledger records requests C in order of arrival. The zero value is empty and
// ready.
type Ledger[C any] struct {
	mu    sync.Mutex
	calls []*C
	seen  map[string]int
}

// Add appends a request; number receives its position, from 1, and which
// occurrence of the label it is, from 1.
func (l *Ledger[C]) Add(c *C, label string, number func(seq, n int)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.seen == nil {
		l.seen = map[string]int{}
	}
	l.calls = append(l.calls, c)
	l.seen[label]++
	number(len(l.calls), l.seen[label])
}

// Update changes a recorded request, while no one reads it.
func (l *Ledger[C]) Update(change func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	change()
}

// Len returns the number of requests.
func (l *Ledger[C]) Len() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.calls)
}

// Since returns copies of the requests after the first so many.
func (l *Ledger[C]) Since(mark int) []C {
	l.mu.Lock()
	defer l.mu.Unlock()
	var out []C
	for _, c := range l.calls[min(max(mark, 0), len(l.calls)):] {
		out = append(out, *c)
	}
	return out
}

// Clear empties the ledger.
func (l *Ledger[C]) Clear() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.calls, l.seen = nil, nil
}

// Filter returns the calls that keep accepts.
func Filter[S ~[]C, C any](calls S, keep func(C) bool) S {
	var out S
	for _, c := range calls {
		if keep(c) {
			out = append(out, c)
		}
	}
	return out
}

// Each returns a text for each call.
func Each[C any](calls []C, text func(C) string) []string {
	out := make([]string, len(calls))
	for i, c := range calls {
		out[i] = text(c)
	}
	return out
}

// Table gives the calls one line each.
func Table[C any](calls []C, line func(C) string) string {
	return strings.Join(Each(calls, line), "\n")
}
