// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// keptFor limits how long a program is kept that no run has used.
const keptFor = 14 * 24 * time.Hour

// lockBuilt returns the folder that keeps test programs, for this process alone until it ends; empty if none is named, or another run
// has it. The folder is the same for every clone of the source tree: Go compares what a program is made of, and not where from.
func lockBuilt(dir string) (string, error) {
	if dir == "" {
		return "", nil
	}
	dir, err := filepath.Abs(dir)
	if err == nil {
		err = os.MkdirAll(dir, 0o755)
	}
	if err != nil {
		return "", fmt.Errorf("-built: %w", err)
	}
	lock, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return "", fmt.Errorf("-built: %w", err)
	}
	// The kernel frees the lock when the process ends; the file is not closed before.
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); errors.Is(err, syscall.EWOULDBLOCK) {
		return "", lock.Close()
	} else if err != nil {
		return "", fmt.Errorf("-built: locking %s: %w", lock.Name(), err)
	}
	locks = append(locks, lock)
	return dir, removeUnused(dir, time.Now().Add(-keptFor))
}

// locks keeps the files of locks from being closed as garbage.
var locks []*os.File

// removeUnused removes the programs that were last used before a time.
func removeUnused(dir string, before time.Time) error {
	programs, err := filepath.Glob(filepath.Join(dir, "*.program"))
	if err != nil {
		return err
	}
	for _, p := range programs {
		if info, err := os.Stat(p); err == nil && info.ModTime().Before(before) {
			if err := os.Remove(p); err != nil {
				return err
			}
		}
	}
	return nil
}
