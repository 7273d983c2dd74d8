// SPDX-License-Identifier: Apache-2.0

package main

import (
	"math"
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

func TestMemoryLimit_IsAShareOfTheContainers(t *testing.T) {
	for container, want := range map[string]int64{"536870912": 402653175, "": math.MaxInt64, "0": math.MaxInt64, "512Mi": math.MaxInt64,
		"-1": math.MaxInt64} {
		if got := memoryLimit(container); got != want {
			t.Errorf("MEMORY_LIMIT=%q: %d, want %d", container, got, want)
		}
	}
}
