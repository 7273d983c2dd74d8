// SPDX-License-Identifier: Apache-2.0

package awsresource

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/controller/reconciler"
	"github.com/nexus-operator/nexus-operator/internal/engine"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// subject is the object of a pass, with its state before the pass.
type subject struct {
	entry  engine.Entry
	client client.Client
	clock  clock.PassiveClock

	obj v1alpha1.Resource
	was v1alpha1.Resource // as read, or as last written
	// writing guards the object's status while steps are under way.
	writing sync.Mutex
}

func newSubject(r *Reconciler, obj v1alpha1.Resource) *subject {
	return &subject{entry: r.Entry, client: r.Client, clock: r.Clock, obj: obj, was: obj.DeepCopyObject().(v1alpha1.Resource)}
}

// pause reports that the object is frozen and leaves the rest of the status as it was.
func (s *subject) pause(ctx context.Context, message string) error {
	status.Set(&s.obj.CommonStatus().Conditions, s.obj.GetGeneration(), s.clock.Now(),
		metav1.Condition{Type: status.Paused, Status: metav1.ConditionTrue,
			Reason: status.ReasonPaused, Message: message})
	return client.IgnoreNotFound(s.patchStatus(ctx))
}

// metadata is a copy of the object's metadata, for a patch of the metadata only: the rest is then neither encoded nor sent back.
func (s *subject) metadata() *metav1.PartialObjectMetadata {
	out := &metav1.PartialObjectMetadata{}
	out.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind(s.entry.Name()))
	o := s.obj
	out.SetNamespace(o.GetNamespace())
	out.SetName(o.GetName())
	out.SetUID(o.GetUID())
	out.SetResourceVersion(o.GetResourceVersion())
	out.SetFinalizers(slices.Clone(o.GetFinalizers()))
	out.SetAnnotations(maps.Clone(o.GetAnnotations()))
	return out
}

// identifier names the AWS resource for people.
func (s *subject) identifier() string {
	if st := s.obj.CommonStatus(); st.ARN != "" {
		return st.ARN
	}
	return s.obj.CommonStatus().ID
}

// patchStatus writes the status if anything but its times changed.
func (s *subject) patchStatus(ctx context.Context) error {
	st, was := s.obj.CommonStatus(), s.was.CommonStatus()
	st.LastSyncTime = was.LastSyncTime
	if equality.Semantic.DeepEqual(reconciler.StatusOf(s.obj), reconciler.StatusOf(s.was)) {
		return nil
	}
	now := metav1.NewTime(s.clock.Now())
	st.LastSyncTime = &now
	patch, answer := reconciler.StatusPatch(s.obj, s.was, false)
	if err := s.client.Status().Patch(ctx, answer, patch); err != nil {
		return fmt.Errorf("writing the status: %w", err)
	}
	s.obj.SetResourceVersion(answer.GetResourceVersion())
	s.was = s.obj.DeepCopyObject().(v1alpha1.Resource)
	return nil
}
