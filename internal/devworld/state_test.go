// SPDX-License-Identifier: Apache-2.0

package devworld

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"k8s.io/utils/clock"
)

// startSession starts a process that leads its own session, as a daemon does.
func startSession(t *testing.T) *exec.Cmd {
	t.Helper()
	cmd := exec.Command("sleep", "60")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	return cmd
}

func testWorld(t *testing.T) World {
	return World{Dir: filepath.Join(t.TempDir(), "world"), Clock: clock.RealClock{}, Progress: io.Discard}
}

// recorded writes the state of a daemon, which was started at a time; empty: when it really was.
func recorded(t *testing.T, w World, pid int, start string) {
	t.Helper()
	if err := os.MkdirAll(w.Dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := (state{PID: pid, Ready: true}).write(w); err != nil {
		t.Fatal(err)
	}
	s, err := w.readState()
	if err != nil || s.Starts[daemonProcess] == "" {
		t.Fatalf("%+v, %v", s, err)
	}
	if start == "" {
		return
	}
	s.Starts[daemonProcess] = start
	text, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(w.file(fileState), text, 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestDown_StopsTheProcessThatItsStateDescribes(t *testing.T) {
	w, daemon := testWorld(t), startSession(t)
	recorded(t, w, daemon.Process.Pid, "")
	go func() { _ = daemon.Wait() }()
	stopped, err := w.Down(t.Context())
	if err != nil || len(stopped) != 1 || stopped[0] != daemonProcess {
		t.Errorf("stopped %v, %v", stopped, err)
	}
	if _, err := os.Stat(w.Dir); !os.IsNotExist(err) {
		t.Errorf("files are left behind: %v", err)
	}
	if stopped, err := w.Down(t.Context()); err != nil || len(stopped) != 0 {
		t.Errorf("the second time: %v, %v", stopped, err)
	}
}

// After a restart of the machine the number may be that of another process, even of one that leads a session.
func TestDown_NeverStopsAnotherProcessOfTheSameNumber(t *testing.T) {
	w, stranger := testWorld(t), startSession(t)
	recorded(t, w, stranger.Process.Pid, "another boot 12345")
	if r, err := w.Status(t.Context()); err != nil || r.Running || r.Kubeconfig != "" {
		t.Errorf("%+v, %v", r, err)
	}
	stopped, err := w.Down(t.Context())
	if err != nil || len(stopped) != 0 {
		t.Errorf("stopped %v, %v", stopped, err)
	}
	if startOf(stranger.Process.Pid) == "" {
		t.Error("another process was stopped")
	}
	if _, err := os.Stat(w.Dir); !os.IsNotExist(err) {
		t.Errorf("files are left behind: %v", err)
	}
}

func TestDown_NeverStopsAProcessOfAnotherSession(t *testing.T) {
	w, daemon, stranger := testWorld(t), startSession(t), startSession(t)
	if err := os.MkdirAll(w.Dir, 0o700); err != nil {
		t.Fatal(err)
	}
	s := state{PID: daemon.Process.Pid, Components: map[string]int{"etcd": stranger.Process.Pid}, Ready: true}
	if err := s.write(w); err != nil {
		t.Fatal(err)
	}
	go func() { _ = daemon.Wait() }()
	if stopped, err := w.Down(t.Context()); err != nil || len(stopped) != 1 {
		t.Errorf("stopped %v, %v", stopped, err)
	}
	if startOf(stranger.Process.Pid) == "" {
		t.Error("a process of another session was stopped")
	}
}

func TestDown_LeavesFilesOfOthers(t *testing.T) {
	w := testWorld(t)
	foreign := w.file("notes.txt")
	if err := os.MkdirAll(w.Dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{foreign, w.file(fileDaemon)} {
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := w.Down(t.Context()); err != nil {
		t.Fatal(err)
	}
	if names, err := os.ReadDir(w.Dir); err != nil || len(names) != 1 || names[0].Name() != "notes.txt" {
		t.Errorf("%v, %v", names, err)
	}
}

func TestStartOf_AProcessThatHasEndedHasNone(t *testing.T) {
	cmd := startSession(t)
	if startOf(cmd.Process.Pid) == "" {
		t.Error("a process that runs has no start")
	}
	_ = cmd.Process.Kill()
	for end := time.Now().Add(5 * time.Second); startOf(cmd.Process.Pid) != ""; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("a process that waits for its parent counts as running")
		}
	}
	_ = cmd.Wait()
	if got := startOf(cmd.Process.Pid); got != "" {
		t.Errorf("a process that is gone was started at %q", got)
	}
}

func TestControl_WaitsForAnotherCommand(t *testing.T) {
	w := testWorld(t)
	release, err := w.control(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var said strings.Builder
	other := w
	other.Progress = &said
	short, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	_, err = other.control(short)
	if _, interrupted := errors.AsType[*InterruptedError](err); !interrupted || strings.Count(said.String(), "another command works") != 1 {
		t.Errorf("got %v, said %q", err, said.String())
	}
	release()
	if release, err = other.control(t.Context()); err != nil {
		t.Fatal(err)
	}
	release()
}

func TestCheckManifests_NamesTheFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "x.yaml")
	for text, want := range map[string]string{
		"a: [":                                           "x.yaml",
		"kind: Secret\napiVersion: v1\n":                 "x.yaml: an object lacks",
		"kind: Secret\nmetadata: {name: x}\n":            "x.yaml: an object lacks",
		"apiVersion: v1\nmetadata: {name: x}\n":          "x.yaml: an object lacks",
		"kind: A\napiVersion: v1\nmetadata: {name: x}\n": "",
	} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		err := CheckManifests([]string{file})
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

func TestShellQuote(t *testing.T) {
	out, err := exec.Command("sh", "-c", "printf %s "+shellQuote("it's a \"$HOME\"")).Output()
	if err != nil || string(out) != "it's a \"$HOME\"" {
		t.Errorf("%s, %v", out, err)
	}
}

func TestEnv_OffersTheFoldersOfGivenProgramsOnly(t *testing.T) {
	w := testWorld(t)
	if err := os.MkdirAll(w.Dir, 0o700); err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for want, o := range map[string]Options{
		`:'/bed':'/src/bin'`:        {Operator: "/src/bin/nexus-operator"},
		`:'/bed':'/opt':'/src/bin'`: {Operator: "/src/bin/nexus-operator", Client: "/opt/nexusctl"},
		`:'/bed':'/opt'`:            {Operator: "/opt/nexus-operator", Client: "/opt/nexusctl"},
		`:'/bed'`:                   {},
	} {
		if err := (state{Programs: "/bed", OwnPrograms: o.ownPrograms()}).writeEnv(w); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(w.file(fileEnv))
		if err != nil || !strings.Contains(string(text), `export PATH="$PATH"`+want+"\n") || strings.Contains(string(text), filepath.Dir(self)) {
			t.Errorf("want PATH with %s: %v\n%s", want, err, text)
		}
	}
}
