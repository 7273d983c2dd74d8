// SPDX-License-Identifier: Apache-2.0

package reconciler

import (
	"errors"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/nexus-operator/nexus-operator/internal/status"
)

func TestReasonsOfApplyFailures(t *testing.T) {
	for want, err := range map[string]error{
		"Conflict":    &status.Stalled{Reason: "Conflict"},
		"Busy":        &status.Waiting{Reason: "Busy"},
		"InvalidSpec": apierrors.NewBadRequest("no"),
		"Retrying":    errors.New("boom"),
	} {
		if got := ReasonOf(err); got != want {
			t.Errorf("%v: %s, want %s", err, got, want)
		}
	}
}
