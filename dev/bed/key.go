// SPDX-License-Identifier: Apache-2.0

package main

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// The key and the folders are computed a second time in
// internal/testkit/world/bed.go, which lies in another module; a test there
// compares the two.

// findDev returns the dev folder of the tree that the working directory is in.
func findDev() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		dev := filepath.Join(dir, "dev")
		if _, err := os.Stat(filepath.Join(dev, "requirements.txt")); err == nil {
			return dev, nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", errors.New("run it inside the source tree: no dev/requirements.txt above the working directory")
		}
		dir = parent
	}
}

func cacheDir() (string, error) {
	if dir := os.Getenv("NEXUS_CACHE"); dir != "" {
		return filepath.Abs(dir)
	}
	if dir := os.Getenv("XDG_CACHE_HOME"); dir != "" {
		return filepath.Join(dir, "nexus-operator"), nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", err
	}
	return filepath.Join(home, ".cache", "nexus-operator"), nil
}

// binKey hashes what decides the content of the binaries: the pins, the
// platform and the toolchain.
func binKey(dev string) (string, error) {
	h := sha256.New()
	for _, name := range []string{"go.mod", "go.sum", "requirements.txt", "controlplane/main.go", "controlplane/kwok.go", "bed/moto_server.py"} {
		text, err := os.ReadFile(filepath.Join(dev, filepath.FromSlash(name)))
		if err != nil {
			return "", err
		}
		fmt.Fprintf(h, "%s %d\n%s", name, len(text), text)
	}
	toolchain, _, _ := strings.Cut(runtime.Version(), " ")
	fmt.Fprintf(h, "%s/%s %s\n", runtime.GOOS, runtime.GOARCH, toolchain)
	return hex.EncodeToString(h.Sum(nil))[:16], nil
}
