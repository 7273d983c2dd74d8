// SPDX-License-Identifier: Apache-2.0

// Command image builds the operator's container image without a container engine: the binary, the certificates of public
// authorities, and nothing else. The same tree gives the same digest, whatever machine builds it.
//
//	image build ROOT DIR [ARCH...]     write an OCI layout and one SPDX document per architecture to DIR
//	image rootfs ROOT DIR ARCH         write the image's files to DIR, for the Dockerfile
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"

	"github.com/nexus-operator/nexus-operator/internal/image"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "image:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	switch {
	case len(args) >= 3 && args[0] == "build":
		arches := image.Architectures
		if len(args) > 3 {
			arches = args[3:]
		}
		digest, err := build(ctx, args[1], args[2], arches)
		if err == nil {
			fmt.Println(digest)
		}
		return err
	case len(args) == 4 && args[0] == "rootfs":
		return image.WriteRoot(ctx, image.Source{Tree: args[1]}, args[2], args[3])
	default:
		return errors.New("usage: image build ROOT DIR [ARCH...] | image rootfs ROOT DIR ARCH")
	}
}

// build writes an OCI layout and returns the digest of its index.
func build(ctx context.Context, root, dir string, arches []string) (string, error) {
	began := func(arch string) {
		fmt.Fprintf(os.Stderr, "compiling the operator for linux/%s; this takes minutes where nothing is cached\n", arch)
	}
	built, err := image.Operator(ctx, image.Source{Tree: root, Arches: arches, Began: began})
	if err != nil {
		return "", err
	}
	digest, err := built.Content.Digest()
	return digest.String(), errors.Join(err, built.WriteLayout(dir))
}
