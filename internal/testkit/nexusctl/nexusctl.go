// SPDX-License-Identifier: Apache-2.0

// Package nexusctl builds nexusctl and runs it as a person would.
package nexusctl

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nexus-operator/nexus-operator/internal/testkit/program"
	"github.com/nexus-operator/nexus-operator/internal/testkit/world"
)

var building sync.Mutex

// Answer says how a run ended.
type Answer struct {
	Out, Err string
	Code     int
}

// Binary is the path of the program, which is built once for a world unless it is there.
func Binary(t testing.TB, w *world.World) string {
	t.Helper()
	building.Lock()
	defer building.Unlock()
	path, err := program.Build("nexusctl", w.Dir())
	if err != nil {
		t.Fatal(err)
	}
	if f, err := os.Stat(path); err != nil || f.Size() > program.MaxBytes["nexusctl"] {
		t.Errorf("nexusctl has more than %d bytes: see docs/design/0038 and 0043 (%v, %v)", program.MaxBytes["nexusctl"], f, err)
	}
	return path
}

// Run runs the program with these variables, in addition to those that every run has, and text on its standard input.
func Run(t testing.TB, w *world.World, env []string, stdin string, args ...string) Answer {
	t.Helper()
	return Start(t, w, env, stdin, args...).Wait()
}

// Running is a run that may not have ended.
type Running struct {
	t         testing.TB
	cmd       *exec.Cmd
	out, errs bytes.Buffer
	done      chan error
}

// Start is Run without waiting for the end.
func Start(t testing.TB, w *world.World, env []string, stdin string, args ...string) *Running {
	t.Helper()
	r := &Running{t: t, cmd: exec.Command(Binary(t, w), args...), done: make(chan error, 1)}
	r.cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "AWS_REGION=ap-southeast-1",
		"AWS_EC2_METADATA_DISABLED=true"}, env...)
	r.cmd.Stdin, r.cmd.Stdout, r.cmd.Stderr = strings.NewReader(stdin), &r.out, &r.errs
	if err := r.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { r.done <- r.cmd.Wait() }()
	return r
}

// Wait returns how the run ended.
func (r *Running) Wait() Answer {
	r.t.Helper()
	err := <-r.done
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		r.t.Fatal(err)
	}
	return Answer{Out: r.out.String(), Err: r.errs.String(), Code: r.cmd.ProcessState.ExitCode()}
}

// Interrupt sends the signal of Ctrl-C, and returns how the run ended. It fails the test when the run does not end within a time.
func (r *Running) Interrupt(within time.Duration) Answer {
	r.t.Helper()
	if err := r.cmd.Process.Signal(os.Interrupt); err != nil {
		r.t.Errorf("it had ended before it was interrupted: %v", err)
	}
	kill := time.AfterFunc(within, func() {
		r.t.Errorf("it does not end within %s after the interruption", within)
		_ = r.cmd.Process.Kill()
	})
	defer kill.Stop()
	return r.Wait()
}

// Kill ends the run as kill -9 does.
func (r *Running) Kill() {
	r.t.Helper()
	if err := r.cmd.Process.Kill(); err != nil {
		r.t.Errorf("it had ended before it was killed: %v", err)
	}
	<-r.done
}

// Wants fails the test unless the run ended with a code and said these texts.
func (a Answer) Wants(t testing.TB, code int, texts ...string) {
	t.Helper()
	said := strings.Join(strings.Fields(a.Out+a.Err), " ") // however it is wrapped and lined up
	for _, text := range texts {
		if !strings.Contains(said, text) {
			t.Errorf("no %q in\n%s\n%s", text, a.Out, a.Err)
		}
	}
	if a.Code != code {
		t.Errorf("exit code %d, want %d\n%s\n%s", a.Code, code, a.Out, a.Err)
	}
}
