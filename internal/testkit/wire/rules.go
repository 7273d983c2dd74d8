// SPDX-License-Identifier: Apache-2.0

// Package wire holds the common parts of the test proxies in front of AWS and of the Kubernetes API: listeners that can be cut off cleanly,
// and rules that pick the requests to break.
package wire

import (
	"path"
	"strings"
	"sync"
)

// Glob reports whether s matches the pattern: * and ? stand for any characters, slashes too. An empty pattern matches everything.
func Glob(pattern, s string) bool {
	if pattern == "" || pattern == s {
		return true
	}
	flat := func(s string) string { return strings.ReplaceAll(s, "/", "\x01") }
	ok, err := path.Match(flat(pattern), flat(s))
	return ok && err == nil
}

// Share says which of the requests that match a rule it acts upon.
type Share struct {
	Nth     int // only the nth since the rule was set; 0: every one
	Times   int // at most so often; 0: without limit
	Percent int // of the requests, evenly spread; 0: all
}

func (s Share) wants(seen, hits int) bool {
	switch {
	case s.Nth != 0 && seen != s.Nth, s.Times != 0 && hits >= s.Times:
		return false
	case s.Percent != 0:
		return seen*s.Percent/100 != (seen-1)*s.Percent/100
	}
	return true
}

// Rule is an action A on certain requests C, in force until removed.
type Rule[C, A any] struct {
	Action A

	matches  func(C) bool
	share    Share
	owner    *Rules[C, A]
	released chan struct{}
	release  sync.Once

	seen, hits int // guarded by owner.mu
}

// Hits returns how many requests the rule has acted upon.
func (r *Rule[C, A]) Hits() int {
	r.owner.mu.Lock()
	defer r.owner.mu.Unlock()
	return r.hits
}

// Release releases the requests that the rule holds, now and later.
func (r *Rule[C, A]) Release() { r.release.Do(func() { close(r.released) }) }

// Released is closed by Release and Remove.
func (r *Rule[C, A]) Released() <-chan struct{} { return r.released }

// Remove ends the rule and releases the requests that it holds.
func (r *Rule[C, A]) Remove() {
	rs := r.owner
	rs.mu.Lock()
	for i, other := range rs.list {
		if other == r {
			rs.list = append(rs.list[:i:i], rs.list[i+1:]...)
			break
		}
	}
	rs.mu.Unlock()
	r.Release()
}

// Rules are tried in the order of their addition; the first that matches a request decides it. The zero value is empty and ready.
type Rules[C, A any] struct {
	mu   sync.Mutex
	list []*Rule[C, A]
}

// Add puts a rule behind the others.
func (rs *Rules[C, A]) Add(matches func(C) bool, share Share, action A) *Rule[C, A] {
	r := &Rule[C, A]{Action: action, matches: matches, share: share, owner: rs, released: make(chan struct{})}
	rs.mu.Lock()
	defer rs.mu.Unlock()
	rs.list = append(rs.list, r)
	return r
}

// Clear removes every rule and releases the requests that they hold.
func (rs *Rules[C, A]) Clear() {
	rs.mu.Lock()
	list := rs.list
	rs.list = nil
	rs.mu.Unlock()
	for _, r := range list {
		r.Release()
	}
}

// Match returns the rule for a request, which counts as a hit, or nil.
func (rs *Rules[C, A]) Match(c C) *Rule[C, A] {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	for _, r := range rs.list {
		if !r.matches(c) {
			continue
		}
		r.seen++
		if r.share.wants(r.seen, r.hits) {
			r.hits++
			return r
		}
	}
	return nil
}
