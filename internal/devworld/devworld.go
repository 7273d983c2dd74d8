// SPDX-License-Identifier: Apache-2.0

// Package devworld runs a Kubernetes control plane with simulated nodes, an AWS emulator and the operator on one machine, for a person who
// tries the operator or develops against it. A world has a folder and one process, the daemon. All other processes run below it. It is the
// test bed of the project's own tests.
//
//	w := devworld.World{Dir: dir, Daemon: []string{"dev", "daemon"}, Clock: clock, Progress: os.Stderr}
//	err := w.Up(ctx, devworld.Options{Programs: programs, Operator: "bin/nexus-operator", Timeout: 5 * time.Minute})
//	report, err := w.Status(ctx)
//	stopped, err := w.Down(ctx)
package devworld

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"k8s.io/utils/clock"

	"github.com/nexus-operator/nexus-operator/internal/osproc"
	"github.com/nexus-operator/nexus-operator/internal/testkit/world"
)

// World is a local world, which runs or not.
type World struct {
	// Dir is the absolute path of its folder.
	Dir string
	// Daemon are the arguments that make this program call Hold; the flag --dir with the folder is added.
	Daemon []string
	Clock  clock.PassiveClock
	// Progress receives a line for each step.
	Progress io.Writer
}

// Options describe the parts of a world, and how long Up waits.
type Options struct {
	// Programs is the folder of the control plane's programs; empty: that of the test bed of the source tree.
	Programs string
	// Operator is the absolute path of the operator's program; empty: none runs. OperatorArgs are its further arguments.
	Operator     string
	OperatorArgs []string
	// Client is the absolute path of nexusctl, which the env file offers to shells with the operator; empty: only the operator's folder
	// is offered.
	Client string
	// Bounded gives the roles of capabilities a permissions boundary, without which no capability may use models. It allows everything.
	Bounded bool
	// CRDs are files or folders of CustomResourceDefinitions; empty: those that are built in.
	CRDs []string
	// Nodes is the number of simulated nodes; 0: one.
	Nodes int
	// Manifests are files, or folders, of objects that are applied.
	Manifests []string
	// Timeout limits the start, and then the wait until the capabilities in the manifests run.
	Timeout time.Duration
}

// TimeoutError is a wait that took longer than Options.Timeout.
type TimeoutError struct{ Err error }

// Error implements error.
func (e *TimeoutError) Error() string { return e.Err.Error() }

// Unwrap returns the error.
func (e *TimeoutError) Unwrap() error { return e.Err }

// InterruptedError is an end of the context before Up was done. Stopped is true when Up had started the world and has
// stopped it; Left is the error when it could not.
type InterruptedError struct {
	Stopped bool
	Left    error
}

// Error implements error.
func (e *InterruptedError) Error() string { return "interrupted" }

// CacheDir returns the folder outside the source tree that holds the programs: $NEXUS_CACHE, or without it nexus-operator in the user's
// cache.
func CacheDir() (string, error) { return world.CacheDir() }

// CheckManifests returns an error unless all files can be read and hold objects.
func CheckManifests(files []string) error {
	_, err := readManifests(files)
	return err
}

// Up starts the world unless it runs, applies the manifests, and waits until the capabilities in them run. A failure leaves the logs in the
// folder. A world that it has started and that has a ready operator stays when capabilities do not run in time.
func (w World) Up(ctx context.Context, o Options) error {
	if err := osproc.Check(); err != nil {
		return err
	}
	manifests, err := readManifests(o.Manifests)
	if err != nil {
		return err
	}
	release, err := w.control(ctx)
	if err != nil {
		return err
	}
	defer release()
	begin := w.Clock.Now()
	limited, cancel := context.WithTimeout(ctx, o.Timeout)
	defer cancel()
	s, started, err := w.ensureStarted(limited, o, begin)
	if err == nil {
		err = w.applyAndWait(limited, s, manifests, begin)
	}
	switch {
	case ctx.Err() != nil && started:
		left := w.stopAndClean()
		return &InterruptedError{Stopped: left == nil, Left: left}
	case ctx.Err() != nil:
		return &InterruptedError{}
	case limited.Err() != nil && err != nil:
		return &TimeoutError{err}
	default:
		return err
	}
}

// control takes the lock that Up and Down hold while they work, and creates the folder.
func (w World) control(ctx context.Context) (release func(), err error) {
	for waited := false; ; waited = true {
		if err := os.MkdirAll(w.Dir, 0o700); err != nil {
			return nil, err
		}
		lock, ok, err := tryLock(w.file(fileControl))
		if err != nil {
			return nil, err
		}
		if ok && isSame(lock, w.file(fileControl)) {
			return func() { _ = lock.Close() }, nil // nothing was written
		}
		if ok { // Down has removed the file in the meantime
			_ = lock.Close()
			continue
		}
		if !waited {
			say(w.Progress, "another command works on %s; waiting for it", w.Dir)
		}
		if pause(ctx, 100*time.Millisecond); ctx.Err() != nil {
			return nil, &InterruptedError{}
		}
	}
}

// isSame reports whether an open file still has the path.
func isSame(f *os.File, path string) bool {
	open, err := f.Stat()
	if err != nil {
		return false
	}
	now, err := os.Stat(path)
	return err == nil && os.SameFile(open, now)
}

// ensureStarted starts the world unless it runs, and waits until the operator is ready.
func (w World) ensureStarted(ctx context.Context, o Options, begin time.Time) (s state, started bool, err error) {
	held, err := w.isHeld()
	if err != nil {
		return s, false, err
	}
	if !held {
		return w.start(ctx, o, begin)
	}
	own, err := w.readOptions()
	if err != nil {
		return s, false, err
	}
	if s, err = w.waitReady(ctx, own, nil); err == nil {
		if gone := s.ended(); len(gone) > 0 {
			return s, false, fmt.Errorf("of the world in %s, %s has ended: read %s, and stop the world before starting it again", w.Dir,
				strings.Join(gone, ", "), w.file(folderWorld+"/"+gone[0]+".log"))
		}
		say(w.Progress, "the local world is running already, with the operator %s", own.Operator)
	}
	return s, false, err
}

// start starts the world. A failure stops the started processes.
func (w World) start(ctx context.Context, o Options, begin time.Time) (s state, started bool, err error) {
	d, err := w.startDaemon(o)
	if err != nil {
		return s, false, err
	}
	if s, err = w.waitReady(ctx, o, d); err != nil {
		d.stop()
		return s, true, errors.Join(err, w.stopDaemon())
	}
	say(w.Progress, "%6.1fs  control plane, AWS emulator and operator are up", w.Clock.Since(begin).Seconds())
	return s, true, nil
}

// daemon is one that this process has started.
type daemon struct {
	pid   int
	ended chan struct{} // closed when it has ended
	err   error         // how it ended; valid once ended is closed
}

// done returns a channel that is closed when the daemon has ended; nil for one that another process has started.
func (d *daemon) done() <-chan struct{} {
	if d == nil {
		return nil
	}
	return d.ended
}

// stop ends the daemon, which may not have written its state yet.
func (d *daemon) stop() {
	select {
	case <-d.ended: // its number may be another process's by now
		return
	default:
	}
	_ = osproc.Terminate(d.pid)
	select {
	case <-d.ended:
	case <-time.After(15 * time.Second):
		_ = osproc.Kill(d.pid)
		<-d.ended
	}
}

// startDaemon starts the daemon in its own session, so that it outlives this process and its terminal.
func (w World) startDaemon(o Options) (*daemon, error) {
	if err := w.prepare(o); err != nil {
		return nil, err
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	log, err := os.Create(w.file(fileDaemon))
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(self, append(slices.Clone(w.Daemon), "--dir="+w.Dir)...) // it outlives this process
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = osproc.Session()
	if err := errors.Join(cmd.Start(), log.Close()); err != nil {
		return nil, err
	}
	d := &daemon{pid: cmd.Process.Pid, ended: make(chan struct{})}
	go func() {
		d.err = cmd.Wait()
		close(d.ended)
	}()
	return d, nil
}

// prepare stops the processes of an earlier daemon, and empties the folder.
func (w World) prepare(o Options) error {
	if err := w.stopDaemon(); err != nil {
		return err
	}
	for _, name := range []string{folderWorld, folderCRDs, fileState, fileEnv} {
		if err := os.RemoveAll(w.file(name)); err != nil {
			return err
		}
	}
	if err := os.Mkdir(w.file(folderWorld), 0o700); err != nil {
		return err
	}
	text, err := json.Marshal(o)
	if err != nil {
		return err
	}
	if err := os.WriteFile(w.file(fileOptions), text, 0o600); err != nil {
		return err
	}
	return os.WriteFile(w.file(fileIgnore), []byte("*\n"), 0o600)
}

// stopDaemon ends every process of the folder's world.
func (w World) stopDaemon() error {
	s, err := w.readState()
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return s.stop()
}

// stopAndClean ends every process, and removes the remains of the world.
func (w World) stopAndClean() error {
	if err := w.stopDaemon(); err != nil {
		return err
	}
	return w.clean()
}

// maxRestarts limits the restarts of an operator that ends before it is ready.
const maxRestarts = 3

// waitReady waits until the daemon has started everything and the operator is ready. The daemon is nil
// when another process has started it.
func (w World) waitReady(ctx context.Context, o Options, d *daemon) (state, error) {
	before, _ := w.readState() // of a world that runs already
	for {
		s, err := w.readState()
		if err == nil && s.isReady(o) {
			return s, nil
		}
		if s.Restarts-before.Restarts >= maxRestarts {
			return s, fmt.Errorf("the operator %s ends again and again. %s", o.Operator, w.endOf(fileOperator))
		}
		if d == nil && s.alive()[daemonProcess] == 0 {
			return s, fmt.Errorf("the local world has ended. %s", w.endOf(fileDaemon))
		}
		select {
		case <-ctx.Done():
			return s, fmt.Errorf("the local world is not ready. %s\n%s", w.endOf(fileDaemon), w.endOf(fileOperator))
		case <-d.done():
			return s, fmt.Errorf("the local world did not start (%w). %s", d.err, w.endOf(fileDaemon))
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// isReady reports whether everything was started, and asks the operator whether it is ready.
func (s state) isReady(o Options) bool {
	if !s.Ready || o.Operator == "" {
		return s.Ready
	}
	client := http.Client{Timeout: 2 * time.Second}
	answer, err := client.Get("http://" + s.Health + "/readyz")
	return err == nil && answer.Body.Close() == nil && answer.StatusCode == http.StatusOK
}

// applyAndWait applies the manifests, and waits until the capabilities in them run.
func (w World) applyAndWait(ctx context.Context, s state, manifests []manifest, begin time.Time) error {
	if len(manifests) == 0 {
		return nil
	}
	c, err := w.connect(s.Kubeconfig, w.Progress)
	if err != nil {
		return err
	}
	capabilities, err := c.applyAll(ctx, manifests)
	if err != nil {
		return err
	}
	if err := c.waitRunning(ctx, capabilities, begin); err != nil {
		return fmt.Errorf("%w\n\n%s", err, w.endOf(fileOperator))
	}
	return nil
}

// Down stops every process of the world and removes its files. It returns the names of the processes that ran; there are none
// when no world was running.
func (w World) Down(ctx context.Context) ([]string, error) {
	if _, err := os.Stat(w.Dir); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	release, err := w.control(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	s, err := w.readState()
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	running := sortedNames(s.alive())
	if err := s.stop(); err != nil {
		return nil, err
	}
	if held, err := w.isHeld(); err != nil || held {
		return nil, errors.Join(fmt.Errorf("a process still holds %s", w.file(fileLock)), err)
	}
	return running, w.clean()
}
