// SPDX-License-Identifier: Apache-2.0

package demoscrape

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// target serves a counter that grows with each scrape, a histogram without observations, and two series of a gauge.
func target(t *testing.T) string {
	t.Helper()
	scrapes := atomic.Int64{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; version=0.0.4")
		fmt.Fprintf(w, `# TYPE scrapes_total counter
scrapes_total %d
# TYPE wait_seconds histogram
wait_seconds_bucket{le="1"} 0
wait_seconds_bucket{le="+Inf"} 0
wait_seconds_sum 0
wait_seconds_count 0
# TYPE objects gauge
objects{kind="A"} 1
objects{kind="B.c"} 2
`, scrapes.Add(1))
	}))
	t.Cleanup(server.Close)
	return strings.TrimPrefix(server.URL, "http://")
}

func TestScraper_EvaluatesWhatATargetServes(t *testing.T) {
	s, err := NewScraper(t.TempDir(), target(t), 100*time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	began := time.Now()
	d := &Demo{Scraper: s}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	at, err := d.WaitFor(ctx, "scrapes_total > 4", `increase(scrapes_total[1m]) > 3`)
	if err != nil {
		t.Fatal(err)
	}
	window := Window{From: began, To: at, Step: 50 * time.Millisecond}
	for query, want := range map[string]int{
		"scrapes_total":              1,
		"objects":                    2,
		`objects{kind=~"(A|B\\.c)"}`: 2,
		"objects > 1":                1,
		"absent(objects)":            0,
		// The quantile of no observations is not a number, and a graph does not show it.
		"histogram_quantile(0.95, sum by (le) (rate(wait_seconds_bucket[1m])))": 0,
	} {
		for _, instant := range []bool{true, false} {
			got, err := s.Result(ctx, Target{Instant: instant}, query, window)
			// The target does not exist at the beginning of the range.
			if query == "absent(objects)" && !instant {
				want++
			}
			if err != nil || len(got) != want {
				t.Errorf("%s: instant %t: %d series, want %d: %v, %v", query, instant, len(got), want, got, err)
			}
		}
	}
	values, err := s.LabelValues(ctx, "objects", "kind")
	if err != nil || !slices.Equal(values, []string{"A", "B.c"}) {
		t.Errorf("values %q, %v", values, err)
	}
	if _, err := s.Instant(ctx, "sum by (objects", at); err == nil {
		t.Error("an invalid query has a result")
	}
}

func TestWaitFor_NamesTheQueryWithoutResult(t *testing.T) {
	s, err := NewScraper(t.TempDir(), target(t), 100*time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if _, err := (&Demo{Scraper: s}).WaitFor(ctx, "vector(1)", "objects > 9"); err == nil ||
		!strings.Contains(err.Error(), "no result of objects > 9") {
		t.Errorf("got %v", err)
	}
}

func TestExpand_ReplacesVariablesAsGrafanaDoes(t *testing.T) {
	board := Dashboard{}
	if err := json.Unmarshal([]byte(`{"templating": {"list": [
		{"name": "datasource", "type": "datasource", "query": "prometheus"},
		{"name": "kind", "type": "query", "allValue": ".*", "query": {"query": "label_values(objects, kind)"}}]}}`), &board); err != nil {
		t.Fatal(err)
	}
	const query = `rate(objects{kind=~"$kind"}[$__rate_interval]) + on () objects{kind=~"${kind}"} + $kinds`
	for want, kinds := range map[string][]string{
		`rate(objects{kind=~".*"}[1m]) + on () objects{kind=~".*"} + $kinds`:               nil,
		`rate(objects{kind=~"A"}[1m]) + on () objects{kind=~"A"} + $kinds`:                 {"A"},
		`rate(objects{kind=~"(A|B\\.c)"}[1m]) + on () objects{kind=~"(A|B\\.c)"} + $kinds`: {"A", "B.c"},
	} {
		if got := board.Expand(query, map[string][]string{"kind": kinds}); got != want {
			t.Errorf("%q: got %s, want %s", kinds, got, want)
		}
	}
	if metric, label, ok := board.Templating.List[1].LabelValues(); metric != "objects" || label != "kind" || !ok {
		t.Errorf("the variable asks for %s, %s, %t", metric, label, ok)
	}
	if _, _, ok := board.Templating.List[0].LabelValues(); ok {
		t.Error("the data source asks for the values of a label")
	}
}
