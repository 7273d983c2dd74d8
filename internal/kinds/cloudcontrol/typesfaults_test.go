// SPDX-License-Identifier: Apache-2.0

package cloudcontrol

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/emulator"
	"github.com/nexus-operator/nexus-operator/internal/kindtest"
	"github.com/nexus-operator/nexus-operator/internal/testkit/awstypes"
)

// strike is a fault that any call of a type's life may meet.
type strike struct {
	name   string
	kills  bool
	action func(hook func()) emulator.Action
}

var strikes = []strike{
	{name: "killed after", kills: true, action: emulator.ForwardThen},
	{name: "answer lost", action: func(func()) emulator.Action { return emulator.LoseAnswer() }},
	{name: "killed before", kills: true, action: emulator.BeforeThen},
	{name: "throttled", action: func(func()) emulator.Action { return emulator.Throttle() }},
}

// requestTime holds a request of the double up, so that an operator can die while one is under way.
const requestTime = 7 * time.Second

// edited returns the properties with one that is changed, the name of that one, and its value; empty where none can be changed.
func (l *anyLife) edited() (map[string]any, string) {
	names, _ := l.editable()
	for _, name := range names {
		after, ok := l.sample.Another(l.properties, name, 2)
		if !ok || sameJSON(l.properties[name], after) || l.sameSet(name, l.properties[name], after) {
			continue
		}
		out := maps.Clone(l.properties)
		out[name] = after
		return out, name
	}
	return nil, ""
}

// struck is one life of create, edit and deletion. The nth call of an operation meets a fault; without an operation none does. It returns
// the calls of the life.
func (l *anyLife) struck(t *testing.T, types *awstypes.Types, m emulator.Match, f strike) emulator.Calls {
	t.Helper()
	l.place(t, types, l.properties)
	l.double.SetDuration(requestTime)
	var killed atomic.Bool // set by the proxy, read by the pass
	kill := func() bool { return killed.Swap(false) && f.kills }
	var hits func() int
	if m.Op != "" {
		rule := l.Rig.AWS.Fault(m, f.action(func() { killed.Store(true) }))
		hits = rule.Hits
	}
	settle := func(what string) {
		t.Helper()
		if out, err := l.Settle(t.Context(), kill); err != nil || out.Gone != l.Deleting {
			t.Fatalf("%s: %v %+v\n%s", what, err, out, l.Rig.AWS.Calls())
		}
	}
	settle("create")
	if found := l.double.Identifiers(l.schema.Name); len(found) != 1 {
		t.Fatalf("%d resources after the create\n%s", len(found), l.Rig.AWS.Calls())
	}
	if edited, name := l.edited(); name != "" {
		l.declare(edited)
		settle("edit of " + name)
		if got := l.shown(name); !sameJSON(got, edited[name]) {
			t.Fatalf("%s after an edit is %v, want %v\n%s", name, got, edited[name], l.Rig.AWS.Calls())
		}
	}
	l.Deleting = true
	settle("deletion")
	if left := l.double.Identifiers(l.schema.Name); len(left) > 0 {
		t.Fatalf("left behind: %v\n%s", left, l.Rig.AWS.Calls())
	}
	if hits != nil && hits() != 1 {
		t.Fatalf("the fault struck %d times", hits())
	}
	if n := len(l.Rig.AWS.Calls()); n > 200 {
		t.Fatalf("%d calls", n)
	}
	return l.Rig.AWS.Calls()
}

// place makes a subject that declares properties, with a double that answers it.
func (l *anyLife) place(t *testing.T, types *awstypes.Types, properties map[string]any) {
	t.Helper()
	l.bench = placeWith(t, kindtest.NewSubject(kindtest.NewRig(t), entry, l.object(properties)), types)
}

// object declares properties of the type.
func (l *anyLife) object(properties map[string]any) *v1alpha1.AWSResource {
	text, err := json.Marshal(properties)
	if err != nil {
		panic(fmt.Sprintf("properties of %s: %v", l.schema.Name, err)) // they were made from JSON
	}
	return resourceOf(l.schema.Name, string(text))
}

// strikesAt returns the faults that the nth call of a type's life meets.
func (l *anyLife) strikesAt(m emulator.Match, turn, n int) []strike {
	if l.inSample {
		var out []strike
		if n%2 == turn%2 {
			out = append(out, strikes[2*((turn+n)/2%2)]) // killed after, or before
		}
		if strings.HasSuffix(m.Op, "Resource") && m.Op != "GetResource" {
			out = append(out, strikes[1])
		}
		return out
	}
	if n%8 != turn%8 {
		return nil
	}
	return []strike{strikes[(turn/8+n)%len(strikes)]}
}

// Each call of a type's life meets a fault: the operator dies right before or after it, its answer is lost, or it is throttled. The end is
// always the same. In the sample of types, the operator is killed at every second call, and every answer to a write is lost. In full, a
// type meets faults at an eighth of its calls. The calls and the faults rotate from type to type, so that all meet all.
func TestTypes_SurviveAFaultAtEveryCall(t *testing.T) {
	lives := 0
	eachType(t, 20, someOfSample, func(t *testing.T, types *awstypes.Types, l *anyLife, turn int) {
		var places []emulator.Match
		for _, c := range l.struck(t, types, emulator.Match{}, strike{}) {
			m := emulator.Match{Service: c.Service, Op: c.Op, Times: 1, Nth: 1}
			for slices.Contains(places, m) {
				m.Nth++
			}
			places = append(places, m)
		}
		for n, m := range places {
			for _, f := range l.strikesAt(m, turn, n) {
				lives++
				t.Run(fmt.Sprintf("%s/%s#%d", f.name, m.Op, m.Nth), func(t *testing.T) { l.struck(t, types, m, f) })
			}
		}
	})
	t.Logf("%d lives with a fault", lives)
}

// Reads of AWS lag behind its writes for resources of every type. Each type meets one of the lags of the suite.
func TestTypes_SurviveLag(t *testing.T) {
	eachType(t, 30, someOfSample, func(t *testing.T, types *awstypes.Types, l *anyLife, turn int) {
		name := l.schema.Name
		life := kindtest.Life{
			Sample: l.object(l.properties),
			Facts:  func(s *kindtest.Subject) { l.bench = placeWith(t, s, types) },
			Exists: func(*testing.T, *kindtest.Rig) bool { return len(l.double.Identifiers(name)) > 0 },
		}
		if edited, what := l.edited(); what != "" {
			life.Edited = l.object(edited)
		}
		kindtest.LagInTurn(t, entry, life, turn)
	})
}
