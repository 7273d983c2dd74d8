// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// allModules are the folders of the modules whose tests run.
var allModules = []string{".", "dev", "dev/chart", "dev/gitops", "dev/image", "dev/promtool", "dev/release"}

// lanes are the packages that run as several processes at once, in the order in which packages start while nothing is known of
// their times: the longest first. The sample has fewer tests and fewer processes: each starts a control plane. The load of a process is
// what it uses of a processor; `make times` shows both times.
var lanes = []struct {
	path   string
	count  int
	sample int
	load   int64
}{
	{"test/e2e", 4, 2, halfProcessor},
	{"internal/controller", 3, 2, halfProcessor},
	{"test/faults", 2, 1, wholeProcessor},
	{"test/cli", 2, 1, wholeProcessor},
	{"internal/controller/capability", 2, 1, wholeProcessor},
	{"test/deploy", 1, 1, halfProcessor},
	{"test/demo", 1, 1, halfProcessor},
	{"dev/promtool", 1, 1, halfProcessor},
}

// expensiveProperties is the package whose properties draw whole capabilities. Its tests use pgregory.net/rapid.
const expensiveProperties = "internal/capability"

// Loads of a process while it runs.
const (
	halfProcessor  = 1
	wholeProcessor = 2
)

// testPackage is a package with tests.
type testPackage struct {
	ImportPath   string
	Dir          string
	TestGoFiles  []string
	XTestGoFiles []string
	// module is the folder of its module, relative to the top.
	module string
	// path is that of its folder, relative to the top.
	path string
	// compiled holds the kind of build of its program, and tests lists those that this program runs; empty: all.
	compiled compiled
	tests    []string
}

// lanes returns how many processes the package runs as.
func (s *session) lanes(p testPackage) int {
	for _, l := range lanes {
		switch {
		case l.path != p.path:
		case s.options.extent == "all":
			return l.count
		default:
			return l.sample
		}
	}
	return 1
}

// load returns what each process of the package uses of a processor.
func (p testPackage) load() int64 {
	for _, l := range lanes {
		if l.path == p.path {
			return l.load
		}
	}
	return wholeProcessor
}

// runsPrograms reports whether tests of the package may run the project's own programs.
func (p testPackage) runsPrograms() bool {
	return strings.HasPrefix(p.path, "test/") || strings.HasPrefix(p.path, "internal/controller")
}

// hasExpensiveProperties reports whether tests of the package check properties of random cases that take long.
func (p testPackage) hasExpensiveProperties() bool { return p.path == expensiveProperties }

// rank orders packages of which no times are known.
func (p testPackage) rank() int {
	for i, l := range lanes {
		if l.path == p.path {
			return i
		}
	}
	return len(lanes)
}

// listPackages returns the packages with tests of all modules. With words, only those whose path contains one of them.
func listPackages(ctx context.Context, modules, words []string) ([]testPackage, error) {
	top, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	var all []testPackage
	for _, m := range modules {
		if _, err := os.Stat(filepath.Join(top, m, "go.mod")); err != nil {
			return nil, fmt.Errorf("run it in the top folder of the source tree: %w", err)
		}
		found, err := listModule(ctx, top, m)
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	if len(words) > 0 {
		all = slices.DeleteFunc(all, func(p testPackage) bool {
			return !slices.ContainsFunc(words, func(w string) bool { return strings.Contains(p.path, w) })
		})
	}
	if len(all) == 0 {
		return nil, errors.New("no package has tests")
	}
	return all, nil
}

func listModule(ctx context.Context, top, module string) (found []testPackage, err error) {
	cmd := exec.CommandContext(ctx, "go", "list", "-json=ImportPath,Dir,TestGoFiles,XTestGoFiles", "./...")
	cmd.Dir, cmd.Stderr = filepath.Join(top, module), os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list in %s: %w", module, err)
	}
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p testPackage
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return found, nil
		} else if err != nil {
			return nil, err
		}
		if p.module = module; len(p.TestGoFiles)+len(p.XTestGoFiles) == 0 {
			continue
		}
		if p.path, err = filepath.Rel(top, p.Dir); err != nil {
			return nil, err
		}
		found = append(found, p)
	}
}

// batch is a set of packages that one command builds: their programs have different names, and the same flags.
type batch struct {
	// most limits the packages.
	most     int
	module   string
	compiled compiled
	packages []testPackage
}

// batches divides packages, keeping their order.
func batches(packages []testPackage) (out []*batch) {
	for _, p := range packages {
		i := slices.IndexFunc(out, func(b *batch) bool {
			return b.module == p.module && b.compiled == p.compiled && len(b.packages) < b.most &&
				!slices.ContainsFunc(b.packages, func(q testPackage) bool { return path.Base(q.ImportPath) == path.Base(p.ImportPath) })
		})
		if i < 0 {
			most := largestBatch
			if len(out) == 0 {
				most = firstBatch
			}
			out, i = append(out, &batch{module: p.module, compiled: p.compiled, most: most}), len(out)
		}
		out[i].packages = append(out[i].packages, p)
	}
	return out
}

// How many packages one command builds. It reads the files of all packages below them, which takes 3 s of processor time, so that few
// commands build many; the first tests wait for the first only.
const (
	firstBatch   = 5
	largestBatch = 20
)
