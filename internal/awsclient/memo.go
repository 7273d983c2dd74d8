// SPDX-License-Identifier: Apache-2.0

package awsclient

import "sync"

// memo keeps values that were built for a session, by key.
type memo struct {
	mu     sync.Mutex
	values map[string]func() any
}

// Memo returns the value that build made for the key when it was first asked for, and builds it once however many callers ask at the same
// time. Values live as long as the session: a session is one pointer per identity and is replaced when the identity changes, so that a
// value built from Session.Config never outlives its credentials. Use it for SDK clients, which measure the difference between this
// machine's clock and AWS's and lose it when they are created again, and for data that is read once per identity. The key must name the
// type of the value too; build must not call Memo with the same key.
func (s *Session) Memo(key string, build func() any) any {
	s.memo.mu.Lock()
	value, ok := s.memo.values[key]
	if !ok {
		value = sync.OnceValue(build)
		s.memo.values[key] = value
	}
	s.memo.mu.Unlock()
	return value()
}
