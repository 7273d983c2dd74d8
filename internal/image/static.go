// SPDX-License-Identifier: Apache-2.0

package image

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// Static is an application's image that is made of static files on a base image. No engine is needed.
type Static struct {
	// Base is the image below the files.
	Base name.Reference
	// Dir holds the files, and Path is where they are in the image.
	Dir, Path string
	// Platforms lists the platforms of the base image to build for; none stands for all that it has.
	Platforms []v1.Platform
}

// Build adds the files to the base image as one layer. The same files on the same base image give the same digest.
func (s Static) Build(ctx context.Context, r Registry, called string) (*Built, error) {
	files, err := filesBelow(s.Dir, strings.Trim(path.Clean("/"+s.Path), "/"))
	if err != nil {
		return nil, err
	}
	bases, err := r.pull(ctx, s.Base, s.Platforms)
	if err != nil {
		return nil, fmt.Errorf("reading the base image %s: %w", s.Base, err)
	}
	var images []v1.Image
	for _, base := range bases {
		mediaType, err := base.MediaType()
		if err != nil {
			return nil, err
		}
		layerType := types.DockerLayer
		if mediaType == types.OCIManifestSchema1 {
			layerType = types.OCILayer
		}
		layer, err := layerOf(files, layerType)
		if err != nil {
			return nil, err
		}
		image, err := addLayer(base, layer, layerType, "nexusctl build app")
		if err != nil {
			return nil, err
		}
		images = append(images, image)
	}
	content, err := together(images)
	return &Built{Content: content, Name: called}, err
}

// filesBelow reads a folder in the order of its paths. A file keeps of its mode only that it is executable.
func filesBelow(dir, at string) ([]file, error) {
	var out []file
	tree := os.DirFS(dir)
	err := fs.WalkDir(tree, ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		if !info.Mode().IsRegular() {
			return fmt.Errorf("%s in %s is no regular file: an image of static files has none but these", p, dir)
		}
		f := file{path: path.Join(at, p), mode: 0o644}
		if info.Mode()&0o100 != 0 {
			f.mode = 0o755
		}
		f.data, err = fs.ReadFile(tree, p)
		out = append(out, f)
		return err
	})
	if err == nil && len(out) == 0 {
		err = fmt.Errorf("%s has no files", dir)
	}
	return out, err
}
