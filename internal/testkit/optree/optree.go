// SPDX-License-Identifier: Apache-2.0

// Package optree writes a small source tree with the parts of the operator's that its image is built from.
package optree

import (
	"os"
	"path/filepath"
	"testing"
)

// Release is the version that the chart of the tree states.
const Release = "0.3.0"

// Write returns the root of a new tree. Its operator prints a word.
func Write(t testing.TB, word string) string {
	t.Helper()
	root := t.TempDir()
	for path, text := range map[string]string{
		"go.mod":                           "module example.com/operator\n\ngo 1.26.0\n",
		"cmd/nexus-operator/main.go":       "package main\n\nfunc main() { println(\"" + word + "\") }\n",
		"charts/nexus-operator/Chart.yaml": "name: nexus-operator\nappVersion: " + Release + "\n",
	} {
		path = filepath.Join(root, filepath.FromSlash(path))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}
