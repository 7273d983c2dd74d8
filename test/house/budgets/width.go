// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"fmt"
	"go/scanner"
	"go/token"
	"maps"
	"path"
	"slices"
	"strings"
	"unicode/utf8"
)

const (
	// maxWidth is the largest number of characters of a line.
	maxWidth = 140
	// longLiteral is the number of characters of a text that is not broken: one that is found by search.
	longLiteral = 70
)

// wideLines counts the lines of a file that are too wide and could be broken: without a long text, and no marker of a generator.
func wideLines(f *file) int {
	lines := bytes.Split(f.text, []byte("\n"))
	if !slices.ContainsFunc(lines, isWide) {
		return 0
	}
	unbreakable := map[int]bool{}
	fset := token.NewFileSet()
	of := fset.AddFile("", fset.Base(), len(f.text))
	var s scanner.Scanner
	s.Init(of, f.text, nil, scanner.ScanComments)
	for {
		pos, tok, lit := s.Scan()
		if tok == token.EOF {
			break
		}
		isMarker := tok == token.COMMENT && (strings.HasPrefix(lit, "// +") || strings.HasPrefix(lit, "//go:"))
		if isMarker || tok == token.STRING && utf8.RuneCountInString(lit) > longLiteral {
			for line := range strings.Count(lit, "\n") + 1 {
				unbreakable[of.Line(pos)+line] = true
			}
		}
	}
	n := 0
	for i, line := range lines {
		if isWide(line) && !unbreakable[i+1] {
			n++
		}
	}
	return n
}

func isWide(line []byte) bool { return utf8.RuneCount(line) > maxWidth }

// widthRows reports the folders that have more wide lines than the thresholds allow.
func widthRows(t *tree, f floors) []row {
	wide := map[string]int{}
	for _, file := range slices.Concat(t.production, t.tests, t.bed) {
		if n := wideLines(file); n > 0 {
			wide[folderOf(file.path)] += n
		}
	}
	var findings []string
	total := 0
	for _, folder := range slices.Sorted(maps.Keys(wide)) {
		total += wide[folder]
		if wide[folder] > f.WideLines[folder] {
			findings = append(findings, fmt.Sprintf("%s has %d, may have %d", folder, wide[folder], f.WideLines[folder]))
		}
	}
	target := fmt.Sprintf("none, %d allowances", len(f.WideLines))
	return []row{atMost(fmt.Sprintf("lines of more than %d characters", maxWidth), target, fmt.Sprint(total), findings)}
}

// folderOf returns the first two parts of a path, and three below internal/controller.
func folderOf(name string) string {
	parts := strings.Split(path.Dir(name), "/")
	n := 2
	if strings.HasPrefix(name, "internal/controller/") {
		n = 3
	}
	return strings.Join(parts[:min(n, len(parts))], "/")
}
