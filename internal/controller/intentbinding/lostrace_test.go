// SPDX-License-Identifier: Apache-2.0

package intentbinding

import (
	"errors"
	"fmt"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/cache"
)

func TestAPassThatWasOvertakenIsMadeAgain(t *testing.T) {
	for _, c := range []struct {
		err       error
		overtaken bool
	}{
		{apierrors.NewConflict(schema.GroupResource{Resource: "things"}, "n", errors.New("newer")), true},
		{fmt.Errorf("listing ClusterPolicy: %w", &cache.ErrResourceNotCached{GVK: schema.GroupVersionKind{Kind: "ClusterPolicy"}}), true},
		{apierrors.NewForbidden(schema.GroupResource{Resource: "things"}, "n", errors.New("no")), false},
	} {
		if _, got := errors.AsType[*lostRace](explainLostRace(c.err)); got != c.overtaken {
			t.Errorf("%v: %v", c.err, got)
		}
	}
}
