// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/nexus-operator/nexus-operator/internal/connection"
	"github.com/nexus-operator/nexus-operator/internal/exit"
	"github.com/nexus-operator/nexus-operator/internal/image"
	"github.com/nexus-operator/nexus-operator/internal/imagebuild"
)

func addBuildFlags(f *imagebuild.Options, cmd *cobra.Command, push string) {
	flags := cmd.Flags()
	flags.StringVar(&f.Push, "push", "", "image to push, with its tag; default: "+push+", except with --layout")
	flags.StringVar(&f.Layout, "layout", "",
		"folder for the image as an OCI layout, which replaces the layout in it; without --push the image is not pushed")
	flags.BoolVar(&f.DryRun, "dry-run", false, "say what would be built and pushed, and do neither")
	flags.DurationVar(&f.Timeout, "timeout", imagebuild.DefaultTimeout, "how long building and pushing may take")
	outputFlag(cmd, &f.Output, "text", "json", "yaml")
}

func buildCommand(s *connection.Connection) *cobra.Command {
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
	cmd.AddCommand(buildOperatorCommand(s), buildAppCommand(s))
	return cmd
}

func buildOperatorCommand(s *connection.Connection) *cobra.Command {
	f := &imagebuild.OperatorOptions{}
	cmd := &cobra.Command{
		Use:   "operator",
		Short: "Build the operator's image without a container engine, and push it",
		Long: "build operator compiles the operator from its source tree, which needs the program go, or takes binaries that were built before.\n" +
			"It adds the certificates of public authorities, and pushes one index over all architectures to the account's repository " +
			connection.DefaultRepository + " in ECR,\n" +
			"which it creates if it is missing. The same source gives the same digest on every machine. ECR is given a token of your\n" +
			"AWS credentials, and every other registry what the configuration of Docker or Podman has for it.",
		Example: "  nexusctl build operator --source . --dry-run\n  nexusctl build operator --push registry.example.com/nexus-operator:v1\n" +
			"  nexusctl build operator --binary amd64=bin/nexus-operator --release 0.1.0 --layout bin/image",
		Args: arguments(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error { return imagebuild.Operator(cmd.Context(), s, f) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.Source, "source", ".", "root of the operator's source tree")
	flags.StringSliceVar(&f.Arches, "arch", image.Architectures, "architectures to build for")
	flags.StringToStringVar(&f.Binaries, "binary", nil, "ARCH=PATH of a binary that was built before, instead of compiling; may be repeated")
	flags.StringVar(&f.Release, "release", "", "version of the operator, and the default tag; default: that of the chart in the source tree")
	addBuildFlags(&f.Options, cmd, "that of the release in the account's repository "+connection.DefaultRepository)
	return cmd
}

func buildAppCommand(s *connection.Connection) *cobra.Command {
	f := &imagebuild.AppOptions{}
	cmd := &cobra.Command{
		Use:   "app COMPONENT [NAMESPACE/NAME | ncap/NAME]",
		Short: "Build the image of a component of a capability, and push it",
		Long: "build app builds the image of a component, such as " + imagebuild.ComponentBackend +
			", and pushes it to where the capability's image is, or to --push, which needs\n" +
			"no cluster. Docker, Podman or Buildah builds it from a Dockerfile, and nexusctl pushes what was built, so that the tool needs no login.\n" +
			"With --files no tool is needed: the files of a folder become one layer on the image --base.\n" +
			"A repository that is missing in the account's own registry in ECR is created.",
		Example: "  nexusctl build app backend ncap/myapp -n team-a --source ../backend\n" +
			"  nexusctl build app backend --push registry.example.com/backend:v1 --source ../backend --platform linux/amd64,linux/arm64\n" +
			"  nexusctl build app frontend team-a/myapp --files dist --base docker.io/nginxinc/nginx-unprivileged:stable",
		Args: arguments(cobra.RangeArgs(1, 2)),
		RunE: func(cmd *cobra.Command, args []string) error {
			return imagebuild.App(cmd.Context(), s, f, args)
		},
	}
	addSourceFlags(f, cmd)
	addBuildFlags(&f.Options, cmd, "that of the component in the capability")
	return cmd
}

// addSourceFlags adds the flags for the source of an image.
func addSourceFlags(f *imagebuild.AppOptions, cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.Source, "source", ".", "folder that the tool builds from")
	flags.StringVar(&f.File, "file", "", "Dockerfile; default: the one in the source")
	flags.StringVar(&f.Tool, "tool", imagebuild.ToolAuto,
		"what builds: auto, "+strings.Join(image.Engines, ", ")+"; auto takes the first of these on the PATH")
	flags.StringSliceVar(&f.Platforms, "platform", nil,
		"platforms to build for, such as linux/amd64,linux/arm64; default: the tool's own, or all of the base image")
	flags.StringArrayVar(&f.Args, "build-arg", nil, "KEY=VALUE for the Dockerfile; may be repeated")
	flags.StringVar(&f.Files, "files", "", "folder of static files that are added to --base, instead of building with a tool")
	flags.StringVar(&f.Base, "base", "", "image below the files of --files")
	flags.StringVar(&f.At, "files-path", "/usr/share/nginx/html", "folder in the image for the files of --files")
}
