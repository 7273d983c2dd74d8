// SPDX-License-Identifier: Apache-2.0

// Package golden compares the output of tests with files below testdata.
package golden

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pmezard/go-difflib/difflib"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// Update is the environment variable that, set to 1, has the files written instead of compared.
const Update = "NEXUS_UPDATE"

// Check compares got with testdata/<file>, and prints only the difference: as a patch of the file.
func Check(t testing.TB, file, got string) {
	t.Helper()
	path := filepath.Join("testdata", file)
	if os.Getenv(Update) == "1" {
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
	t.Errorf("not as expected; apply this, or run the test with %s=1:\n%s", Update, diff)
}

// Manifests prints objects as documents.
func Manifests(t testing.TB, objects []*unstructured.Unstructured) string {
	t.Helper()
	var out strings.Builder
	for _, o := range objects {
		text, err := yaml.Marshal(o.Object)
		if err != nil {
			t.Fatal(err)
		}
		out.WriteString("---\n" + string(text))
	}
	return out.String()
}
