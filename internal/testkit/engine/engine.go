// SPDX-License-Identifier: Apache-2.0

// Package engine is a small container engine for tests on machines without one: it takes the command lines of docker, podman and
// buildah, keeps images, and writes them as archives. An image is one layer with the build context.
package engine

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

// variable names the folder with the images of an engine; a test binary with it in its environment is that engine.
const variable = "NEXUS_TEST_ENGINE"

// Main runs the engine and ends, if the test binary was started as one. Call it first in TestMain.
func Main() {
	store := os.Getenv(variable)
	if store == "" {
		return
	}
	if err := run(store, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "engine:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

// Install puts an engine under a name into a folder, and returns the folder for the PATH. Its images and the log of its
// command lines are in there too.
func Install(t testing.TB, called string) string {
	t.Helper()
	dir := t.TempDir()
	own, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	script := "#!/bin/sh\n" + variable + "='" + dir + "' exec '" + own + "' \"$@\"\n"
	if err := os.WriteFile(filepath.Join(dir, called), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

// Log returns the command lines that an installed engine was given.
func Log(t testing.TB, dir string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "log"))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func run(store string, args []string) error {
	log, err := os.OpenFile(filepath.Join(store, "log"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(log, strings.Join(args, " "))
	if err := errors.Join(err, log.Close()); err != nil {
		return err
	}
	options := map[string]string{}
	var rest []string
	for i := 1; i < len(args); i++ {
		if strings.HasPrefix(args[i], "--") && i+1 < len(args) {
			options[args[i]] = args[i+1]
			i++
			continue
		}
		rest = append(rest, args[i])
	}
	switch {
	case args[0] == "build" && len(rest) == 1:
		return build(store, rest[0], options)
	case args[0] == "save" && len(rest) == 1:
		return save(store, rest[0], options["--output"])
	case args[0] == "push" && len(rest) == 2:
		path := strings.TrimSuffix(strings.TrimPrefix(rest[1], "docker-archive:"), ":"+rest[0])
		return save(store, rest[0], path)
	default:
		return fmt.Errorf("unknown command %q", args)
	}
}

func stored(store, tag string) string {
	return filepath.Join(store, strings.NewReplacer("/", "_", ":", "_").Replace(tag)+".tar")
}

func build(store, dir string, options map[string]string) error {
	file := options["--file"]
	if file == "" {
		file = filepath.Join(dir, "Dockerfile")
	}
	if _, err := os.Stat(file); err != nil {
		return err
	}
	layer, err := layerOf(dir)
	if err != nil {
		return err
	}
	image, err := mutate.AppendLayers(empty.Image, layer)
	if err != nil {
		return err
	}
	platform := &v1.Platform{OS: "linux", Architecture: "amd64"}
	if text := options["--platform"]; text != "" {
		if platform, err = v1.ParsePlatform(text); err != nil {
			return err
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "only-amd64")); err == nil {
		platform.Architecture = "amd64"
	}
	config, err := image.ConfigFile()
	if err != nil {
		return err
	}
	config = config.DeepCopy()
	config.OS, config.Architecture = platform.OS, platform.Architecture
	config.Config.Env = []string{options["--build-arg"]}
	if image, err = mutate.ConfigFile(image, config); err != nil {
		return err
	}
	tag, err := name.NewTag(options["--tag"])
	if err != nil {
		return err
	}
	return tarball.WriteToFile(stored(store, options["--tag"]), tag, image)
}

func save(store, tag, path string) error {
	text, err := os.ReadFile(stored(store, tag))
	if err != nil {
		return err
	}
	return os.WriteFile(path, text, 0o600)
}

func layerOf(dir string) (v1.Layer, error) {
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	if err := errors.Join(w.AddFS(os.DirFS(dir)), w.Close()); err != nil {
		return nil, err
	}
	return tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(out.Bytes())), nil })
}
