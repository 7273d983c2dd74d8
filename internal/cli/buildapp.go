// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/util/validation"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/capability"
	"github.com/nexus-operator/nexus-operator/internal/exit"
	"github.com/nexus-operator/nexus-operator/internal/image"
)

// The components with fixed names.
const (
	componentFrontend = "frontend"
	componentBackend  = "backend"
)

// toolAuto takes the first tool on the PATH.
const toolAuto = "auto"

// appBuildFlags holds the flags of build app.
type appBuildFlags struct {
	buildFlags
	source, file, tool string
	args, platforms    []string
	base, files, at    string
}

func (s *shared) buildAppCommand() *cobra.Command {
	f := &appBuildFlags{}
	cmd := &cobra.Command{
		Use:   "app COMPONENT [NAMESPACE/NAME | ncap/NAME]",
		Short: "Build the image of a component of a capability, and push it",
		Long: "build app builds the image of a component, such as " + componentBackend + ", and pushes it to where the capability's image is, or to --push, which needs\n" +
			"no cluster. Docker, Podman or Buildah builds it from a Dockerfile, and nexusctl pushes what was built, so that the tool needs no login.\n" +
			"With --files no tool is needed: the files of a folder become one layer on the image --base.\n" +
			"A repository that is missing in the account's own registry in ECR is created.",
		Example: "  nexusctl build app backend ncap/myapp -n team-a --source ../backend\n" +
			"  nexusctl build app backend --push registry.example.com/backend:v1 --source ../backend --platform linux/amd64,linux/arm64\n" +
			"  nexusctl build app frontend team-a/myapp --files dist --base docker.io/nginxinc/nginx-unprivileged:stable",
		Args: arguments(cobra.RangeArgs(1, 2)),
		RunE: func(cmd *cobra.Command, args []string) error { return s.buildApp(cmd.Context(), f, args) },
	}
	f.addSource(cmd)
	f.add(cmd, "that of the component in the capability")
	return cmd
}

// addSource adds the flags that say what an image is built from.
func (f *appBuildFlags) addSource(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.source, "source", ".", "folder that the tool builds from")
	flags.StringVar(&f.file, "file", "", "Dockerfile; default: the one in the source")
	flags.StringVar(&f.tool, "tool", toolAuto, "what builds: auto, "+strings.Join(image.Engines, ", ")+"; auto takes the first of these on the PATH")
	flags.StringSliceVar(&f.platforms, "platform", nil, "platforms to build for, such as linux/amd64,linux/arm64; default: the tool's own, or all of the base image")
	flags.StringArrayVar(&f.args, "build-arg", nil, "KEY=VALUE for the Dockerfile; may be repeated")
	flags.StringVar(&f.files, "files", "", "folder of static files that are added to --base, instead of building with a tool")
	flags.StringVar(&f.base, "base", "", "image below the files of --files")
	flags.StringVar(&f.at, "files-path", "/usr/share/nginx/html", "folder in the image for the files of --files")
}

func (s *shared) buildApp(ctx context.Context, f *appBuildFlags, args []string) error {
	if err := f.Check(); err != nil {
		return err
	}
	component, subject := args[0], args[1:]
	if err := checkComponent(component); err != nil {
		return err
	}
	if f.push != "" && len(subject) > 0 {
		return exit.Usage("name a capability or --push, and one of them")
	}
	how, err := s.appRecipe(f, component)
	if err != nil {
		return err
	}
	_, err = s.buildImage(ctx, &f.buildFlags, how, func(*pushTarget) (string, error) {
		at, err := s.OpenCapability(ctx, subject)
		if err != nil {
			return "", err
		}
		return imageOfComponent(at.Subject, component)
	})
	return err
}

// imageOfComponent is the image that a capability names for a component.
func imageOfComponent(c *nexusv1.NexusAICapability, component string) (string, error) {
	w, err := componentNamed(c, component)
	return w.Image, err
}

// checkComponent refuses what no component is named, before the capability is read.
func checkComponent(name string) error {
	if problems := validation.IsDNS1123Label(name); len(problems) > 0 {
		return exit.Usage("%q is no name of a component, such as %s and %s: %s", name, componentFrontend, componentBackend, problems[0])
	}
	return nil
}

// componentNamed returns the component of a name.
func componentNamed(c *nexusv1.NexusAICapability, name string) (capability.Workload, error) {
	var names []string
	for _, w := range capability.Workloads(c) {
		if names = append(names, w.Component); w.Component == name {
			return w, nil
		}
	}
	return capability.Workload{}, exit.Usage("%q is no component of NexusAICapability %s/%s: it has %s", name, c.Namespace, c.Name, strings.Join(names, ", "))
}

// appRecipe returns how an application's image is made.
func (s *shared) appRecipe(f *appBuildFlags, component string) (recipe, error) {
	how := recipe{platforms: f.platforms}
	platforms, err := parsePlatforms(f.platforms)
	if err != nil {
		return how, err
	}
	if f.files != "" || f.base != "" {
		return how.ofFiles(f, platforms)
	}
	engines := image.Engines
	if f.tool != toolAuto {
		if engines = []string{f.tool}; !slices.Contains(image.Engines, f.tool) {
			return how, exit.Usage("--tool: %q is none of %s and %s", f.tool, toolAuto, strings.Join(image.Engines, ", "))
		}
	}
	engine, err := image.FindProgram(engines...)
	if err != nil {
		return how, exit.Precondition(fmt.Errorf("%w: install one, or add static files to a base image with --files and --base", err))
	}
	how.source = component + " in " + f.source + ", built by " + engine
	how.build = func(ctx context.Context, _ image.Registry, called string) (*image.Built, error) {
		s.Say("Building %s with %s.", component, engine)
		return image.App{Engine: engine, Dir: f.source, File: f.file, Platforms: platforms, Args: f.args, Log: s.ErrOut}.Build(ctx, called)
	}
	return how, nil
}

// ofFiles makes an image of static files.
func (r recipe) ofFiles(f *appBuildFlags, platforms []v1.Platform) (recipe, error) {
	switch {
	case f.files == "" || f.base == "":
		return r, exit.Usage("--files and --base go together")
	case f.file != "" || f.tool != toolAuto || len(f.args) > 0:
		return r, exit.Usage("--files needs no tool: leave --file, --tool and --build-arg away")
	}
	base, err := name.ParseReference(f.base)
	if err != nil {
		return r, exit.Usage("--base: %w", err)
	}
	r.source = "files of " + f.files + " on " + f.base
	r.build = func(ctx context.Context, from image.Registry, called string) (*image.Built, error) {
		return image.Static{Base: base, Dir: f.files, Path: f.at, Platforms: platforms}.Build(ctx, from, called)
	}
	return r, nil
}

func parsePlatforms(texts []string) ([]v1.Platform, error) {
	var out []v1.Platform
	for _, text := range texts {
		p, err := v1.ParsePlatform(text)
		if err != nil || p.OS != "linux" || p.Architecture == "" {
			return nil, exit.Usage("--platform: %q is no platform such as linux/arm64", text)
		}
		out = append(out, *p)
	}
	return out, nil
}
