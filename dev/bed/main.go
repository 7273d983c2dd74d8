// SPDX-License-Identifier: Apache-2.0

// Bed provides what the test bed runs: etcd, the Kubernetes control plane, kubectl
// and kwok in the versions pinned in dev/go.mod, and the AWS emulator. It downloads
// the released programs where the machine can reach them, and compiles them
// elsewhere; it finds or installs the emulator. It needs only Go and Python 3.10 or later:
//
//	go -C dev run ./bed
//	NEXUS_BED=source go -C dev run ./bed   # compile in any case
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
	"context"
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
	schemas := flag.Bool("schemas", false, "download the schemas of all AWS resource types, too, for the tests that read them")
	flag.Parse()
	if err := run(*printOnly, *schemas); err != nil {
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

func run(printOnly, schemas bool) error {
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
	if schemas {
		if err := provideSchemas(context.Background(), dev, cache); err != nil { // most tests do without, and the others say so
			say("without the schemas of all AWS resource types: %v", err)
		}
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
	if err := provide(dev, temp); err != nil {
		return err
	}
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	return os.Rename(temp, dir)
}

// provide puts the programs of the control plane into out.
func provide(dev, out string) error {
	version, err := pinned(dev, kubernetes)
	if err != nil {
		return err
	}
	if err := linkKubectl(version, out); err != nil {
		return err
	}
	if os.Getenv("NEXUS_BED") != "source" {
		err := download(context.Background(), dev, out, releaseHosts)
		if err == nil {
			return nil
		}
		say("no released programs; compiling takes about five minutes instead: %v", err)
	}
	return buildAll(dev, out)
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

// complete reports whether dir holds every program, and whether those that run an installed one, kubectl and the emulator, still
// find it (the machine's owner may have removed it since).
func complete(dir string) bool {
	for _, p := range programs {
		if _, err := os.Stat(filepath.Join(dir, p.name)); err != nil {
			return false
		}
	}
	return usable(filepath.Join(dir, kubectl)) && usable(filepath.Join(dir, "moto_server"))
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
