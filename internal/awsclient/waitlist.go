// SPDX-License-Identifier: Apache-2.0

package awsclient

import (
	"context"
	"slices"
)

// waiter is a call that waits for a token of a bucket.
type waiter struct {
	namespace string
	// granted is closed when the call gets its token.
	granted chan struct{}
}

// waitlist holds the waiting calls of a bucket. It serves namespaces in turn, so that the objects of one
// namespace delay those of another by one call each, however many they are. It is not safe for concurrent use.
type waitlist struct {
	// calls are the waiting calls of each namespace, in the order of their arrival.
	calls map[string][]*waiter
	// order are the namespaces with waiting calls; the first is served next.
	order []string
	size  int
}

// ahead returns how many waiting calls would be served before a new call of the namespace.
func (l *waitlist) ahead(namespace string) int {
	own := len(l.calls[namespace])
	turn := slices.Index(l.order, namespace)
	n := own
	for i, other := range l.order {
		switch {
		case i == turn:
		case turn < 0 || i < turn: // served first in every round, the new call's included
			n += min(len(l.calls[other]), own+1)
		default:
			n += min(len(l.calls[other]), own)
		}
	}
	return n
}

// push adds a call behind those of its namespace; a namespace that has none is served last.
func (l *waitlist) push(w *waiter) {
	if l.calls == nil {
		l.calls = map[string][]*waiter{}
	}
	if len(l.calls[w.namespace]) == 0 {
		l.order = append(l.order, w.namespace)
	}
	l.calls[w.namespace] = append(l.calls[w.namespace], w)
	l.size++
}

// pop removes and returns the call that is served next, or nil. Its namespace is served last from now on.
func (l *waitlist) pop() *waiter {
	if l.size == 0 {
		return nil
	}
	namespace := l.order[0]
	w := l.calls[namespace][0]
	l.remove(w)
	if len(l.calls[namespace]) > 0 {
		l.order = append(l.order[1:], namespace)
	}
	return w
}

// remove takes a call out and reports whether it was waiting.
func (l *waitlist) remove(w *waiter) bool {
	calls := l.calls[w.namespace]
	i := slices.Index(calls, w)
	if i < 0 {
		return false
	}
	l.size--
	if len(calls) > 1 {
		l.calls[w.namespace] = slices.Delete(calls, i, i+1)
		return true
	}
	delete(l.calls, w.namespace)
	l.order = slices.DeleteFunc(l.order, func(n string) bool { return n == w.namespace })
	return true
}

// namespaceOf returns the namespace of the object that WithObject put into the context; empty for calls
// that are made for no object.
func namespaceOf(ctx context.Context) string {
	o, _ := ctx.Value(objectKey{}).(object)
	return o.namespace
}
