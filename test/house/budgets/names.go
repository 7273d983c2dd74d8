// SPDX-License-Identifier: Apache-2.0

package main

import (
	"go/ast"
	"go/types"
	"path"
	"strings"
)

// names resolves the names of one package. Imports are not loaded: only the package's own names and
// those of its imports matter here, and errors about the rest are ignored.
type names struct {
	module string
	pkg    *types.Package
	uses   map[*ast.Ident]types.Object
}

func resolve(t *tree, files []*file) *names {
	n := &names{module: t.module, uses: map[*ast.Ident]types.Object{}}
	var parsed []*ast.File
	for _, f := range files {
		parsed = append(parsed, f.ast)
	}
	cfg := types.Config{Importer: noImports{}, Error: func(error) {}}
	n.pkg, _ = cfg.Check(t.module+"/"+files[0].dir(), t.fset, parsed, &types.Info{Uses: n.uses})
	return n
}

// noImports answers every import with an empty package of its name.
type noImports struct{}

// Import implements types.Importer.
func (noImports) Import(importPath string) (*types.Package, error) {
	p := types.NewPackage(importPath, path.Base(importPath))
	p.MarkComplete()
	return p, nil
}

// importOf returns the path of the import that an expression names, or "".
func (n *names) importOf(e ast.Expr) string {
	id, ok := e.(*ast.Ident)
	if !ok {
		return ""
	}
	imported, ok := n.uses[id].(*types.PkgName)
	if !ok {
		return ""
	}
	return imported.Imported().Path()
}

// variable names the package-level variable that an expression is, or is a part of; else "". Variables
// of other modules are theirs to guard.
func (n *names) variable(e ast.Expr) string {
	for {
		switch x := e.(type) {
		case *ast.ParenExpr:
			e = x.X
		case *ast.StarExpr:
			e = x.X
		case *ast.IndexExpr:
			e = x.X
		case *ast.SelectorExpr:
			if from := n.importOf(x.X); from != "" {
				return n.ofOurs(from, x.Sel.Name)
			}
			e = x.X
		case *ast.Ident:
			if v, ok := n.uses[x].(*types.Var); ok && n.pkg != nil && v.Parent() == n.pkg.Scope() {
				return v.Name()
			}
			return ""
		default:
			return ""
		}
	}
}

func (n *names) ofOurs(importPath, name string) string {
	if strings.HasPrefix(importPath, n.module+"/") {
		return path.Base(importPath) + "." + name
	}
	return ""
}
