// SPDX-License-Identifier: Apache-2.0

package reconciler

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/api/wellknown"
)

func TestFrozenUntilResumed(t *testing.T) {
	now := new(metav1.Now())
	for name, c := range map[string]struct {
		suspend, paused bool
		deleted         *metav1.Time
		want            bool
	}{
		"neither":             {false, false, nil, false},
		"suspended":           {true, false, nil, true},
		"suspended, deleting": {true, false, now, false},
		"paused":              {false, true, nil, true},
		"paused, deleting":    {false, true, now, true},
	} {
		o := &nexusv1.NexusAICapability{ObjectMeta: metav1.ObjectMeta{DeletionTimestamp: c.deleted}}
		o.Spec.Suspend = c.suspend
		if c.paused {
			o.Annotations = map[string]string{wellknown.AnnotationPaused: "true"}
		}
		if Freezes(o) != c.want {
			t.Errorf("%s: want %v", name, c.want)
		}
	}
}
