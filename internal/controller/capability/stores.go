// SPDX-License-Identifier: Apache-2.0

package capability

import (
	"context"
	"fmt"
	"maps"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/api/wellknown"
	"github.com/nexus-operator/nexus-operator/internal/apply"
	"github.com/nexus-operator/nexus-operator/internal/capability"
	"github.com/nexus-operator/nexus-operator/internal/controller/reconciler"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// isKept reports whether the AWS resource of a declared object stays when only the object is deleted.
func isKept(desired *unstructured.Unstructured) bool {
	kind := desired.GetKind()
	if kind == "AWSResource" {
		typeName, _, _ := unstructured.NestedString(desired.Object, "spec", "typeName")
		return capability.TypeHoldsData(typeName)
	}
	return capability.IsKept(kind)
}

// isResource reports whether a child stands for something in AWS.
func isResource(ref apply.Ref) bool {
	return ref.Kind.Group == v1alpha1.GroupName && ref.Kind.Kind != "AWSProvider"
}

// stores prepare the AWS resources of capabilities for their deletion, and keep stores that a person has not agreed to lose.
type stores struct {
	client  client.Client
	live    client.Reader
	applier *apply.Applier
	events  reconciler.Events
	clock   clock.PassiveClock
	grace   capability.DefaultGrace
}

// resource reads an AWS child; nil when it is gone.
func (s stores) resource(ctx context.Context, ref apply.Ref) (v1alpha1.Resource, error) {
	made, err := s.client.Scheme().New(ref.Kind)
	if err != nil {
		return nil, err
	}
	obj := made.(v1alpha1.Resource)
	err = s.client.Get(ctx, client.ObjectKey{Namespace: ref.Namespace, Name: ref.Name}, obj)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	return obj, err
}

// updateDoomed gives a child that is to be deleted the fields that its deletion depends on, and no other field of the present spec. If the
// server refuses it, that is no error: the child is deleted as it is.
func (s stores) updateDoomed(ctx context.Context, c *nexusv1.NexusAICapability, ref apply.Ref) error {
	obj, err := s.resource(ctx, ref)
	if err != nil || obj == nil {
		return err
	}
	want := capability.DoomedChild(c, obj, ref.Kind.Kind, reconciler.MayDeleteData(c, obj.GetName()))
	if !equality.Semantic.DeepEqual(want, obj) {
		err = s.exact(ctx, want, obj)
	}
	if _, refused := status.AsStalled(err); err == nil || refused {
		err = s.allowDataLoss(ctx, c, obj)
	}
	return client.IgnoreNotFound(err)
}

// exact gives a live child the spec of another object of its kind.
func (s stores) exact(ctx context.Context, want, live client.Object) error {
	desired, err := toManifest(s.client.Scheme(), want)
	if err != nil {
		return err
	}
	m, err := toManifest(s.client.Scheme(), live)
	if err == nil {
		_, err = s.applier.Exact(ctx, desired, m)
	}
	return err
}

// allowDataLoss lets a store's deletion go on with its data: the capability's annotation names the store, or the
// capability itself is being deleted with its stores, and the deletion of the store began before and is held. Most deletions are
// not, and a write to the object would only refuse the removal of its finalizer.
func (s stores) allowDataLoss(ctx context.Context, c *nexusv1.NexusAICapability, obj v1alpha1.Resource) error {
	given := reconciler.MayDeleteData(c, obj.GetName())
	if !given && c.DeletionTimestamp == nil {
		return s.unmarkDropped(ctx, obj)
	}
	if !given && !takesData(c, obj) || reconciler.MayDeleteData(obj, obj.GetName()) || !s.holdsData(obj) {
		return nil
	}
	if until, kept := s.keptUntil(c, obj); given && kept {
		return s.markDropped(ctx, c, obj, until)
	}
	if _, isKey := obj.(*v1alpha1.KMSKey); isKey && !given { // data of others may need it: it looks again, and only a person gives that up
		return s.annotate(ctx, obj, map[string]string{wellknown.AnnotationReconcileAt: "deletion of " + string(c.UID)})
	}
	return s.annotate(ctx, obj, map[string]string{reconciler.AnnotationDeleteData: obj.GetName()})
}

// annotate sets annotations of a child, and removes those with an empty value. It writes nothing where they are as they should be.
func (s stores) annotate(ctx context.Context, obj v1alpha1.Resource, values map[string]string) error {
	annotations := maps.Clone(obj.GetAnnotations())
	if annotations == nil {
		annotations = map[string]string{}
	}
	for key, value := range values {
		if annotations[key] = value; value == "" {
			delete(annotations, key)
		}
	}
	if maps.Equal(annotations, obj.GetAnnotations()) {
		return nil
	}
	next := obj.DeepCopyObject().(v1alpha1.Resource)
	next.SetAnnotations(annotations)
	return s.client.Patch(ctx, next, client.MergeFrom(obj), client.FieldOwner(apply.FieldOwner))
}

// takesData reports whether a capability is being deleted with its stores, and the deletion of one waits for that.
func takesData(c *nexusv1.NexusAICapability, obj v1alpha1.Resource) bool {
	return c.DeletionTimestamp != nil && isHeld(obj) && capability.EffectiveDeletionPolicy(c) == nexusv1.DeletionDelete
}

// isHeld reports whether the deletion of a store is held because its data would be lost.
func isHeld(obj v1alpha1.Resource) bool {
	ready := meta.FindStatusCondition(obj.CommonStatus().Conditions, status.Ready)
	return obj.GetDeletionTimestamp() != nil && ready != nil &&
		(ready.Reason == status.ReasonDataWouldBeLost || ready.Reason == status.ReasonOwnedByCapability)
}

func (s stores) holdsData(obj client.Object) bool {
	gvks, _, err := s.client.Scheme().ObjectKinds(obj)
	return err == nil && len(gvks) > 0 && capability.IsStore(gvks[0].Kind)
}

// keepAfter is the time that a store's object must have been in deletion before its store is kept and its object created again. A person
// who deletes store and capability in one command has deleted both by then.
const keepAfter = 2 * time.Second

// deletesItsStore reports whether an object has been in deletion long enough and would delete its store.
func (s stores) deletesItsStore(obj v1alpha1.Resource) bool {
	return obj.GetDeletionTimestamp() != nil && !reconciler.MayDeleteData(obj, obj.GetName()) &&
		obj.CommonSpec().DeletionPolicy == v1alpha1.DeletionDelete && s.clock.Now().Sub(obj.GetDeletionTimestamp().Time) >= keepAfter
}

// keepDeleted ends the deletion of a store's object that the capability declares, by a person or by an edit that
// was taken back, without deleting the store: the next apply creates the object again, which takes the store over.
func (s stores) keepDeleted(ctx context.Context, c *nexusv1.NexusAICapability, ref apply.Ref) error {
	obj, err := s.resource(ctx, ref)
	if err != nil || obj == nil || !s.deletesItsStore(obj) {
		return err
	}
	if going, err := reconciler.Terminating(ctx, s.live, ref.Namespace); going || err != nil {
		return err
	}
	if err := stillCurrent(ctx, s.live, c); err != nil {
		return err
	}
	want := obj.DeepCopyObject().(v1alpha1.Resource)
	want.CommonSpec().DeletionPolicy = v1alpha1.DeletionRetain
	if err = s.exact(ctx, want, obj); err == nil {
		s.events.Warning(c, status.ReasonStoreKept, "Apply",
			ref.String()+" was deleted although this capability declares it: its store and data are kept and the object is created again; to delete the store, edit the capability")
	}
	return client.IgnoreNotFound(err)
}

// stillCurrent asks the API server whether the capability is as it was compiled. An operator that was paused, or has a lagging cache, must
// not delete objects that a later generation declares.
func stillCurrent(ctx context.Context, live client.Reader, c *nexusv1.NexusAICapability) error {
	now := &nexusv1.NexusAICapability{}
	err := live.Get(ctx, client.ObjectKeyFromObject(c), now)
	if err == nil {
		now, err = capability.InForce(now) // a later edit that waits for its approval does not count yet
	}
	if err == nil && (now.UID != c.UID || now.Generation != c.Generation || now.DeletionTimestamp != nil) {
		err = apierrors.NewConflict(schema.GroupResource{Group: nexusv1.GroupVersion.Group, Resource: "nexuscapabilities"}, c.Name,
			fmt.Errorf("generation %d was compiled and it has generation %d", c.Generation, now.Generation))
	}
	return err
}
