// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/api/wellknown"
	"github.com/nexus-operator/nexus-operator/internal/kind"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// box is an AWS resource that keeps its state and fails on request.
type box struct {
	meta     kind.Meta
	exists   bool
	color    string
	tags     map[string]string
	created  time.Time
	busy     string
	holds    []kind.Hold
	usable   bool
	writable bool // AWS accepts changes while it is busy
	lookAt   time.Time
	// hidden, untagged and stale are how many looks do not see the box, its tags, its color yet.
	hidden, untagged, stale int
	was                     string // the color that stale looks see
	looks                   int
	checks                  int // looks that might share a read
	writes                  []string
	fail                    map[string]error // after the effect
	tokens                  map[string]bool
	bad                     bool  // settles no difference
	ensures                 bool  // a create of an existing box succeeds
	refuse                  error // the answer to a create, which then has no effect
	keeps                   bool  // a delete is accepted and takes its time
	contents                int   // refuses a delete
	listed                  int   // looks that read the contents
	failed                  *kind.FailedRequest
}

type boxState struct {
	Name  string `drift:"identity"`
	Color *string
	Size  string            `drift:"immutable"`
	Tags  map[string]string `drift:"tags"`
}

var (
	errExists  = errors.New("exists")
	errRefused = errors.New("refused without effect")
)

func (b *box) Meta() kind.Meta { return b.meta }

func (b *box) Desired(sc kind.Scope, cr *v1alpha1.S3Bucket) (boxState, error) {
	s := boxState{Name: cr.Labels["name"], Tags: sc.Tags, Size: cr.Labels["size"]}
	if c, ok := cr.Labels["color"]; ok {
		s.Color = &c
	}
	if cr.Labels["invalid"] != "" {
		return s, status.Invalid("spec.color", "no such color")
	}
	return s, nil
}

func (b *box) Observe(_ context.Context, want boxState, look kind.Look) (kind.Seen[boxState], error) {
	b.looks++
	if look.Check != nil {
		b.checks++
	}
	if err := b.fail["observe"]; err != nil {
		return kind.Seen[boxState]{}, err
	}
	if b.hidden > 0 {
		b.hidden--
		return kind.Seen[boxState]{}, nil
	}
	if !b.exists {
		return kind.Seen[boxState]{Failed: b.failed}, nil
	}
	tags := b.tags
	if b.untagged > 0 && !look.TagsKnown {
		b.untagged--
		tags = nil
	}
	holds := b.holds
	if look.Contents {
		b.listed++
		if b.contents > 0 {
			holds = []kind.Hold{{Reason: status.ReasonBucketNotEmpty, Message: "empty it"}}
		}
	}
	color := b.color
	if b.stale > 0 {
		b.stale--
		color = b.was
	}
	return kind.Seen[boxState]{Exists: true, State: boxState{Name: want.Name, Color: &color, Tags: tags}, Tags: tags, Created: b.created,
		Busy: b.busy, Usable: b.usable, Writable: b.writable, LookAt: b.lookAt, Holds: holds, Failed: b.failed}, nil
}

func (b *box) do(action string, fixes []string, effect func() error) kind.Step {
	kinds := map[string]kind.Effect{"box:Create": kind.Creates, "box:Delete": kind.Deletes}
	if b.ensures {
		kinds["box:Create"] = kind.Ensures
	}
	return kind.Step{Action: action, Effect: kinds[action], Fixes: fixes, Do: func(_ context.Context, token string) (string, error) {
		b.writes = append(b.writes, action)
		if b.tokens == nil {
			b.tokens = map[string]bool{}
		}
		b.tokens[token] = true
		if err := effect(); err != nil {
			return "", err
		}
		if action == "box:Create" && b.meta.Identity != kind.ByName {
			return "box-1", b.fail[action]
		}
		return "", b.fail[action]
	}}
}

func (b *box) Converge(want boxState, seen kind.Seen[boxState], diff kind.Diff) []kind.Step {
	if b.bad {
		return nil
	}
	if !seen.Exists {
		return []kind.Step{b.do("box:Create", nil, func() error {
			if b.refuse != nil {
				return b.refuse
			}
			if b.exists && b.ensures {
				return nil
			}
			if b.exists {
				return errExists
			}
			b.exists, b.tags = true, map[string]string{}
			for k, v := range want.Tags {
				b.tags[k] = v
			}
			return nil
		})}
	}
	var steps []kind.Step
	if diff.Under("Color") {
		s := b.do("box:Paint", []string{"Color"}, func() error {
			if b.color != *want.Color {
				b.was, b.color = b.color, *want.Color
			}
			return nil
		})
		s.Stage = 1
		steps = append(steps, s)
	}
	if diff.Under("Tags") {
		set, remove := diff.Keys("Tags")
		steps = append(steps, b.do("box:Tag", []string{"Tags"}, func() error {
			for _, k := range set {
				b.tags[k] = want.Tags[k]
			}
			for _, k := range remove {
				delete(b.tags, k)
			}
			return nil
		}))
	}
	return steps
}

func (b *box) Remove(boxState, kind.Seen[boxState]) []kind.Step {
	return []kind.Step{b.do("box:Delete", nil, func() error {
		if b.contents > 0 {
			return &kind.NotEmptyError{Err: errRefused}
		}
		b.exists = b.keeps
		return nil
	})}
}

func (b *box) Publish(cr *v1alpha1.S3Bucket, _ boxState) { cr.Status.ARN = "arn:box" }

// host stands for the controller and remembers the persisted records.
type host struct {
	t         *testing.T
	b         *box
	committed []Intent
	stored    []string
	now       time.Time
	refs      map[string]kind.Target
	fail      error
	did       []Cause
	mem       Memory
	left      func(action string) int
	approved  []string
	unproven  error // the answer to an approval
	stray     error // the answer to whether it may take over; errStray is a plain no
}

var errStray = errors.New("no capability has this object")

func (h *host) MayTakeOver(context.Context) (bool, error) {
	if errors.Is(h.stray, errStray) {
		return false, nil
	}
	return h.stray == nil, h.stray
}

func (h *host) Commit(_ context.Context, i *Intent) error {
	if h.fail != nil {
		return h.fail
	}
	i.Home = "aws/1/r"
	h.committed = append(h.committed, *i)
	return nil
}
func (h *host) Store(_ context.Context, a kind.Accepted) error {
	h.stored = append(h.stored, a.ID)
	return nil
}
func (h *host) Explain(err error, action string) error {
	return &status.Retrying{Reason: action, Cause: err}
}
func (h *host) AlreadyExists(err error) bool { return errors.Is(err, errExists) }
func (h *host) HadNoEffect(err error) bool   { return errors.Is(err, errRefused) }
func (h *host) Did(p Plan, _ []kind.Step)    { h.did = append(h.did, p.Cause) }
func (h *host) Home() string                 { return "aws/1/r" }
func (h *host) Approve(_ context.Context, _ Owner, hash string) error {
	if h.unproven == nil {
		h.approved = append(h.approved, hash)
	}
	return h.unproven
}
func (h *host) Memory() *Memory { return &h.mem }
func (h *host) Running(_ context.Context, left func(string) int) func() {
	h.left = left
	return func() {}
}
func (h *host) Now() time.Time               { return h.now }
func (h *host) Refs() map[string]kind.Target { return h.refs }

var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

// aPlace is the place of the resources of the tests.
var aPlace = kind.Place{Partition: "aws", Account: "1", Region: "r"}

func us() Owner {
	return Owner{Identity: Identity{Kind: "Box", Namespace: "ns", Name: "n", UID: "u", Cluster: "c"}, Generation: 1,
		Policy:       Policy{Deletion: v1alpha1.DeletionDelete},
		HasFinalizer: true}
}

func advanceBox(t *testing.T, b *box, o Owner, labels map[string]string) (Outcome, *host, error) {
	t.Helper()
	h := &host{t: t, b: b, now: noon}
	out, err := advanceOn(t, h, o, labels)
	return out, h, err
}

func advanceOn(t *testing.T, h *host, o Owner, labels map[string]string) (Outcome, error) {
	t.Helper()
	e := For(func(aws.Config) kind.Kind[*v1alpha1.S3Bucket, boxState] { return h.b })
	cr := e.New()
	cr.SetLabels(labels)
	sc := kind.Scope{Tags: o.OwnerTags(), Place: aPlace}
	return Advance(t.Context(), Attend(e.Bind(aws.Config{}), sc, cr), e.Meta(), o, h)
}

// lookTwice runs two passes, the second after the gap that verifies an absence.
func lookTwice(t *testing.T, b *box, o Owner) (Outcome, error) {
	t.Helper()
	h := &host{t: t, b: b, now: noon}
	out, err := advanceOn(t, h, o, nil)
	if _, ok := status.AsWaiting(err); !ok {
		t.Fatalf("the first look: %+v %v", out, err)
	}
	h.now = noon.Add(absenceGap)
	return advanceOn(t, h, o, nil)
}

func waits(t *testing.T, err error, reason string) {
	t.Helper()
	if w, ok := status.AsWaiting(err); !ok || w.Reason != reason {
		t.Fatalf("got %v, want to wait for %s", err, reason)
	}
}

func stalls(t *testing.T, err error, reason string) {
	t.Helper()
	if s, ok := status.AsStalled(err); !ok || s.Reason != reason {
		t.Fatalf("got %v, want to stall with %s", err, reason)
	}
}

func recorded() *Intent {
	return &Intent{Home: "aws/1/r", UID: "u", Attempt: 1, Generation: 1, At: noon.Add(-time.Hour)}
}

func TestACreateIsPersistedFirstAndVerifiedLast(t *testing.T) {
	b := &box{}
	out, h, err := advanceBox(t, b, us(), map[string]string{"color": "red"})
	if err != nil || !out.Synced {
		t.Fatal(out, err)
	}
	if len(h.committed) != 1 || h.committed[0].Attempt != 1 || !h.committed[0].At.Equal(noon) {
		t.Errorf("committed %+v", h.committed)
	}
	if !slices.Equal(b.writes, []string{"box:Create", "box:Paint"}) || !slices.Equal(h.did, []Cause{New, Edited}) {
		t.Errorf("wrote %v, told %v", b.writes, h.did)
	}
	if out, h, err := advanceBox(t, b, us(), map[string]string{"color": "red"}); err != nil || !out.Synced || len(b.writes) != 2 ||
		len(h.did) != 0 {
		t.Errorf("a second pass: %v %v %v", b.writes, h.did, err)
	}
}

func TestNothingIsWrittenWhenTheIntentCannotBePersisted(t *testing.T) {
	b, conflict := &box{}, errors.New("conflict")
	_, err := advanceOn(t, &host{t: t, b: b, now: noon, fail: conflict}, us(), nil)
	if !errors.Is(err, conflict) || len(b.writes) > 0 {
		t.Errorf("%v %v", err, b.writes)
	}
}

func TestWhatExistsAlreadyIsFoundByLookingAgain(t *testing.T) {
	o := us()
	o.Record.Intent = recorded()
	b := &box{exists: true, tags: o.OwnerTags(), hidden: 1}
	out, _, err := advanceBox(t, b, o, nil)
	if err != nil || !out.Synced || !slices.Equal(b.writes, []string{"box:Create"}) {
		t.Fatal(out, err, b.writes)
	}
	b = &box{exists: true, tags: map[string]string{wellknown.TagOwner: "other"}, hidden: 1}
	_, _, err = advanceBox(t, b, o, nil)
	stalls(t, err, status.ReasonConflict)
}

func TestALaggingReadIsWaitedForAndNeverCreatedTwice(t *testing.T) {
	b := &box{hidden: 2}
	_, _, err := advanceBox(t, b, us(), nil)
	waits(t, err, status.ReasonProgressing)
	if !slices.Equal(b.writes, []string{"box:Create"}) {
		t.Error(b.writes)
	}
}

func TestATagIdentityWaitsForItsLastCreateToShow(t *testing.T) {
	o := us()
	o.Record.Intent = &Intent{Home: "aws/1/r", Attempt: 1, At: noon.Add(-10 * time.Second)}
	b := &box{meta: kind.Meta{Identity: kind.ByTag}}
	_, _, err := advanceBox(t, b, o, nil)
	waits(t, err, status.ReasonProgressing)
	if len(b.writes) > 0 {
		t.Error(b.writes)
	}
	o.Record.Intent.At = noon.Add(-time.Minute)
	if out, h, err := advanceBox(t, b, o, nil); err != nil || !out.Synced || !slices.Equal(h.stored, []string{"box-1"}) {
		t.Error(out, err)
	}
}

func TestARecreationUsesAnotherToken(t *testing.T) {
	o := us()
	o.Record.Intent, o.Record.Known = recorded(), true
	b := &box{meta: kind.Meta{Identity: kind.ByToken}}
	h := &host{t: t, b: b, now: noon}
	_, err := advanceOn(t, h, o, nil)
	waits(t, err, status.ReasonProgressing)
	h.now = noon.Add(settleTagged)
	_, err = advanceOn(t, h, o, nil)
	if err != nil || len(h.committed) != 1 || h.committed[0].Attempt != 2 {
		t.Fatalf("%+v %v", h.committed, err)
	}
	if b.tokens[Token(o, "box:Create")] {
		t.Error("the dead resource's token was used again")
	}
}

func TestReferencesAreRecordedWhenTheyChange(t *testing.T) {
	o := us()
	o.Record.Intent = recorded()
	b := &box{exists: true, tags: o.OwnerTags()}
	h := &host{t: t, b: b, now: noon, refs: map[string]kind.Target{"IAMRole/r": {ID: "x"}}}
	if _, err := advanceOn(t, h, o, nil); err != nil || len(h.committed) != 1 || h.committed[0].Refs["IAMRole/r"].ID != "x" ||
		h.committed[0].Attempt != 1 {
		t.Errorf("%+v %v", h.committed, err)
	}
}

func TestDrift(t *testing.T) {
	o := us()
	o.Record.Intent, o.Record.SyncedGeneration = recorded(), 1
	fresh := func() *box { return &box{exists: true, tags: o.OwnerTags(), color: "blue"} }
	red := map[string]string{"color": "red"}

	b := fresh()
	if out, h, err := advanceBox(t, b, o, red); err != nil || !out.Synced || b.color != "red" || !slices.Equal(h.did, []Cause{Drifted}) {
		t.Error("correct:", out, err, h.did)
	}
	report := o
	report.Policy.Drift = v1alpha1.DriftReport
	b = fresh()
	if out, _, err := advanceBox(t, b, report, red); err != nil || !out.Synced || len(out.Drift) != 1 || len(b.writes) > 0 {
		t.Error("report:", out, err, b.writes)
	}
	report.Record.SyncedGeneration = 0
	if out, _, err := advanceBox(t, b, report, red); err != nil || len(out.Drift) != 0 || b.color != "red" {
		t.Error("what the user edits is applied all the same:", out, err)
	}
	observe := o
	observe.Policy.Management, observe.Record.SyncedGeneration, observe.Record.Intent = v1alpha1.ManageObserve, 0, nil
	b = fresh()
	if out, h, err := advanceBox(t, b, observe, red); err != nil || len(out.Drift) != 1 || len(b.writes)+len(h.committed) > 0 {
		t.Error("observe:", out, err, b.writes)
	}
}

func TestWhoOnlyLooksSeesAnybodysResourceAndMissesWhatIsNotThere(t *testing.T) {
	o := us()
	o.Policy.Management = v1alpha1.ManageObserve
	b := &box{exists: true, tags: map[string]string{wellknown.TagOwner: "x"}, color: "red"}
	if out, h, err := advanceBox(t, b, o, map[string]string{"color": "red"}); err != nil || !out.Synced || len(b.writes)+len(h.committed) > 0 {
		t.Error("somebody's:", out, err, b.writes)
	}
	_, _, err := advanceBox(t, &box{}, o, nil)
	stalls(t, err, status.ReasonMissing)
	o = us()
	o.Policy.Drift, o.Record.Known, o.Record.Intent = v1alpha1.DriftReport, true, recorded()
	b = &box{}
	_, err = lookTwice(t, b, o)
	stalls(t, err, status.ReasonMissing)
	if len(b.writes) > 0 {
		t.Error("Report created again what had vanished")
	}
}

func TestDeleting(t *testing.T) {
	o := us()
	o.Record.Intent, o.Deleting, o.Record.Known = recorded(), true, true
	mine := func() *box { return &box{exists: true, tags: o.OwnerTags()} }
	for _, c := range []struct {
		name   string
		b      *box
		edit   func(*Owner)
		gone   bool
		writes []string
		waits  string
	}{
		{name: "what is ours goes", b: mine(), gone: true, writes: []string{"box:Delete"}},
		{name: "one look does not prove an absence", b: &box{}, waits: status.ReasonDeleting},
		{name: "a foreign resource stays, and the object goes", b: &box{exists: true, tags: map[string]string{wellknown.TagOwner: "x"}},
			gone: true},
		{name: "busy is waited for", b: &box{exists: true, tags: o.OwnerTags(), busy: "DELETING"}, waits: status.ReasonBusy},
		{name: "what is held waits", b: &box{exists: true, tags: o.OwnerTags(), holds: []kind.Hold{{Reason: "BucketNotEmpty", Message: "x"}}},
			waits: "BucketNotEmpty"},
		{name: "orphan takes our tags off", b: mine(), edit: func(o *Owner) { o.Policy.Deletion = v1alpha1.DeletionOrphan }, gone: true,
			writes: []string{"box:Tag"}},
		{name: "a create whose answer may be lost is waited for", b: &box{},
			edit: func(o *Owner) {
				o.Record.Known, o.Record.Intent = false, &Intent{Home: "aws/1/r", At: noon.Add(-time.Second)}
			}, waits: status.ReasonDeleting},
		{name: "a create seen in this pass is not waited for", b: mine(),
			edit: func(o *Owner) {
				o.Record.Known, o.Record.Intent = false, &Intent{Home: "aws/1/r", At: noon.Add(-time.Second)}
			}, gone: true,
			writes: []string{"box:Delete"}},
		{name: "Observe never deletes", b: mine(), edit: func(o *Owner) { o.Policy.Management = v1alpha1.ManageObserve }, gone: true},
		{name: "Report does not keep a deletion from happening", b: mine(),
			edit: func(o *Owner) { o.Policy.Drift = v1alpha1.DriftReport }, gone: true,
			writes: []string{"box:Delete"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := o
			if c.edit != nil {
				c.edit(&o)
			}
			out, _, err := advanceBox(t, c.b, o, nil)
			if c.waits != "" {
				waits(t, err, c.waits)
				return
			}
			if err != nil || out.Gone != c.gone || !slices.Equal(c.b.writes, c.writes) {
				t.Errorf("gone=%v writes=%v err=%v", out.Gone, c.b.writes, err)
			}
		})
	}
}

// Contents are read once a delete was refused because of them, and the delete is not repeated while there are contents.
func TestContentsAreReadOnlyAfterARefusedDelete(t *testing.T) {
	o := us()
	o.Deleting, o.Record.Known, o.Record.Intent = true, true, &Intent{Home: "aws/1/r", Attempt: 1}
	b := &box{exists: true, tags: o.OwnerTags(), contents: 1}
	h := &host{t: t, b: b, now: noon}
	for range 3 {
		_, err := advanceOn(t, h, o, nil)
		if w, ok := status.AsWaiting(err); !ok || w.Reason != status.ReasonBucketNotEmpty {
			t.Fatalf("got %v, want BucketNotEmpty", err)
		}
	}
	if len(b.writes) != 1 || b.listed != 3 {
		t.Errorf("%d deletes and %d looks at the contents, want 1 and 3", len(b.writes), b.listed)
	}
	b.contents = 0
	if out, err := advanceOn(t, h, o, nil); err != nil || !out.Gone || len(b.writes) != 2 {
		t.Errorf("after it was emptied: %v %+v, %d deletes", err, out, len(b.writes))
	}
	b = &box{exists: true, tags: o.OwnerTags()}
	if out, _, err := advanceBox(t, b, o, nil); err != nil || !out.Gone || b.listed != 0 {
		t.Errorf("an empty one: %v %+v, %d looks at the contents", err, out, b.listed)
	}
}

func TestWhatOnlyAPersonCanHelpStalls(t *testing.T) {
	o := us()
	o.Record.Intent = recorded()
	mine := &box{exists: true, tags: o.OwnerTags()}
	_, _, err := advanceBox(t, mine, o, map[string]string{"size": "large"})
	stalls(t, err, status.ReasonImmutable)
	_, _, err = advanceBox(t, &box{}, o, map[string]string{"invalid": "yes"})
	stalls(t, err, status.ReasonInvalidSpec)
	o.Record.Known = true
	_, err = lookTwice(t, &box{meta: kind.Meta{HoldsData: true}}, o)
	stalls(t, err, status.ReasonMissing)
	moved := o
	moved.Record.Intent = &Intent{Home: "aws/2/r"}
	_, _, err = advanceBox(t, mine, moved, nil)
	stalls(t, err, status.ReasonProviderMoved)
}

func TestFailuresAreExplainedWithTheirAction(t *testing.T) {
	boom := errors.New("boom")
	_, _, err := advanceBox(t, &box{fail: map[string]error{"box:Create": boom}}, us(), nil)
	r, ok := errors.AsType[*status.Retrying](err)
	if !ok || r.Reason != "box:Create" || !errors.Is(err, boom) {
		t.Errorf("%v", err)
	}
	_, _, err = advanceBox(t, &box{fail: map[string]error{"observe": boom}}, us(), nil)
	if !errors.Is(err, boom) {
		t.Errorf("%v", err)
	}
}

func TestADifferenceLeftToNobodyIsRefused(t *testing.T) {
	o := us()
	b := &box{exists: true, tags: o.OwnerTags(), color: "blue", bad: true}
	if _, _, err := advanceBox(t, b, o, map[string]string{"color": "red"}); err == nil {
		t.Error("a plan that settles nothing was accepted")
	}
}

func TestAPassThatNeverSettlesEnds(t *testing.T) {
	o := us()
	b := &box{exists: true, tags: o.OwnerTags(), color: "blue"}
	h := &host{t: t, b: b, now: noon}
	e := For(func(aws.Config) kind.Kind[*v1alpha1.S3Bucket, boxState] { return b })
	cr := e.New()
	cr.SetLabels(map[string]string{"color": "red"})
	decide := func(ctx context.Context, o Owner) (Plan, error) {
		b.color = "blue" // a person paints it back every time
		return e.Bind(aws.Config{}).Decide(ctx, kind.Scope{Tags: o.OwnerTags(), Place: aPlace}, o, cr)
	}
	_, err := Advance(t.Context(), decide, e.Meta(), o, h)
	waits(t, err, status.ReasonProgressing)
	if len(b.writes) != 1 {
		t.Errorf("%d writes", len(b.writes))
	}
}

func TestAnEntryTakesOnlyItsOwnKind(t *testing.T) {
	e := For(func(aws.Config) kind.Kind[*v1alpha1.S3Bucket, boxState] { return &box{} })
	if e.Name() != "S3Bucket" {
		t.Error(e.Name())
	}
	if _, err := e.Bind(aws.Config{}).Decide(t.Context(), kind.Scope{}, us(), &v1alpha1.IAMRole{}); err == nil {
		t.Error("an object of another kind was taken")
	}
}

func TestTheHostLearnsHowManyStepsAreLeft(t *testing.T) {
	b := &box{}
	_, h, err := advanceBox(t, b, us(), nil)
	if err != nil || h.left == nil {
		t.Fatalf("%v: no steps were announced", err)
	}
	refused := errors.New("refused")
	steps, left := countLeft([]kind.Step{
		{Action: "a", Do: func(context.Context, string) (string, error) { return "id", nil }},
		{Action: "a", Do: func(context.Context, string) (string, error) { return "", refused }},
		{Action: "b", Do: func(context.Context, string) (string, error) { return "", nil }},
	})
	for i, want := range []struct{ a, b int }{{1, 1}, {1, 1}, {1, 0}} {
		if _, err := steps[i].Send(t.Context(), ""); (err != nil) != (i == 1) {
			t.Errorf("step %d: %v", i, err)
		}
		if left("a") != want.a || left("b") != want.b || left("c") != 0 {
			t.Errorf("after step %d: %d of a and %d of b are left, want %+v", i, left("a"), left("b"), want)
		}
	}
}

func TestRun_LooksAfterAStep(t *testing.T) {
	var sent []string
	step := func(action string, stage int) kind.Step {
		return kind.Step{Action: action, Stage: stage,
			Do: func(context.Context, string) (string, error) { sent = append(sent, action); return "", nil }}
	}
	look := step("b", 1)
	look.LookAfter = true
	done, err := Run(t.Context(), us(), []kind.Step{step("a", 0), look, step("c", 2)}, nil)
	if err != nil || !slices.Equal(sent, []string{"a", "b"}) || len(done) != 2 {
		t.Errorf("sent %q, done %d, %v", sent, len(done), err)
	}
}
