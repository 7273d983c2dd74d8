// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"errors"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
)

// Type is the type of a metric.
type Type string

// The types of metrics in use.
const (
	Counter   Type = "counter"
	Gauge     Type = "gauge"
	Histogram Type = "histogram"
)

// Label is a label of a metric and the meaning of its values, in Markdown.
type Label struct{ Name, Meaning string }

// Definition describes a metric.
type Definition struct {
	Name string
	Type Type
	// Section is the heading of the metric in the document.
	Section string
	Help    string
	Labels  []Label
	// Buckets are the upper bounds of a histogram's buckets, in seconds.
	Buckets []float64
}

// LabelNames returns the names of the labels in their order.
func (d Definition) LabelNames() []string {
	out := make([]string, len(d.Labels))
	for i, l := range d.Labels {
		out[i] = l.Name
	}
	return out
}

// Desc returns the descriptor of the metric, for collectors that compute it when asked.
func (d Definition) Desc() *prometheus.Desc {
	return prometheus.NewDesc(d.Name, d.Help, d.LabelNames(), nil)
}

// CounterVec returns a new counter of the definition.
func (d Definition) CounterVec() *prometheus.CounterVec {
	return prometheus.NewCounterVec(prometheus.CounterOpts{Name: d.Name, Help: d.Help}, d.LabelNames())
}

// GaugeVec returns a new gauge of the definition.
func (d Definition) GaugeVec() *prometheus.GaugeVec {
	return prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: d.Name, Help: d.Help}, d.LabelNames())
}

// HistogramVec returns a new histogram of the definition.
func (d Definition) HistogramVec() *prometheus.HistogramVec {
	return prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: d.Name, Help: d.Help, Buckets: d.Buckets}, d.LabelNames())
}

// Register registers a collector. Where an equal one is registered already, it replaces *c with that one, so that both
// callers count together. A nil registerer registers nothing.
func Register[C prometheus.Collector](to prometheus.Registerer, c *C) error {
	if to == nil {
		return nil
	}
	err := to.Register(*c)
	if already, ok := errors.AsType[prometheus.AlreadyRegisteredError](err); ok {
		if same, ok := already.ExistingCollector.(C); ok {
			*c = same
			return nil
		}
	}
	return err
}

// Replace registers a collector in the place of an equal one, which is no longer asked. A nil registerer registers
// nothing.
func Replace(to prometheus.Registerer, c prometheus.Collector) error {
	if to == nil {
		return nil
	}
	err := to.Register(c)
	if already, ok := errors.AsType[prometheus.AlreadyRegisteredError](err); ok {
		to.Unregister(already.ExistingCollector)
		return to.Register(c)
	}
	return err
}

// Other is the value of a label for everything beyond its bound.
const Other = "Other"

// Bound limits the number of values that a label takes: values from outside the operator must not create series without end. Its zero value
// lets nothing through.
type Bound struct {
	most int

	mu   sync.Mutex
	seen map[string]bool
}

// NewBound returns a bound of most values.
func NewBound(most int) *Bound { return &Bound{most: most, seen: map[string]bool{}} }

// Value returns the value, or Other once the bound is reached by other values.
func (b *Bound) Value(v string) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.seen[v]:
		return v
	case len(b.seen) >= b.most || len(v) > maxValue:
		return Other
	}
	b.seen[v] = true
	return v
}

// maxValue limits the length of a value that is shown; no error code of AWS and no reason is as long.
const maxValue = 128
