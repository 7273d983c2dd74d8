// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/api/wellknown"
	"github.com/nexus-operator/nexus-operator/internal/connection"
	"github.com/nexus-operator/nexus-operator/internal/console"
	"github.com/nexus-operator/nexus-operator/internal/enact"
	"github.com/nexus-operator/nexus-operator/internal/exit"
	"github.com/nexus-operator/nexus-operator/internal/inspect"
	"github.com/nexus-operator/nexus-operator/internal/objectrequest"
)

// reconcileFlags are the flags of the verb.
type reconcileFlags struct {
	requestFlags
	wait    bool
	timeout time.Duration
}

func reconcileCommand(s *connection.Connection) *cobra.Command {
	f := &reconcileFlags{}
	cmd := &cobra.Command{
		Use:   "reconcile (KIND/NAME... | --all)",
		Short: "Have the operator check objects now",
		Long: "reconcile sets the annotation " + wellknown.AnnotationReconcileAt +
			" to the present time. The operator then compares the object\n" +
			"with AWS at once, instead of at the next periodic check, and tries a failed one again. A capability is checked with\n" +
			"every AWS resource object that it created.\n\n" +
			"With --wait, reconcile waits until every check is done. It exits with 1 when an object is not ready after its check,\n" +
			"and with 124 when the time is over.",
		Example: "  nexusctl reconcile ncap/myapp -n team-a --wait\n  nexusctl reconcile s3bucket/logs dynamodbtable/calls\n  nexusctl reconcile --all -A",
		Args:    arguments(cobra.ArbitraryArgs),
		RunE: func(cmd *cobra.Command, args []string) error {
			return (&requestVerb{Connection: s}).reconcile(cmd.Context(), f, args)
		},
	}
	f.add(cmd, "check")
	cmd.Flags().BoolVar(&f.wait, "wait", false, "wait until every check is done")
	cmd.Flags().DurationVar(&f.timeout, "timeout", 5*time.Minute, "how long --wait waits")
	return cmd
}

func (s *requestVerb) reconcile(ctx context.Context, f *reconcileFlags, args []string) error {
	if f.wait && f.dryRun {
		return exit.Usage("--wait does not go with --dry-run: nothing is requested that could be waited for")
	}
	if err := f.Check(args); err != nil {
		return err
	}
	r, err := s.Reader()
	if err != nil {
		return err
	}
	objects, err := s.reconcilable(ctx, r, f, args)
	if err != nil {
		return err
	}
	at := s.Clock.Now().UTC().Format(time.RFC3339Nano)
	var requests []objectrequest.Request
	for _, u := range objects {
		requests = append(requests, checkRequest(u, at))
	}
	if err := objectrequest.Send(ctx, s.Console, r.Client, requests, f.dryRun); err != nil || !f.wait {
		return err
	}
	return s.waitForChecks(ctx, r.Client, objects, at, f.timeout)
}

func checkRequest(u *unstructured.Unstructured, at string) objectrequest.Request {
	return objectrequest.Request{Object: u, Done: "check requested",
		Patch: map[string]any{"metadata": map[string]any{"annotations": map[string]any{wellknown.AnnotationReconcileAt: at}}}}
}

// reconcilable are the objects that the command line names, with the resources of capabilities among them. It refuses objects that ignore
// such requests; among all objects it leaves them out.
func (s *requestVerb) reconcilable(ctx context.Context, r *inspect.Reader, f *reconcileFlags,
	args []string) ([]*unstructured.Unstructured, error) {
	objects, err := s.targets(ctx, r, &f.requestFlags, args)
	if err != nil {
		return nil, err
	}
	var out []*unstructured.Unstructured
	for _, u := range objects {
		err := mayBeReconciled(ctx, r, u)
		if err == nil {
			out = append(out, u)
			continue
		}
		if _, suspended := errors.AsType[*exit.Failure](err); !f.all || !suspended {
			return nil, err
		}
		s.Say("%s", err)
	}
	return withResources(ctx, r, out)
}

// withResources adds to each capability the AWS resource objects that it created. It leaves out the AWSProvider, which
// few people may write.
func withResources(ctx context.Context, r *inspect.Reader, objects []*unstructured.Unstructured) ([]*unstructured.Unstructured, error) {
	out := slices.Clone(objects)
	for _, u := range objects {
		if !connection.IsCapability(u) {
			continue
		}
		for _, e := range r.Kinds {
			list := &unstructured.UnstructuredList{}
			list.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind(e.Name()))
			if err := r.Client.List(ctx, list, client.InNamespace(u.GetNamespace()),
				client.MatchingLabels{wellknown.LabelCapabilityUID: string(u.GetUID())}); err != nil {
				return nil, fmt.Errorf("listing %s objects: %w", e.Name(), err)
			}
			for i := range list.Items {
				item := &list.Items[i]
				if !slices.ContainsFunc(out, func(o *unstructured.Unstructured) bool { return o.GetUID() == item.GetUID() }) {
					out = append(out, item)
				}
			}
		}
	}
	return out, nil
}

// mayBeReconciled refuses objects that ignore such requests.
func mayBeReconciled(ctx context.Context, r *inspect.Reader, u *unstructured.Unstructured) error {
	if !connection.IsCapability(u) && !objectrequest.HasAWSKind(r, u) && u.GetKind() != "AWSProvider" {
		return exit.Usage("%s: the operator takes no requests for objects of its kind; it processes them whenever something that they depend on changes", console.TitleOf(u))
	}
	frozen := u
	if name := objectrequest.CapabilityThatOwns(u); name != "" {
		c := &unstructured.Unstructured{}
		c.SetGroupVersionKind(objectrequest.CapabilityKind)
		if err := r.Client.Get(ctx, client.ObjectKey{Namespace: u.GetNamespace(), Name: name}, c); client.IgnoreNotFound(err) != nil {
			return err
		} else if err == nil && (objectrequest.IsPaused(c) || objectrequest.IsSuspended(c)) {
			frozen = c
		}
	}
	if objectrequest.IsPaused(frozen) || objectrequest.IsSuspended(frozen) {
		return exit.Precondition(fmt.Errorf("%s is suspended, so %s is not checked: resume it first (nexusctl resume %s/%s -n %s)",
			console.TitleOf(frozen), console.TitleOf(u), strings.ToLower(frozen.GetKind()), frozen.GetName(), frozen.GetNamespace()))
	}
	return nil
}

// checks are requests that the operator has not answered yet.
type checks struct {
	*console.Console
	client client.Client
	at     string
	open   []*unstructured.Unstructured
	// next holds the capabilities, which are asked again after all resources are checked: a check of a capability takes the
	// states that its resources have by then.
	next []*unstructured.Unstructured
	// unready counts the objects that were not ready after their check.
	unready int
}

// waitForChecks waits until the statuses of the objects answer the request.
func (s *requestVerb) waitForChecks(ctx context.Context, c client.Client, objects []*unstructured.Unstructured, at string,
	timeout time.Duration) error {
	bounded, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	k := &checks{Console: s.Console, client: c, at: at}
	for _, u := range objects {
		if connection.IsCapability(u) {
			k.next = append(k.next, u)
		} else {
			k.open = append(k.open, u)
		}
	}
	if len(k.open) == 0 {
		k.open, k.next = k.next, nil
	}
	err := wait.PollUntilContextCancel(bounded, enact.PollInterval, true, k.look)
	switch {
	case ctx.Err() != nil:
		return &exit.Interruption{Waiting: true}
	case bounded.Err() != nil:
		return &exit.Failure{Code: exit.CodeTimeout, Err: fmt.Errorf("not checked within %s: %s", timeout,
			titlesWithReasons(slices.Concat(k.open, k.next)))}
	case err != nil:
		return err
	case k.unready > 0:
		return &exit.Failure{Code: exit.CodeFailed}
	default:
		return nil
	}
}

// askAgain requests the checks of the capabilities, after the operator has seen the results of the checks of their resources.
func (k *checks) askAgain(ctx context.Context) error {
	k.at, k.open, k.next = k.Clock.Now().UTC().Format(time.RFC3339Nano), k.next, nil
	for _, u := range k.open {
		if err := objectrequest.Patch(ctx, k.client, checkRequest(u, k.at), false); err != nil {
			return fmt.Errorf("%s: %w", console.TitleOf(u), err)
		}
	}
	return nil
}

// look reports the checks that were done since the last look, and whether none is left.
func (k *checks) look(ctx context.Context) (bool, error) {
	if len(k.open) == 0 {
		if err := k.askAgain(ctx); err != nil {
			return false, err
		}
	}
	var still []*unstructured.Unstructured
	for _, u := range k.open {
		done, err := k.isDone(ctx, u)
		if err != nil {
			return false, err
		}
		if !done {
			still = append(still, u)
		}
	}
	k.open = still
	return len(still)+len(k.next) == 0, nil
}

// isDone reports the check of an object once it was done. An object that was being deleted may be gone by then.
func (k *checks) isDone(ctx context.Context, u *unstructured.Unstructured) (bool, error) {
	title := console.TitleOf(u)
	err := k.client.Get(ctx, client.ObjectKeyFromObject(u), u)
	if apierrors.IsNotFound(err) {
		return true, k.Report(title, "gone", "")
	}
	if err != nil {
		return false, fmt.Errorf("reading %s: %w", title, err)
	}
	if handled, _, _ := unstructured.NestedString(u.Object, "status", "lastHandledReconcileAt"); handled != k.at {
		return false, nil
	}
	state := inspect.Statuses([]*unstructured.Unstructured{u}).Objects[0]
	if !state.Ready {
		k.unready++
	}
	return true, k.Report(title, checkedAs(state)+driftSuffix(u), "")
}

// driftSuffix counts the fields that differ in AWS and are not corrected.
func driftSuffix(u *unstructured.Unstructured) string {
	drift, _, _ := unstructured.NestedSlice(u.Object, "status", "drift")
	if len(drift) == 0 {
		return ""
	}
	return fmt.Sprintf("; fields that differ: %d (nexusctl drift -n %s)", len(drift), u.GetNamespace())
}

// checkedAs describes the result of a check.
func checkedAs(o inspect.ObjectStatus) string {
	if o.Ready {
		return "checked, ready"
	}
	for _, c := range o.Conditions {
		if c.Type == "Ready" {
			return "checked, not ready: " + c.Reason + ": " + c.Message
		}
	}
	return "checked, not ready"
}

// titlesWithReasons names the objects with the reasons of their conditions for the missing check.
func titlesWithReasons(objects []*unstructured.Unstructured) string {
	var out []string
	for _, u := range objects {
		out = append(out, console.TitleOf(u)+reasonOfDelay(inspect.Statuses([]*unstructured.Unstructured{u}).Objects[0].Conditions))
	}
	return strings.Join(out, ", ")
}

// reasonOfDelay returns why an object is not Ready, or, for one that stays Ready, the condition that its check waits for.
func reasonOfDelay(conditions []metav1.Condition) string {
	for _, wanted := range []struct {
		kind   string
		status metav1.ConditionStatus
	}{{"Ready", metav1.ConditionFalse}, {"Reconciling", metav1.ConditionTrue}} {
		for _, c := range conditions {
			if c.Type == wanted.kind && c.Status == wanted.status && c.Reason != "" {
				return " (" + strings.TrimSuffix(c.Reason+": "+c.Message, ": ") + ")"
			}
		}
	}
	return ""
}
