// SPDX-License-Identifier: Apache-2.0

package house

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/nexus-operator/nexus-operator/internal/status"
)

const (
	reasonsDoc  = "../../docs/reasons.md"
	reasonsCode = "../../internal/status/reasons.go"
	claimsCode  = "../../internal/intent/engine.go"
)

// entries returns, of a section of a document, the names in the first column of its tables and how many
// other cells each row fills.
func entries(t *testing.T, text, section string) map[string]int {
	t.Helper()
	_, rest, ok := strings.Cut(text, "\n## "+section+"\n")
	if !ok {
		t.Fatalf("there is no section %q", section)
	}
	body, _, _ := strings.Cut(rest, "\n## ")
	out := map[string]int{}
	for _, m := range regexp.MustCompile("(?m)^\\| `([A-Za-z]+)` \\|(.*)\\|$").FindAllStringSubmatch(body, -1) {
		if _, twice := out[m[1]]; twice {
			t.Errorf("%s is documented twice", m[1])
		}
		for cell := range strings.SplitSeq(m[2], " | ") {
			if strings.TrimSpace(cell) != "" {
				out[m[1]]++
			}
		}
	}
	return out
}

// constants returns the string constants of a file by name.
func constants(t *testing.T, path string) map[string]string {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, d := range f.Decls {
		g, ok := d.(*ast.GenDecl)
		if !ok || g.Tok != token.CONST {
			continue
		}
		for _, s := range g.Specs {
			v := s.(*ast.ValueSpec)
			for i, name := range v.Names {
				if i >= len(v.Values) {
					continue
				}
				if lit, ok := v.Values[i].(*ast.BasicLit); ok && lit.Kind == token.STRING {
					out[name.Name], _ = strconv.Unquote(lit.Value)
				}
			}
		}
	}
	return out
}

func readDoc(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// sameNames says in both directions what is missing.
func sameNames(code, doc map[string]bool) []string {
	var out []string
	for _, n := range slices.Sorted(maps.Keys(code)) {
		if !doc[n] {
			out = append(out, n+" is not documented")
		}
	}
	for _, n := range slices.Sorted(maps.Keys(doc)) {
		if !code[n] {
			out = append(out, n+" is documented and does not exist")
		}
	}
	return out
}

func keysOf(m map[string]int) map[string]bool {
	out := map[string]bool{}
	for k := range m {
		out[k] = true
	}
	return out
}

// documentedReasons returns those of docs/reasons.md, which mean no failure, and those of the table of error codes, from which
// docs/errors.md is generated.
func documentedReasons(t *testing.T) map[string]bool {
	t.Helper()
	doc := keysOf(entries(t, readDoc(t, reasonsDoc), "Reasons"))
	for _, c := range status.Codes() {
		if doc[c.Reason] {
			t.Errorf("%s has the code %s and stands in %s as well", c.Reason, c.ID, reasonsDoc)
		}
		if c.Area() != "CLI" {
			doc[c.Reason] = true
		}
	}
	return doc
}

func TestEveryReasonIsDocumentedAndExists(t *testing.T) {
	code := map[string]bool{}
	for _, file := range []string{reasonsCode, claimsCode} {
		for name, value := range constants(t, file) {
			if strings.HasPrefix(name, "Reason") {
				code[value] = true
			}
		}
	}
	if len(code) < 40 {
		t.Fatalf("only %d reasons were found in the code", len(code))
	}
	for _, problem := range sameNames(code, documentedReasons(t)) {
		t.Error(problem)
	}
	for name, cells := range entries(t, readDoc(t, reasonsDoc), "Reasons") {
		if cells != 2 {
			t.Errorf("%s: a reason needs a meaning and a remedy", name)
		}
	}
}

func TestEveryConditionIsDocumentedAndExists(t *testing.T) {
	code := map[string]bool{}
	for name, value := range constants(t, reasonsCode) {
		if !strings.HasPrefix(name, "Reason") {
			code[value] = true
		}
	}
	named := regexp.MustCompile(`^[cC]ondition[A-Z]`)
	for _, root := range []string{"../../api", "../../internal"} {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
				return err
			}
			for name, value := range constants(t, path) {
				if named.MatchString(name) && regexp.MustCompile(`^[A-Z][A-Za-z]+$`).MatchString(value) {
					code[value] = true
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	doc := entries(t, readDoc(t, reasonsDoc), "Condition types")
	if len(code) < 12 {
		t.Fatalf("only %d conditions were found in the code", len(code))
	}
	for _, problem := range sameNames(code, keysOf(doc)) {
		t.Error(problem)
	}
}

func TestWhatIsMissingIsSaidInBothDirections(t *testing.T) {
	got := sameNames(map[string]bool{"A": true, "B": true}, map[string]bool{"B": true, "C": true})
	want := []string{"A is not documented", "C is documented and does not exist"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	doc := entries(t, "# X\n\n## Reasons\n\n| reason | means |\n|---|---|\n| `A` | a | b |\n| `B` | a |  |\n\n## Other\n\n| `C` | c | d |\n",
		"Reasons")
	if !maps.Equal(doc, map[string]int{"A": 2, "B": 1}) {
		t.Errorf("got %v", doc)
	}
}
