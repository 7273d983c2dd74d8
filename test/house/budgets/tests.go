// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

// wantTests is the number of lines of tests that the design asks for a line of code.
const wantTests = 1.5

// floors are values that were reached and are kept.
type floors struct {
	// TestToCode is the least share of lines of tests to lines of code.
	TestToCode float64 `json:"testToCode"`
	// KindLines are limits on the lines of code of single AWS kinds, which may fall and not rise.
	KindLines map[string]int `json:"kindLines"`
	// WideLines are the numbers of lines that are too wide, by folder. They only fall.
	WideLines map[string]int `json:"wideLines"`
}

func readFloors(root, name string) (floors, error) {
	var f floors
	if !filepath.IsAbs(name) {
		name = filepath.Join(root, name)
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return f, err
	}
	if err := json.Unmarshal(text, &f); err != nil {
		return f, fmt.Errorf("%s: %w", name, err)
	}
	return f, nil
}

// testRows compares lines of tests with lines of production code. The suite that every kind runs is a
// test; the test bed and the checks of the tree are not.
func testRows(t *tree, f floors) []row {
	code, tests := linesOf(t.production), linesOf(t.tests)
	ratio := float64(tests) / float64(max(1, code))
	r := row{budget: "test to code", target: fmt.Sprintf("≥ %.1f, floor %.2f", wantTests, f.TestToCode),
		measured: fmt.Sprintf("%.2f (%d : %d)", ratio, tests, code), verdict: kept}
	switch {
	case ratio < f.TestToCode:
		r.verdict = broken
		r.findings = []string{fmt.Sprintf("%d lines of tests for %d of code are below the floor: what was reached is to be kept", tests, code)}
	case ratio < wantTests:
		r.verdict = noted
	}
	return []row{r}
}

func linesOf(files []*file) int {
	n := 0
	for _, f := range files {
		n += f.lines
	}
	return n
}
