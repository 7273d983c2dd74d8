// SPDX-License-Identifier: Apache-2.0

// Package awstypes reads the schemas that AWS publishes of its resource types: all of them from the wheel of cfn-lint, which `make bed`
// downloads in the version that dev/requirements.txt pins, and a few from an excerpt that is part of the source tree, so that most
// tests do not need the wheel.
package awstypes

import (
	"archive/zip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"

	"github.com/nexus-operator/nexus-operator/internal/awsschema/bundled"
	"github.com/nexus-operator/nexus-operator/internal/testkit/world"
)

// folder of the wheel contains the schemas, and the list of the types of each region with the name of the file of each.
const folder = "cfnlint/data/schemas/"

// Types are the resource types of one region. They are safe for concurrent use.
type Types struct {
	archive *zip.ReadCloser
	files   map[string]string
	excerpt map[string]json.RawMessage // without an archive
	bundled *bundled.Bundle            // instead of both
}

// Open returns all types of a region, which needs the wheel.
func Open(region string) (*Types, error) {
	wheel, err := wheel()
	if err != nil {
		return nil, err
	}
	archive, err := zip.OpenReader(wheel)
	if err != nil {
		return nil, fmt.Errorf("the schemas of all AWS resource types are missing: run `make bed` where PyPI can be reached: %w", err)
	}
	t := &Types{archive: archive}
	text, err := t.read("providers/" + region + ".json")
	if err == nil {
		err = json.Unmarshal(text, &t.files)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("types of %s: %w", region, err), archive.Close())
	}
	return t, nil
}

// Close closes the archive.
func (t *Types) Close() error {
	if t.archive == nil {
		return nil
	}
	return t.archive.Close()
}

// Names returns the names of all types in order, such as AWS::Kinesis::Stream.
func (t *Types) Names() []string {
	switch {
	case t.bundled != nil:
		return slices.Clone(t.bundled.Types)
	case t.archive == nil:
		return slices.Sorted(maps.Keys(t.excerpt))
	}
	return slices.Sorted(maps.Keys(t.files))
}

// Schema returns the schema of a type; nil for a type that the region, or the excerpt, does not have.
func (t *Types) Schema(name string) ([]byte, error) {
	switch {
	case t.bundled != nil:
		return t.bundled.Schema(name)
	case t.archive == nil:
		return t.excerpt[name], nil
	}
	file, ok := t.files[name]
	if !ok {
		return nil, nil
	}
	return t.read("resources/" + file + ".json")
}

func (t *Types) read(name string) ([]byte, error) {
	f, err := t.archive.Open(folder + name)
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(f)
	return text, errors.Join(err, f.Close())
}

// pin is the line of the package in requirements.txt.
var pin = regexp.MustCompile(`(?m)^cfn-lint==(\S+)$`)

// pinned returns the version of the package.
func pinned() (string, error) {
	dev, err := world.DevDir()
	if err != nil {
		return "", err
	}
	text, err := os.ReadFile(filepath.Join(dev, "requirements.txt"))
	if err != nil {
		return "", err
	}
	version := pin.FindSubmatch(text)
	if version == nil {
		return "", errors.New("dev/requirements.txt does not pin cfn-lint")
	}
	return string(version[1]), nil
}

// wheel returns the path of the wheel.
func wheel() (string, error) {
	version, err := pinned()
	if err != nil {
		return "", err
	}
	cache, err := world.CacheDir()
	return filepath.Join(cache, "schemas", "cfn_lint-"+version+"-py3-none-any.whl"), err
}
