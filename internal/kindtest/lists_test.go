// SPDX-License-Identifier: Apache-2.0

package kindtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"github.com/nexus-operator/nexus-operator/config/crd"
)

// Reasons for lists that no test of kindtest.Lists is about.
const (
	immutable   = "it is set with the create, and no edit changes it"
	onlyInput   = "the operator reads it, and AWS has no list of its own to which somebody adds"
	ownResource = "each element is a resource with its own owner"
)

// undecided are the lists of each kind without a test of kindtest.Lists, with the reason.
var undecided = map[string]map[string]string{
	"AWSResource":          {"ignore": onlyInput},
	"Certificate":          {"subjectAlternativeNames": immutable},
	"SecretsManagerSecret": {"generate.keys": onlyInput, "placeholder": onlyInput},
	"SSMParameterSet":      {"parameters": ownResource},
}

func TestLists_EveryListOfAKindIsDecided(t *testing.T) {
	tested := testedKinds(t)
	for _, kind := range kindsOfAWS(t) {
		lists := describedLists(t, kind)
		for _, field := range slices.Sorted(maps.Keys(lists)) {
			if reason := undecided[kind][field]; (reason == "") != tested[kind] {
				t.Errorf("%s of %s: a test of kindtest.Lists: %t, and the reason for none: %q", field, kind, tested[kind], reason)
			}
		}
		for field := range undecided[kind] {
			if _, ok := lists[field]; !ok {
				t.Errorf("%s has no list %s", kind, field)
			}
		}
	}
}

// kindsOfAWS returns the kinds of the definitions of AWS's resources.
func kindsOfAWS(t *testing.T) (kinds []string) {
	t.Helper()
	files, err := fs.Glob(crd.Bases, "aws*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		text, err := fs.ReadFile(crd.Bases, file)
		if err != nil {
			t.Fatal(err)
		}
		var definition apiextensions.CustomResourceDefinition
		if err := yaml.Unmarshal(text, &definition); err != nil {
			t.Fatal(err)
		}
		if name := definition.Spec.Names.Kind; name != "AWSProvider" {
			kinds = append(kinds, name)
		}
	}
	return kinds
}

// testedKinds returns the kinds with a test that calls kindtest.Lists. That function fails for a list that the test does not mention.
func testedKinds(t *testing.T) map[string]bool {
	t.Helper()
	files, err := filepath.Glob("../kinds/*/*.go")
	if err != nil {
		t.Fatal(err)
	}
	makes, tested := map[string]string{}, map[string]bool{} // by package and function
	var called []string
	for _, file := range files {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range parsed.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && strings.HasPrefix(f.Name.Name, "New") && f.Type.Results != nil {
				makes[parsed.Name.Name+"."+f.Name.Name] = kindIn(f.Type.Results)
			}
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok && selects(call.Fun, "kindtest", "Lists") {
				of := call.Args[1].(*ast.CallExpr).Args[0].(*ast.Ident)
				called = append(called, parsed.Name.Name+"."+of.Name)
			}
			return true
		})
	}
	for _, c := range called {
		tested[makes[c]] = true
	}
	return tested
}

// kindIn returns the name of the type of v1alpha1 in the results of a constructor.
func kindIn(results ast.Node) (name string) {
	ast.Inspect(results, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok && selects(s, "v1alpha1", s.Sel.Name) {
			name = s.Sel.Name
		}
		return true
	})
	return name
}

func selects(e ast.Expr, of, name string) bool {
	s, ok := e.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	x, ok := s.X.(*ast.Ident)
	return ok && x.Name == of && s.Sel.Name == name
}
