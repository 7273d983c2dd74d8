// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"os"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
)

func TestDocument_IsUpToDate(t *testing.T) {
	text, err := os.ReadFile("../../docs/metrics.md")
	if err != nil {
		t.Fatal(err)
	}
	if string(text) != Document() {
		t.Error("docs/metrics.md differs from the definitions: run make generate")
	}
}

func TestDefinitions_AreComplete(t *testing.T) {
	seen := map[string]bool{}
	for _, d := range All() {
		if seen[d.Name] || d.Help == "" || d.Section == "" || (d.Type == Histogram) != (len(d.Buckets) > 0) {
			t.Errorf("%s is defined twice or lacks help, section or buckets", d.Name)
		}
		seen[d.Name] = true
		for _, l := range d.Labels {
			if l.Name == "" || l.Meaning == "" {
				t.Errorf("%s: label %q has no meaning", d.Name, l.Name)
			}
		}
	}
}

func TestBound_LetsSoManyValuesThrough(t *testing.T) {
	b := NewBound(2)
	for i, want := range []string{"a", "b", Other, "a"} {
		if got := b.Value([]string{"a", "b", "c", "a"}[i]); got != want {
			t.Errorf("value %d is %s, want %s", i, got, want)
		}
	}
	if got := NewBound(1).Value(string(make([]byte, maxValue+1))); got != Other {
		t.Error("a value without end is let through")
	}
}

func TestReplace_AsksTheLastCollectorOnly(t *testing.T) {
	registry := prometheus.NewRegistry()
	for n := range 2 {
		g := prometheus.NewGauge(prometheus.GaugeOpts{Name: "g", Help: "h"})
		g.Set(float64(n + 1))
		if err := Replace(registry, g); err != nil {
			t.Fatal(err)
		}
		families, err := registry.Gather()
		if err != nil || len(families) != 1 || families[0].Metric[0].GetGauge().GetValue() != float64(n+1) {
			t.Errorf("%v %v, want %d", families, err, n+1)
		}
	}
	other := prometheus.NewCounter(prometheus.CounterOpts{Name: "g", Help: "another"})
	if err := Replace(registry, other); err == nil {
		t.Error("a metric of another description was replaced")
	}
}
