// SPDX-License-Identifier: Apache-2.0

package awsclient

import (
	"cmp"
	"errors"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/nexus-operator/nexus-operator/internal/metrics"
)

// classOK is the class and the code in the labels of calls that succeeded.
const classOK = "OK"

const (
	// noCode is the code label of calls that got no answer.
	noCode = "None"
	// mostCodes bounds the code label: an endpoint may answer anything.
	mostCodes = 128
)

// meter counts calls.
type meter struct {
	requests        *prometheus.CounterVec
	seconds         *prometheus.HistogramVec
	throttled       *prometheus.CounterVec
	waits           *prometheus.HistogramVec
	refused         *prometheus.CounterVec
	refreshFailures prometheus.Counter
	codes           *metrics.Bound
}

// newMeter registers the metrics, or finds those another Sessions registered before. A nil registerer
// counts for no one.
func newMeter(to prometheus.Registerer) (*meter, error) {
	m := &meter{
		requests: metrics.AWSRequests.CounterVec(), seconds: metrics.AWSRequestDuration.HistogramVec(),
		throttled: metrics.AWSThrottled.CounterVec(),
		waits:     metrics.AWSLimiterWait.HistogramVec(), refused: metrics.AWSLimiterRefused.CounterVec(), codes: metrics.NewBound(mostCodes),
	}
	failures := metrics.RoleSessionRefreshFailures.CounterVec()
	err := errors.Join(metrics.Register(to, &m.requests), metrics.Register(to, &m.seconds), metrics.Register(to, &m.throttled),
		metrics.Register(to, &m.waits), metrics.Register(to, &m.refused), metrics.Register(to, &failures))
	m.refreshFailures = failures.WithLabelValues()
	return m, err
}

// waited observes the wait of a call for its turn. The counters of a service that are rarely counted up are present from
// its first call.
func (m *meter) waited(service string, took time.Duration, err error) {
	m.waits.WithLabelValues(service).Observe(took.Seconds())
	m.throttled.WithLabelValues(service)
	refused := m.refused.WithLabelValues(service)
	if _, ok := errors.AsType[*pacedError](err); ok {
		refused.Inc()
	}
}

// count counts an answered call; the class is empty for success.
func (m *meter) count(f Failure, took time.Duration) {
	class, code := string(f.Class), classOK
	if class == "" {
		class = classOK
	} else {
		code = m.codes.Value(cmp.Or(f.Code, noCode))
	}
	m.requests.WithLabelValues(f.Service, f.Operation, class, code).Inc()
	m.seconds.WithLabelValues(f.Service, f.Operation).Observe(took.Seconds())
	if f.Class == Throttled {
		m.throttled.WithLabelValues(f.Service).Inc()
	}
}

// sessionExpiry collects the end of the role session in use that ends first.
type sessionExpiry struct{ *Sessions }

// inUse says how recently a session must have been opened to be reported: one that no one opens is not replaced, and ends.
const inUse = 10 * time.Minute

// Describe implements prometheus.Collector.
func (sessionExpiry) Describe(to chan<- *prometheus.Desc) { to <- metrics.RoleSessionExpiry.Desc() }

// Collect implements prometheus.Collector.
func (s sessionExpiry) Collect(to chan<- prometheus.Metric) {
	if first := s.firstEnd(); !first.IsZero() {
		to <- prometheus.MustNewConstMetric(metrics.RoleSessionExpiry.Desc(), prometheus.GaugeValue, float64(first.Unix()))
	}
}

func (s sessionExpiry) firstEnd() time.Time {
	var first time.Time
	for _, e := range s.recent() {
		session := e.open()
		if session == nil {
			continue
		}
		cache, ok := session.Config.Credentials.(*sessionCache)
		if !ok {
			continue
		}
		if ends := cache.expiry(); !ends.IsZero() && (first.IsZero() || ends.Before(first)) {
			first = ends
		}
	}
	return first
}

func (s sessionExpiry) recent() []*entry {
	if s.now == nil {
		return nil
	}
	now := s.now()
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]*entry, 0, len(s.opened))
	for _, e := range s.opened {
		if now.Sub(e.used) < inUse {
			out = append(out, e)
		}
	}
	return out
}
