// SPDX-License-Identifier: Apache-2.0

package promtool

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"
)

// documented are the metrics of docs/metrics.md with their labels; those of libraries have none.
type documented map[string][]string

// metrics reads docs/metrics.md, which is generated from the definitions of the metrics. A test of the operator compares it
// with what a run exposes.
func metrics(t *testing.T) documented {
	t.Helper()
	text := read(t, filepath.Join(root, "docs/metrics.md"))
	out := documented{}
	add := func(name, kind string, labels []string) {
		out[name] = labels
		if kind == "histogram" {
			for _, suffix := range []string{"_bucket", "_sum", "_count"} {
				out[name+suffix] = append(slices.Clone(labels), "le")
			}
			delete(out, name)
		}
	}
	label := regexp.MustCompile("(?m)^\\| `([a-z_]+)` \\|")
	for _, section := range strings.Split(text, "\n### ")[1:] {
		section, _, _ = strings.Cut(section, "\n## ")
		head := regexp.MustCompile("^`([a-z_]+)`\n\n(Counter|Gauge|Histogram)\\.").FindStringSubmatch(section)
		if head == nil {
			t.Fatalf("not understood: %s", section)
		}
		names := []string{}
		for _, m := range label.FindAllStringSubmatch(section, -1) {
			names = append(names, m[1])
		}
		add(head[1], strings.ToLower(head[2]), names)
	}
	for _, m := range regexp.MustCompile("(?m)^\\| `([a-z_]+)` \\| (counter|gauge|histogram) \\|").FindAllStringSubmatch(text, -1) {
		add(m[1], m[2], nil)
	}
	if len(out) < 30 {
		t.Fatalf("only %d metrics: %v", len(out), out)
	}
	return out
}

// ofTheScrape are labels that Prometheus adds.
var ofTheScrape = []string{labels.MetricName, "instance", "job", "namespace", "pod", "service_account"}

// check returns what is wrong with a query: its syntax, or metrics and labels that are not documented.
func (d documented) check(query string) []string {
	expr, err := parser.NewParser(parser.Options{}).ParseExpr(query)
	if err != nil {
		return []string{err.Error()}
	}
	var out []string
	selectors := 0
	parser.Inspect(expr, func(node parser.Node, _ []parser.Node) error {
		s, ok := node.(*parser.VectorSelector)
		if !ok {
			return nil
		}
		selectors++
		known, ok := d[s.Name]
		if !ok {
			out = append(out, fmt.Sprintf("%s is not documented", s.Name))
		}
		for _, m := range s.LabelMatchers {
			if strings.HasPrefix(s.Name, "nexus_") && ok && !slices.Contains(known, m.Name) && !slices.Contains(ofTheScrape, m.Name) {
				out = append(out, fmt.Sprintf("%s has no label %s", s.Name, m.Name))
			}
		}
		return nil
	})
	if selectors == 0 {
		out = append(out, "asks for no metric")
	}
	return out
}

func TestAlerts_AskForDocumentedMetrics(t *testing.T) {
	d := metrics(t)
	for _, rule := range alerts(t) {
		for _, problem := range d.check(rule.Expr) {
			t.Errorf("%s: %s: %s", rule.Alert, problem, rule.Expr)
		}
	}
}

func TestQueries_WithMistakesAreFound(t *testing.T) {
	d := metrics(t)
	for query, want := range map[string]string{
		"sum(nexus_capabilitys)":                       "nexus_capabilitys is not documented",
		`nexus_resources{kinds="S3Bucket"}`:            "nexus_resources has no label kinds",
		"rate(nexus_aws_request_duration_seconds[5m])": "nexus_aws_request_duration_seconds is not documented",
		"sum by (kind) (nexus_resources":               "unclosed left parenthesis",
		"1":                                            "asks for no metric",
		"sum(rate(nexus_aws_request_duration_seconds_sum[5m]))": "",
	} {
		if got := strings.Join(d.check(query), "; "); want == "" && got != "" || !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", query, got, want)
		}
	}
}
