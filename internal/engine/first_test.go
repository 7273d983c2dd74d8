// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/api/wellknown"
	"github.com/nexus-operator/nexus-operator/internal/kind"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// fresh is an object that nothing was done for yet.
func fresh() Owner {
	o := us()
	o.HasFinalizer = false
	return o
}

// firstBox is a box with a first create that precedes any look.
func firstBox() *box { return &box{meta: kind.Meta{CreatesFirst: true}} }

// strangersBox exists already, with the tags.
func strangersBox(tags map[string]string) *box {
	b := firstBox()
	b.exists, b.tags, b.created = true, tags, noon.Add(-time.Hour)
	return b
}

func last(h *host) *Intent {
	i := h.committed[len(h.committed)-1]
	return &i
}

func TestFirst_TheCreatePrecedesTheLook(t *testing.T) {
	b := firstBox()
	out, h, err := advanceBox(t, b, fresh(), nil)
	if err != nil || !out.Synced || b.looks != 1 || !slices.Equal(b.writes, []string{"box:Create"}) {
		t.Fatalf("%+v %v: %d looks, %v", out, err, b.looks, b.writes)
	}
	if len(h.committed) != 1 || h.committed[0].At.IsZero() || h.committed[0].Refused {
		t.Errorf("committed %+v, want the attempt before its create", h.committed)
	}
}

func TestFirst_NothingIsSentWithoutARecord(t *testing.T) {
	b, conflict := firstBox(), errors.New("conflict")
	_, err := advanceOn(t, &host{t: t, b: b, now: noon, fail: conflict}, fresh(), nil)
	if !errors.Is(err, conflict) || len(b.writes) > 0 {
		t.Errorf("%v %v", err, b.writes)
	}
}

func TestFirst_ALookPrecedesWhereAResourceMayExist(t *testing.T) {
	for name, edit := range map[string]func(*Owner, *box){
		"an attempt is recorded":    func(o *Owner, _ *box) { o.Record.Intent = recorded() },
		"the status has it":         func(o *Owner, _ *box) { o.Record.Known = true },
		"the record was removed":    func(o *Owner, _ *box) { o.HasFinalizer = true },
		"it is to be adopted":       func(o *Owner, _ *box) { o.Policy.Adoption = v1alpha1.AdoptAlways },
		"it is only observed":       func(o *Owner, _ *box) { o.Policy.Management = v1alpha1.ManageObserve },
		"the object is deleted":     func(o *Owner, _ *box) { o.Deleting = true },
		"a create meets a stranger": func(_ *Owner, b *box) { b.meta.CreatesFirst, b.ensures = false, true },
	} {
		t.Run(name, func(t *testing.T) {
			o, b := fresh(), strangersBox(map[string]string{wellknown.TagOwner: "somebody"})
			edit(&o, b)
			h := &host{t: t, b: b, now: noon}
			_, _ = advanceOn(t, h, o, nil)
			if b.looks == 0 || len(b.writes) > 0 {
				t.Errorf("%d looks, wrote %v", b.looks, b.writes)
			}
		})
	}
	imports := fresh()
	imports.Import = "box-1"
	for o, want := range map[*Owner]bool{{}: true, &imports: false} {
		if got := (&advance{o: *o, mem: &Memory{}}).isFirstCreate(); got != want {
			t.Errorf("the create may come first: %v, want %v", got, want)
		}
	}
}

func TestFirst_AStrangersResourceIsLeftAlone(t *testing.T) {
	for name, tags := range map[string]map[string]string{
		"without owner tags": {"team": "theirs"}, "with owner tags": {wellknown.TagOwner: "Box/ns/other"},
	} {
		t.Run(name, func(t *testing.T) {
			b := strangersBox(tags)
			h := &host{t: t, b: b, now: noon}
			o := fresh()
			_, err := advanceOn(t, h, o, map[string]string{"color": "red"})
			stalls(t, err, status.ReasonConflict)
			o.Record.Intent, o.HasFinalizer = last(h), true
			if !o.Record.Intent.Refused {
				t.Fatalf("the refusal is not on record: %+v", h.committed)
			}
			for range 3 { // the operator restarts, and later tries again
				h.mem, h.now = Memory{}, h.now.Add(time.Minute)
				_, err = advanceOn(t, h, o, map[string]string{"color": "red"})
				stalls(t, err, status.ReasonConflict)
			}
			if !slices.Equal(b.writes, []string{"box:Create"}) {
				t.Fatalf("wrote %v, want one refused create", b.writes)
			}
			o.Deleting = true
			if out, err := advanceOn(t, h, o, nil); err != nil || !out.Gone || !b.exists {
				t.Fatalf("an object that made nothing cannot be deleted: %+v %v", out, err)
			}
		})
	}
}

func TestFirst_AnEarlierObjectsResourceIsTakenOver(t *testing.T) {
	o := fresh()
	tags := o.OwnerTags()
	tags[wellknown.TagOwnerUID] = "earlier"
	b := strangersBox(tags)
	out, h, err := advanceBox(t, b, o, nil)
	if err != nil || !out.Synced || b.tags[wellknown.TagOwnerUID] != "u" || !slices.Equal(b.writes, []string{"box:Create", "box:Tag"}) {
		t.Fatalf("%+v %v %v", out, err, b.writes)
	}
	if last(h).Refused {
		t.Error("the record says that the object has nothing: its deletion would leave the resource behind")
	}
}

// The resource is the object's own: the record was lost, and its create is refused.
func TestFirst_ItsOwnResourceIsFoundAgain(t *testing.T) {
	b := strangersBox(fresh().OwnerTags())
	out, h, err := advanceBox(t, b, fresh(), nil)
	if err != nil || !out.Synced || last(h).Refused {
		t.Fatalf("%+v %v %+v", out, err, h.committed)
	}
}

func TestFirst_ALostAnswerMakesOneResource(t *testing.T) {
	b := firstBox()
	b.fail = map[string]error{"box:Create": errors.New("connection reset")}
	h := &host{t: t, b: b, now: noon}
	o := fresh()
	if _, err := advanceOn(t, h, o, nil); err == nil {
		t.Fatal("the lost answer is not reported")
	}
	o.Record.Intent, o.HasFinalizer, h.mem = last(h), true, Memory{}
	out, err := advanceOn(t, h, o, nil)
	if err != nil || !out.Synced || !slices.Equal(b.writes, []string{"box:Create"}) {
		t.Fatalf("%+v %v %v", out, err, b.writes)
	}
}

// Killed between the record and the answer: the record claims a resource that may be another owner's.
func TestFirst_AnUnheardRefusalProvesNothing(t *testing.T) {
	b := strangersBox(map[string]string{"team": "theirs"})
	b.fail = map[string]error{"observe": errors.New("killed")}
	h := &host{t: t, b: b, now: noon}
	o := fresh()
	_, _ = advanceOn(t, h, o, nil)
	unheard := h.committed[0]
	o.Record.Intent, o.HasFinalizer, h.mem, b.fail = &unheard, true, Memory{}, nil
	_, err := advanceOn(t, h, o, map[string]string{"color": "red"})
	waits(t, err, status.ReasonOwnershipUnknown)
	h.now = h.now.Add(settleDefault)
	_, err = advanceOn(t, h, o, map[string]string{"color": "red"})
	stalls(t, err, status.ReasonOwnershipUnknown)
	if !slices.Equal(b.writes, []string{"box:Create"}) || b.tags[wellknown.TagOwnerUID] != "" {
		t.Fatalf("wrote %v, tags %v", b.writes, b.tags)
	}
}

func TestFirst_ADeniedCreateIsNotRepeatedUnseen(t *testing.T) {
	b := firstBox()
	b.refuse = errRefused
	h := &host{t: t, b: b, now: noon}
	o := fresh()
	if _, err := advanceOn(t, h, o, nil); err == nil || last(h).Refused {
		t.Fatalf("%v %+v", err, h.committed)
	}
	o.Record.Intent, o.HasFinalizer, b.refuse = last(h), true, nil
	out, err := advanceOn(t, h, o, nil)
	if err != nil || !out.Synced || b.looks != 2 {
		t.Fatalf("%+v %v, %d looks", out, err, b.looks)
	}
}

// AWS answers the create of an existing secret with success where the request repeats its first version.
func TestFirst_ASuccessThatProvesNothingClaimsNothing(t *testing.T) {
	b := strangersBox(map[string]string{"team": "theirs"})
	b.ensures = true
	h := &host{t: t, b: b, now: noon}
	o := fresh()
	_, err := advanceOn(t, h, o, map[string]string{"color": "red"})
	waits(t, err, status.ReasonOwnershipUnknown)
	o.Record.Intent, o.HasFinalizer, h.now = last(h), true, h.now.Add(settleDefault)
	_, err = advanceOn(t, h, o, map[string]string{"color": "red"})
	stalls(t, err, status.ReasonOwnershipUnknown)
	if !slices.Equal(b.writes, []string{"box:Create"}) {
		t.Fatalf("wrote %v", b.writes)
	}
}

// A refused create binds the object to no place and to no name.
func TestFirst_ARefusedObjectMayMove(t *testing.T) {
	o, b := fresh(), firstBox()
	o.Record.Intent, o.HasFinalizer = &Intent{UID: "u", Attempt: 1, At: noon, Refused: true, Home: "aws/1/elsewhere",
		Identity: map[string]string{"Name": "taken"}}, true
	out, h, err := advanceBox(t, b, o, map[string]string{"name": "free"})
	if err != nil || !out.Synced || last(h).Refused {
		t.Fatalf("%+v %v %+v", out, err, h.committed)
	}
}

func TestIntent_ARefusedAttemptHasCreatedNothing(t *testing.T) {
	i := &Intent{At: noon}
	if !i.MayHaveCreated() {
		t.Error("an attempt may have created something")
	}
	if i.Refused = true; i.MayHaveCreated() {
		t.Error("a refused attempt has created nothing")
	}
}
