// SPDX-License-Identifier: Apache-2.0

package undo

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/api/wellknown"
	"github.com/nexus-operator/nexus-operator/internal/capability"
	"github.com/nexus-operator/nexus-operator/internal/connection"
	"github.com/nexus-operator/nexus-operator/internal/console"
	"github.com/nexus-operator/nexus-operator/internal/exit"
)

// DeleteNow ends the wait of a deletion that can be undone, or deletes the AWS resources that a deleted namespace left.
func (s *Undoing) DeleteNow(ctx context.Context, f *Options, args []string) error {
	at, err := s.OpenDeleted(ctx, args)
	if err != nil {
		return err
	}
	c, found := at.Client, at.Subject
	switch {
	case found == nil:
		return s.deleteReleased(ctx, c, f, at.Key)
	case capability.IsToBeDeleted(found):
		return s.finishDeletion(ctx, c, f, found)
	}
	if err := mayEnd(found); err != nil {
		return err
	}
	return s.decideDeletion(ctx, c, found, decision{wellknown.AnnotationDeleteNow, "its stores are deleted now"}, f.DryRun)
}

// mayEnd refuses to end a wait if there is no deletion, or a deletion that keeps everything.
func mayEnd(c *nexusv1.NexusAICapability) error {
	switch r := c.Status.Recovery; {
	case c.DeletionTimestamp == nil && len(c.Status.Dropped) > 0:
		return exit.Precondition(fmt.Errorf("NexusAICapability %s/%s is not deleted: to delete the stores that an edit dropped now, set its spec.deletion.graceful: 0s", c.Namespace, c.Name))
	case c.DeletionTimestamp == nil:
		return exit.Precondition(fmt.Errorf("NexusAICapability %s/%s is not deleted: kubectl delete ncap/%s -n %s deletes it", c.Namespace,
			c.Name, c.Name, c.Namespace))
	case r != nil && r.State != nexusv1.RecoveryWaiting && r.State != nexusv1.RecoveryEnded:
		return exit.Precondition(fmt.Errorf("the AWS resources of NexusAICapability %s/%s are being kept, because its deletion is undone or its namespace is deleted", c.Namespace, c.Name))
	default:
		return nil
	}
}

// recordOf reads the operator's record of a deletion.
func (s *Undoing) recordOf(ctx context.Context, c client.Client, key client.ObjectKey) (capability.Record, *corev1.ConfigMap, error) {
	namespace := s.NamespaceOfOperator()
	o := &corev1.ConfigMap{}
	err := c.Get(ctx, client.ObjectKey{Namespace: namespace, Name: capability.RecordName(key.Namespace, key.Name)}, o)
	switch {
	case apierrors.IsNotFound(err):
		return capability.Record{}, nil,
			exit.Precondition(fmt.Errorf("NexusAICapability %s does not exist, and namespace %s has no record of its deletion: create it from its manifest", key, namespace))
	case apierrors.IsForbidden(err):
		return capability.Record{}, nil,
			exit.Precondition(fmt.Errorf("NexusAICapability %s does not exist, and its record in namespace %s may not be read: create the capability from its manifest, which takes the AWS resources over, or ask an administrator: %w", key, namespace, err))
	case err != nil:
		return capability.Record{}, nil, connection.ReadFailure(fmt.Errorf("reading the record of NexusAICapability %s: %w", key, err))
	}
	record, err := capability.ReadRecord(o)
	return record, o, err
}

// deleteReleased deletes the AWS resources that a capability left when its namespace was deleted. A capability without pods takes the
// resources over by their owner tags, so that its deletion removes these and no others. Where the deletion keeps the resources, only the
// record goes.
func (s *Undoing) deleteReleased(ctx context.Context, c client.Client, f *Options, key client.ObjectKey) error {
	record, o, err := s.recordOf(ctx, c, key)
	if err != nil {
		return err
	}
	switch {
	case record.Recovery.State == nexusv1.RecoveryEnded:
		return exit.Precondition(fmt.Errorf("the stores of NexusAICapability %s were deleted when its time ended", key))
	case capability.EffectiveDeletionPolicy(record.Capability) != nexusv1.DeletionDelete:
		return s.dropRecord(ctx, c, o, f.DryRun)
	}
	if err := s.ensureNamespace(ctx, c, key.Namespace, f.DryRun); err != nil {
		return err
	}
	made := capability.ToBeDeleted(record.Capability)
	if err := s.createAgain(ctx, c, made, f.DryRun); err != nil || f.DryRun {
		return err
	}
	return s.finishDeletion(ctx, c, f, made)
}

// dropRecord deletes the record of a deletion that keeps its AWS resources for good.
func (s *Undoing) dropRecord(ctx context.Context, c client.Client, o *corev1.ConfigMap, dryRun bool) error {
	options := []client.DeleteOption{client.Preconditions{UID: &o.UID}}
	if dryRun {
		options = append(options, client.DryRunAll)
	}
	if err := c.Delete(ctx, o, options...); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("deleting ConfigMap %s/%s: %w", o.Namespace, o.Name, err)
	}
	return s.Report("NexusAICapability "+o.Annotations[wellknown.AnnotationCapability],
		"its record is deleted, and its AWS resources stay, as deletionPolicy says", "")
}

// finishDeletion deletes a capability that delete-now created, once it has taken its AWS resources over. An object that is deleted before
// would leave its resource.
func (s *Undoing) finishDeletion(ctx context.Context, c client.Client, f *Options, of *nexusv1.NexusAICapability) error {
	title := fmt.Sprintf("NexusAICapability %s/%s", of.Namespace, of.Name)
	s.Say("Waiting for the capability to take its AWS resources over, and to go.")
	now := of
	err := wait.PollUntilContextTimeout(ctx, gonePoll, f.Timeout, true, func(ctx context.Context) (bool, error) {
		now = &nexusv1.NexusAICapability{}
		err := c.Get(ctx, client.ObjectKeyFromObject(of), now)
		switch {
		case apierrors.IsNotFound(err):
			return true, nil
		case err != nil:
			return false, connection.ReadFailure(err)
		case !capability.IsToBeDeleted(now):
			return false, exit.Precondition(fmt.Errorf("%s was created by others meanwhile: delete it with kubectl delete", title))
		case now.DeletionTimestamp == nil && now.Status.Phase == nexusv1.PhaseRunning:
			return false, client.IgnoreNotFound(c.Delete(ctx, now, client.Preconditions{UID: &now.UID}))
		default:
			return false, nil
		}
	})
	switch {
	case err == nil:
		return s.Report(title, "its AWS resources are deleted", "")
	case ctx.Err() != nil:
		return &exit.Interruption{Text: "The command was interrupted while it waited. To continue, run the command again."}
	case errors.Is(err, context.DeadlineExceeded):
		return &exit.Failure{Code: exit.CodeTimeout,
			Err: fmt.Errorf("%s is still there after %s, in phase %s: %s; run the command again, or delete the capability with kubectl delete, which leaves what it has not taken over",
				title, f.Timeout, now.Status.Phase, now.Status.Message)}
	default:
		return err
	}
}

// List prints the deletions that the operator has recorded.
func (s *Undoing) List(ctx context.Context) error {
	_, c, err := s.Connect()
	if err != nil {
		return err
	}
	namespace := s.NamespaceOfOperator()
	list := &corev1.ConfigMapList{}
	err = c.List(ctx, list, client.InNamespace(namespace), client.MatchingLabels{wellknown.LabelManagedBy: wellknown.OperatorName})
	switch {
	case apierrors.IsForbidden(err):
		return exit.Precondition(fmt.Errorf("the records of deletions in namespace %s may not be read: kubectl get ncap -A shows those in phase Recoverable: %w", namespace, err))
	case err != nil:
		return connection.ReadFailure(fmt.Errorf("listing the records of deletions: %w", err))
	}
	rows := [][]string{{"NAMESPACE", "NAME", "STATE", "UNTIL", "KEPT"}}
	for i := range list.Items {
		if !strings.HasPrefix(list.Items[i].Name, capability.RecordPrefix) {
			continue
		}
		record, err := capability.ReadRecord(&list.Items[i])
		if err != nil {
			return err
		}
		of, r := record.Capability, record.Recovery
		rows = append(rows, []string{of.Namespace, of.Name, string(r.State), untilText(r.Until), strconv.Itoa(len(r.Kept))})
	}
	if len(rows) == 1 {
		s.Say("No deletion can be undone.")
		return nil
	}
	_, err = s.Out.Write([]byte(console.Table(rows)))
	return err
}

func untilText(at metav1.Time) string { return at.UTC().Format(time.RFC3339) }
