// SPDX-License-Identifier: Apache-2.0

package devworld

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/nexus-operator/nexus-operator/internal/emulator"
	"github.com/nexus-operator/nexus-operator/internal/osproc"
)

// Files of a world, in addition to the folder world.
const (
	fileState    = "state.json"
	fileOptions  = "options.json"
	fileEnv      = "env"
	fileLock     = "lock"
	fileControl  = "control"
	fileDaemon   = "daemon.log"
	fileOperator = "operator.log"
	fileIgnore   = ".gitignore"
	fileProgram  = "nexus-operator"
	folderWorld  = "world"
	folderCRDs   = "crds"
)

// The names of the processes that are not the control plane's.
const (
	daemonProcess   = "daemon"
	operatorProcess = "operator"
)

// state holds everything that the daemon writes for the other commands, in state.json.
type state struct {
	PID        int            // of the daemon, which leads its own session
	Components map[string]int // process ids
	Operator   int            // process id; 0: none runs
	Restarts   int            // of the operator
	Ready      bool           // the world is up and the operator started
	Kubeconfig string
	// OperatorKubeconfig is the operator's own, with the rights of its manifests.
	OperatorKubeconfig string
	// Health is the address of the operator's health checks.
	Health string
	AWS    string // endpoint
	// Programs is the folder of the control plane's programs, kubectl among them.
	Programs string
	// OwnPrograms are the folders of the operator and of nexusctl, and OperatorArgs the flags of the operator that a plan depends on.
	OwnPrograms, OperatorArgs []string
	// Starts holds the start time of each process, in the words of the machine. Together with the id it identifies the process.
	Starts map[string]string
}

func (w World) file(name string) string { return filepath.Join(w.Dir, name) }

// OperatorPath returns the path for an operator that is built for this world; Down removes it.
func (w World) OperatorPath() string { return w.file(fileProgram) }

func (w World) readState() (state, error) {
	var s state
	text, err := os.ReadFile(w.file(fileState))
	if err != nil {
		return s, err
	}
	if err := json.Unmarshal(text, &s); err != nil {
		return s, fmt.Errorf("%s: %w", w.file(fileState), err)
	}
	return s, nil
}

// write replaces the file at once: readers never see half of it.
func (s state) write(w World) error {
	s.Starts = map[string]string{}
	for name, pid := range s.processes() {
		s.Starts[name] = startOf(pid)
	}
	text, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return err
	}
	if err := os.WriteFile(w.file(fileState+".new"), text, 0o600); err != nil {
		return err
	}
	return os.Rename(w.file(fileState+".new"), w.file(fileState))
}

// environment returns the variables for clients of this world.
func (s state) environment() []string {
	return []string{
		"KUBECONFIG=" + s.Kubeconfig,
		"AWS_ENDPOINT_URL=" + s.AWS,
		"AWS_REGION=" + emulator.DefaultRegion,
		"AWS_DEFAULT_REGION=" + emulator.DefaultRegion,
		"AWS_ACCESS_KEY_ID=AKIDDEMO",
		"AWS_SECRET_ACCESS_KEY=demo",
		"AWS_EC2_METADATA_DISABLED=true",
	}
}

// writeEnv writes the same as a file for a shell to source.
func (s state) writeEnv(w World) error {
	var b strings.Builder
	for _, pair := range s.environment() {
		name, value, _ := strings.Cut(pair, "=")
		fmt.Fprintf(&b, "export %s=%s\n", name, shellQuote(value))
	}
	// Installed programs come first: kubectl, and a nexusctl of the person's own.
	path := shellQuote(s.Programs)
	for _, dir := range s.OwnPrograms {
		path += ":" + shellQuote(dir)
	}
	fmt.Fprintf(&b, "export PATH=\"$PATH\":%s\n", path)
	fmt.Fprintf(&b, "export NEXUS_OPERATOR_ARGS=%s\n", shellQuote(strings.Join(s.OperatorArgs, " ")))
	b.WriteString("unset AWS_PROFILE AWS_SESSION_TOKEN\n")
	return os.WriteFile(w.file(fileEnv), []byte(b.String()), 0o600)
}

// shellQuote quotes a word for a POSIX shell.
func shellQuote(word string) string { return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'" }

// processes are the ids of all processes of the world that were started, by their names.
func (s state) processes() map[string]int {
	all := maps.Clone(s.Components)
	if all == nil {
		all = map[string]int{}
	}
	all[daemonProcess] = s.PID
	if s.Operator != 0 {
		all[operatorProcess] = s.Operator
	}
	return all
}

// alive gives the processes that still run: those in the session of the daemon that were started when the state says so.
// Another program may have the number by now; it is never counted.
func (s state) alive() map[string]int {
	all := s.processes()
	for name, pid := range all {
		session, err := osproc.SessionOf(pid)
		if start := startOf(pid); pid == 0 || err != nil || session != s.PID || start == "" || start != s.Starts[name] {
			delete(all, name)
		}
	}
	return all
}

// ended gives the names of the components that no longer run.
func (s state) ended() []string {
	alive := s.alive()
	var out []string
	for name := range s.Components {
		if alive[name] == 0 {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

// stop ends the daemon and all that it started, and waits until none is left.
func (s state) stop() error {
	if pid := s.alive()[daemonProcess]; pid != 0 {
		_ = osproc.Terminate(pid)
	}
	for wait := range 150 {
		left := s.alive()
		if len(left) == 0 {
			return nil
		}
		if wait == 100 || left[daemonProcess] == 0 && wait == 10 { // 10 s; without the daemon no other process stops them
			for _, pid := range left {
				_ = osproc.Kill(pid)
			}
		}
		time.Sleep(100 * time.Millisecond)
	}
	return fmt.Errorf("still running: %v", s.alive())
}

// tryLock takes a lock file; ok is false if another process has it. The kernel frees it when the process ends.
func tryLock(path string) (lock *os.File, ok bool, err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, false, err
	}
	if ok, err = osproc.TryLock(f); !ok {
		_ = f.Close() // nothing was written
		return nil, false, err
	}
	return f, true, nil
}

// isHeld reports whether a daemon of this folder runs.
func (w World) isHeld() (bool, error) {
	lock, ok, err := tryLock(w.file(fileLock))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil || !ok {
		return err == nil, err
	}
	return false, lock.Close()
}

// clean removes only the remains of a world.
func (w World) clean() error {
	var errs []error
	for _, name := range []string{folderWorld, folderCRDs, fileState, fileState + ".new", fileOptions, fileEnv, fileLock, fileDaemon,
		fileOperator, fileIgnore, fileProgram, fileControl} {
		errs = append(errs, os.RemoveAll(w.file(name)))
	}
	_ = os.Remove(w.Dir) // if it is empty now
	return errors.Join(errs...)
}

// endOf shows the last lines of a log.
func (w World) endOf(name string) string {
	text, err := os.ReadFile(w.file(name))
	if err != nil {
		text = []byte(err.Error())
	}
	lines := strings.Split(strings.TrimRight(string(text), "\n"), "\n")
	return "The end of " + w.file(name) + ":\n" + strings.Join(lines[max(0, len(lines)-20):], "\n")
}
