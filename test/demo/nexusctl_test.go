// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/nexus-operator/nexus-operator/internal/devworld"
	"github.com/nexus-operator/nexus-operator/internal/testkit/extent"
	"github.com/nexus-operator/nexus-operator/internal/testkit/program"
	"github.com/nexus-operator/nexus-operator/internal/testkit/world"
)

// tool is nexusctl, and the operator beside it, as people have them.
type tool struct {
	demo
	programs string
}

func newTool(d demo) tool {
	d.Helper()
	x := tool{demo: d}
	dir := d.TempDir()
	for _, name := range program.Names {
		path, err := program.Build(name, dir)
		if err != nil {
			d.Fatal(err)
		}
		x.programs = filepath.Dir(path)
	}
	return x
}

// command is a command line of nexusctl about the world of the demo.
func (x tool) command(args ...string) *exec.Cmd {
	return exec.Command(filepath.Join(x.programs, "nexusctl"), append(args, "--dir", x.dir)...)
}

// runs runs nexusctl, which must end with a code, and returns what it writes to standard output and to standard error.
func (x tool) runs(code int, args ...string) (string, string) {
	x.Helper()
	var out, errs bytes.Buffer
	cmd := x.command(args...)
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	if _, exited := errors.AsType[*exec.ExitError](err); err != nil && !exited {
		x.Fatal(err)
	}
	if got := cmd.ProcessState.ExitCode(); got != code {
		x.Fatalf("%v: exit code %d, want %d\n%s\n%s", args, got, code, out.String(), errs.String())
	}
	return out.String(), errs.String()
}

func (x tool) contains(text string, wants ...string) {
	x.Helper()
	for _, want := range wants {
		if !strings.Contains(text, want) {
			x.Errorf("no %q in\n%s", want, text)
		}
	}
}

// worldReport is the output of nexusctl dev status as JSON.
type worldReport struct {
	APIVersion, Kind string
	devworld.Report
}

func (x tool) status(code int) worldReport {
	x.Helper()
	out, _ := x.runs(code, "dev", "status", "-o", "json")
	var r worldReport
	if err := json.Unmarshal([]byte(out), &r); err != nil || r.APIVersion != "dev.nexus.ai/v1alpha1" || r.Kind != "LocalWorld" {
		x.Errorf("%v: %s", err, out)
	}
	return r
}

// comesUp starts the world, and looks at it.
func (x tool) comesUp(up []string) {
	x.Helper()
	x.runs(1, "dev", "status")
	plan, _ := x.runs(0, append(up, "--dry-run")...)
	x.contains(plan, "Would start a local world in "+x.dir, "kube-apiserver", "Would apply examples/test-capability.yaml.")
	if _, err := os.Stat(x.dir); !os.IsNotExist(err) {
		x.Errorf("a dry run leaves files: %v", err)
	}
	first, progress := x.runs(0, up...)
	x.contains(progress, "control plane, AWS emulator and operator are up", "guarded-dev/guarded-dev", "Running")
	x.contains(first, "Kubeconfig: "+filepath.Join(x.dir, "world", "kubeconfig"), "AWS endpoint: http://127.0.0.1:",
		"kubectl get nexuscapabilities -A", "nexusctl dev down --dir '")
	r := x.status(0)
	if len(r.Processes) != 8 || !r.Running || len(r.Capabilities) != 2 || !r.Capabilities[0].Running || !r.Capabilities[1].Running {
		x.Errorf("%+v", r)
	}
	second, progress := x.runs(0, up...)
	x.contains(progress, "running already, with the operator "+x.programs)
	if second != first {
		x.Errorf("the second time up prints\n%s\nand the first time\n%s", second, first)
	}
	if now := x.status(0); process(now.report(), "daemon") != process(r.report(), "daemon") {
		x.Error("a second up has started the world again")
	}
	wide, _ := x.runs(0, "dev", "status", "-o", "wide")
	x.contains(wide, "kube-apiserver", "myapp-dev/myapp-dev", "s3/bucket", "myapp-dev-call-data",
		"Coverage in the status of guarded-dev/guarded-dev")
	plan, _ = x.runs(0, append(up, "--dry-run")...)
	x.contains(plan, "runs already; nothing would be started")
	plan, _ = x.runs(0, "dev", "down", "--dry-run")
	x.contains(plan, "Would stop 8 processes")
}

// everythingWorks looks at the operator and at each capability as a person does first: nothing fails, and what simulated nodes
// cannot show is skipped for that reason.
func (x tool) everythingWorks() {
	x.Helper()
	x.shell("nexusctl status", ".", `nexusctl status; nexusctl status -o json | grep '"healthy": true'`)
	for _, name := range []string{"myapp-dev", "guarded-dev"} {
		x.shell("nexusctl verify-capability", ".", `said=$(nexusctl verify-capability `+name+"/"+name+
			`); echo "$said"; grep -q "SKIP.*answers its health check" <<<"$said"; grep -q "nodes that kwok simulates" <<<"$said"; ! grep FAIL <<<"$said"`)
	}
}

func (r worldReport) report() *devworld.Report { return &r.Report }

// stops stops the world twice. A world whose component has died says so before.
func (x tool) stops() {
	x.Helper()
	r := x.status(0)
	if at := workingIn(x.dir); len(at) != 7 {
		x.Errorf("%d processes work in the folder, want 7", len(at))
	}
	_ = syscall.Kill(process(r.report(), world.Scheduler), syscall.SIGKILL)
	broken, _ := x.runs(1, "dev", "status")
	x.contains(broken, "Ended, see "+filepath.Join(x.dir, "world", "kube-scheduler.log"))
	_, errs := x.runs(1, "dev", "up", "--operator", filepath.Join(x.programs, "nexus-operator"))
	x.contains(errs, "kube-scheduler has ended", "stop the world before starting it again")
	out, _ := x.runs(0, "dev", "down")
	x.contains(out, "Stopped 7 processes")
	if alive := left(r.report()); len(alive) > 0 {
		x.Errorf("left behind: %v", alive)
	}
	if _, err := os.Stat(x.dir); !os.IsNotExist(err) {
		x.Errorf("files are left behind: %v", err)
	}
	out, _ = x.runs(0, "dev", "down")
	x.contains(out, "No local world runs")
	x.interrupted()
}

// interrupted starts the world, in a full run with an operator that it builds as for users, and interrupts the command as soon as a
// process of the control plane runs.
func (x tool) interrupted() {
	x.Helper()
	from, says := []string{"--operator", filepath.Join(x.programs, "nexus-operator")}, ""
	if extent.IsFull(x) {
		from, says = []string{"--source", "."}, "Building the operator from ."
	}
	cmd := x.command(append([]string{"dev", "up"}, from...)...)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	if err := cmd.Start(); err != nil {
		x.Fatal(err)
	}
	for end := time.Now().Add(10 * time.Minute); ; time.Sleep(20 * time.Millisecond) {
		if _, err := os.Stat(filepath.Join(x.dir, "world", "kube-apiserver.log")); err == nil {
			break
		}
		if time.Now().After(end) {
			x.Fatalf("the control plane was not started\n%s", errs.String())
		}
	}
	running := x.world()
	r, err := running.Status(x.Context())
	if err != nil {
		x.Fatal(err)
	}
	_ = cmd.Process.Signal(os.Interrupt)
	_ = cmd.Wait() // the code says more
	x.contains(errs.String(), says)
	if code := cmd.ProcessState.ExitCode(); code != 130 {
		x.Errorf("exit code %d, want 130\n%s", code, errs.String())
	}
	x.contains(errs.String(), "What it had started is stopped. To start it again: nexusctl dev up --dir '")
	if alive := left(r); len(alive) > 0 || len(r.Processes) == 0 {
		x.Errorf("left behind: %v of %v", alive, r.Processes)
	}
	if at := workingIn(x.dir); len(at) > 0 {
		x.Errorf("left behind: %v", at)
	}
	if _, err := os.Stat(x.dir); !os.IsNotExist(err) {
		x.Errorf("files are left behind: %v", err)
	}
}

// workingIn are the processes whose working directory is below a folder, be it removed or not. Every process of a world except
// the daemon has one there.
func workingIn(dir string) (found []string) {
	links, _ := filepath.Glob("/proc/[0-9]*/cwd")
	for _, link := range links {
		if at, err := os.Readlink(link); err == nil && strings.HasPrefix(at, dir) {
			found = append(found, link)
		}
	}
	return found
}

func TestUp_AnOperatorThatEndsAgainAndAgainIsReported(t *testing.T) {
	extent.Full(t)
	d := newDemo(t)
	broken := filepath.Join(t.TempDir(), "operator")
	if err := os.WriteFile(broken, []byte("#!/bin/sh\necho no such flag; exit 1\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	err := d.world().Up(t.Context(), devworld.Options{Operator: broken, CRDs: []string{"../../config/crd/bases"}, Timeout: time.Minute})
	if err == nil || !strings.Contains(err.Error(), "ends again and again") || !strings.Contains(err.Error(), "no such flag") {
		t.Errorf("got %v", err)
	}
	if r := d.report(); r.Running || len(left(r)) > 0 {
		t.Errorf("left behind: %v of %+v", left(r), r)
	}
}
