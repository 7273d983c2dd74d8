// SPDX-License-Identifier: Apache-2.0

package house

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const findingsDoc = "../../docs/findings.md"

// findings are the numbers of the entries in each section of the page. Numbers that a section leaves out were given to nothing.
var findings = map[string]string{
	"Data, messaging, identity": "B1 B2 M1 M2 M3 M4 M5 M7 M9 M11 M12 M13 M14 1 2 3 4 5 6 8 10 11 12 13 14 16 17 18 19 20 21 22 23",
	"Network, compute, databases": "B1 B2 B3 M1 M2 M3 M4 M5 M6 M7 M8 M10 M11 M12 " +
		"1 2 3 4 5 6 7 8 9 10 11 12 14 15 16 17 18 19 20 21 22 23 25 26 27 28 29 30",
	"Real use": "B01 B02 B03 B04 B05 B06 B07 B08 B09 B10 B11 B12 B13 B14 B16 B17 B18 B20 B21 B22 " +
		"S1 S2 S3 S4 S5 F01 F02 F03 F04 F05 F06 F07 F08",
	"Other emulators": "1 2 3 4 5 6 7",
	"A real node":     "1 2 3 4 5 6 7",
}

var (
	findingRow  = regexp.MustCompile(`(?m)^\| ([A-Z]?\d+) \| ([^|]+) \| ([^|]*) \|$`)
	findingTest = regexp.MustCompile("`(Test[A-Za-z0-9_]+)`( \\(test-all\\))?")
)

// undecidedFindings returns the problems of a section of findings: numbers that are missing or too many, and entries without a
// test that exists or a sentence.
func undecidedFindings(text, section, numbers string, tests map[string]testFunction) []string {
	_, rest, _ := strings.Cut(text, "\n## "+section+"\n")
	body, _, _ := strings.Cut(rest, "\n## ")
	var out, found []string
	for _, row := range findingRow.FindAllStringSubmatch(body, -1) {
		found = append(found, row[1])
		named := findingTest.FindAllStringSubmatch(row[3], -1)
		if len(named) == 0 && len(strings.Fields(row[3])) < 8 {
			out = append(out, row[1]+" has neither a test nor a sentence")
		}
		for _, name := range named {
			test, exists := tests[name[1]]
			switch {
			case !exists:
				out = append(out, fmt.Sprintf("%s: %s does not exist", row[1], name[1]))
			case test.full != (name[2] != ""):
				out = append(out, fmt.Sprintf("%s: %s is left to full runs: %v; write (test-all) behind it if so", row[1], name[1], test.full))
			}
		}
	}
	if want := strings.Fields(numbers); !slices.Equal(found, want) {
		out = append(out, fmt.Sprintf("the numbers are %q, want %q", found, want))
	}
	return out
}

func TestFindings_EveryEntryHasATestOrASentence(t *testing.T) {
	tests := testsBelow(t, "../../internal")
	for _, folder := range []string{"..", "../../cmd", "../../dev", "../../api"} {
		maps.Copy(tests, testsBelow(t, folder))
	}
	text := readDoc(t, findingsDoc)
	for section, numbers := range findings {
		for _, problem := range undecidedFindings(text, section, numbers, tests) {
			t.Errorf("%s: %s", section, problem)
		}
	}
	if sections := strings.Count(text, "\n## "); sections != len(findings) {
		t.Errorf("the page has %d sections, and the numbers are of %d", sections, len(findings))
	}
	// Each row of a table is an entry that the pattern finds.
	if rows, entries := strings.Count(text, "\n| "), len(findingRow.FindAllString(text, -1)); rows != entries+len(findings) {
		t.Errorf("%d of %d rows have the form of an entry", entries, rows-len(findings))
	}
}

func TestUndecidedFindingsAreFound(t *testing.T) {
	text := "# F\n\n## A\n\n| number | finding | tests |\n|---|---|---|\n| B1 | one | `TestOne` |\n| 2 | two | `TestTwo` |\n" +
		"| 3 | three | No fault. |\n| 4 | four | `TestFull`, `TestOne` (test-all) |\n" +
		"| 6 | six | No fault: it is documented that nobody else may do that |\n\n## B\n\n| 5 | five | |\n"
	got := undecidedFindings(text, "A", "B1 2 3 4 5 6", map[string]testFunction{"TestOne": {}, "TestFull": {full: true}})
	want := []string{
		"2: TestTwo does not exist", "3 has neither a test nor a sentence",
		"4: TestFull is left to full runs: true; write (test-all) behind it if so",
		"4: TestOne is left to full runs: false; write (test-all) behind it if so",
		`the numbers are ["B1" "2" "3" "4" "6"], want ["B1" "2" "3" "4" "5" "6"]`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
}
