// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
)

// row is one line of the table, with what is to be said about it below.
type row struct {
	budget, target, measured string
	verdict                  verdict
	// findings are the places at fault, or worth a look where the verdict is noted.
	findings []string
}

type verdict string

const (
	kept   verdict = "yes"
	broken verdict = "NO"
	// noted rows are reported and never fail.
	noted verdict = "-"
)

// atMost is a row that findings break.
func atMost(budget, target, measured string, findings []string) row {
	v := kept
	if len(findings) > 0 {
		v = broken
	}
	return row{budget: budget, target: target, measured: measured, verdict: v, findings: findings}
}

// none is a row of things that must not be.
func none(budget string, findings []string) row {
	return atMost(budget, "none", fmt.Sprint(len(findings)), findings)
}

// maxShown bounds how many findings of one row are printed.
const maxShown = 40

// report prints the table and the findings, and reports whether every budget is kept.
func report(to io.Writer, rows []row) bool {
	w := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "budget\t| target\t| measured\t| ok")
	for _, r := range rows {
		fmt.Fprintf(w, "%s\t| %s\t| %s\t| %s\n", r.budget, r.target, r.measured, r.verdict)
	}
	_ = w.Flush()
	ok := true
	for _, r := range rows {
		ok = ok && r.verdict != broken
		if len(r.findings) == 0 {
			continue
		}
		word := "broken"
		if r.verdict != broken {
			word = "worth a look"
		}
		fmt.Fprintf(to, "\n%s, %s:\n", r.budget, word)
		for i, f := range r.findings {
			if i == maxShown {
				fmt.Fprintf(to, "  … and %d more\n", len(r.findings)-i)
				break
			}
			fmt.Fprintln(to, " ", f)
		}
	}
	return ok
}

// percentile returns the smallest value that at least p percent of the values do not exceed; 0 of none.
func percentile(values []int, p int) int {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	return sorted[max(0, (len(sorted)*p+99)/100-1)]
}

// largest sorts measured things by size, the largest first, and then by name.
func largest[T any](things []T, size func(T) int, name func(T) string) []T {
	out := slices.Clone(things)
	slices.SortStableFunc(out, func(a, b T) int {
		return cmp.Or(cmp.Compare(size(b), size(a)), cmp.Compare(name(a), name(b)))
	})
	return out
}
