// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"reflect"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/capability"
)

func TestKeepFor_SaysWhatIsRecoverable(t *testing.T) {
	until := metav1.NewTime(time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC))
	with := func(grace time.Duration, state nexusv1.RecoveryState) *nexusv1.NexusAICapability {
		c := &nexusv1.NexusAICapability{}
		c.Spec.DeletionPolicy = nexusv1.DeletionDelete
		c.Spec.Deletion = &nexusv1.DeletionSpec{Graceful: &metav1.Duration{Duration: grace}}
		if state != "" {
			c.Status.Recovery = &nexusv1.RecoveryStatus{State: state, Until: until}
		}
		return c
	}
	for name, tc := range map[string]struct {
		kind string
		aws  bool
		c    *nexusv1.NexusAICapability
		want *Recoverable
	}{
		"a bucket before the deletion": {"S3Bucket", true, with(24*time.Hour, ""), &Recoverable{For: "24h"}},
		"a bucket that is kept":        {"S3Bucket", true, with(24*time.Hour, nexusv1.RecoveryWaiting), &Recoverable{Until: "2026-05-01T12:00:00Z"}},
		"a bucket after the time":      {"S3Bucket", true, with(24*time.Hour, nexusv1.RecoveryEnded), nil},
		"a bucket without a time":      {"S3Bucket", true, with(0, ""), nil},
		"a role":                       {"IAMRole", true, with(24*time.Hour, ""), nil},
		"a Deployment":                 {"Deployment", false, with(24*time.Hour, ""), nil},
		"a policy of an engine":        {"NetworkPolicy", false, with(24*time.Hour, ""), nil},
	} {
		it := &Item{Kind: tc.kind}
		if tc.aws {
			it.AWS = &Resource{}
		}
		it.keepFor(tc.c, capability.DefaultGrace{All: time.Hour})
		if !reflect.DeepEqual(it.Recoverable, tc.want) {
			t.Errorf("%s: %+v, want %+v", name, it.Recoverable, tc.want)
		}
	}
}
