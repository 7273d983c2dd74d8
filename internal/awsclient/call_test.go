// SPDX-License-Identifier: Apache-2.0

package awsclient

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go/middleware"
	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
)

// metered is a configuration with our middleware, leading to an answer that can be changed.
type metered struct {
	aws.Config
	registry *prometheus.Registry
	calls    *calls
	clock    *clock

	mu     sync.Mutex
	answer func(http.ResponseWriter)
}

func newMetered(t *testing.T, limits Limits) *metered {
	m := &metered{registry: prometheus.NewRegistry(), clock: newClock()}
	m.Config = canned(t, func(w http.ResponseWriter) {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.clock.advance(40 * time.Millisecond)
		m.answer(w)
	})
	meter, err := newMeter(m.registry)
	if err != nil {
		t.Fatal(err)
	}
	m.calls = &calls{now: m.clock.now, limiter: newLimiter(m.clock.now, limits), meter: meter, writes: newOwnWrites()}
	m.APIOptions = append(m.APIOptions, m.calls.at(here, nil))
	return m
}

// value is one sample: of a counter its value, of a histogram its sum.
func (m *metered) value(t *testing.T, name string, labels ...string) float64 {
	families, err := m.registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range families {
		for _, metric := range family.Metric {
			if family.GetName() == name && labeled(metric, labels) {
				return metric.GetCounter().GetValue() + metric.GetHistogram().GetSampleSum()
			}
		}
	}
	return 0
}

func labeled(m *dto.Metric, want []string) bool {
	got := map[string]string{}
	for _, l := range m.Label {
		got[l.GetName()] = l.GetValue()
	}
	for i := 0; i < len(want); i += 2 {
		if got[want[i]] != want[i+1] {
			return false
		}
	}
	return true
}

func (m *metered) put(ctx context.Context) error {
	_, err := s3.NewFromConfig(m.Config).PutBucketPolicy(ctx, &s3.PutBucketPolicyInput{Bucket: aws.String("b"), Policy: aws.String(canary)})
	return err
}

func TestEveryCallIsCountedByClassAndTimed(t *testing.T) {
	m := newMetered(t, nil)
	for _, answer := range []func(http.ResponseWriter){
		bare(200, "", ""), bare(200, "", ""), xmlError(403, "AccessDenied", "no"), xmlError(503, "SlowDown", "slow"),
	} {
		m.answer = answer
		_ = m.put(t.Context())
	}
	for class, want := range map[string]float64{"OK": 2, "Denied": 1, "Throttled": 1, "Unknown": 0} {
		if got := m.value(t, "nexus_aws_requests_total", "service", "s3", "operation", "PutBucketPolicy", "class", class); got != want {
			t.Errorf("%v of class %s, want %v", got, class, want)
		}
	}
	if got := m.value(t, "nexus_aws_throttled_total", "service", "s3"); got != 1 {
		t.Errorf("%v throttled", got)
	}
	if got := m.value(t, "nexus_aws_request_duration_seconds", "service", "s3"); got < .159 || got > .161 {
		t.Errorf("%v seconds, want 4 × 0.04", got)
	}
}

func TestThrottledAnswersSlowTheServiceDown(t *testing.T) {
	m := newMetered(t, nil)
	m.answer = jsonError(400, "ThrottlingException", "Rate exceeded")
	_, err := dynamodb.NewFromConfig(m.Config).DescribeTable(t.Context(), &dynamodb.DescribeTableInput{TableName: aws.String("t")})
	if !Is(err, Throttled) {
		t.Fatal(err)
	}
	if b := m.calls.limiter.bucket(here, "dynamodb", "X"); b.current != 25 {
		t.Errorf("%v/s, want half of 50", b.current)
	}
	if b := m.calls.limiter.bucket(here, "s3", "X"); b.current != 500 {
		t.Errorf("%v/s: another service suffers", b.current)
	}
}

func TestACallHeldBackNeverReachesAWS(t *testing.T) {
	m := newMetered(t, Limits{"s3": {PerSecond: 1, Burst: 1}})
	m.answer = bare(200, "", "")
	if err := m.put(t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(5*time.Millisecond, cancel)
	if err := m.put(ctx); err == nil {
		t.Error("not held back")
	}
	if got := m.value(t, "nexus_aws_requests_total"); got != 1 {
		t.Errorf("%v calls", got)
	}
}

func TestCallsAreLoggedWithTheirObjectAndWithoutContents(t *testing.T) {
	m := newMetered(t, nil)
	var lines []string
	logger := funcr.New(func(_, args string) { lines = append(lines, args) }, funcr.Options{Verbosity: 1})
	ctx := WithObject(logr.NewContext(t.Context(), logger), "S3Bucket", "team", "data")
	m.answer = bare(200, "", "")
	_ = m.put(ctx)
	m.answer = xmlError(403, "AccessDenied", "User: "+canary)
	_ = m.put(ctx)
	if len(lines) != 2 {
		t.Fatalf("%q", lines)
	}
	for _, part := range []string{`"operation"="PutBucketPolicy"`, `"object"="S3Bucket/team/data"`, `"took"="40ms"`} {
		if !strings.Contains(lines[0], part) {
			t.Errorf("%s lacks %s", lines[0], part)
		}
	}
	for _, part := range []string{`"result"="Denied"`, `"code"="AccessDenied"`, `"status"=403`, `"requestID"="4442587f"`} {
		if !strings.Contains(lines[1], part) {
			t.Errorf("%s lacks %s", lines[1], part)
		}
	}
	if all := strings.Join(lines, ""); strings.Contains(all, canary) {
		t.Errorf("contents in %s", all)
	}
	lines = nil
	_ = m.put(logr.NewContext(t.Context(), funcr.New(func(_, args string) { lines = append(lines, args) }, funcr.Options{})))
	if len(lines) != 1 {
		t.Errorf("a write is logged at Info once: %q", lines)
	}
}

func TestWritesAreLoggedOnceAtInfoWithTheirRequestID(t *testing.T) {
	m := newMetered(t, nil)
	var lines []string
	ctx := WithObject(logr.NewContext(t.Context(), funcr.New(func(_, args string) { lines = append(lines, args) }, funcr.Options{})),
		"S3Bucket", "team", "data")
	for _, c := range []struct {
		result string
		answer func(http.ResponseWriter)
	}{
		{"OK", func(w http.ResponseWriter) { w.Header().Set("X-Amz-Request-Id", "4442587f") }},
		{"Denied", xmlError(403, "AccessDenied", "no")},
	} {
		lines, m.answer = nil, c.answer
		_ = m.put(ctx)
		_, _ = s3.NewFromConfig(m.Config).GetBucketVersioning(ctx, &s3.GetBucketVersioningInput{Bucket: aws.String("b")})
		if len(lines) != 1 {
			t.Fatalf("%s: a write and a read are logged in %d lines, want one of the write: %q", c.result, len(lines), lines)
		}
		for _, part := range []string{`"operation"="PutBucketPolicy"`, `"object"="S3Bucket/team/data"`, `"result"="` + c.result + `"`,
			`"requestID"="4442587f"`} {
			if !strings.Contains(lines[0], part) {
				t.Errorf("%s lacks %s", lines[0], part)
			}
		}
	}
}

func TestReadOnly(t *testing.T) {
	for operation, want := range map[string]bool{"GetBucketTagging": true, "DescribeTable": true, "ListTagsOfResource": true,
		"AssumeRole": true, "PutBucketTagging": false, "TagResource": false, "DeleteTable": false, "CreateRole": false} {
		if readOnly(operation) != want {
			t.Errorf("%s: want %v", operation, want)
		}
	}
}

func TestClientsOfASessionTellWhoTheyAreAndDoNotRetry(t *testing.T) {
	f := newSTS(t)
	session := mustOpen(t, f.sessions(t, ""), static())
	tries, agent := 0, ""
	cfg := session.Config
	cfg.APIOptions = append(cfg.APIOptions, func(stack *middleware.Stack) error { return nil })
	base := canned(t, func(w http.ResponseWriter) {
		tries++
		bare(503, "", "")(w)
	})
	cfg.BaseEndpoint = base.BaseEndpoint
	cfg.HTTPClient = recorder{cfg.HTTPClient, &agent}
	_, err := s3.NewFromConfig(cfg).HeadBucket(t.Context(), &s3.HeadBucketInput{Bucket: aws.String("b")})
	if err == nil || tries != 1 {
		t.Errorf("%d tries, %v", tries, err)
	}
	if !strings.Contains(agent, "app/nexus-operator") {
		t.Errorf("agent %q", agent)
	}
}

type recorder struct {
	aws.HTTPClient
	agent *string
}

func (r recorder) Do(req *http.Request) (*http.Response, error) {
	*r.agent = req.Header.Get("User-Agent")
	return r.HTTPClient.Do(req)
}

func TestMetricsMayBeRegisteredTwice(t *testing.T) {
	r := prometheus.NewRegistry()
	first, err := newMeter(r)
	if err != nil {
		t.Fatal(err)
	}
	second, err := newMeter(r)
	if err != nil || first.requests != second.requests || first.seconds != second.seconds {
		t.Errorf("%v: the second counts for itself", err)
	}
	if _, err := newMeter(nil); err != nil {
		t.Error(err)
	}
	r = prometheus.NewRegistry()
	r.MustRegister(prometheus.NewGauge(prometheus.GaugeOpts{Name: "nexus_aws_throttled_total",
		Help: "AWS calls that AWS throttled, by service."}))
	if _, err := newMeter(r); err == nil {
		t.Error("another's metric was taken for ours")
	}
}
