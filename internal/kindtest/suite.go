// SPDX-License-Identifier: Apache-2.0

package kindtest

import (
	"context"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/answers"
	"github.com/nexus-operator/nexus-operator/internal/emulator"
	"github.com/nexus-operator/nexus-operator/internal/engine"
	"github.com/nexus-operator/nexus-operator/internal/status"
	"github.com/nexus-operator/nexus-operator/internal/testkit/extent"
)

// Case is one row of a kind's table: the declared object, the AWS it meets, and the plan it must make.
type Case struct {
	Name string
	// Object holds the declared object.
	Object v1alpha1.Resource
	// Existing holds the object that was declared and applied before; Object is then an edit of it.
	Existing v1alpha1.Resource
	// Before changes AWS behind our back: before anything (no Existing), or after Existing was applied.
	Before func(t *testing.T, r *Rig)
	// Facts changes the subject: targets, secrets, guards.
	Facts func(s *Subject)
	// Drift says that Object equals Existing in generation: every difference was made outside.
	Drift bool
	// Deleting says that the object is being deleted.
	Deleting bool

	Cause   engine.Cause
	Diff    []string // paths, with Kind/name for the identifiers of targets
	Actions []string // in order of the steps
	// Stalled is the reason expected instead of a plan; Waiting likewise.
	Stalled, Waiting string
	// OnRun says that Stalled or Waiting shows only when the plan runs, because AWS refuses a call.
	OnRun bool
	// PlanOnly leaves the plan undone, where the emulator cannot do it.
	PlanOnly bool
}

// Run checks each row. It checks for each row that the plan converges by the calls that its steps name, that a second plan is empty, and
// that deciding writes nothing. It checks the same for random edits made of the rows. Then it checks, by the ledger of AWS calls, that the
// IAM actions declared in Meta are the ones that the rows used. The sample has some of the rows, and cannot know the actions that all of
// them use.
func Run(t *testing.T, e engine.Entry, cases []Case) {
	t.Helper()
	RunWith(t, e, func(*testing.T, *Subject) {}, cases)
}

// RunWith is Run for kinds with resources that are parts of others: parents makes these in AWS before each row and before each life of
// random edits, and sets the targets of the references to them.
func RunWith(t *testing.T, e engine.Entry, parents func(t *testing.T, s *Subject), cases []Case) {
	t.Helper()
	used := actions{reads: map[string]bool{}, writes: map[string]bool{}, rights: newRights(e), forms: newForms(e.Name()),
		structures: newStructures(e.Name())}
	for _, c := range extent.Sample(t, cases, rowsOfSample) {
		t.Run(c.Name, func(t *testing.T) { row(t, NewRig(t), e, c.with(t, parents), used) })
	}
	rowsElsewhere(t, e, parents, cases)
	pools := poolsOf(cases, parents, used.forms)
	walks(t, e, pools)
	ladders(t, e, pools)
	exports(t, e, pools)
	t.Run("declares each optional field with two values", func(t *testing.T) { twoValues(t, e, cases) })
	if !extent.IsFull(t) {
		used.areDeclared(t, e)
		return
	}
	t.Run("meets what AWS rewrites", func(t *testing.T) { meetsRewrites(t, e) })
	t.Run("covers the forms of AWS's answers", used.forms.report)
	t.Run("declares each field that names a resource", func(t *testing.T) { used.forms.reportNamed(t, specOf(e.New()).Type()) })
	t.Run("leaves out no setting of others", used.structures.compare)
	used.areDeclared(t, e)
	t.Run("uses what it declares", func(t *testing.T) {
		allUsed(t, "Meta.Reads", e.Meta().Reads, used.reads)
		allUsed(t, "Meta.Writes", e.Meta().Writes, used.writes)
		used.rights.compare(t)
	})
}

// rowsOfSample limits the rows of a table in the sample.
const rowsOfSample = 10

// meetsRewrites asserts that the rows declare each field that AWS answers with in another form: each row has shown that
// nothing is written at rest.
func meetsRewrites(t *testing.T, e engine.Entry) {
	t.Helper()
	met := NewRig(t).AWS.Rewritten()
	for _, r := range emulator.Rewrites() {
		if r.Kind == e.Name() && !r.IsSent && !slices.Contains(met, r.Kind+"."+r.Field) {
			t.Errorf("no row declares %s in a form that AWS rewrites: %s", r.Field, r.What)
		}
	}
}

// actions are the IAM actions that the rows used.
type actions struct {
	reads, writes map[string]bool
	rights        *rights
	forms         *forms
	structures    *structures
}

// record adds the actions that the engine asked AWS for.
func (a actions) record(calls emulator.Calls) {
	for _, c := range calls {
		if c.Write {
			a.writes[c.Action()] = true
		} else {
			a.reads[c.Action()] = true
		}
	}
}

// areDeclared asserts that Meta has each action that the rows used.
func (a actions) areDeclared(t *testing.T, e engine.Entry) {
	t.Helper()
	t.Run("declares what it uses", func(t *testing.T) {
		for action := range a.reads {
			if !slices.Contains(e.Meta().Reads, action) {
				t.Errorf("%s is used and not in Meta.Reads", action)
			}
		}
		for action := range a.writes {
			if !slices.Contains(e.Meta().Writes, action) {
				t.Errorf("%s is used and not in Meta.Writes", action)
			}
		}
	})
}

func allUsed(t *testing.T, what string, declared []string, used map[string]bool) {
	t.Helper()
	for _, a := range declared {
		if !used[a] {
			t.Errorf("%s is in %s and no row uses it", a, what)
		}
	}
}

// with returns the case with the parents made before its facts.
func (c Case) with(t *testing.T, parents func(t *testing.T, s *Subject)) Case {
	facts := c.Facts
	c.Facts = func(s *Subject) {
		parents(t, s)
		if facts != nil {
			facts(s)
		}
	}
	return c
}

func row(t *testing.T, r *Rig, e engine.Entry, c Case, used actions) {
	ctx := t.Context()
	s := prepare(t, r, e, c, used)
	mark := r.AWS.Mark()
	defer func() { used.record(r.AWS.Since(mark)) }()
	p, err := s.Decide(ctx)
	if w := r.AWS.Since(mark).Writes(); len(w) > 0 {
		t.Fatalf("deciding wrote to AWS:\n%s", w)
	}
	if err == nil && (p.Cause == engine.Lost || c.OnRun) {
		_, err = s.Settle(ctx, nil) // the absence of a store is verified by a second look
	}
	if c.Stalled != "" || c.Waiting != "" {
		refused(t, err, c)
		return
	}
	if err != nil {
		t.Fatalf("deciding: %v", awsErr(err))
	}
	var paths, steps []string
	for _, d := range p.Diff {
		paths = append(paths, s.named(d.Path))
	}
	for _, st := range p.Steps {
		steps = append(steps, st.Action)
	}
	if p.Cause != c.Cause || !slices.Equal(paths, c.Diff) || !slices.Equal(steps, c.Actions) {
		t.Fatalf("plan\n got %s diff=%q actions=%q\nwant %s diff=%q actions=%q\n%+v", p.Cause, paths, steps, c.Cause, c.Diff, c.Actions, p.Diff)
	}
	if c.PlanOnly {
		return
	}
	converges(t, s, c, p)
}

// named returns the text with the names of targets in place of their identifiers, which AWS chooses.
func (s *Subject) named(text string) string {
	for name, target := range s.Targets {
		if target.ID != "" {
			text = strings.ReplaceAll(text, target.ID, name)
		}
	}
	return text
}

func prepare(t *testing.T, r *Rig, e engine.Entry, c Case, used actions) *Subject {
	t.Helper()
	first := c.Existing
	if first == nil {
		first = c.Object
	}
	s := NewSubject(r, e, first)
	s.forms = used.forms
	if c.Facts != nil {
		c.Facts(s)
	}
	s.limit(t, used.rights)
	s.config = used.structures.watch(s.config)
	if c.Existing != nil {
		mark := r.AWS.Mark()
		if out, err := s.Settle(t.Context(), nil); err != nil || !out.Synced {
			t.Fatalf("making the existing state: %v\n%s", awsErr(err), r.AWS.Calls())
		}
		used.record(r.AWS.Since(mark))
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

func converges(t *testing.T, s *Subject, c Case, planned engine.Plan) {
	t.Helper()
	ctx := t.Context()
	mark, before := s.Rig.AWS.Mark(), len(s.Actions)
	out, err := s.Settle(ctx, nil)
	if err != nil {
		t.Fatalf("settling: %v\n%s", awsErr(err), s.Rig.AWS.Calls())
	}
	sent := acceptedSince(s.Rig, mark)
	if named := slices.Sorted(slices.Values(s.Actions[before:])); !slices.Equal(named, sent) {
		t.Fatalf("steps named %q, the calls were %q", named, sent)
	}
	if named := actionsOf(planned); planned.Cause == engine.New && !slices.Equal(named, sent) {
		t.Errorf("the plan named %q, and the calls were %q", named, sent)
	}
	if c.Deleting {
		if !out.Gone {
			t.Fatal("not gone")
		}
		return
	}
	quiet(t, s)
}

// quiet asserts that a further look changes nothing, in whichever form AWS answers. The pass after it has the answers of that look,
// which spares asking for them again.
func quiet(t *testing.T, s *Subject) {
	t.Helper()
	mark, before, look := s.Rig.AWS.Mark(), snapshot(t, s.Object), &answers.Recording{}
	p, err := s.Decide(look.Record(t.Context()))
	if err != nil || p.Cause != engine.InSync && p.Cause != engine.Gone {
		t.Fatalf("a second look: %v %s %+v", awsErr(err), p.Cause, p.Diff)
	}
	if p.Cause == engine.InSync && s.forms != nil {
		s.forms.check(t, s, look)
	}
	if out, err := s.Pass(look.Replay(t.Context(), nil), nil); err != nil || !out.Synced && !out.Gone {
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

// Writes runs a clean life of the sample and returns its writes: the calls that a fault can strike.
func calls(t *testing.T, e engine.Entry, l Life) emulator.Calls {
	t.Helper()
	r := NewRig(t)
	s := l.subject(r, e)
	mark := r.AWS.Mark()
	live(t, s, nil)
	return r.AWS.Since(mark)
}

// live makes the object true and deletes it again.
func live(t *testing.T, s *Subject, kill func() bool) {
	t.Helper()
	ctx := context.WithoutCancel(t.Context())
	if out, err := s.Settle(ctx, kill); err != nil || !out.Synced {
		t.Fatalf("create does not converge: %v\n%s", awsErr(err), s.Rig.AWS.Calls())
	}
	if p, err := s.Decide(ctx); err != nil || p.Cause != engine.InSync {
		t.Fatalf("not in sync after create: %v %s %+v", awsErr(err), p.Cause, p.Diff)
	}
	s.Deleting = true
	if out, err := s.Settle(ctx, kill); err != nil || !out.Gone {
		t.Fatalf("delete does not end: %v\n%s", awsErr(err), s.Rig.AWS.Calls())
	}
}
