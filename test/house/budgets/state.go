// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"go/ast"
	"go/token"
	"slices"
)

// stateRows finds package-level variables that something changes: assigned, counted up, filled, or of a
// type that exists only to be changed. Tables and patterns that are only read are fine.
func stateRows(t *tree) []row {
	var findings []string
	for _, files := range t.packages() {
		names := resolve(t, files)
		for _, f := range files {
			ast.Inspect(f.ast, func(n ast.Node) bool {
				for _, e := range changed(n) {
					if v := names.variable(e); v != "" {
						findings = append(findings, fmt.Sprintf("%s: %s is changed", t.at(e), v))
					}
				}
				return true
			})
			findings = append(findings, guarded(t, f, names)...)
		}
	}
	return []row{none("mutable package state", findings)}
}

// changed lists what a statement or call changes.
func changed(n ast.Node) []ast.Expr {
	switch n := n.(type) {
	case *ast.AssignStmt:
		if n.Tok != token.DEFINE {
			return n.Lhs
		}
	case *ast.IncDecStmt:
		return []ast.Expr{n.X}
	case *ast.RangeStmt:
		if n.Tok == token.ASSIGN {
			return []ast.Expr{n.Key, n.Value}
		}
	case *ast.CallExpr:
		if fn, ok := n.Fun.(*ast.Ident); ok && (fn.Name == "delete" || fn.Name == "clear") && len(n.Args) > 0 {
			return n.Args[:1]
		}
	}
	return nil
}

// guarded reports package-level variables of types from sync and sync/atomic: what needs a lock changes.
func guarded(t *tree, f *file, names *names) []string {
	var out []string
	for _, d := range f.ast.Decls {
		g, ok := d.(*ast.GenDecl)
		if !ok || g.Tok != token.VAR {
			continue
		}
		for _, s := range g.Specs {
			v := s.(*ast.ValueSpec)
			if v.Type != nil && mentions(names, v.Type, "sync", "sync/atomic") {
				out = append(out, fmt.Sprintf("%s: %s is guarded state", t.at(v), v.Names[0].Name))
			}
		}
	}
	return out
}

// mentions reports whether an expression uses a name of one of the imports.
func mentions(names *names, e ast.Expr, importPaths ...string) bool {
	found := false
	ast.Inspect(e, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			found = found || slices.Contains(importPaths, names.importOf(s.X))
		}
		return !found
	})
	return found
}
