package kindtest

import (
	"context"
	"encoding/json"
	"reflect"
	"slices"
	"testing"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/engine"
	"github.com/nexus-operator/nexus-operator/internal/status"
	"github.com/nexus-operator/nexus-operator/internal/testkit/awsproxy"
)

// Case is one row of a kind's table: what is declared, the AWS it meets, and the plan it must make.
type Case struct {
	Name string
	// Object is what is declared.
	Object v1alpha1.Resource
	// Existing is what was declared, and made true, before; Object is then an edit of it.
	Existing v1alpha1.Resource
	// Before changes AWS behind our back: before anything (no Existing), or after Existing was made true.
	Before func(t *testing.T, r *Rig)
	// Facts changes the subject: targets, secrets, guards.
	Facts func(s *Subject)
	// Drift says that Object equals Existing in generation: what differs was changed outside.
	Drift bool
	// Deleting says that the object is being deleted.
	Deleting bool

	Cause   engine.Cause
	Diff    []string // paths
	Actions []string // in order of the steps
	// Stalled is the reason expected instead of a plan; Waiting likewise.
	Stalled, Waiting string
	// PlanOnly leaves the plan undone, where the emulator cannot do it.
	PlanOnly bool
}

// Run checks each row, and of each that the plan converges, a second plan is empty, and deciding
// writes nothing; then that the actions declared in Meta are the ones that the rows used.
func Run(t *testing.T, e engine.Entry, cases []Case) {
	t.Helper()
	used := map[string]bool{}
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) { row(t, e, c, used) })
	}
	t.Run("declares what it uses", func(t *testing.T) {
		for a := range used {
			if !slices.Contains(e.Meta().Writes, a) {
				t.Errorf("%s is used and not declared", a)
			}
		}
		for _, a := range e.Meta().Writes {
			if !used[a] {
				t.Errorf("%s is declared and no row uses it", a)
			}
		}
	})
}

func row(t *testing.T, e engine.Entry, c Case, used map[string]bool) {
	ctx, r := t.Context(), NewRig(t)
	s := prepare(t, r, e, c)
	mark := r.AWS.Mark()
	p, err := s.Decide(ctx)
	if w := r.AWS.Since(mark).Writes(); len(w) > 0 {
		t.Fatalf("deciding wrote to AWS:\n%s", w)
	}
	if c.Stalled != "" || c.Waiting != "" {
		refused(t, err, c)
		return
	}
	if err != nil {
		t.Fatalf("deciding: %v", awsErr(err))
	}
	var paths, actions []string
	for _, d := range p.Diff {
		paths = append(paths, d.Path)
	}
	for _, st := range p.Steps {
		actions = append(actions, st.Action)
		used[st.Action] = true
	}
	if p.Cause != c.Cause || !slices.Equal(paths, c.Diff) || !slices.Equal(actions, c.Actions) {
		t.Fatalf("plan\n got %s diff=%q actions=%q\nwant %s diff=%q actions=%q\n%+v", p.Cause, paths, actions, c.Cause, c.Diff, c.Actions, p.Diff)
	}
	if c.PlanOnly {
		return
	}
	converges(t, s, c, used)
}

func prepare(t *testing.T, r *Rig, e engine.Entry, c Case) *Subject {
	t.Helper()
	first := c.Existing
	if first == nil {
		first = c.Object
	}
	s := NewSubject(r, e, first)
	if c.Facts != nil {
		c.Facts(s)
	}
	if c.Existing != nil {
		if out, err := s.Settle(t.Context(), nil); err != nil || !out.Synced {
			t.Fatalf("making the existing state: %v\n%s", awsErr(err), r.AWS.Calls())
		}
		s.Actions = nil
	}
	if c.Before != nil {
		c.Before(t, r)
	}
	if c.Existing != nil && !c.Drift {
		s.Edit(c.Object)
	}
	s.Deleting = c.Deleting
	return s
}

func refused(t *testing.T, err error, c Case) {
	t.Helper()
	if st, ok := status.AsStalled(err); ok && c.Stalled != "" {
		if st.Reason != c.Stalled {
			t.Fatalf("stalled with %s (%s), want %s", st.Reason, st.Error(), c.Stalled)
		}
		return
	}
	if w, ok := status.AsWaiting(err); ok && c.Waiting != "" {
		if w.Reason != c.Waiting {
			t.Fatalf("waiting with %s (%s), want %s", w.Reason, w.Error(), c.Waiting)
		}
		return
	}
	t.Fatalf("got %v, want Stalled %q or Waiting %q", awsErr(err), c.Stalled, c.Waiting)
}

func converges(t *testing.T, s *Subject, c Case, used map[string]bool) {
	t.Helper()
	ctx := t.Context()
	out, err := s.Settle(ctx, nil)
	if err != nil {
		t.Fatalf("settling: %v\n%s", awsErr(err), s.Rig.AWS.Calls())
	}
	for _, a := range s.Actions {
		used[a] = true
	}
	if c.Deleting {
		if !out.Gone {
			t.Fatal("not gone")
		}
		return
	}
	quiet(t, s)
}

// quiet asserts that a further look changes nothing.
func quiet(t *testing.T, s *Subject) {
	t.Helper()
	mark, before := s.Rig.AWS.Mark(), snapshot(t, s.Object)
	p, err := s.Decide(t.Context())
	if err != nil || p.Cause != engine.InSync && p.Cause != engine.Gone {
		t.Fatalf("a second look: %v %s %+v", awsErr(err), p.Cause, p.Diff)
	}
	if out, err := s.Pass(t.Context(), nil); err != nil || !out.Synced && !out.Gone {
		t.Fatalf("a second pass: %v", awsErr(err))
	}
	if w := s.Rig.AWS.Since(mark).Writes(); len(w) > 0 {
		t.Fatalf("a second pass wrote to AWS:\n%s", w)
	}
	if after := snapshot(t, s.Object); after != before {
		t.Fatalf("a second pass changed the status:\n%s\n%s", before, after)
	}
}

func snapshot(t *testing.T, o v1alpha1.Resource) string {
	t.Helper()
	b, err := json.Marshal(reflect.ValueOf(o).Elem().FieldByName("Status").Interface())
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func awsErr(err error) error {
	if err == nil {
		return nil
	}
	return err
}

// Writes runs a clean life of the sample and returns its writes: what a fault can strike.
func writes(t *testing.T, e engine.Entry, l Life) awsproxy.Calls {
	t.Helper()
	r := NewRig(t)
	s := l.subject(r, e)
	mark := r.AWS.Mark()
	live(t, s, nil)
	return r.AWS.Since(mark).Writes()
}

// live makes the object true and deletes it again.
func live(t *testing.T, s *Subject, kill func() bool) {
	t.Helper()
	ctx := context.WithoutCancel(t.Context())
	if out, err := s.Settle(ctx, kill); err != nil || !out.Synced {
		t.Fatalf("create does not come true: %v\n%s", awsErr(err), s.Rig.AWS.Calls())
	}
	if p, err := s.Decide(ctx); err != nil || p.Cause != engine.InSync {
		t.Fatalf("not in sync after create: %v %s %+v", awsErr(err), p.Cause, p.Diff)
	}
	s.Deleting = true
	if out, err := s.Settle(ctx, kill); err != nil || !out.Gone {
		t.Fatalf("delete does not end: %v\n%s", awsErr(err), s.Rig.AWS.Calls())
	}
}
