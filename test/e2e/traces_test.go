// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	tracev1 "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/nexus-operator/nexus-operator/internal/testkit/extent"
)

// traceReceiver collects the spans that the operator sends.
type traceReceiver struct {
	url string

	mu    sync.Mutex
	spans map[string]*tracev1.Span // by ID
}

func receiveTraces(t *testing.T) *traceReceiver {
	t.Helper()
	r := &traceReceiver{spans: map[string]*tracev1.Span{}}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		body, err := io.ReadAll(req.Body)
		in := &collector.ExportTraceServiceRequest{}
		if err == nil {
			err = proto.Unmarshal(body, in)
		}
		if err != nil || req.URL.Path != "/v1/traces" {
			http.Error(w, fmt.Sprint(err), http.StatusBadRequest)
			return
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		for _, resource := range in.ResourceSpans {
			for _, scope := range resource.ScopeSpans {
				for _, s := range scope.Spans {
					r.spans[string(s.SpanId)] = s
				}
			}
		}
	}))
	t.Cleanup(server.Close)
	r.url = server.URL
	return r
}

// path returns the names of a span and of all spans above it.
func (r *traceReceiver) path(s *tracev1.Span) []string {
	out := []string{s.Name}
	for len(s.ParentSpanId) > 0 {
		parent, ok := r.spans[string(s.ParentSpanId)]
		if !ok {
			return append(out, "a span that was not sent")
		}
		out, s = append(out, parent.Name), parent
	}
	return out
}

// find returns the span of that name whose spans above have these names, from the nearest up.
func (r *traceReceiver) find(name string, above ...string) (*tracev1.Span, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	want := append([]string{name}, above...)
	var others [][]string
	for _, s := range r.spans {
		if s.Name != name {
			continue
		}
		if p := r.path(s); slices.Equal(p, want) {
			return s, nil
		}
		others = append(others, r.path(s))
	}
	return nil, fmt.Errorf("no span %q among %d; of the same name: %q", want, len(r.spans), others)
}

// traceAttributes are all that spans may carry: none holds a value of a user's spec or a text of AWS.
var traceAttributes = []string{"k8s.namespace.name", "k8s.object.name", "reconcile.id", "decision.cause", "decision.steps", "step.fields",
	"rpc.system", "rpc.service", "rpc.method", "cloud.region", "aws.request_id", "error.type"}

func TestTraces_FollowAReconcileToItsAWSCalls(t *testing.T) {
	extent.Full(t)
	r := receiveTraces(t)
	b := newBed(t, "--trace-endpoint="+r.url+"/", "--check-interval=2s")
	b.provider()
	table := table("traced")
	b.Create(table)
	b.Ready(table)
	var create *tracev1.Span
	b.Eventually(20*time.Second, "the spans of the create and of a check to arrive", func() error {
		var err error
		if create, err = r.find("dynamodb.CreateTable", "step dynamodb:CreateTable", "reconcile dynamodbtable"); err != nil {
			return err
		}
		_, err = r.find("dynamodb.DescribeTable", "decide", "reconcile dynamodbtable")
		return err
	})
	attributes := map[string]string{}
	for _, a := range create.Attributes {
		attributes[a.Key] = a.Value.GetStringValue()
	}
	if attributes["aws.request_id"] == "" || attributes["rpc.method"] != "CreateTable" || create.Kind != tracev1.Span_SPAN_KIND_CLIENT {
		t.Errorf("%v %v", create.Kind, attributes)
	}
	if line := fmt.Sprintf(`"traceID":"%x"`, create.TraceId); !strings.Contains(b.Op.Log(), line) {
		t.Errorf("no line of the log has %s", line)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	found := map[string]bool{}
	for _, s := range r.spans {
		for _, a := range s.Attributes {
			found[a.Key] = true
		}
	}
	for key := range found {
		if !slices.Contains(traceAttributes, key) {
			t.Errorf("spans carry %s: %q", key, slices.Sorted(maps.Keys(found)))
		}
	}
}
