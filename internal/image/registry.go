// SPDX-License-Identifier: Apache-2.0

package image

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/remote/transport"
)

// Registry reaches registries.
type Registry struct {
	// Keychain has the credentials.
	Keychain authn.Keychain
	// Agent is the name that requests carry.
	Agent string
	// Progress is called with how many bytes of how many were sent; nil for nothing.
	Progress func(sent, total int64)
}

// DeniedError says that a registry refused the credentials, or gave them no right.
type DeniedError struct{ Err error }

// Error implements error.
func (e *DeniedError) Error() string { return "the registry refused: " + e.Err.Error() }

// Unwrap returns the registry's own error.
func (e *DeniedError) Unwrap() error { return e.Err }

func (r Registry) options(ctx context.Context) []remote.Option {
	return []remote.Option{remote.WithContext(ctx), remote.WithAuthFromKeychain(r.Keychain), remote.WithUserAgent(r.Agent)}
}

// Digest returns the digest of the content that a reference names; empty when the registry has none there. The error is a *DeniedError
// where rights are missing.
func (r Registry) Digest(ctx context.Context, ref name.Reference) (string, error) {
	found, err := remote.Head(ref, r.options(ctx)...)
	if err == nil {
		return found.Digest.String(), nil
	}
	if refused, ok := errors.AsType[*transport.Error](err); ok && refused.StatusCode == http.StatusNotFound {
		return "", nil
	}
	return "", explain(err)
}

// Push uploads the parts that the registry lacks, and then makes the reference name them. A push that ends early leaves the reference
// unchanged. The error is a *DeniedError where rights are missing.
func (r Registry) Push(ctx context.Context, ref name.Reference, content Content) error {
	options := r.options(ctx)
	if r.Progress != nil {
		updates := make(chan v1.Update, 16)
		reported := make(chan struct{})
		go func() {
			defer close(reported)
			for u := range updates { // closed by remote
				if u.Error == nil {
					r.Progress(u.Complete, u.Total)
				}
			}
		}()
		defer func() { <-reported }()
		options = append(options, remote.WithProgress(updates))
	}
	switch c := content.(type) {
	case v1.ImageIndex:
		return explain(remote.WriteIndex(ref, c, options...))
	case v1.Image:
		return explain(remote.Write(ref, c, options...))
	default:
		return fmt.Errorf("%T is neither an image nor an index", content)
	}
}

// explain marks an error of a registry for want of credentials or rights.
func explain(err error) error {
	refused, ok := errors.AsType[*transport.Error](err)
	if ok && (refused.StatusCode == http.StatusUnauthorized || refused.StatusCode == http.StatusForbidden) {
		return &DeniedError{Err: err}
	}
	return err
}

// pull reads an image for platforms, or for all that it has where none are named. A single image has one platform, its own.
func (r Registry) pull(ctx context.Context, ref name.Reference, platforms []v1.Platform) ([]v1.Image, error) {
	found, err := remote.Get(ref, r.options(ctx)...)
	if err != nil {
		return nil, explain(err)
	}
	if !found.MediaType.IsIndex() {
		image, err := found.Image()
		return []v1.Image{image}, err
	}
	index, err := found.ImageIndex()
	if err != nil {
		return nil, err
	}
	out, err := imagesIn(index, platforms)
	if err == nil && (len(out) == 0 || len(out) < len(platforms)) {
		err = fmt.Errorf("%s has no image for some of the platforms %v", ref, platforms)
	}
	return out, err
}

// imagesIn are the images of an index for platforms, or all that run on Linux where none are named.
func imagesIn(index v1.ImageIndex, platforms []v1.Platform) ([]v1.Image, error) {
	manifest, err := index.IndexManifest()
	if err != nil {
		return nil, err
	}
	var out []v1.Image
	for _, d := range manifest.Manifests {
		if d.Platform == nil || d.Platform.OS != "linux" { // attestations of an image have the platform unknown/unknown
			continue
		}
		if len(platforms) > 0 && !slices.ContainsFunc(platforms, func(p v1.Platform) bool { return d.Platform.Satisfies(p) }) {
			continue
		}
		image, err := index.Image(d.Digest)
		if err != nil {
			return nil, err
		}
		out = append(out, image)
	}
	return out, nil
}

// Artifact downloads the layer of a media type from the content that a reference names, such as the archive of a Helm chart. The error is a
// *DeniedError where rights are missing.
func (r Registry) Artifact(ctx context.Context, ref name.Reference, mediaType string) ([]byte, error) {
	found, err := remote.Image(ref, r.options(ctx)...)
	if err != nil {
		return nil, explain(err)
	}
	layers, err := found.Layers()
	if err != nil {
		return nil, explain(err)
	}
	for _, layer := range layers {
		if kind, err := layer.MediaType(); err != nil || string(kind) != mediaType {
			continue
		}
		content, err := layer.Compressed()
		if err != nil {
			return nil, explain(err)
		}
		text, err := io.ReadAll(content)
		return text, errors.Join(err, content.Close())
	}
	return nil, fmt.Errorf("%s has no content of type %s", ref, mediaType)
}
