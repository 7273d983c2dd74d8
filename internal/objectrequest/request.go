// SPDX-License-Identifier: Apache-2.0

// Package objectrequest asks the operator for something by changes of objects, one after the other.
package objectrequest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/api/wellknown"
	"github.com/nexus-operator/nexus-operator/internal/connection"
	"github.com/nexus-operator/nexus-operator/internal/console"
	"github.com/nexus-operator/nexus-operator/internal/enact"
	"github.com/nexus-operator/nexus-operator/internal/engine"
	"github.com/nexus-operator/nexus-operator/internal/exit"
	"github.com/nexus-operator/nexus-operator/internal/inspect"
)

// CapabilityKind is that of capabilities.
var CapabilityKind = nexusv1.GroupVersion.WithKind("NexusAICapability")

// Request is a change of one object.
type Request struct {
	Object *unstructured.Unstructured
	Patch  map[string]any
	// Done describes the operator's next actions after the change; Note is an additional remark.
	Done, Note string
	// Unchanged is true when there is nothing to change.
	Unchanged bool
	// Again makes the change once more of the object as it is now, or says why it can no longer be made. It is for a patch with a
	// resourceVersion: the operator writes the status of objects at any time, which is no reason to refuse it.
	Again func(now *unstructured.Unstructured) (Request, error)
}

// Send sends changes one after the other and reports each. A failure does not keep it from the others; an interruption
// ends it between two changes, and says which were made.
func Send(ctx context.Context, s *console.Console, c client.Client, requests []Request, dryRun bool) error {
	var errs []error
	var changed []string
	for i, q := range requests {
		title := console.TitleOf(q.Object)
		if ctx.Err() != nil {
			return &exit.Interruption{Changed: changed, Left: len(requests) - i}
		}
		if q.Unchanged {
			if err := s.Report(title, q.Done+" already", ""); err != nil {
				return err
			}
			continue
		}
		if err := Patch(ctx, c, q, dryRun); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", title, err))
			continue
		}
		done := q.Done
		if dryRun {
			done += " (dry run)"
		} else {
			changed = append(changed, title)
		}
		if err := s.Report(title, done, q.Note); err != nil {
			return err
		}
	}
	return errors.Join(errs...)
}

// Patch sends one change, and once more where the object was written between the two and the change can still be made.
func Patch(ctx context.Context, c client.Client, q Request, dryRun bool) error {
	first, pauses := true, wait.Backoff{Duration: 100 * time.Millisecond, Factor: 1.5, Jitter: 0.1, Steps: 7} // two seconds in all
	return retry.OnError(pauses, func(err error) bool { return apierrors.IsConflict(err) && q.Again != nil && ctx.Err() == nil },
		func() error {
			if !first {
				now := &unstructured.Unstructured{}
				now.SetGroupVersionKind(q.Object.GroupVersionKind())
				if err := c.Get(ctx, client.ObjectKeyFromObject(q.Object), now); err != nil {
					return err
				}
				var err error
				if q, err = q.Again(now); err != nil || q.Unchanged {
					return err
				}
			}
			first = false
			return patchOnce(ctx, c, q, dryRun)
		})
}

// patchOnce sends one change. An interruption does not cut it off, so that it is known whether it was made.
func patchOnce(ctx context.Context, c client.Client, q Request, dryRun bool) error {
	b, err := json.Marshal(q.Patch)
	if err != nil {
		return err
	}
	ctx, cancel := exit.Uncut(ctx, enact.PatchTimeout)
	defer cancel()
	opts := []client.PatchOption{client.FieldOwner("nexusctl")}
	if dryRun {
		opts = append(opts, client.DryRunAll)
	}
	return c.Patch(ctx, q.Object.DeepCopy(), client.RawPatch(types.MergePatchType, b), opts...)
}

// CapabilityThatOwns is the name of the capability that made an object, "" when none did.
func CapabilityThatOwns(u *unstructured.Unstructured) string {
	if owner := metav1.GetControllerOf(u); owner != nil && owner.Kind == "NexusAICapability" {
		return owner.Name
	}
	return ""
}

// IsPaused reports whether an object carries the annotation that freezes it.
func IsPaused(u *unstructured.Unstructured) bool {
	return u.GetAnnotations()[wellknown.AnnotationPaused] == "true"
}

// IsSuspended reports whether the specification of a capability suspends it.
func IsSuspended(u *unstructured.Unstructured) bool {
	suspended, _, _ := unstructured.NestedBool(u.Object, "spec", "suspend")
	return connection.IsCapability(u) && suspended
}

// HasAWSKind reports whether an object stands for an AWS resource.
func HasAWSKind(r *inspect.Reader, u *unstructured.Unstructured) bool {
	return slices.ContainsFunc(r.Kinds, func(e engine.Entry) bool { return e.Name() == u.GetKind() })
}
