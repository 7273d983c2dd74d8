// SPDX-License-Identifier: Apache-2.0

package awstypes

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/nexus-operator/nexus-operator/internal/awsschema/bundled"
)

// MakeBundle returns the archive of package bundled, made from the wheel: the types of all regions, without their descriptions.
func MakeBundle() ([]byte, error) {
	version, err := pinned()
	if err != nil {
		return nil, err
	}
	all, err := Open("us-east-1")
	if err != nil {
		return nil, err
	}
	out, err := all.bundle("cfn-lint " + version)
	return out, errors.Join(err, all.Close())
}

func (t *Types) bundle(source string) ([]byte, error) {
	if err := t.addRegions(); err != nil {
		return nil, err
	}
	files := map[string]map[string]json.RawMessage{}
	for _, name := range t.Names() {
		text, err := t.Schema(name)
		if err != nil {
			return nil, err
		}
		file := bundled.FileOf(name)
		if files[file] == nil {
			files[file] = map[string]json.RawMessage{}
		}
		if files[file][name], err = minified(text); err != nil {
			return nil, err
		}
	}
	contents := map[string]any{bundled.IndexFile: bundled.Index{Source: source, Date: dateOf(&t.archive.Reader), Types: t.Names()}}
	for file, types := range files {
		contents[file] = types
	}
	return archived(contents)
}

// addRegions adds the types that other regions have.
func (t *Types) addRegions() error {
	for _, f := range t.archive.File {
		if !strings.HasPrefix(f.Name, folder+"providers/") || path.Ext(f.Name) != ".json" {
			continue
		}
		text, err := t.read(strings.TrimPrefix(f.Name, folder))
		if err != nil {
			return err
		}
		region := map[string]string{}
		if err := json.Unmarshal(text, &region); err != nil {
			return err
		}
		for name, file := range region {
			if t.files[name] == "" {
				t.files[name] = file
			}
		}
	}
	return nil
}

// archived writes files in the order of their names and without times, so that the same content is the same archive.
func archived(contents map[string]any) ([]byte, error) {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	w.RegisterCompressor(zip.Deflate, func(out io.Writer) (io.WriteCloser, error) { return flate.NewWriter(out, flate.BestCompression) })
	for _, name := range slices.Sorted(maps.Keys(contents)) {
		f, err := w.Create(name)
		if err != nil {
			return nil, err
		}
		e := json.NewEncoder(f)
		e.SetEscapeHTML(false)
		if err := e.Encode(contents[name]); err != nil {
			return nil, err
		}
	}
	err := w.Close()
	return b.Bytes(), err
}
