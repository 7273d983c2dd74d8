// SPDX-License-Identifier: Apache-2.0

// Package rollout replaces the pods of applications and of the operator, and waits for the new ones.
package rollout

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

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

// annotationRevision is the annotation of the Deployment controller for the number of templates of a Deployment.
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

// Options holds the flags of rollout.
type Options struct {
	App        imagebuild.AppOptions
	Build      string
	Components []string
	Output     string
	DryRun     bool
	Timeout    time.Duration
}

// Check refuses mistakes.
func (f *Options) Check() error {
	if f.Timeout <= 0 {
		return exit.Usage("--timeout: %s is not a duration above 0", f.Timeout)
	}
	if f.Build != "" && len(f.Components) == 0 {
		f.Components = []string{f.Build}
	}
	for _, name := range f.Components {
		if err := imagebuild.CheckComponent(name); err != nil {
			return err
		}
	}
	f.App.Options = imagebuild.Options{DryRun: f.DryRun, Timeout: imagebuild.DefaultTimeout}
	return nil
}

// choose completes the components, and refuses those that the capability does not have.
func (f *Options) choose(c *nexusv1.NexusAICapability) error {
	for _, name := range append([]string{f.Build}, f.Components...) {
		w, err := imagebuild.ComponentNamed(c, name)
		if err != nil && name != "" {
			return err
		}
		if err == nil && w.Deployment == "" {
			return exit.Usage("%s keeps no pods running: a Job runs again after an edit, or after kubectl delete job, and a CronJob at the times of its schedule", name)
		}
	}
	if len(f.Components) == 0 {
		for _, w := range capability.Workloads(c) {
			if w.Deployment != "" { // restarting a Job would run it again
				f.Components = append(f.Components, w.Component)
			}
		}
	}
	return nil
}

// Run replaces the pods of a capability's components, and prints their images after that.
func Run(ctx context.Context, s *connection.Connection, f *Options, args []string) error {
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
	if f.Output != "text" { // the messages about each step leave standard output to the data
		work = s.PrintingTo(s.ErrOut)
	}
	report := &rollouts{APIVersion: imagebuild.APIVersion, Kind: "Rollout", Capability: subject.Namespace + "/" + subject.Name,
		DryRun: f.DryRun, Items: []rollout{}}
	targets, err := deploymentsOf(ctx, c, subject, f.Components)
	if err != nil {
		return err
	}
	if f.Build != "" {
		if report.Build, err = imagebuild.ForCapability(ctx, work, &f.App, subject, f.Build); err != nil {
			return err
		}
	}
	if err := report.restartAll(ctx, work.Console, c, targets, f); err != nil {
		return err
	}
	if f.Output != "text" {
		return console.PrintAs(s.Out, f.Output, report, nil)
	}
	return nil
}

// restartAll replaces the pods of one Deployment after the other.
func (r *rollouts) restartAll(ctx context.Context, s *console.Console, c client.Client, targets []*appsv1.Deployment, f *Options) error {
	for _, d := range targets {
		item, err := restart(ctx, s, c, restartOf(d, f))
		if err != nil {
			return err
		}
		r.Items = append(r.Items, item)
		if containers := d.Spec.Template.Spec.Containers; f.Build != "" && len(containers) > 0 &&
			containers[0].ImagePullPolicy == "IfNotPresent" {
			r.Notes = append(r.Notes,
				fmt.Sprintf("a node that has %s already does not pull it again: give a changed image another tag", containers[0].Image))
		}
	}
	for _, note := range r.Notes {
		s.Say("Note: %s.", note)
	}
	return nil
}

// deploymentsOf reads the Deployments of components. Each must carry the UID of the capability.
func deploymentsOf(ctx context.Context, c client.Reader, subject *nexusv1.NexusAICapability, components []string) ([]*appsv1.Deployment,
	error) {
	names := capability.NamesOf(subject)
	var out []*appsv1.Deployment
	for _, component := range components {
		d := &appsv1.Deployment{}
		key := client.ObjectKey{Namespace: names.WorkloadNamespace(), Name: names.Of(component)}
		err := c.Get(ctx, key, d)
		switch {
		case apierrors.IsNotFound(err):
			return nil, exit.Precondition(fmt.Errorf("the Deployment %s does not exist yet: see nexusctl monitor %s/%s", key, subject.Namespace,
				subject.Name))
		case err != nil:
			return nil, connection.ReadFailure(fmt.Errorf("reading Deployment %s: %w", key, err))
		case d.Labels[wellknown.LabelCapabilityUID] != string(subject.UID):
			return nil, exit.Precondition(fmt.Errorf("the Deployment %s does not belong to NexusAICapability %s/%s: see nexusctl explain", key,
				subject.Namespace, subject.Name))
		}
		out = append(out, d)
	}
	return out, nil
}

// restartTarget is a workload with pods to replace.
type restartTarget struct {
	workload  inspect.Workload
	namespace string
	revision  string
	dryRun    bool
	timeout   time.Duration
	// seeAlso is the command that shows more, after a timeout.
	seeAlso string
}

func restartOf(d *appsv1.Deployment, f *Options) restartTarget {
	return restartTarget{workload: inspect.WorkloadOf(d), namespace: d.Namespace, revision: d.Annotations[annotationRevision],
		dryRun: f.DryRun, timeout: f.Timeout,
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
	if err := objectrequest.Send(ctx, s, c, []objectrequest.Request{{Object: u, Patch: change, Done: "pods are replaced"}},
		t.dryRun); err != nil || t.dryRun {
		return out, err
	}
	limited, cancel := context.WithTimeout(ctx, t.timeout)
	defer cancel()
	err = enact.WaitFor(ctx, limited, c, u, func(now *unstructured.Unstructured) (string, error) {
		out.RevisionAfter = now.GetAnnotations()[annotationRevision]
		return enact.RolloutLeft(now)
	})
	if waiting, ok := errors.AsType[*enact.StillWaiting](err); ok {
		return out, &exit.Failure{Code: exit.CodeTimeout,
			Err: fmt.Errorf("%s: not done within %s: %s; see %s, and kubectl rollout undo -n %s %s/%s to go back",
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
