// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestEveryProgramIsPinned(t *testing.T) {
	dev, err := findDev()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range programs {
		if version, err := pinned(dev, p.module); err != nil || !strings.HasPrefix(version, "v") {
			t.Errorf("%s: %q, %v", p.name, version, err)
		}
	}
	if _, err := pinned(dev, "example.com/none"); err == nil {
		t.Error("a module that is not required has a version")
	}
}

func TestKubernetesIsStampedWithItsVersion(t *testing.T) {
	flags := ldflags("v1.35.4")
	for _, want := range []string{"k8s.io/component-base/version.gitVersion=v1.35.4", "k8s.io/client-go/pkg/version.gitMinor=35"} {
		if !strings.Contains(flags, want) {
			t.Errorf("%q lacks %s", flags, want)
		}
	}
}

func TestTheKeyFollowsThePins(t *testing.T) {
	dev := t.TempDir()
	write := func(name, text string) {
		path := filepath.Join(dev, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"go.mod", "go.sum", "requirements.txt", "controlplane/main.go", "controlplane/kwok.go", "bed/moto_server.py"} {
		write(name, "x")
	}
	key := func() string {
		k, err := binKey(dev)
		if err != nil {
			t.Fatal(err)
		}
		return k
	}
	first := key()
	if again := key(); again != first {
		t.Errorf("%s, then %s", first, again)
	}
	write("requirements.txt", "y")
	if key() == first {
		t.Error("another pin, the same key")
	}
}

func TestAnEmulatorWhoseInterpreterIsGoneIsNotUsable(t *testing.T) {
	dir := t.TempDir()
	for python, want := range map[string]bool{os.Args[0]: true, filepath.Join(dir, "gone"): false} {
		script, path := "#!/bin/sh\nexec '"+python+"' -m moto.server \"$@\"\n", filepath.Join(dir, "moto_server")
		if err := os.WriteFile(path, []byte(script), 0o755); err != nil {
			t.Fatal(err)
		}
		if got := usable(path); got != want {
			t.Errorf("%s: %v", python, got)
		}
	}
}

func TestWhatWasLeftUnfinishedIsRemoved(t *testing.T) {
	bin := t.TempDir()
	for _, name := range []string{unfinished + "1", "0123456789abcdef"} {
		if err := os.MkdirAll(filepath.Join(bin, name, "x"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := removeUnfinished(bin); err != nil {
		t.Fatal(err)
	}
	names, err := os.ReadDir(bin)
	if err != nil || len(names) != 1 || names[0].Name() != "0123456789abcdef" {
		t.Errorf("%v, %v", names, err)
	}
}

func TestSomethingMissingHasItsOwnExitCode(t *testing.T) {
	if code := exitCode(fmt.Errorf("preparing moto: %w", missingError("install Python"))); code != 4 {
		t.Errorf("exit code %d, want 4", code)
	}
	if code := exitCode(os.ErrNotExist); code != 1 {
		t.Errorf("exit code %d, want 1", code)
	}
}

func TestSchemas_ArePinned(t *testing.T) {
	dev, err := findDev()
	if err != nil {
		t.Fatal(err)
	}
	if version, err := pinnedPackage(dev, schemasPackage); err != nil || version == "" {
		t.Errorf("%q, %v", version, err)
	}
	if _, err := pinnedPackage(dev, "no-such-package"); err == nil {
		t.Error("a package that is not required has a version")
	}
}

// Without PyPI the bed is complete but for the schemas, which it does not wait for.
func TestSchemas_AreNotWaitedFor(t *testing.T) {
	dev, err := findDev()
	if err != nil {
		t.Fatal(err)
	}
	silent, err := net.Listen("tcp", "127.0.0.1:0") // accepts connections and says nothing
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	for name, address := range map[string]string{"refused": "127.0.0.1:1", "silent": silent.Addr().String()} {
		t.Setenv("PIP_INDEX_URL", "http://"+address+"/simple")
		t.Setenv("PIP_CONFIG_FILE", os.DevNull)
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		err := provideSchemas(ctx, dev, t.TempDir())
		if err == nil || ctx.Err() != nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, %v", name, err, ctx.Err())
		}
		cancel()
	}
}
