// SPDX-License-Identifier: Apache-2.0

package image

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// Engines are the programs that build from a Dockerfile, the preferred one first.
var Engines = []string{"docker", "podman", "buildah"}

// NoProgramError says that none of the wanted programs is on the PATH.
type NoProgramError struct{ Wanted []string }

// Error implements error.
func (e *NoProgramError) Error() string {
	return strings.Join(e.Wanted, ", ") + ": not found on the PATH"
}

// FindProgram returns the first of the named programs that is on the PATH. The error is a *NoProgramError.
func FindProgram(names ...string) (string, error) {
	for _, name := range names {
		if _, err := exec.LookPath(name); err == nil {
			return name, nil
		}
	}
	return "", &NoProgramError{Wanted: names}
}

// interruptDelay is the time that an engine has to clean up after an interruption.
const interruptDelay = 10 * time.Second

// App is an application's image that an engine builds.
type App struct {
	// Engine is one of Engines.
	Engine string
	// Dir is the build context, and File the Dockerfile; empty for the one in Dir.
	Dir, File string
	// Platforms lists the platforms to build for; none stands for the engine's own.
	Platforms []v1.Platform
	// Args are build arguments, as KEY=VALUE.
	Args []string
	// Log gets the output of the engine.
	Log io.Writer
}

// Build has the engine build the image, under this name in its own store. The caller closes the result.
func (a App) Build(ctx context.Context, name string) (*Built, error) {
	dir, err := os.MkdirTemp("", "nexus-image-")
	if err != nil {
		return nil, err
	}
	built := &Built{Name: name, dir: dir}
	if built.Content, err = a.build(ctx, name, dir); err != nil {
		built.Close()
		return nil, err
	}
	return built, nil
}

func (a App) build(ctx context.Context, name, dir string) (Content, error) {
	if len(a.Platforms) == 0 {
		return a.archive(ctx, name, filepath.Join(dir, "image.tar"), nil)
	}
	var images []v1.Image
	for _, p := range a.Platforms {
		tag := name
		if len(a.Platforms) > 1 {
			tag += "-" + strings.ReplaceAll(p.String(), "/", "-")
		}
		image, err := a.archive(ctx, tag, filepath.Join(dir, strings.ReplaceAll(p.String(), "/", "-")+".tar"), &p)
		if err != nil {
			return nil, err
		}
		images = append(images, image)
	}
	return together(images)
}

// together is one image as it is, or an index over several.
func together(images []v1.Image) (Content, error) {
	if len(images) == 1 {
		return images[0], nil
	}
	index := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	for _, image := range images {
		config, err := image.ConfigFile()
		if err != nil {
			return nil, err
		}
		index = addPlatform(index, image, v1.Platform{OS: config.OS, Architecture: config.Architecture, Variant: config.Variant})
	}
	return index, nil
}

// archive builds for one platform and reads the image from an archive, the one form that every engine writes.
func (a App) archive(ctx context.Context, tag, path string, p *v1.Platform) (v1.Image, error) {
	build := []string{"build", "--tag", tag}
	if p != nil {
		build = append(build, "--platform", p.String())
	}
	if a.File != "" {
		build = append(build, "--file", a.File)
	}
	for _, arg := range a.Args {
		build = append(build, "--build-arg", arg)
	}
	save := map[string][]string{
		"docker":  {"save", "--output", path, tag},
		"podman":  {"save", "--format", "docker-archive", "--output", path, tag},
		"buildah": {"push", tag, "docker-archive:" + path + ":" + tag},
	}[a.Engine]
	for _, args := range [][]string{append(build, a.Dir), save} {
		command := exec.CommandContext(ctx, a.Engine, args...)
		command.Stdout, command.Stderr = a.Log, a.Log
		command.Cancel = func() error { return command.Process.Signal(os.Interrupt) } // so that the engine cleans up
		command.WaitDelay = interruptDelay
		if err := command.Run(); err != nil {
			return nil, errors.Join(ctx.Err(), fmt.Errorf("%s %s: %w", a.Engine, args[0], err))
		}
	}
	image, err := tarball.ImageFromPath(path, nil)
	if err != nil {
		return nil, fmt.Errorf("reading what %s saved: %w", a.Engine, err)
	}
	return image, matches(image, p)
}

// matches refuses an image for another platform than the one that was asked for.
func matches(image v1.Image, p *v1.Platform) error {
	config, err := image.ConfigFile()
	if err != nil || p == nil {
		return err
	}
	if have := (v1.Platform{OS: config.OS, Architecture: config.Architecture, Variant: config.Variant}); config.OS != p.OS ||
		config.Architecture != p.Architecture {
		return fmt.Errorf("the engine built for %s instead of %s: its base image may have no other platform", have, p)
	}
	return nil
}
