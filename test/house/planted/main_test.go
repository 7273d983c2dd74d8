// SPDX-License-Identifier: Apache-2.0

package main

import (
	"slices"
	"strings"
	"testing"
)

const sampleConfig = `
linters:
  enable: [revive, forbidigo, depguard]
  settings:
    revive: {rules: [{name: exported}]}
    forbidigo: {forbid: [{pattern: '^os\.(Getenv|Environ)$', msg: read it elsewhere}, {pattern: '\.Status\(\)\.Update', msg: patch}]}
    depguard:
      rules:
        pure: {files: ["**/internal/a/*.go", "**/internal/b/**/*.go", "!$test"], deny: [{pkg: os}, {pkg: net/http}]}
`

// complete are the findings that show every rule of sampleConfig.
func complete() []finding {
	return []finding{
		{"internal/a/a.go", 1, "revive", "exported: should have a comment"},
		{"internal/a/a.go", 2, "forbidigo", "use of `os.Getenv` forbidden because \"read it elsewhere\""},
		{"internal/a/a.go", 3, "forbidigo", "use of `os.Environ` forbidden because \"read it elsewhere\""},
		{"internal/a/a.go", 4, "forbidigo", "use of `c.Status().Update` forbidden because \"patch\""},
		{"internal/a/a.go", 5, "depguard", "import 'os' is not allowed from list 'pure'"},
		{"internal/b/c/a.go", 6, "depguard", "import 'net/http' is not allowed from list 'pure'"},
	}
}

func TestRulesWithoutFinding_NamesEachRule(t *testing.T) {
	if out, err := rulesWithoutFinding([]byte(sampleConfig), complete()); err != nil || len(out) > 0 {
		t.Errorf("every rule has a finding: %v, %v", out, err)
	}
	for i, missing := range []string{"revive", "os.Getenv", "os.Environ", ".Status().Update", "internal/a/*.go", "internal/b/**/*.go"} {
		out, err := rulesWithoutFinding([]byte(sampleConfig), slices.Delete(complete(), i, i+1))
		if err != nil || !strings.Contains(strings.Join(out, "\n"), missing) {
			t.Errorf("without the finding of %s: %v, %v", missing, out, err)
		}
	}
	if _, err := rulesWithoutFinding([]byte("linters: {}"), nil); err == nil {
		t.Error("a configuration without linters is accepted")
	}
}

func TestCompare_FindsBothDirections(t *testing.T) {
	wanted, err := wantedOf("a.go", "package a\nvar x = 1 // want one: bad | two: worse\n")
	if err != nil {
		t.Fatal(err)
	}
	one, two := finding{"a.go", 2, "one", "a bad line"}, finding{"a.go", 2, "two", "a worse line"}
	for _, c := range []struct {
		found    []finding
		problems int
	}{
		{[]finding{one, two}, 0}, {[]finding{one}, 1}, {[]finding{one, two, two}, 1}, {[]finding{one, {"a.go", 3, "two", "a worse line"}}, 2},
		{[]finding{one, {"a.go", 2, "two", "another message"}}, 2}, {[]finding{one, {"b.go", 2, "two", "a worse line"}}, 2},
	} {
		if got := compare(wanted, c.found); len(got) != c.problems {
			t.Errorf("%v: %v, want %d problems", c.found, got, c.problems)
		}
	}
	if _, err := wantedOf("a.go", "var x = 1 // want nothing in particular\n"); err == nil {
		t.Error("a comment without a linter is accepted")
	}
}
