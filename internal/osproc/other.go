// SPDX-License-Identifier: Apache-2.0

//go:build !unix

package osproc

import (
	"os"
	"syscall"
)

// Check returns ErrUnsupported where there are no local worlds.
func Check() error { return ErrUnsupported }

// Group starts a process in a new group.
func Group() *syscall.SysProcAttr { return &syscall.SysProcAttr{} }

// Session starts a process in a new session, so that it outlives its parent and the terminal.
func Session() *syscall.SysProcAttr { return &syscall.SysProcAttr{} }

// SessionOf returns the session of a process.
func SessionOf(int) (int, error) { return 0, ErrUnsupported }

// Terminate asks a process to end.
func Terminate(int) error { return ErrUnsupported }

// Kill ends a process at once.
func Kill(int) error { return ErrUnsupported }

// TerminateGroup asks the processes of a group to end.
func TerminateGroup(int) error { return ErrUnsupported }

// KillGroup ends the processes of a group at once. A group that has ended is no error.
func KillGroup(int) error { return ErrUnsupported }

// TryLock locks a file; false if another process has locked it. The kernel frees the lock when the process ends.
func TryLock(*os.File) (bool, error) { return false, ErrUnsupported }
