// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/nexus-operator/nexus-operator/internal/testkit/awsproxy"
)

// state is what the daemon tells the other verbs, in state.json.
type state struct {
	PID        int            // of the daemon, which leads its own session
	Components map[string]int // process ids
	Operator   int            // process id; 0: none runs
	Restarts   int            // of the operator
	Ready      bool           // the world is up and the operator started
	Kubeconfig string
	// OperatorKubeconfig is the operator's own, which may do what config/rbac says.
	OperatorKubeconfig string
	AWS                string // endpoint
	// Programs is the folder of the test bed's programs, kubectl among them.
	Programs string
}

func (o options) file(name string) string { return filepath.Join(o.dir, name) }

func readState(o options) (state, error) {
	var s state
	text, err := os.ReadFile(o.file("state.json"))
	if err != nil {
		return s, err
	}
	return s, json.Unmarshal(text, &s)
}

// write replaces the file at once: readers never see half of it.
func (s state) write(o options) error {
	text, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return err
	}
	if err := os.WriteFile(o.file("state.new"), text, 0o644); err != nil {
		return err
	}
	return os.Rename(o.file("state.new"), o.file("state.json"))
}

// environment is what clients of this world need.
func (s state) environment() []string {
	return []string{
		"KUBECONFIG=" + s.Kubeconfig,
		"AWS_ENDPOINT_URL=" + s.AWS,
		"AWS_REGION=" + awsproxy.DefaultRegion,
		"AWS_DEFAULT_REGION=" + awsproxy.DefaultRegion,
		"AWS_ACCESS_KEY_ID=AKIDDEMO",
		"AWS_SECRET_ACCESS_KEY=demo",
		"AWS_EC2_METADATA_DISABLED=true",
	}
}

// writeEnv writes the same as a file for a shell to source.
func (s state) writeEnv(o options) error {
	var b strings.Builder
	for _, pair := range s.environment() {
		name, value, _ := strings.Cut(pair, "=")
		fmt.Fprintf(&b, "export %s='%s'\n", name, strings.ReplaceAll(value, "'", `'\''`))
	}
	// An installed kubectl comes first.
	fmt.Fprintf(&b, "export PATH=\"$PATH\":'%s'\n", strings.ReplaceAll(s.Programs, "'", `'\''`))
	b.WriteString("unset AWS_PROFILE AWS_SESSION_TOKEN\n")
	return os.WriteFile(o.file("env"), []byte(b.String()), 0o600)
}

// lockDemo takes the lock that the daemon holds as long as it lives; ok is false
// if a daemon has it.
func lockDemo(o options) (lock *os.File, ok bool, err error) {
	f, err := os.OpenFile(o.file("lock"), os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, false, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		f.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, false, nil
		}
		return nil, false, err
	}
	return f, true, nil
}

// running reports whether a daemon lives.
func running(o options) (bool, error) {
	lock, ok, err := lockDemo(o)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if ok {
		lock.Close()
	}
	return !ok, nil
}

// survivors gives the processes of the state that are still there: alive, and in
// the session of the daemon (another program may have got the number since).
func (s state) survivors() map[string]int {
	all := map[string]int{"daemon": s.PID, "operator": s.Operator}
	for name, pid := range s.Components {
		all[name] = pid
	}
	for name, pid := range all {
		if session, err := unix.Getsid(pid); pid == 0 || err != nil || session != s.PID || zombie(pid) {
			delete(all, name)
		}
	}
	return all
}

// zombie reports whether a process has ended and only waits to be noticed by its
// parent (where there is /proc).
func zombie(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	rest := string(stat[strings.LastIndexByte(string(stat), ')')+1:])
	return strings.HasPrefix(strings.TrimSpace(rest), "Z")
}

// stop ends the daemon of the state and all that it started, and waits until
// nothing is left.
func (s state) stop() error {
	if _, alive := s.survivors()["daemon"]; alive {
		_ = syscall.Kill(s.PID, syscall.SIGTERM)
	}
	for wait := range 150 {
		left := s.survivors()
		if len(left) == 0 {
			return nil
		}
		if wait == 100 { // 10 s
			for _, pid := range left {
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}
		}
		time.Sleep(100 * time.Millisecond)
	}
	return fmt.Errorf("still running: %v", s.survivors())
}
