// SPDX-License-Identifier: Apache-2.0

package world

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

// bedPrograms holds the programs that dev/bed builds into the cache.
var bedPrograms = [...]string{"etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubectl", "kwok", "moto_server",
	"moto_server.py"}

// BinDir returns the folder of the test bed's programs: $NEXUS_BED_BIN, or without it the place in the cache where `make bed` builds those
// that dev/go.mod pins.
func BinDir() (string, error) {
	if dir := os.Getenv("NEXUS_BED_BIN"); dir != "" {
		return dir, CheckBed(dir)
	}
	dev, err := DevDir()
	if err != nil {
		return "", err
	}
	cache, err := CacheDir()
	if err != nil {
		return "", err
	}
	key, err := BedKey(func(name string) ([]byte, error) { return os.ReadFile(filepath.Join(dev, filepath.FromSlash(name))) })
	if err != nil {
		return "", err
	}
	dir := filepath.Join(cache, "bin", key)
	return dir, CheckBed(dir)
}

// CheckBed returns an error unless a folder has every program of the test bed.
func CheckBed(dir string) error {
	for _, name := range bedPrograms {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			return fmt.Errorf("the test bed is not built: %s is missing; run `make bed` (or `go -C dev run ./bed`)", filepath.Join(dir, name))
		}
	}
	return nil
}

// DevDir finds the dev folder of the tree around the working directory (tests
// run in their package's folder).
func DevDir() (string, error) {
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
			return "", errors.New("not inside the source tree: set NEXUS_BED_BIN to the folder that `make bed` prints")
		}
		dir = parent
	}
}

// CacheDir returns the folder outside the tree that holds the programs.
func CacheDir() (string, error) {
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

// BedKey returns the name of the folder of the programs that the dev folder pins. The function read returns the files of the dev folder. It
// must return the same name as binKey in dev/bed; a test compares them.
func BedKey(read func(name string) ([]byte, error)) (string, error) {
	h := sha256.New()
	for _, name := range []string{"go.mod", "go.sum", "requirements.txt", "controlplane/main.go", "controlplane/kwok.go",
		"bed/moto_server.py"} {
		text, err := read(name)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(h, "%s %d\n%s", name, len(text), text)
	}
	toolchain, _, _ := strings.Cut(runtime.Version(), " ")
	fmt.Fprintf(h, "%s/%s %s\n", runtime.GOOS, runtime.GOARCH, toolchain)
	return hex.EncodeToString(h.Sum(nil))[:16], nil
}
