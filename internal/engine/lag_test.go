// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/api/wellknown"
	"github.com/nexus-operator/nexus-operator/internal/kind"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// known returns an object after its resource was seen with its tags.
func known() Owner {
	o := us()
	o.Record.Intent, o.Record.Known, o.Record.CreatedAt, o.Record.SyncedGeneration = recorded(), true, noon.Add(-time.Hour), 1
	return o
}

func boxOf(o Owner) *box {
	return &box{exists: true, tags: o.OwnerTags(), created: o.Record.CreatedAt, color: "red"}
}

// AWS documents that ListTagsOfResource may return an empty list for seconds after a write.
func TestAdvance_DeletionSurvivesLaggingTags(t *testing.T) {
	o := known()
	o.Deleting = true
	b := boxOf(o)
	b.untagged = 2
	h := &host{t: t, b: b, now: noon}
	for range 2 {
		out, err := advanceOn(t, h, o, nil)
		waits(t, err, status.ReasonOwnershipUnknown)
		if out.Gone {
			t.Fatal("the finalizer is dropped on a lagging read: the resource leaks")
		}
		h.now = h.now.Add(time.Second)
	}
	if out, err := advanceOn(t, h, o, nil); err != nil || !out.Gone || b.exists {
		t.Fatalf("%+v %v", out, err)
	}
}

func TestAdvance_CreateSurvivesLaggingTags(t *testing.T) {
	for name, ensures := range map[string]bool{"create refuses existing": false, "create answers existing": true} {
		t.Run(name, func(t *testing.T) {
			b := &box{untagged: 3, ensures: ensures}
			h := &host{t: t, b: b, now: noon}
			o := us()
			for range 6 {
				out, err := advanceOn(t, h, o, map[string]string{"color": "red"})
				if err == nil {
					if !out.Synced || !slices.Equal(b.writes, []string{"box:Create", "box:Paint"}) {
						t.Fatalf("%+v %v", out, b.writes)
					}
					return
				}
				if s, ok := status.AsStalled(err); ok {
					t.Fatalf("a lagging tag read is reported as %s: %v", s.Reason, s)
				}
				o.Record.Intent = &h.committed[0]
				h.now = h.now.Add(time.Second)
			}
			t.Fatal("does not settle")
		})
	}
}

func TestAdvance_BusyPrecedesUnknownOwner(t *testing.T) {
	o := us()
	o.Record.Intent = recorded()
	_, _, err := advanceBox(t, &box{exists: true, busy: "CREATING"}, o, nil)
	waits(t, err, status.ReasonBusy)
}

func TestAdvance_RestoresTagsThatWereRemoved(t *testing.T) {
	o := known()
	b := boxOf(o)
	b.tags = map[string]string{"theirs": "1"}
	h := &host{t: t, b: b, now: noon}
	_, err := advanceOn(t, h, o, nil)
	waits(t, err, status.ReasonOwnershipUnknown)
	if len(b.writes) > 0 {
		t.Fatal("written before the settle time")
	}
	h.now = noon.Add(settleDefault)
	out, err := advanceOn(t, h, o, nil)
	if err != nil || !out.Synced || b.tags[wellknown.TagOwnerUID] != "u" || b.tags["theirs"] != "1" || !slices.Equal(h.did, []Cause{Drifted}) {
		t.Fatalf("%+v %v %v %v", out, err, b.tags, h.did)
	}
}

func TestAdvance_WaitsAsLongAsTheKindMaySettle(t *testing.T) {
	o := known()
	b := boxOf(o)
	b.meta.Settle, b.tags = 2*settleDefault, map[string]string{"theirs": "1"}
	h := &host{t: t, b: b, now: noon}
	for _, now := range []time.Time{noon, noon.Add(settleDefault)} {
		h.now = now
		_, err := advanceOn(t, h, o, nil)
		waits(t, err, status.ReasonOwnershipUnknown)
	}
	h.now = noon.Add(2 * settleDefault)
	if out, err := advanceOn(t, h, o, nil); err != nil || !out.Synced || b.tags[wellknown.TagOwnerUID] != "u" {
		t.Fatalf("%+v %v %v", out, err, b.tags)
	}
}

func TestScopeOf_TooManyTagsDoNotStopADeletion(t *testing.T) {
	o := &v1alpha1.S3Bucket{}
	o.Spec.Tags = map[string]v1alpha1.TagValue{}
	for i := range maxTags {
		o.Spec.Tags[fmt.Sprint("k", i)] = "v"
	}
	f := Facts{Provider: v1alpha1.AWSProviderSpec{DefaultTags: map[string]v1alpha1.TagValue{"k0": "of the provider"}}}
	if _, err := ScopeOf(o, us(), f); err != nil {
		t.Fatal(err)
	}
	f.Provider.DefaultTags["one more"] = "v"
	_, err := ScopeOf(o, us(), f)
	stalls(t, err, status.ReasonInvalidSpec)
	deleting := us()
	deleting.Deleting = true
	if _, err := ScopeOf(o, deleting, f); err != nil {
		t.Errorf("a deletion is stopped: %v", err)
	}
}

func TestDeletionPolicyOf_DefaultsToThatOfTheKind(t *testing.T) {
	o := &v1alpha1.S3Bucket{}
	for retains, want := range map[bool]v1alpha1.DeletionPolicy{false: v1alpha1.DeletionDelete, true: v1alpha1.DeletionRetain} {
		if got := DeletionPolicyOf(o, kind.Meta{Retains: retains}); got != want {
			t.Errorf("retains %v: %s, want %s", retains, got, want)
		}
	}
	o.Spec.DeletionPolicy = v1alpha1.DeletionDelete
	if got := DeletionPolicyOf(o, kind.Meta{Retains: true}); got != v1alpha1.DeletionDelete {
		t.Errorf("%s, want what the spec says", got)
	}
}

func TestAdvance_HoldsAResourceOfUnknownOwner(t *testing.T) {
	for name, edit := range map[string]func(*Owner, *box){
		"created again by another": func(_ *Owner, b *box) { b.created = noon.Add(-time.Minute) },
		"only an annotation":       func(o *Owner, _ *box) { o.Record.Known = false },
		"no creation time":         func(o *Owner, b *box) { o.Record.CreatedAt, b.created = time.Time{}, time.Time{} },
	} {
		for _, deleting := range []bool{false, true} {
			o := known()
			b := boxOf(o)
			b.tags, o.Deleting = nil, deleting
			edit(&o, b)
			h := &host{t: t, b: b, now: noon}
			_, err := advanceOn(t, h, o, nil)
			waits(t, err, status.ReasonOwnershipUnknown)
			h.now = noon.Add(settleDefault)
			out, err := advanceOn(t, h, o, nil)
			stalls(t, err, status.ReasonOwnershipUnknown)
			if out.Gone || len(b.writes) > 0 || out.Plan.Publish != nil {
				t.Errorf("%s, deleting %v: %+v %v", name, deleting, out, b.writes)
			}
		}
	}
}

func TestAdvance_AnotherOwnersTagsAreForeignAtOnce(t *testing.T) {
	o := known()
	b := boxOf(o)
	b.tags = map[string]string{wellknown.TagOwner: "Box/other/n", wellknown.TagCluster: "c", wellknown.TagManagedBy: wellknown.OperatorName,
		wellknown.TagOwnerUID: "x"}
	_, _, err := advanceBox(t, b, o, nil)
	stalls(t, err, status.ReasonConflict)
	o.Deleting = true
	if out, _, err := advanceBox(t, b, o, nil); err != nil || !out.Gone || len(b.writes) > 0 {
		t.Errorf("%+v %v %v", out, err, b.writes)
	}
}

func TestAdvance_CommitsAMissingFinalizerFirst(t *testing.T) {
	for name, edit := range map[string]func(*Owner){
		"intent in the annotations": func(o *Owner) { o.Record.Known = false },
		"only the status":           func(o *Owner) { o.Record.Intent = nil },
	} {
		o := known()
		o.HasFinalizer = false
		edit(&o)
		b := boxOf(o)
		b.fail = map[string]error{"observe": errors.New("AWS is down")}
		h := &host{t: t, b: b, now: noon}
		_, _ = advanceOn(t, h, o, nil)
		if len(h.committed) != 1 || b.looks != 1 {
			t.Errorf("%s: committed %d times", name, len(h.committed))
		}
		o.Policy.Management = v1alpha1.ManageObserve
		h = &host{t: t, b: boxOf(o), now: noon}
		if _, err := advanceOn(t, h, o, nil); err != nil || len(h.committed) > 0 {
			t.Errorf("%s: an object that only observes gets a finalizer: %v", name, err)
		}
	}
}

func TestAdvance_DoesNotRepeatAWriteThatAWSDoesNotShow(t *testing.T) {
	o := known()
	b := boxOf(o)
	b.color, b.stale = "blue", 0
	h := &host{t: t, b: b, now: noon}
	red := map[string]string{"color": "red"}
	b.was = "blue"
	var sent []time.Duration
	for h.now.Sub(noon) < 20*time.Minute {
		before := len(b.writes)
		b.stale = 1000
		_, err := advanceOn(t, h, o, red)
		if len(b.writes) > before {
			sent = append(sent, h.now.Sub(noon))
		}
		switch n := len(sent); {
		case n < maxUnsettledWrites:
			waits(t, err, status.ReasonProgressing)
		default:
			stalls(t, err, status.ReasonNotSettling)
			if m := err.Error(); !strings.Contains(m, "Color") || !strings.Contains(m, "red") || !strings.Contains(m, "blue") {
				t.Fatalf("lacks the path, the wanted or the shown value: %s", m)
			}
		}
		h.now = h.now.Add(time.Second)
	}
	if want := []time.Duration{0, 30 * time.Second, 90 * time.Second}; !slices.Equal(sent, want) {
		t.Errorf("written at %v, want %v", sent, want)
	}
	for _, again := range []struct {
		what   string
		change func()
	}{
		{"AWS shows another value", func() { b.was = "yellow" }},
		{"a person asks", func() { h.mem.Retry("now") }},
		{"the spec changes", func() { red["color"] = "crimson" }},
	} {
		before := len(b.writes)
		b.stale = 1000
		again.change()
		_, _ = advanceOn(t, h, o, red)
		if len(b.writes) != before+1 {
			t.Errorf("%s: %d writes", again.what, len(b.writes)-before)
		}
		for range 1200 { // until it is given up again
			h.now, b.stale = h.now.Add(time.Second), 1000
			_, _ = advanceOn(t, h, o, red)
		}
		if n := len(b.writes) - before; n > maxUnsettledWrites+1 { // the first may change the shown value
			t.Errorf("%s: %d writes in 20 minutes", again.what, n)
		}
	}
	b.stale = 0
	if out, err := advanceOn(t, h, o, red); err != nil || !out.Synced {
		t.Errorf("%+v %v", out, err)
	}
}

func TestAdvance_WritesAnotherValueAtOnce(t *testing.T) {
	o := known()
	b := boxOf(o)
	b.color = "blue"
	h := &host{t: t, b: b, now: noon}
	if _, err := advanceOn(t, h, o, map[string]string{"color": "red"}); err != nil {
		t.Fatal(err)
	}
	h.now = noon.Add(time.Second)
	if _, err := advanceOn(t, h, o, map[string]string{"color": "green"}); err != nil || b.color != "green" {
		t.Errorf("%s %v", b.color, err)
	}
}

func TestAdvance_CorrectsDriftSoonAfterItsOwnWrite(t *testing.T) {
	o := known()
	b := boxOf(o)
	b.color = "blue"
	h := &host{t: t, b: b, now: noon}
	red := map[string]string{"color": "red"}
	if _, err := advanceOn(t, h, o, red); err != nil || b.color != "red" {
		t.Fatal(err)
	}
	b.color = "blue" // a person changes it back: for a moment it may be a stale answer
	_, err := advanceOn(t, h, o, red)
	waits(t, err, status.ReasonProgressing)
	h.now = noon.Add(absenceGap)
	if out, err := advanceOn(t, h, o, red); err != nil || !out.Synced || b.color != "red" {
		t.Errorf("%+v %v", out, err)
	}
}

func TestAdvance_CorrectsADriftThatComesBack(t *testing.T) {
	o := known()
	b := boxOf(o)
	h := &host{t: t, b: b, now: noon}
	for i := range 6 { // a person paints it blue every five minutes
		b.color = "blue"
		h.now = h.now.Add(5 * time.Minute)
		if out, err := advanceOn(t, h, o, map[string]string{"color": "red"}); err != nil || !out.Synced || b.color != "red" {
			t.Fatalf("%d: %+v %v", i, out, err)
		}
	}
}

func TestAdvance_OneStaleNotFoundLosesNothing(t *testing.T) {
	for name, store := range map[string]bool{"a store": true, "another kind": false} {
		for _, deleting := range []bool{false, true} {
			o := known()
			o.Deleting = deleting
			b := boxOf(o)
			b.meta.HoldsData, b.hidden = store, 2 // a second look at the same moment proves nothing
			h := &host{t: t, b: b, now: noon}
			out, err := advanceOn(t, h, o, nil)
			w, ok := status.AsWaiting(err)
			if !ok || w.After != absenceGap || out.Gone || len(b.writes) > 0 {
				t.Fatalf("%s, deleting %v: %+v %v", name, deleting, out, err)
			}
			h.now, b.hidden = noon.Add(absenceGap), 0
			if out, err := advanceOn(t, h, o, nil); err != nil || !out.Synced && !deleting || !out.Gone && deleting {
				t.Errorf("%s, deleting %v: %+v %v", name, deleting, out, err)
			}
		}
	}
}

func TestAdvance_OneLookSufficesAfterAnAcknowledgedDelete(t *testing.T) {
	o := known()
	o.Deleting = true
	if out, h, err := advanceBox(t, boxOf(o), o, nil); err != nil || !out.Gone || h.b.looks != 2 {
		t.Errorf("%+v %v", out, err)
	}
}

func TestAdvance_ThreeLostCreatesMakeOneResource(t *testing.T) {
	lost := errors.New("the connection broke")
	b := &box{meta: kind.Meta{Identity: kind.ByTag}, hidden: 1000, fail: map[string]error{"box:Create": lost}}
	h := &host{t: t, b: b, now: noon}
	o := us()
	var creates []time.Duration
	for h.now.Sub(noon) < 100*time.Second {
		before := len(b.writes)
		_, _ = advanceOn(t, h, o, nil)
		o.Record.Intent = &h.committed[len(h.committed)-1]
		b.exists = false // the emulated creates have no effect: each is made after the last one's time
		if len(b.writes) > before {
			creates = append(creates, h.now.Sub(noon))
		}
		h.now = h.now.Add(400 * time.Millisecond)
	}
	if len(creates) < 3 || creates[1]-creates[0] < settleTagged || creates[2]-creates[1] < settleTagged {
		t.Errorf("creates at %v: each must wait from the last one, not from the first", creates)
	}
}

// TestAdvance_AParentThatIsGoneIsToldAndNotPolled: a resource that existed is gone, and AWS refuses each create, because its parent is gone
// as well. Each pass after the second look reports that, and the reconciler's pauses grow.
func TestAdvance_AParentThatIsGoneIsToldAndNotPolled(t *testing.T) {
	for _, by := range []kind.Identity{kind.ByName, kind.ByTag, kind.ByToken} {
		o := known()
		b := boxOf(o)
		b.meta.Identity = by
		h := &host{t: t, b: b, now: noon}
		if out, err := advanceOn(t, h, o, nil); err != nil || !out.Synced {
			t.Fatalf("%v: %+v %v", by, out, err)
		}
		b.exists, b.refuse, b.looks = false, errRefused, 0
		pause, untold := time.Second, 0
		for h.now.Sub(noon) < 20*time.Minute {
			_, err := advanceOn(t, h, o, nil)
			if len(h.committed) > 0 {
				o.Record.Intent = &h.committed[len(h.committed)-1]
			}
			if w, ok := status.AsWaiting(err); ok { // as the reconciler does
				untold++
				pause, h.now = time.Second, h.now.Add(w.After)
				continue
			}
			h.now = h.now.Add(pause)
			pause = min(2*pause, time.Minute)
		}
		if creates := len(b.writes); creates < 15 || creates > 30 || b.looks > 100 || untold > 15 {
			t.Errorf("%v: %d looks, %d creates, and %d passes that did not tell why, in 20 minutes", by, b.looks, creates, untold)
		}
	}
}

func TestAdvance_ALostRetryIsWaitedForByADeletion(t *testing.T) {
	lost := errors.New("the connection broke")
	b := &box{fail: map[string]error{"box:Create": errRefused}}
	h := &host{t: t, b: b, now: noon}
	o := us()
	_, _ = advanceOn(t, h, o, nil)
	b.exists = false
	b.fail["box:Create"] = lost
	h.now = noon.Add(time.Minute)
	o.Record.Intent = &h.committed[0]
	_, _ = advanceOn(t, h, o, nil)
	o.Record.Intent = &h.committed[1]
	o.Deleting = true
	shows := h.now.Add(settleUnknown)
	for range 10 {
		b.hidden = 0
		if h.now.Before(shows) {
			b.hidden = 2 // a second look at the same moment proves nothing
		}
		out, err := advanceOn(t, h, o, nil)
		if err == nil {
			if !out.Gone || b.exists {
				t.Fatalf("the resource of the lost answer leaks: %+v", out)
			}
			return
		}
		w, ok := status.AsWaiting(err)
		if !ok {
			t.Fatal(err)
		}
		h.now = h.now.Add(w.After)
	}
	t.Fatal("the deletion does not end")
}

// Of two operators that begin with a new object, one has its record refused. It knows nothing of the other's create, which may
// be under way: it neither creates a second resource nor ends the deletion.
func TestAdvance_ARefusedRecordSaysNothingOfAnothersCreate(t *testing.T) {
	for name, deleting := range map[string]bool{"create": false, "delete": true} {
		t.Run(name, func(t *testing.T) {
			b := &box{meta: kind.Meta{Identity: kind.ByTag}}
			second := &host{t: t, b: b, now: noon, fail: errors.New("the object has been modified")}
			o := us()
			if _, err := advanceOn(t, second, o, nil); err == nil || len(b.writes) > 0 {
				t.Fatalf("%v, wrote %v", err, b.writes)
			}
			second.fail, second.now = nil, noon.Add(time.Second)
			o.Record.Intent, o.HasFinalizer,
				o.Deleting = &Intent{Home: "aws/1/r", UID: "u", Attempt: 1, At: noon.Add(100 * time.Millisecond), Generation: o.Generation}, true,
				deleting
			for second.now.Before(noon.Add(20 * time.Second)) {
				out, err := advanceOn(t, second, o, nil)
				if _, waits := status.AsWaiting(err); !waits || out.Gone || len(b.writes) > 0 {
					t.Fatalf("after %s: %v, gone %t, wrote %v", second.now.Sub(noon), err, out.Gone, b.writes)
				}
				second.now = second.now.Add(time.Second)
			}
			b.exists, b.tags = true, o.OwnerTags() // the create of the first operator has its effect
			for range 5 {
				_, _ = advanceOn(t, second, o, nil)
				second.now = second.now.Add(time.Second)
			}
			if slices.Contains(b.writes, "box:Create") || b.exists == deleting {
				t.Errorf("exists %t, wrote %v", b.exists, b.writes)
			}
		})
	}
}

func TestAdvance_TokensChangeOnlyWithKnownOutcomes(t *testing.T) {
	lost := errors.New("the connection broke")
	b := &box{meta: kind.Meta{Identity: kind.ByToken}, fail: map[string]error{"box:Create": lost}, hidden: 1000}
	h := &host{t: t, b: b, now: noon}
	o := us()
	pass := func() { // one pass, a second later
		_, _ = advanceOn(t, h, o, nil)
		o.Record.Intent = &h.committed[len(h.committed)-1]
		b.exists = false
		h.now = h.now.Add(time.Second)
	}
	pass()
	pass()
	if len(b.writes) != 2 || len(b.tokens) != 1 {
		t.Fatalf("a lost create is repeated with the same token: %d creates, %d tokens", len(b.writes), len(b.tokens))
	}
	o.Generation = 2
	pass()
	if len(b.writes) != 2 {
		t.Fatal("an edited create is sent while the lost one may still show")
	}
	h.now = h.now.Add(settleTagged)
	b.fail["box:Create"] = errRefused
	pass()
	if len(b.writes) != 3 || len(b.tokens) != 2 {
		t.Fatalf("an edited create needs another token: %d creates, %d tokens", len(b.writes), len(b.tokens))
	}
	pass()
	if len(b.writes) != 4 || len(b.tokens) != 3 {
		t.Fatalf("a create after a known failure needs another token: %d creates, %d tokens", len(b.writes), len(b.tokens))
	}
}

func TestAdvance_RefusesAnotherIdentity(t *testing.T) {
	o := known()
	o.Record.Intent.Identity = map[string]string{"Name": "old"}
	for _, deleting := range []bool{false, true} {
		o.Deleting = deleting
		b := boxOf(o)
		_, _, err := advanceBox(t, b, o, map[string]string{"name": "new"})
		stalls(t, err, status.ReasonIdentityChanged)
		if len(b.writes)+b.looks > 0 {
			t.Error("AWS was called for another resource")
		}
	}
	o.Deleting, o.Record.Intent.Identity = false, nil
	if _, h, err := advanceBox(t, boxOf(o), o, map[string]string{"name": "x"}); err != nil || h.committed[0].Identity["Name"] != "x" {
		t.Errorf("an older record gains the identity: %+v %v", h.committed, err)
	}
}

func TestAdvance_BusyButUsableStaysReady(t *testing.T) {
	o := known()
	b := boxOf(o)
	b.busy, b.usable = "UPDATING", true
	if out, _, err := advanceBox(t, b, o, map[string]string{"color": "red"}); err != nil || !out.Synced {
		t.Errorf("as declared: %+v %v", out, err)
	}
	_, _, err := advanceBox(t, b, o, map[string]string{"color": "green"})
	if w, ok := status.AsWaiting(err); !ok || w.Reason != status.ReasonBusy || !w.Usable || len(b.writes) > 0 {
		t.Errorf("%v %v", err, b.writes)
	}
	b.usable = false
	_, _, err = advanceBox(t, b, o, map[string]string{"color": "red"})
	if w, ok := status.AsWaiting(err); !ok || w.Usable {
		t.Errorf("%v", err)
	}
}

// AWS may say when it will have carried out a request. The time is bounded: it may end sooner, and one that is past says nothing.
func TestAdvance_LooksAtABusyResourceWhenAWSAsks(t *testing.T) {
	for after, want := range map[time.Duration]time.Duration{
		0: 0, -time.Minute: 0, time.Millisecond: time.Second, 40 * time.Second: 40 * time.Second, 5 * time.Hour: maxBusyPause,
	} {
		for _, management := range []v1alpha1.ManagementPolicy{v1alpha1.ManageFull, v1alpha1.ManageObserve} {
			o := known()
			o.Policy.Management = management
			b := boxOf(o)
			b.busy, b.lookAt = "UPDATING", noon.Add(after)
			_, _, err := advanceBox(t, b, o, map[string]string{"color": "green"})
			if w, ok := status.AsWaiting(err); !ok || w.Reason != status.ReasonBusy || w.After != want {
				t.Errorf("%s, %s: %+v, want a pause of %s", management, after, err, want)
			}
		}
	}
	o := known()
	b := boxOf(o)
	b.busy = "UPDATING"
	_, _, err := advanceBox(t, b, o, map[string]string{"color": "green"})
	if w, ok := status.AsWaiting(err); !ok || w.After != 0 {
		t.Errorf("without a time: %+v", err)
	}
}

func TestAdvance_BusyButWritableIsEditedAndDeleted(t *testing.T) {
	o := known()
	b := boxOf(o)
	b.busy, b.writable = "PENDING_VALIDATION", true
	_, _, err := advanceBox(t, b, o, map[string]string{"color": "green"})
	if w, ok := status.AsWaiting(err); !ok || w.Reason != status.ReasonBusy || w.Usable || len(b.writes) != 1 || b.color != "green" {
		t.Errorf("%v %v", err, b.writes)
	}
	o.Deleting = true
	if out, _, err := advanceBox(t, b, o, map[string]string{"color": "green"}); err != nil || !out.Gone || b.exists {
		t.Errorf("%+v %v %v", out, err, b.writes)
	}
}

func TestAdvance_ADeleteIsNotRepeatedWhileAWSDeletes(t *testing.T) {
	o := known()
	o.Deleting = true
	b := boxOf(o)
	b.keeps = true
	h := &host{t: t, b: b, now: noon}
	for range 25 {
		_, err := advanceOn(t, h, o, nil)
		waits(t, err, status.ReasonDeleting)
		h.now = h.now.Add(time.Second)
	}
	if len(b.writes) != 1 {
		t.Errorf("%d deletes", len(b.writes))
	}
	b.keeps = false
	h.now = h.now.Add(time.Minute)
	if out, err := advanceOn(t, h, o, nil); err != nil || !out.Gone {
		t.Errorf("%+v %v", out, err)
	}
}

// A version is reached by several writes of the same value. AWS answers each of them with the next version.
func TestAdvance_WritesThatHaveAnEffectAreNoFailure(t *testing.T) {
	var m Memory
	change := func(have string) kind.Change {
		return kind.Change{Path: "Version", Want: "1.36", Have: have, Sum: "s"}
	}
	for _, have := range []string{"1.31", "1.32", "1.33", "1.34", "1.35"} {
		if w := m.lastWriteOf(change(have), noon); w.times != 1 {
			t.Errorf("from %s: %d writes", have, w.times)
		}
	}
	if w := m.lastWriteOf(change("1.35"), noon); w.times != 2 {
		t.Errorf("a write without effect counts as %d", w.times)
	}
	if w := m.lastWriteOf(change("1.34"), noon); w.times != 3 {
		t.Errorf("after a value that AWS showed before, %d writes", w.times)
	}
	for i := range 2 * maxEffects {
		m.lastWriteOf(change(fmt.Sprintf("of another %d", i)), noon)
	}
	if w := m.lastWriteOf(change("of another"), noon); w.times < maxUnsettledWrites {
		t.Errorf("writes that others undo each time count as %d", w.times)
	}
}
