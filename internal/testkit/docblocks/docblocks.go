// SPDX-License-Identifier: Apache-2.0

// Package docblocks finds the fenced blocks of the documentation: the commands that a reader types, and the manifests that a reader
// applies.
package docblocks

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

// Block is a fenced block of a page.
type Block struct {
	// Page is the path of the page below the root of the tree, Line that of the block's first line.
	Page string
	Line int
	// Language is the word after the fence, Info the rest of that line.
	Language, Info, Text string
}

// Manifest is a document of YAML, of a page or of a file among the examples.
type Manifest struct {
	// Place says where it stands.
	Place, Text string
}

// Pages returns the blocks of the README and of all pages below docs of the tree at root. The pages of decisions and designs are not among
// them: they sketch the decisions of their time.
func Pages(root string) ([]Block, error) {
	pages := []string{"README.md"}
	err := filepath.WalkDir(filepath.Join(root, "docs"), func(path string, _ fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, ".md") && !slices.Contains([]string{"adr", "design"}, filepath.Base(filepath.Dir(path))) {
			page, _ := filepath.Rel(root, path)
			pages = append(pages, page)
		}
		return err
	})
	var out []Block
	for _, page := range pages {
		text, e := os.ReadFile(filepath.Join(root, page))
		if e != nil {
			return nil, e
		}
		out = append(out, Of(page, string(text))...)
	}
	return out, err
}

// Inline is the language of a command within a sentence, which may be without the arguments that a reader adds.
const Inline = "inline"

var inline = regexp.MustCompile("`((?:nexusctl|kubectl|make|nexus-operator) [^`]+)`")

var fence = regexp.MustCompile("^( *)```(\\S*) *(.*)")

// Of returns the blocks of one page, without the indentation of their fences.
func Of(page, text string) []Block {
	var out []Block
	open, indent := false, ""
	for i, line := range strings.Split(text, "\n") {
		m := fence.FindStringSubmatch(line)
		switch {
		case m == nil && !open:
			for _, c := range inline.FindAllStringSubmatch(line, -1) {
				out = append(out, Block{Page: page, Line: i + 1, Language: Inline, Text: c[1]})
			}
		case m != nil && !open:
			open, indent = true, m[1]
			out = append(out, Block{Page: page, Line: i + 2, Language: m[2], Info: strings.TrimSpace(m[3])})
		case m != nil:
			open = false
		case open:
			out[len(out)-1].Text += strings.TrimPrefix(line, indent) + "\n"
		}
	}
	return out
}

// Commands returns the commands of a block: all of a block of shell, and those after the prompt of a transcript.
func (b Block) Commands() []Command {
	switch b.Language {
	case "sh", Inline:
		return Shell(b.Text, b.Line)
	case "console":
		var out []Command
		for i, line := range strings.Split(b.Text, "\n") {
			if typed, ok := strings.CutPrefix(strings.TrimSpace(line), "$ "); ok {
				out = append(out, Shell(typed, b.Line+i)...)
			}
		}
		return out
	default:
		return nil
	}
}

// Manifests returns the documents of the blocks of YAML, and those that commands apply from their standard input.
func Manifests(blocks []Block) []Manifest {
	var out []Manifest
	for _, b := range blocks {
		place := fmt.Sprintf("%s:%d", b.Page, b.Line)
		if b.Language == "yaml" {
			out = append(out, documents(place, b.Text)...)
		}
		for _, c := range b.Commands() {
			if strings.HasPrefix(c.Input, "apiVersion:") {
				out = append(out, documents(place, c.Input)...)
			}
		}
	}
	return out
}

// Examples returns the documents of all files of YAML below a folder of the tree at root.
func Examples(root, folder string) ([]Manifest, error) {
	var out []Manifest
	err := filepath.WalkDir(filepath.Join(root, folder), func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".yaml") {
			return err
		}
		text, err := os.ReadFile(path)
		place, _ := filepath.Rel(root, path)
		out = append(out, documents(place, string(text))...)
		return err
	})
	return out, err
}

// documents divides a text of YAML; documents of comments alone are none.
func documents(place, text string) []Manifest {
	var out []Manifest
	for _, d := range regexp.MustCompile(`(?m)^---\s*$`).Split(text, -1) {
		if regexp.MustCompile(`(?m)^[^#\s]`).MatchString(d) {
			out = append(out, Manifest{Place: place, Text: d})
		}
	}
	return out
}

// ChartValues returns the values of the chart that the block holds, and whether it holds some: its first line says so.
func (m Manifest) ChartValues() (map[string]any, bool, error) {
	if !strings.HasPrefix(m.Text, "# values of the chart\n") {
		return nil, false, nil
	}
	out := map[string]any{}
	return out, true, yaml.UnmarshalStrict([]byte(m.Text), &out)
}

// Whole returns the manifest, and completes one that is a part of the specification of a capability.
func (m Manifest) Whole() (string, error) {
	part := map[string]any{}
	if err := yaml.UnmarshalStrict([]byte(m.Text), &part); err != nil {
		return "", err
	}
	if _, isManifest := part["kind"]; isManifest {
		return m.Text, nil
	}
	spec, _ := part["spec"].(map[string]any)
	if spec == nil {
		return "", errors.New("neither a manifest, nor a spec of a capability, nor marked as values of the chart")
	}
	whole := map[string]any{"capabilityName": "myapp", "environment": "dev", "version": "1.0.0",
		"frontend": map[string]any{"replicas": 1, "image": "registry.example/a:1"},
		"backend":  map[string]any{"replicas": 1, "image": "registry.example/b:1"}}
	for key, value := range spec {
		whole[key] = value
	}
	out, err := yaml.Marshal(map[string]any{"apiVersion": "nexus.ai/v1", "kind": "NexusAICapability",
		"metadata": map[string]any{"name": "myapp-dev"}, "spec": whole})
	return string(out), err
}
