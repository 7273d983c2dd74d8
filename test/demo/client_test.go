// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/nexus-operator/nexus-operator/internal/testkit/must"
)

// The script that the env file offers as nexusctl builds it at its first use and after the operator was built again, and not else.
func TestNexusctlIsBuiltWhenItIsFirstUsed(t *testing.T) {
	tree := t.TempDir()
	script, err := os.ReadFile("bin/nexusctl")
	must.Succeed(t, err)
	shim, operator := filepath.Join(tree, "test/demo/bin/nexusctl"), filepath.Join(tree, "bin/nexus-operator")
	for path, text := range map[string]string{
		shim: string(script), operator: "",
		filepath.Join(tree, "Makefile"): "nexusctl:\n\t@echo made >> builds\n\t@printf '#!/bin/sh\\necho \"$$#:$$2\"; exit 7\\n' > bin/nexusctl && chmod +x bin/nexusctl\n",
	} {
		must.Succeed(t, os.MkdirAll(filepath.Dir(path), 0o755))
		must.Succeed(t, os.WriteFile(path, []byte(text), 0o755))
	}
	link := filepath.Join(t.TempDir(), "there")
	must.Succeed(t, os.Symlink(tree, link))
	use := func(builds string) {
		t.Helper()
		command := exec.Command(filepath.Join(link, "test/demo/bin/nexusctl"), "status", "a b")
		command.Dir = t.TempDir()
		out, _ := command.Output()
		made, _ := os.ReadFile(filepath.Join(tree, "builds"))
		if string(out) != "2:a b\n" || command.ProcessState.ExitCode() != 7 || string(made) != builds {
			t.Errorf("it printed %q and ended with %d after the builds %q, want %q", out, command.ProcessState.ExitCode(), made, builds)
		}
	}
	use("made\n")
	use("made\n")
	later := time.Now().Add(time.Hour)
	must.Succeed(t, os.Chtimes(operator, later, later))
	use("made\nmade\n")
}
