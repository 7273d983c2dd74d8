// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/nexus-operator/nexus-operator/api/wellknown"
	"github.com/nexus-operator/nexus-operator/internal/connection"
	"github.com/nexus-operator/nexus-operator/internal/console"
	"github.com/nexus-operator/nexus-operator/internal/exit"
	"github.com/nexus-operator/nexus-operator/internal/objectrequest"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// approveFlags are the flags of the verb.
type approveFlags struct {
	hash   string
	dryRun bool
}

func approveCommand(s *connection.Connection) *cobra.Command {
	f := &approveFlags{}
	cmd := &cobra.Command{
		Use:   "approve KIND/NAME...",
		Short: "Approve the plans of objects that wait for an approval",
		Long: "approve sets the annotation " + wellknown.AnnotationApprovedPlan + " to the hash of the plan that waits, where a\n" +
			"namespace has the label " + wellknown.LabelPlanGate + "=" + wellknown.PlanGateClosed +
			" or matches --plan-gate of the operator. The operator then runs\n" +
			"exactly this plan. If the object, or what is in AWS, differs by then, it makes another plan, which waits again.\n\n" +
			"You need the right to the verb " + wellknown.ApproveVerb + " of the resource, which ClusterRole nexus-operator-approve has. Review\n" +
			"a plan with nexusctl plan KIND/NAME, and name its hash with --hash, so that no other plan is approved. The plan of a\n" +
			"capability covers all of its objects. An object of it that was changed on its own waits on its own, and is approved, too.",
		Example: "  nexusctl approve s3bucket/logs -n team-a --hash 0d6b3a1c4b1f4f0e8f0a5f1f9a3e7c21\n  nexusctl approve s3bucket/logs dynamodbtable/calls -n team-a",
		Args:    arguments(cobra.MinimumNArgs(1)),
		RunE:    func(cmd *cobra.Command, args []string) error { return approve(cmd.Context(), s, f, args) },
	}
	cmd.Flags().StringVar(&f.hash, "hash", "", "hash of the plan to approve; default: the plan that waits now")
	cmd.Flags().BoolVar(&f.dryRun, "dry-run", false, "send the changes as server-side dry runs, and change nothing")
	return cmd
}

func approve(ctx context.Context, s *connection.Connection, f *approveFlags, args []string) error {
	if f.hash != "" && len(args) > 1 {
		return exit.Usage("--hash goes with one object: each has its own plan")
	}
	r, err := s.Reader()
	if err != nil {
		return err
	}
	objects, err := s.NamedObjects(args)
	if err != nil {
		return err
	}
	if objects, err = withResources(ctx, r, objects); err != nil {
		return err
	}
	requests, err := approvalsOf(objects, f.hash)
	if err != nil {
		return err
	}
	return objectrequest.Send(ctx, s.Console, r.Client, requests, f.dryRun)
}

// approvalsOf returns the changes that approve the plans of objects. Of a capability and its objects, at least one must wait; a hash is
// that of the capability.
func approvalsOf(objects []*unstructured.Unstructured, hash string) ([]objectrequest.Request, error) {
	whole := slices.ContainsFunc(objects, connection.IsCapability)
	var out []objectrequest.Request
	var missing error
	for _, u := range objects {
		if hash != "" && whole && !connection.IsCapability(u) {
			continue
		}
		q, err := approvalOf(u, hash)
		switch {
		case err == nil:
			out = append(out, q)
		case !connection.IsCapability(u) && objectrequest.CapabilityThatOwns(u) == "":
			return nil, err
		case missing == nil:
			missing = err
		}
	}
	if len(out) > 0 {
		return out, nil
	}
	return nil, missing
}

// approvalOf returns the change that approves the plan of an object that waits. With a hash, it refuses another plan.
func approvalOf(u *unstructured.Unstructured, hash string) (objectrequest.Request, error) {
	conditions, err := conditionsOf(u)
	if err != nil {
		return objectrequest.Request{}, err
	}
	name := strings.ToLower(u.GetKind()) + "/" + u.GetName() + " -n " + u.GetNamespace()
	pending := status.PendingPlan(conditions)
	switch {
	case pending == "":
		return objectrequest.Request{}, exit.Precondition(fmt.Errorf("no plan of %s waits for an approval: see nexusctl status %s",
			console.TitleOf(u), name))
	case hash != "" && hash != pending:
		return objectrequest.Request{},
			exit.Precondition(fmt.Errorf("plan %s of %s waits for an approval, and not %s: the object or its AWS resource changed; review it with nexusctl plan %s", pending, console.TitleOf(u), hash, name))
	}
	again := func(now *unstructured.Unstructured) (objectrequest.Request, error) { return approvalOf(now, pending) }
	return objectrequest.Request{Object: u, Done: "plan " + pending + " approved", Again: again,
		Unchanged: u.GetAnnotations()[wellknown.AnnotationApprovedPlan] == pending,
		Patch: map[string]any{"metadata": map[string]any{"resourceVersion": u.GetResourceVersion(),
			"annotations": map[string]any{wellknown.AnnotationApprovedPlan: pending}}}}, nil
}

// conditionsOf reads the conditions of an object.
func conditionsOf(u *unstructured.Unstructured) ([]metav1.Condition, error) {
	content, _, _ := unstructured.NestedMap(u.Object, "status")
	var st struct {
		Conditions []metav1.Condition `json:"conditions"`
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(content, &st); err != nil {
		return nil, fmt.Errorf("reading the conditions of %s: %w", console.TitleOf(u), err)
	}
	return st.Conditions, nil
}
