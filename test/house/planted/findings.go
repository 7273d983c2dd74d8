// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// finding is a report of a linter, or one that a comment expects: then text is a part of the message.
type finding struct {
	file   string
	line   int
	linter string
	text   string
}

func (f finding) String() string {
	return fmt.Sprintf("%s:%d: %s: %s", f.file, f.line, f.linter, f.text)
}

// wantedIn returns what the comments of the Go files below a folder expect.
func wantedIn(folder string) ([]finding, error) {
	var out []finding
	err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".go" {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(folder, path)
		if err != nil {
			return err
		}
		found, err := wantedOf(filepath.ToSlash(rel), string(text))
		out = append(out, found...)
		return err
	})
	return out, err
}

// wantedOf returns what the comments of one file expect.
func wantedOf(file, text string) ([]finding, error) {
	var out []finding
	number := 0
	for line := range strings.Lines(text) {
		number++
		_, comment, ok := strings.Cut(strings.TrimSpace(line), "// want ")
		if !ok {
			continue
		}
		for _, one := range strings.Split(comment, " | ") {
			linter, message, ok := strings.Cut(one, ": ")
			if !ok {
				return nil, fmt.Errorf("%s:%d: %q is not <linter>: <part of the message>", file, number, one)
			}
			out = append(out, finding{file: file, line: number, linter: linter, text: message})
		}
	}
	return out, nil
}

// compare returns what is wanted and not found, and what is found and not wanted.
func compare(wanted, found []finding) []string {
	var out []string
	rest := slices.Clone(found)
	for _, w := range wanted {
		i := slices.IndexFunc(rest, func(f finding) bool {
			return f.file == w.file && f.line == w.line && f.linter == w.linter && strings.Contains(f.text, w.text)
		})
		if i < 0 {
			out = append(out, "not reported: "+w.String())
			continue
		}
		rest = slices.Delete(rest, i, i+1)
	}
	for _, f := range rest {
		out = append(out, "reported without need: "+f.String())
	}
	return out
}
