// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// tree is the source tree, parsed.
type tree struct {
	module string
	fset   *token.FileSet
	// production are the files that the budgets are about; tests those that count as testing them.
	production, tests []*file
	// bed are the files of the test bed.
	bed []*file
}

// file is one Go file.
type file struct {
	// path is relative to the tree, with slashes.
	path  string
	text  []byte
	ast   *ast.File
	lines int
}

func (f *file) dir() string { return path.Dir(f.path) }

// roots are the folders that hold production code.
var roots = []string{"api", "cmd", "internal"}

// suites are folders of code that only tests use: the suite of the kinds is a test of them, the test bed and its emulator are neither.
const (
	suite    = "internal/kindtest"
	bed      = "internal/testkit"
	emulator = "internal/emulator"
)

func loadTree(root string) (*tree, error) {
	mod, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		return nil, err
	}
	m := regexp.MustCompile(`(?m)^module\s+(\S+)`).FindSubmatch(mod)
	if m == nil {
		return nil, errors.New("go.mod names no module")
	}
	t := &tree{module: string(m[1]), fset: token.NewFileSet()}
	for _, r := range append(slices.Clone(roots), "test") {
		if err := t.walk(root, r); err != nil {
			return nil, err
		}
	}
	if len(t.production) == 0 {
		return nil, fmt.Errorf("no production code under %s", root)
	}
	return t, nil
}

func (t *tree) walk(root, folder string) error {
	base := filepath.Join(root, folder)
	if _, err := os.Stat(base); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return filepath.WalkDir(base, func(at string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".")) {
			return filepath.SkipDir
		}
		if d.IsDir() || filepath.Ext(at) != ".go" {
			return nil
		}
		rel, err := filepath.Rel(root, at)
		if err != nil {
			return err
		}
		return t.add(at, filepath.ToSlash(rel))
	})
}

// add parses a file and puts it where it belongs.
func (t *tree) add(at, rel string) error {
	text, err := os.ReadFile(at)
	if err != nil {
		return err
	}
	parsed, err := parser.ParseFile(t.fset, rel, text, parser.ParseComments)
	if err != nil {
		return err
	}
	f := &file{path: rel, text: text, ast: parsed, lines: bytes.Count(text, []byte("\n"))}
	switch {
	case generated(f):
	case under(rel, bed), under(rel, emulator):
		if !strings.HasSuffix(rel, "_test.go") {
			t.bed = append(t.bed, f)
		}
	case strings.HasSuffix(rel, "_test.go"), under(rel, suite), under(rel, "test"):
		if !under(rel, "test/house") { // they test the tree, not the code
			t.tests = append(t.tests, f)
		}
	default:
		t.production = append(t.production, f)
	}
	return nil
}

func generated(f *file) bool {
	return ast.IsGenerated(f.ast) || strings.HasPrefix(path.Base(f.path), "zz_")
}

// under reports whether a path lies in a folder.
func under(p, folder string) bool { return p == folder || strings.HasPrefix(p, folder+"/") }

// at names a place for people.
func (t *tree) at(n ast.Node) string {
	return fmt.Sprintf("%s:%d", t.fset.Position(n.Pos()).Filename, t.line(n))
}

func (t *tree) line(n ast.Node) int { return t.fset.Position(n.Pos()).Line }

// packages groups production files by folder, in order.
func (t *tree) packages() [][]*file {
	var out [][]*file
	by := map[string]int{}
	for _, f := range t.production {
		i, ok := by[f.dir()]
		if !ok {
			i = len(out)
			by[f.dir()] = i
			out = append(out, nil)
		}
		out[i] = append(out[i], f)
	}
	return out
}
