// SPDX-License-Identifier: Apache-2.0

package glue

import (
	"testing"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/emulator"
	"github.com/nexus-operator/nexus-operator/internal/engine"
	"github.com/nexus-operator/nexus-operator/internal/kindtest"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// Only Glue's own "not found" is absence: a throttle taken for it would make a second resource, a
// refusal taken for it would leak the first.
func TestAFailedReadIsNotAbsence(t *testing.T) {
	for _, c := range []struct {
		op     string
		entry  engine.Entry
		object v1alpha1.Resource
	}{
		{"GetDatabase", engine.For(NewDatabase), databaseOf(fullDatabase)},
		{"GetTable", engine.For(NewTable), tableOf(fullTable)},
		{"GetCrawler", engine.For(NewCrawler), crawlerOf(fullCrawler)},
		{"GetTags", engine.For(NewDatabase), databaseOf(fullDatabase)},
		{"GetTags", engine.For(NewCrawler), crawlerOf(fullCrawler)},
	} {
		t.Run(c.op+" of "+c.entry.Name(), func(t *testing.T) {
			r := kindtest.NewRig(t)
			if c.op == "GetTable" {
				inLake(t, r)
			}
			s := kindtest.NewSubject(r, c.entry, c.object)
			settle(t, s)
			mark := r.AWS.Mark()
			for _, s.Deleting = range []bool{false, true} {
				fails(t, s, c.op, emulator.Throttle(), "")
				fails(t, s, c.op, emulator.Fail(400, "AccessDeniedException", "not authorized"), status.ReasonAccessDenied)
			}
			if w := r.AWS.Since(mark).Writes(); w.Count() > 0 {
				t.Errorf("written to:\n%s", w)
			}
		})
	}
}

// fails strikes one read and wants the pass to end there, stalled if there is a reason to.
func fails(t *testing.T, s *kindtest.Subject, op string, with emulator.Action, reason string) {
	t.Helper()
	rule := s.Rig.AWS.Fault(emulator.Match{Service: "glue", Op: op, Times: 1}, with)
	out, err := s.Pass(t.Context(), nil)
	if err == nil || out.Gone || out.Synced || rule.Hits() != 1 {
		t.Fatalf("%+v %v", out, err)
	}
	if st, ok := status.AsStalled(err); ok != (reason != "") || ok && st.Reason != reason {
		t.Fatalf("got %v, want %q", err, reason)
	}
}

// A denied or failed list of tables must not be read as an empty database.
func TestDatabase_UnreadableTablesHoldTheDeletion(t *testing.T) {
	r := kindtest.NewRig(t)
	s := kindtest.NewSubject(r, engine.For(NewDatabase), databaseOf(nil))
	settle(t, s)
	s.Deleting = true
	mark := r.AWS.Mark()
	fails(t, s, "GetTables", emulator.Throttle(), "")
	fails(t, s, "GetTables", emulator.Fail(400, "AccessDeniedException", "not authorized"), status.ReasonAccessDenied)
	if w := r.AWS.Since(mark).Writes(); w.Count() > 0 {
		t.Errorf("written to:\n%s", w)
	}
}

// The tags of a resource that was deleted between two reads are not found. One such answer proves
// nothing: it may come from a replica that lags.
func TestTagsNotFoundAreLookedAtAgain(t *testing.T) {
	for _, e := range []struct {
		entry  engine.Entry
		object v1alpha1.Resource
		end    func(*testing.T, *kindtest.Rig)
	}{{engine.For(NewDatabase), databaseOf(nil), endDatabase}, {engine.For(NewCrawler), crawlerOf(), endCrawler}} {
		r := kindtest.NewRig(t)
		s := kindtest.NewSubject(r, e.entry, e.object)
		settle(t, s)
		r.AWS.Fault(emulator.Match{Service: "glue", Op: "GetTags", Times: 1}, emulator.Fail(400, "EntityNotFoundException", "Entity Not Found"))
		mark := r.AWS.Mark()
		_, err := s.Pass(t.Context(), nil)
		waitsFor(t, err, "a second look")
		if w := r.AWS.Since(mark).Writes(); w.Count() > 0 {
			t.Errorf("%s: written to:\n%s", e.entry.Name(), w)
		}
		e.end(t, r)
		p, err := s.Decide(t.Context())
		if err != nil || p.Exists || p.Cause != engine.New {
			t.Errorf("%s: %+v %v", e.entry.Name(), p, err)
		}
	}
}
