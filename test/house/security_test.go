// SPDX-License-Identifier: Apache-2.0

package house

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
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

// testsBelow returns the names of all test functions below a folder.
func testsBelow(t *testing.T, root string) map[string]bool {
	t.Helper()
	out := map[string]bool{}
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
				out[fn.Name.Name] = true
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// unprovenPromises returns the problems of the table below a heading of a document: rows that name no test, and tests that do
// not exist.
func unprovenPromises(text, heading string, tests map[string]bool) []string {
	_, rest, _ := strings.Cut(text, "\n## "+heading+"\n")
	section, _, _ := strings.Cut(rest, "\n## ")
	var out []string
	for _, row := range regexp.MustCompile(`(?m)^\| ([^*|-][^|]*) \|([^|]*)\|$`).FindAllStringSubmatch(section, -1) {
		if row[1] == "promise" || row[1] == "mistake" {
			continue
		}
		names := regexp.MustCompile("`(Test[A-Za-z0-9_]+)`").FindAllStringSubmatch(row[2], -1)
		if len(names) == 0 {
			out = append(out, "no test is named for: "+row[1])
		}
		for _, name := range names {
			if !tests[name[1]] {
				out = append(out, name[1]+" does not exist")
			}
		}
	}
	return out
}

func TestPromisesNameTestsThatExist(t *testing.T) {
	tests := testsBelow(t, "../../internal")
	for _, folder := range []string{"..", "../../cmd", "../../dev"} {
		for name := range testsBelow(t, folder) {
			tests[name] = true
		}
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
		if !tests[name[1]] {
			t.Errorf("%s: %s does not exist", testingDoc, name[1])
		}
	}
}

func TestUnprovenPromisesAreFound(t *testing.T) {
	text := "# S\n\n## Promises\n\n| promise | shown by |\n|---|---|\n| *Part* | |\n| One. | `TestOne` |\n| Two. | `TestTwo` |\n| Three. | |\n\n## Other\n\n| Four. | `TestFour` |\n"
	got := unprovenPromises(text, "Promises", map[string]bool{"TestOne": true})
	if len(got) != 2 || got[0] != "TestTwo does not exist" || !strings.Contains(got[1], "Three.") {
		t.Errorf("got %q", got)
	}
}
