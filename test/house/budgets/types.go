// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"go/ast"
	"maps"
	"slices"
)

// The limits on one type. Methods that a type has from what it embeds are not counted: they are declared elsewhere, and in scope there.
const (
	maxMethods = 40
	maxFields  = 25
)

// wideFolders hold types whose fields another party chooses: objects of the API, and the states and tables of AWS kinds.
var wideFolders = []string{"api", kindsFolder}

// typeSize measures one type by its folder and name.
type typeSize struct {
	name            string
	methods, fields int
}

// typeSizes counts the methods and fields of each type of the production code and of the test bed. The fields of types in
// wideFolders count as none.
func typeSizes(t *tree) []typeSize {
	sizes := map[string]*typeSize{}
	of := func(f *file, name string) *typeSize {
		key := f.dir() + "." + name
		if sizes[key] == nil {
			sizes[key] = &typeSize{name: key}
		}
		return sizes[key]
	}
	for _, f := range slices.Concat(t.production, t.bed) {
		isWide := slices.ContainsFunc(wideFolders, func(folder string) bool { return under(f.path, folder) })
		for _, d := range f.ast.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Recv != nil {
					of(f, receiver(d)).methods++
				}
			case *ast.GenDecl:
				for name, s := range structsOf(d) {
					if !isWide {
						of(f, name).fields = fieldsOf(s)
					}
				}
			}
		}
	}
	var out []typeSize
	for _, name := range slices.Sorted(maps.Keys(sizes)) {
		out = append(out, *sizes[name])
	}
	return out
}

// structsOf returns the structs of a declaration by their names.
func structsOf(d *ast.GenDecl) map[string]*ast.StructType {
	out := map[string]*ast.StructType{}
	for _, s := range d.Specs {
		if t, is := s.(*ast.TypeSpec); is {
			if fields, is := t.Type.(*ast.StructType); is {
				out[t.Name.Name] = fields
			}
		}
	}
	return out
}

// fieldsOf counts names, so that "a, b int" are two; what is embedded is one.
func fieldsOf(s *ast.StructType) int {
	n := 0
	for _, f := range s.Fields.List {
		n += max(1, len(f.Names))
	}
	return n
}

// typeRows judges the sizes of types.
func typeRows(t *tree) []row {
	all := typeSizes(t)
	return []row{
		typeRow("methods of a type, most", maxMethods, all, func(s typeSize) int { return s.methods }),
		typeRow("fields of a struct, most", maxFields, all, func(s typeSize) int { return s.fields }),
	}
}

func typeRow(budget string, most int, all []typeSize, size func(typeSize) int) row {
	var findings []string
	largestOfAll := 0
	for _, s := range all {
		n := size(s)
		largestOfAll = max(largestOfAll, n)
		if n > most {
			findings = append(findings, fmt.Sprintf("%s has %d, may have %d: move what belongs together to another type", s.name, n, most))
		}
	}
	return atMost(budget, limit(most), fmt.Sprint(largestOfAll), findings)
}
