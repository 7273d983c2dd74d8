// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"errors"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/nexus-operator/nexus-operator/internal/kind"
)

// A set that was just created proves nothing about a member that another owner created in the meantime.
func TestOwner_TowardAMember(t *testing.T) {
	for _, c := range []struct {
		name     string
		recorded bool
		settled  bool
		fresh    bool // nothing of the set was ever created
		want     Verdict
	}{
		{name: "recorded, not settled", recorded: true, want: Unknown},
		{name: "recorded, settled", recorded: true, settled: true, want: Unproven},
		{name: "perhaps of a create that was not recorded", want: Unknown},
		{name: "not recorded, settled", settled: true, want: Foreign},
		{name: "of a set that was never created", fresh: true, want: Foreign},
	} {
		o := known()
		o.Recent.Created, o.Recent.UntaggedSettled = true, c.settled
		if c.fresh {
			o.Record.Intent, o.Record.Known = nil, false
		}
		if got, _ := Judge(o.ofMember(&kind.Member{Recorded: c.recorded}), nil, o.Record.CreatedAt); got != c.want {
			t.Errorf("%s: verdict %d, want %d", c.name, got, c.want)
		}
		if got, _ := Judge(o.ofMember(nil), nil, o.Record.CreatedAt); got != Ours && !c.fresh {
			t.Errorf("%s: the whole is judged %d, want %d", c.name, got, Ours)
		}
	}
}

func change(path string) kind.Change { return kind.Change{Path: path, Sum: sumOf(path)} }

func TestMemory_KnowsTheMembersItCreated(t *testing.T) {
	tags := map[string]string{"team": "a"}
	p := Plan{Cause: Edited, tagsSum: sumOf(tags), Diff: kind.Diff{change("P[a]"), change("P[b]"), change("P[c].Value")}}
	create := func(path string) kind.Step { return kind.Step{Effect: kind.Creates, Fixes: []string{path}} }
	m := &Memory{}
	m.recordWrite(create("P[a]"), p, noon)
	m.recordWrite(create("P[b]"), p, noon)
	m.recordWrite(kind.Step{Fixes: []string{"P[c].Value"}}, p, noon)
	seen := func(after time.Duration, wanted map[string]string) []string {
		return slices.Sorted(maps.Keys(Recent{Members: m.members(time.Minute, noon.Add(after))}.createdWith(wanted)))
	}
	if got := seen(0, tags); !slices.Equal(got, []string{"P[a]", "P[b]"}) {
		t.Errorf("%v", got)
	}
	if got := seen(0, map[string]string{"team": "b"}); len(got) > 0 {
		t.Errorf("created with other tags: %v", got)
	}
	if got := seen(time.Minute, tags); len(got) > 0 {
		t.Errorf("after the settle time: %v", got)
	}
	// Tags that were written since are not those of the create.
	p.Diff = kind.Diff{change("P[a].Tags[team]")}
	m.recordWrite(kind.Step{Fixes: []string{"P[a].Tags[team]"}}, p, noon)
	if got := seen(0, tags); !slices.Equal(got, []string{"P[b]"}) {
		t.Errorf("%v", got)
	}
}

// A create that AWS refused because the member exists is not sent again while AWS does not show it.
func TestMemory_DoesNotRepeatARefusedMember(t *testing.T) {
	p := Plan{Cause: Edited, Diff: kind.Diff{change("P[a]"), change("P[b]")}}
	for _, c := range p.Diff {
		p.Steps = append(p.Steps, kind.Step{Effect: kind.Creates, Fixes: []string{c.Path}})
	}
	a := &advance{mem: &Memory{}, h: &host{t: t, now: noon}}
	refused := func(path string, err error) error { return &StepError{Creates: true, Fixes: []string{path}, Err: err} }
	a.recordExisting(errors.Join(refused("P[b]", errRefused), refused("P[a]", errExists)), p)
	steps, pending := a.mem.due(p, time.Minute, noon.Add(time.Second))
	if len(steps) != 1 || steps[0].Fixes[0] != "P[b]" || len(pending) != 1 || pending[0].Path != "P[a]" {
		t.Errorf("due %+v, pending %+v", steps, pending)
	}
	if got := a.mem.members(time.Minute, noon); len(got) > 0 {
		t.Errorf("a refused create proves no tags: %v", got)
	}
}

// A list that lags shows deleted members for a while.
func TestMemory_DoesNotDeleteAMemberTwice(t *testing.T) {
	p := Plan{Cause: Deleting, Steps: []kind.Step{{Effect: kind.Empties, Fixes: []string{"P[a]", "P[b]"}}}}
	page := Plan{Cause: Deleting, Steps: []kind.Step{{Effect: kind.Empties}}}
	m := &Memory{}
	m.recordWrite(p.Steps[0], p, noon)
	m.recordWrite(page.Steps[0], page, noon)
	if steps, pending := m.due(p, time.Minute, noon.Add(time.Second)); len(steps) > 0 || len(pending) != 2 {
		t.Errorf("due %+v, pending %+v", steps, pending)
	}
	if steps, _ := m.due(p, time.Minute, noon.Add(time.Minute)); len(steps) != 1 {
		t.Error("not deleted again after the settle time")
	}
	if steps, _ := m.due(page, time.Minute, noon); len(steps) != 1 {
		t.Error("the next page of contents is not deleted")
	}
}
