// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"go/ast"
	"go/token"
	"path"
	"slices"
	"strings"
)

// The design's limits on sizes.
const (
	maxFileP90       = 400
	maxFile          = 600
	maxFunctionP90   = 40
	maxFunction      = 80
	maxComplexity    = 11
	maxParameters    = 5
	kindLow          = 150
	kindHigh         = 300
	kindWorthALook   = 450
	kindsFolder      = "internal/kinds"
	exportFile       = "export.go"
	factsFile        = "facts.go"
	errorsFile       = "errors.go"
	kindInterface    = "kind"
	kindInterfaceSel = "Kind"
)

// function is one function declaration, with the function literals inside it, or a function literal
// that stands outside every declaration.
type function struct {
	name, at                      string
	lines, complexity, parameters int
}

// functions lists every function of the production code.
func functions(t *tree) []function {
	var out []function
	for _, f := range t.production {
		for _, d := range f.ast.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok {
				out = append(out, t.function(f, fn, nameOf(fn), fn.Type))
				continue
			}
			ast.Inspect(d, func(n ast.Node) bool {
				lit, ok := n.(*ast.FuncLit)
				if ok {
					out = append(out, t.function(f, lit, "a function literal", lit.Type))
				}
				return !ok
			})
		}
	}
	return out
}

func (t *tree) function(f *file, n ast.Node, name string, signature *ast.FuncType) function {
	return function{
		name: f.ast.Name.Name + "." + name, at: t.at(n),
		lines:      t.fset.Position(n.End()).Line - t.fset.Position(n.Pos()).Line + 1,
		complexity: complexity(n), parameters: most(n, parameters(signature)),
	}
}

func nameOf(fn *ast.FuncDecl) string {
	if fn.Recv == nil || len(fn.Recv.List) == 0 {
		return fn.Name.Name
	}
	return receiver(fn) + "." + fn.Name.Name
}

// receiver names the type a method belongs to.
func receiver(fn *ast.FuncDecl) string {
	e := fn.Recv.List[0].Type
	for {
		switch x := e.(type) {
		case *ast.StarExpr:
			e = x.X
		case *ast.IndexExpr:
			e = x.X
		case *ast.IndexListExpr:
			e = x.X
		case *ast.Ident:
			return x.Name
		default:
			return "?"
		}
	}
}

// complexity is McCabe's: one, and one more for every decision. A default clause decides nothing.
func complexity(n ast.Node) int {
	c := 1
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.IfStmt, *ast.ForStmt, *ast.RangeStmt:
			c++
		case *ast.CaseClause:
			if n.List != nil {
				c++
			}
		case *ast.CommClause:
			if n.Comm != nil {
				c++
			}
		case *ast.BinaryExpr:
			if n.Op == token.LAND || n.Op == token.LOR {
				c++
			}
		}
		return true
	})
	return c
}

// parameters counts names, so that "a, b int" are two; an unnamed parameter is one.
func parameters(t *ast.FuncType) int {
	n := 0
	for _, f := range t.Params.List {
		n += max(1, len(f.Names))
	}
	return n
}

// most is the larger of n and what any function literal inside takes.
func most(inside ast.Node, n int) int {
	ast.Inspect(inside, func(x ast.Node) bool {
		if lit, ok := x.(*ast.FuncLit); ok {
			n = max(n, parameters(lit.Type))
		}
		return true
	})
	return n
}

func sizeRows(t *tree) []row {
	var fileLines []int
	var longFiles []string
	for _, f := range largest(t.production, func(f *file) int { return f.lines }, func(f *file) string { return f.path }) {
		fileLines = append(fileLines, f.lines)
		if f.lines > maxFile {
			longFiles = append(longFiles, fmt.Sprintf("%s has %d lines", f.path, f.lines))
		}
	}
	all := functions(t)
	name := func(f function) string { return f.name }
	lines, longFunctions := overLimit(all, func(f function) int { return f.lines }, name, maxFunction, "lines")
	paths, tangled := overLimit(all, func(f function) int { return f.complexity }, name, maxComplexity, "independent paths")
	params, wide := overLimit(all, func(f function) int { return f.parameters }, name, maxParameters, "parameters")
	return []row{
		p90Row("lines of a file, p90", maxFileP90, fileLines),
		atMost("lines of a file, most", limit(maxFile), fmt.Sprint(percentile(fileLines, 100)), longFiles),
		p90Row("lines of a function, p90", maxFunctionP90, lines),
		atMost("lines of a function, most", limit(maxFunction), fmt.Sprint(percentile(lines, 100)), longFunctions),
		atMost("cyclomatic complexity, most", limit(maxComplexity), fmt.Sprint(percentile(paths, 100)), tangled),
		atMost("parameters of a function, most", limit(maxParameters), fmt.Sprint(percentile(params, 100)), wide),
	}
}

func p90Row(budget string, most int, values []int) row {
	p90 := percentile(values, 90)
	var findings []string
	if p90 > most {
		findings = []string{fmt.Sprintf("one in ten of %d has more than %d", len(values), most)}
	}
	return atMost(budget, limit(most), fmt.Sprint(p90), findings)
}

func limit(n int) string { return fmt.Sprintf("≤ %d", n) }

// overLimit returns the sizes of all functions and a finding for each that is too large.
func overLimit(all []function, size func(function) int, name func(function) string, most int, unit string) (sizes []int,
	findings []string) {
	for _, f := range largest(all, size, name) {
		sizes = append(sizes, size(f))
		if size(f) > most {
			findings = append(findings, fmt.Sprintf("%s: %s has %d %s", f.at, f.name, size(f), unit))
		}
	}
	return sizes, findings
}

// kindSize measures the code of one AWS kind.
type kindSize struct {
	name  string
	lines int
}

// kindSizes counts the lines of code of each AWS kind, without blank lines and comments: those of its own
// file, and its share of the files of its package that it uses, divided among the kinds that use them. What
// declares existing resources, in files that end in exportFile, the facts in factsFile and the error codes in errorsFile are no part of
// reconciling and are not counted.
func kindSizes(t *tree) []kindSize {
	var out []kindSize
	for _, files := range t.packages() {
		if !under(files[0].dir(), kindsFolder) {
			continue
		}
		shares := map[*file]int{}
		used := usedFiles(t, files)
		for _, f := range files {
			isData := strings.HasSuffix(f.path, exportFile) || slices.Contains([]string{factsFile, errorsFile}, path.Base(f.path))
			if len(constructors(f)) == 0 && !isData {
				share(f, files, used, shares)
			}
		}
		for _, f := range files {
			names := constructors(f)
			for _, n := range names {
				out = append(out, kindSize{f.ast.Name.Name + "." + n, (codeLines(f) + shares[f]) / len(names)})
			}
		}
	}
	return largest(out, func(k kindSize) int { return k.lines }, func(k kindSize) string { return k.name })
}

func codeLines(f *file) int { return len(normalized(f.text)) }

// share divides the lines of a file without a kind among the files with kinds that use it, or among all of
// them where none does.
func share(shared *file, files []*file, used map[*file]map[*file]bool, shares map[*file]int) {
	var users, all []*file
	for _, f := range files {
		if len(constructors(f)) == 0 {
			continue
		}
		all = append(all, f)
		if reaches(f, shared, used, map[*file]bool{}) {
			users = append(users, f)
		}
	}
	if len(users) == 0 {
		users = all
	}
	for _, f := range users {
		shares[f] += codeLines(shared) / len(users)
	}
}

// reaches reports whether a file uses another one, directly or through files without a kind.
func reaches(from, to *file, used map[*file]map[*file]bool, passed map[*file]bool) bool {
	for f := range used[from] {
		if f == to {
			return true
		}
		if len(constructors(f)) == 0 && !passed[f] {
			passed[f] = true
			if reaches(f, to, used, passed) {
				return true
			}
		}
	}
	return false
}

// usedFiles returns for each file of a package the files that declare what it uses.
func usedFiles(t *tree, files []*file) map[*file]map[*file]bool {
	byPath, used := map[string]*file{}, map[*file]map[*file]bool{}
	for _, f := range files {
		byPath[f.path], used[f] = f, map[*file]bool{}
	}
	for id, object := range resolve(t, files).uses {
		user, declared := byPath[t.fset.Position(id.Pos()).Filename], byPath[t.fset.Position(object.Pos()).Filename]
		if user != nil && declared != nil && user != declared {
			used[user][declared] = true
		}
	}
	return used
}

// constructors are the functions of a file that return a kind.
func constructors(f *file) []string {
	var out []string
	for _, d := range f.ast.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if ok && fn.Recv == nil && fn.Type.Results != nil && len(fn.Type.Results.List) == 1 && isKind(fn.Type.Results.List[0].Type) {
			out = append(out, strings.TrimPrefix(fn.Name.Name, "New"))
		}
	}
	return out
}

// isKind reports whether a type is kind.Kind[…].
func isKind(e ast.Expr) bool {
	list, ok := e.(*ast.IndexListExpr)
	if !ok {
		return false
	}
	sel, ok := list.X.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	x, ok := sel.X.(*ast.Ident)
	return ok && x.Name == kindInterface && sel.Sel.Name == kindInterfaceSel
}

// kindRows judges the kinds that have a limit, and reports the others that are large.
func kindRows(t *tree, f floors) []row {
	sizes := kindSizes(t)
	var lines []int
	var large, broke []string
	for _, k := range sizes {
		lines = append(lines, k.lines)
		switch most, limited := f.KindLines[k.name]; {
		case limited && k.lines > most:
			broke = append(broke, fmt.Sprintf("%s takes %d lines, its limit is %d", k.name, k.lines, most))
		case !limited && k.lines > kindWorthALook:
			large = append(large, fmt.Sprintf("%s takes %d lines", k.name, k.lines))
		}
	}
	measured := fmt.Sprintf("%d kinds: median %d, most %d", len(sizes), percentile(lines, 50), percentile(lines, 100))
	return []row{
		{budget: "lines of one AWS kind", target: fmt.Sprintf("%d–%d", kindLow, kindHigh), measured: measured, verdict: noted, findings: large},
		atMost("lines of AWS kinds with a limit", fmt.Sprintf("%d limits", len(f.KindLines)), fmt.Sprintf("%d above", len(broke)), broke),
	}
}
