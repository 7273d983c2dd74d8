// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/api/wellknown"
	"github.com/nexus-operator/nexus-operator/internal/capability"
	"github.com/nexus-operator/nexus-operator/internal/connection"
	"github.com/nexus-operator/nexus-operator/internal/console"
	"github.com/nexus-operator/nexus-operator/internal/enact"
	"github.com/nexus-operator/nexus-operator/internal/exit"
	"github.com/nexus-operator/nexus-operator/internal/imagebuild"
	"github.com/nexus-operator/nexus-operator/internal/inspect"
	"github.com/nexus-operator/nexus-operator/internal/objectrequest"
)

// annotationRevision is the annotation in which the Deployment controller counts the templates of a Deployment.
const annotationRevision = "deployment.kubernetes.io/revision"

// rollout is a restart of the pods of one workload, as JSON or YAML.
type rollout struct {
	Object string `json:"object"`
	Image  string `json:"image"`
	// Before and After are the digests that the pods ran and run; empty where no node has reported one.
	Before []string `json:"before,omitempty"`
	After  []string `json:"after,omitempty"`
	// RevisionBefore and RevisionAfter are the Deployment's; empty for a StatefulSet.
	RevisionBefore string `json:"revisionBefore,omitempty"`
	RevisionAfter  string `json:"revisionAfter,omitempty"`
}

// rollouts is the report of rollout.
type rollouts struct {
	APIVersion string             `json:"apiVersion"`
	Kind       string             `json:"kind"`
	Capability string             `json:"capability"`
	DryRun     bool               `json:"dryRun"`
	Build      *imagebuild.Report `json:"build,omitempty"`
	Items      []rollout          `json:"items"`
	Notes      []string           `json:"notes,omitempty"`
}

// rolloutFlags holds the flags of rollout.
type rolloutFlags struct {
	app        imagebuild.AppOptions
	build      string
	components []string
	output     string
	dryRun     bool
	timeout    time.Duration
}

func rolloutCommand(s *connection.Connection) *cobra.Command {
	f := &rolloutFlags{}
	cmd := &cobra.Command{
		Use:   "rollout [NAMESPACE/NAME | ncap/NAME]",
		Short: "Replace the pods of a capability, after building an image again",
		Long: "rollout replaces the pods of a capability's components one after the other, as kubectl rollout restart does, waits until the new ones\n" +
			"are ready, and prints the digests of the image and the revisions of the Deployment before and after. With --build it first\n" +
			"builds the image of a component and pushes it to where the capability pulls it from, and replaces the pods of that component only;\n" +
			"the flags for that are those of nexusctl build app. The capability stays as it is declared, and the operator leaves the restart alone.",
		Example: "  nexusctl rollout ncap/myapp -n team-a --build backend --source ../backend\n  nexusctl rollout team-a/myapp --component frontend\n  nexusctl rollout --dry-run",
		Args:    arguments(cobra.MaximumNArgs(1)),
		RunE:    func(cmd *cobra.Command, args []string) error { return runRollout(cmd.Context(), s, f, args) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.build, "build", "", "component whose image is built and pushed first")
	flags.StringSliceVar(&f.components, "component", nil, "components whose pods are replaced; default: the one of --build, else all")
	flags.BoolVar(&f.dryRun, "dry-run", false, "send the changes as server-side dry runs, build nothing, and change nothing")
	flags.DurationVar(&f.timeout, "timeout", 10*time.Minute, "how long to wait for the new pods of each component; building may take 30 minutes besides")
	addSourceFlags(&f.app, cmd)
	outputFlag(cmd, &f.output, "text", "json", "yaml")
	return cmd
}

// Check refuses mistakes.
func (f *rolloutFlags) Check() error {
	if f.timeout <= 0 {
		return exit.Usage("--timeout: %s is not a duration above 0", f.timeout)
	}
	if f.build != "" && len(f.components) == 0 {
		f.components = []string{f.build}
	}
	for _, name := range f.components {
		if err := imagebuild.CheckComponent(name); err != nil {
			return err
		}
	}
	f.app.Options = imagebuild.Options{DryRun: f.dryRun, Timeout: imagebuild.DefaultTimeout}
	return nil
}

// choose completes the components, and refuses those that the capability does not have.
func (f *rolloutFlags) choose(c *nexusv1.NexusAICapability) error {
	for _, name := range append([]string{f.build}, f.components...) {
		w, err := imagebuild.ComponentNamed(c, name)
		if err != nil && name != "" {
			return err
		}
		if err == nil && w.Deployment == "" {
			return exit.Usage("%s keeps no pods running: a Job runs again after an edit, or after kubectl delete job, and a CronJob at the times of its schedule", name)
		}
	}
	if len(f.components) == 0 {
		for _, w := range capability.Workloads(c) {
			if w.Deployment != "" { // restarting a Job would run it again
				f.components = append(f.components, w.Component)
			}
		}
	}
	return nil
}

func runRollout(ctx context.Context, s *connection.Connection, f *rolloutFlags, args []string) error {
	if err := f.Check(); err != nil {
		return err
	}
	at, err := s.OpenCapability(ctx, args)
	if err != nil {
		return err
	}
	c, subject := at.Client, at.Subject
	if err := f.choose(subject); err != nil {
		return err
	}
	work := s
	if f.output != "text" { // the messages about each step leave standard output to the data
		work = s.PrintingTo(s.ErrOut)
	}
	report := &rollouts{APIVersion: imagebuild.APIVersion, Kind: "Rollout", Capability: subject.Namespace + "/" + subject.Name, DryRun: f.dryRun, Items: []rollout{}}
	targets, err := deploymentsOf(ctx, c, subject, f.components)
	if err != nil {
		return err
	}
	if f.build != "" {
		if report.Build, err = imagebuild.ForCapability(ctx, work, &f.app, subject, f.build); err != nil {
			return err
		}
	}
	if err := report.restartAll(ctx, work.Console, c, targets, f); err != nil {
		return err
	}
	if f.output != "text" {
		return console.PrintAs(s.Out, f.output, report, nil)
	}
	return nil
}

// restartAll replaces the pods of one Deployment after the other.
func (r *rollouts) restartAll(ctx context.Context, s *console.Console, c client.Client, targets []*appsv1.Deployment, f *rolloutFlags) error {
	for _, d := range targets {
		item, err := restart(ctx, s, c, restartOf(d, f))
		if err != nil {
			return err
		}
		r.Items = append(r.Items, item)
		if containers := d.Spec.Template.Spec.Containers; f.build != "" && len(containers) > 0 && containers[0].ImagePullPolicy == "IfNotPresent" {
			r.Notes = append(r.Notes, fmt.Sprintf("a node that has %s already does not pull it again: give a changed image another tag", containers[0].Image))
		}
	}
	for _, note := range r.Notes {
		s.Say("Note: %s.", note)
	}
	return nil
}

// deploymentsOf reads the Deployments of components. Each must carry the UID of the capability.
func deploymentsOf(ctx context.Context, c client.Reader, subject *nexusv1.NexusAICapability, components []string) ([]*appsv1.Deployment, error) {
	names := capability.NamesOf(subject)
	var out []*appsv1.Deployment
	for _, component := range components {
		d := &appsv1.Deployment{}
		key := client.ObjectKey{Namespace: names.WorkloadNamespace(), Name: names.Of(component)}
		err := c.Get(ctx, key, d)
		switch {
		case apierrors.IsNotFound(err):
			return nil, exit.Precondition(fmt.Errorf("the Deployment %s does not exist yet: see nexusctl monitor %s/%s", key, subject.Namespace, subject.Name))
		case err != nil:
			return nil, connection.ReadFailure(fmt.Errorf("reading Deployment %s: %w", key, err))
		case d.Labels[wellknown.LabelCapabilityUID] != string(subject.UID):
			return nil, exit.Precondition(fmt.Errorf("the Deployment %s does not belong to NexusAICapability %s/%s: see nexusctl explain", key, subject.Namespace, subject.Name))
		}
		out = append(out, d)
	}
	return out, nil
}

// restartTarget is a workload whose pods are to be replaced.
type restartTarget struct {
	workload  inspect.Workload
	namespace string
	revision  string
	dryRun    bool
	timeout   time.Duration
	// seeAlso is the command that shows more, after a timeout.
	seeAlso string
}

func restartOf(d *appsv1.Deployment, f *rolloutFlags) restartTarget {
	return restartTarget{workload: inspect.WorkloadOf(d), namespace: d.Namespace, revision: d.Annotations[annotationRevision], dryRun: f.dryRun, timeout: f.timeout,
		seeAlso: fmt.Sprintf("kubectl describe pods -n %s", d.Namespace)}
}

// restart replaces the pods of one workload and waits for the new ones.
func restart(ctx context.Context, s *console.Console, c client.Client, t restartTarget) (rollout, error) {
	w := t.workload
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(appsv1.SchemeGroupVersion.WithKind(w.Kind))
	u.SetNamespace(t.namespace)
	u.SetName(w.Name)
	out := rollout{Object: console.TitleOf(u), Image: w.Image, RevisionBefore: t.revision}
	var err error
	if out.Before, err = w.Digests(ctx, c, t.namespace); err != nil {
		return out, err
	}
	change := map[string]any{"spec": map[string]any{"template": map[string]any{"metadata": map[string]any{
		"annotations": map[string]any{annotationRestarted: s.Clock.Now().UTC().Format(time.RFC3339Nano)}}}}}
	if err := objectrequest.Send(ctx, s, c, []objectrequest.Request{{Object: u, Patch: change, Done: "pods are replaced"}}, t.dryRun); err != nil || t.dryRun {
		return out, err
	}
	limited, cancel := context.WithTimeout(ctx, t.timeout)
	defer cancel()
	err = enact.WaitFor(ctx, limited, c, u, func(now *unstructured.Unstructured) (string, error) {
		out.RevisionAfter = now.GetAnnotations()[annotationRevision]
		return enact.RolloutLeft(now)
	})
	if waiting, ok := errors.AsType[*enact.StillWaiting](err); ok {
		return out, &exit.Failure{Code: exit.CodeTimeout, Err: fmt.Errorf("%s: not done within %s: %s; see %s, and kubectl rollout undo -n %s %s/%s to go back",
			out.Object, t.timeout, waiting.Left, t.seeAlso, t.namespace, strings.ToLower(w.Kind), w.Name)}
	}
	if _, interrupted := errors.AsType[*exit.Interruption](err); interrupted {
		return out, &exit.Interruption{Text: fmt.Sprintf("The command was interrupted while it waited. The pods of %s are replaced without it: see kubectl rollout status -n %s %s/%s.",
			out.Object, t.namespace, strings.ToLower(w.Kind), w.Name)}
	}
	if err != nil {
		return out, err
	}
	if out.After, err = w.Digests(ctx, c, t.namespace); err != nil {
		return out, err
	}
	return out, s.Report(out.Object, out.Text(), "")
}

// Text describes a restart that is done.
func (r rollout) Text() string {
	text := fmt.Sprintf("ready with %s: %s -> %s", r.Image, digestText(r.Before), digestText(r.After))
	if r.RevisionBefore != "" {
		text += fmt.Sprintf(", revision %s -> %s", r.RevisionBefore, r.RevisionAfter)
	}
	return text
}
