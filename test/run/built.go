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

// lockBuilt returns the folder that keeps test programs, for this run alone until the lock is closed; no folder if none is named, or
// another run has it. The folder is the same for every clone of the source tree: Go compares what a program is made of, and not where
// from.
func lockBuilt(dir string) (built string, lock *os.File, err error) {
	if dir == "" {
		return "", nil, nil
	}
	dir, err = filepath.Abs(dir)
	if err == nil {
		err = os.MkdirAll(dir, 0o755)
	}
	if err != nil {
		return "", nil, fmt.Errorf("-built: %w", err)
	}
	lock, err = os.OpenFile(filepath.Join(dir, "lock"), os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return "", nil, fmt.Errorf("-built: %w", err)
	}
	switch err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); {
	case errors.Is(err, syscall.EWOULDBLOCK):
		return "", nil, lock.Close()
	case err != nil:
		return "", nil, errors.Join(fmt.Errorf("-built: locking %s: %w", lock.Name(), err), lock.Close())
	}
	return dir, lock, removeUnused(dir, time.Now().Add(-keptFor))
}

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
