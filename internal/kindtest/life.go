// SPDX-License-Identifier: Apache-2.0

package kindtest

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/emulator"
	"github.com/nexus-operator/nexus-operator/internal/engine"
	"github.com/nexus-operator/nexus-operator/internal/kind"
	"github.com/nexus-operator/nexus-operator/internal/status"
	"github.com/nexus-operator/nexus-operator/internal/testkit/extent"
)

// Life is a sample. Every fault strikes its create and delete at every write.
type Life struct {
	// Sample is created and deleted; its deletionPolicy must not keep the resource.
	Sample v1alpha1.Resource
	// Facts changes the subject: targets, secrets, guards.
	Facts func(s *Subject)
	// Adopter changes the subject that adopts the resource of an earlier one; nil where an adoption needs no more than the facts.
	Adopter func(s *Subject)
	// Parents makes the resources that must exist in AWS before; it is not counted.
	Parents func(t *testing.T, r *Rig)
	// Foreign makes a resource of the sample's name that belongs to another owner; nil where a name cannot be taken.
	Foreign func(t *testing.T, r *Rig)
	// Edited is a valid edit of the sample, of several settings.
	Edited v1alpha1.Resource
	// Exists reports whether the resource is there, asked of AWS past the engine.
	Exists func(t *testing.T, r *Rig) bool
	// Invalid are edits of the sample that the operator refuses. None of them may stop a deletion.
	Invalid []v1alpha1.Resource
}

func (l Life) subject(r *Rig, e engine.Entry) *Subject {
	s := NewSubject(r, e, l.Sample)
	if l.Facts != nil {
		l.Facts(s)
	}
	return s
}

// Faults strikes each write of a clean life once: its answer lost, the operator killed right after it,
// throttled, denied. Each time the end is the same, with one resource, and none left behind.
func Faults(t *testing.T, e engine.Entry, l Life) {
	t.Helper()
	partitions(t, e, l)
	if os.Getenv(beyondVariable) != "" {
		return
	}
	if extent.IsFull(t) {
		stillBeyond(t, e)
	}
	l = l.withParents(t)
	all := calls(t, e, l)
	clean := all.Writes()
	if len(clean) < 2 {
		t.Fatalf("a clean life has %d writes, want a create and a delete:\n%s", len(clean), clean)
	}
	for i, c := range clean {
		m := addressOf(e, clean[:i], c)
		// In the sample, each write meets one fault, and each fault another write.
		for _, f := range extent.Sample(t, slices.Concat(faults[i%len(faults):], faults[:i%len(faults)]), 1) {
			t.Run(fmt.Sprintf("%s/%s.%s(%s)#%d", f.name, m.Service, m.Op, m.Resource, m.Nth), func(t *testing.T) { injectFault(t, e, l, m, f) })
		}
	}
	for _, m := range extent.Sample(t, eachRead(all), 1) {
		t.Run(fmt.Sprintf("denied/%s.%s", m.Service, m.Op), func(t *testing.T) { injectFault(t, e, l, m, denied) })
	}
	if len(l.Invalid) == 0 {
		t.Error("Life.Invalid is empty: the contract needs a spec that the operator refuses")
	}
	for i, invalid := range l.Invalid {
		t.Run(fmt.Sprintf("an invalid spec does not stop a deletion/%d", i), func(t *testing.T) { deleteInvalid(t, e, l, invalid) })
	}
	if l.Foreign != nil {
		t.Run("foreign owner", func(t *testing.T) { foreign(t, e, l) })
	}
	t.Run("a resource of nobody is adopted", func(t *testing.T) { adopted(t, NewRig(t), e, l) })
	if e.Meta().CreatesFirst {
		createsFirst(t, e, l, clean[0])
	}
}

// addressOf finds a write of the clean life in another life, by the resource that it names. Identifiers
// that AWS assigns differ from life to life: such a write is found by its operation alone.
func addressOf(e engine.Entry, earlier emulator.Calls, c emulator.Call) emulator.Match {
	m := emulator.Match{Service: c.Service, Op: c.Op, Resource: c.Resource, Nth: c.N, Times: 1}
	if id := e.Meta().Identity; id == kind.ByTag || id == kind.ByToken {
		m.Resource, m.Nth = "", earlier.Match(c.Service, c.Op, "").Count()+1
	}
	return m
}

// withParents makes the parents a part of the facts.
func (l Life) withParents(t *testing.T) Life {
	parents, facts := l.Parents, l.Facts
	if parents == nil {
		return l
	}
	l.Facts = func(s *Subject) {
		parents(t, s.Rig)
		if facts != nil {
			facts(s)
		}
	}
	return l
}

type fault struct {
	name   string
	kills  bool
	action func(hook func()) emulator.Action
	// stalls is the reason shown while the fault lasts; empty where it passes unseen.
	stalls string
	// of is the action that the message names while the fault lasts.
	of string
}

var faults = []fault{
	{name: "answer lost", action: func(func()) emulator.Action { return emulator.LoseAnswer() }},
	{name: "killed after", kills: true, action: emulator.ForwardThen},
	{name: "killed before", kills: true, action: emulator.BeforeThen},
	{name: "throttled", action: func(func()) emulator.Action { return emulator.Throttle() }},
	denied,
}

var denied = fault{name: "denied", stalls: status.ReasonAccessDenied, action: func(func()) emulator.Action {
	return emulator.Fail(403, "AccessDeniedException", "User: arn:aws:iam::123456789012:user/nexus is not authorized to perform this")
}}

// eachRead finds the first call of each read.
func eachRead(calls emulator.Calls) []emulator.Match {
	var reads []emulator.Match
	for _, c := range calls {
		m := emulator.Match{Service: c.Service, Op: c.Op, Nth: 1, Times: 1}
		if !c.Write && !slices.Contains(reads, m) {
			reads = append(reads, m)
		}
	}
	return reads
}

func injectFault(t *testing.T, e engine.Entry, l Life, m emulator.Match, f fault) {
	r := NewRig(t)
	s := l.subject(r, e)
	var killed atomic.Bool // set by the proxy, read by the pass
	rule := r.AWS.Fault(m, f.action(func() { killed.Store(true) }))
	kill := func() bool { return killed.Swap(false) && f.kills }
	f.of = declaredAction(e, m)
	end(t, s, f, false, kill)
	if !l.Exists(t, r) {
		t.Fatalf("the resource is not there\n%s", r.AWS.Calls())
	}
	s.Deleting = true
	end(t, s, f, true, kill)
	if l.Exists(t, r) {
		t.Fatalf("the resource was left behind\n%s", r.AWS.Calls())
	}
	if rule.Hits() != 1 {
		t.Fatalf("the fault struck %d times", rule.Hits())
	}
	if n := len(r.AWS.Calls()); n > 400 {
		t.Fatalf("%d calls: no bounded work", n)
	}
}

// declaredAction is the action of the kind that has the name of the call, if any has: some calls need an action of another name.
func declaredAction(e engine.Entry, m emulator.Match) string {
	for _, action := range slices.Concat(e.Meta().Writes, e.Meta().Reads) {
		if service, op, _ := strings.Cut(action, ":"); op == m.Op && strings.HasPrefix(m.Service, service) {
			return action
		}
	}
	return ""
}

// end settles one half of a life; a fault that stalls is shown with its reason, and over when tried again.
func end(t *testing.T, s *Subject, f fault, deleting bool, kill func() bool) {
	t.Helper()
	var out engine.Outcome
	var err error
	for range 3 {
		out, err = s.Settle(t.Context(), kill)
		if err == nil {
			break
		}
		st, ok := status.AsStalled(err)
		if errors.Is(err, errKilled) {
			continue
		}
		if !ok || f.stalls == "" || st.Reason != f.stalls || !strings.Contains(st.Message, f.of) {
			t.Fatalf("%v, want %s and %q\n%s", awsErr(err), f.stalls, f.of, s.Rig.AWS.Calls())
		}
	}
	if err != nil || out.Synced == deleting || out.Gone != deleting {
		t.Fatalf("did not come to its end: %v %+v\n%s", awsErr(err), out, s.Rig.AWS.Calls())
	}
}

// deleteInvalid deletes an object after an edit of its spec to one that the operator refuses.
func deleteInvalid(t *testing.T, e engine.Entry, l Life, invalid v1alpha1.Resource) {
	r := NewRig(t)
	s := l.subject(r, e)
	if out, err := s.Settle(t.Context(), nil); err != nil || !out.Synced {
		t.Fatalf("create: %v", err)
	}
	s.Edit(invalid)
	if _, err := s.Settle(t.Context(), nil); err == nil {
		t.Fatal("the spec is not refused: the row proves nothing")
	}
	s.Deleting = true
	if out, err := s.Settle(t.Context(), nil); err != nil || !out.Gone {
		t.Fatalf("the deletion does not end: %v", err)
	}
	if l.Exists(t, r) {
		t.Fatal("the resource was left behind")
	}
}

func foreign(t *testing.T, e engine.Entry, l Life) {
	r := NewRig(t)
	s := l.subject(r, e)
	l.Foreign(t, r)
	mark := r.AWS.Mark()
	_, err := s.Settle(t.Context(), nil)
	st, ok := status.AsStalled(err)
	if !ok || st.Reason != status.ReasonConflict {
		t.Fatalf("got %v, want Conflict", awsErr(err))
	}
	s.Deleting = true
	if out, err := s.Settle(t.Context(), nil); err != nil || !out.Gone {
		t.Fatalf("an object that owns nothing cannot be deleted: %v", awsErr(err))
	}
	untouched(t, r, mark)
	if creates := len(r.AWS.Since(mark).Writes()); creates > 1 || creates > 0 && !e.Meta().CreatesFirst {
		t.Fatalf("%d creates were refused, where the first look shows the resource", creates)
	}
	if !l.Exists(t, r) {
		t.Fatal("the foreign resource is gone")
	}
}

// untouched asserts that AWS has accepted no write since the mark.
func untouched(t *testing.T, r *Rig, mark emulator.Mark) {
	t.Helper()
	for _, w := range r.AWS.Since(mark).Writes() {
		if w.Status < 300 {
			t.Fatalf("a foreign resource was written to: %s", w)
		}
	}
}

// createsFirst checks a kind that creates before any look: a create is its first call, and an operator that does not hear the refusal of
// that create neither claims nor changes a foreign resource.
func createsFirst(t *testing.T, e engine.Entry, l Life, create emulator.Call) {
	t.Run("the first call creates", func(t *testing.T) {
		r := NewRig(t)
		s := l.subject(r, e)
		mark := r.AWS.Mark()
		if out, err := s.Settle(t.Context(), nil); err != nil || !out.Synced {
			t.Fatal(awsErr(err))
		}
		if first := r.AWS.Since(mark)[0]; first.Op != create.Op {
			t.Fatalf("the first call is %s, want %s", first, create.Op)
		}
	})
	if l.Foreign == nil {
		return
	}
	for _, f := range faults[:2] { // the answer is lost, or the operator with it
		t.Run("foreign owner, "+f.name, func(t *testing.T) {
			r := NewRig(t)
			s := l.subject(r, e)
			l.Foreign(t, r)
			mark := r.AWS.Mark()
			var killed atomic.Bool
			rule := r.AWS.Fault(emulator.Match{Service: create.Service, Op: create.Op, Times: 1}, f.action(func() { killed.Store(true) }))
			_, err := s.Settle(t.Context(), func() bool { return killed.Swap(false) })
			if st, ok := status.AsStalled(err); !ok || st.Reason != status.ReasonConflict && st.Reason != status.ReasonOwnershipUnknown {
				t.Fatalf("got %v, want Conflict or OwnershipUnknown", awsErr(err))
			}
			untouched(t, r, mark)
			if rule.Hits() != 1 || !l.Exists(t, r) {
				t.Fatalf("the fault struck %d times", rule.Hits())
			}
		})
	}
}
