// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/nexus-operator/nexus-operator/internal/options"
)

func TestNamespace_DefaultsToThePodsOwn(t *testing.T) {
	file := filepath.Join(t.TempDir(), "namespace")
	if err := os.WriteFile(file, []byte("platform\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ variable, file, want string }{
		{"", file, "platform"},
		{"chosen", file, "chosen"},
		{"", filepath.Join(t.TempDir(), "absent"), "nexus-system"},
	} {
		t.Setenv("OPERATOR_NAMESPACE", c.variable)
		o, err := options.Parse(nil, environment(c.file))
		if err != nil || o.Namespace != c.want {
			t.Errorf("OPERATOR_NAMESPACE=%q, file %s: %q, %v; want %q", c.variable, c.file, o.Namespace, err, c.want)
		}
	}
}
