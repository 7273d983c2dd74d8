// SPDX-License-Identifier: Apache-2.0

package pipeline

import (
	"time"

	"k8s.io/cli-runtime/pkg/resource"

	"github.com/nexus-operator/nexus-operator/internal/console"
	"github.com/nexus-operator/nexus-operator/internal/deploy"
	"github.com/nexus-operator/nexus-operator/internal/enact"
	"github.com/nexus-operator/nexus-operator/internal/exit"
	"github.com/nexus-operator/nexus-operator/internal/imagebuild"
	"github.com/nexus-operator/nexus-operator/internal/monitor"
	"github.com/nexus-operator/nexus-operator/internal/verify"
)

// Options holds the flags of e2e. The flags of the verbs that it runs keep their names.
type Options struct {
	Files                            resource.FilenameOptions
	From, To                         int
	SkipClean, SkipApps, Yes, DryRun bool
	Output, Cascade                  string
	Backend, Frontend                string
	Operator                         imagebuild.OperatorOptions
	App                              imagebuild.AppOptions
	Deploy                           deploy.Options
	Monitor                          monitor.Options
	Verify                           verify.Options
	Cleaning                         time.Duration
	// completed is true once the sources that no flag names were looked for.
	completed bool
}

// prepare completes the options and refuses invalid ones before the first step.
func (f *Options) prepare(s *console.Console) error {
	if err := f.checkSteps(); err != nil {
		return err
	}
	if err := f.complete(s); err != nil {
		return err
	}
	return f.check()
}

// check refuses invalid options before the first step, and completes the flags of the verbs.
func (f *Options) check() error {
	f.Monitor.Output, f.Verify.Output, f.Deploy.Output = "text", "text", "text"
	f.Deploy.Timeout = enact.ReadyTimeout
	f.Deploy.DryRun = f.DryRun
	built := imagebuild.Options{Timeout: imagebuild.DefaultTimeout, Output: "text", DryRun: f.DryRun}
	f.Operator.Options, f.App.Options = built, built
	for _, check := range []func() error{f.checkCleanup, f.Deploy.Check, f.Monitor.Check, f.Verify.Check} {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

func (f *Options) checkSteps() error {
	last := LastStep()
	switch {
	case f.From < 1 || f.From > last:
		return exit.Usage("--from-step: %d is no number from 1 to %d", f.From, last)
	case f.To < f.From || f.To > last:
		return exit.Usage("--to-step: %d is no number from %d to %d", f.To, f.From, last)
	default:
		return nil
	}
}

// needsManifest reports whether a step is run that reads the manifest.
func (f *Options) needsManifest() bool { return f.To >= stepApply || f.runs(stepApps) }

func (f *Options) checkCleanup() error {
	switch {
	case f.runs(stepClean) && !f.Yes && !f.DryRun:
		return exit.Usage("step 1 removes an earlier installation: add --yes, or --skip-clean to leave it out")
	case f.Cascade != "" && f.Cascade != deploy.CascadeDelete:
		return exit.Usage("--cascade: %q is not %s", f.Cascade, deploy.CascadeDelete)
	case f.Cleaning <= 0:
		return exit.Usage("--cleanup-timeout: %s is not a duration above 0", f.Cleaning)
	default:
		return nil
	}
}

// runs reports whether a step is run.
func (f *Options) runs(step int) bool {
	return step >= f.From && step <= f.To && pipelineSteps[step-1].skipped(f) == ""
}

// applications are the folders of the components that are built.
func (f *Options) applications() map[string]string {
	out := map[string]string{imagebuild.ComponentBackend: f.Backend, imagebuild.ComponentFrontend: f.Frontend}
	for _, component := range []string{imagebuild.ComponentBackend, imagebuild.ComponentFrontend} {
		if out[component] == "" {
			delete(out, component)
		}
	}
	return out
}
