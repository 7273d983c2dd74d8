// SPDX-License-Identifier: Apache-2.0

package promtool

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/prometheus/promql/parser"

	"github.com/nexus-operator/nexus-operator/dev/promtool/demoscrape"
)

func dashboards(t *testing.T) map[string]demoscrape.Dashboard {
	t.Helper()
	out, err := demoscrape.Dashboards(root)
	if err != nil || len(out) != 2 {
		t.Fatalf("%d dashboards, %v", len(out), err)
	}
	return out
}

func TestDashboards_AskForDocumentedMetrics(t *testing.T) {
	known := metrics(t)
	for name, d := range dashboards(t) {
		queries := 0
		for _, p := range d.Panels {
			for _, target := range p.Targets {
				queries++
				for _, problem := range known.check(d.Expand(target.Expr, nil)) {
					t.Errorf("%s: %s: %s: %s", name, p.Title, problem, target.Expr)
				}
			}
			if p.Type != "row" && (len(p.Targets) == 0 || p.Title == "" || p.Description == "" || p.Datasource.UID != "${datasource}") {
				t.Errorf("%s: panel %d %q has no query, title, description or data source", name, p.ID, p.Title)
			}
		}
		if queries < 10 {
			t.Errorf("%s has only %d queries", name, queries)
		}
	}
}

func TestDashboards_HaveValidVariablesAndPanels(t *testing.T) {
	known := metrics(t)
	for name, d := range dashboards(t) {
		variables := []string{"__rate_interval"}
		for _, v := range d.Templating.List {
			variables = append(variables, v.Name)
			if v.Type == "datasource" {
				continue
			}
			metric, label, ok := v.LabelValues()
			if !ok || v.AllValue == "" {
				t.Errorf("%s: variable %s asks %v", name, v.Name, v.Query)
				continue
			}
			if problems := known.check(metric + "{" + label + `!=""}`); len(problems) > 0 {
				t.Errorf("%s: variable %s: %q", name, v.Name, problems)
			}
		}
		ids := map[int]bool{}
		for _, p := range d.Panels {
			if ids[p.ID] || p.GridPos.X+p.GridPos.W > 24 || p.GridPos.H == 0 {
				t.Errorf("%s: panel %q has an ID twice or does not fit", name, p.Title)
			}
			ids[p.ID] = true
			for _, target := range p.Targets {
				for _, v := range regexp.MustCompile(`\$\{?([a-z_]+)\}?`).FindAllStringSubmatch(target.Expr, -1) {
					if !slices.Contains(variables, v[1]) {
						t.Errorf("%s: %q uses variable %s, which does not exist", name, p.Title, v[1])
					}
				}
			}
		}
		if d.UID == "" || d.Title == "" {
			t.Errorf("%s has no uid or title", name)
		}
	}
}

// Every metric of the documentation has a use, so that the list of those of libraries does not go stale, and no metric of the
// operator is missing in the dashboards.
func TestDashboards_ShowEveryDocumentedMetric(t *testing.T) {
	used := map[string]bool{}
	note := func(query string) {
		expr, err := parser.NewParser(parser.Options{}).ParseExpr(query)
		if err != nil {
			t.Fatal(err)
		}
		parser.Inspect(expr, func(node parser.Node, _ []parser.Node) error {
			if s, ok := node.(*parser.VectorSelector); ok {
				used[family(s.Name)] = true
			}
			return nil
		})
	}
	for _, rule := range alerts(t) {
		note(rule.Expr)
	}
	for _, d := range dashboards(t) {
		for _, p := range d.Panels {
			for _, target := range p.Targets {
				note(d.Expand(target.Expr, nil))
			}
		}
	}
	for name := range metrics(t) {
		if !used[family(name)] {
			t.Errorf("%s is in no alert and on no dashboard", name)
		}
	}
}

// family returns the name of a histogram for one of its series.
func family(name string) string {
	for _, suffix := range []string{"_bucket", "_sum", "_count"} {
		name = strings.TrimSuffix(name, suffix)
	}
	return name
}
