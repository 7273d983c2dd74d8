// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"k8s.io/cli-runtime/pkg/resource"
	"sigs.k8s.io/yaml"
)

// standardInput stands for the standard input where a file is named.
const standardInput = "-"

// textMistakes returns the mistakes in the text of local files that reading them as objects does not name well, or not at all: of a key that
// is set twice, the reader of Kubernetes takes the last one without a word.
func textMistakes(files *resource.FilenameOptions, stdin []byte) (map[string][]string, error) {
	out := map[string][]string{}
	for _, name := range files.Filenames {
		if name == standardInput {
			if found := mistakesIn(stdin); len(found) > 0 {
				out["standard input"] = found
			}
			continue
		}
		paths, err := manifestFiles(name, files.Recursive)
		if err != nil {
			return nil, err
		}
		for _, path := range paths {
			text, err := os.ReadFile(path)
			if err != nil {
				return nil, err
			}
			if found := mistakesIn(text); len(found) > 0 {
				out[path] = found
			}
		}
	}
	return out, nil
}

// manifestFiles returns the files that kubectl reads for a name. A URL has none.
func manifestFiles(name string, recursive bool) ([]string, error) {
	var out []string
	err := filepath.WalkDir(name, func(path string, d fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist) && path == name:
			return nil
		case err != nil:
			return err
		case d.IsDir() && path != name && !recursive:
			return fs.SkipDir
		case !d.IsDir() && (path == name || slices.Contains(resource.FileExtensions, filepath.Ext(path))):
			out = append(out, path)
		}
		return nil
	})
	return out, err
}

// mistakesIn returns the mistakes in the documents of one file, with their lines in the file.
func mistakesIn(text []byte) []string {
	var out []string
	first := 0 // lines before the document
	for _, document := range splitDocuments(text) {
		var content any
		switch err := yaml.UnmarshalStrict(document, &content); {
		case err != nil:
			out = append(out, yamlMistakes(err, first, text)...)
		case content == nil:
		default:
			object, is := content.(map[string]any)
			switch kind, _ := object["kind"].(string); {
			case !is:
				out = append(out, fmt.Sprintf("line %d: the document is no object: it has no fields", first+1))
			case kind == "":
				out = append(out, fmt.Sprintf("the object at line %d: kind: Required value", first+1))
			}
		}
		first += bytes.Count(document, []byte("\n"))
	}
	return out
}

// splitDocuments cuts a text before each line that begins a document.
func splitDocuments(text []byte) [][]byte {
	var out [][]byte
	var document []byte
	for line := range bytes.Lines(text) {
		if bytes.HasPrefix(line, []byte("---")) {
			out = append(out, document)
			document = nil
		}
		document = append(document, line...)
	}
	return append(out, document)
}

// lineInDocument matches one mistake of the YAML parser.
var lineInDocument = regexp.MustCompile(`line (\d+): (.*)`)

// yamlMistakes are the mistakes that the parser found in a document that begins after some lines of a text.
func yamlMistakes(err error, before int, text []byte) []string {
	found := lineInDocument.FindAllStringSubmatch(err.Error(), -1)
	if len(found) == 0 {
		return []string{strings.TrimPrefix(err.Error(), "error converting YAML to JSON: yaml: ")}
	}
	lines := bytes.Split(text, []byte("\n"))
	var out []string
	for _, m := range found {
		n, _ := strconv.Atoi(m[1])
		n += before
		mistake := strings.Replace(m[2], "already set in map", "is set twice", 1)
		if n <= len(lines) && strings.Contains(mistake, "cannot start any token") && bytes.HasPrefix(bytes.TrimLeft(lines[n-1], " "), []byte("\t")) {
			mistake = "the line is indented by a tab: use spaces"
		}
		out = append(out, fmt.Sprintf("line %d: %s", n, mistake))
	}
	return out
}
