// SPDX-License-Identifier: Apache-2.0

//go:build unix

package osproc

import (
	"errors"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// Check returns ErrUnsupported where there are no local worlds.
func Check() error { return nil }

// Group starts a process in a new group.
func Group() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// Session starts a process in a new session, so that it outlives its parent and the terminal.
func Session() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// SessionOf returns the session of a process.
func SessionOf(pid int) (int, error) { return unix.Getsid(pid) }

// Terminate asks a process to end.
func Terminate(pid int) error { return syscall.Kill(pid, syscall.SIGTERM) }

// Kill ends a process at once.
func Kill(pid int) error { return syscall.Kill(pid, syscall.SIGKILL) }

// TerminateGroup asks the processes of a group to end.
func TerminateGroup(pid int) error { return syscall.Kill(-pid, syscall.SIGTERM) }

// KillGroup ends the processes of a group at once. A group that has ended is no error.
func KillGroup(pid int) error {
	if err := syscall.Kill(-pid, syscall.SIGKILL); !errors.Is(err, syscall.ESRCH) {
		return err
	}
	return nil
}

// TryLock locks a file; false if another process has locked it. The kernel frees the lock when the process ends.
func TryLock(f *os.File) (bool, error) {
	err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return false, nil
	}
	return err == nil, err
}
