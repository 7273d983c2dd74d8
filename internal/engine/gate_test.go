// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/api/wellknown"
	"github.com/nexus-operator/nexus-operator/internal/kind"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// gated returns an object that needs approval for its plans.
func gated() Owner {
	o := us()
	o.Gate.Closed = true
	return o
}

func red() map[string]string { return map[string]string{"color": "red"} }

// pending fails the test unless a plan waits, with nothing written; it returns the hash.
func pending(t *testing.T, b *box, o Owner, labels map[string]string) string {
	t.Helper()
	before := len(b.writes)
	out, h, err := advanceBox(t, b, o, labels)
	waits(t, err, status.ReasonPlanPending)
	if len(b.writes) != before || len(h.committed) > 0 || len(h.approved) > 0 || out.Passage.Pending == "" {
		t.Fatalf("wrote %v, committed %v, approved %v, pending %q", b.writes[before:], h.committed, h.approved, out.Passage.Pending)
	}
	return out.Passage.Pending
}

func TestGate_AnEditWaitsAndWritesNothing(t *testing.T) {
	owned := func(o Owner) *box { return &box{exists: true, tags: o.OwnerTags(), color: "blue"} }
	create, deletion := gated(), gated()
	deletion.Deleting, deletion.Record.Intent = true, recorded()
	edit := gated()
	edit.Record.Intent, edit.Generation, edit.Record.SyncedGeneration, edit.Record.Known = recorded(), 2, 1, true
	for name, tc := range map[string]struct {
		b *box
		o Owner
	}{"create": {&box{}, create}, "update": {owned(edit), edit}, "delete": {owned(deletion), deletion}} {
		t.Run(name, func(t *testing.T) {
			first := pending(t, tc.b, tc.o, red())
			if again := pending(t, tc.b, tc.o, red()); again != first {
				t.Errorf("the same plan is %s, and later %s", first, again)
			}
			tc.o.Gate.Asked = "another"
			pending(t, tc.b, tc.o, red())
			tc.o.Gate.Asked = first
			out, h, err := advanceBox(t, tc.b, tc.o, red())
			if err != nil || !slices.Equal(h.approved, []string{first}) || out.Passage.Pending != "" || !out.Synced && !out.Gone {
				t.Errorf("approved %v: %+v %v", h.approved, out, err)
			}
		})
	}
}

// A create has a second call, the color: a crash or a failure between them must not make the rest wait again.
func TestGate_TheRestOfAnApprovedPlanRuns(t *testing.T) {
	o, b := gated(), &box{fail: map[string]error{}}
	o.Gate.Asked = pending(t, b, o, red())
	b.fail["box:Paint"] = errors.New("the operator is killed")
	_, h, err := advanceBox(t, b, o, red())
	if err == nil || !slices.Equal(b.writes, []string{"box:Create", "box:Paint"}) || len(h.approved) != 1 {
		t.Fatalf("%v %v %v", b.writes, h.approved, err)
	}
	b.color, b.fail = "", nil // the call had no effect
	o.Record.Intent, o.Gate.Asked, o.Gate.Approved = &h.committed[0], "", true
	if out, h, err := advanceBox(t, b, o, red()); err != nil || !out.Synced || b.color != "red" || len(h.approved) > 0 {
		t.Errorf("the rest of the plan: %+v %v", out, err)
	}
}

func TestGate_DriftIsCorrectedWithoutAnApproval(t *testing.T) {
	o := gated()
	o.Record.Intent, o.Record.SyncedGeneration, o.Record.Known = recorded(), 1, true
	b := &box{exists: true, tags: o.OwnerTags(), color: "blue"}
	if out, h, err := advanceBox(t, b, o, red()); err != nil || !out.Synced || b.color != "red" || len(h.approved) > 0 {
		t.Errorf("drift: %+v %v", out, err)
	}
	b = &box{} // a person deleted it
	h := &host{t: t, b: b, now: noon}
	if _, err := advanceOn(t, h, o, red()); err == nil {
		t.Fatal("one look proves no absence")
	}
	h.now = noon.Add(time.Minute)
	if out, err := advanceOn(t, h, o, red()); err != nil || !out.Synced || !b.exists {
		t.Errorf("a resource that was lost: %+v %v", out, err)
	}
	o.Provided, o.Recent.Provided = "added", "" // the provider was edited
	pending(t, &box{exists: true, tags: o.OwnerTags(), color: "blue"}, o, red())
}

func TestGate_WhoWritesNothingWaitsForNobody(t *testing.T) {
	o := gated()
	o.Policy.Management = v1alpha1.ManageObserve
	if out, _, err := advanceBox(t, &box{exists: true, color: "blue"}, o, red()); err != nil || len(out.Drift) == 0 ||
		out.Passage.Pending != "" {
		t.Errorf("Observe: %+v %v", out, err)
	}
	o = gated()
	o.Record.Intent, o.Generation, o.Record.SyncedGeneration = recorded(), 2, 1
	if out, _, err := advanceBox(t, &box{exists: true, tags: o.OwnerTags(), color: "red"}, o, red()); err != nil || !out.Synced {
		t.Errorf("an edit that changes nothing in AWS: %+v %v", out, err)
	}
	_, _, err := advanceBox(t, &box{exists: true, tags: map[string]string{wellknown.TagOwner: "another"}}, gated(), red())
	stalls(t, err, status.ReasonConflict)
}

func TestGate_AnApprovalThatProvesNothingRunsNothing(t *testing.T) {
	o, b := gated(), &box{}
	o.Gate.Asked = pending(t, b, o, red())
	h := &host{t: t, b: b, now: noon, unproven: &status.Waiting{Reason: status.ReasonPlanPending, For: "approvals to be protected"}}
	out, err := advanceOn(t, h, o, red())
	waits(t, err, status.ReasonPlanPending)
	if len(b.writes) > 0 || out.Passage.Pending != o.Gate.Asked {
		t.Errorf("wrote %v; %+v", b.writes, out.Passage)
	}
}

func TestHash_IsThatOfTheContent(t *testing.T) {
	base := func() (Plan, Owner) {
		o := gated()
		o.UID = "6ba7b810-9dad"
		return Plan{Cause: Edited, Findings: Findings{Exists: true},
			Diff:  kind.Diff{{Path: "Color", Want: "red", Have: "blue"}, {Path: "Tags[nexus.ai/owner-uid]", Want: "u"}},
			Steps: []kind.Step{{Action: "box:Paint", Fixes: []string{"Color"}}}}, o
	}
	p, o := base()
	want := p.Hash(o, "aws/1/r")
	if len(want) != hashLength {
		t.Errorf("%q", want)
	}
	same := func(name string, edit func(*Plan, *Owner)) {
		p, o := base()
		edit(&p, &o)
		if p.Hash(o, "aws/1/r") != want {
			t.Errorf("%s gives another hash", name)
		}
	}
	same("another UID", func(p *Plan, o *Owner) { o.UID, p.Diff[1].Want = "1b4e28ba-2fa1", "1b4e28ba-2fa1" })
	same("another memory", func(p *Plan, o *Owner) { o.Recent.Wrote, p.Created, p.Cause = true, noon, Drifted })
	differs := func(name string, edit func(*Plan, *Owner)) {
		p, o := base()
		edit(&p, &o)
		if p.Hash(o, "aws/1/r") == want {
			t.Errorf("%s gives the same hash", name)
		}
	}
	differs("an edit", func(_ *Plan, o *Owner) { o.Generation++ })
	differs("another wanted value", func(p *Plan, _ *Owner) { p.Diff[0].Want = "green" })
	differs("another found value", func(p *Plan, _ *Owner) { p.Diff[0].Have = "green" })
	differs("another call", func(p *Plan, _ *Owner) { p.Steps[0].Action = "box:Delete" })
	differs("a later call", func(p *Plan, _ *Owner) { p.Later = p.Steps })
	differs("a value of a create", func(p *Plan, _ *Owner) { p.sets = p.Diff })
	differs("a deletion", func(_ *Plan, o *Owner) { o.Deleting = true })
	differs("the loss of data", func(_ *Plan, o *Owner) { o.Policy.MayDeleteData = true })
	differs("another object", func(_ *Plan, o *Owner) { o.Name = "m" })
	if p.Hash(o, "aws/2/r") == want {
		t.Error("another account gives the same hash")
	}
}

// The status proves an approval for exactly the approved scope.
func TestGateOf_ReadsTheRecordOfTheStatus(t *testing.T) {
	obj := &v1alpha1.S3Bucket{ObjectMeta: metav1.ObjectMeta{Generation: 2}}
	o := us()
	o.Generation, o.Provided = 2, "abc"
	RecordApproval(obj, o, "hash", noon)
	if !gateOf(obj, o, true).Approved {
		t.Fatalf("%+v", obj.Status.Conditions)
	}
	for name, edit := range map[string]func(*Owner){
		"edit": func(o *Owner) { o.Generation = 3 }, "edit of the provider": func(o *Owner) { o.Provided = "abcd" },
		"no provider": func(o *Owner) { o.Provided = "" },
		"deletion":    func(o *Owner) { o.Deleting = true },
	} {
		other := o
		edit(&other)
		if gateOf(obj, other, true).Approved {
			t.Errorf("%s: still approved", name)
		}
	}
	reportPassage(obj, Outcome{Passage: Passage{Judged: true, Closed: true, Pending: "next"}}, noon)
	if gateOf(obj, o, true).Approved || status.PendingPlan(obj.Status.Conditions) != "next" {
		t.Errorf("%+v", obj.Status.Conditions)
	}
	reportPassage(obj, Outcome{}, noon) // a pass that could not look
	if status.PendingPlan(obj.Status.Conditions) != "next" {
		t.Error("a pass that did not look removed the condition")
	}
	reportPassage(obj, Outcome{Passage: Passage{Judged: true}}, noon)
	if len(obj.Status.Conditions) > 0 {
		t.Error("the gate is open, and the condition is there")
	}
}

// The approval of a capability stands for those of its objects, except for additions of another person to the provider.
func TestGate_AnApprovalOfTheCapabilityCoversTheObject(t *testing.T) {
	o := gated()
	o.Gate.Covered = true
	b := &box{}
	if out, _, err := advanceBox(t, b, o, red()); err != nil || out.Passage.Pending != "" || len(b.writes) == 0 {
		t.Fatalf("%v %+v, wrote %v", err, out.Passage, b.writes)
	}
	edit := gated()
	edit.Gate.Covered = true
	edit.Record.Intent, edit.Generation, edit.Record.SyncedGeneration, edit.Record.Known = recorded(), 2, 1, true
	edit.Recent.Provided, edit.Provided = "before", "after"
	pending(t, &box{exists: true, tags: edit.OwnerTags(), color: "blue"}, edit, red())
}

// AWS gets only the state that was approved last, and corrections to that state, in any order of edits, approvals and withdrawals.
func TestGate_NothingUnapprovedReachesAWS(t *testing.T) {
	colors := []string{"red", "green", "blue"}
	rapid.Check(t, func(rt *rapid.T) {
		b, o := &box{}, gated()
		want, approved, pendingHash := "red", "", ""
		clock := noon
		mem := &host{t: t, b: b}
		pass := func() {
			clock = clock.Add(time.Hour)
			mem.now = clock
			out, err := advanceOn(t, mem, o, map[string]string{"color": want})
			if len(mem.approved) > 0 {
				approved, mem.approved, o.Gate.Approved = want, nil, true
			}
			if n := len(mem.committed); n > 0 {
				o.Record.Intent = &mem.committed[n-1]
			}
			if pendingHash = out.Passage.Pending; out.Synced && err == nil {
				o.Record.SyncedGeneration, o.Record.Known = o.Generation, true
				if want != approved && b.color == want {
					approved = want // AWS had it already: there was nothing to approve
				}
			}
		}
		for range 100 {
			switch rapid.SampledFrom([]string{"edit", "approve", "old hash", "drift", "pass", "pass"}).Draw(rt, "act") {
			case "edit":
				if next := rapid.SampledFrom(colors).Draw(rt, "color"); next != want {
					want, o.Generation, o.Gate.Approved = next, o.Generation+1, false
				}
			case "approve":
				o.Gate.Asked = pendingHash
			case "old hash":
				o.Gate.Asked = fmt.Sprintf("%032d", o.Generation)
			case "drift":
				if b.exists {
					b.color = rapid.SampledFrom(colors).Draw(rt, "drift")
				}
				continue
			}
			writes := len(b.writes)
			pass()
			if wrote := b.writes[writes:]; len(wrote) > 0 && b.color != approved {
				rt.Fatalf("wrote %v: the box is %s, and %q was approved", wrote, b.color, approved)
			}
		}
	})
}
