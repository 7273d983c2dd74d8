// SPDX-License-Identifier: Apache-2.0

package kindtest

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nexus-operator/nexus-operator/internal/emulator"
	"github.com/nexus-operator/nexus-operator/internal/engine"
	"github.com/nexus-operator/nexus-operator/internal/testkit/extent"
)

// lagging are the kinds of lag of AWS's reads behind its writes, one by one and all at once.
func lagging() map[string]emulator.Lag {
	two := emulator.ForReads(2)
	like := emulator.LikeAWS()
	return map[string]emulator.Lag{
		"tags are empty":              {Tags: emulator.TagLag{Window: two, Empty: true}},
		"tags are old":                {Tags: emulator.TagLag{Window: two}},
		"new resources are not found": {NotFound: emulator.NotFoundLag{AfterCreate: two}},
		"resources flap":              {NotFound: emulator.NotFoundLag{AfterCreate: two, AfterUpdate: two, Alternate: true}},
		"settings show late":          {Settings: two, Lists: two},
		"deleted resources show":      {Deleted: two},
		"the clock is an hour ahead":  {ClockSkew: time.Hour},
		"answers have unknown fields": {UnknownFields: true},
		"all, counted in reads":       like.InReads(1),
		"all, counted in time":        like,
	}
}

// Lag lives the life of a sample under each kind of lag: it is created, edited and deleted with the writes of a clean life and at most one
// more, and leaves no resource behind. The same holds, whatever the number of writes, for an operator that restarts after each of the first
// passes.
func Lag(t *testing.T, e engine.Entry, l Life) {
	t.Helper()
	l = l.withParents(t)
	clean := l.laggingLife(t, e, emulator.Lag{}, false)
	all := extent.IsFull(t)
	for name := range lagging() {
		if all || strings.HasPrefix(name, "all") {
			l.lag(t, e, name, clean)
		}
	}
}

// LagInTurn lives as Lag does, under one of the kinds of lag. It is for sets of many lives.
func LagInTurn(t *testing.T, e engine.Entry, l Life, turn int) {
	t.Helper()
	names := slices.Sorted(maps.Keys(lagging()))
	l.lag(t, e, names[turn%len(names)], l.laggingLife(t, e, emulator.Lag{}, false))
}

func (l Life) lag(t *testing.T, e engine.Entry, name string, clean int) {
	t.Run(name, func(t *testing.T) {
		if got := l.laggingLife(t, e, lagging()[name], false); got > clean+1 {
			t.Errorf("%d writes, want the %d of a clean life and at most one more", got, clean)
		}
	})
	t.Run(name+", restarted after each of the first passes", func(t *testing.T) { l.laggingLife(t, e, lagging()[name], true) })
}

// restartedPasses is after how many passes of each phase the operator restarts.
const restartedPasses = 4

// laggingLife creates, edits and deletes the sample and returns the number of writes that succeeded.
func (l Life) laggingLife(t *testing.T, e engine.Entry, lag emulator.Lag, restarts bool) int {
	t.Helper()
	r := NewRig(t)
	s := l.subject(r, e)
	mark := r.AWS.Mark()
	r.AWS.SetClock(func() time.Time { return s.Clock })
	r.AWS.SetLag(lag)
	t.Cleanup(func() { r.AWS.SetLag(emulator.Lag{}); r.AWS.SetClock(nil) })
	passes := 0
	each := func() bool {
		if passes++; restarts && passes <= restartedPasses {
			s.Forget()
		}
		return false
	}
	settled := func(what string) {
		t.Helper()
		passes = 0
		if out, err := s.Settle(t.Context(), each); err != nil || out.Gone != s.Deleting || out.Synced == s.Deleting {
			t.Fatalf("%s does not end: %v %+v\n%s", what, err, out, r.AWS.Since(mark))
		}
	}
	settled("create")
	if l.Edited != nil {
		s.Edit(l.Edited)
		settled("edit")
	}
	s.Deleting = true
	settled("delete")
	r.AWS.SetLag(emulator.Lag{})
	if l.Exists(t, r) {
		t.Fatalf("the resource was left behind\n%s", r.AWS.Since(mark))
	}
	n := 0
	for _, c := range r.AWS.Since(mark).Writes() {
		if c.Status < 300 {
			n++
		}
	}
	return n
}
