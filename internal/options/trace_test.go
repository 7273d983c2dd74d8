// SPDX-License-Identifier: Apache-2.0

package options

import (
	"strings"
	"testing"
)

func TestTraceEndpoint_IsTheURLOfAServer(t *testing.T) {
	for endpoint, valid := range map[string]bool{
		"": true, "http://collector:4318": true, "https://otlp.example/base/": true,
		"collector:4318": false, "grpc://collector:4317": false, "http://": false, "http://collector?key=x": false,
	} {
		o, err := parse(t, map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": endpoint})
		if (err == nil) != valid || o.Trace.Endpoint != endpoint {
			t.Errorf("%q: %q %v", endpoint, o.Trace.Endpoint, err)
		}
		if !valid && !strings.Contains(err.Error(), "--trace-endpoint") {
			t.Errorf("%q: the error does not name the flag: %v", endpoint, err)
		}
	}
}

func TestTraceSampleRatio_IsAShare(t *testing.T) {
	for ratio, valid := range map[string]bool{"0": true, "0.25": true, "1": true, "-0.1": false, "1.5": false} {
		if _, err := parse(t, nil, "--trace-sample-ratio="+ratio); (err == nil) != valid {
			t.Errorf("%s: %v", ratio, err)
		}
	}
}
