// SPDX-License-Identifier: Apache-2.0

package main

import (
	"go/ast"
	"slices"
	"strings"
)

// banned are the names of the standard library that hide an input: the clock, the environment, a
// context that no one can end.
var banned = map[string][]string{
	"time":    {"Now", "Since", "Until"},
	"os":      {"Getenv", "LookupEnv", "Environ"},
	"context": {"Background", "TODO"},
}

// mayReach are the rooms in which the process meets its surroundings.
var mayReach = []string{"cmd", "internal/options"}

// onlyRegisters on a line excuses it: the API wants a context and does nothing with it but take a function.
const onlyRegisters = "// only registers"

// habitRows checks what must not be written.
func habitRows(t *tree) []row {
	var hidden, updates, inits []string
	for _, files := range t.packages() {
		names := resolve(t, files)
		for _, f := range files {
			excused := excusedLines(t, f)
			ast.Inspect(f.ast, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.SelectorExpr:
					if name := bannedName(names, f, n); name != "" && !excused[t.line(n)] {
						hidden = append(hidden, t.at(n)+": "+name)
					}
				case *ast.CallExpr:
					if isStatusUpdate(n) {
						updates = append(updates, t.at(n)+": patch the status instead")
					}
				case *ast.FuncDecl:
					if n.Recv == nil && n.Name.Name == "init" {
						inits = append(inits, t.at(n))
					}
				}
				return true
			})
		}
	}
	return []row{
		none("clock, environment or own context read", hidden),
		none("Status().Update", updates),
		none("func init", inits),
	}
}

func excusedLines(t *tree, f *file) map[int]bool {
	out := map[int]bool{}
	for _, g := range f.ast.Comments {
		for _, c := range g.List {
			if strings.HasPrefix(c.Text, onlyRegisters) {
				out[t.line(c)] = true
			}
		}
	}
	return out
}

// bannedName returns the banned name that a selector is, or "".
func bannedName(names *names, f *file, s *ast.SelectorExpr) string {
	if slices.ContainsFunc(mayReach, func(room string) bool { return under(f.path, room) }) {
		return ""
	}
	from := names.importOf(s.X)
	if slices.Contains(banned[from], s.Sel.Name) {
		return from + "." + s.Sel.Name
	}
	return ""
}

// isStatusUpdate finds x.Status().Update(…).
func isStatusUpdate(c *ast.CallExpr) bool {
	update, ok := c.Fun.(*ast.SelectorExpr)
	if !ok || update.Sel.Name != "Update" {
		return false
	}
	inner, ok := update.X.(*ast.CallExpr)
	if !ok {
		return false
	}
	status, ok := inner.Fun.(*ast.SelectorExpr)
	return ok && status.Sel.Name == "Status"
}
