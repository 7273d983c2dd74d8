// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"fmt"
	"go/parser"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// source is a tree of files by path.
type source map[string]string

// clean is a tree that keeps every budget.
func clean() source {
	return source{
		"go.mod": "module example.org/m\n",
		"internal/a/a.go": `// Package a is a.
package a

import "strings"

// Table is read only.
var Table = map[string]int{"x": 1}

// Limit bounds.
const Limit = 3

// T is a type.
type T struct{ n int }

// M is a method.
func (t *T) M(s string) int { t.n++; return t.n + Table[strings.TrimSpace(s)] }

type hidden struct{}

func (hidden) Exported() {}
`,
		"internal/a/a_test.go":          "package a\n\nimport \"time\"\n\nvar now = time.Now()\n" + strings.Repeat("// a test\n", 40),
		"internal/a/zz_generated.go":    "package a\n\nfunc init() {}\n",
		"internal/testkit/bed.go":       "package testkit\n\nfunc init() {}\n",
		"internal/a/testdata/broken.go": "not Go",
	}
}

func load(t *testing.T, s source) *tree {
	t.Helper()
	dir := t.TempDir()
	for name, text := range s {
		at := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	loaded, err := loadTree(dir)
	if err != nil {
		t.Fatal(err)
	}
	return loaded
}

func find(t *testing.T, rows []row, budget string) row {
	t.Helper()
	for _, r := range rows {
		if r.budget == budget {
			return r
		}
	}
	t.Fatalf("there is no row %q", budget)
	return row{}
}

func TestACleanTreeKeepsEveryBudget(t *testing.T) {
	rows := measure(load(t, clean()), floors{TestToCode: 1})
	var out bytes.Buffer
	if !report(&out, rows) {
		t.Fatalf("something is broken:\n%s", &out)
	}
	if !strings.Contains(out.String(), "budget") || strings.Count(out.String(), "\n") < len(rows)+1 {
		t.Errorf("the table is not whole:\n%s", &out)
	}
}

func TestEachBreachIsFoundAndNamed(t *testing.T) {
	function := func(body string) string { return "package b\n\nfunc f() {\n" + body + "}\n" }
	for _, c := range []struct {
		budget, text, finding string
	}{
		{"lines of a file, most", "package b\n" + strings.Repeat("// line\n", 601), "b.go has 602 lines"},
		{"lines of a file, p90", "package b\n" + strings.Repeat("// line\n", 401), "one in ten of 2 has more than 400"},
		{"lines of a function, most", function(strings.Repeat("\tprintln(1)\n", 79)), "b.go:3: b.f has 81 lines"},
		{"lines of a function, most", "package b\n\nvar _ = func() {\n" + strings.Repeat("\tprintln(1)\n", 79) + "}\n",
			"b.go:3: b.a function literal has 81 lines"},
		{"cyclomatic complexity, most", function(strings.Repeat("\tif true {\n\t}\n", 11)), "b.f has 12 independent paths"},
		{"parameters of a function, most", "package b\n\ntype T struct{}\n\nfunc (T) f(a, b, c, d, e int, g string) {}\n",
			"b.T.f has 6 parameters"},
		{"parameters of a function, most", function("\t_ = func(int, int, int, int, int, int) {}\n"), "b.f has 6 parameters"},
		{"methods of a type, most", "package b\n\ntype T[K any] struct{}\n" + methods(41), "internal/b.T has 41, may have 40"},
		{"fields of a struct, most", "package b\n\ntype t struct {\n\tint\n\t" + strings.Repeat("_, ", 24) + "_ string\n}\n",
			"internal/b.t has 26, may have 25"},
		{"exported names without a comment", "// Package b is b.\npackage b\n\nconst (\n\tX = 1\n)\n", "b.go:5: X"},
		{"exported names without a comment", "// Package b is b.\npackage b\n\n// T is a type.\ntype T[K any] struct{}\n\nfunc (*T[K]) M() {}\n",
			"b.go:7: T.M"},
		{"exported names without a comment", "package b\n", "package b has no comment"},
		{"clock, environment or own context read", "package b\n\nimport clock \"time\"\n\nvar f = clock.Now\n", "b.go:5: time.Now"},
		{"clock, environment or own context read", "package b\n\nimport \"os\"\n\nvar f = os.Getenv(\"X\")\n", "os.Getenv"},
		{"clock, environment or own context read", "package b\n\nimport \"context\"\n\nvar f = context.TODO() // because\n", "context.TODO"},
		{"Status().Update", "package b\n\nfunc f(c i) { c.Status().Update() }\n", "b.go:3"},
		{"lines of more than 140 characters", function("\tprintln(" + strings.Repeat("1, ", 50) + "1)\n"), "internal/b has 1, may have 0"},
		{"func init", "package b\n\nfunc init() {}\n", "b.go:3"},
		{"mutable package state", "package b\n\nvar n int\n\nfunc f() { n++ }\n", "b.go:5: n is changed"},
		{"mutable package state", "package b\n\nvar m = map[string][]int{}\n\nfunc f() { m[\"a\"][0] = 1 }\n", "m is changed"},
		{"mutable package state", "package b\n\nvar m = map[string]int{}\n\nfunc f() { delete(m, \"a\") }\n", "m is changed"},
		{"mutable package state", "package b\n\nvar p = &struct{ n int }{}\n\nfunc f() { p.n = 1 }\n", "p is changed"},
		{"mutable package state", "package b\n\nvar n int\n\nfunc f() { for n = range 3 {\n} }\n", "n is changed"},
		{"mutable package state", "package b\n\nimport \"sync\"\n\nvar mu sync.Mutex\n", "mu is guarded state"},
		{"mutable package state", "package b\n\nimport \"example.org/m/internal/a\"\n\nfunc f() { a.Table = nil }\n", "a.Table is changed"},
	} {
		t.Run(c.budget, func(t *testing.T) {
			s := clean()
			s["internal/b/b.go"] = c.text
			r := find(t, measure(load(t, s), floors{}), c.budget)
			if r.verdict != broken || len(r.findings) != 1 || !strings.Contains(r.findings[0], c.finding) {
				t.Errorf("got %q %q, want broken by one finding with %q", r.verdict, r.findings, c.finding)
			}
		})
	}
}

func TestWhatIsAllowedIsNotFound(t *testing.T) {
	for name, text := range map[string]string{
		"a context that only registers":     "// Package b is b.\npackage b\n\nimport \"context\"\n\nvar f = context.Background() // only registers functions\n",
		"a local variable of the same name": "// Package b is b.\npackage b\n\nvar n = 1\n\nfunc f() {\n\tn := n\n\tn++\n}\n",
		"a field of another module's name":  "// Package b is b.\npackage b\n\nfunc f(time struct{ Now int }) int { return time.Now }\n",
		"a default clause is no decision": "// Package b is b.\npackage b\n\nfunc f(n int) {\n\tswitch n {\n" + cases(10) +
			"\tdefault:\n\t}\n}\n",
		"five parameters and a receiver": "// Package b is b.\npackage b\n\ntype t struct{}\n\nfunc (t) f(a, b, c, d, e int) {}\n",
		"a group under one comment":      "// Package b is b.\npackage b\n\n// The numbers.\nconst (\n\tX = 1\n\tY = 2\n)\n",
	} {
		t.Run(name, func(t *testing.T) {
			s := clean()
			s["internal/b/b.go"] = text
			var out bytes.Buffer
			if !report(&out, measure(load(t, s), floors{})) {
				t.Errorf("broken:\n%s", &out)
			}
		})
	}
}

// methods are methods of *T[K].
func methods(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "\nfunc (*T[K]) m%d() {}\n", i)
	}
	return b.String()
}

// The test bed is judged, too; objects of the API and the states of AWS kinds are not, by their fields.
func TestTypesAreJudgedWhereverTheyAre(t *testing.T) {
	wide := "package b\n\ntype T[K any] struct {\n\t" + strings.Repeat("_, ", 25) + "_ string\n}\n"
	for name, c := range map[string]struct {
		path, text, want string
	}{
		"the test bed": {"internal/testkit/b/b.go", wide + methods(41),
			"internal/testkit/b.T has 41, may have 40|internal/testkit/b.T has 26, may have 25"},
		"fields of an object of the API": {"api/b/b.go", wide, ""},
		"methods of a kind":              {"internal/kinds/b/b.go", wide + methods(41), "internal/kinds/b.T has 41, may have 40"},
	} {
		t.Run(name, func(t *testing.T) {
			s := clean()
			s[c.path] = c.text
			var findings []string
			for _, r := range typeRows(load(t, s)) {
				findings = append(findings, r.findings...)
			}
			wants := strings.Split(c.want, "|")
			if c.want == "" {
				wants = nil
			}
			if len(findings) != len(wants) {
				t.Fatalf("%q, want %q", findings, wants)
			}
			for i, want := range wants {
				if !strings.Contains(findings[i], want) {
					t.Errorf("%q, want %q", findings[i], want)
				}
			}
		})
	}
}

func cases(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "\tcase %d:\n", i)
	}
	return b.String()
}

func TestCommandsMayReadTheClock(t *testing.T) {
	s := clean()
	s["cmd/x/main.go"] = "// X runs.\npackage main\n\nimport \"time\"\n\nfunc main() { println(time.Now().String()) }\n"
	s["internal/options/o.go"] = "// Package options reads.\npackage options\n\nimport \"os\"\n\nvar f = os.Getenv\n"
	if r := find(t, measure(load(t, s), floors{}), "clock, environment or own context read"); r.verdict != kept {
		t.Errorf("broken by %q", r.findings)
	}
}

func TestComplexityCountsDecisions(t *testing.T) {
	for expression, want := range map[string]int{
		`func() {}`: 1,
		`func() { if a && b || c {} else if d {} }`:          5,
		`func() { for range x { for {} } }`:                  3,
		`func() { switch { case a, b: case c: default: } }`:  3,
		`func() { select { case <-a: case <-b: default: } }`: 3,
		`func() { func() { if a {} }() }`:                    2,
	} {
		e, err := parser.ParseExpr(expression)
		if err != nil {
			t.Fatal(err)
		}
		if got := complexity(e); got != want {
			t.Errorf("%s: got %d, want %d", expression, got, want)
		}
	}
}

const loop = `
func %s(%s []int) (sum int) {
	for _, x := range %[2]s {
		if x > %d {
			sum += x
			sum *= len(%[2]s)
		}
	}
	return sum
}
`

func TestRepeatedShapesAreFoundWhateverTheNames(t *testing.T) {
	s := clean()
	s["internal/b/b.go"] = "// Package b is b.\npackage b\n" + fmt.Sprintf(loop, "f", "xs", 3)
	s["internal/c/c.go"] = "// Package c is c.\npackage c\n\n// A comment.\n" + fmt.Sprintf(loop, "total", "values", 70)
	r := find(t, measure(load(t, s), floors{}), "duplicated shape in internal/")
	if r.verdict != broken || len(r.findings) != 2 || !strings.Contains(r.findings[1], "internal/c/c.go: 9 lines: 6–14") {
		t.Errorf("got %q %q", r.verdict, r.findings)
	}
}

func TestTablesAndShortRunsAreNoRepetition(t *testing.T) {
	s := clean()
	rows := strings.Repeat("\t{1, \"a\"},\n", 20)
	s["internal/b/b.go"] = "// Package b is b.\npackage b\n\nvar t = []struct {\n\tn int\n\ts string\n}{\n" + rows + "}\n"
	s["internal/c/c.go"] = "// Package c is c.\npackage c\n\nvar t = []struct {\n\tn int\n\ts string\n}{\n" + rows +
		"}\n\nfunc f() {\n\tprintln(1)\n\tprintln(2)\n\tprintln(3)\n}\n"
	s["internal/d/d.go"] = "// Package d is d.\npackage d\n\nfunc f() {\n\tprintln(1)\n\tprintln(2)\n\tprintln(3)\n}\n"
	if r := find(t, measure(load(t, s), floors{}), "duplicated shape in internal/"); r.measured != "0.0 %" {
		t.Errorf("got %s %q", r.measured, r.findings)
	}
}

func TestAKindHasItsOwnFileAndItsShareOfTheOthers(t *testing.T) {
	filler := func(lines int) string { return "\n// A comment.\n" + strings.Repeat("var _ = 1\n", lines) }
	kind := func(name, uses string, lines int) string {
		return "package glue\n\nfunc New" + name + "(c aws.Config) kind.Kind[*v1.X, S] { " + uses + "; return nil }\n" + filler(lines-2)
	}
	shared := func(text string, lines int) string { return "package glue\n\n" + text + "\n" + filler(lines-2) }
	s := clean()
	s["internal/kinds/glue/table.go"] = kind("Table", "tags(); columns()", 400)
	s["internal/kinds/glue/database.go"] = kind("Database", "tags()", 100)
	s["internal/kinds/glue/tags.go"] = shared("func tags() {}", 20)
	s["internal/kinds/glue/columns.go"] = shared("func columns() { names() }", 50)
	s["internal/kinds/glue/names.go"] = shared("func names() {}", 30)
	s["internal/kinds/glue/export.go"] = shared("func exported() {}", 30)
	s["internal/kinds/glue/facts.go"] = shared("func facts() {}", 30)
	s["internal/kinds/glue/errors.go"] = shared("func failures() {}", 30)
	r := find(t, measure(load(t, s), floors{}), "lines of one AWS kind")
	if r.verdict != noted || r.measured != "2 kinds: median 110, most 490" || len(r.findings) != 1 ||
		!strings.Contains(r.findings[0], "glue.Table takes 490 lines") {
		t.Errorf("got %q %q %q", r.verdict, r.measured, r.findings)
	}
	for most, want := range map[int]verdict{490: kept, 489: broken} {
		r := find(t, measure(load(t, s), floors{KindLines: map[string]int{"glue.Table": most}}), "lines of AWS kinds with a limit")
		if r.verdict != want {
			t.Errorf("limit %d: got %q %q, want %q", most, r.verdict, r.findings, want)
		}
	}
}

func TestTheFloorOfTestsHolds(t *testing.T) {
	s := clean() // 21 lines of code, 45 of tests
	for floor, want := range map[float64]verdict{1: kept, 3: broken} {
		if r := find(t, measure(load(t, s), floors{TestToCode: floor}), "test to code"); r.verdict != want {
			t.Errorf("floor %v: got %q (%s), want %q", floor, r.verdict, r.measured, want)
		}
	}
	s["internal/b/b.go"] = "// Package b is b.\npackage b\n" + strings.Repeat("//\n", 40)
	if r := find(t, measure(load(t, s), floors{TestToCode: 0.5}), "test to code"); r.verdict != noted {
		t.Errorf("between floor and target: got %q (%s), want it noted", r.verdict, r.measured)
	}
}

func TestCoverageIsCountedByStatementsAndBlocksOnce(t *testing.T) {
	profile := filepath.Join(t.TempDir(), "cover.out")
	text := `mode: set
m/internal/engine/a.go:1.1,2.2 9 0
m/internal/engine/a.go:1.1,2.2 9 1
m/internal/engine/a.go:3.1,4.2 1 0
m/internal/awsclient/a.go:1.1,2.2 1 1
m/internal/awsclient/sub/a.go:1.1,2.2 1 0
`
	if err := os.WriteFile(profile, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	by, err := readProfile(profile, "m")
	if err != nil {
		t.Fatal(err)
	}
	rows := coverageRows(by)
	for room, want := range map[string]struct {
		measured string
		verdict  verdict
	}{
		"internal/engine":     {"90.0 %", kept},
		"internal/awsclient":  {"50.0 %", broken},
		"internal/controller": {"0.0 %", broken},
	} {
		if r := find(t, rows, "coverage of "+room); r.measured != want.measured || r.verdict != want.verdict {
			t.Errorf("%s: got %s %q, want %s %q", room, r.measured, r.verdict, want.measured, want.verdict)
		}
	}
}

func TestAMalformedProfileIsAnError(t *testing.T) {
	profile := filepath.Join(t.TempDir(), "cover.out")
	if err := os.WriteFile(profile, []byte("mode: set\nwhat is this\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := readProfile(profile, "m"); err == nil {
		t.Error("it was accepted")
	}
}

func TestThisTreeIsMeasured(t *testing.T) {
	loaded, err := loadTree("../../..")
	if err != nil {
		t.Fatal(err)
	}
	f, err := readFloors("../../..", "test/house/thresholds.json")
	if err != nil {
		t.Fatal(err)
	}
	if rows := measure(loaded, f); len(kindSizes(loaded)) == 0 || len(rows) < 14 {
		t.Errorf("%d kinds and %d rows", len(kindSizes(loaded)), len(rows))
	}
}
