// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"testing"
	"time"

	"github.com/nexus-operator/nexus-operator/internal/kind"
)

// checkBox checks a box that is red, by a read that is shared or not. edit changes the box and the memory.
func checkBox(t *testing.T, isShared bool, edit func(b *box, o *Owner, m *Memory)) (*box, Outcome, error) {
	t.Helper()
	o := known()
	o.Check = &kind.Check{At: noon, Since: noon.Add(-10 * time.Second), Shared: isShared}
	b := boxOf(o)
	h := &host{t: t, b: b, now: noon}
	edit(b, &o, h.Memory())
	out, err := advanceOn(t, h, o, map[string]string{"color": "red"})
	return b, out, err
}

func TestCheck_ASharedReadConfirmsThatAllIsAsDeclared(t *testing.T) {
	b, out, err := checkBox(t, true, func(*box, *Owner, *Memory) {})
	if err != nil || !out.Synced || b.looks != 1 || len(b.writes) > 0 {
		t.Errorf("%d looks, %v, %+v %v", b.looks, b.writes, out, err)
	}
}

// All other findings of a shared read are read again, for this object alone.
func TestCheck_NothingElseIsBelievedOfASharedRead(t *testing.T) {
	for name, edit := range map[string]func(*box){
		"another setting": func(b *box) { b.stale, b.was = 1, "blue" },
		"no resource":     func(b *box) { b.hidden = 1 },
		"no owner":        func(b *box) { b.untagged = 1 },
	} {
		b, out, err := checkBox(t, true, func(b *box, _ *Owner, _ *Memory) { edit(b) })
		if err != nil || !out.Synced || b.looks != 2 || b.checks != 1 || len(b.writes) > 0 {
			t.Errorf("%s: %d looks, %v, %+v %v", name, b.looks, b.writes, out, err)
		}
	}
}

func TestCheck_DriftOfAReadThatIsNotSharedIsCorrectedAtOnce(t *testing.T) {
	b, out, err := checkBox(t, false, func(b *box, _ *Owner, _ *Memory) { b.color = "blue" })
	if err != nil || !out.Synced || b.looks != 2 || len(b.writes) != 1 { // the second look verifies the write
		t.Errorf("%d looks, %v, %+v %v", b.looks, b.writes, out, err)
	}
}

// A read that may have begun before a write of this process is not shared.
func TestCheck_NoReadIsSharedAfterAWrite(t *testing.T) {
	for ago, want := range map[time.Duration]int{9 * time.Second: 0, 10 * time.Second: 0, 11 * time.Second: 1} {
		b, out, err := checkBox(t, true, func(_ *box, _ *Owner, m *Memory) {
			m.writes = map[string]*write{"Size": {at: noon.Add(-ago)}}
		})
		if err != nil || !out.Synced || b.looks != 1 || b.checks != want {
			t.Errorf("%s after a write: %d of %d looks may share a read, want %d: %+v %v", ago, b.checks, b.looks, want, out, err)
		}
	}
}
