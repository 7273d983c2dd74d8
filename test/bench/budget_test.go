// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"text/tabwriter"
	"time"
)

// measure is one figure of a phase.
type measure string

// The measures. Counts are per object and are judged; so is the memory of capabilities and of the idle operator, and the CPU
// time of capabilities, as a part of what the API server used in the same run. All times are only reported, because they depend on
// the machine: the same operator took 445 ms for a capability on a slow day and 204 ms on a fast one, but 0.41 and 0.39 of the
// API server's CPU time.
const (
	awsCalls   measure = "AWS-calls"
	kubeWrites measure = "kube-writes" // without events
	allWrites  measure = "kube-writes+events"
	events     measure = "events"
	kubeReads  measure = "kube-reads" // at the API server, not in the cache
	cpuMillis  measure = "CPU-ms"
	cpuShare   measure = "CPU/CPU-of-API-server"
	toReady    measure = "s-to-all"
	peakMiB    measure = "MiB-peak"
	restMiB    measure = "MiB-at-rest"
	perBucket  measure = "KiB/bucket-at-rest"
	// perObject is without the properties that the object declares.
	perObject measure = "KiB/object-at-rest-beside-its-properties"
	checked   measure = "checks"
	awsWrites measure = "AWS-writes"
	// objectsBefore are the objects of a crowded namespace that were finished before one of another namespace was.
	objectsBefore measure = "objects-before"
	// shareOfLimit is the largest anonymous memory as a part of the limit that the chart sets.
	shareOfLimit measure = "peak/limit"
)

// limit is the most that one figure may be.
type limit struct {
	what    string // the kind of object that is measured, or "idle"
	phase   string
	figure  measure
	most    float64
	objects int // only where so many objects are measured; 0: always
}

// budget is every goal that `make bench` judges. A run that misses one fails.
var budget = []limit{
	{what: "idle", phase: "rest", figure: restMiB, most: 60},
	{what: "idle with eight kinds", phase: "rest", figure: restMiB, most: 30},

	{what: "bucket", phase: "create", figure: awsCalls, most: 6},
	{what: "bucket", phase: "create", figure: kubeWrites, most: 2},
	{what: "bucket", phase: "create", figure: events, most: 1},
	{what: "bucket", phase: "check", figure: awsCalls, most: 4},
	{what: "bucket", phase: "check", figure: allWrites, most: 0},
	{what: "bucket", phase: "delete", figure: awsCalls, most: 2},
	{what: "bucket", phase: "delete", figure: kubeWrites, most: 1},
	{what: "bucket", phase: "delete", figure: events, most: 1},
	{what: "bucket", phase: "rest", figure: perBucket, most: 6, objects: 1000},

	// The read before it, the create, one poll, and the read after it: the double carries out requests at once.
	{what: "any type", phase: "create", figure: awsCalls, most: 4},
	{what: "any type", phase: "create", figure: kubeWrites, most: 3},
	{what: "any type", phase: "create", figure: events, most: 1},
	{what: "any type", phase: "check", figure: awsCalls, most: 1},
	{what: "any type", phase: "check", figure: allWrites, most: 0},
	{what: "any type", phase: "delete", figure: awsCalls, most: 4},
	{what: "any type", phase: "delete", figure: kubeWrites, most: 2},
	{what: "any type", phase: "rest", figure: perObject, most: 8, objects: 1000},

	// Reads are shared where that saves four of five calls.
	{what: "elasticip", phase: "first-checks", figure: awsCalls, most: 0.15},
	{what: "elasticip", phase: "checks", figure: awsCalls, most: 0.15},
	{what: "elasticip", phase: "checks", figure: awsWrites, most: 0},

	{what: "capability", phase: "create", figure: awsCalls, most: 110},
	// Each of its 20 AWS resources takes three writes: the object, its record before the first call to AWS, and its status.
	{what: "capability", phase: "create", figure: kubeWrites, most: 80},
	// One for each of its AWS resources, and one when it runs.
	{what: "capability", phase: "create", figure: events, most: 21},
	// A process that has just started takes twice as long for the first one.
	{what: "capability", phase: "create", figure: cpuShare, most: 0.5, objects: 20},
	{what: "capability", phase: "create", figure: peakMiB, most: 100, objects: 20},
	{what: "capability that waits for its turn", phase: "create", figure: events, most: 21},
	{what: "capability", phase: "delete", figure: awsCalls, most: 110},
	{what: "capability", phase: "delete", figure: allWrites, most: 80},
	{what: "capability", phase: "delete", figure: events, most: 20},
	{what: "capability", phase: "delete", figure: kubeReads, most: 90, objects: 1},
	{what: "capability", phase: "delete", figure: cpuShare, most: 0.5, objects: 20},
	{what: "capability", phase: "delete", figure: peakMiB, most: 100, objects: 20},

	// Those that the workers have begun, and those that take turns with the passes of the neighbor's.
	{what: "neighbor", phase: "create", figure: objectsBefore, most: 100, objects: 1000},
	{what: "neighbor", phase: "delete", figure: objectsBefore, most: 100, objects: 1000},
	// The neighbor's own one counts: measured were 1, 1 and 2.
	{what: "neighbor's capability", phase: "create", figure: objectsBefore, most: 4, objects: 20},
	{what: "neighbor's capability", phase: "delete", figure: objectsBefore, most: 4, objects: 20},
	{what: "neighbor's plan", phase: "answer", figure: objectsBefore, most: 4, objects: 16},

	// Measured were 0.68 on a machine with ten times as much work as processors.
	{what: "tenants", phase: "full", figure: shareOfLimit, most: 0.75},
}

// goals are times that the design asks for. They are printed beside the figures and not judged.
var goals = map[string]time.Duration{"capability create 20": 12 * time.Second, "capability create 100": 60 * time.Second,
	"idle start 0":         time.Second,
	"neighbor create 1000": 2 * time.Second, "neighbor delete 1000": 2 * time.Second, "neighbor's plan answer 16": 2 * time.Second,
	"idle with eight kinds start 0": time.Second}

// slack is for what is asked once for all objects, such as a provider's identity, and shows in the mean.
const slack = 0.05

// court judges the figures of one benchmark. Failures are reported after the bed is cleaned up, which would print the
// operator's log for a failed benchmark.
type court struct {
	b        *testing.B
	what     string
	failures []string
}

func newCourt(b *testing.B, what string) *court {
	b.Helper()
	c := &court{b: b, what: what}
	b.Cleanup(func() {
		for _, f := range c.failures {
			b.Error(f)
		}
	})
	return c
}

// judge prints the figures of a phase beside their budgets and notes each one that is over its budget.
func (c *court) judge(phase string, objects int, figures []figure) {
	c.b.Helper()
	var text strings.Builder
	w := tabwriter.NewWriter(&text, 0, 8, 2, ' ', 0)
	fmt.Fprintf(w, "== %s: %s\n", c.b.Name(), phase)
	for _, f := range figures {
		c.b.ReportMetric(f.value, string(f.measure)+"/"+phase)
		fmt.Fprintf(w, "  %s\t%.2f\t%s\n", f.measure, f.value, c.verdict(phase, objects, f))
	}
	_ = w.Flush()
	fmt.Fprint(os.Stdout, text.String()) // b.Log keeps ten lines
}

func (c *court) verdict(phase string, objects int, f figure) string {
	if d, ok := goals[fmt.Sprintf("%s %s %d", c.what, phase, objects)]; ok && f.measure == toReady {
		return fmt.Sprintf("goal %.0f", d.Seconds())
	}
	for _, l := range budget {
		if l.what != c.what || l.phase != phase || l.figure != f.measure || l.objects != 0 && l.objects != objects {
			continue
		}
		if f.value > l.most+slack {
			c.failures = append(c.failures, fmt.Sprintf("%s of %s: %s is %.2f, over its budget of %.2f", phase, c.what, f.measure, f.value, l.most))
			return fmt.Sprintf("FAIL, at most %.2f", l.most)
		}
		return fmt.Sprintf("ok, at most %.2f", l.most)
	}
	return ""
}
