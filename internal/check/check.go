// SPDX-License-Identifier: Apache-2.0

// Package check holds the results of checks that a command makes one after the other, and counts them.
package check

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/nexus-operator/nexus-operator/internal/exit"
	"github.com/nexus-operator/nexus-operator/internal/plan"
)

// Outcome is the result of a check.
type Outcome string

// The outcomes.
const (
	OutcomePass Outcome = "PASS"
	OutcomeWarn Outcome = "WARN"
	OutcomeFail Outcome = "FAIL"
	OutcomeSkip Outcome = "SKIP"
)

// Result is one check.
type Result struct {
	Number int    `json:"number"`
	Group  string `json:"group"`
	// Title states the fact that holds when the check passes.
	Title   string  `json:"title"`
	Outcome Outcome `json:"outcome"`
	// Evidence is the observation behind the outcome.
	Evidence string `json:"evidence,omitempty"`
	// Fix is the remedy of a failure or a warning.
	Fix             string  `json:"fix,omitempty"`
	DurationSeconds float64 `json:"durationSeconds"`
	// MissingRight is true when the check was skipped because the caller lacks a right or credentials.
	MissingRight bool `json:"missingRight,omitempty"`

	// Consequence is true for a failure that is none of its own while the capability does not run.
	Consequence bool `json:"-"`
	// Cause is the number of the check that caused this failure; 0 for an independent failure.
	Cause int `json:"-"`
	// tells is true where the evidence is worth reading also when the check passes.
	tells bool
}

// Pass is a check that passes.
func Pass(title, evidence string) Result {
	return Result{Title: title, Outcome: OutcomePass, Evidence: evidence}
}

// Fact is a check that passes and has its findings as evidence.
func Fact(title, evidence string) Result {
	r := Pass(title, evidence)
	r.tells = true
	return r
}

// Warn is a check that passes with something to do about it.
func Warn(title, evidence, fix string) Result {
	return Result{Title: title, Outcome: OutcomeWarn, Evidence: evidence, Fix: fix}
}

// Fail is a check that fails.
func Fail(title, evidence, fix string) Result {
	return Result{Title: title, Outcome: OutcomeFail, Evidence: evidence, Fix: fix}
}

// Skip is a check that was not made.
func Skip(title, why string) Result {
	return Result{Title: title, Outcome: OutcomeSkip, Evidence: why}
}

// Lacks is a check that the caller has no right to make.
func Lacks(title, right, fix string) Result {
	return Result{Title: title, Outcome: OutcomeSkip, Evidence: right, Fix: fix, MissingRight: true}
}

// List are the results of checks, with their counts.
type List struct {
	Checks  []Result `json:"checks"`
	Summary Summary  `json:"summary"`
}

// Summary counts the outcomes.
type Summary struct {
	Passed   int `json:"passed"`
	Warnings int `json:"warnings"`
	Failed   int `json:"failed"`
	Skipped  int `json:"skipped"`
}

// Add counts a result.
func (v *List) Add(r Result) {
	v.Checks = append(v.Checks, r)
	switch r.Outcome {
	case OutcomePass:
		v.Summary.Passed++
	case OutcomeWarn:
		v.Summary.Warnings++
	case OutcomeFail:
		v.Summary.Failed++
	case OutcomeSkip:
		v.Summary.Skipped++
	}
}

// LacksRights reports whether a check was not made for want of a right.
func (v *List) LacksRights() bool {
	return slices.ContainsFunc(v.Checks, func(r Result) bool { return r.MissingRight })
}

// Text is the summary in a line: 21 passed, 1 warning, 0 failed.
func (s Summary) Text() string {
	warnings := "warnings"
	if s.Warnings == 1 {
		warnings = "warning"
	}
	out := fmt.Sprintf("%d passed, %d %s, %d failed", s.Passed, s.Warnings, warnings, s.Failed)
	if s.Skipped > 0 {
		out += fmt.Sprintf(", %d skipped", s.Skipped)
	}
	return out
}

// Text is a check for a terminal. The evidence of a check that passed is left to the other formats.
func Text(r Result) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%2d %s  %-10s  %s (%.1fs)\n", r.Number, r.Outcome, r.Group, r.Title, r.DurationSeconds)
	if r.Outcome == OutcomePass && !r.tells {
		return b.String()
	}
	if r.Evidence != "" {
		fmt.Fprintf(&b, "            seen: %s\n", r.Evidence)
	}
	if r.Fix != "" {
		fmt.Fprintf(&b, "            fix: %s\n", r.Fix)
	}
	return b.String()
}

// Unmade is a check that an error kept from being made.
func Unmade(title string, err error) Result {
	_, noAWS := errors.AsType[*plan.AccessError](err)
	known, isFailure := errors.AsType[*exit.Failure](err)
	switch {
	case noAWS:
		return Lacks(title, err.Error(), "give AWS credentials (AWS_PROFILE, --profile) that may read the resources")
	case apierrors.IsForbidden(err), apierrors.IsUnauthorized(err):
		return Lacks(title, err.Error(), "ask for the right that the API server names")
	case isFailure && known.Code == exit.CodePrecondition:
		return Lacks(title, err.Error(), "")
	default:
		return Fail(title, "the check could not be made: "+err.Error(), "run the command again")
	}
}

// Follows marks a failure or a warning that also occurs because the capability does not run.
func (r Result) Follows() Result { return r.FollowsIf(true) }

// FollowsIf is follows where the condition holds; otherwise it leaves the mark as it is.
func (r Result) FollowsIf(holds bool) Result {
	r.Consequence = r.Consequence || holds
	return r
}
