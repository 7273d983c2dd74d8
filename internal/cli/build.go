// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/spf13/cobra"

	"github.com/nexus-operator/nexus-operator/internal/connection"
	"github.com/nexus-operator/nexus-operator/internal/console"
	"github.com/nexus-operator/nexus-operator/internal/enact"
	"github.com/nexus-operator/nexus-operator/internal/exit"
	"github.com/nexus-operator/nexus-operator/internal/image"
	"github.com/nexus-operator/nexus-operator/internal/install"
)

// buildAPIVersion is that of a build as JSON or YAML.
const buildAPIVersion = "build.nexus.ai/v1alpha1"

// defaultBuildTimeout is enough for a slow build on an emulated platform.
const defaultBuildTimeout = 30 * time.Minute

// buildFlags holds the flags that both builds have.
type buildFlags struct {
	push, layout, output string
	dryRun               bool
	timeout              time.Duration
}

func (f *buildFlags) add(cmd *cobra.Command, push string) {
	flags := cmd.Flags()
	flags.StringVar(&f.push, "push", "", "image to push, with its tag; default: "+push+", except with --layout")
	flags.StringVar(&f.layout, "layout", "", "folder for the image as an OCI layout, which replaces the layout in it; without --push the image is not pushed")
	flags.BoolVar(&f.dryRun, "dry-run", false, "say what would be built and pushed, and do neither")
	flags.DurationVar(&f.timeout, "timeout", defaultBuildTimeout, "how long building and pushing may take")
	outputFlag(cmd, &f.output, "text", "json", "yaml")
}

// Check refuses what can be refused before the first look.
func (f *buildFlags) Check() error {
	if f.timeout <= 0 {
		return exit.Usage("--timeout: %s is not a duration above 0", f.timeout)
	}
	if f.layout == "" {
		return nil
	}
	err := image.CheckLayout(f.layout)
	if other, ok := errors.AsType[*image.NotLayoutError](err); ok {
		return exit.Usage("--layout: %w", other)
	}
	return err
}

// pushes reports whether the image is pushed.
func (f *buildFlags) pushes() bool { return f.push != "" || f.layout == "" }

// imageBuild is the report of a build.
type imageBuild struct {
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
	// build makes the image, by the name under which it is pushed.
	build func(ctx context.Context, r image.Registry, called string) (*image.Built, error)
}

func (s *shared) buildCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "build",
		Short:   "Build container images, and push them to a registry",
		Long:    "build builds the image of the operator, or that of an application, and pushes it. See the help of the two commands below it.",
		Example: "  nexusctl build operator --source .\n  nexusctl build app backend ncap/myapp --source ../backend",
		Args:    arguments(cobra.NoArgs),
		RunE: func(*cobra.Command, []string) error {
			return exit.Usage("name what to build: build operator or build app")
		},
	}
	cmd.AddCommand(s.buildOperatorCommand(), s.buildAppCommand())
	return cmd
}

// operatorBuildFlags holds the flags of build operator.
type operatorBuildFlags struct {
	buildFlags
	source, release string
	arches          []string
	binaries        map[string]string
}

func (s *shared) buildOperatorCommand() *cobra.Command {
	f := &operatorBuildFlags{}
	cmd := &cobra.Command{
		Use:   "operator",
		Short: "Build the operator's image without a container engine, and push it",
		Long: "build operator compiles the operator from its source tree, which needs the program go, or takes binaries that were built before.\n" +
			"It adds the certificates of public authorities, and pushes one index over all architectures to the account's repository " + connection.DefaultRepository + " in ECR,\n" +
			"which it creates if it is missing. The same source gives the same digest on every machine. ECR is given a token of your\n" +
			"AWS credentials, and every other registry what the configuration of Docker or Podman has for it.",
		Example: "  nexusctl build operator --source . --dry-run\n  nexusctl build operator --push registry.example.com/nexus-operator:v1\n" +
			"  nexusctl build operator --binary amd64=bin/nexus-operator --release 0.1.0 --layout bin/image",
		Args: arguments(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error { return s.buildOperator(cmd.Context(), f) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.source, "source", ".", "root of the operator's source tree")
	flags.StringSliceVar(&f.arches, "arch", image.Architectures, "architectures to build for")
	flags.StringToStringVar(&f.binaries, "binary", nil, "ARCH=PATH of a binary that was built before, instead of compiling; may be repeated")
	flags.StringVar(&f.release, "release", "", "version of the operator, and the default tag; default: that of the chart in the source tree")
	f.add(cmd, "that of the release in the account's repository "+connection.DefaultRepository)
	return cmd
}

func (s *shared) buildOperator(ctx context.Context, f *operatorBuildFlags) error {
	if err := f.Check(); err != nil {
		return err
	}
	_, err := s.builtOperator(ctx, f)
	return err
}

// builtOperator builds the operator's image, and returns what it did.
func (s *shared) builtOperator(ctx context.Context, f *operatorBuildFlags) (*imageBuild, error) {
	how, release, err := s.operatorRecipe(f)
	if err != nil {
		return nil, err
	}
	return s.buildImage(ctx, &f.buildFlags, how, func(t *pushTarget) (string, error) {
		session, err := t.Session(ctx, "")
		if err != nil {
			return "", err
		}
		return install.NewAccount(session, "").ImageName(install.Image{Repository: connection.DefaultRepository, Version: release}), nil
	})
}

// operatorRecipe returns how the operator's image is made, and its version.
func (s *shared) operatorRecipe(f *operatorBuildFlags) (recipe, string, error) {
	source := image.Source{Tree: f.source, Release: f.release, Arches: f.arches, Binaries: f.binaries}
	from := "the operator's source tree " + f.source
	if len(f.binaries) > 0 {
		if f.release == "" {
			return recipe{}, "", exit.Usage("--release: name the version of the operator that the binaries are of")
		}
		source.Arches, from = slices.Sorted(maps.Keys(f.binaries)), "binaries of the operator"
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
		if len(f.binaries) == 0 {
			if _, err := image.FindProgram("go"); err != nil {
				return nil, exit.Precondition(fmt.Errorf("%w: install Go, or name binaries with --binary ARCH=PATH", err))
			}
		}
		return image.Operator(ctx, source)
	}
	return how, release, nil
}

// buildImage builds an image, writes it to its layout and pushes it. Where the image has no name, named returns it.
func (s *shared) buildImage(ctx context.Context, f *buildFlags, how recipe, named func(*pushTarget) (string, error)) (*imageBuild, error) {
	limited, cancel := context.WithTimeout(ctx, f.timeout)
	defer cancel()
	report := &imageBuild{APIVersion: buildAPIVersion, Kind: "ImageBuild", Source: how.source, Platforms: how.platforms, Layout: f.layout, DryRun: f.dryRun, Changes: []install.Change{}}
	b := &builder{pushTarget: &pushTarget{Registries: connection.NewRegistries(s.Connection)}, flags: f, report: report}
	err := b.run(limited, how, named)
	switch {
	case ctx.Err() != nil:
		return report, &exit.Interruption{Changed: b.changed, Left: 1}
	case limited.Err() != nil:
		return report, &exit.Failure{Code: exit.CodeTimeout, Err: fmt.Errorf("not done within %s: give a longer --timeout; what was pushed is not pushed again", f.timeout)}
	case err != nil:
		return report, connection.ExplainRegistry(err)
	}
	return report, console.PrintAs(s.Out, f.output, report, report.Text)
}

// builder makes one image.
type builder struct {
	*pushTarget
	flags   *buildFlags
	report  *imageBuild
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
	if b.flags.dryRun {
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
	if b.flags.layout != "" {
		if err := built.WriteLayout(b.flags.layout); err != nil {
			return err
		}
		b.changed = append(b.changed, "layout "+b.flags.layout)
	}
	if !b.flags.pushes() || b.report.Digest == b.report.PreviousDigest {
		return nil
	}
	return b.pushImage(ctx, built.Content)
}

// lookAtTarget finds where the image is pushed to. It only reads.
func (b *builder) lookAtTarget(ctx context.Context, named func(*pushTarget) (string, error)) error {
	to := b.flags.push
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
func (r *imageBuild) Text() string {
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
