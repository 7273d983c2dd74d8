// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"go/ast"
	"go/scanner"
	"go/token"
	"go/types"
	"hash/maphash"
	"path"
	"slices"
	"strings"
)

const (
	// runLength is the number of lines of one shape, one after the other, that make a repetition.
	runLength = 6
	// maxDuplicated is the share of lines, in percent, that may lie in repetitions.
	maxDuplicated = 5.0
)

// shapeLine is a line of code with names and literals made alike.
type shapeLine struct {
	shape  string
	number int
}

// shapes returns the code lines of a file's functions, one list a function, and how many lines of code
// the whole file has. Declarations of types and tables of data repeat by nature and are not compared, nor are the facts of kinds,
// which are tables in functions.
func shapes(t *tree, f *file) (bodies [][]shapeLine, code int) {
	lines := normalized(f.text)
	if path.Base(f.path) == factsFile {
		return nil, len(lines)
	}
	for _, d := range f.ast.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok {
			continue
		}
		from, to := t.fset.Position(fn.Pos()).Line, t.fset.Position(fn.End()).Line
		var body []shapeLine
		for _, l := range lines {
			if l.number >= from && l.number <= to {
				body = append(body, l)
			}
		}
		bodies = append(bodies, body)
	}
	return bodies, len(lines)
}

// normalized scans a file into lines without comments, in which names and literals are alike. Names
// that the language predeclares (nil, error, append) keep their meaning and stay.
func normalized(text []byte) []shapeLine {
	fset := token.NewFileSet()
	file := fset.AddFile("", fset.Base(), len(text))
	var s scanner.Scanner
	s.Init(file, text, nil, 0)
	var out []shapeLine
	for {
		pos, tok, lit := s.Scan()
		if tok == token.EOF {
			return out
		}
		if tok == token.SEMICOLON && lit == "\n" {
			continue
		}
		line := file.Line(pos)
		if len(out) == 0 || out[len(out)-1].number != line {
			out = append(out, shapeLine{number: line})
		}
		out[len(out)-1].shape += shapeOf(tok, lit) + " "
	}
}

func shapeOf(tok token.Token, lit string) string {
	switch {
	case tok == token.IDENT && types.Universe.Lookup(lit) != nil:
		return lit
	case tok == token.IDENT:
		return "i"
	case tok.IsLiteral():
		return "l"
	default:
		return tok.String()
	}
}

// spot is the beginning of a run of lines.
type spot struct {
	file       *file
	body, line int
}

// duplicated finds the lines that lie in a run whose shape occurs elsewhere too.
func duplicated(t *tree, files []*file) (marked map[*file]map[int]bool, code int) {
	seed := maphash.MakeSeed()
	at := map[uint64][]spot{}
	all := map[*file][][]shapeLine{}
	for _, f := range files {
		bodies, n := shapes(t, f)
		all[f], code = bodies, code+n
		for b, lines := range bodies {
			for i := 0; i+runLength <= len(lines); i++ {
				h := hashOf(seed, lines[i:i+runLength])
				at[h] = append(at[h], spot{f, b, i})
			}
		}
	}
	marked = map[*file]map[int]bool{}
	for _, spots := range at {
		if !elsewhere(spots) {
			continue
		}
		for _, s := range spots {
			if marked[s.file] == nil {
				marked[s.file] = map[int]bool{}
			}
			for _, l := range all[s.file][s.body][s.line : s.line+runLength] {
				marked[s.file][l.number] = true
			}
		}
	}
	return marked, code
}

func hashOf(seed maphash.Seed, lines []shapeLine) uint64 {
	var h maphash.Hash
	h.SetSeed(seed)
	for _, l := range lines {
		_, _ = h.WriteString(l.shape)
		_ = h.WriteByte('\n')
	}
	return h.Sum64()
}

// elsewhere reports whether two of the runs do not overlap.
func elsewhere(spots []spot) bool {
	first := spots[0]
	return slices.ContainsFunc(spots, func(s spot) bool {
		return s.file != first.file || s.body != first.body || s.line >= first.line+runLength
	})
}

func duplicateRows(t *tree) []row {
	var files []*file
	for _, f := range t.production {
		if under(f.path, "internal") {
			files = append(files, f)
		}
	}
	marked, code := duplicated(t, files)
	total := 0
	for _, lines := range marked {
		total += len(lines)
	}
	share := 100 * float64(total) / float64(max(1, code))
	var findings []string
	if share > maxDuplicated {
		findings = ranges(marked)
	}
	return []row{atMost("duplicated shape in internal/", fmt.Sprintf("≤ %.0f %%", maxDuplicated), fmt.Sprintf("%.1f %%", share), findings)}
}

// ranges names the marked lines, the files with the most first.
func ranges(marked map[*file]map[int]bool) []string {
	var files []*file
	for f := range marked {
		files = append(files, f)
	}
	var out []string
	for _, f := range largest(files, func(f *file) int { return len(marked[f]) }, func(f *file) string { return f.path }) {
		var parts []string
		from, last := 0, 0
		for _, n := range sortedNumbers(marked[f]) {
			// Blank lines and comments between two marked lines do not end a range.
			if from != 0 && n > last+2 {
				parts = append(parts, fmt.Sprintf("%d–%d", from, last))
				from = 0
			}
			if from == 0 {
				from = n
			}
			last = n
		}
		parts = append(parts, fmt.Sprintf("%d–%d", from, last))
		out = append(out, fmt.Sprintf("%s: %d lines: %s", f.path, len(marked[f]), strings.Join(parts, ", ")))
	}
	return out
}

func sortedNumbers(set map[int]bool) []int {
	var out []int
	for n := range set {
		out = append(out, n)
	}
	slices.Sort(out)
	return out
}
