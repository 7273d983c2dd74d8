package glue

import (
	"testing"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/engine"
	"github.com/nexus-operator/nexus-operator/internal/kindtest"
	"github.com/nexus-operator/nexus-operator/internal/status"
	"github.com/nexus-operator/nexus-operator/internal/testkit/awsproxy"
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
				fails(t, s, c.op, awsproxy.Throttle(), "")
				fails(t, s, c.op, awsproxy.Fail(400, "AccessDeniedException", "not authorized"), status.ReasonAccessDenied)
			}
			if w := r.AWS.Since(mark).Writes(); w.Count() > 0 {
				t.Errorf("written to:\n%s", w)
			}
		})
	}
}

// fails strikes one read and wants the pass to end there, stalled if there is a reason to.
func fails(t *testing.T, s *kindtest.Subject, op string, with awsproxy.Action, reason string) {
	t.Helper()
	rule := s.Rig.AWS.Fault(awsproxy.Match{Service: "glue", Op: op, Times: 1}, with)
	out, err := s.Pass(t.Context(), nil)
	if err == nil || out.Gone || out.Synced || rule.Hits() != 1 {
		t.Fatalf("%+v %v", out, err)
	}
	if st, ok := status.AsStalled(err); ok != (reason != "") || ok && st.Reason != reason {
		t.Fatalf("got %v, want %q", err, reason)
	}
}

// What is deleted between the two reads is absent: the tags of nothing are not found.
func TestWhatVanishesBetweenTwoReadsIsAbsent(t *testing.T) {
	for _, e := range []struct {
		entry  engine.Entry
		object v1alpha1.Resource
	}{{engine.For(NewDatabase), databaseOf(nil)}, {engine.For(NewCrawler), crawlerOf()}} {
		r := kindtest.NewRig(t)
		s := kindtest.NewSubject(r, e.entry, e.object)
		settle(t, s)
		r.AWS.Fault(awsproxy.Match{Service: "glue", Op: "GetTags", Times: 1}, awsproxy.Fail(400, "EntityNotFoundException", "Entity Not Found"))
		p, err := s.Decide(t.Context())
		if err != nil || p.Exists || p.Cause != engine.New {
			t.Errorf("%s: %+v %v", e.entry.Name(), p, err)
		}
	}
}
