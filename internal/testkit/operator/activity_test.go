// SPDX-License-Identifier: Apache-2.0

package operator

import (
	"bytes"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

func read(t *testing.T, text string) Activity {
	t.Helper()
	parser := expfmt.NewTextParser(model.LegacyValidation)
	lines, err := activityLines(strings.NewReader("# HELP workqueue_depth Current depth\nworkqueue_depth{controller=\"iamrole\"} 1\n" + text))
	if err != nil || bytes.Contains(lines, []byte("depth")) {
		t.Fatalf("%v, kept %s", err, lines)
	}
	families, err := parser.TextToMetricFamilies(bytes.NewReader(lines))
	if err != nil {
		t.Fatal(err)
	}
	return ActivityOf(slices.Collect(maps.Values(families)))
}

func TestActivity_IsBusyUntilEveryRequestIsReconciled(t *testing.T) {
	const adds, done = "# TYPE workqueue_adds_total counter\n", "# TYPE controller_runtime_reconcile_total counter\n"
	busy := read(t, adds+`workqueue_adds_total{controller="iamrole",name="iamrole"} 4
workqueue_adds_total{controller="s3bucket",name="s3bucket"} 7
workqueue_adds_total{controller="library",name="library"} 3
`+done+`controller_runtime_reconcile_total{controller="iamrole",result="success"} 4
controller_runtime_reconcile_total{controller="s3bucket",result="success"} 5
controller_runtime_reconcile_total{controller="s3bucket",result="requeue_after"} 1
`)
	if got := busy.Busy(); got != "s3bucket has reconciled 6 of 7" {
		t.Errorf("busy: %q", got)
	}
	later := read(t, adds+`workqueue_adds_total{controller="iamrole",name="iamrole"} 5
workqueue_adds_total{controller="s3bucket",name="s3bucket"} 8
`+done+`controller_runtime_reconcile_total{controller="iamrole",result="success"} 5
controller_runtime_reconcile_total{controller="s3bucket",result="success"} 8
`)
	if got := later.Busy(); got != "" {
		t.Errorf("quiet, but busy: %q", got)
	}
	if n := later.Since(busy).Reconciled; n["iamrole"] != 1 || n["s3bucket"] != 2 {
		t.Errorf("since: %v", n)
	}
}

func TestMetricsAddress_IsOfOneOperator(t *testing.T) {
	own := metricsAddress(1)
	if own == metricsAddress(2) || metricsOf([]string{"--metrics-bind-address=" + own}) != own {
		t.Errorf("%s", own)
	}
	if got := metricsOf([]string{"--metrics-bind-address=" + own, "--metrics-bind-address=0"}); got != "" {
		t.Errorf("a later flag overrides: %q", got)
	}
}
