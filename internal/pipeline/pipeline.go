// SPDX-License-Identifier: Apache-2.0

// Package pipeline runs the seven steps of nexusctl e2e, from the cleanup to the verification.
package pipeline

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/connection"
	"github.com/nexus-operator/nexus-operator/internal/console"
	"github.com/nexus-operator/nexus-operator/internal/deploy"
	"github.com/nexus-operator/nexus-operator/internal/enact"
	"github.com/nexus-operator/nexus-operator/internal/exit"
	"github.com/nexus-operator/nexus-operator/internal/imagebuild"
	"github.com/nexus-operator/nexus-operator/internal/install"
	"github.com/nexus-operator/nexus-operator/internal/kubeconfig"
	"github.com/nexus-operator/nexus-operator/internal/monitor"
	"github.com/nexus-operator/nexus-operator/internal/verify"
)

// The numbers of the steps that others refer to.
const (
	stepClean = 1
	stepApps  = 3
	stepApply = 5
)

// pipelineStep is one of the seven.
type pipelineStep struct {
	// name is the step's title in the documentation; command returns the command line that does the same alone.
	name    string
	command func(*pipeline) string
	run     func(*pipeline, context.Context) error
	// looks is true when a dry run can show the effect of the step.
	looks bool
	// skipped returns the reason for leaving the step out; empty when it is run.
	skipped func(*Options) string
}

// pipelineSteps are in their order.
var pipelineSteps = []pipelineStep{
	{"Cleanup", (*pipeline).cleanCommand, (*pipeline).clean, true, func(f *Options) string { return reasonIf(f.SkipClean, "--skip-clean") }},
	{"Build operator", (*pipeline).buildOperatorCommand, (*pipeline).buildOperatorImage, true,
		func(f *Options) string { return reasonIf(f.Deploy.Image != "", "--image") }},
	{"Build apps", (*pipeline).buildAppsCommand, (*pipeline).buildApps, true, func(f *Options) string { return f.whyNoApps() }},
	{"Deploy operator", (*pipeline).deployCommand, (*pipeline).deployOperator, true, neverSkipped},
	{"Apply capability", (*pipeline).applyCommand, (*pipeline).applyManifests, true, neverSkipped},
	{"Monitor and wait", (*pipeline).watchCommand, (*pipeline).watch, false, neverSkipped},
	{"Verify", (*pipeline).proveCommand, (*pipeline).prove, false, neverSkipped},
}

// whyNoApps says why no application is built; empty when some are.
func (f *Options) whyNoApps() string {
	switch {
	case f.SkipApps:
		return "--skip-app-build"
	case f.completed && f.Backend == "" && f.Frontend == "":
		return "no folder " + defaultBackend + " or " + defaultFrontend + " is here; name others with --backend-source and --frontend-source"
	default:
		return ""
	}
}

func neverSkipped(*Options) string { return "" }

func reasonIf(applies bool, why string) string {
	if applies {
		return why
	}
	return ""
}

// LastStep is the number of the last step.
func LastStep() int { return len(pipelineSteps) }

// pipelineReport is a run as JSON or YAML.
type pipelineReport struct {
	APIVersion string       `json:"apiVersion"`
	Kind       string       `json:"kind"`
	DryRun     bool         `json:"dryRun"`
	Steps      []stepReport `json:"steps"`
}

// stepReport is one step of a run.
type stepReport struct {
	Number  int    `json:"number"`
	Name    string `json:"name"`
	Command string `json:"command"`
	// State is Done, Failed, Skipped or Planned.
	State           string  `json:"state"`
	DurationSeconds float64 `json:"durationSeconds"`
	// Detail gives the reason why a step was skipped, or the failure.
	Detail string `json:"detail,omitempty"`
}

// pipeline is one run.
type pipeline struct {
	*connection.Connection
	flags *Options
	// objects are the manifests, and subject is the capability among them; nil when no step needs it.
	objects []*unstructured.Unstructured
	subject *nexusv1.NexusAICapability
	// operatorImage is the image that step 2 pushed, by its digest.
	operatorImage string
}

// Run runs the steps. resume returns the command line that goes on at a step.
func Run(ctx context.Context, s *connection.Connection, f *Options, resume func(step int) string) error {
	if err := f.prepare(s.Console); err != nil {
		return err
	}
	p := &pipeline{Connection: s, flags: f}
	if f.Output != "text" { // the text of the verbs must not mix with data
		p.Connection = s.PrintingTo(s.ErrOut)
	}
	if err := p.readManifests(); err != nil {
		return err
	}
	report := pipelineReport{APIVersion: imagebuild.APIVersion, Kind: "Pipeline", DryRun: f.DryRun}
	var failed error
	report.Steps, failed = p.runSteps(ctx, resume)
	if f.Output != "text" {
		return cmp.Or(failed, console.PrintAs(s.Out, f.Output, report, nil))
	}
	return failed
}

// runSteps runs the steps up to the first that fails, or in a dry run shows the effect of each.
func (p *pipeline) runSteps(ctx context.Context, resume func(step int) string) (done []stepReport, failed error) {
	for i, step := range pipelineSteps {
		r := p.planned(i+1, step)
		if r.State == "Planned" && !p.flags.DryRun {
			failed = p.runStep(ctx, step, &r)
		}
		p.announce(r)
		if r.State == "Planned" && step.looks {
			failed = p.look(ctx, step, &r, failed)
		}
		done = append(done, r)
		if failed != nil && !p.flags.DryRun {
			p.Say("To continue: %s", resume(r.Number))
			break
		}
	}
	return done, failed
}

// planned returns the report of a step before it runs, by its number.
func (p *pipeline) planned(number int, step pipelineStep) stepReport {
	r := stepReport{Number: number, Name: step.name, Command: step.command(p), State: "Planned", Detail: step.skipped(p.flags)}
	if !p.flags.runs(number) {
		r.State, r.Detail = "Skipped", cmp.Or(r.Detail, "--from-step and --to-step")
	}
	return r
}

// runStep runs one step and completes its report.
func (p *pipeline) runStep(ctx context.Context, step pipelineStep, r *stepReport) error {
	p.line(fmt.Sprintf("[%d/%d] %s", r.Number, len(pipelineSteps), r.Name))
	began := p.Clock.Now()
	err := step.run(p, ctx)
	r.DurationSeconds, r.State = console.Seconds(p.Clock.Now().Sub(began)), "Done"
	if ctx.Err() != nil && err != nil {
		err = interruptedIn(r.Number, err)
	}
	if err != nil {
		r.State, r.Detail = "Failed", err.Error()
		if r.Detail == "" {
			return &exit.Failure{Code: exit.CodeOf(ctx, err), Err: fmt.Errorf("step %d, %s, failed: see above", r.Number, r.Name)}
		}
		return fmt.Errorf("step %d, %s: %w", r.Number, r.Name, err)
	}
	return nil
}

// look makes the dry run of one step. One that fails does not end the others; the first failure is returned.
func (p *pipeline) look(ctx context.Context, step pipelineStep, r *stepReport, before error) error {
	err := step.run(p, ctx)
	if err == nil || ctx.Err() != nil {
		return cmp.Or(before, err)
	}
	r.Detail = err.Error()
	p.line("The dry run of this step failed: " + r.Detail)
	return cmp.Or(before, fmt.Errorf("the dry run of step %d, %s: %w", r.Number, r.Name, err))
}

// interruptedIn is the interruption of a step, after steps that have changed something.
func interruptedIn(step int, err error) error {
	i, found := errors.AsType[*exit.Interruption](exit.Shortened(exit.CodeInterrupted, err))
	if !found || exit.IsJoined(err) {
		return err
	}
	text := fmt.Sprintf("The command was interrupted in step %d. The steps before it are done.", step)
	if i.Text != "" || i.Waiting || len(i.Changed) > 0 {
		text += " " + i.Said()
	}
	return &exit.Interruption{Text: text}
}

// announce prints how a step ended.
func (p *pipeline) announce(r stepReport) {
	head := fmt.Sprintf("[%d/%d] %s: ", r.Number, len(pipelineSteps), r.Name)
	switch r.State {
	case "Planned":
		p.line(head + r.Command)
	case "Skipped":
		p.line(head + "skipped (" + r.Detail + ")")
	default:
		p.line(fmt.Sprintf("%s%s in %s", head, strings.ToLower(r.State),
			time.Duration(r.DurationSeconds*float64(time.Second)).Round(100*time.Millisecond)))
	}
}

// line writes a line among the output of the verbs, where nothing can be done about a failure.
func (p *pipeline) line(text string) { _, _ = fmt.Fprintln(p.Out, text) }

// readManifests finds the one capability, so that a mistake is found before the first step.
func (p *pipeline) readManifests() error {
	if len(p.flags.Files.Filenames) == 0 {
		return nil
	}
	objects, schemas, err := p.Manifests(&p.flags.Files)
	if err != nil {
		return err
	}
	p.objects = objects
	for _, u := range objects {
		if !connection.IsCapability(u) {
			continue
		}
		if p.subject != nil {
			return exit.Usage("-f: the manifests have more than one NexusAICapability: name the file of one")
		}
		if p.subject, err = connection.CapabilityOf(schemas, u.DeepCopy()); err != nil {
			return exit.Usage("-f: %w", err)
		}
	}
	if p.subject == nil {
		return exit.Usage("-f: the manifests have no NexusAICapability")
	}
	return nil
}

// clean removes an installation of nexusctl, if there is one, and refreshes the kubeconfig of an EKS cluster.
func (p *pipeline) clean(ctx context.Context) error {
	_, c, err := p.Connect()
	if err != nil {
		return err
	}
	ledger, err := deploy.LedgerForRemoval(ctx, c)
	if err != nil {
		return err
	}
	if !ledger.Exists() && len(ledger.Records()) == 0 {
		if tool, err := install.InstalledBy(ctx, c); err != nil || tool != "" {
			return cmp.Or(err, exit.Precondition(fmt.Errorf("the operator was installed by %s: remove it with that tool, or add --skip-clean",
				tool)))
		}
		p.Say("There is no installation by nexusctl to remove.")
	} else if err := exit.DeniedFirst(deploy.Delete(ctx, p.Connection,
		&deploy.DeleteOptions{Full: true, Yes: true, DryRun: p.flags.DryRun, Cascade: p.flags.Cascade, Timeout: p.flags.Cleaning})); err != nil {
		return err
	} else if p.flags.DryRun {
		p.Say("The dry runs of the other steps look at what is there now, before the cleanup.")
	}
	if p.EKSCluster(p.flags.Deploy.Cluster) == "" {
		return nil
	}
	return kubeconfig.Write(ctx, p.Connection, &kubeconfig.Options{Cluster: p.flags.Deploy.Cluster, Output: "text", KeepCurrent: true,
		DryRun: p.flags.DryRun})
}

// buildOperatorImage builds and pushes the operator's image, and keeps its digest for the installation.
func (p *pipeline) buildOperatorImage(ctx context.Context) error {
	built, err := imagebuild.BuildOperator(ctx, p.Connection, &p.flags.Operator)
	if err != nil {
		return err
	}
	if built.Digest == "" { // a dry run
		p.operatorImage = built.Image
		return nil
	}
	return p.useImage(built.Image, built.Digest)
}

// useImage has the installation use an image by its digest, so that an image of the same tag replaces the pods.
func (p *pipeline) useImage(image, digest string) error {
	tag, err := name.NewTag(image)
	p.operatorImage = tag.Context().Digest(digest).String()
	return err
}

// buildApps builds and pushes the images that the capability names.
func (p *pipeline) buildApps(ctx context.Context) error {
	sources := p.flags.applications()
	for _, component := range slices.Sorted(maps.Keys(sources)) {
		f := p.flags.App
		f.Source = sources[component]
		if _, err := imagebuild.ForCapability(ctx, p.Connection, &f, p.subject, component); err != nil {
			return err
		}
	}
	return nil
}

// deployOperator installs the image of step 2, or the one that an earlier run pushed.
func (p *pipeline) deployOperator(ctx context.Context) error {
	f := p.flags.Deploy
	if f.Image == "" && p.operatorImage == "" {
		if err := p.findOperatorImage(ctx); err != nil {
			return err
		}
	}
	f.Image = cmp.Or(f.Image, p.operatorImage)
	return deploy.Run(ctx, p.Connection, &f)
}

// findOperatorImage looks where step 2 would push the image.
func (p *pipeline) findOperatorImage(ctx context.Context) error {
	f := p.flags.Operator
	f.DryRun = true
	found, err := imagebuild.BuildOperator(ctx, p.PrintingTo(io.Discard), &f)
	if err != nil {
		return err
	}
	if found.PreviousDigest == "" {
		return exit.Precondition(fmt.Errorf("the image %s is not there: run step 2 too, or name another with --image", found.Image))
	}
	return p.useImage(found.Image, found.PreviousDigest)
}

// applyManifests applies the manifests, and before them the namespaces that do not exist.
func (p *pipeline) applyManifests(ctx context.Context) error {
	_, c, err := p.Connect()
	if err != nil {
		return err
	}
	objects, err := withNamespaces(ctx, c, p.objects)
	if err != nil {
		return err
	}
	changes, err := install.Objects{Client: c, Force: p.flags.Deploy.Force}.Apply(ctx, objects, &install.Ledger{})
	if err != nil {
		return enact.ExplainConflict(err)
	}
	if len(changes) == 0 {
		p.Say("The manifests are applied already.")
	}
	if p.flags.DryRun {
		return enact.Print(p.Console, changes, nil, true)
	}
	return enact.Recorded(ctx, p.Console, nil, changes)
}

// withNamespaces puts the namespaces that objects are in and that do not exist before them.
func withNamespaces(ctx context.Context, c client.Reader, objects []*unstructured.Unstructured) ([]*unstructured.Unstructured, error) {
	known := map[string]bool{"": true}
	for _, u := range objects {
		if u.GetKind() == "Namespace" {
			known[u.GetName()] = true
		}
	}
	var out []*unstructured.Unstructured
	for _, u := range objects {
		if known[u.GetNamespace()] {
			continue
		}
		known[u.GetNamespace()] = true
		err := c.Get(ctx, client.ObjectKey{Name: u.GetNamespace()}, &corev1.Namespace{})
		if apierrors.IsNotFound(err) {
			ns := &unstructured.Unstructured{}
			ns.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Namespace"))
			ns.SetName(u.GetNamespace())
			out = append(out, ns)
		} else if err != nil {
			return nil, fmt.Errorf("reading namespace %s: %w", u.GetNamespace(), err)
		}
	}
	return append(out, objects...), nil
}

func (p *pipeline) name() []string { return []string{p.subject.Namespace + "/" + p.subject.Name} }

// watch waits until the capability runs.
func (p *pipeline) watch(ctx context.Context) error {
	return monitor.Run(ctx, p.WithoutOperatorArgs(), &p.flags.Monitor, p.name())
}

// prove verifies the capability.
func (p *pipeline) prove(ctx context.Context) error {
	return verify.Run(ctx, p.WithoutOperatorArgs(), &p.flags.Verify, p.name())
}
