package kyverno_test

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pmezard/go-difflib/difflib"
	"sigs.k8s.io/yaml"

	"github.com/nexus-operator/nexus-operator/api/intent/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/intent"
)

var update = flag.Bool("update", false, "write the golden files")

// Every intent has a file; in it, what it comes to for each action in each scope.
func TestWhatKyvernoIsGivenForEachIntentActionAndScope(t *testing.T) {
	for _, id := range ids() {
		t.Run(id, func(t *testing.T) {
			var out strings.Builder
			for _, action := range []v1alpha1.Action{v1alpha1.Block, v1alpha1.Audit} {
				for _, s := range scopes() {
					fmt.Fprintf(&out, "### %s, %s\n", action, s.name)
					out.WriteString(render(t, translate(s.policy(rule(id, action)))))
				}
			}
			golden(t, strings.ToLower(id)+".yaml", out.String())
		})
	}
}

// render prints claims as comments and objects as documents.
func render(t *testing.T, tr intent.Translation) string {
	t.Helper()
	var out strings.Builder
	for _, c := range tr.Claims {
		out.WriteString(strings.TrimSpace(fmt.Sprintf("# %s: %s %s %s", c.Intent, c.Level, c.Reason, c.Message)) + "\n")
	}
	for _, u := range tr.Objects {
		text, err := yaml.Marshal(u.Object)
		if err != nil {
			t.Fatal(err)
		}
		out.WriteString("---\n" + string(text))
	}
	return out.String()
}

// golden compares got with testdata/<file>, and prints the difference as a patch of the file.
func golden(t *testing.T, file, got string) {
	t.Helper()
	path := filepath.Join("testdata", file)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	if string(want) == got {
		return
	}
	diff, err := difflib.GetUnifiedDiffString(difflib.UnifiedDiff{
		A: difflib.SplitLines(string(want)), B: difflib.SplitLines(got), FromFile: "a/" + path, ToFile: "b/" + path, Context: 3,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Errorf("not as expected; apply this, or run the test with -update:\n%s", diff)
}
