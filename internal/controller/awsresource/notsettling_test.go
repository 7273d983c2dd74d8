// SPDX-License-Identifier: Apache-2.0

package awsresource

import (
	"context"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/api/wellknown"
	"github.com/nexus-operator/nexus-operator/internal/engine"
	"github.com/nexus-operator/nexus-operator/internal/kind"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// sieve is a drawer that acknowledges a tag and never shows it.
type sieve struct {
	drawer
	writes int
	// busy is for how many looks AWS is at work after a write.
	busy int
}

func (s *sieve) Observe(ctx context.Context, want drawerState, look kind.Look) (kind.Seen[drawerState], error) {
	seen, err := s.drawer.Observe(ctx, want, look)
	if s.busy > 0 {
		s.busy--
		seen.Busy = "updating"
	}
	return seen, err
}

func (s *sieve) Converge(want drawerState, seen kind.Seen[drawerState], diff kind.Diff) []kind.Step {
	if !seen.Exists {
		return s.drawer.Converge(want, seen, diff)
	}
	return []kind.Step{{Action: "s3:PutBucketTagging", Fixes: []string{"Tags"}, Do: func(context.Context, string) (string, error) {
		s.writes++
		s.busy = 2
		return "", nil
	}}}
}

// A value that AWS never shows is written three times, and three times more for each request of a check.
func TestNotSettling_WritesAgainOnlyWhenAPersonAsks(t *testing.T) {
	o := bucket(fresh)
	r, d := newDrawer(t, o)
	s := &sieve{drawer: *d}
	r.Entry = engine.For(func(aws.Config) kind.Kind[*v1alpha1.S3Bucket, drawerState] { return s })
	r.pass(o)
	o.Spec.Tags = map[string]v1alpha1.TagValue{"team": "search"}
	o.Generation++
	if err := r.client.Update(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	for _, asked := range []string{"", "once", "twice"} {
		if asked != "" {
			o.Annotations[wellknown.AnnotationReconcileAt] = asked
			if err := r.client.Update(t.Context(), o); err != nil {
				t.Fatal(err)
			}
		}
		before := s.writes
		for range 30 {
			_, _ = r.reconcile(o) // ends with the failure
			r.read(o)
			r.clock.SetTime(r.clock.Now().Add(time.Minute))
		}
		if n := s.writes - before; n != 3 {
			t.Errorf("asked %q: %d writes in half an hour", asked, n)
		}
		if c := meta.FindStatusCondition(o.Status.Conditions, status.Ready); c == nil || c.Reason != status.ReasonNotSettling ||
			o.Status.LastHandledReconcileAt != asked {
			t.Errorf("asked %q: %+v, handled %q", asked, c, o.Status.LastHandledReconcileAt)
		}
	}
}
