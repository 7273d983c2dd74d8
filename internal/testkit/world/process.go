// SPDX-License-Identifier: Apache-2.0

package world

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/nexus-operator/nexus-operator/internal/osproc"
)

// tailLines sets how much of a component's log an error carries.
const tailLines = 25

// process is one component: a program that is started, killed and started
// again with the same arguments, its output appended to one file.
type process struct {
	name string
	path string
	args []string
	env  []string
	dir  string // working directory and place of the log
	// crashes limits how often the program is started again after a crash, which is not reported then.
	crashes int

	mu   sync.Mutex
	cmd  *exec.Cmd
	done chan struct{} // closed when the running incarnation has ended
	err  error         // how it ended; valid once done is closed
	// killed is true after kill: the end of the program is no crash.
	killed bool
}

func (p *process) logPath() string { return filepath.Join(p.dir, p.name+".log") }

// start launches the program in its own process group. The kernel kills
// it when this process dies, however that happens (Linux); the signal is tied
// to the launching *thread*, which is therefore kept for as long as the child
// lives (golang/go#27505).
func (p *process) start() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cmd != nil && !closed(p.done) {
		return fmt.Errorf("%s is already running", p.name)
	}
	log, err := os.OpenFile(p.logPath(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	cmd := p.command(log)
	started, done := make(chan error, 1), make(chan struct{})
	go func() {
		runtime.LockOSThread()
		defer log.Close()
		err := cmd.Start()
		started <- err
		for running := cmd; err == nil; {
			if err = running.Wait(); err != nil {
				running, err = p.startAfterCrash(log, err)
			} else {
				break
			}
		}
		p.mu.Lock()
		p.err = err
		p.mu.Unlock()
		close(done)
	}()
	if err := <-started; err != nil {
		return fmt.Errorf("starting %s: %w", p.name, err)
	}
	p.cmd, p.done, p.killed = cmd, done, false
	return nil
}

func (p *process) command(log *os.File) *exec.Cmd {
	cmd := exec.Command(p.path, p.args...)
	cmd.Dir = p.dir
	cmd.Env = append(os.Environ(), p.env...)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = osproc.Child()
	return cmd
}

// startAfterCrash starts the program again, and returns it, unless it was killed or has crashed too often: then it returns the error of the
// program's end.
func (p *process) startAfterCrash(log *os.File, ended error) (*exec.Cmd, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.killed || p.crashes == 0 {
		return nil, ended
	}
	p.crashes--
	cmd := p.command(log)
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting %s after a crash (%w): %w", p.name, ended, err)
	}
	p.cmd = cmd
	return cmd, nil
}

// kill ends the whole process group at once and waits for it. Killing a process that has already ended is no error.
func (p *process) kill() error {
	p.mu.Lock()
	cmd, done := p.cmd, p.done
	p.killed = true
	p.mu.Unlock()
	if cmd == nil || closed(done) {
		return nil
	}
	if err := osproc.KillGroup(cmd.Process.Pid); err != nil {
		return fmt.Errorf("killing %s: %w", p.name, err)
	}
	select {
	case <-done:
		return nil
	case <-time.After(10 * time.Second):
		return fmt.Errorf("%s (process %d) did not die", p.name, cmd.Process.Pid)
	}
}

// alive returns nil while the program runs, and otherwise an error with the end of its log.
func (p *process) alive() error {
	p.mu.Lock()
	cmd, done := p.cmd, p.done
	p.mu.Unlock()
	if cmd == nil {
		return fmt.Errorf("%s was not started", p.name)
	}
	if !closed(done) {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return fmt.Errorf("%s ended (%v); the end of its log:\n%s", p.name, p.err, p.tail())
}

// pid returns the id of the present or last incarnation.
func (p *process) pid() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cmd == nil {
		return 0
	}
	return p.cmd.Process.Pid
}

// tail returns the last lines of the component's log.
func (p *process) tail() string {
	text, err := os.ReadFile(p.logPath())
	if err != nil {
		return err.Error()
	}
	lines := strings.Split(strings.TrimRight(string(text), "\n"), "\n")
	return strings.Join(lines[max(0, len(lines)-tailLines):], "\n")
}

func closed(c chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
