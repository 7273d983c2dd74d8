// SPDX-License-Identifier: Apache-2.0

// Bed builds what the test bed runs: etcd, the Kubernetes control plane, kubectl
// and kwok, from the Go modules pinned in dev/go.mod, and finds or installs the
// AWS emulator. It needs only Go and Python 3.10 or later:
//
//	go -C dev run ./bed
//
// Everything goes into a cache outside the tree,
//
//	${NEXUS_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/nexus-operator}/bin/<key>/
//
// whose key is a hash of the pins and the platform, so that a changed pin gives
// a new folder and an unchanged one is there at once. The folder is printed on
// standard output, progress on standard error.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

func main() {
	printOnly := flag.Bool("print", false, "print the folder of the binaries and build nothing")
	flag.Parse()
	if err := run(*printOnly); err != nil {
		fmt.Fprintln(os.Stderr, "bed:", err)
		os.Exit(exitCode(err))
	}
}

// missingError is something that must be installed first.
type missingError string

// Error implements error.
func (e missingError) Error() string { return string(e) }

// exitCode is 4 when something must be installed first, as that of nexusctl is.
func exitCode(err error) int {
	if _, missing := errors.AsType[missingError](err); missing {
		return 4
	}
	return 1
}

func run(printOnly bool) error {
	begin := time.Now()
	dev, err := findDev()
	if err != nil {
		return err
	}
	cache, err := cacheDir()
	if err != nil {
		return err
	}
	key, err := binKey(dev)
	if err != nil {
		return err
	}
	dir := filepath.Join(cache, "bin", key)
	if printOnly {
		fmt.Println(dir)
		return nil
	}
	if complete(dir) {
		say("cached (%d ms)", time.Since(begin).Milliseconds())
	} else if err := prepare(dev, cache, dir); err != nil {
		return err
	}
	fmt.Println(dir)
	return nil
}

// prepare builds under a lock, into a folder beside dir that is renamed at the
// end: nobody ever sees half of it, and of two concurrent runs one waits.
func prepare(dev, cache, dir string) error {
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return err
	}
	unlock, err := lock(filepath.Join(cache, "bed.lock"))
	if err != nil {
		return err
	}
	defer unlock()
	if complete(dir) {
		say("built by another run")
		return nil
	}
	if err := removeUnfinished(filepath.Dir(dir)); err != nil {
		return err
	}
	temp, err := os.MkdirTemp(filepath.Dir(dir), unfinished)
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	if err := os.Chmod(temp, 0o755); err != nil {
		return err
	}
	// The emulator comes first: a machine without Python says so before minutes of building have passed.
	if err := prepareMoto(dev, cache, temp); err != nil {
		return err
	}
	if err := buildAll(dev, temp); err != nil {
		return err
	}
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	return os.Rename(temp, dir)
}

// unfinished begins the names of folders that are being built.
const unfinished = ".new-"

// removeUnfinished removes what earlier runs left that were killed. The caller holds the lock, so that no folder is in use.
func removeUnfinished(bin string) error {
	found, err := filepath.Glob(filepath.Join(bin, unfinished+"*"))
	if err != nil {
		return err
	}
	for _, dir := range found {
		if err := os.RemoveAll(dir); err != nil {
			return err
		}
	}
	return nil
}

// complete says that dir holds every binary and an emulator whose interpreter
// is still there (it may be one that the machine's owner has removed since).
func complete(dir string) bool {
	for _, b := range binaries {
		if _, err := os.Stat(filepath.Join(dir, b.name)); err != nil {
			return false
		}
	}
	return motoUsable(dir)
}

// lock waits for the cache's lock file; the kernel frees it if we die.
func lock(path string) (func(), error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		say("waiting for another run")
		if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
			return nil, err
		}
	}
	return func() { f.Close() }, nil
}

func say(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "bed: "+format+"\n", args...)
}
