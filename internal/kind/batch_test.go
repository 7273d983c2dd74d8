// SPDX-License-Identifier: Apache-2.0

package kind

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

// shelf says where a Batch of a test reads from. It answers with the number of the call.
type shelf struct {
	Batch[string]
	mu      sync.Mutex
	calls   [][]string
	missing []string
	err     error
	// open lets the calls answer; nil does not hold them back.
	open chan struct{}
}

func (s *shelf) read(ctx context.Context, ids []string) (map[string]string, error) {
	s.mu.Lock()
	s.calls = append(s.calls, ids)
	number := len(s.calls)
	s.mu.Unlock()
	if s.open != nil {
		select {
		case <-s.open:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	out := map[string]string{}
	for _, id := range ids {
		if !slices.Contains(s.missing, id) {
			out[id] = fmt.Sprint(id, " of call ", number)
		}
	}
	return out, s.err
}

// find checks a resource at a time after noon and returns the found resource; "" for none.
func (s *shelf) find(ctx context.Context, at time.Duration, id string, upcoming ...string) (found string, shared bool) {
	c := &Check{At: noon.Add(at), Since: noon.Add(at - 10*time.Second), Upcoming: func(context.Context) []string { return upcoming }}
	if r := s.Find(ctx, id, c, s.read); r != nil {
		return *r, c.Shared
	}
	return "", c.Shared
}

func (s *shelf) expect(t *testing.T, at time.Duration, want string, shared bool, id string, upcoming ...string) {
	t.Helper()
	if got, fromOther := s.find(t.Context(), at, id, upcoming...); got != want || fromOther != shared {
		t.Errorf("%s after %s: %q, shared %t; want %q, %t", id, at, got, fromOther, want, shared)
	}
}

func TestBatch_OneCallServesTheChecksThatFollow(t *testing.T) {
	s := &shelf{}
	s.expect(t, 0, "a of call 1", false, "a", "b", "c", "b")
	s.expect(t, 5*time.Second, "b of call 1", true, "b", "a")
	s.expect(t, 10*time.Second, "c of call 1", true, "c")
	if len(s.calls) != 1 || !slices.Equal(s.calls[0], []string{"a", "b", "c"}) {
		t.Errorf("calls: %v", s.calls)
	}
}

func TestBatch_AnswersServeOnceAndNotForLong(t *testing.T) {
	s := &shelf{}
	s.expect(t, 0, "a of call 1", false, "a", "b", "c")
	s.expect(t, time.Second, "b of call 1", true, "b")
	s.expect(t, 2*time.Second, "b of call 2", false, "b", "d")
	s.expect(t, 10*time.Second+1, "c of call 3", false, "c", "e")
	s.expect(t, 13*time.Second, "d of call 4", false, "d", "f")
	s.expect(t, 14*time.Second, "e of call 3", true, "e")
}

func TestBatch_LeavesToASeparateCallWhatItCannotTell(t *testing.T) {
	s := &shelf{missing: []string{"a", "b"}}
	s.expect(t, 0, "", false, "alone")
	if len(s.calls) > 0 {
		t.Errorf("a call for many was made for one: %v", s.calls)
	}
	s.expect(t, 0, "", false, "a", "b", "c")
	s.expect(t, 0, "", false, "b")
	s.expect(t, 0, "c of call 1", true, "c")
	s.err = errors.New("throttled")
	s.expect(t, time.Second, "", false, "d", "e")
	s.err = nil
	s.expect(t, time.Second, "", false, "e")
	s.expect(t, time.Second, "e of call 3", false, "e", "f")
}

func TestBatch_NamesNoMoreThanACallMay(t *testing.T) {
	s := &shelf{}
	var ids []string
	for i := range 250 {
		ids = append(ids, fmt.Sprint("id", i))
	}
	for i, id := range ids {
		if got, _ := s.find(t.Context(), 0, id, ids[i+1:]...); got == "" {
			t.Errorf("%s is not found", id)
		}
	}
	if len(s.calls) != 3 || len(s.calls[0]) != maxBatch || len(s.calls[2]) != 50 {
		t.Errorf("%d calls", len(s.calls))
	}
}

// Checks at the same time wait for the call that names their resource, each for no longer than its own context.
func TestBatch_ChecksWaitForTheCallUnderWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &shelf{open: make(chan struct{})}
		var served atomic.Int64
		var group sync.WaitGroup
		group.Go(func() { s.expect(t, 0, "a of call 1", false, "a", "b", "c", "d") })
		synctest.Wait()
		for _, id := range []string{"b", "c"} {
			group.Go(func() {
				s.expect(t, 0, id+" of call 1", true, id, "d")
				served.Add(1)
			})
		}
		ctx, cancel := context.WithCancel(t.Context())
		group.Go(func() {
			if got, _ := s.find(ctx, 0, "d"); got != "" {
				t.Errorf("a check that was canceled got %q", got)
			}
		})
		synctest.Wait()
		if served.Load() != 0 {
			t.Error("checks were served before the answer")
		}
		cancel()
		synctest.Wait()
		close(s.open)
		group.Wait()
		s.expect(t, 0, "d of call 1", true, "d")
		if len(s.calls) != 1 {
			t.Errorf("calls: %v", s.calls)
		}
	})
}

// The end of the check that makes a call fails no other check, and a call that began too early serves no check.
func TestBatch_ACallThatFailsIsRepeatedByOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &shelf{open: make(chan struct{})}
		ctx, cancel := context.WithCancel(t.Context())
		var group sync.WaitGroup
		group.Go(func() { s.find(ctx, 0, "a", "b", "c") })
		synctest.Wait()
		group.Go(func() { s.expect(t, 0, "", false, "b", "c") })
		group.Go(func() { s.expect(t, 11*time.Second, "c of call 2", false, "c", "e") })
		synctest.Wait()
		cancel()
		synctest.Wait()
		close(s.open)
		group.Wait()
		s.expect(t, 11*time.Second, "e of call 2", true, "e")
	})
}
