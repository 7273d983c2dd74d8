// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/api/wellknown"
	"github.com/nexus-operator/nexus-operator/internal/kind"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// machine is an AWS resource written as a table: AWS assigns its identifier, it has a password that no
// read returns, and it can be stopped.
type machine struct {
	id, password    string
	running, exists bool
	tags            map[string]string
	busy            string
	// hidden and stale are how many looks do not see the machine, or its new state, yet.
	hidden, stale int
	calls         []string
}

type machineState struct {
	Search   kind.Search `drift:"id"`
	ID       string      `drift:"id"`
	Running  bool        `drift:"observed"`
	Password *kind.WriteOnly
	Tags     map[string]string `drift:"tags"`
}

func (m *machine) kind(aws.Config) kind.Kind[*v1alpha1.S3Bucket, machineState] {
	call := func(action string, effect func(want machineState)) func(context.Context, machineState, machineState) error {
		return func(_ context.Context, want, _ machineState) error {
			m.calls = append(m.calls, action)
			effect(want)
			return nil
		}
	}
	return kind.FromTable(kind.Table[*v1alpha1.S3Bucket, machineState]{
		Meta: kind.Meta{Identity: kind.ByTag},
		Identify: func(sc kind.Scope, _ *v1alpha1.S3Bucket) (machineState, error) {
			return machineState{Search: sc.Search}, nil
		},
		Declare: func(sc kind.Scope, cr *v1alpha1.S3Bucket, want *machineState) error {
			if p := cr.Labels["password"]; p != "" {
				want.Password = kind.NewWriteOnly(sc.UID, p)
			}
			return nil
		},
		Describe: kind.Read[machineState]{Do: m.describe},
		Create: kind.Call[machineState]{Action: "machine:Create", DoForID: func(_ context.Context, want machineState, _ string) (string, error) {
			m.calls = append(m.calls, "machine:Create")
			m.id, m.exists, m.running, m.tags = "m-1", true, true, want.Tags
			if want.Password != nil {
				m.password = want.Password.Value()
			}
			return m.id, nil
		}},
		Tagging: kind.Tagging[machineState]{Sets: "machine:Tag", Set: func(_ context.Context, _ machineState, tags map[string]string) error {
			m.tags = maps.Clone(m.tags)
			maps.Copy(m.tags, tags)
			return nil
		}},
		Parts: []kind.Part[machineState]{{Fields: []string{"Password"}, InCreate: true,
			Write: kind.Call[machineState]{Action: "machine:SetPassword",
				Do: call("machine:SetPassword", func(want machineState) { m.password = want.Password.Value() })}}},
		Delete: []kind.Ending[machineState]{{Call: kind.Call[machineState]{Action: "machine:Delete", Effect: kind.Ends,
			Do: call("machine:Delete", func(machineState) { m.exists = false })}}},
		Stop: []kind.Ending[machineState]{{When: func(_, have machineState) bool { return have.Running },
			Call: kind.Call[machineState]{Action: "machine:Stop", Do: call("machine:Stop", func(machineState) { m.running = false })}}},
		Publish: func(cr *v1alpha1.S3Bucket, s machineState) { cr.Status.ID = s.ID },
	})
}

func (m *machine) describe(ctx context.Context, want machineState, _ kind.Look) (kind.Seen[machineState], error) {
	if m.hidden > 0 {
		m.hidden--
		return kind.Seen[machineState]{}, nil
	}
	finder := kind.Finder[machine]{
		ByID: func(_ context.Context, id string) (*machine, error) {
			if !m.exists || id != m.id {
				return nil, nil
			}
			return m, nil
		},
		ByTags: func(context.Context, map[string][]string) ([]machine, error) {
			if !m.exists {
				return nil, nil
			}
			return []machine{*m}, nil
		},
		ID:   func(r machine) string { return r.id },
		Tags: func(r machine) map[string]string { return r.tags },
	}
	r, _, err := finder.Find(ctx, want.Search)
	if err != nil || r == nil {
		return kind.Seen[machineState]{}, err
	}
	running := m.running || m.stale > 0
	m.stale = max(0, m.stale-1)
	return kind.Seen[machineState]{Exists: true, Busy: m.busy, Tags: r.tags,
		State: machineState{ID: r.id, Running: running, Tags: r.tags}}, nil
}

// storeHost is a host with a status that can refuse writes.
type storeHost struct {
	*host
	cr       v1alpha1.Resource
	storeErr error
}

func (h *storeHost) Store(_ context.Context, a kind.Accepted) error {
	if h.storeErr != nil {
		return h.storeErr
	}
	RecordAccepted(h.cr, a, h.now)
	return nil
}

// machineLife passes over one object as the controller does: the status lasts, and with it the owner.
type machineLife struct {
	t  *testing.T
	m  *machine
	e  Entry
	cr v1alpha1.Resource
	h  *storeHost
	// defaultTags returns the default tags of the object's provider.
	defaultTags map[string]v1alpha1.TagValue
}

func lifeOf(t *testing.T, m *machine, labels map[string]string) *machineLife {
	return lifeOfEntry(t, m, For(m.kind), labels)
}

func lifeOfEntry(t *testing.T, m *machine, e Entry, labels map[string]string) *machineLife {
	cr := e.New()
	cr.SetLabels(labels)
	cr.SetNamespace("ns")
	cr.SetName("n")
	cr.SetUID("u")
	cr.SetGeneration(1)
	return &machineLife{t: t, m: m, e: e, cr: cr, h: &storeHost{host: &host{t: t, now: noon}, cr: cr}}
}

func (l *machineLife) facts() Facts {
	return Facts{Cluster: "c", Place: aPlace, Provider: v1alpha1.AWSProviderSpec{DefaultTags: l.defaultTags}}
}

func (l *machineLife) pass(edits ...func(*Owner)) (Outcome, error) {
	l.t.Helper()
	var intent *Intent
	if n := len(l.h.committed); n > 0 {
		intent = &l.h.committed[n-1]
		l.cr.SetFinalizers([]string{v1alpha1.FinalizerOf(l.e.Name())})
	}
	o := OwnerOf(l.e, l.cr, intent, l.facts())
	for _, edit := range edits {
		edit(&o)
	}
	sc, err := ScopeOf(l.cr, o, l.facts())
	if err != nil {
		l.t.Fatal(err)
	}
	out, err := Advance(l.t.Context(), Attend(l.e.Bind(aws.Config{}), sc, l.cr), l.e.Meta(), o, l.h)
	Summarize(l.cr, out, err, l.h.now, time.Time{})
	return out, err
}

func (l *machineLife) synced() {
	l.t.Helper()
	if out, err := l.pass(); err != nil || !out.Synced {
		l.t.Fatalf("%+v %v %v", out, err, l.m.calls)
	}
}

func deleteBy(p v1alpha1.DeletionPolicy) func(*Owner) {
	return func(o *Owner) { o.Deleting, o.Policy.Deletion = true, p }
}

func TestStop_StopsAndKeepsTheResource(t *testing.T) {
	m := &machine{}
	l := lifeOf(t, m, nil)
	l.synced()
	m.stale = 2
	_, err := l.pass(deleteBy(v1alpha1.DeletionStop))
	waits(t, err, status.ReasonProgressing)
	l.h.now = l.h.now.Add(time.Second)
	out, err := l.pass(deleteBy(v1alpha1.DeletionStop))
	if err != nil || !out.Gone || !m.exists || m.running || m.tags[wellknown.TagOwnerUID] != "u" {
		t.Fatalf("%+v %v %+v", out, err, m)
	}
	if !slices.Equal(m.calls, []string{"machine:Create", "machine:Stop"}) {
		t.Errorf("a stop that AWS shows late is repeated: %v", m.calls)
	}
}

func TestStop_IsRefusedWhereAKindCannotStop(t *testing.T) {
	o := us()
	o.Policy.Deletion = v1alpha1.DeletionStop
	b := &box{}
	_, _, err := advanceBox(t, b, o, nil)
	stalls(t, err, status.ReasonInvalidSpec)
	if b.looks > 0 {
		t.Error("the policy is refused only after a look at AWS")
	}
}

func TestWriteOnly_IsWrittenOnceAndWhenItChanges(t *testing.T) {
	m := &machine{}
	l := lifeOf(t, m, map[string]string{"password": "hunter2"})
	l.synced()
	l.synced()
	version := l.cr.CommonStatus().WrittenVersions["Password"]
	if m.password != "hunter2" || version == "" || !slices.Equal(m.calls, []string{"machine:Create"}) {
		t.Fatalf("%q %q %v", m.password, version, m.calls)
	}
	l.cr.SetLabels(map[string]string{"password": "correct horse"})
	l.cr.SetGeneration(2)
	sc, err := ScopeOf(l.cr, OwnerOf(l.e, l.cr, nil, l.facts()), l.facts())
	if err != nil {
		t.Fatal(err)
	}
	p, err := l.e.Bind(aws.Config{}).Decide(t.Context(), sc, OwnerOf(l.e, l.cr, nil, l.facts()), l.cr)
	if err != nil || len(p.Diff) != 1 || p.Diff[0].Path != "Password" {
		t.Fatalf("%+v %v", p.Diff, err)
	}
	l.synced()
	l.synced()
	if m.password != "correct horse" || l.cr.CommonStatus().WrittenVersions["Password"] == version ||
		!slices.Equal(m.calls, []string{"machine:Create", "machine:SetPassword"}) {
		t.Fatalf("%q %v %v", m.password, l.cr.CommonStatus().WrittenVersions, m.calls)
	}
	for _, printed := range []string{fmt.Sprintf("%+v %s", p.Diff, textOf(kind.NewWriteOnly("u", "correct horse"))),
		fmt.Sprintf("%+v", l.cr.CommonStatus()), fmt.Sprintf("%+v", l.h.committed)} {
		if strings.Contains(printed, "hunter2") || strings.Contains(printed, "correct horse") {
			t.Errorf("the value is printed: %s", printed)
		}
	}
	l.cr.SetLabels(nil)
	l.synced()
	if len(l.cr.CommonStatus().WrittenVersions) > 0 {
		t.Error("the version of a value that is no longer declared is kept")
	}
}

// A database is busy for minutes after its create: the version must not wait for the first look in sync.
func TestWriteOnly_IsNotWrittenAgainAfterABusyCreate(t *testing.T) {
	m := &machine{busy: "creating"}
	l := lifeOf(t, m, map[string]string{"password": "hunter2"})
	_, err := l.pass()
	waits(t, err, status.ReasonBusy)
	l.h.mem = Memory{} // a restart
	m.busy, l.h.now = "", l.h.now.Add(time.Minute)
	l.synced()
	if !slices.Equal(m.calls, []string{"machine:Create"}) {
		t.Errorf("%v", m.calls)
	}
}

// A create was taken for a failed one if its identifier could not be stored: the next pass created a second resource, and a deletion
// dropped the finalizer.
func TestStore_ItsFailureIsNoFailedCreate(t *testing.T) {
	for _, deleting := range []bool{false, true} {
		m := &machine{}
		l := lifeOf(t, m, nil)
		l.h.storeErr = errors.New("the API server is down")
		if _, err := l.pass(); !errors.Is(err, l.h.storeErr) {
			t.Fatal(err)
		}
		l.h.storeErr, m.hidden = nil, 2
		for range 12 {
			l.h.now = l.h.now.Add(2 * time.Second)
			out, err := l.pass(func(o *Owner) { o.Deleting = deleting })
			if out.Gone && m.exists {
				t.Fatal("the finalizer is dropped and the resource leaks")
			}
			if err == nil {
				break
			}
		}
		want := []string{"machine:Create"}
		if deleting {
			want = append(want, "machine:Delete")
		}
		if !slices.Equal(m.calls, want) {
			t.Errorf("deleting %v: %v", deleting, m.calls)
		}
	}
}

func TestImport_NeverCreates(t *testing.T) {
	m := &machine{}
	l := lifeOf(t, m, nil)
	imported := func(o *Owner) { o.Import = "m-9" }
	l.cr.CommonStatus().ID = "m-9"
	_, err := l.pass(imported)
	waits(t, err, status.ReasonProgressing)
	l.h.now = l.h.now.Add(settleTagged)
	_, err = l.pass(imported)
	stalls(t, err, status.ReasonMissing)
	l.cr.CommonStatus().ID = "m-8"
	_, err = l.pass(imported)
	stalls(t, err, status.ReasonIdentityChanged)
	if len(m.calls) > 0 {
		t.Error(m.calls)
	}
}

func TestSummarize_ReportsDuplicatesWhileTheyExist(t *testing.T) {
	cr := lifeOf(t, &machine{}, nil).cr
	plan := Plan{Cause: InSync, Findings: Findings{Exists: true, Duplicates: []string{"m-2"}}}
	Summarize(cr, Outcome{Plan: plan, Synced: true}, nil, noon, time.Time{})
	if !meta.IsStatusConditionTrue(cr.CommonStatus().Conditions, status.DuplicateResources) || !cr.CommonStatus().Ready {
		t.Fatalf("%+v", cr.CommonStatus().Conditions)
	}
	Summarize(cr, Outcome{}, errors.New("no look"), noon, time.Time{})
	if !meta.IsStatusConditionTrue(cr.CommonStatus().Conditions, status.DuplicateResources) {
		t.Error("a pass that saw nothing removed the condition")
	}
	plan.Duplicates = nil
	Summarize(cr, Outcome{Plan: plan, Synced: true}, nil, noon, time.Time{})
	if meta.FindStatusCondition(cr.CommonStatus().Conditions, status.DuplicateResources) != nil {
		t.Error("the condition outlives the duplicates")
	}
}
