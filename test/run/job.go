// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"github.com/nexus-operator/nexus-operator/internal/testkit/extent"
)

// job is one process of a package's test program.
type job struct {
	pkg     testPackage
	program string
	// tests lists the tests of a lane; empty: all.
	tests []string
	lane  int
	// setting is that of the cluster, as NAME=VALUE; empty: the usual one.
	setting string
	// profile receives the coverage; empty: none is measured.
	profile string
}

// name is the package's path, with the setting or the number of the lane, and how the program is compiled.
func (j *job) name() string {
	name := j.pkg.path
	switch {
	case j.setting != "":
		name += fmt.Sprintf(" (%s)", j.setting)
	case j.lane != 0:
		name += fmt.Sprintf(" (%d)", j.lane)
	}
	return name + j.pkg.compiled.words()
}

// failure is one of the job's tests, or of its program.
func (j *job) failure(test, output string) failure {
	return failure{pkg: j.pkg.path, setting: j.setting, raced: j.pkg.compiled == withRaces, test: test, output: output}
}

// sampleChecks limits the random cases of a property in the sample. A full run, and one of the part of the package, has the 100 of the
// library.
const sampleChecks = 25

func (j *job) arguments(timeout time.Duration, e extent.Extent) []string {
	args := []string{"-t", "-p", j.pkg.ImportPath, j.program, "-test.v=test2json", "-test.paniconexit0",
		"-test.timeout=" + timeout.String()}
	if len(j.tests) > 0 {
		args = append(args, "-test.run=^("+strings.Join(j.tests, "|")+")$")
	}
	if j.pkg.hasExpensiveProperties() && !e.Has(j.pkg.path) {
		args = append(args, fmt.Sprintf("-rapid.checks=%d", sampleChecks))
	}
	if j.profile != "" {
		args = append(args, "-test.coverprofile="+j.profile)
	}
	return args
}

// testName is the name of a test in the records.
func (j *job) testName(test string) string {
	name := j.pkg.path + " " + test
	if j.setting != "" {
		name += " (" + j.setting + ")"
	}
	return name
}

// event is one of those that test2json prints.
type event struct {
	Time    time.Time
	Action  string
	Test    string
	Output  string
	Elapsed float64
}

// execute runs a job, and records its times and failures.
func (s *session) execute(ctx context.Context, j *job) {
	cmd := exec.CommandContext(ctx, s.test2json, j.arguments(s.options.timeout, s.extent)...)
	cmd.Dir, cmd.Env = j.pkg.Dir, s.environment(j)
	if j.setting != "" {
		cmd.Env = append(cmd.Env, j.setting)
	}
	// An interruption reaches the test program and all that it has started.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
	cmd.WaitDelay = 10 * time.Second
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		s.fail(j.failure("", err.Error()))
		return
	}
	begin := time.Now()
	r := &reader{session: s, job: j, pid: cmd.Process.Pid, outputs: map[string]*strings.Builder{}}
	readErr := r.read(out)
	err = cmd.Wait()
	wall := time.Since(begin)
	s.mu.Lock()
	s.records.Packages = append(s.records.Packages, measure(j.name(), wall, cmd.ProcessState))
	s.mu.Unlock()
	r.finish(errors.Join(readErr, err), errs.String())
	verdict := "ok  "
	if r.failed {
		verdict = "FAIL"
	}
	fmt.Fprintf(s.options.out, "%s\t%s\t%.3fs\n", verdict, j.name(), wall.Seconds())
}

// reader follows the events of one process.
type reader struct {
	session *session
	job     *job
	// pid is the process below which the program runs.
	pid    int
	failed bool
	// outputs lists the outputs of tests that have not ended, and under "" that of the program.
	outputs map[string]*strings.Builder
	// began and used are the start of the top-level test that runs, and the processor time at that moment.
	began time.Time
	used  time.Duration
	// running is that test.
	running string
}

func (r *reader) read(out io.Reader) error {
	for d := json.NewDecoder(out); ; {
		var e event
		if err := d.Decode(&e); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("reading the events of the tests: %w", err)
		}
		r.take(e)
	}
}

// take records an event.
func (r *reader) take(e event) {
	switch e.Action {
	case "run":
		r.outputs[e.Test] = &strings.Builder{}
		if !strings.Contains(e.Test, "/") {
			r.running, r.began, r.used = e.Test, e.Time, processorTime(r.pid)
		}
	case "output":
		b := r.outputs[e.Test]
		if b == nil {
			b = &strings.Builder{}
			r.outputs[e.Test] = b
		}
		b.WriteString(e.Output)
	case "pass", "skip", "fail":
		r.end(e)
	}
}

// end records the end of a test.
func (r *reader) end(e event) {
	if e.Test == "" {
		return // the program's; its exit code tells the same
	}
	text := r.outputs[e.Test].String()
	delete(r.outputs, e.Test)
	s := r.session
	s.mu.Lock()
	switch {
	case e.Action != "skip":
		s.counts.tests++
	case strings.Contains(text, extent.Left):
		s.counts.left++
	}
	if !strings.Contains(e.Test, "/") {
		// Tests that run at the same time share their processor time, which counts for none of them.
		var used time.Duration
		if r.running == e.Test {
			used = processorTime(r.pid) - r.used
		}
		s.records.Tests = append(s.records.Tests, record{Name: r.job.testName(e.Test), Wall: e.Elapsed, CPU: used.Seconds()})
	}
	s.mu.Unlock()
	if e.Action == "fail" {
		r.failed = true
		s.fail(r.job.failure(e.Test, text))
	}
}

// finish reports what the program itself has to say: that it has crashed, or failed outside of any test.
func (r *reader) finish(err error, stderr string) {
	if err == nil {
		return
	}
	if !r.failed {
		var text strings.Builder
		for _, b := range r.outputs {
			text.WriteString(b.String())
		}
		r.session.fail(r.job.failure("", fmt.Sprintf("%v\n%s%s", err, &text, stderr)))
	}
	r.failed = true
}
