// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"errors"
	"runtime/debug"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// The classes of failed reconciles.
const (
	ClassStalled    = "Stalled"
	ClassAWS        = "AWS"
	ClassKubernetes = "Kubernetes"
	ClassError      = "Error"
)

// Recorder counts the actions of controllers. A nil Recorder counts nothing.
type Recorder struct {
	failures  *prometheus.CounterVec
	detected  *prometheus.CounterVec
	corrected *prometheus.CounterVec
	steps     *prometheus.HistogramVec
	messages  *prometheus.CounterVec
	unread    *prometheus.CounterVec
	heartbeat *prometheus.GaugeVec
}

// NewRecorder registers the counters of controllers and the build information, or finds those registered before. Drift
// of the kinds, and durations of the steps, are present from the start.
func NewRecorder(to prometheus.Registerer, kinds, steps []string) (*Recorder, error) {
	r := &Recorder{failures: ReconcileFailures.CounterVec(), detected: DriftDetected.CounterVec(), corrected: DriftCorrected.CounterVec(),
		steps:    CapabilityStepDuration.HistogramVec(),
		messages: DriftMessages.CounterVec(), unread: DriftReadFailures.CounterVec(), heartbeat: DriftHeartbeat.GaugeVec()}
	if err := errors.Join(Register(to, &r.failures), Register(to, &r.detected), Register(to, &r.corrected), Register(to, &r.steps),
		Register(to, &r.messages),
		Register(to, &r.unread), Replace(to, r.heartbeat), Replace(to, buildInfo())); err != nil {
		return nil, err
	}
	for _, k := range kinds {
		r.detected.WithLabelValues(k)
		r.corrected.WithLabelValues(k)
	}
	for _, s := range steps {
		r.steps.WithLabelValues(s)
	}
	return r, nil
}

// Version returns the version of the operator's module, as Go recorded it in the binary.
func Version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	return info.Main.Version
}

func buildInfo() prometheus.Collector {
	version, revision, release := Version(), "", ""
	if info, ok := debug.ReadBuildInfo(); ok {
		release = info.GoVersion
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				revision = s.Value
			}
		}
	}
	g := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: BuildInfo.Name, Help: BuildInfo.Help}, BuildInfo.LabelNames())
	g.WithLabelValues(version, revision, release).Set(1)
	return g
}

// ShardInfo returns the gauge of a process that serves one of so many shards.
func ShardInfo(index, shards int) prometheus.Collector {
	g := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: Shards.Name, Help: Shards.Help}, Shards.LabelNames())
	g.WithLabelValues(strconv.Itoa(index)).Set(float64(shards))
	return g
}

// Controller makes the failures of a controller present before the first one.
func (r *Recorder) Controller(name string) {
	if r == nil {
		return
	}
	for _, class := range []string{ClassStalled, ClassAWS, ClassKubernetes, ClassError} {
		r.failures.WithLabelValues(name, class)
	}
}

// ReconcileFailed counts a failed reconcile.
func (r *Recorder) ReconcileFailed(controller, class string) {
	if r != nil {
		r.failures.WithLabelValues(controller, class).Inc()
	}
}

// DriftDetected counts an AWS resource that was found changed outside the operator.
func (r *Recorder) DriftDetected(kind string) {
	if r != nil {
		r.detected.WithLabelValues(kind).Inc()
	}
}

// DriftCorrected counts a drift that the operator corrected.
func (r *Recorder) DriftCorrected(kind string) {
	if r != nil {
		r.corrected.WithLabelValues(kind).Inc()
	}
}

// StepTook observes the duration of a step of a capability.
func (r *Recorder) StepTook(step string, took time.Duration) {
	if r != nil {
		r.steps.WithLabelValues(step).Observe(took.Seconds())
	}
}

// DriftMessage counts a message of a queue of drift events.
func (r *Recorder) DriftMessage(result string) {
	if r != nil {
		r.messages.WithLabelValues(result).Inc()
	}
}

// DriftResults has the results of messages of drift events, and the failures to read a queue, counted from zero.
func (r *Recorder) DriftResults(results ...string) {
	if r == nil {
		return
	}
	for _, result := range results {
		r.messages.WithLabelValues(result).Add(0)
	}
	r.unread.WithLabelValues().Add(0)
}

// DriftHeartbeat shows the time of the newest heartbeat of an account and region.
func (r *Recorder) DriftHeartbeat(account, region string, at time.Time) {
	if r != nil {
		r.heartbeat.WithLabelValues(account, region).Set(float64(at.Unix()))
	}
}

// DriftReadFailed counts a failed attempt to read a queue of drift events.
func (r *Recorder) DriftReadFailed() {
	if r != nil {
		r.unread.WithLabelValues().Inc()
	}
}
