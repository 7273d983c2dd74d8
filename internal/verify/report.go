// SPDX-License-Identifier: Apache-2.0

package verify

import (
	"encoding/xml"
	"time"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/check"
	"github.com/nexus-operator/nexus-operator/internal/console"
)

// verifyAPIVersion is that of a verification as JSON or YAML.
const verifyAPIVersion = "verify.nexus.ai/v1alpha1"

// verification is everything that was checked of a capability.
type verification struct {
	APIVersion      string    `json:"apiVersion"`
	Kind            string    `json:"kind"`
	Namespace       string    `json:"namespace"`
	Name            string    `json:"name"`
	Generation      int64     `json:"generation"`
	StartTime       time.Time `json:"startTime"`
	DurationSeconds float64   `json:"durationSeconds"`
	check.List

	began time.Time
}

func newVerification(c *nexusv1.NexusAICapability, now time.Time) verification {
	return verification{APIVersion: verifyAPIVersion, Kind: "Verification", Namespace: c.Namespace, Name: c.Name, Generation: c.Generation,
		StartTime: now.UTC(), List: check.List{Checks: []check.Result{}}, began: now}
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
	suite := junitSuite{Name: "verify-capability " + v.Namespace + "/" + v.Name, Tests: len(v.Checks), Failures: v.Summary.Failed,
		Skipped: v.Summary.Skipped,
		Time:    v.DurationSeconds, Timestamp: v.StartTime.Format(time.RFC3339)}
	for _, r := range v.Checks {
		c := junitCase{Class: r.Group, Name: r.Title, Time: r.DurationSeconds}
		switch detail := (&junitDetail{Message: r.Evidence, Text: r.Fix}); r.Outcome {
		case check.OutcomeFail:
			c.Failure = detail
		case check.OutcomeSkip:
			c.Skipped = detail
		case check.OutcomeWarn:
			c.Out = "WARN: " + r.Evidence + console.Prefixed("\nfix: ", r.Fix)
		case check.OutcomePass:
			c.Out = r.Evidence
		}
		suite.Cases = append(suite.Cases, c)
	}
	b, err := xml.MarshalIndent(junitSuites{Suite: suite}, "", "  ")
	return append([]byte(xml.Header), append(b, '\n')...), err
}
