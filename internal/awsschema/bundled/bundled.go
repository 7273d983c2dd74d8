// SPDX-License-Identifier: Apache-2.0

// Package bundled has the schemas of all AWS resource types as they were when this version was built, for commands that work without AWS.
// The operator reads the schemas from AWS instead.
package bundled

import (
	"archive/zip"
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// schemas is an archive with a file for each service, which contains the schemas of its types, and with index.json. `make awstypes` makes
// it.
//
//go:embed schemas.zip
var schemas []byte

// IndexFile is the file of the archive that describes it.
const IndexFile = "index.json"

// Index describes the archive.
type Index struct {
	// Source is the package that the schemas are of, with its version.
	Source string `json:"source"`
	// Date is the date of the schemas, such as 2026-10-20.
	Date string `json:"date"`
	// Types are the names of all types in order, such as AWS::Kinesis::Stream.
	Types []string `json:"types"`
}

// Bundle is the opened archive. It is safe for concurrent use.
type Bundle struct {
	Index
	archive *zip.Reader
}

// Open reads the index.
func Open() (*Bundle, error) {
	archive, err := zip.NewReader(bytes.NewReader(schemas), int64(len(schemas)))
	if err != nil {
		return nil, err
	}
	b := &Bundle{archive: archive}
	text, err := b.read(IndexFile)
	if err != nil {
		return nil, err
	}
	return b, json.Unmarshal(text, &b.Index)
}

// FileOf returns the name of the file that contains the schema of a type; empty for a text that is no name of a type.
func FileOf(typeName string) string {
	parts := strings.Split(typeName, "::")
	if len(parts) != 3 {
		return ""
	}
	return parts[0] + "-" + parts[1] + ".json"
}

// Schema returns the schema of a type, without its descriptions; nil for a type that the bundle does not have.
func (b *Bundle) Schema(typeName string) (json.RawMessage, error) {
	if _, found := slices.BinarySearch(b.Types, typeName); !found {
		return nil, nil
	}
	text, err := b.read(FileOf(typeName))
	if err != nil {
		return nil, err
	}
	var types map[string]json.RawMessage
	if err := json.Unmarshal(text, &types); err != nil {
		return nil, fmt.Errorf("the schemas of %s: %w", typeName, err)
	}
	return types[typeName], nil
}

func (b *Bundle) read(name string) ([]byte, error) {
	f, err := b.archive.Open(name)
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(f)
	return text, errors.Join(err, f.Close())
}
