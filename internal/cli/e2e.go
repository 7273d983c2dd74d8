// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"slices"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/cli-runtime/pkg/resource"

	"github.com/nexus-operator/nexus-operator/internal/deploy"
	"github.com/nexus-operator/nexus-operator/internal/enact"
	"github.com/nexus-operator/nexus-operator/internal/exit"
	"github.com/nexus-operator/nexus-operator/internal/image"
	"github.com/nexus-operator/nexus-operator/internal/imagebuild"
	"github.com/nexus-operator/nexus-operator/internal/monitor"
	"github.com/nexus-operator/nexus-operator/internal/progress"
	"github.com/nexus-operator/nexus-operator/internal/verify"
)

// e2eFlags holds the flags of e2e. The flags of the verbs that it runs keep their names.
type e2eFlags struct {
	files                            resource.FilenameOptions
	from, to                         int
	skipClean, skipApps, yes, dryRun bool
	output, cascade                  string
	backend, frontend                string
	operator                         imagebuild.OperatorOptions
	app                              imagebuild.AppOptions
	deploy                           deploy.Options
	monitor                          monitor.Options
	verify                           verify.Options
	cleaning                         time.Duration
	// completed is true once the sources that no flag names were looked for.
	completed bool
}

func (s *shared) e2eCommand() *cobra.Command {
	f := &e2eFlags{}
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
			if err := f.checkSteps(); err != nil {
				return err
			}
			if err := f.complete(s); err != nil {
				return err
			}
			if err := f.Check(); err != nil {
				return err
			}
			return s.e2e(cmd.Context(), f, resumption(cmd))
		},
	}
	f.add(cmd)
	addDeploySettings(&f.deploy, cmd, s.Connection)
	outputFlag(cmd, &f.output, "text", "json", "yaml")
	return cmd
}

func (f *e2eFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringSliceVarP(&f.files.Filenames, "filename", "f", nil, "files or directories with the manifest of one capability, and of what it needs")
	flags.BoolVar(&f.skipClean, "skip-clean", false, "leave out step 1")
	flags.BoolVar(&f.skipApps, "skip-app-build", false, "leave out step 3")
	flags.IntVar(&f.from, "from-step", 1, "number of the first step that is run")
	flags.IntVar(&f.to, "to-step", len(pipelineSteps), "number of the last step that is run")
	flags.BoolVar(&f.yes, "yes", false, "really remove an earlier installation in step 1")
	flags.StringVar(&f.cascade, "cascade", "", "what step 1 does with capabilities: delete; default: refuse while there are any")
	flags.DurationVar(&f.cleaning, "cleanup-timeout", 30*time.Minute, "how long step 1 may wait for objects to be deleted")
	flags.StringVar(&f.operator.Source, "source", ".", "root of the operator's source tree, for step 2")
	flags.StringSliceVar(&f.operator.Arches, "arch", image.Architectures, "architectures of the operator's image")
	flags.StringToStringVar(&f.operator.Binaries, "binary", nil, "ARCH=PATH of a binary of the operator that was built before; may be repeated")
	flags.StringVar(&f.operator.Release, "release", "", "version of the operator; default: that of the chart in the source tree")
	flags.StringVar(&f.backend, "backend-source", "", "folder that the backend's image is built from in step 3")
	flags.StringVar(&f.frontend, "frontend-source", "", "folder that the frontend's image is built from in step 3")
	flags.StringVar(&f.app.Tool, "tool", imagebuild.ToolAuto, "what builds the applications, as in nexusctl build app")
	flags.StringSliceVar(&f.app.Platforms, "platform", nil, "platforms of the applications' images; default: the tool's own")
	flags.StringVar(&f.monitor.Until, "wait-for", progress.UntilAddress, "what step 6 waits for, as in nexusctl monitor")
	flags.DurationVar(&f.monitor.Timeout, "timeout", 30*time.Minute, "how long step 6 may wait")
	flags.StringSliceVar(&f.verify.Only, "only", nil, "groups of checks of step 7, as in nexusctl verify-capability; default: all")
	flags.StringVar(&f.verify.JUnit, "junit", "", "file for a JUnit report of step 7")
	flags.DurationVar(&f.verify.Timeout, "verify-timeout", 5*time.Minute, "how long step 7 may take")
	flags.BoolVar(&f.dryRun, "dry-run", false, "print the steps and what each would change, and change nothing")
}

// Check refuses what can be refused before the first step, and completes the flags of the verbs.
func (f *e2eFlags) Check() error {
	f.monitor.Output, f.verify.Output, f.deploy.Output = "text", "text", "text"
	f.deploy.Timeout = enact.ReadyTimeout
	f.deploy.DryRun = f.dryRun
	built := imagebuild.Options{Timeout: imagebuild.DefaultTimeout, Output: "text", DryRun: f.dryRun}
	f.operator.Options, f.app.Options = built, built
	for _, check := range []func() error{f.checkCleanup, f.deploy.Check, f.monitor.Check, f.verify.Check} {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

func (f *e2eFlags) checkSteps() error {
	last := len(pipelineSteps)
	switch {
	case f.from < 1 || f.from > last:
		return exit.Usage("--from-step: %d is no number from 1 to %d", f.from, last)
	case f.to < f.from || f.to > last:
		return exit.Usage("--to-step: %d is no number from %d to %d", f.to, f.from, last)
	default:
		return nil
	}
}

// needsManifest reports whether a step is run that reads the manifest.
func (f *e2eFlags) needsManifest() bool { return f.to >= stepApply || f.runs(stepApps) }

func (f *e2eFlags) checkCleanup() error {
	switch {
	case f.runs(stepClean) && !f.yes && !f.dryRun:
		return exit.Usage("step 1 removes an earlier installation: add --yes, or --skip-clean to leave it out")
	case f.cascade != "" && f.cascade != deploy.CascadeDelete:
		return exit.Usage("--cascade: %q is not %s", f.cascade, deploy.CascadeDelete)
	case f.cleaning <= 0:
		return exit.Usage("--cleanup-timeout: %s is not a duration above 0", f.cleaning)
	default:
		return nil
	}
}

// runs reports whether a step is run.
func (f *e2eFlags) runs(step int) bool {
	return step >= f.from && step <= f.to && pipelineSteps[step-1].skipped(f) == ""
}

// applications are the folders of the components that are built.
func (f *e2eFlags) applications() map[string]string {
	out := map[string]string{imagebuild.ComponentBackend: f.backend, imagebuild.ComponentFrontend: f.frontend}
	for _, component := range []string{imagebuild.ComponentBackend, imagebuild.ComponentFrontend} {
		if out[component] == "" {
			delete(out, component)
		}
	}
	return out
}

// resumption returns the command line that goes on at a step.
func resumption(cmd *cobra.Command) func(step int) string {
	var words []string
	cmd.Flags().Visit(func(f *pflag.Flag) { words = append(words, flagWords(f)...) })
	return func(step int) string { return resumeAt(cmd.CommandPath(), step, slices.Clone(words)) }
}
