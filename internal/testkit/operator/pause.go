// SPDX-License-Identifier: Apache-2.0

package operator

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// Pause stops the process where it is, as a frozen virtual machine does, and returns when none of its threads runs any
// more: on a busy machine that may be a while after the signal. It may be called from the hook of a fault.
func (o *Operator) Pause() error {
	if err := o.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		return err
	}
	for range 5000 {
		if o.stopped() {
			return nil
		}
		time.Sleep(time.Millisecond)
	}
	return fmt.Errorf("process %d does not stop", o.PID())
}

// Resume has a process that was paused go on.
func (o *Operator) Resume() error { return o.cmd.Process.Signal(syscall.SIGCONT) }

// stopped reports whether every thread is in the state T of /proc/PID/task/TID/stat.
func (o *Operator) stopped() bool {
	threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", o.PID()))
	for _, path := range threads {
		text, err := os.ReadFile(path)
		if err != nil {
			continue // it has ended
		}
		if _, state, ok := strings.Cut(string(text), ") "); ok && !strings.HasPrefix(state, "T") {
			return false
		}
	}
	return true
}
