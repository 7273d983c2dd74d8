// SPDX-License-Identifier: Apache-2.0

package demoscrape

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql"
)

// dashboardsGlob finds the dashboards in the repository.
const dashboardsGlob = "charts/nexus-operator/files/dashboards/*.json"

// RateInterval is the value of $__rate_interval with the scrape interval of 15 s that Grafana assumes by default.
const RateInterval = "1m"

// Dashboard holds what a Grafana dashboard asks for.
type Dashboard struct {
	UID        string `json:"uid"`
	Title      string `json:"title"`
	Templating struct {
		List []Variable `json:"list"`
	} `json:"templating"`
	Panels []Panel `json:"panels"`
}

// Variable is a variable of a dashboard.
type Variable struct {
	Name     string `json:"name"`
	Type     string `json:"type"`
	Query    any    `json:"query"`
	AllValue string `json:"allValue"`
}

// Panel is a panel of a dashboard.
type Panel struct {
	ID          int    `json:"id"`
	Type        string `json:"type"`
	Title       string `json:"title"`
	Description string `json:"description"`
	Datasource  struct {
		UID string `json:"uid"`
	} `json:"datasource"`
	GridPos struct{ H, W, X, Y int } `json:"gridPos"`
	Targets []Target                 `json:"targets"`
}

// Target is a query of a panel. An instant query is evaluated at the end of the time range, any other over all of it.
type Target struct {
	RefID   string `json:"refId"`
	Expr    string `json:"expr"`
	Instant bool   `json:"instant"`
}

// Dashboards reads the dashboards of the chart by file name.
func Dashboards(root string) (map[string]Dashboard, error) {
	files, err := filepath.Glob(filepath.Join(root, dashboardsGlob))
	if err != nil {
		return nil, err
	}
	out := map[string]Dashboard{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		d := Dashboard{}
		if err := json.Unmarshal(text, &d); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		out[filepath.Base(file)] = d
	}
	return out, nil
}

// LabelValues returns the metric and the label whose values a variable offers; ok is false for any other query.
func (v Variable) LabelValues() (metric, label string, ok bool) {
	query, _ := v.Query.(map[string]any)
	text, _ := query["query"].(string)
	m := regexp.MustCompile(`^label_values\((\w+), (\w+)\)$`).FindStringSubmatch(text)
	if m == nil {
		return "", "", false
	}
	return m[1], m[2], true
}

// Expand replaces the variables of a query as Grafana does: by the selected values, or by the value for "All" where none
// are selected. Variables that the dashboard does not have stay.
func (d Dashboard) Expand(query string, selected map[string][]string) string {
	values := map[string]string{"__rate_interval": RateInterval}
	for _, v := range d.Templating.List {
		if v.Type == "query" {
			values[v.Name] = v.AllValue
		}
		if chosen := selected[v.Name]; len(chosen) > 0 {
			values[v.Name] = choice(chosen)
		}
	}
	return regexp.MustCompile(`\$(\w+)|\$\{(\w+)\}`).ReplaceAllStringFunc(query, func(variable string) string {
		if value, ok := values[strings.Trim(variable, "${}")]; ok {
			return value
		}
		return variable
	})
}

// choice returns a regular expression of values as Grafana's data source for Prometheus writes it.
func choice(values []string) string {
	quoted := make([]string, len(values))
	for i, v := range values {
		quoted[i] = strings.ReplaceAll(regexp.QuoteMeta(v), `\`, `\\`)
	}
	if len(quoted) == 1 {
		return quoted[0]
	}
	return "(" + strings.Join(quoted, "|") + ")"
}

// Series is one series of the result of a query: its labels, and pairs of a time in seconds since the epoch and a value.
type Series struct {
	Labels map[string]string `json:"labels"`
	Points [][2]float64      `json:"points"`
}

// Window is the time that a dashboard shows.
type Window struct {
	From, To time.Time
	Step     time.Duration
}

// Result evaluates a query of a panel, which Expand has completed, as Grafana does. It leaves out values that a graph does
// not show, such as the quantile of no observations, and series without any other value.
func (s *Scraper) Result(ctx context.Context, t Target, query string, w Window) ([]Series, error) {
	var out []Series
	if t.Instant {
		vector, err := s.Instant(ctx, query, w.To)
		for _, sample := range vector {
			out = appendSeries(out, sample.Metric, promql.FPoint{T: sample.T, F: sample.F})
		}
		return out, err
	}
	matrix, err := s.Range(ctx, query, w.From, w.To, w.Step)
	for _, series := range matrix {
		out = appendSeries(out, series.Metric, series.Floats...)
	}
	return out, err
}

func appendSeries(to []Series, metric labels.Labels, points ...promql.FPoint) []Series {
	series := Series{Labels: metric.Map()}
	for _, p := range points {
		if !math.IsNaN(p.F) && !math.IsInf(p.F, 0) {
			series.Points = append(series.Points, [2]float64{float64(p.T) / 1000, p.F})
		}
	}
	if len(series.Points) == 0 {
		return to
	}
	return append(to, series)
}
