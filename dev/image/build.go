// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// user is the one that the image runs as, unless the pod says otherwise.
const user = "65532:65532"

// build writes an OCI layout with one index over the architectures, and returns the digest of the index. The folder must
// hold nothing else.
func build(ctx context.Context, root, dir string, arches []string) (string, error) {
	release, err := version(root)
	if err != nil {
		return "", err
	}
	var index v1.ImageIndex = mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	documents := map[string][]byte{}
	for _, arch := range arches {
		files, err := rootFiles(ctx, root, arch)
		if err != nil {
			return "", err
		}
		if documents["nexus-operator-linux-"+arch+".spdx.json"], err = billOfMaterials(files, release, arch); err != nil {
			return "", err
		}
		image, err := imageOf(files, release, arch)
		if err != nil {
			return "", err
		}
		platform := &v1.Platform{OS: "linux", Architecture: arch}
		index = mutate.AppendManifests(index, mutate.IndexAddendum{Add: image, Descriptor: v1.Descriptor{Platform: platform}})
	}
	if err := writeLayout(dir, index, release); err != nil {
		return "", err
	}
	for name, text := range documents {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o644); err != nil {
			return "", err
		}
	}
	digest, err := index.Digest()
	return digest.String(), err
}

// imageOf returns an image with one layer.
func imageOf(files []file, release, arch string) (v1.Image, error) {
	text, err := archive(files)
	if err != nil {
		return nil, err
	}
	open := func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(text)), nil }
	layer, err := tarball.LayerFromOpener(open, tarball.WithMediaType(types.OCILayer))
	if err != nil {
		return nil, err
	}
	image := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	image, err = mutate.Append(image, mutate.Addendum{Layer: layer, MediaType: types.OCILayer, History: v1.History{Created: v1.Time{Time: time.Unix(0, 0).UTC()}, CreatedBy: "make image"}})
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

// writeLayout makes the index, named by the version, the only one of an OCI layout.
func writeLayout(dir string, index v1.ImageIndex, release string) error {
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	path, err := layout.Write(dir, empty.Index)
	if err != nil {
		return err
	}
	return path.AppendIndex(index, layout.WithAnnotations(map[string]string{"org.opencontainers.image.ref.name": release}))
}
