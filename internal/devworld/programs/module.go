// SPDX-License-Identifier: Apache-2.0

// Package programs finds the programs that a local world runs, and builds them with the Go and the Python of the machine:
// etcd, the Kubernetes control plane, kubectl, kwok and the AWS emulator moto. The module that pins and builds them is
// embedded, so that nexusctl needs no source tree for them.
package programs

import (
	"embed"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

//go:embed module
var embedded embed.FS

const (
	folder = "module"
	// suffix is that of the embedded files: Go embeds no go.mod, and builds no file that ends so.
	suffix = ".txt"
)

// module returns the files of the module, by the names that they have in the folder dev.
func module() (map[string][]byte, error) {
	files := map[string][]byte{}
	err := fs.WalkDir(embedded, folder, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := embedded.ReadFile(name)
		files[strings.TrimSuffix(strings.TrimPrefix(name, folder+"/"), suffix)] = text
		return err
	})
	return files, err
}

// Copy replaces the contents of a folder with the files of the folder dev that pin and build the programs.
func Copy(dev fs.FS, to string) error {
	if err := os.RemoveAll(to); err != nil {
		return err
	}
	names, err := fs.Glob(dev, "bed/*.go")
	if err != nil {
		return err
	}
	if len(names) == 0 {
		return fmt.Errorf("no bed/*.go: name the folder dev of the source tree")
	}
	names = append(names, "bed/moto_server.py", "controlplane/kwok.go", "controlplane/main.go", "go.mod", "go.sum", "requirements.txt")
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		text, err := fs.ReadFile(dev, name)
		if err != nil {
			return err
		}
		if err := write(to, name+suffix, text); err != nil {
			return err
		}
	}
	return nil
}

func write(root, name string, text []byte) error {
	file := filepath.Join(root, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil { //nolint:gosec // sources, for everyone
		return err
	}
	return os.WriteFile(file, text, 0o644) //nolint:gosec // sources, for everyone
}
