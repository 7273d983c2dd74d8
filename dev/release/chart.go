// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// chartFolder is the chart in the source tree.
const chartFolder = "charts/nexus-operator"

// installNamespace is the namespace of the released manifests.
const installNamespace = "nexus-system"

// addChart packs the chart with the version of the release, and renders the manifests from it.
func (r *release) addChart(ctx context.Context, work string) error {
	files, err := r.chartFiles()
	if err != nil {
		return err
	}
	var packed []packedFile
	for _, f := range files {
		packed = append(packed, packedFile{"nexus-operator/" + f.name, f.mode, f.content})
	}
	name := "nexus-operator-" + r.version + ".tgz"
	archive, err := pack(name, r.time, packed)
	if err != nil {
		return err
	}
	r.file(name, archive)
	manifests, err := r.render(ctx, archive, work)
	if err != nil {
		return err
	}
	all, definitions := splitManifests(string(manifests))
	r.file("nexus-operator-"+r.version+".yaml", []byte(all))
	r.file("nexus-operator-"+r.version+"-crds.yaml", []byte(definitions))
	return nil
}

// chartFiles returns the files of the chart, Chart.yaml first as Helm packs it, with the version and the image of the release.
func (r *release) chartFiles() ([]packedFile, error) {
	root := filepath.Join(r.root, chartFolder)
	var files []packedFile
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		name = filepath.ToSlash(name)
		if content, err = r.stamp(name, content); err == nil {
			files = append(files, packedFile{name, 0o644, content})
		}
		return err
	})
	first := func(f packedFile) string { return strings.TrimPrefix(f.name, "Chart.yaml") }
	slices.SortFunc(files, func(a, b packedFile) int { return strings.Compare(first(a), first(b)) })
	return files, err
}

// stamps are the lines of the chart that a release sets.
var stamps = map[string]map[string]*regexp.Regexp{
	"Chart.yaml": {
		"version: ":    regexp.MustCompile(`(?m)^version: .*$`),
		"appVersion: ": regexp.MustCompile(`(?m)^appVersion: .*$`),
	},
	"values.yaml": {"  repository: ": regexp.MustCompile(`(?m)^  repository: .*$`)},
}

// stamp sets the version, and the repository if one is given.
func (r *release) stamp(name string, content []byte) ([]byte, error) {
	value := r.version
	if name == "values.yaml" {
		value = r.repository
	}
	if value == "" {
		return content, nil
	}
	for key, line := range stamps[name] {
		if n := len(line.FindAll(content, -1)); n != 1 {
			return nil, fmt.Errorf("%s has %d lines %q, want 1", name, n, key)
		}
		content = line.ReplaceAllLiteral(content, []byte(key+value))
	}
	return content, nil
}

// render returns what the packed chart installs, as manifests/ is rendered. The module dev/chart has Helm as a library.
func (r *release) render(ctx context.Context, archive []byte, work string) ([]byte, error) {
	// The renderer expects the chart at this place of a tree, as a folder or packed.
	stage := filepath.Join(work, "stage")
	path := filepath.Join(stage, chartFolder)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, err
	}
	if err := os.WriteFile(path, archive, 0o600); err != nil {
		return nil, err
	}
	root, err := filepath.Abs(r.root)
	if err != nil {
		return nil, err
	}
	command := exec.CommandContext(ctx, "go", "-C", filepath.Join(root, "dev/chart"), "run", ".", "render", stage, installNamespace,
		filepath.Join(root, "config/default/values.yaml"))
	command.Stderr = r.log
	out, err := command.Output()
	if err != nil {
		return nil, fmt.Errorf("rendering the chart: %w", err)
	}
	return out, nil
}

// splitManifests returns all objects as one file, and the definitions alone.
func splitManifests(text string) (all, definitions string) {
	var only []string
	for document := range strings.SplitSeq(text, "---\n") {
		if strings.Contains(document, "\nkind: CustomResourceDefinition\n") {
			only = append(only, document)
		}
	}
	return text, strings.Join(only, "---\n")
}
