// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/nexus-operator/nexus-operator/internal/connection"
	"github.com/nexus-operator/nexus-operator/internal/console"
	"github.com/nexus-operator/nexus-operator/internal/image"
	"github.com/nexus-operator/nexus-operator/internal/imagebuild"
	"github.com/nexus-operator/nexus-operator/internal/pipeline"
	"github.com/nexus-operator/nexus-operator/internal/progress"
)

func e2eCommand(s *connection.Connection) *cobra.Command {
	f := &pipeline.Options{}
	cmd := &cobra.Command{
		Use:   "e2e [-f FILE]",
		Short: "Build, install, apply, watch and verify: the whole pipeline in seven steps",
		Long: "e2e runs the seven steps of a deployment, each of which is also a command: it removes an earlier installation, builds the operator\n" +
			"and the applications, installs the operator, applies the manifests, waits until the capability runs, and verifies it. It stops at the\n" +
			"first failure, and prints the command that goes on there. Without -f the manifest is that of NEXUS_CAPABILITY, capability.yaml, or the\n" +
			"only one in the current folder; without sources, step 3 builds the folders nexus-backend and nexus-ui, if they exist. Step 1 removes\n" +
			"the operator with its role and its images, which needs --yes; it refuses while there are capabilities, unless --cascade=delete deletes them first. Step 4 installs the image of step 2 by its\n" +
			"digest. The flags of the installation are those of nexusctl deploy.",
		Example: "  nexusctl e2e -f capability.yaml --backend-source ../backend --frontend-source ../ui --yes\n" +
			"  nexusctl e2e -f capability.yaml --skip-clean --skip-app-build --operator-arg=--capability-namespaces=team-*\n" +
			"  nexusctl e2e -f capability.yaml --from-step 5\n" +
			"  nexusctl e2e -f capability.yaml --skip-clean --skip-app-build --dry-run",
		Args: arguments(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return pipeline.Run(cmd.Context(), s, f, resumption(cmd))
		},
	}
	addPipelineFlags(f, cmd)
	addDeploySettings(&f.Deploy, cmd, s)
	outputFlag(cmd, &f.Output, "text", "json", "yaml")
	return cmd
}

// addPipelineFlags adds the flags of the pipeline itself.
func addPipelineFlags(f *pipeline.Options, cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringSliceVarP(&f.Files.Filenames, "filename", "f", nil,
		"files or directories with the manifest of one capability, and of what it needs")
	flags.BoolVar(&f.SkipClean, "skip-clean", false, "leave out step 1")
	flags.BoolVar(&f.SkipApps, "skip-app-build", false, "leave out step 3")
	flags.IntVar(&f.From, "from-step", 1, "number of the first step that is run")
	flags.IntVar(&f.To, "to-step", pipeline.LastStep(), "number of the last step that is run")
	flags.BoolVar(&f.Yes, "yes", false, "really remove an earlier installation in step 1")
	flags.StringVar(&f.Cascade, "cascade", "", "what step 1 does with capabilities: delete; default: refuse while there are any")
	flags.DurationVar(&f.Cleaning, "cleanup-timeout", 30*time.Minute, "how long step 1 may wait for objects to be deleted")
	flags.StringVar(&f.Operator.Source, "source", ".", "root of the operator's source tree, for step 2")
	flags.StringSliceVar(&f.Operator.Arches, "arch", image.Architectures, "architectures of the operator's image")
	flags.StringToStringVar(&f.Operator.Binaries, "binary", nil,
		"ARCH=PATH of a binary of the operator that was built before; may be repeated")
	flags.StringVar(&f.Operator.Release, "release", "", "version of the operator; default: that of the chart in the source tree")
	flags.StringVar(&f.Backend, "backend-source", "", "folder that the backend's image is built from in step 3")
	flags.StringVar(&f.Frontend, "frontend-source", "", "folder that the frontend's image is built from in step 3")
	flags.StringVar(&f.App.Tool, "tool", imagebuild.ToolAuto, "what builds the applications, as in nexusctl build app")
	flags.StringSliceVar(&f.App.Platforms, "platform", nil, "platforms of the applications' images; default: the tool's own")
	flags.StringVar(&f.Monitor.Until, "wait-for", progress.UntilAddress, "what step 6 waits for, as in nexusctl monitor")
	flags.DurationVar(&f.Monitor.Timeout, "timeout", 30*time.Minute, "how long step 6 may wait")
	flags.StringSliceVar(&f.Verify.Only, "only", nil, "groups of checks of step 7, as in nexusctl verify-capability; default: all")
	flags.StringVar(&f.Verify.JUnit, "junit", "", "file for a JUnit report of step 7")
	flags.DurationVar(&f.Verify.Timeout, "verify-timeout", 5*time.Minute, "how long step 7 may take")
	flags.BoolVar(&f.DryRun, "dry-run", false, "print the steps and what each would change, and change nothing")
}

// resumption returns the command line that goes on at a step.
func resumption(cmd *cobra.Command) func(step int) string {
	var words []string
	cmd.Flags().Visit(func(f *pflag.Flag) { words = append(words, flagWords(f)...) })
	return func(step int) string { return resumeAt(cmd.CommandPath(), step, slices.Clone(words)) }
}

// resumeAt is the command line of a run that begins at a step.
func resumeAt(path string, step int, flags []string) string {
	return fmt.Sprintf("%s --from-step=%d %s", path, step, strings.Join(flags, " "))
}

// flagWords are a flag as it was given.
func flagWords(f *pflag.Flag) []string {
	if f.Name == "from-step" {
		return nil
	}
	if many, ok := f.Value.(pflag.SliceValue); ok {
		var out []string
		for _, value := range many.GetSlice() {
			out = append(out, console.ShellQuote("--"+f.Name+"="+value))
		}
		return out
	}
	value := f.Value.String()
	if f.Value.Type() == "stringToString" {
		value = strings.Trim(value, "[]")
	}
	return []string{console.ShellQuote("--" + f.Name + "=" + value)}
}
