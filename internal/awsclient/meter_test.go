// SPDX-License-Identifier: Apache-2.0

package awsclient

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/nexus-operator/nexus-operator/internal/metrics"
)

func TestCallsAreCountedByCode(t *testing.T) {
	m := newMetered(t, nil)
	for _, answer := range []func(http.ResponseWriter){bare(200, "", ""), xmlError(403, "AccessDenied", "no"),
		xmlError(403, "AccessDenied", "no")} {
		m.answer = answer
		_ = m.put(t.Context())
	}
	for code, want := range map[string]float64{"OK": 1, "AccessDenied": 2} {
		if got := m.value(t, metrics.AWSRequests.Name, "service", "s3", "code", code); got != want {
			t.Errorf("%v calls with code %s, want %v", got, code, want)
		}
	}
}

func TestCodesOfAnEndpointDoNotCreateSeriesWithoutEnd(t *testing.T) {
	meter, err := newMeter(nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := range mostCodes + 5 {
		meter.count(Failure{Class: Unknown, Service: "s3", Operation: "Get", Code: fmt.Sprintf("Code%d", i)}, 0)
	}
	meter.count(Failure{Class: Unknown, Service: "s3", Operation: "Get"}, 0)
	out := make(chan prometheus.Metric, 2*mostCodes)
	meter.requests.Collect(out)
	if got := len(out); got != mostCodes+1 {
		t.Errorf("%d series, want %d", got, mostCodes+1)
	}
}

func TestWaitsAndRefusalsOfTheLimiterAreCounted(t *testing.T) {
	m := newMetered(t, Limits{"s3": {PerSecond: 1, Burst: 1}})
	m.answer = bare(200, "", "")
	_ = m.put(t.Context())
	if got := m.value(t, metrics.AWSLimiterRefused.Name, "service", "s3"); got != 0 {
		t.Errorf("%v refused before any was", got)
	}
	for range 20 { // beyond the ten seconds that a call may wait
		if w, _ := m.calls.limiter.bucket(here, "s3", "PutBucketPolicy").join("", time.Hour); w == nil {
			t.Fatal("does not wait")
		}
	}
	if err := m.put(t.Context()); !IsPaced(err) {
		t.Fatal(err)
	}
	if got := m.value(t, metrics.AWSLimiterRefused.Name, "service", "s3"); got != 1 {
		t.Errorf("%v refused, want 1", got)
	}
	m.calls.meter.waited("s3", 2*time.Second, nil)
	if got := m.value(t, metrics.AWSLimiterWait.Name, "service", "s3"); got < 2 || got > 2.1 {
		t.Errorf("waited %v s, want 2", got)
	}
}

func TestEndOfTheRoleSessionThatEndsFirstIsCollected(t *testing.T) {
	f := newSTS(t)
	f.trust(roleA, userARN, external)
	s := f.sessions(t, "")
	if end := (sessionExpiry{s}).firstEnd(); !end.IsZero() {
		t.Errorf("%v without a session", end)
	}
	mustOpen(t, s, static()) // keys do not end
	if end := (sessionExpiry{s}).firstEnd(); !end.IsZero() {
		t.Errorf("%v of keys", end)
	}
	role := static(with(roleA, ""))
	role.Key = "role"
	mustOpen(t, s, role)
	want := f.clock.now().Add(hour - endMargin)
	f.clock.advance(9 * time.Minute)
	if end := (sessionExpiry{s}).firstEnd(); !end.Equal(want) {
		t.Errorf("ends at %v, want %v", end, want)
	}
	f.clock.advance(2 * time.Minute)
	if end := (sessionExpiry{s}).firstEnd(); !end.IsZero() {
		t.Errorf("%v of a session that nobody uses", end)
	}
}

func TestFailedRefreshesAreCounted(t *testing.T) {
	f := newSTS(t)
	f.trust(roleA, userARN, external)
	registry := prometheus.NewRegistry()
	s := f.sessions(t, "")
	meter, err := newMeter(registry)
	if err != nil {
		t.Fatal(err)
	}
	s.calls.meter = meter
	credentials := mustOpen(t, s, static(with(roleA, ""))).Config.Credentials
	m := &metered{registry: registry}
	if got := m.value(t, metrics.RoleSessionRefreshFailures.Name); got != 0 {
		t.Errorf("%v failures", got)
	}
	f.failing("AssumeRole", queryError(503, "ServiceUnavailable", ""))
	f.clock.advance(46 * time.Minute)
	_, _ = credentials.Retrieve(t.Context())
	if got := m.value(t, metrics.RoleSessionRefreshFailures.Name); got != 1 {
		t.Errorf("%v failures, want 1", got)
	}
}
