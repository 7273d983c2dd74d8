// SPDX-License-Identifier: Apache-2.0

// Package undo ends the wait of deletions: it brings a capability back with its data, or has the deletion go on at once.
package undo

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/api/wellknown"
	"github.com/nexus-operator/nexus-operator/internal/capability"
	"github.com/nexus-operator/nexus-operator/internal/connection"
	"github.com/nexus-operator/nexus-operator/internal/console"
	"github.com/nexus-operator/nexus-operator/internal/enact"
	"github.com/nexus-operator/nexus-operator/internal/engine"
	"github.com/nexus-operator/nexus-operator/internal/exit"
	"github.com/nexus-operator/nexus-operator/internal/objectrequest"
)

// Options holds the flags of undo and delete-now.
type Options struct {
	DryRun, List bool
	Timeout      time.Duration
}

// Undoing is a run of undo or delete-now.
type Undoing struct {
	*connection.Connection
}

// decision has the annotation that decides how a deletion goes on, and the reported text.
type decision struct{ annotation, done string }

// decideDeletion writes the annotation that decides how a deletion goes on. Its value names the object, so that the annotation means
// nothing on a later object of the name.
func (s *Undoing) decideDeletion(ctx context.Context, c client.Client, of *nexusv1.NexusAICapability, as decision, dryRun bool) error {
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(of)
	if err != nil {
		return err
	}
	u := &unstructured.Unstructured{Object: content}
	u.SetGroupVersionKind(objectrequest.CapabilityKind)
	return objectrequest.Send(ctx, s.Console, c, []objectrequest.Request{{Object: u, Done: as.done,
		Unchanged: of.Annotations[as.annotation] == string(of.UID),
		Patch: map[string]any{"metadata": map[string]any{"uid": string(of.UID),
			"annotations": map[string]any{as.annotation: string(of.UID)}}}}}, dryRun)
}

// Run brings a capability back: it decides the deletion, waits for the deleted object to go, and creates the next one.
func (s *Undoing) Run(ctx context.Context, f *Options, args []string) error {
	at, err := s.OpenDeleted(ctx, args)
	if err != nil {
		return err
	}
	c, deleted := at.Client, at.Subject
	switch {
	case deleted == nil:
		return s.undoFromRecord(ctx, c, f, at.Key)
	case deleted.DeletionTimestamp == nil:
		return s.keepDropped(ctx, c, deleted, f.DryRun)
	}
	if err := mayBeUndone(deleted); err != nil {
		return err
	}
	if err := s.decideDeletion(ctx, c, deleted, decision{wellknown.AnnotationUndo, "its AWS resources are kept"}, f.DryRun); err != nil ||
		f.DryRun {
		return err
	}
	if err := s.waitForRelease(ctx, c, deleted, f.Timeout); err != nil {
		return err
	}
	return s.createAgain(ctx, c, capability.AsDeclared(deleted), false)
}

// keepDropped has the operator keep the stores that an edit dropped, without an end: the capability no longer says that their data may be
// deleted. The rest of its spec is left to its manifest, where the edit was made.
func (s *Undoing) keepDropped(ctx context.Context, c client.Client, of *nexusv1.NexusAICapability, dryRun bool) error {
	if len(of.Status.Dropped) == 0 {
		return s.Report(fmt.Sprintf("NexusAICapability %s/%s", of.Namespace, of.Name), "is not deleted", "")
	}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(of)
	if err != nil {
		return err
	}
	u := &unstructured.Unstructured{Object: content}
	u.SetGroupVersionKind(objectrequest.CapabilityKind)
	var stores []string
	for _, d := range of.Status.Dropped {
		stores = append(stores, d.Name)
	}
	return objectrequest.Send(ctx, s.Console, c, []objectrequest.Request{keeping(u, stores)}, dryRun)
}

// keeping is the change that removes the statement of a capability that the data of stores may be deleted.
func keeping(u *unstructured.Unstructured, stores []string) objectrequest.Request {
	var value any // the key goes with its last name
	if left := engine.WithoutDataOf(u, stores); left != "" {
		value = left
	}
	again := func(now *unstructured.Unstructured) (objectrequest.Request, error) {
		if now.GetUID() != u.GetUID() || now.GetDeletionTimestamp() != nil {
			return objectrequest.Request{}, exit.Precondition(fmt.Errorf("%s was deleted meanwhile: run the command again", console.TitleOf(u)))
		}
		return keeping(now, stores), nil
	}
	return objectrequest.Request{Object: u, Done: "the stores " + strings.Join(stores, ", ") +
		" that an edit dropped are kept with their data", Note: "declare them again to use them", Again: again,
		Patch: map[string]any{"metadata": map[string]any{"uid": string(u.GetUID()), "resourceVersion": u.GetResourceVersion(),
			"annotations": map[string]any{wellknown.AnnotationDeleteData: value}}}}
}

// mayBeUndone refuses deletions that have gone too far, or that keep nothing.
func mayBeUndone(c *nexusv1.NexusAICapability) error {
	title := fmt.Sprintf("NexusAICapability %s/%s", c.Namespace, c.Name)
	switch r := c.Status.Recovery; {
	case r != nil && r.State == nexusv1.RecoveryEnded:
		return exit.Precondition(fmt.Errorf("%s can no longer be brought back: its stores are being deleted since %s; docs/undo.md lists what AWS can restore", title, r.Until.UTC().Format(time.RFC3339)))
	case r == nil && c.Status.Phase == nexusv1.PhaseDeleting:
		return exit.Precondition(fmt.Errorf("%s is being deleted without spec.deletion.graceful: nothing is kept that undo could bring back; docs/undo.md lists what AWS can restore", title))
	default:
		return nil
	}
}

// gonePoll is the interval of looks at an object that is to go.
const gonePoll = 500 * time.Millisecond

// waitForRelease waits until a deleted object is gone.
func (s *Undoing) waitForRelease(ctx context.Context, c client.Client, of *nexusv1.NexusAICapability, timeout time.Duration) error {
	s.Say("Waiting for the deleted object to go.")
	now := of.DeepCopy()
	err := wait.PollUntilContextTimeout(ctx, gonePoll, timeout, true, func(ctx context.Context) (bool, error) {
		now = &nexusv1.NexusAICapability{}
		err := c.Get(ctx, client.ObjectKeyFromObject(of), now)
		switch {
		case apierrors.IsNotFound(err), err == nil && now.UID != of.UID:
			return true, nil
		case err != nil:
			return false, connection.ReadFailure(err)
		default:
			return false, mayBeUndone(now)
		}
	})
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return &exit.Interruption{Text: "The command was interrupted while it waited. The AWS resources are kept. To continue, run the command again."}
	case errors.Is(err, context.DeadlineExceeded):
		return &exit.Failure{Code: exit.CodeTimeout, Err: fmt.Errorf("the deleted object is still there after %s: %s", timeout,
			now.Status.Message)}
	default:
		return err
	}
}

// createAgain creates a capability as it was. One that exists by now, such as one that a GitOps tool created, takes the AWS resources
// over as well.
func (s *Undoing) createAgain(ctx context.Context, c client.Client, again *nexusv1.NexusAICapability, dryRun bool) error {
	title := fmt.Sprintf("NexusAICapability %s/%s", again.Namespace, again.Name)
	ctx, cancel := exit.Uncut(ctx, enact.PatchTimeout)
	defer cancel()
	options := []client.CreateOption{client.FieldOwner("nexusctl")}
	if dryRun {
		options = append(options, client.DryRunAll)
	}
	err := c.Create(ctx, again, options...)
	switch {
	case apierrors.IsAlreadyExists(err):
		return s.Report(title, "exists again, and takes its AWS resources over", "")
	case err != nil:
		return fmt.Errorf("creating %s: %w", title, err)
	case dryRun:
		return s.Report(title, "created again (dry run)", "")
	default:
		return s.Report(title, "created again; it takes its AWS resources over", "")
	}
}

// undoFromRecord brings a capability back that is left only in the operator's record.
func (s *Undoing) undoFromRecord(ctx context.Context, c client.Client, f *Options, key client.ObjectKey) error {
	record, _, err := s.recordOf(ctx, c, key)
	if err != nil {
		return err
	}
	if record.Recovery.State == nexusv1.RecoveryEnded {
		return exit.Precondition(fmt.Errorf("the stores of NexusAICapability %s were deleted: docs/undo.md lists what AWS can restore", key))
	}
	if err := s.ensureNamespace(ctx, c, key.Namespace, f.DryRun); err != nil {
		return err
	}
	return s.createAgain(ctx, c, capability.AsDeclared(record.Capability), f.DryRun)
}

// ensureNamespace creates the namespace of a capability that is created again, where it is gone.
func (s *Undoing) ensureNamespace(ctx context.Context, c client.Client, name string, dryRun bool) error {
	ns := &corev1.Namespace{}
	err := c.Get(ctx, client.ObjectKey{Name: name}, ns)
	switch {
	case err == nil && ns.DeletionTimestamp != nil:
		return exit.Precondition(fmt.Errorf("namespace %s is still being deleted: run the command again when it is gone", name))
	case err == nil || apierrors.IsForbidden(err): // the create of the capability tells
		return nil
	case !apierrors.IsNotFound(err):
		return connection.ReadFailure(fmt.Errorf("reading namespace %s: %w", name, err))
	}
	options := []client.CreateOption{client.FieldOwner("nexusctl")}
	if dryRun {
		options = append(options, client.DryRunAll)
	}
	if err := c.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}, options...); err != nil &&
		!apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("creating namespace %s: %w", name, err)
	}
	return s.Report("Namespace "+name, "created", "")
}
