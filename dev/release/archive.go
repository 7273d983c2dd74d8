// SPDX-License-Identifier: Apache-2.0

package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"io"
	"strings"
	"time"
)

// packedFile is a file in an archive.
type packedFile struct {
	name    string
	mode    int64
	content []byte
}

// pack returns a zip archive or a compressed tar archive, by the name. All files have the same time and no owner, so that
// the same content gives the same bytes.
func pack(name string, at time.Time, files []packedFile) ([]byte, error) {
	if strings.HasSuffix(name, ".zip") {
		return packZip(at, files)
	}
	var out bytes.Buffer
	compressed, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	w := tar.NewWriter(compressed)
	for _, f := range files {
		header := &tar.Header{Typeflag: tar.TypeReg, Name: f.name, Mode: f.mode, Size: int64(len(f.content)), ModTime: at,
			Format: tar.FormatUSTAR}
		if err := w.WriteHeader(header); err != nil {
			return nil, err
		}
		if _, err := w.Write(f.content); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	err = compressed.Close()
	return out.Bytes(), err
}

func packZip(at time.Time, files []packedFile) ([]byte, error) {
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for _, f := range files {
		entry, err := w.CreateHeader(&zip.FileHeader{Name: f.name, Method: zip.Deflate, Modified: at})
		if err != nil {
			return nil, err
		}
		if _, err := io.Copy(entry, bytes.NewReader(f.content)); err != nil {
			return nil, err
		}
	}
	err := w.Close()
	return out.Bytes(), err
}
