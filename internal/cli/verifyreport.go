// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"encoding/xml"
	"fmt"
	"slices"
	"strings"
	"time"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/console"
)

// verifyAPIVersion is that of a verification as JSON or YAML.
const verifyAPIVersion = "verify.nexus.ai/v1alpha1"

// outcome is the result of a check.
type outcome string

// The outcomes.
const (
	outcomePass outcome = "PASS"
	outcomeWarn outcome = "WARN"
	outcomeFail outcome = "FAIL"
	outcomeSkip outcome = "SKIP"
)

// checkResult is one check.
type checkResult struct {
	Number int    `json:"number"`
	Group  string `json:"group"`
	// Title states the fact that holds when the check passes.
	Title   string  `json:"title"`
	Outcome outcome `json:"outcome"`
	// Evidence is the observation behind the outcome.
	Evidence string `json:"evidence,omitempty"`
	// Fix is the remedy of a failure or a warning.
	Fix             string  `json:"fix,omitempty"`
	DurationSeconds float64 `json:"durationSeconds"`
	// MissingRight is true when the check was skipped because the caller lacks a right or credentials.
	MissingRight bool `json:"missingRight,omitempty"`

	// consequence is true for a failure that is none of its own while the capability does not run.
	consequence bool
	// cause is the number of the check whose failure this one follows from; 0 where it stands for itself.
	cause int
	// tells is true where the evidence is worth reading also when the check passes.
	tells bool
}

func pass(title, evidence string) checkResult {
	return checkResult{Title: title, Outcome: outcomePass, Evidence: evidence}
}

// fact is a check that passes and tells what was found.
func fact(title, evidence string) checkResult {
	r := pass(title, evidence)
	r.tells = true
	return r
}

func warn(title, evidence, fix string) checkResult {
	return checkResult{Title: title, Outcome: outcomeWarn, Evidence: evidence, Fix: fix}
}

func fail(title, evidence, fix string) checkResult {
	return checkResult{Title: title, Outcome: outcomeFail, Evidence: evidence, Fix: fix}
}

func skip(title, why string) checkResult {
	return checkResult{Title: title, Outcome: outcomeSkip, Evidence: why}
}

// lacks is a check that the caller has no right to make.
func lacks(title, right, fix string) checkResult {
	return checkResult{Title: title, Outcome: outcomeSkip, Evidence: right, Fix: fix, MissingRight: true}
}

// verification is everything that was checked of a capability.
type verification struct {
	APIVersion      string    `json:"apiVersion"`
	Kind            string    `json:"kind"`
	Namespace       string    `json:"namespace"`
	Name            string    `json:"name"`
	Generation      int64     `json:"generation"`
	StartTime       time.Time `json:"startTime"`
	DurationSeconds float64   `json:"durationSeconds"`
	checkList

	began time.Time
}

// checkList are the results of checks, with their counts.
type checkList struct {
	Checks  []checkResult `json:"checks"`
	Summary verifySummary `json:"summary"`
}

// verifySummary counts the outcomes.
type verifySummary struct {
	Passed   int `json:"passed"`
	Warnings int `json:"warnings"`
	Failed   int `json:"failed"`
	Skipped  int `json:"skipped"`
}

func newVerification(c *nexusv1.NexusAICapability, now time.Time) verification {
	return verification{APIVersion: verifyAPIVersion, Kind: "Verification", Namespace: c.Namespace, Name: c.Name, Generation: c.Generation,
		StartTime: now.UTC(), checkList: checkList{Checks: []checkResult{}}, began: now}
}

func (v *checkList) add(r checkResult) {
	v.Checks = append(v.Checks, r)
	switch r.Outcome {
	case outcomePass:
		v.Summary.Passed++
	case outcomeWarn:
		v.Summary.Warnings++
	case outcomeFail:
		v.Summary.Failed++
	case outcomeSkip:
		v.Summary.Skipped++
	}
}

func (v *checkList) lacksRights() bool {
	return slices.ContainsFunc(v.Checks, func(r checkResult) bool { return r.MissingRight })
}

// text is the summary in a line: 21 passed, 1 warning, 0 failed.
func (s verifySummary) text() string {
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

// checkText is a check for a terminal. What a check that passed saw is left to the other formats.
func checkText(r checkResult) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%2d %s  %-10s  %s (%.1fs)\n", r.Number, r.Outcome, r.Group, r.Title, r.DurationSeconds)
	if r.Outcome == outcomePass && !r.tells {
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

// The elements of a JUnit report, as far as CI systems read them.
type (
	junitSuites struct {
		XMLName xml.Name   `xml:"testsuites"`
		Suite   junitSuite `xml:"testsuite"`
	}
	junitSuite struct {
		Name      string      `xml:"name,attr"`
		Tests     int         `xml:"tests,attr"`
		Failures  int         `xml:"failures,attr"`
		Skipped   int         `xml:"skipped,attr"`
		Time      float64     `xml:"time,attr"`
		Timestamp string      `xml:"timestamp,attr"`
		Cases     []junitCase `xml:"testcase"`
	}
	junitCase struct {
		Class   string       `xml:"classname,attr"`
		Name    string       `xml:"name,attr"`
		Time    float64      `xml:"time,attr"`
		Failure *junitDetail `xml:"failure"`
		Skipped *junitDetail `xml:"skipped"`
		Out     string       `xml:"system-out,omitempty"`
	}
	junitDetail struct {
		Message string `xml:"message,attr"`
		Text    string `xml:",chardata"`
	}
)

// junitOf is a verification as JUnit XML. A warning is a case that passed, with a text.
func junitOf(v verification) ([]byte, error) {
	suite := junitSuite{Name: "verify-capability " + v.Namespace + "/" + v.Name, Tests: len(v.Checks), Failures: v.Summary.Failed, Skipped: v.Summary.Skipped,
		Time: v.DurationSeconds, Timestamp: v.StartTime.Format(time.RFC3339)}
	for _, r := range v.Checks {
		c := junitCase{Class: r.Group, Name: r.Title, Time: r.DurationSeconds}
		switch detail := (&junitDetail{Message: r.Evidence, Text: r.Fix}); r.Outcome {
		case outcomeFail:
			c.Failure = detail
		case outcomeSkip:
			c.Skipped = detail
		case outcomeWarn:
			c.Out = "WARN: " + r.Evidence + console.Prefixed("\nfix: ", r.Fix)
		case outcomePass:
			c.Out = r.Evidence
		}
		suite.Cases = append(suite.Cases, c)
	}
	b, err := xml.MarshalIndent(junitSuites{Suite: suite}, "", "  ")
	return append([]byte(xml.Header), append(b, '\n')...), err
}
