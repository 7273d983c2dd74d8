// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/kind"
)

// An edit of the provider's defaultTags is applied as an edit, also by an operator that started after it.
func TestProvider_AnEditOfItIsNoDrift(t *testing.T) {
	m := &machine{}
	l := lifeOf(t, m, nil)
	l.synced()
	for _, step := range []struct {
		name    string
		tags    map[string]v1alpha1.TagValue
		outside string
		restart bool
		want    Cause
	}{
		{name: "a tag is added", tags: map[string]v1alpha1.TagValue{"team": "x"}, want: Edited},
		{name: "a tag gets another value", tags: map[string]v1alpha1.TagValue{"team": "y"}, want: Edited},
		{name: "somebody changes a tag in AWS", tags: map[string]v1alpha1.TagValue{"team": "y"}, outside: "z", want: Drifted},
		{name: "a tag is added and the operator restarts", tags: map[string]v1alpha1.TagValue{"team": "y", "cost": "1"}, restart: true,
			want: Edited},
		{name: "a tag gets another value while the operator is down", tags: map[string]v1alpha1.TagValue{"team": "w", "cost": "1"}, restart: true,
			want: Edited},
		{name: "a tag gets another value again", tags: map[string]v1alpha1.TagValue{"team": "y", "cost": "1"}, want: Edited},
		{name: "somebody changes a tag while the operator restarts", tags: map[string]v1alpha1.TagValue{"team": "y", "cost": "1"}, outside: "z",
			restart: true, want: Drifted},
	} {
		l.h.now, l.defaultTags, l.h.did = l.h.now.Add(time.Hour), step.tags, nil
		if step.outside != "" {
			m.tags = maps.Clone(m.tags)
			m.tags["team"] = step.outside
		}
		if step.restart {
			l.h.mem = Memory{}
		}
		l.synced()
		if !slices.Equal(l.h.did, []Cause{step.want}) || m.tags["team"] != string(step.tags["team"]) {
			t.Errorf("%s: done because of %v, tags %v; want %v", step.name, l.h.did, m.tags, step.want)
		}
		l.h.now = l.h.now.Add(time.Hour)
		l.synced()
	}
}

func TestSummarize_SaysWhatIsOnlyReported(t *testing.T) {
	o := &v1alpha1.S3Bucket{}
	for _, tc := range []struct {
		drift  int
		policy v1alpha1.ManagementPolicy
		want   string
	}{
		{0, "", "the AWS resource exists and is as declared"},
		{1, "", "the AWS resource exists and is as declared except 1 field (driftPolicy Report), see status.drift"},
		{2, v1alpha1.ManageObserve, "the AWS resource exists and is as declared except 2 fields (managementPolicy Observe), see status.drift"},
	} {
		o.Spec.ManagementPolicy = tc.policy
		Summarize(o, Outcome{Synced: true, Drift: make(kind.Diff, tc.drift)}, nil, noon, time.Time{})
		if got := o.Status.Conditions[0].Message; got != tc.want {
			t.Errorf("%q, want %q", got, tc.want)
		}
	}
}

func TestScopeOf_AnObservedResourceNeedsNoDefaultTags(t *testing.T) {
	f := Facts{Provider: v1alpha1.AWSProviderSpec{DefaultTags: map[string]v1alpha1.TagValue{"team": "x"}}}
	for policy, want := range map[v1alpha1.ManagementPolicy]string{v1alpha1.ManageFull: "x", v1alpha1.ManageObserve: ""} {
		if sc, err := ScopeOf(&v1alpha1.S3Bucket{}, Owner{Policy: Policy{Management: policy}}, f); err != nil || sc.Tags["team"] != want {
			t.Errorf("%s: %v, %v", policy, sc.Tags, err)
		}
	}
}
