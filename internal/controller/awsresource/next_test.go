// SPDX-License-Identifier: Apache-2.0

package awsresource

import (
	"testing"
	"time"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/controller/reconciler"
	"github.com/nexus-operator/nexus-operator/internal/engine"
	"github.com/nexus-operator/nexus-operator/internal/kind"
)

func TestNotesThatNeedAPersonAreLookedAtSooner(t *testing.T) {
	r := &Reconciler{Environment: reconciler.Environment{Intervals: reconciler.Intervals{Check: time.Hour, Stalled: time.Minute,
		CheckOf: map[string]time.Duration{"IAMRole": time.Hour}}}, Entry: roleEntry{}}
	if got := r.cadence().nextLook(&v1alpha1.S3Bucket{}, []kind.Note{{Recheck: false}}); got != time.Hour {
		t.Errorf("in order: %s", got)
	}
	if got := r.cadence().nextLook(&v1alpha1.S3Bucket{}, []kind.Note{{Recheck: true}}); got != time.Minute {
		t.Errorf("to be repaired: %s", got)
	}
}

// A person who has repaired the IAM OIDC provider, or removed it, sees that at once.
func TestAgesOfOIDCProvider_ARequestedCheckLooksAnew(t *testing.T) {
	r := &Reconciler{Environment: reconciler.Environment{Intervals: reconciler.Intervals{Check: time.Hour, Stalled: 10 * time.Minute}},
		Entry: roleEntry{}}
	if every, retry := agesOfOIDCProvider(r.Intervals, false); every != 48*time.Minute || retry != 8*time.Minute {
		t.Errorf("periodic check: %s, %s", every, retry)
	}
	if every, retry := agesOfOIDCProvider(r.Intervals, true); every > 10*time.Second || retry > 10*time.Second {
		t.Errorf("requested check: %s, %s", every, retry)
	}
}

// roleEntry is an Entry that only has a name.
type roleEntry struct{ engine.Entry }

// Name implements engine.Entry.
func (roleEntry) Name() string { return "IAMRole" }
