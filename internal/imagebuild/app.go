// SPDX-License-Identifier: Apache-2.0

package imagebuild

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/capability"
	"github.com/nexus-operator/nexus-operator/internal/connection"
	"github.com/nexus-operator/nexus-operator/internal/console"
	"github.com/nexus-operator/nexus-operator/internal/exit"
	"github.com/nexus-operator/nexus-operator/internal/image"
)

// The components with fixed names.
const (
	ComponentFrontend = "frontend"
	ComponentBackend  = "backend"
)

// ToolAuto takes the first tool on the PATH.
const ToolAuto = "auto"

// AppOptions holds the flags of build app.
type AppOptions struct {
	Options
	Source, File, Tool string
	Args, Platforms    []string
	Base, Files, At    string
}

// App builds the image of a component, and pushes it to where the capability names it or to where the options say.
func App(ctx context.Context, s *connection.Connection, f *AppOptions, args []string) error {
	if err := f.Check(); err != nil {
		return err
	}
	component, subject := args[0], args[1:]
	if err := CheckComponent(component); err != nil {
		return err
	}
	if f.Push != "" && len(subject) > 0 {
		return exit.Usage("name a capability or --push, and one of them")
	}
	how, err := appRecipe(s.Console, f, component)
	if err != nil {
		return err
	}
	_, err = buildImage(ctx, s, &f.Options, how, func(*pushTarget) (string, error) {
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
	w, err := ComponentNamed(c, component)
	return w.Image, err
}

// CheckComponent refuses a name that no component can have, before the capability is read.
func CheckComponent(name string) error {
	if problems := validation.IsDNS1123Label(name); len(problems) > 0 {
		return exit.Usage("%q is no name of a component, such as %s and %s: %s", name, ComponentFrontend, ComponentBackend, problems[0])
	}
	return nil
}

// ComponentNamed returns the component of a name.
func ComponentNamed(c *nexusv1.NexusAICapability, name string) (capability.Workload, error) {
	var names []string
	for _, w := range capability.Workloads(c) {
		if names = append(names, w.Component); w.Component == name {
			return w, nil
		}
	}
	return capability.Workload{},
		exit.Usage("%q is no component of NexusAICapability %s/%s: it has %s", name, c.Namespace, c.Name, strings.Join(names, ", "))
}

// appRecipe returns how an application's image is made.
func appRecipe(s *console.Console, f *AppOptions, component string) (recipe, error) {
	how := recipe{platforms: f.Platforms}
	platforms, err := parsePlatforms(f.Platforms)
	if err != nil {
		return how, err
	}
	if f.Files != "" || f.Base != "" {
		return how.ofFiles(f, platforms)
	}
	engines := image.Engines
	if f.Tool != ToolAuto {
		if engines = []string{f.Tool}; !slices.Contains(image.Engines, f.Tool) {
			return how, exit.Usage("--tool: %q is none of %s and %s", f.Tool, ToolAuto, strings.Join(image.Engines, ", "))
		}
	}
	engine, err := image.FindProgram(engines...)
	if err != nil {
		return how, exit.Precondition(fmt.Errorf("%w: install one, or add static files to a base image with --files and --base", err))
	}
	how.source = component + " in " + f.Source + ", built by " + engine
	how.build = func(ctx context.Context, _ image.Registry, called string) (*image.Built, error) {
		s.Say("Building %s with %s.", component, engine)
		return image.App{Engine: engine, Dir: f.Source, File: f.File, Platforms: platforms, Args: f.Args, Log: s.ErrOut}.Build(ctx, called)
	}
	return how, nil
}

// ofFiles makes an image of static files.
func (r recipe) ofFiles(f *AppOptions, platforms []v1.Platform) (recipe, error) {
	switch {
	case f.Files == "" || f.Base == "":
		return r, exit.Usage("--files and --base go together")
	case f.File != "" || f.Tool != ToolAuto || len(f.Args) > 0:
		return r, exit.Usage("--files needs no tool: leave --file, --tool and --build-arg away")
	}
	base, err := name.ParseReference(f.Base)
	if err != nil {
		return r, exit.Usage("--base: %w", err)
	}
	r.source = "files of " + f.Files + " on " + f.Base
	r.build = func(ctx context.Context, from image.Registry, called string) (*image.Built, error) {
		return image.Static{Base: base, Dir: f.Files, Path: f.At, Platforms: platforms}.Build(ctx, from, called)
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

// ForCapability builds and pushes the image that a capability names for a component.
func ForCapability(ctx context.Context, s *connection.Connection, f *AppOptions, subject *nexusv1.NexusAICapability,
	component string) (*Report, error) {
	f.Output = "text"
	how, err := appRecipe(s.Console, f, component)
	if err != nil {
		return nil, err
	}
	return buildImage(ctx, s, &f.Options, how, func(*pushTarget) (string, error) { return imageOfComponent(subject, component) })
}
