// SPDX-License-Identifier: Apache-2.0

package image

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/partial"
)

// Content is an image, or an index over images for several platforms.
type Content interface {
	Digest() (v1.Hash, error)
	partial.WithRawManifest
}

// Built describes a built image.
type Built struct {
	// Content is a v1.Image or a v1.ImageIndex.
	Content Content
	// Name names the image in its layout.
	Name string
	// Documents are files that describe it, by their names.
	Documents map[string][]byte

	dir string
}

// Close removes the files that were needed only until the image was written or pushed.
func (b *Built) Close() {
	if b.dir != "" {
		_ = os.RemoveAll(b.dir) // of the temporary folder
	}
}

// NotLayoutError says that a folder has content that is no OCI layout.
type NotLayoutError struct{ Dir string }

// Error implements error.
func (e *NotLayoutError) Error() string {
	return fmt.Sprintf("%s is not empty and holds no OCI layout: name another folder", e.Dir)
}

// CheckLayout reports as a *NotLayoutError that a folder must not be replaced by an OCI layout.
func CheckLayout(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(entries) == 0 {
		return nil
	}
	if err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(dir, "oci-layout")); err != nil {
		return &NotLayoutError{Dir: dir}
	}
	return nil
}

// WriteLayout writes an OCI layout with only the image and the documents. It replaces the layout in the folder, which is complete at any
// time.
func (b *Built) WriteLayout(dir string) error {
	if err := CheckLayout(dir); err != nil {
		return err
	}
	dir = filepath.Clean(dir)
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return err
	}
	temporary, err := os.MkdirTemp(filepath.Dir(dir), ".nexus-layout-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(temporary) }() // it is renamed where all went well
	if err := b.write(temporary); err != nil {
		return err
	}
	if err := os.Chmod(temporary, 0o755); err != nil {
		return err
	}
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	return os.Rename(temporary, dir)
}

func (b *Built) write(dir string) error {
	path, err := layout.Write(dir, empty.Index)
	if err != nil {
		return err
	}
	name := layout.WithAnnotations(map[string]string{"org.opencontainers.image.ref.name": b.Name})
	switch c := b.Content.(type) {
	case v1.ImageIndex:
		err = path.AppendIndex(c, name)
	case v1.Image:
		err = path.AppendImage(c, name)
	}
	for file, text := range b.Documents {
		err = errors.Join(err, os.WriteFile(filepath.Join(dir, file), text, 0o644))
	}
	return err
}
