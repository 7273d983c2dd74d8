// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/api/wellknown"
	"github.com/nexus-operator/nexus-operator/internal/connection"
	"github.com/nexus-operator/nexus-operator/internal/console"
	"github.com/nexus-operator/nexus-operator/internal/enact"
	"github.com/nexus-operator/nexus-operator/internal/engine"
	"github.com/nexus-operator/nexus-operator/internal/exit"
	"github.com/nexus-operator/nexus-operator/internal/inspect"
)

// requestFlags are the flags of the verbs that ask the operator for something by a change of objects.
type requestFlags struct {
	all, everywhere, dryRun bool
}

// requestVerb is a run of a verb that asks the operator for something.
type requestVerb struct {
	*connection.Connection
}

func (f *requestFlags) add(cmd *cobra.Command, what string) {
	cmd.Flags().BoolVar(&f.all, "all", false, what+" every capability, and every AWS resource object that belongs to none")
	cmd.Flags().BoolVarP(&f.everywhere, "all-namespaces", "A", false, "with --all: in every namespace")
	cmd.Flags().BoolVar(&f.dryRun, "dry-run", false, "send the changes as server-side dry runs, and change nothing")
}

// Check refuses command lines that name nothing, or two things.
func (f *requestFlags) Check(args []string) error {
	switch {
	case f.all == (len(args) > 0):
		return exit.Usage("name objects as KIND/NAME, or use --all, and one of them")
	case f.everywhere && !f.all:
		return exit.Usage("--all-namespaces goes with --all")
	default:
		return nil
	}
}

// targets are the objects that a command line names.
func (s *requestVerb) targets(ctx context.Context, r *inspect.Reader, f *requestFlags, args []string) ([]*unstructured.Unstructured, error) {
	if !f.all {
		return s.NamedObjects(args)
	}
	objects, err := everyObject(ctx, s.Connection, r.Client, r.Kinds, f.everywhere)
	if err == nil && len(objects) == 0 {
		s.Say("There are no capabilities and no AWS resource objects there.")
	}
	return objects, err
}

// request is a change of one object.
type request struct {
	object *unstructured.Unstructured
	patch  map[string]any
	// done describes the operator's next actions after the change; note is an additional remark.
	done, note string
	// unchanged is true when there is nothing to change.
	unchanged bool
	// again makes the change once more of the object as it is now, or says why it can no longer be made. It is for a patch with a
	// resourceVersion: the operator writes the status of objects at any time, which is no reason to refuse it.
	again func(now *unstructured.Unstructured) (request, error)
}

// send sends changes one after the other and reports each. A failure does not keep it from the others; an interruption
// ends it between two changes, and says which were made.
func send(ctx context.Context, s *console.Console, c client.Client, requests []request, dryRun bool) error {
	var errs []error
	var changed []string
	for i, q := range requests {
		title := console.TitleOf(q.object)
		if ctx.Err() != nil {
			return &exit.Interruption{Changed: changed, Left: len(requests) - i}
		}
		if q.unchanged {
			if err := s.Report(title, q.done+" already", ""); err != nil {
				return err
			}
			continue
		}
		if err := patchObject(ctx, c, q, dryRun); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", title, err))
			continue
		}
		done := q.done
		if dryRun {
			done += " (dry run)"
		} else {
			changed = append(changed, title)
		}
		if err := s.Report(title, done, q.note); err != nil {
			return err
		}
	}
	return errors.Join(errs...)
}

// patchObject sends one change, and once more where the object was written meanwhile and the change can still be made.
func patchObject(ctx context.Context, c client.Client, q request, dryRun bool) error {
	first, pauses := true, wait.Backoff{Duration: 100 * time.Millisecond, Factor: 1.5, Jitter: 0.1, Steps: 7} // two seconds in all
	return retry.OnError(pauses, func(err error) bool { return apierrors.IsConflict(err) && q.again != nil && ctx.Err() == nil }, func() error {
		if !first {
			now := &unstructured.Unstructured{}
			now.SetGroupVersionKind(q.object.GroupVersionKind())
			if err := c.Get(ctx, client.ObjectKeyFromObject(q.object), now); err != nil {
				return err
			}
			var err error
			if q, err = q.again(now); err != nil || q.unchanged {
				return err
			}
		}
		first = false
		return patchOnce(ctx, c, q, dryRun)
	})
}

// patchOnce sends one change. An interruption does not cut it off, so that it is known whether it was made.
func patchOnce(ctx context.Context, c client.Client, q request, dryRun bool) error {
	b, err := json.Marshal(q.patch)
	if err != nil {
		return err
	}
	ctx, cancel := exit.Uncut(ctx, enact.PatchTimeout)
	defer cancel()
	opts := []client.PatchOption{client.FieldOwner("nexusctl")}
	if dryRun {
		opts = append(opts, client.DryRunAll)
	}
	return c.Patch(ctx, q.object.DeepCopy(), client.RawPatch(types.MergePatchType, b), opts...)
}

// capabilityThatOwns is the name of the capability that made an object, "" when none did.
func capabilityThatOwns(u *unstructured.Unstructured) string {
	if owner := metav1.GetControllerOf(u); owner != nil && owner.Kind == "NexusAICapability" {
		return owner.Name
	}
	return ""
}

// isPaused reports whether an object carries the annotation that freezes it.
func isPaused(u *unstructured.Unstructured) bool {
	return u.GetAnnotations()[wellknown.AnnotationPaused] == "true"
}

// isSuspended reports whether the specification of a capability suspends it.
func isSuspended(u *unstructured.Unstructured) bool {
	suspended, _, _ := unstructured.NestedBool(u.Object, "spec", "suspend")
	return connection.IsCapability(u) && suspended
}

// hasAWSKind reports whether an object stands for an AWS resource.
func hasAWSKind(r *inspect.Reader, u *unstructured.Unstructured) bool {
	return slices.ContainsFunc(r.Kinds, func(e engine.Entry) bool { return e.Name() == u.GetKind() })
}
