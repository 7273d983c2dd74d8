// SPDX-License-Identifier: Apache-2.0

package programs

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nexus-operator/nexus-operator/internal/testkit/world"
)

// The embedded module is that of the source tree: make generate copies it.
func TestTheEmbeddedModuleIsThatOfTheTree(t *testing.T) {
	fresh := t.TempDir()
	if err := Copy(os.DirFS("../../../dev"), fresh); err != nil {
		t.Fatal(err)
	}
	files, err := module()
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	err = filepath.WalkDir(fresh, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		seen++
		name, _ := filepath.Rel(fresh, path)
		text, err := os.ReadFile(path)
		if embedded := files[strings.TrimSuffix(filepath.ToSlash(name), suffix)]; string(embedded) != string(text) {
			t.Errorf("%s differs from the embedded copy: run make generate", name)
		}
		return err
	})
	if err != nil || seen != len(files) || seen < 10 {
		t.Errorf("%d files in the tree, %d embedded: %v", seen, len(files), err)
	}
}

func TestCopy_RefusesAFolderWithoutTheBuilder(t *testing.T) {
	if err := Copy(os.DirFS(t.TempDir()), filepath.Join(t.TempDir(), "x")); err == nil ||
		!strings.Contains(err.Error(), "name the folder dev") {
		t.Errorf("got %v", err)
	}
}

// folderOfPrograms makes a folder with an empty file for each program, and an emulator that calls an interpreter.
func folderOfPrograms(t *testing.T, dir, python string) {
	t.Helper()
	for _, name := range []string{"etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubectl", "kwok", "moto_server.py"} {
		if err := write(dir, name, nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := write(dir, "moto_server", []byte("#!/bin/sh\nexec '"+python+"' -m moto.server \"$@\"\n")); err != nil {
		t.Fatal(err)
	}
}

func TestFind_ReturnsWhatTheTestBedUses(t *testing.T) {
	t.Setenv("NEXUS_BED_BIN", "")
	cache := t.TempDir()
	t.Setenv("NEXUS_CACHE", cache)
	want, err := world.BinDir() // its path, though nothing is built
	if err == nil || !strings.HasPrefix(want, cache) {
		t.Fatalf("got %q, %v", want, err)
	}
	from := Source{Cache: cache, Log: io.Discard}
	if got, err := from.Find(); got != "" || err != nil {
		t.Errorf("nothing is built: %q, %v", got, err)
	}
	python := filepath.Join(t.TempDir(), "python3")
	folderOfPrograms(t, want, python)
	if got, err := from.Find(); got != "" || err != nil {
		t.Errorf("the interpreter is gone: %q, %v", got, err)
	}
	if err := os.WriteFile(python, nil, 0o755); err != nil {
		t.Fatal(err)
	}
	if got, err := from.Find(); got != want || err != nil {
		t.Errorf("got %q, want %q, %v", got, want, err)
	}
}

// Another release of Go builds into another folder, which a later run finds without Go.
func TestFind_RemembersWhatAnotherGoHasBuilt(t *testing.T) {
	from := Source{Cache: t.TempDir(), Log: io.Discard}
	files, err := module()
	if err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(from.Cache, "bin", "other")
	folderOfPrograms(t, other, "/bin/sh")
	if err := write(from.sources(files), built, []byte(other)); err != nil {
		t.Fatal(err)
	}
	if got, err := from.Find(); got != other || err != nil {
		t.Errorf("got %q, want %q, %v", got, other, err)
	}
}

func TestExtract_WritesTheModuleOnce(t *testing.T) {
	files, err := module()
	if err != nil {
		t.Fatal(err)
	}
	root := filepath.Join(t.TempDir(), "source", "x")
	for range 2 {
		if err := extract(files, root); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range files {
		if got, err := os.ReadFile(filepath.Join(root, "dev", filepath.FromSlash(name))); string(got) != string(want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if names, err := os.ReadDir(filepath.Dir(root)); len(names) != 1 {
		t.Errorf("left behind: %v, %v", names, err)
	}
}
