// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/nexus-operator/nexus-operator/internal/console"
	"github.com/nexus-operator/nexus-operator/internal/inspect"
)

// textOfOperator is the health of an operator for a terminal.
func textOfOperator(s *inspect.OperatorStatus, now time.Time, wide bool) string {
	var b strings.Builder
	word := "healthy"
	switch {
	case !s.Healthy:
		word = "not healthy"
	case len(s.Starting) > 0:
		word = "starting"
	}
	fmt.Fprintf(&b, "Operator in namespace %s: %s\n", s.Namespace, word)
	for _, p := range s.Problems {
		b.WriteString("  ! " + strings.TrimPrefix(console.Wrap(p, "    "), "    "))
	}
	for _, p := range s.Starting {
		b.WriteString("  - " + strings.TrimPrefix(console.Wrap(p, "    "), "    "))
	}
	b.WriteString("\n" + workloadTable(s, now, wide))
	if s.Skew {
		fmt.Fprintf(&b, "\nThe versions differ: nexusctl is %s.\n", s.Client)
	}
	if pods := podTable(s, now); pods != "" {
		b.WriteString("\n" + pods)
	}
	if len(s.Leases) > 0 {
		b.WriteString("\n" + leaseTable(s, now))
	}
	b.WriteString("\n" + definitionsText(s) + capabilitiesText(s))
	b.WriteString(warningsText(s.Warnings, now))
	return b.String()
}

func workloadTable(s *inspect.OperatorStatus, now time.Time, wide bool) string {
	if len(s.Workloads) == 0 {
		return "No Deployment or StatefulSet runs the operator: a process outside of the cluster holds its leases.\n"
	}
	rows := [][]string{{"NAME", "READY", "VERSION", "AGE"}}
	if wide {
		rows = [][]string{{"NAME", "READY", "VERSION", "IMAGE", "AGE"}}
	}
	for _, w := range s.Workloads {
		row := []string{strings.ToLower(w.Kind) + "/" + w.Name, fmt.Sprintf("%d/%d", w.Ready, w.Replicas), cmp.Or(w.Version, "<unknown>")}
		if wide {
			row = append(row, w.Image)
		}
		rows = append(rows, append(row, console.Age(now, &w.Created)))
	}
	return console.Table(rows)
}

func podTable(s *inspect.OperatorStatus, now time.Time) string {
	if len(s.Workloads) == 0 {
		return ""
	}
	if len(s.Pods) == 0 {
		return "There are no pods.\n"
	}
	rows := [][]string{{"POD", "READY", "RESTARTS", "AGE"}}
	for _, p := range s.Pods {
		ready := "no"
		if p.Ready {
			ready = "yes"
		}
		if p.Reason != "" && !p.Ready {
			ready += ": " + p.Reason
		}
		rows = append(rows, []string{p.Name, ready, fmt.Sprint(p.Restarts), console.Age(now, &p.Created)})
	}
	return console.Table(rows)
}

func leaseTable(s *inspect.OperatorStatus, now time.Time) string {
	rows := [][]string{{"LEASE", "SHARD", "LEADER", "AGE"}}
	for _, l := range s.Leases {
		holder, _, _ := strings.Cut(l.Holder, "_") // the part after the pod's name is random
		var since *metav1.Time
		if l.Holder != "" {
			since = l.Since
		}
		rows = append(rows, []string{l.Name, l.Shard, cmp.Or(holder, "<none>"), console.Age(now, since)})
	}
	return console.Table(rows)
}

func definitionsText(s *inspect.OperatorStatus) string {
	established := 0
	for _, d := range s.CRDs {
		if d.Established {
			established++
		}
	}
	return fmt.Sprintf("CustomResourceDefinitions: %d of %d established\n", established, len(s.CRDs))
}

func capabilitiesText(s *inspect.OperatorStatus) string {
	var counts []string
	for _, c := range s.Capabilities {
		counts = append(counts, fmt.Sprintf("%d %s", c.Count, c.Phase))
	}
	return "Capabilities: " + cmp.Or(strings.Join(counts, ", "), "none") + "\n"
}

func warningsText(warnings []inspect.Event, now time.Time) string {
	if len(warnings) == 0 {
		return "Warnings: none\n"
	}
	var b strings.Builder
	b.WriteString("Warnings:\n")
	for _, e := range warnings {
		b.WriteString(console.Wrap(fmt.Sprintf("%s ago, %s: %s: %s", console.Age(now, &e.Last), objectOfEvent(e), e.Reason, e.Message), "  "))
	}
	return b.String()
}

func objectOfEvent(e inspect.Event) string {
	kind, name, _ := strings.Cut(e.Object, "/")
	if e.Namespace == "" {
		return kind + " " + name
	}
	return kind + " " + e.Namespace + "/" + name
}
