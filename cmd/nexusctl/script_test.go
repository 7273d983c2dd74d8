// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"nexusctl": main, "kubectl-nexus": main})
}

// Each script runs nexusctl as a person does: with a shell's view of standard output, standard error and the exit code, with
// and without a terminal. NEXUS_UPDATE=1 writes what the scripts compare.
func TestScripts(t *testing.T) {
	examples, err := filepath.Abs("../../examples")
	if err != nil {
		t.Fatal(err)
	}
	goOnly := folderWithGo(t)
	out, err := exec.Command("go", "env", "GOCACHE", "GOPATH").Output()
	caches := strings.Fields(string(out))
	if err != nil || len(caches) != 2 {
		t.Fatalf("%s, %v", out, err)
	}
	testscript.Run(t, testscript.Params{
		Dir:           "testdata/script",
		UpdateScripts: os.Getenv("NEXUS_UPDATE") != "",
		Cmds:          map[string]func(*testscript.TestScript, bool, []string){"exits": exits},
		Setup: func(e *testscript.Env) error {
			e.Setenv("EXAMPLES", examples)
			e.Setenv("KUBECONFIG", filepath.Join(e.WorkDir, "no-kubeconfig"))
			// For scripts that choose which programs there are.
			program, _, _ := strings.Cut(e.Getenv("PATH"), string(os.PathListSeparator))
			e.Setenv("NEXUSCTL", program)
			e.Setenv("GO", goOnly)
			e.Setenv("GOCACHE", caches[0])
			e.Setenv("GOPATH", caches[1])
			return nil
		},
	})
}

// folderWithGo returns a folder that has Go and no other program.
func folderWithGo(t *testing.T) string {
	t.Helper()
	program, err := exec.LookPath("go")
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	if err := os.Symlink(program, filepath.Join(folder, "go")); err != nil {
		t.Fatal(err)
	}
	return folder
}

// exits runs a command that must exit with a code: exits CODE COMMAND [ARGUMENT...].
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND [ARGUMENT...]")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	code := 0
	err = ts.Exec(args[1], args[2:]...)
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		code = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if code != want {
		ts.Fatalf("exit code %d, want %d", code, want)
	}
}
