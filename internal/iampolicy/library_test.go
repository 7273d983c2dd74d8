// SPDX-License-Identifier: Apache-2.0

package iampolicy

import (
	"go/ast"
	goparser "go/parser"
	"go/token"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	awspolicy "github.com/hashicorp/awspolicyequivalence"
	"pgregory.net/rapid"
)

// differences are the library's own cases that Equal decides otherwise, with the reason. AWS stores none
// of these texts, so either answer leads to the same write.
var differences = map[string]string{
	"Invalid policy JSON":      "a text equals itself: there is nothing to write",
	"One-length lists":         "a number is no resource: Parse refuses it",
	"Different empty lists":    "a list is no document: AWS returns documents as JSON objects",
	"Equivalence of emptiness": "an empty text is no document; a kind treats it as an absent policy",
}

// TestEqual_AgreesWithLibraryCases runs the cases of awspolicyequivalence, the library behind Terraform's
// AWS provider, as its own test lists them.
func TestEqual_AgreesWithLibraryCases(t *testing.T) {
	cases := libraryCases(t)
	if len(cases) < 40 {
		t.Fatalf("found only %d cases", len(cases))
	}
	for _, c := range cases {
		reason, differs := differences[c.name]
		if got := Equal(c.a, c.b); got != (c.equal != differs) {
			t.Errorf("%s (%s): got %v for\n%s\n%s", c.name, reason, got, c.a, c.b)
		}
	}
}

// libraryCases reads the table of the library's test from the module cache.
func libraryCases(t *testing.T) []pair {
	t.Helper()
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/hashicorp/awspolicyequivalence").Output()
	if err != nil {
		t.Fatal(err)
	}
	file, err := goparser.ParseFile(token.NewFileSet(), filepath.Join(strings.TrimSpace(string(dir)), "aws_policy_equivalence_test.go"),
		nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	constants, out := map[string]string{}, []pair(nil)
	ast.Inspect(file, func(n ast.Node) bool {
		if v, ok := n.(*ast.ValueSpec); ok && len(v.Values) == 1 {
			if text, ok := v.Values[0].(*ast.BasicLit); ok {
				constants[v.Names[0].Name], _ = strconv.Unquote(text.Value)
			}
		}
		return true
	})
	ast.Inspect(file, func(n ast.Node) bool {
		if row, ok := n.(*ast.CompositeLit); ok && row.Type == nil {
			if c, ok := libraryCase(row, constants); ok {
				out = append(out, c)
			}
			return false
		}
		return true
	})
	return out
}

func libraryCase(row *ast.CompositeLit, constants map[string]string) (pair, bool) {
	var c pair
	policies := 0
	for _, e := range row.Elts {
		kv, ok := e.(*ast.KeyValueExpr)
		if !ok {
			return c, false
		}
		key, _ := kv.Key.(*ast.Ident)
		switch v := kv.Value.(type) {
		case *ast.BasicLit:
			c.name, _ = strconv.Unquote(v.Value)
		case *ast.Ident:
			switch key.Name {
			case "policy1":
				c.a, ok = constants[v.Name]
				policies++
			case "policy2":
				c.b, ok = constants[v.Name]
				policies++
			case "equivalent":
				c.equal = v.Name == "true"
			}
			if !ok {
				return c, false
			}
		}
	}
	return c, policies == 2
}

func TestEqual_AgreesWithLibraryAtRandom(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := sample(t)
		other, what := d, "nothing"
		if rapid.Bool().Draw(t, "change") {
			other, what = change(t, d)
		}
		a, b := rewriter{T: t, plain: true}.document(d), rewriter{T: t, plain: true}.document(other)
		theirs, err := awspolicy.PoliciesAreEquivalent(a, b)
		if err != nil {
			t.Fatalf("%v", err)
		}
		if ours := Equal(a, b); ours != theirs || ours != (what == "nothing") {
			t.Fatalf("%s changed: equal %v, the library says %v:\n%s\n%s", what, ours, theirs, a, b)
		}
	})
}

// TestEqual_DiffersFromLibrary lists why the library is not used for the comparison: where it says equal
// a change of who has access would stay uncorrected, where it says different the operator would write
// again and again.
func TestEqual_DiffersFromLibrary(t *testing.T) {
	for _, c := range []pair{
		{"every principal against none", bucketPolicy(`"Principal":"*"`), bucketPolicy(`"Sid":""`), false},
		{"every principal against one account", bucketPolicy(`"Principal":"*"`), bucketPolicy(`"Principal":"arn:aws:iam::123456789012:root"`),
			false},
		{"an element that occurs twice", bucketPolicy(`"Principal":"*","Principal":{"AWS":"1"}`), bucketPolicy(`"Principal":{"AWS":"1"}`), false},
		{"an element that it does not know", bucketPolicy(`"Principals":"*"`), bucketPolicy(`"Sid":""`), false},
		{"large numbers", condition(`{"NumericEquals":{"k":12345678901234567890}}`), condition(`{"NumericEquals":{"k":12345678901234567891}}`),
			false},
		{"no version", `{"Statement":{"Effect":"Deny"}}`, `{"Version":"2008-10-17","Statement":{"Effect":"Deny"}}`, true},
		{"every principal in two forms", bucketPolicy(`"Principal":"*"`), bucketPolicy(`"Principal":{"AWS":"*"}`), true},
		{"case of actions", bucketPolicy(`"NotAction":"S3:getobject"`), bucketPolicy(`"NotAction":"s3:GetObject"`), true},
		{"case of context keys", condition(`{"Bool":{"AWS:x":"true"}}`), condition(`{"Bool":{"aws:x":"true"}}`), true},
		{"another spelling of a number", condition(`{"NumericEquals":{"k":"10.0"}}`), condition(`{"NumericEquals":{"k":"10"}}`), true},
		{"repeated values", bucketPolicy(`"NotAction":["a","a"]`), bucketPolicy(`"NotAction":"a"`), true},
		{"repeated statements", `{"Statement":[{"Effect":"Deny"},{"Effect":"Deny"}]}`, `{"Statement":{"Effect":"Deny"}}`, true},
		{"an empty condition", bucketPolicy(`"Condition":{}`), bucketPolicy(`"Sid":""`), true},
	} {
		c.check(t)
		if theirs, err := awspolicy.PoliciesAreEquivalent(c.a, c.b); err != nil || theirs == c.equal {
			t.Errorf("%s: the library agrees now (%v, %v): remove the row, and the reason from docs/design/0014", c.name, theirs, err)
		}
	}
}
