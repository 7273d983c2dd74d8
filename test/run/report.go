// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/nexus-operator/nexus-operator/internal/testkit/extent"
)

// report prints what ran, and last what failed with the commands that repeat it.
func (s *session) report(out io.Writer) error {
	fmt.Fprintf(out, "\n%d tests and subtests ran in %.0f s", s.counts.tests, s.records.Total.Wall)
	if s.counts.left > 0 {
		fmt.Fprintf(out, "; %d are left to make test-all", s.counts.left)
	}
	fmt.Fprintf(out, "; %.0f s of processor time\n", s.records.Total.CPU)
	if len(s.failures) == 0 {
		return nil
	}
	commands := s.commands()
	fmt.Fprintf(out, "\nFAIL: %d failures. To repeat them alone:\n", len(s.failures))
	for i, c := range commands {
		if i == mostCommands {
			fmt.Fprintf(out, "  … and %d more, above\n", len(commands)-i)
			break
		}
		fmt.Fprintln(out, " ", c)
	}
	return errFailed
}

// mostCommands sets how many commands the end of the report has, so that they fit on a screen.
const mostCommands = 20

// commands repeat what failed, one for each top-level test.
func (s *session) commands() (out []string) {
	for _, f := range s.failures {
		var prefix string
		if s.options.extent != "" {
			prefix = extent.Variable + "=" + s.options.extent + " "
		}
		if f.setting != "" {
			prefix = f.setting + " " + prefix
		}
		dir, path := "", "./"+f.pkg
		for _, m := range allModules[1:] {
			if rest, ok := strings.CutPrefix(f.pkg, m); ok {
				dir, path = "-C "+m+" ", "."+rest
			}
		}
		command := prefix + "go " + dir + "test -count=1 "
		if f.raced {
			command = "CGO_ENABLED=1 " + command + "-race "
		}
		if test, _, _ := strings.Cut(f.test, "/"); test != "" {
			command += "-run '^" + regexp.QuoteMeta(test) + "$' "
		}
		if command += path; !slices.Contains(out, command) {
			out = append(out, command)
		}
	}
	return out
}

// total is the time since the start of the session, and the processor time of all processes that it has started.
func (s *session) total() record {
	var usage syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_CHILDREN, &usage) // cannot fail with these arguments
	used := time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
	return record{Name: "all", Wall: time.Since(s.begin).Seconds(), CPU: used.Seconds()}
}

// mergeProfiles joins the coverage profiles in a folder. Blocks that several of them report stay several lines, as in a
// profile of go test with several packages.
func mergeProfiles(dir, to string) error {
	paths, err := filepath.Glob(filepath.Join(dir, "*.cover*"))
	if err != nil {
		return err
	}
	var all bytes.Buffer
	for i, path := range slices.Sorted(slices.Values(paths)) {
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		mode, lines, _ := bytes.Cut(text, []byte("\n"))
		if i == 0 {
			fmt.Fprintf(&all, "%s\n", cmp.Or(string(mode), "mode: atomic"))
		}
		all.Write(lines)
	}
	return os.WriteFile(to, all.Bytes(), 0o644)
}
