package kindtest

import (
	"errors"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/engine"
	"github.com/nexus-operator/nexus-operator/internal/status"
	"github.com/nexus-operator/nexus-operator/internal/testkit/awsproxy"
)

// Life is a sample whose create and delete are struck by every fault at every write.
type Life struct {
	// Sample is created and deleted; its deletionPolicy must not keep the resource.
	Sample v1alpha1.Resource
	// Facts changes the subject: targets, secrets, guards.
	Facts func(s *Subject)
	// Parents makes what must exist before in AWS; it is not counted.
	Parents func(t *testing.T, r *Rig)
	// Foreign makes a resource of the sample's name that is somebody else's; nil where a name cannot be taken.
	Foreign func(t *testing.T, r *Rig)
	// Exists says whether the resource is there, asked of AWS past the engine.
	Exists func(t *testing.T, r *Rig) bool
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
	if l.Parents != nil {
		parents := l.Parents
		inner := l.Facts
		l.Facts = func(s *Subject) {
			parents(t, s.Rig)
			if inner != nil {
				inner(s)
			}
		}
	}
	clean := writes(t, e, l)
	if len(clean) < 2 {
		t.Fatalf("a clean life has %d writes, want a create and a delete:\n%s", len(clean), clean)
	}
	for _, c := range clean {
		for _, f := range faults {
			t.Run(fmt.Sprintf("%s/%s", f.name, c.Address()), func(t *testing.T) { strike(t, e, l, c, f) })
		}
	}
	if l.Foreign != nil {
		t.Run("foreign owner", func(t *testing.T) { foreign(t, e, l) })
	}
}

type fault struct {
	name   string
	kills  bool
	action func(hook func()) awsproxy.Action
	// stalls is the reason shown while the fault lasts; empty where it passes unseen.
	stalls string
}

var faults = []fault{
	{name: "answer lost", action: func(func()) awsproxy.Action { return awsproxy.LoseAnswer() }},
	{name: "killed after", kills: true, action: awsproxy.ForwardThen},
	{name: "killed before", kills: true, action: awsproxy.BeforeThen},
	{name: "throttled", action: func(func()) awsproxy.Action { return awsproxy.Throttle() }},
	{name: "denied", stalls: status.ReasonAccessDenied, action: func(func()) awsproxy.Action {
		return awsproxy.Fail(403, "AccessDeniedException", "User: arn:aws:iam::123456789012:user/nexus is not authorized to perform this")
	}},
}

func strike(t *testing.T, e engine.Entry, l Life, c awsproxy.Call, f fault) {
	r := NewRig(t)
	s := l.subject(r, e)
	var killed atomic.Bool // set by the proxy, read by the pass
	m := awsproxy.Match{Service: c.Service, Op: c.Op, Resource: c.Resource, Nth: c.N, Times: 1}
	rule := r.AWS.Fault(m, f.action(func() { killed.Store(true) }))
	kill := func() bool { return killed.Swap(false) && f.kills }
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
		if !ok || f.stalls == "" || st.Reason != f.stalls {
			t.Fatalf("%v\n%s", awsErr(err), s.Rig.AWS.Calls())
		}
	}
	if err != nil || out.Synced == deleting || out.Gone != deleting {
		t.Fatalf("did not come to its end: %v %+v\n%s", awsErr(err), out, s.Rig.AWS.Calls())
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
	if w := r.AWS.Since(mark).Writes(); len(w) > 0 {
		t.Fatalf("a foreign resource was written to:\n%s", w)
	}
	if !l.Exists(t, r) {
		t.Fatal("the foreign resource is gone")
	}
}
