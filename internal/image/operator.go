// SPDX-License-Identifier: Apache-2.0

package image

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// Architectures lists the architectures that the operator's image is released for.
var Architectures = []string{"amd64", "arm64"}

// user is the one that the image runs as, unless the pod says otherwise.
const user = "65532:65532"

// Source holds the contents of the operator's image: a source tree, or binaries that were built before.
type Source struct {
	// Tree is the root of the source tree, which is compiled with the program go.
	Tree string
	// Arches are the architectures, as Go names them, in the order of the index.
	Arches []string
	// Binaries are paths of binaries by their architecture. They are used instead of compiling.
	Binaries map[string]string
	// Release is the version of the product; empty for the one that the chart of the tree states.
	Release string
	// Began is called before each architecture; nil for nothing.
	Began func(arch string)
}

// Version returns the version of the product that is built. The error names the missing part.
func (s Source) Version() (string, error) {
	if s.Release != "" {
		return s.Release, nil
	}
	return version(s.Tree)
}

// Operator builds the operator's image: one index over the architectures. The same source gives the same digest.
func Operator(ctx context.Context, s Source) (*Built, error) {
	release, err := s.Version()
	if err != nil {
		return nil, err
	}
	index := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	built := &Built{Name: release, Documents: map[string][]byte{}}
	for _, arch := range s.Arches {
		if s.Began != nil {
			s.Began(arch)
		}
		files, err := s.files(ctx, release, arch)
		if err != nil {
			return nil, err
		}
		if built.Documents["nexus-operator-linux-"+arch+".spdx.json"], err = imageBill(files, release, arch); err != nil {
			return nil, err
		}
		image, err := imageOf(files, release, arch)
		if err != nil {
			return nil, err
		}
		index = addPlatform(index, image, v1.Platform{OS: "linux", Architecture: arch})
	}
	built.Content = index
	return built, nil
}

// addPlatform adds the image for a platform to an index.
func addPlatform(index v1.ImageIndex, image v1.Image, p v1.Platform) v1.ImageIndex {
	return mutate.AppendManifests(index, mutate.IndexAddendum{Add: image, Descriptor: v1.Descriptor{Platform: &p}})
}

// layerOf packs files into a layer.
func layerOf(files []file, mediaType types.MediaType) (v1.Layer, error) {
	text, err := archive(files)
	if err != nil {
		return nil, err
	}
	open := func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(text)), nil }
	return tarball.LayerFromOpener(open, tarball.WithMediaType(mediaType))
}

// addLayer adds a layer without a time.
func addLayer(image v1.Image, layer v1.Layer, mediaType types.MediaType, by string) (v1.Image, error) {
	return mutate.Append(image,
		mutate.Addendum{Layer: layer, MediaType: mediaType, History: v1.History{Created: v1.Time{Time: time.Unix(0, 0).UTC()}, CreatedBy: by}})
}

// imageOf returns an image with one layer.
func imageOf(files []file, release, arch string) (v1.Image, error) {
	layer, err := layerOf(files, types.OCILayer)
	if err != nil {
		return nil, err
	}
	image := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	image, err = addLayer(image, layer, types.OCILayer, "make image")
	if err != nil {
		return nil, err
	}
	config, err := image.ConfigFile()
	if err != nil {
		return nil, err
	}
	config = config.DeepCopy()
	config.OS, config.Architecture, config.Created = "linux", arch, v1.Time{Time: time.Unix(0, 0).UTC()}
	config.Config = v1.Config{
		User: user, Entrypoint: []string{"/" + binaryPath}, WorkingDir: "/",
		Labels: map[string]string{"org.opencontainers.image.title": "nexus-operator", "org.opencontainers.image.version": release},
	}
	return mutate.ConfigFile(image, config)
}

// WriteRoot writes the files of the operator's image for an architecture below a folder.
func WriteRoot(ctx context.Context, s Source, dir, arch string) error {
	release, err := s.Version()
	if err != nil {
		return err
	}
	files, err := s.files(ctx, release, arch)
	if err != nil {
		return fmt.Errorf("architecture %s: %w", arch, err)
	}
	return writeFiles(dir, files)
}
