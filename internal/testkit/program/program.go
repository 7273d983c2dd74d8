// SPDX-License-Identifier: Apache-2.0

// Package program builds the programs of the project for tests.
package program

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"

	"github.com/nexus-operator/nexus-operator/internal/buildflags"
)

// Variable names a folder with programs that test/run has built for all tests: linking one takes several seconds of processor
// time.
const Variable = "NEXUS_TEST_PROGRAMS"

// Names lists the names of the programs, which are also their folders below cmd.
var Names = []string{"nexus-operator", "nexusctl"}

// MaxBytes limits how large the programs may be for Linux. A new library that makes it possible to call any method makes them twice as
// large: see docs/design/0038 and 0043.
var MaxBytes = map[string]int64{"nexus-operator": 100_000_000, "nexusctl": 135_000_000}

// Build returns the path of a program. Unless the folder of the variable has it, it is built into dir, once.
func Build(name, dir string) (string, error) {
	if built := os.Getenv(Variable); built != "" {
		return filepath.Join(built, name), nil
	}
	path := filepath.Join(dir, name)
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	return path, Compile(name, path)
}

// Compile builds a program with the flags of a release and further arguments of go build.
func Compile(name, path string, further ...string) error {
	args := slices.Concat([]string{"build", "-ldflags=-s -w", "-o", path}, buildflags.All(), further)
	if out, err := exec.Command("go", append(args, "github.com/nexus-operator/nexus-operator/cmd/"+name)...).CombinedOutput(); err != nil {
		return fmt.Errorf("building %s: %w\n%s", name, err, out)
	}
	return nil
}
