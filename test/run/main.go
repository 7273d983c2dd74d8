// SPDX-License-Identifier: Apache-2.0

// Run builds and runs the tests of every module of the tree, several programs at a time, and records how long each package and
// test took.
//
//	go run ./test/run                     # the sample that `make test` runs
//	go run ./test/run -extent all         # every test in full
//	go run ./test/run -extent 3/8         # the sample, and the third of eight parts of the rest
//	go run ./test/run -race 2/4           # with the race detector where it counts most
//	go run ./test/run -only test/e2e      # packages whose path contains one of the words
//	go run ./test/run -busy 2             # beside two processors' worth of other work
//	go run ./test/run -times              # print the times of the last run
//	go run ./test/run -step NAME -- make lint   # run a command, and record how long it took
//
// Packages that wait a lot run as several processes at once, each with a share of the tests and a separate world.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/nexus-operator/nexus-operator/internal/testkit/extent"
)

// options are the flags.
type options struct {
	modules []string
	extent  string
	only    string
	built   string
	records string
	slots   int
	busy    int
	race    string
	cover   string
	timeout time.Duration
	times   bool
	step    string
	command []string
	out     io.Writer
}

// errFailed is the error of tests that failed, which were reported.
var errFailed = errors.New("tests failed")

func main() {
	o := options{modules: allModules, out: os.Stdout}
	flag.StringVar(&o.extent, "extent", os.Getenv(extent.Variable),
		"which tests run: sample (the default), all, or K/N: the sample and part K of N of the rest")
	flag.StringVar(&o.only, "only", "", "run only packages whose path contains one of these words, separated by commas")
	flag.StringVar(&o.records, "records", "bin/times.json", "file of the measured times")
	flag.StringVar(&o.built, "built", "",
		"folder that keeps the test programs: of those that are there, only what has changed is linked again; empty: none are kept")
	flag.IntVar(&o.busy, "busy", 0, "processors that are kept busy beside the tests")
	flag.IntVar(&o.slots, "slots", runtime.NumCPU(), "processors that test programs may use at the same time")
	flag.StringVar(&o.race, "race", "",
		"build the packages with the most concurrency with the race detector, and write their coverage: 1, or K/N: of those whose tests are divided, part K of N")
	flag.StringVar(&o.cover, "cover", "cover.out", "file of the coverage profile that -race writes")
	flag.DurationVar(&o.timeout, "timeout", 0, "how long one test program may take (default 40m, and 2h of everything)")
	flag.BoolVar(&o.times, "times", false, "print the times of the last run, and run nothing")
	flag.StringVar(&o.step, "step", "", "run the command in the arguments, and record how long it took under this name")
	flag.Parse()
	o.command = flag.Args()
	if o.timeout == 0 {
		o.timeout = longest(o.extent)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := run(ctx, o)
	if err != nil {
		if !errors.Is(err, errFailed) {
			fmt.Fprintln(os.Stderr, "run:", err)
		}
		os.Exit(exitCode(err))
	}
}

// longest is the time after which a test program of an extent hangs. A quarter of all tests of test/e2e takes 25 minutes on two quiet
// processors, and 40 beside other work.
func longest(e string) time.Duration {
	if e == "all" {
		return 2 * time.Hour
	}
	return 40 * time.Minute
}

// exitCode is that of the command of a step, else 1.
func exitCode(err error) int {
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.ExitCode() > 0 {
		return exit.ExitCode()
	}
	return 1
}

func run(ctx context.Context, o options) error {
	switch {
	case o.times:
		return printTimes(o.out, o.records)
	case o.step != "":
		return runStep(ctx, o)
	}
	return runTests(ctx, o)
}

func runTests(ctx context.Context, o options) error {
	e, err := extent.Parse(o.extent)
	if err != nil {
		return fmt.Errorf("-extent: %w", err)
	}
	race, err := parseRace(o.race)
	if err != nil {
		return err
	}
	if o.slots < 1 {
		return fmt.Errorf("-slots %d: tests need at least one processor", o.slots)
	}
	packages, err := listPackages(ctx, o.modules, strings.FieldsFunc(o.only, func(r rune) bool { return r == ',' }))
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "nexus-tests-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }() // only programs lie there
	before, err := readRecords(o.records)
	if err != nil {
		return err
	}
	built, lock, err := lockBuilt(o.built)
	if err != nil {
		return err
	}
	if lock != nil {
		defer func() { _ = lock.Close() }() // nothing was written
	}
	s := &session{options: o, extent: e, race: race, dir: dir, built: cmp.Or(built, dir), before: before, begin: time.Now()}
	s.records.Steps = slices.DeleteFunc(slices.Clone(before.Steps), func(r record) bool { return strings.HasPrefix(r.Name, testsOf) })
	s.run(ctx, packages)
	if err := ctx.Err(); err != nil {
		return err
	}
	if o.race != "" {
		if err := mergeProfiles(dir, o.cover); err != nil {
			return err
		}
	}
	s.records.Extent, s.records.Total = o.extent, s.total()
	if err := s.records.write(o.records); err != nil {
		return err
	}
	return s.report(o.out)
}

// runStep runs a command, and records how long it took.
func runStep(ctx context.Context, o options) error {
	if len(o.command) == 0 {
		return errors.New("-step: name the command in the arguments")
	}
	r, err := readRecords(o.records)
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, o.command[0], o.command[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	begin := time.Now()
	err = cmd.Run()
	r.Steps = slices.DeleteFunc(r.Steps, func(r record) bool { return r.Name == o.step })
	r.Steps = append(r.Steps, measure(o.step, time.Since(begin), cmd.ProcessState))
	return errors.Join(err, r.write(o.records))
}
