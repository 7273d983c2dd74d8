// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/nexus-operator/nexus-operator/internal/testkit/extent"
	"github.com/nexus-operator/nexus-operator/internal/testkit/program"
)

// session is one run of tests.
type session struct {
	options options
	// extent says which of the tests run.
	extent extent.Extent
	// race is which tests of the raced rooms run with the race detector.
	race extent.Extent
	// dir is a folder for profiles, and built is one for programs: the same, or one that keeps them.
	dir, built string
	// test2json is the path of the tool behind go test -json.
	test2json string
	// programs is the folder of the project's programs; empty when tests build them.
	programs string
	before   records
	begin    time.Time

	mu       sync.Mutex
	records  records
	failures []failure
	counts   struct{ tests, left int }
}

// failure is a test, or a whole program or build, that failed.
type failure struct {
	pkg, test, output string
	// setting is that of the cluster, as NAME=VALUE; empty: the usual one.
	setting string
	// raced is true with the race detector.
	raced bool
}

// run builds batch after batch, the packages with the longest known times first, and runs the programs while the next batch is
// being built.
func (s *session) run(ctx context.Context, packages []testPackage) {
	slices.SortStableFunc(packages, func(a, b testPackage) int {
		return cmp.Or(cmp.Compare(s.before.wall(b), s.before.wall(a)), cmp.Compare(a.rank(), b.rank()))
	})
	s.test2json = filepath.Join(s.built, "test2json")
	tool := exec.CommandContext(ctx, "go", "build", "-o", s.test2json, "cmd/test2json")
	tool.Env = compiler()
	if out, err := tool.CombinedOutput(); err != nil {
		s.fail(failure{pkg: "cmd/test2json", output: string(out)})
		return
	}
	if slices.ContainsFunc(packages, testPackage.runsPrograms) {
		s.buildPrograms()
	}
	keepBusy(ctx, s.options.busy)
	queue := make(chan *job, mostJobs) // so that building never waits for running
	var running sync.WaitGroup
	running.Go(func() { s.executeAll(ctx, queue) })
	for _, b := range batches(s.variants(packages)) {
		s.build(ctx, b)
		for _, p := range b.packages {
			for _, j := range s.jobs(ctx, p) {
				queue <- j
			}
		}
	}
	close(queue)
	running.Wait()
}

// keepBusy uses up n processors, so that what depends on the machine's speed shows.
func keepBusy(ctx context.Context, n int) {
	runtime.GOMAXPROCS(runtime.GOMAXPROCS(0) + n)
	for range n {
		go func() {
			for ctx.Err() == nil { // as fast as it can
			}
		}()
	}
}

// executeAll runs the jobs of a queue in their order, as many at once as there are processors for.
func (s *session) executeAll(ctx context.Context, queue <-chan *job) {
	free := semaphore.NewWeighted(int64(s.options.slots) * wholeProcessor)
	var running sync.WaitGroup
	defer running.Wait()
	for j := range queue {
		if free.Acquire(ctx, j.pkg.load()) != nil {
			continue // interrupted
		}
		running.Go(func() {
			defer free.Release(j.pkg.load())
			s.execute(ctx, j)
		})
	}
}

// mostJobs is more than there are packages and lanes.
const mostJobs = 1000

// build builds the programs of a batch. The failure of one is reported with the output of the command.
func (s *session) build(ctx context.Context, b *batch) {
	args := []string{"test", "-c", "-vet=off", "-ldflags=-s -w", fmt.Sprintf("-p=%d", runtime.NumCPU()), "-o",
		s.built + string(filepath.Separator)}
	args = append(args, b.compiled.flags(ctx)...)
	for _, p := range b.packages {
		args = append(args, p.ImportPath)
		// Go links nothing where it finds a program that is up to date.
		if os.Rename(s.program(p), s.linked(p)) != nil {
			_ = os.Remove(s.linked(p)) // of another package of the same name
		}
	}
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = b.module
	if cmd.Env = compiler(); b.compiled == withRaces {
		cmd.Env = compiler("CGO_ENABLED=1")
	}
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	begin := time.Now()
	err := cmd.Run()
	s.records.addBuild(b, time.Since(begin), cmd.ProcessState)
	for _, p := range b.packages {
		if info, statErr := os.Stat(s.linked(p)); err != nil && statErr == nil && info.ModTime().Before(begin) {
			_ = os.Remove(s.linked(p)) // that of an earlier run: Go sets the time of what is up to date
		}
		moveErr := os.Rename(s.linked(p), s.program(p))
		if moveErr != nil && ctx.Err() == nil {
			s.fail(failure{pkg: p.path, output: fmt.Sprintf("go %s: %v\n%s", strings.Join(args, " "), errors.Join(err, moveErr), &out)})
		}
	}
}

// linked is the path that Go gives to a package's test program: others have the same.
func (s *session) linked(p testPackage) string {
	return filepath.Join(s.built, path.Base(p.ImportPath)+".test")
}

// program is the path of a package's test program, and of no other.
func (s *session) program(p testPackage) string {
	return filepath.Join(s.built, strings.ReplaceAll(p.path, "/", "_")+p.compiled.suffix()+".program")
}

// jobs returns the processes of a package, whose program was built.
func (s *session) jobs(ctx context.Context, p testPackage) []*job {
	if _, err := os.Stat(s.program(p)); err != nil {
		return nil
	}
	whole := &job{pkg: p, program: s.program(p), tests: p.tests}
	if p.compiled != plainly {
		whole.profile = filepath.Join(s.dir, filepath.Base(s.program(p))) + ".cover"
	}
	if s.lanes(p) < 2 && !hasAutoMode(p) {
		return []*job{whole}
	}
	cmd := exec.CommandContext(ctx, whole.program, "-test.list", "^Test")
	cmd.Dir = p.Dir
	out, err := cmd.Output()
	if err != nil {
		return []*job{whole} // which fails for the same reason
	}
	tests := slices.DeleteFunc(strings.Fields(string(out)), func(test string) bool {
		return len(p.tests) > 0 && !slices.Contains(p.tests, test)
	})
	var all []*job
	for i, tests := range divide(tests, s.lanes(p), func(test string) float64 { return s.before.test(p, test) }) {
		j := *whole
		j.tests, j.lane = tests, i+1
		if j.profile != "" {
			j.profile += fmt.Sprint(i)
		}
		all = append(all, &j)
	}
	if tests := s.inAutoMode(p, tests); len(tests) > 0 {
		j := *whole
		j.tests, j.setting, j.profile = tests, autoModeSetting, ""
		all = append(all, &j)
	}
	return all
}

// divide gives each test to the lane with the least to do, the longest tests first. A lane keeps the order of the source.
func divide(tests []string, lanes int, seconds func(test string) float64) [][]string {
	order := slices.Clone(tests)
	slices.SortStableFunc(order, func(a, b string) int { return cmp.Compare(seconds(b), seconds(a)) })
	load, lane := make([]float64, lanes), map[string]int{}
	for _, test := range order {
		least := 0
		for i := range load {
			if load[i] < load[least] {
				least = i
			}
		}
		lane[test] = least
		load[least] += max(seconds(test), 0.1)
	}
	out := make([][]string, lanes)
	for _, test := range tests {
		out[lane[test]] = append(out[lane[test]], test)
	}
	return slices.DeleteFunc(out, func(l []string) bool { return len(l) == 0 })
}

// fail records a failure, and prints its output at once.
func (s *session) fail(f failure) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failures = append(s.failures, f)
	fmt.Fprintf(s.options.out, "--- FAIL: %s %s\n%s\n", f.pkg, f.test, f.output)
}

// frugal is the environment of test programs and of all that they start. As many of them run as there are processors: further threads in
// each would look for work that the others do. There is memory for garbage, too. Both together save a sixth of the processor time.
var frugal = []string{"GOMAXPROCS=1", "GOGC=400"}

// environment returns the environment of a job. The race detector needs the threads, and what the user has set comes last and counts.
func (s *session) environment(j *job) []string {
	var env []string
	if j.pkg.compiled != withRaces {
		env = append(env, frugal...)
	}
	env = append(append(env, os.Environ()...), extent.Variable+"="+s.options.extent)
	if s.programs != "" {
		env = append(env, program.Variable+"="+s.programs)
	}
	return env
}

// buildPrograms builds the project's own programs, which many tests run, once. When that fails, the tests say so.
func (s *session) buildPrograms() {
	dir := filepath.Join(s.built, "programs")
	for _, name := range program.Names {
		if err := program.Compile(name, filepath.Join(dir, name)); err != nil {
			return
		}
	}
	s.programs = dir
}

// compiler is the environment of go commands that compile, as in the Makefile.
func compiler(further ...string) []string {
	return append(append(os.Environ(), "GOMAXPROCS=1", "GOGC=off", "GOMEMLIMIT=2GiB"), further...)
}
