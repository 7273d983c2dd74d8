// SPDX-License-Identifier: Apache-2.0

package controller_test

import (
	"errors"
	"fmt"
	"math"
	"runtime"
	"testing"

	dto "github.com/prometheus/client_model/go"
	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"

	intentv1alpha1 "github.com/nexus-operator/nexus-operator/api/intent/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/metrics"
	"github.com/nexus-operator/nexus-operator/internal/testkit/extent"
)

// gathered returns the value of the gauge of objects of a kind in a state; -1 without it.
func gathered(t *testing.T, kind, state string) float64 {
	t.Helper()
	families, err := ctrlmetrics.Registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() != metrics.Resources.Name {
			continue
		}
		for _, m := range f.Metric {
			if labelOf(m, "kind") == kind && labelOf(m, "state") == state {
				return m.GetGauge().GetValue()
			}
		}
	}
	return -1
}

func labelOf(m *dto.Metric, name string) string {
	for _, l := range m.Label {
		if l.GetName() == name {
			return l.GetValue()
		}
	}
	return ""
}

func TestStateMetrics_CountAThousandObjectsWithoutCopies(t *testing.T) {
	extent.Full(t)
	const objects = 1000
	h := start(t)
	h.eventually("the gauges", func() error {
		if gathered(t, "SecurityIntent", "Ready") < 0 {
			return errors.New("there are none")
		}
		return nil
	})
	without := allocations(t)
	g := errgroup.Group{}
	g.SetLimit(16)
	for i := range objects {
		g.Go(func() error {
			return h.c.Create(t.Context(), &intentv1alpha1.SecurityIntent{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("metrics-%d", i)},
				Spec: intentv1alpha1.SecurityIntentSpec{Intent: intentv1alpha1.Intent{ID: "dnsManipulation", Action: "Block",
					Tags: []string{"a", "b", "c"}}}})
		})
	}
	if err := g.Wait(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.c.DeleteAllOf(t.Context(), &intentv1alpha1.SecurityIntent{}) })
	h.eventually("the objects to be Ready", func() error {
		if got := gathered(t, "SecurityIntent", "Ready"); got < objects {
			return fmt.Errorf("%v are Ready", got)
		}
		return nil
	})
	if perObject := (allocations(t) - without) / objects; perObject > 2 {
		t.Errorf("%.1f allocations for each object: objects are copied", perObject)
	} else {
		t.Logf("%.2f allocations for each object", perObject)
	}
}

// allocations returns how often gathering the metrics allocates memory. Other goroutines allocate as well, so that the least of
// some times counts.
func allocations(t *testing.T) float64 {
	t.Helper()
	var before, after runtime.MemStats
	least := uint64(math.MaxUint64)
	for range 5 {
		runtime.ReadMemStats(&before)
		gathered(t, "SecurityIntent", "Ready")
		runtime.ReadMemStats(&after)
		least = min(least, after.Mallocs-before.Mallocs)
	}
	return float64(least)
}

func TestStateMetrics_EndWithTheLeader(t *testing.T) {
	extent.Full(t)
	h := start(t)
	h.eventually("the gauges", func() error {
		if gathered(t, "S3Bucket", "Ready") < 0 {
			return errors.New("there are none")
		}
		return nil
	})
	h.stop()
	if got := gathered(t, "S3Bucket", "Ready"); got >= 0 {
		t.Errorf("%v objects are counted without a leader", got)
	}
}
