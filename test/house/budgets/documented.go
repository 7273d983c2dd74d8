// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"go/ast"
	"go/token"
)

// documentedRows checks that every package and every exported name says what it is. Methods of types
// that are not exported are left out: they answer to the interface whose comments say what they do.
func documentedRows(t *tree) []row {
	var findings []string
	for _, files := range t.packages() {
		told := false
		for _, f := range files {
			told = told || f.ast.Doc != nil
		}
		if !told {
			findings = append(findings, fmt.Sprintf("%s: package %s has no comment", files[0].dir(), files[0].ast.Name.Name))
		}
		if files[0].ast.Name.Name == "main" {
			continue
		}
		for _, f := range files {
			for _, d := range f.ast.Decls {
				findings = append(findings, t.undocumented(d)...)
			}
		}
	}
	return []row{none("exported names without a comment", findings)}
}

func (t *tree) undocumented(d ast.Decl) []string {
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Doc == nil && d.Name.IsExported() && (d.Recv == nil || token.IsExported(receiver(d))) {
			return []string{t.at(d) + ": " + nameOf(d)}
		}
	case *ast.GenDecl:
		if d.Doc != nil && d.Lparen.IsValid() && d.Tok != token.TYPE { // a comment over a group speaks of all its names
			return nil
		}
		var out []string
		for _, s := range d.Specs {
			for _, n := range bare(s, d.Doc != nil) {
				out = append(out, t.at(n)+": "+n.Name)
			}
		}
		return out
	}
	return nil
}

// bare returns the exported names that a specification declares without a comment.
func bare(s ast.Spec, told bool) []*ast.Ident {
	var names []*ast.Ident
	switch s := s.(type) {
	case *ast.TypeSpec:
		told = told || s.Doc != nil || s.Comment != nil
		names = []*ast.Ident{s.Name}
	case *ast.ValueSpec:
		told = told || s.Doc != nil || s.Comment != nil
		names = s.Names
	}
	var out []*ast.Ident
	for _, n := range names {
		if n.IsExported() && !told {
			out = append(out, n)
		}
	}
	return out
}
