// SPDX-License-Identifier: Apache-2.0

package intentbinding

import (
	"errors"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/nexus-operator/nexus-operator/internal/status"
)

func TestPolicySeries(t *testing.T) {
	start := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	s := newPolicySeries()
	b, one, other := types.NamespacedName{Name: "b"}, types.NamespacedName{Name: "one"}, types.NamespacedName{Name: "other"}
	failure := errors.New("x")
	for _, step := range []struct {
		policy types.NamespacedName
		err    error
		at     int
		want   int // -1 is none
	}{
		{one, failure, 0, 0}, {other, nil, 1, -1}, {one, failure, 2, 0}, {other, failure, 3, 3}, {one, &status.Waiting{For: "x"}, 4, -1}, {one, failure, 5, 5}, {other, failure, 6, 3},
	} {
		want := time.Time{}
		if step.want >= 0 {
			want = start.Add(time.Duration(step.want) * time.Minute)
		}
		if got := s.observe(b, step.policy, step.err, start.Add(time.Duration(step.at)*time.Minute)); !got.Equal(want) {
			t.Errorf("minute %d, %s: since %v, want %v", step.at, step.policy.Name, got, want)
		}
	}
	s.drop(b)
	if len(s.since) != 0 {
		t.Error("a binding that is gone is remembered")
	}
}
