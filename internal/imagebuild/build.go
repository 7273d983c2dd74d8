// SPDX-License-Identifier: Apache-2.0

// Package imagebuild builds the images of the operator and of applications, and pushes them.
package imagebuild

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/google/go-containerregistry/pkg/name"

	"github.com/nexus-operator/nexus-operator/internal/connection"
	"github.com/nexus-operator/nexus-operator/internal/console"
	"github.com/nexus-operator/nexus-operator/internal/enact"
	"github.com/nexus-operator/nexus-operator/internal/exit"
	"github.com/nexus-operator/nexus-operator/internal/image"
	"github.com/nexus-operator/nexus-operator/internal/install"
)

// APIVersion is that of a build as JSON or YAML.
const APIVersion = "build.nexus.ai/v1alpha1"

// DefaultTimeout is enough for a slow build on an emulated platform.
const DefaultTimeout = 30 * time.Minute

// Options holds the flags that both builds have.
type Options struct {
	Push, Layout, Output string
	DryRun               bool
	Timeout              time.Duration
}

// Check refuses options that are invalid before the first look.
func (f *Options) Check() error {
	if f.Timeout <= 0 {
		return exit.Usage("--timeout: %s is not a duration above 0", f.Timeout)
	}
	if f.Layout == "" {
		return nil
	}
	err := image.CheckLayout(f.Layout)
	if other, ok := errors.AsType[*image.NotLayoutError](err); ok {
		return exit.Usage("--layout: %w", other)
	}
	return err
}

// pushes reports whether the image is pushed.
func (f *Options) pushes() bool { return f.Push != "" || f.Layout == "" }

// Report is the report of a build.
type Report struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	// Source names the tree or the files that the image is built from.
	Source string `json:"source"`
	// Platforms lists the platforms named; none where the tool or the base image chooses.
	Platforms []string `json:"platforms,omitempty"`
	// Image is the reference that is pushed; empty when none is.
	Image string `json:"image,omitempty"`
	// Digest is that of the image; empty in a dry run.
	Digest string `json:"digest,omitempty"`
	// PreviousDigest is the digest that the reference named before; empty when it named nothing.
	PreviousDigest string `json:"previousDigest,omitempty"`
	// Pushed is false when the registry had the image already.
	Pushed bool   `json:"pushed"`
	Layout string `json:"layout,omitempty"`
	DryRun bool   `json:"dryRun"`
	// Changes are made in the account before the image is pushed.
	Changes []install.Change `json:"changes"`
	Notes   []string         `json:"notes,omitempty"`
}

// recipe says how one image is made.
type recipe struct {
	source    string
	platforms []string
	// build makes the image, with the name for the push.
	build func(ctx context.Context, r image.Registry, called string) (*image.Built, error)
}

// OperatorOptions holds the flags of build operator.
type OperatorOptions struct {
	Options
	Source, Release string
	Arches          []string
	Binaries        map[string]string
}

// Operator builds the operator's image, and pushes it.
func Operator(ctx context.Context, s *connection.Connection, f *OperatorOptions) error {
	if err := f.Check(); err != nil {
		return err
	}
	_, err := BuildOperator(ctx, s, f)
	return err
}

// BuildOperator builds the operator's image, and returns a report.
func BuildOperator(ctx context.Context, s *connection.Connection, f *OperatorOptions) (*Report, error) {
	how, release, err := operatorRecipe(s.Console, f)
	if err != nil {
		return nil, err
	}
	return buildImage(ctx, s, &f.Options, how, func(t *pushTarget) (string, error) {
		session, err := t.Session(ctx, "")
		if err != nil {
			return "", err
		}
		return install.NewAccount(session, "").Registry.ImageName(install.Image{Repository: connection.DefaultRepository, Version: release}), nil
	})
}

// operatorRecipe returns how the operator's image is made, and its version.
func operatorRecipe(s *console.Console, f *OperatorOptions) (recipe, string, error) {
	source := image.Source{Tree: f.Source, Release: f.Release, Arches: f.Arches, Binaries: f.Binaries}
	from := "the operator's source tree " + f.Source
	if len(f.Binaries) > 0 {
		if f.Release == "" {
			return recipe{}, "", exit.Usage("--release: name the version of the operator that the binaries are of")
		}
		source.Arches, from = slices.Sorted(maps.Keys(f.Binaries)), "binaries of the operator"
	}
	how := recipe{source: from}
	for _, arch := range source.Arches {
		if !slices.Contains(image.Architectures, arch) {
			return how, "", exit.Usage("%q is none of the architectures %s", arch, strings.Join(image.Architectures, ", "))
		}
		how.platforms = append(how.platforms, "linux/"+arch)
	}
	release, err := source.Version()
	if err != nil {
		return how, "", exit.Usage("--source: %w: name the root of the operator's source tree, or binaries with --binary ARCH=PATH", err)
	}
	source.Began = func(arch string) { s.Say("Building for linux/%s.", arch) }
	how.build = func(ctx context.Context, _ image.Registry, _ string) (*image.Built, error) {
		if len(f.Binaries) == 0 {
			if _, err := image.FindProgram("go"); err != nil {
				return nil, exit.Precondition(fmt.Errorf("%w: install Go, or name binaries with --binary ARCH=PATH", err))
			}
		}
		return image.Operator(ctx, source)
	}
	return how, release, nil
}

// buildImage builds an image, writes it to its layout and pushes it. Where the image has no name, named returns it.
func buildImage(ctx context.Context, s *connection.Connection, f *Options, how recipe, named func(*pushTarget) (string, error)) (*Report,
	error) {
	limited, cancel := context.WithTimeout(ctx, f.Timeout)
	defer cancel()
	report := &Report{APIVersion: APIVersion, Kind: "ImageBuild", Source: how.source, Platforms: how.platforms, Layout: f.Layout,
		DryRun: f.DryRun, Changes: []install.Change{}}
	b := &builder{pushTarget: &pushTarget{Registries: connection.NewRegistries(s)}, flags: f, report: report}
	err := b.run(limited, how, named)
	switch {
	case ctx.Err() != nil:
		return report, &exit.Interruption{Changed: b.changed, Left: 1}
	case limited.Err() != nil:
		return report, &exit.Failure{Code: exit.CodeTimeout,
			Err: fmt.Errorf("not done within %s: give a longer --timeout; what was pushed is not pushed again", f.Timeout)}
	case err != nil:
		return report, connection.ExplainRegistry(err)
	}
	return report, console.PrintAs(s.Out, f.Output, report, report.Text)
}

// builder makes one image.
type builder struct {
	*pushTarget
	flags   *Options
	report  *Report
	changed []string
}

func (b *builder) run(ctx context.Context, how recipe, named func(*pushTarget) (string, error)) error {
	called := "latest"
	if b.flags.pushes() {
		if err := b.lookAtTarget(ctx, named); err != nil {
			return err
		}
		called = b.ref.Name()
	}
	if b.flags.DryRun {
		return nil
	}
	built, err := how.build(ctx, b.Registry(), called)
	if err != nil {
		return err
	}
	defer built.Close()
	digest, err := built.Content.Digest()
	if err != nil {
		return err
	}
	b.report.Digest = digest.String()
	if b.flags.Layout != "" {
		if err := built.WriteLayout(b.flags.Layout); err != nil {
			return err
		}
		b.changed = append(b.changed, "layout "+b.flags.Layout)
	}
	if !b.flags.pushes() || b.report.Digest == b.report.PreviousDigest {
		return nil
	}
	return b.pushImage(ctx, built.Content)
}

// lookAtTarget finds where the image is pushed to. It only reads.
func (b *builder) lookAtTarget(ctx context.Context, named func(*pushTarget) (string, error)) error {
	to := b.flags.Push
	if to == "" {
		var err error
		if to, err = named(b.pushTarget); err != nil {
			return err
		}
	}
	var err error
	if b.ref, err = name.NewTag(to); err != nil {
		return exit.Usage("%s is no name of an image with a tag, to which an image can be pushed: %w", to, err)
	}
	b.report.Image = b.ref.Name()
	if b.report.Changes, err = b.lookAtRepository(ctx, b.report); err != nil || len(b.report.Changes) > 0 {
		return err
	}
	b.report.PreviousDigest, err = b.Registry().Digest(ctx, b.ref)
	return err
}

// pushImage creates the repository where it is missing, and pushes.
func (b *builder) pushImage(ctx context.Context, content image.Content) error {
	if err := enact.Recorded(ctx, b.Console, nil, b.report.Changes); err != nil {
		return err
	}
	for _, c := range b.report.Changes {
		b.changed = append(b.changed, c.Object)
	}
	b.Say("Pushing %s.", b.ref.Name())
	if err := b.Registry().Push(ctx, b.ref, content); err != nil {
		return err
	}
	b.report.Pushed = true
	return nil
}

// Text describes a build for people.
func (r *Report) Text() string {
	var b strings.Builder
	would, platforms := "", ""
	if r.DryRun {
		would = "would be "
	}
	if len(r.Platforms) > 0 {
		platforms = ", for " + strings.Join(r.Platforms, ", ")
	}
	fmt.Fprintf(&b, "Source: %s%s\n", r.Source, platforms)
	if r.Digest != "" {
		fmt.Fprintf(&b, "Digest: %s\n", r.Digest)
	}
	if r.Layout != "" {
		fmt.Fprintf(&b, "Layout: %swritten to %s\n", would, r.Layout)
	}
	if r.Image != "" {
		state := "pushed"
		switch {
		case !r.DryRun && !r.Pushed:
			state = "unchanged"
		case r.PreviousDigest != "":
			state += ", instead of " + r.PreviousDigest
		}
		fmt.Fprintf(&b, "Image: %s%s: %s\n", would, state, r.Image)
	}
	if r.DryRun {
		enact.Write(&b, r.Changes, true)
	}
	enact.WriteNotes(&b, r.Notes)
	return b.String()
}
