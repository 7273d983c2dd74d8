// SPDX-License-Identifier: Apache-2.0

package verify

import (
	"fmt"
	"strings"

	"github.com/nexus-operator/nexus-operator/internal/check"
)

// foldedSkips holds the skipped checks that are not printed one by one: those with a reason that an earlier check has named.
type foldedSkips struct {
	// first is the check that named a reason, and later are those that share it.
	first map[string]int
	later map[int][]int
	// order lists the checks of later.
	order []int
}

// takes reports whether a check is left to the summary of skipped checks, and remembers it.
func (f *foldedSkips) takes(r check.Result) bool {
	if r.Outcome != check.OutcomeSkip {
		return false
	}
	if r.Cause != 0 {
		f.put(r.Cause, r.Number)
		return true
	}
	reason := r.Evidence + "\n" + r.Fix
	if n, known := f.first[reason]; known {
		f.put(n, r.Number)
		return true
	}
	if f.first == nil {
		f.first = map[string]int{}
	}
	f.first[reason] = r.Number
	return false
}

func (f *foldedSkips) put(under, number int) {
	if f.later == nil {
		f.later = map[int][]int{}
	}
	if len(f.later[under]) == 0 {
		f.order = append(f.order, under)
	}
	f.later[under] = append(f.later[under], number)
}

// Text has one line for each reason.
func (f *foldedSkips) Text(checks []check.Result) string {
	var b strings.Builder
	for _, n := range f.order {
		why := fmt.Sprintf("for the same reason as check %d", n)
		if checks[n-1].Outcome == check.OutcomeFail {
			why = fmt.Sprintf("because of what check %d found", n)
		}
		noun := "checks"
		if len(f.later[n]) == 1 {
			noun = "check"
		}
		fmt.Fprintf(&b, "   SKIP  %s %s, %s; --verbose lists them\n", noun, rangesOf(f.later[n]), why)
	}
	return b.String()
}

// rangesOf writes ascending numbers as 2-5, 9.
func rangesOf(numbers []int) string {
	var out []string
	for i := 0; i < len(numbers); {
		last := i
		for last+1 < len(numbers) && numbers[last+1] == numbers[last]+1 {
			last++
		}
		if last == i {
			out = append(out, fmt.Sprint(numbers[i]))
		} else {
			out = append(out, fmt.Sprintf("%d-%d", numbers[i], numbers[last]))
		}
		i = last + 1
	}
	return strings.Join(out, ", ")
}
