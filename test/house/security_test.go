// SPDX-License-Identifier: Apache-2.0

package house

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// Pages with tables of promises, and the heading of each table.
const (
	securityDoc     = "../../docs/security.md"
	promisesHeading = "Promises"
	testingDoc      = "../../docs/testing.md"
	lessonsHeading  = "Lessons of other operators"
)

// testFunction is one that exists.
type testFunction struct {
	// full is true when the test is left to full runs: it begins with extent.Full.
	full bool
}

// isFull reports whether one of the first statements of a test leaves it to full runs.
func isFull(fn *ast.FuncDecl) bool {
	for _, s := range fn.Body.List {
		e, ok := s.(*ast.ExprStmt)
		if !ok {
			continue
		}
		if call, ok := e.X.(*ast.CallExpr); ok {
			if s, ok := call.Fun.(*ast.SelectorExpr); ok && s.Sel.Name == "Full" {
				if x, ok := s.X.(*ast.Ident); ok && x.Name == "extent" {
					return true
				}
			}
		}
	}
	return false
}

// testsBelow returns all test functions below a folder by their names.
func testsBelow(t *testing.T, root string) map[string]testFunction {
	t.Helper()
	out := map[string]testFunction{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, decl := range f.Decls {
			if fn, ok := decl.(*ast.FuncDecl); ok && fn.Recv == nil && strings.HasPrefix(fn.Name.Name, "Test") {
				out[fn.Name.Name] = testFunction{full: isFull(fn)}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// unprovenPromises returns the problems of the table below a heading of a document: rows that name no test of the sample that
// every run has, tests that do not exist, and tests of full runs that are not marked so.
func unprovenPromises(text, heading string, tests map[string]testFunction) []string {
	_, rest, _ := strings.Cut(text, "\n## "+heading+"\n")
	section, _, _ := strings.Cut(rest, "\n## ")
	var out []string
	for _, row := range regexp.MustCompile(`(?m)^\| ([^*|-][^|]*) \|([^|]*)\|$`).FindAllStringSubmatch(section, -1) {
		if row[1] == "promise" || row[1] == "mistake" {
			continue
		}
		sample := 0
		for _, name := range regexp.MustCompile("`(Test[A-Za-z0-9_]+)`( \\(test-all\\))?").FindAllStringSubmatch(row[2], -1) {
			test, exists := tests[name[1]]
			switch marked := name[2] != ""; {
			case !exists:
				out = append(out, name[1]+" does not exist")
			case marked != test.full:
				out = append(out, fmt.Sprintf("%s is left to full runs: %v; write (test-all) behind it if so", name[1], test.full))
			}
			if !test.full {
				sample++
			}
		}
		if sample == 0 {
			out = append(out, "no test of every run is named for: "+row[1])
		}
	}
	return out
}

func TestPromisesNameTestsThatExist(t *testing.T) {
	tests := testsBelow(t, "../../internal")
	for _, folder := range []string{"..", "../../cmd", "../../dev"} {
		maps.Copy(tests, testsBelow(t, folder))
	}
	for page, heading := range map[string]string{securityDoc: promisesHeading, testingDoc: lessonsHeading} {
		text := readDoc(t, page)
		if named := strings.Count(text, "`Test"); named < 30 {
			t.Errorf("%s names %d tests, want at least 30", page, named)
		}
		if !strings.Contains(text, "\n## "+heading+"\n") {
			t.Errorf("%s has no section %q", page, heading)
		}
		for _, problem := range unprovenPromises(text, heading, tests) {
			t.Errorf("%s: %s", page, problem)
		}
	}
	// Anywhere else on the page of tests, a name in backquotes with two words or more is that of one test.
	for _, name := range regexp.MustCompile("`(Test[A-Z][a-z]+[A-Z_]\\w*)`").FindAllStringSubmatch(readDoc(t, testingDoc), -1) {
		if _, exists := tests[name[1]]; !exists {
			t.Errorf("%s: %s does not exist", testingDoc, name[1])
		}
	}
}

func TestUnprovenPromisesAreFound(t *testing.T) {
	text := "# S\n\n## Promises\n\n| promise | shown by |\n|---|---|\n| *Part* | |\n| One. | `TestOne` |\n| Two. | `TestTwo` |\n| Three. | |\n| Five. | `TestFive` |\n| Six. | `TestOne`, `TestFive` (test-all) |\n\n## Other\n\n| Four. | `TestFour` |\n"
	got := unprovenPromises(text, "Promises", map[string]testFunction{"TestOne": {}, "TestFive": {full: true}})
	want := []string{"TestTwo does not exist", "no test of every run is named for: Three.",
		"TestFive is left to full runs: true; write (test-all) behind it if so", "no test of every run is named for: Five."}
	if !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
}
