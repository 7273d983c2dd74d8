// SPDX-License-Identifier: Apache-2.0

package promtool

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/prometheus/common/model"

	"github.com/nexus-operator/nexus-operator/dev/promtool/demoscrape"
)

const (
	scrapeInterval = time.Second
	// observed sets how long the healthy demo is observed after all of its objects are ready.
	observed = 15 * time.Second
	patience = 2 * time.Minute
)

// emptyWhenHealthy lists the queries that have no result while everything is healthy, and why. With trouble each has one.
var emptyWhenHealthy = map[string]string{
	"capabilities.json/Capabilities that are not running/A":  "all capabilities are running",
	"capabilities.json/Stalled objects/A":                    "no object is stalled",
	"capabilities.json/Drift/A":                              "nobody changes the AWS resources",
	"capabilities.json/Drift/B":                              "nobody changes the AWS resources",
	"operator.json/Failed reconciles/A":                      "no reconcile fails",
	"operator.json/Failed AWS requests/A":                    "AWS answers NotFound only while resources are created",
	"operator.json/Time until the first role session ends/A": "the demo's capabilities use the operator's own identity",
}

// demoRun is a run of the demo and the test that observes it.
type demoRun struct {
	*testing.T
	*demoscrape.Demo
	settled time.Time
}

// TestDemo_FillsEveryPanelAndFiresNoAlert runs the demo once: healthy, with trouble, and stopped.
func TestDemo_FillsEveryPanelAndFiresNoAlert(t *testing.T) {
	demo, err := demoscrape.Start(t.Context(),
		demoscrape.Options{Root: root, Folder: t.TempDir(), Interval: scrapeInterval, Manifests: []string{"examples/test-capability.yaml"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := demo.Close(); err != nil {
			t.Error(err)
		}
	})
	d := demoRun{T: t, Demo: demo}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if d.settled, err = demo.WaitUntilSettled(ctx); err != nil {
		t.Fatal(err)
	}
	healthy := d.scrapedUntil(d.settled.Add(observed))
	d.isSilent(healthy)
	d.panelsHaveResults(healthy)
	d.waitForPanels("absent(%s)") // a failure while the demo started shows for a minute
	d.choicesOfVariablesCoverAll(healthy)

	if err := demo.MakeTrouble(t.Context()); err != nil {
		t.Fatal(err)
	}
	d.waitForAlerts("NexusCapabilityFailed", "NexusObjectsStalled")
	d.waitForPanels("%s")
	if err := demo.Down(); err != nil {
		t.Fatal(err)
	}
	d.waitForAlerts("NexusOperatorDown")
}

// scrapedUntil waits for a scrape after a time, and returns that time.
func (d demoRun) scrapedUntil(at time.Time) time.Time {
	d.Helper()
	ctx, cancel := context.WithTimeout(d.Context(), patience)
	defer cancel()
	if _, err := d.WaitFor(ctx, fmt.Sprintf("timestamp(nexus_build_info) > %d", at.Unix())); err != nil {
		d.Fatal(err)
	}
	return at
}

// isSilent evaluates all alerts for each second up to a time. Once the demo has settled, the expression of none of them may
// be true; before, none may be true for as long as the alert waits.
func (d demoRun) isSilent(until time.Time) {
	d.Helper()
	evaluated := 0
	for _, rule := range alerts(d.T) {
		since := map[string]time.Time{}
		for at := d.Began; !at.After(until); at = at.Add(scrapeInterval) {
			evaluated++
			active := d.active(rule.Expr, at)
			maps.DeleteFunc(since, func(labels string, _ time.Time) bool { return !active[labels] })
			for labels := range active {
				if since[labels].IsZero() {
					since[labels] = at
				}
				if !at.Before(d.settled) || at.Sub(since[labels]) >= waits(rule.For) {
					d.Errorf("%s%s is true %s after the demo began, and the demo settled after %s", rule.Alert, labels, at.Sub(d.Began),
						d.settled.Sub(d.Began))
				}
			}
		}
	}
	d.Logf("%d evaluations of alerts over %s, %s of them settled", evaluated, until.Sub(d.Began), until.Sub(d.settled))
}

func waits(d model.Duration) time.Duration { return time.Duration(d) }

// active returns the labels for which the expression of an alert is true.
func (d demoRun) active(expr string, at time.Time) map[string]bool {
	d.Helper()
	vector, err := d.Instant(d.Context(), expr, at)
	if err != nil {
		d.Fatal(err)
	}
	out := map[string]bool{}
	for _, sample := range vector {
		out[sample.Metric.String()] = true
	}
	return out
}

// queries calls a function with each query of the dashboards by name.
func (d demoRun) queries(do func(name string, board demoscrape.Dashboard, target demoscrape.Target)) {
	d.Helper()
	for file, board := range dashboards(d.T) {
		for _, p := range board.Panels {
			for _, target := range p.Targets {
				do(fmt.Sprintf("%s/%s/%s", file, p.Title, target.RefID), board, target)
			}
		}
	}
}

func (d demoRun) result(target demoscrape.Target, query string, to time.Time) []demoscrape.Series {
	d.Helper()
	out, err := d.Result(d.Context(), target, query, demoscrape.Window{From: d.Began, To: to, Step: scrapeInterval})
	if err != nil {
		d.Fatal(err)
	}
	return out
}

// panelsHaveResults expects a result of each query of the dashboards that is not listed.
func (d demoRun) panelsHaveResults(at time.Time) {
	d.Helper()
	d.queries(func(name string, board demoscrape.Dashboard, target demoscrape.Target) {
		query := board.Expand(target.Expr, nil)
		if _, listed := emptyWhenHealthy[name]; !listed && len(d.result(target, query, at)) == 0 {
			d.Errorf("%s has no result: %s", name, query)
		}
	})
}

// choicesOfVariablesCoverAll selects all values of each variable in place of "All", and expects the same results.
func (d demoRun) choicesOfVariablesCoverAll(at time.Time) {
	d.Helper()
	d.queries(func(name string, board demoscrape.Dashboard, target demoscrape.Target) {
		selected := map[string][]string{}
		for _, v := range board.Templating.List {
			metric, label, ok := v.LabelValues()
			if !ok {
				continue
			}
			values, err := d.LabelValues(d.Context(), metric, label)
			if err != nil || len(values) < 2 {
				d.Fatalf("%s: variable %s offers %q, %v", name, v.Name, values, err)
			}
			selected[v.Name] = values
		}
		all, some := board.Expand(target.Expr, nil), board.Expand(target.Expr, selected)
		if got, want := d.result(target, some, at), d.result(target, all, at); len(got) != len(want) {
			d.Errorf("%s: %d series of %s, and %d of %s", name, len(got), some, len(want), all)
		}
	})
}

// waitForAlerts waits until the expressions of alerts are true.
func (d demoRun) waitForAlerts(names ...string) {
	d.Helper()
	var queries []string
	for _, rule := range alerts(d.T) {
		if slices.Contains(names, rule.Alert) {
			queries = append(queries, rule.Expr)
		}
	}
	if len(queries) != len(names) {
		d.Fatalf("%d of the alerts %q exist", len(queries), names)
	}
	ctx, cancel := context.WithTimeout(d.Context(), patience)
	defer cancel()
	if _, err := d.WaitFor(ctx, queries...); err != nil {
		d.Error(err)
	}
}

// waitForPanels waits until the listed queries of the dashboards, put into a form, have a result at the same time.
func (d demoRun) waitForPanels(form string) {
	d.Helper()
	var queries []string
	d.queries(func(name string, board demoscrape.Dashboard, target demoscrape.Target) {
		if _, listed := emptyWhenHealthy[name]; listed {
			queries = append(queries, fmt.Sprintf(form, board.Expand(target.Expr, nil)))
		}
	})
	if len(queries) != len(emptyWhenHealthy) {
		d.Fatalf("%d of the %d listed queries exist", len(queries), len(emptyWhenHealthy))
	}
	ctx, cancel := context.WithTimeout(d.Context(), patience)
	defer cancel()
	if _, err := d.WaitFor(ctx, queries...); err != nil {
		d.Error(err)
	}
}
