// SPDX-License-Identifier: Apache-2.0

package image

import (
	"archive/tar"
	"bytes"
	"context"
	"debug/buildinfo"
	"debug/elf"
	"encoding/pem"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/crypto/x509roots/fallback/bundle"

	"github.com/nexus-operator/nexus-operator/internal/buildflags"
)

const (
	binaryPath = "nexus-operator"
	// certificatesPath is the first path that Go's crypto/x509 looks at on Linux.
	certificatesPath = "etc/ssl/certs/ca-certificates.crt"
)

// file is a file of the image; its path has no leading slash.
type file struct {
	path string
	mode int64
	data []byte
}

// files returns the files of the image, in the order of their paths.
func (s Source) files(ctx context.Context, release, arch string) ([]file, error) {
	var binary []byte
	var err error
	if len(s.Binaries) > 0 {
		binary, err = readBinary(s.Binaries[arch], arch)
	} else {
		binary, err = compile(ctx, s.Tree, release, arch)
	}
	if err != nil {
		return nil, err
	}
	return []file{{certificatesPath, 0o644, certificates()}, {binaryPath, 0o755, binary}}, nil
}

// command is the package that the operator's binary is built from.
const command = "/cmd/nexus-operator"

// machines are the architectures as Go and as ELF name them.
var machines = map[string]elf.Machine{"amd64": elf.EM_X86_64, "arm64": elf.EM_AARCH64}

// readBinary reads a binary that was built before, and refuses one that could not run in the image.
func readBinary(path, arch string) ([]byte, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	f, err := elf.NewFile(bytes.NewReader(text))
	if err != nil || f.Machine != machines[arch] {
		return nil, fmt.Errorf("%s is no Linux executable for %s: build it with GOOS=linux GOARCH=%s", path, arch, arch)
	}
	info, err := buildinfo.Read(bytes.NewReader(text))
	if err != nil || !strings.HasSuffix(info.Path, command) {
		return nil, fmt.Errorf("%s is not the operator: build .%s", path, command)
	}
	if slices.ContainsFunc(f.Progs, func(p *elf.Prog) bool { return p.Type == elf.PT_INTERP }) {
		return nil, fmt.Errorf("%s is linked to libraries, which the image does not have: build it with CGO_ENABLED=0", path)
	}
	return text, nil
}

// compile builds the operator for the image.
func compile(ctx context.Context, root, release, arch string) ([]byte, error) {
	dir, err := os.MkdirTemp("", "nexus-image-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }() // a temporary folder
	output := filepath.Join(dir, "nexus-operator")
	if err := (Program{Tree: root, Command: command, Release: release}).Build(ctx, output, "linux", arch); err != nil {
		return nil, err
	}
	return os.ReadFile(output)
}

// BuildOperator builds the operator for this machine from a source tree.
func BuildOperator(ctx context.Context, tree, output string) error {
	release, err := version(tree)
	if err == nil {
		err = Program{Tree: tree, Command: command, Release: release}.build(ctx, output)
	}
	if err != nil {
		return fmt.Errorf("building the operator in %s: %w", tree, err)
	}
	return nil
}

// Program is a command that is built from a source tree.
type Program struct {
	// Tree is the root of the source tree, and Command the folder of the command in it, such as /cmd/nexusctl.
	Tree, Command string
	// Release is the version that the program reports.
	Release string
}

// Build builds the program for an operating system and an architecture, as a static binary without symbols, paths or build ids:
// the same tree, release and version of Go give the same bytes.
func (p Program) Build(ctx context.Context, output, system, arch string) error {
	if err := p.build(ctx, output, "GOOS="+system, "GOARCH="+arch, "GOAMD64=v1", "GOARM64=v8.0"); err != nil {
		return fmt.Errorf("building .%s for %s/%s: %w", p.Command, system, arch, err)
	}
	return nil
}

func (p Program) build(ctx context.Context, output string, env ...string) error {
	args := append([]string{"build", "-trimpath", "-ldflags=-s -w -buildid= -X main.version=" + p.Release, "-o", output}, buildflags.All()...)
	build := exec.CommandContext(ctx, "go", append(args, "."+p.Command)...)
	build.Dir = p.Tree
	build.Env = append(append(build.Environ(), "CGO_ENABLED=0", "GOFLAGS=", "GOEXPERIMENT=", "GOWORK=off"), env...)
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	return nil
}

// certificates returns the roots that Mozilla trusts without conditions, as PEM: a file cannot hold the conditions.
func certificates() []byte {
	var out bytes.Buffer
	for root := range bundle.Roots() {
		if root.Constraint == nil {
			_ = pem.Encode(&out, &pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate}) // a Buffer takes everything
		}
	}
	return out.Bytes()
}

// archive returns a tar archive of files and their folders. All of them belong to root and have no time.
func archive(files []file) ([]byte, error) {
	var out bytes.Buffer
	w, made := tar.NewWriter(&out), map[string]bool{}
	for _, f := range files {
		for i, c := range f.path {
			folder := f.path[:i] + "/"
			if c != '/' || made[folder] {
				continue
			}
			made[folder] = true
			if err := w.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: folder, Mode: 0o755, Format: tar.FormatUSTAR}); err != nil {
				return nil, err
			}
		}
		if err := w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: f.path, Mode: f.mode, Size: int64(len(f.data)),
			Format: tar.FormatUSTAR}); err != nil {
			return nil, err
		}
		if _, err := w.Write(f.data); err != nil {
			return nil, err
		}
	}
	err := w.Close()
	return out.Bytes(), err
}

// writeFiles writes files below a folder.
func writeFiles(dir string, files []file) error {
	for _, f := range files {
		path := filepath.Join(dir, filepath.FromSlash(f.path))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, f.data, os.FileMode(f.mode)); err != nil {
			return err
		}
	}
	return nil
}

// version returns the version of the product, which the chart states.
func version(root string) (string, error) {
	text, err := os.ReadFile(filepath.Join(root, "charts/nexus-operator/Chart.yaml"))
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(string(text)) {
		if v, ok := strings.CutPrefix(line, "appVersion: "); ok {
			return strings.Trim(strings.TrimSpace(v), `"`), nil
		}
	}
	return "", fmt.Errorf("the chart in %s has no appVersion", root)
}
