// SPDX-License-Identifier: Apache-2.0

package programs

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/nexus-operator/nexus-operator/internal/osproc"
	"github.com/nexus-operator/nexus-operator/internal/testkit/world"
)

// MissingError is something that a person must install before the programs can be built.
type MissingError struct{ Remedy string }

// Error implements error.
func (e *MissingError) Error() string { return e.Remedy }

// Source says where programs come from.
type Source struct {
	// Cache is the folder that programs are kept in.
	Cache string
	// Folder has programs that were built elsewhere; empty: those of the cache.
	Folder string
	// Log receives the progress of a build.
	Log io.Writer
}

// Find returns the folder of the programs; it is empty when they must be built first.
func (s Source) Find() (string, error) {
	if s.Folder != "" {
		return s.Folder, world.CheckBed(s.Folder)
	}
	files, err := module()
	if err != nil {
		return "", err
	}
	key, err := world.BedKey(func(name string) ([]byte, error) { return files[name], nil })
	if err != nil {
		return "", err
	}
	built, err := os.ReadFile(filepath.Join(s.sources(files), built))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	for _, dir := range []string{filepath.Join(s.Cache, "bin", key), string(built)} {
		if dir != "" && complete(dir) {
			return dir, nil
		}
	}
	return "", nil
}

// complete reports whether a folder has every program, and the emulator's interpreter is still installed.
func complete(dir string) bool {
	if world.CheckBed(dir) != nil {
		return false
	}
	script, err := os.ReadFile(filepath.Join(dir, "moto_server"))
	parts := strings.Split(string(script), "'")
	if err != nil || len(parts) < 3 {
		return err == nil
	}
	_, err = os.Stat(parts[1])
	return err == nil
}

const (
	// built names the file with the folder of the programs that a release of Go other than this program's has built.
	built = "built"
	// exitMissing is the exit code of dev/bed when something must be installed.
	exitMissing = 4
)

// sources is the folder of the extracted module, named after its contents.
func (s Source) sources(files map[string][]byte) string {
	h := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(files)) {
		_, _ = fmt.Fprintf(h, "%s %d\n%s", name, len(files[name]), files[name]) // a hash takes everything
	}
	return filepath.Join(s.Cache, "source", hex.EncodeToString(h.Sum(nil))[:16])
}

// Build builds the programs into the cache, unless they are there, and returns their folder. A missing Go or Python is a
// *MissingError.
func (s Source) Build(ctx context.Context) (string, error) {
	if _, err := exec.LookPath("go"); err != nil {
		return "", &MissingError{"install Go 1.26 or later (https://go.dev/doc/install): the control plane is built with it"}
	}
	files, err := module()
	if err != nil {
		return "", err
	}
	root := s.sources(files)
	if err := extract(files, root); err != nil {
		return "", err
	}
	dev := filepath.Join(root, "dev")
	if out, err := s.command(ctx, dev, "go", "env", "GOVERSION").CombinedOutput(); err != nil {
		return "", orInterrupted(ctx,
			&MissingError{fmt.Sprintf("install Go 1.26 or later (https://go.dev/doc/install): %s", bytes.TrimSpace(out))})
	}
	builder := filepath.Join(root, "bed")
	compile := s.command(ctx, dev, "go", "build", "-buildvcs=false", "-o", builder, "./bed")
	compile.Stdout, compile.Stderr = s.Log, s.Log
	if err := compile.Run(); err != nil {
		return "", orInterrupted(ctx, fmt.Errorf("building the builder of the programs in %s: %w", dev, err))
	}
	dir, err := s.runBuilder(ctx, dev, builder)
	if err != nil {
		return "", orInterrupted(ctx, err)
	}
	return dir, os.WriteFile(filepath.Join(root, built), []byte(dir), 0o600)
}

func (s Source) runBuilder(ctx context.Context, dev, builder string) (string, error) {
	var out, errs bytes.Buffer
	cmd := s.command(ctx, dev, builder)
	cmd.Stdout, cmd.Stderr = &out, io.MultiWriter(s.Log, &errs)
	err := cmd.Run()
	if exit, failed := errors.AsType[*exec.ExitError](err); failed && exit.ExitCode() == exitMissing {
		lines := strings.Split(strings.TrimSpace(errs.String()), "\n")
		return "", &MissingError{strings.TrimPrefix(lines[len(lines)-1], "bed: ")}
	}
	if err != nil {
		return "", fmt.Errorf("building the programs of the local world: %w", err)
	}
	return strings.TrimSpace(out.String()), nil
}

// builderFlags gives the builder the flags that it gives to the control plane, so that the standard library is compiled once.
const builderFlags = "-buildvcs=false -trimpath -gcflags=all=-dwarf=false"

// command is a program that works in the extracted module, whatever the settings of the user's own Go modules are. An
// interruption ends it with all that it has started.
func (s Source) command(ctx context.Context, dir, program string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir = dir
	cmd.Env = append(cmd.Environ(), "NEXUS_CACHE="+s.Cache, "GOFLAGS="+builderFlags, "GOWORK=off")
	cmd.SysProcAttr = osproc.Group()
	cmd.Cancel = func() error { return osproc.TerminateGroup(cmd.Process.Pid) }
	cmd.WaitDelay = 10 * time.Second
	return cmd
}

// orInterrupted prefers the end of the context to an error that it has caused.
func orInterrupted(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

// extract writes the module into a folder that appears at once.
func extract(files map[string][]byte, root string) error {
	if _, err := os.Stat(root); err == nil {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(root), 0o755); err != nil { //nolint:gosec // sources, for everyone
		return err
	}
	temp, err := os.MkdirTemp(filepath.Dir(root), ".new-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(temp) }() // nothing is there after the rename
	for name, text := range files {
		if err := write(filepath.Join(temp, "dev"), name, text); err != nil {
			return err
		}
	}
	if err := os.Rename(temp, root); err != nil {
		if _, there := os.Stat(root); there == nil { // another run was faster
			return nil
		}
		return err
	}
	return nil
}
