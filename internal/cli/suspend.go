// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/nexus-operator/nexus-operator/api/wellknown"
	"github.com/nexus-operator/nexus-operator/internal/connection"
	"github.com/nexus-operator/nexus-operator/internal/console"
	"github.com/nexus-operator/nexus-operator/internal/exit"
	"github.com/nexus-operator/nexus-operator/internal/inspect"
	"github.com/nexus-operator/nexus-operator/internal/objectrequest"
)

func suspendCommand(s *connection.Connection) *cobra.Command {
	f := &requestFlags{}
	cmd := &cobra.Command{
		Use:   "suspend (KIND/NAME... | --all)",
		Short: "Freeze capabilities or AWS resource objects: nothing is written, deleted or checked",
		Long: "suspend sets the annotation " + wellknown.AnnotationPaused + " to \"true\". The operator then neither writes nor deletes\n" +
			"nor checks the object; of a capability, with every object that it created. Workloads and AWS resources keep running.\n" +
			"An object that a capability created is suspended with its capability.",
		Example: "  nexusctl suspend ncap/myapp -n team-a\n  nexusctl suspend --all -A --dry-run",
		Args:    arguments(cobra.ArbitraryArgs),
		RunE: func(cmd *cobra.Command, args []string) error {
			return (&requestVerb{Connection: s}).change(cmd.Context(), f, args, toSuspend)
		},
	}
	f.add(cmd, "suspend")
	return cmd
}

func resumeCommand(s *connection.Connection) *cobra.Command {
	f := &requestFlags{}
	cmd := &cobra.Command{
		Use:   "resume (KIND/NAME... | --all)",
		Short: "End the suspension of capabilities or AWS resource objects",
		Long: "resume removes the annotation " + wellknown.AnnotationPaused + ", and sets spec.suspend of a capability to false. The operator\n" +
			"then checks the object, and corrects what changed in the meantime.",
		Example: "  nexusctl resume ncap/myapp -n team-a\n  nexusctl resume --all -n team-a",
		Args:    arguments(cobra.ArbitraryArgs),
		RunE: func(cmd *cobra.Command, args []string) error {
			return (&requestVerb{Connection: s}).change(cmd.Context(), f, args, toResume)
		},
	}
	f.add(cmd, "resume")
	return cmd
}

// change makes a request of each object that the command line names. All are judged before the first is changed.
func (s *requestVerb) change(ctx context.Context, f *requestFlags, args []string,
	to func(*unstructured.Unstructured) (objectrequest.Request, error)) error {
	if err := f.Check(args); err != nil {
		return err
	}
	r, err := s.Reader()
	if err != nil {
		return err
	}
	objects, err := s.targets(ctx, r, f, args)
	if err != nil {
		return err
	}
	var requests []objectrequest.Request
	for _, u := range objects {
		q, err := s.suspension(r, u, to)
		if err != nil {
			return err
		}
		requests = append(requests, q)
	}
	return objectrequest.Send(ctx, s.Console, r.Client, requests, f.dryRun)
}

// suspension refuses kinds that cannot be suspended.
func (s *requestVerb) suspension(r *inspect.Reader, u *unstructured.Unstructured,
	to func(*unstructured.Unstructured) (objectrequest.Request, error)) (objectrequest.Request, error) {
	if !connection.IsCapability(u) && !objectrequest.HasAWSKind(r, u) {
		return objectrequest.Request{}, exit.Usage("%s cannot be suspended: only capabilities and AWS resource objects can", console.TitleOf(u))
	}
	return to(u)
}

func toSuspend(u *unstructured.Unstructured) (objectrequest.Request, error) {
	if c := objectrequest.CapabilityThatOwns(u); c != "" {
		return objectrequest.Request{}, exit.Usage("%s belongs to NexusAICapability %s: suspend ncap/%s, with every object that it created",
			console.TitleOf(u), c, c)
	}
	return objectrequest.Request{Object: u, Done: "suspended", Unchanged: objectrequest.IsPaused(u),
		Patch: map[string]any{"metadata": map[string]any{"annotations": map[string]any{wellknown.AnnotationPaused: "true"}}}}, nil
}

func toResume(u *unstructured.Unstructured) (objectrequest.Request, error) {
	if c := objectrequest.CapabilityThatOwns(u); c != "" && !objectrequest.IsPaused(u) {
		return objectrequest.Request{}, exit.Usage("%s belongs to NexusAICapability %s: resume ncap/%s", console.TitleOf(u), c, c)
	}
	q := objectrequest.Request{Object: u, Done: "resumed", Unchanged: !objectrequest.IsPaused(u) && !objectrequest.IsSuspended(u),
		Patch: map[string]any{"metadata": map[string]any{"annotations": map[string]any{wellknown.AnnotationPaused: nil}}}}
	if objectrequest.IsSuspended(u) {
		q.Patch["spec"] = map[string]any{"suspend": false}
		q.Note = "spec.suspend is set to false; remove it from the manifest as well, or the next apply suspends the capability again"
	}
	return q, nil
}
