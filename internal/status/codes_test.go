// SPDX-License-Identifier: Apache-2.0

package status

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestCodes_AreWellFormed(t *testing.T) {
	form := regexp.MustCompile(`^NX-[A-Z0-9]{2,4}-[0-9]{3}$`)
	sentence := regexp.MustCompile("^[A-Z`-].*[.]$")
	areas, seen := map[string]bool{}, map[string]bool{}
	for _, a := range Areas() {
		areas[a.ID] = true
	}
	for _, c := range Codes() {
		if !form.MatchString(c.ID) || !areas[c.Area()] {
			t.Errorf("%s is not NX-<area>-<number> of a known area", c.ID)
		}
		if !sentence.MatchString(c.Cause) || !sentence.MatchString(c.Remedy) {
			t.Errorf("%s: cause and remedy are not sentences: %q %q", c.ID, c.Cause, c.Remedy)
		}
		if seen[c.ID] || seen[c.Reason] {
			t.Errorf("%s or its reason %s has two codes", c.ID, c.Reason)
		}
		seen[c.ID], seen[c.Reason] = true, true
	}
}

// TestCodes_ThatWereIssuedStay compares the table with the list of issued codes, which only grows.
func TestCodes_ThatWereIssuedStay(t *testing.T) {
	const list = "testdata/issued-codes.txt"
	text, err := os.ReadFile(list)
	if err != nil {
		t.Fatal(err)
	}
	var issued, table []string
	for line := range strings.Lines(string(text)) {
		if !strings.HasPrefix(line, "#") {
			issued = append(issued, strings.TrimSpace(line))
		}
	}
	for _, c := range Codes() {
		table = append(table, c.ID+" "+c.Reason)
		if !slices.Contains(issued, c.ID+" "+c.Reason) {
			t.Errorf("%s %s is not in %s: append the line", c.ID, c.Reason, list)
		}
	}
	for _, line := range issued {
		if !slices.Contains(table, line) {
			t.Errorf("%s was issued: it may not leave the table, nor change its reason", line)
		}
	}
	if len(issued) < 90 {
		t.Errorf("only %d issued codes were found", len(issued))
	}
}

func TestLookupCode(t *testing.T) {
	for _, c := range Codes() {
		if got, ok := LookupCode(strings.ToLower(c.ID)); !ok || got != c || CodeOf(c.Reason) != c.ID {
			t.Errorf("%s: got %+v %v, and %s for its reason", c.ID, got, ok, CodeOf(c.Reason))
		}
	}
	if _, ok := LookupCode("NX-IAM-999"); ok || CodeOf(ReasonReady) != "" {
		t.Error("found a code that does not exist")
	}
}

func TestWithCode(t *testing.T) {
	long := strings.Repeat("ü", 40)
	for _, tc := range []struct{ name, reason, message, want string }{
		{"a failure", ReasonAccessDenied, "s3:GetObject is denied", "s3:GetObject is denied (NX-IAM-001)"},
		{"no failure", ReasonWaiting, "waiting for x", "waiting for x"},
		{"an empty message stays empty", ReasonAccessDenied, "", ""},
		{"the code is not repeated", ReasonAccessDenied, "S3Bucket/a: denied (NX-IAM-001)", "S3Bucket/a: denied (NX-IAM-001)"},
		{"a repeated message keeps the code of the cause", ReasonProviderNotReady, "AWSProvider/a: denied (NX-IAM-005)",
			"AWSProvider/a: denied (NX-IAM-005)"},
		{"a waiting object keeps it too", ReasonWaiting, "S3Bucket/a: denied (NX-IAM-001)", "S3Bucket/a: denied (NX-IAM-001)"},
		{"a long message is cut before the code", ReasonAccessDenied, long, strings.Repeat("ü", 17) + "… (NX-IAM-001)"},
		{"a repeated long message as well", ReasonWaiting, long + " (NX-IAM-001)", strings.Repeat("ü", 17) + "… (NX-IAM-001)"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := WithCode(tc.reason, tc.message, 50)
			if got != tc.want || len(got) > 50 {
				t.Errorf("got %q, want %q", got, tc.want)
			}
			if again := WithCode(tc.reason, got, 50); again != got {
				t.Errorf("the second time changes %q to %q", got, again)
			}
		})
	}
}

func TestExtend_KeepsTheCodeAtTheEnd(t *testing.T) {
	for message, want := range map[string]string{"a": "a and 2 more", "a (NX-AWS-001)": "a and 2 more (NX-AWS-001)"} {
		if got := Extend(message, " and 2 more"); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestSet_EndsFailuresWithTheirCodes(t *testing.T) {
	var conds []metav1.Condition
	Summarize(&conds, Result{Err: &Stalled{Reason: ReasonConflict, Message: "it has another owner"}, Generation: 1, Now: noon})
	got := map[string]string{}
	for _, c := range conds {
		got[c.Type] = c.Message
	}
	const want = "it has another owner (NX-SPEC-005)"
	if got[Ready] != want || got[Stall] != want || got[Reconciling] != "" {
		t.Errorf("got %q", got)
	}
	before := slices.Clone(conds)
	Summarize(&conds, Result{Err: &Stalled{Reason: ReasonConflict, Message: "it has another owner"}, Generation: 1, Now: noon.Add(patience)})
	if !slices.Equal(before, conds) {
		t.Errorf("the same result changes the conditions: %+v", conds)
	}
	Summarize(&conds, Result{Generation: 1, Now: noon, ReadyMessage: "it exists as declared"})
	if c := meta.FindStatusCondition(conds, Ready); c.Message != "it exists as declared" {
		t.Errorf("a ready object has %q", c.Message)
	}
}
