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

const securityDoc = "../../docs/security.md"

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

// unprovenPromises returns the problems of a document's table of promises: rows that name no test, and tests that do
// not exist.
func unprovenPromises(text string, tests map[string]bool) []string {
	_, rest, _ := strings.Cut(text, "\n## Promises\n")
	section, _, _ := strings.Cut(rest, "\n## ")
	var out []string
	for _, row := range regexp.MustCompile(`(?m)^\| ([^*|-][^|]*) \|([^|]*)\|$`).FindAllStringSubmatch(section, -1) {
		if row[1] == "promise" {
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

func TestSecurityPromisesNameTestsThatExist(t *testing.T) {
	tests := testsBelow(t, "../../internal")
	for _, folder := range []string{"..", "../../cmd"} {
		for name := range testsBelow(t, folder) {
			tests[name] = true
		}
	}
	text := readDoc(t, securityDoc)
	if named := strings.Count(text, "`Test"); named < 30 {
		t.Errorf("%s names %d tests, want at least 30", securityDoc, named)
	}
	for _, problem := range unprovenPromises(text, tests) {
		t.Error(problem)
	}
}

func TestUnprovenPromisesAreFound(t *testing.T) {
	text := "# S\n\n## Promises\n\n| promise | shown by |\n|---|---|\n| *Part* | |\n| One. | `TestOne` |\n| Two. | `TestTwo` |\n| Three. | |\n\n## Other\n\n| Four. | `TestFour` |\n"
	got := unprovenPromises(text, map[string]bool{"TestOne": true})
	if len(got) != 2 || got[0] != "TestTwo does not exist" || !strings.Contains(got[1], "Three.") {
		t.Errorf("got %q", got)
	}
}
