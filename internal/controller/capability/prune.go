// SPDX-License-Identifier: Apache-2.0

package capability

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/api/wellknown"
	"github.com/nexus-operator/nexus-operator/internal/apply"
	"github.com/nexus-operator/nexus-operator/internal/capability"
	"github.com/nexus-operator/nexus-operator/internal/controller/reconciler"
	"github.com/nexus-operator/nexus-operator/internal/pass"
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

// prune deletes the children that the capability no longer compiles to. It is called after every apply succeeded.
func (r *Reconciler) prune(ctx context.Context, ps *pass.Pass, o *capability.Observed) error {
	c := ps.Capability
	surplus, err := r.surplusChildren(ctx, ps, *o)
	if err != nil {
		return err
	}
	surplus, user, err := r.withoutUsedIdentities(ctx, c, surplus)
	if err != nil {
		return err
	}
	if len(surplus) == 0 {
		c.Status.Dropped = nil
		return stillUsed(user)
	}
	if err := r.stillCurrent(ctx, c); err != nil {
		return err
	}
	var held heldStores
	var kept []nexusv1.DroppedStore
	for _, act := range surplus {
		why, dropped, err := r.pruneChild(ctx, c, act)
		if err != nil {
			return err
		}
		o.Changes = append(o.Changes, capability.NewChange(act.Ref.Kind.Kind, act.Ref.Name, "Deleted", nil))
		if why != "" {
			held.add(why, act.Child)
		}
		if dropped != nil && len(kept) < maxKept {
			kept = append(kept, *dropped)
		}
	}
	c.Status.Dropped = kept
	if len(held.reasons) == 0 {
		return stillUsed(user)
	}
	return held.refusal()
}

// heldStores collects the stores that are no longer declared and need a person's consent to their deletion.
type heldStores struct {
	reasons []string
	// others is true where one of them was not declared in spec.ai.
	others bool
}

func (h *heldStores) add(reason string, child apply.Child) {
	h.reasons, h.others = append(h.reasons, reason), h.others || !capability.IsOfAI(child.Labels)
}

// refusal names the field that declared the stores, and a remedy for a person.
func (h *heldStores) refusal() error {
	field := "spec.ai"
	if h.others {
		field = "spec.dataServices"
	}
	return &status.Stalled{Reason: status.ReasonDataWouldBeLost, Field: field, Message: fmt.Sprintf(
		"%s: declare the store again to keep it, set spec.deletionPolicy: Retain to keep it in AWS, or list its name in annotation %s of this capability to delete it with its data",
		strings.Join(h.reasons, "; "), reconciler.AnnotationDeleteData)}
}

// surplusChildren lists the children to prune by now, in the order of deletion.
func (r *Reconciler) surplusChildren(ctx context.Context, ps *pass.Pass, o capability.Observed) ([]pass.Act, error) {
	stages, err := ps.Stages(ctx)
	if err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(slices.Concat(stages...), func(child apply.Child) bool { return capability.IsGatewayKind(child.Kind) }) {
		r.memories.noGatewaysLeft(ps.Capability)
	}
	return slices.DeleteFunc(ps.Surplus(stages), func(act pass.Act) bool {
		return act.After != "" || !o.Prunable(act.Ref.Kind.Kind) || o.AppliesStill(act.Child.Labels)
	}), nil
}

// stillCurrent asks the API server whether the capability is as it was compiled. An operator that was paused, or has a lagging cache, must
// not delete objects that a later generation declares.
func (r *Reconciler) stillCurrent(ctx context.Context, c *nexusv1.NexusAICapability) error {
	now := &nexusv1.NexusAICapability{}
	err := r.Live.Get(ctx, client.ObjectKeyFromObject(c), now)
	if err == nil {
		now, err = capability.InForce(now) // a later edit that waits for its approval does not count yet
	}
	if err == nil && (now.UID != c.UID || now.Generation != c.Generation || now.DeletionTimestamp != nil) {
		err = apierrors.NewConflict(schema.GroupResource{Group: nexusv1.GroupVersion.Group, Resource: "nexuscapabilities"}, c.Name,
			fmt.Errorf("generation %d was compiled and it has generation %d", c.Generation, now.Generation))
	}
	return err
}

// pruneChild deletes a child and returns why its deletion is held, if it is, or the store that is kept for a time.
func (r *Reconciler) pruneChild(ctx context.Context, c *nexusv1.NexusAICapability, act pass.Act) (held string, dropped *nexusv1.DroppedStore, err error) {
	child := act.Child
	if isResource(child.Ref) {
		if err := r.updateDoomed(ctx, c, child.Ref); err != nil {
			return "", nil, err
		}
	}
	if err := r.remove(ctx, c, act); err != nil || !capability.IsStore(child.Kind.Kind) {
		return "", nil, err
	}
	obj, err := r.resource(ctx, child.Ref)
	if err != nil || obj == nil {
		return "", nil, err
	}
	ready := meta.FindStatusCondition(obj.CommonStatus().Conditions, status.Ready)
	if ready == nil || ready.Reason != status.ReasonDataWouldBeLost {
		return "", nil, nil
	}
	if until, kept := r.keptUntil(c, obj); kept && reconciler.MayDeleteData(c, obj.GetName()) {
		return "", droppedStore(child, obj, until), nil
	}
	text, _ := status.SplitCode(ready.Message)
	_, count, _ := strings.Cut(text, ": it ")
	return fmt.Sprintf("%s/%s is no longer declared and %s", child.Kind.Kind, child.Name, count), nil, nil
}

// resource reads an AWS child; nil when it is gone.
func (r *Reconciler) resource(ctx context.Context, ref apply.Ref) (v1alpha1.Resource, error) {
	made, err := r.Client.Scheme().New(ref.Kind)
	if err != nil {
		return nil, err
	}
	obj := made.(v1alpha1.Resource)
	err = r.Client.Get(ctx, client.ObjectKey{Namespace: ref.Namespace, Name: ref.Name}, obj)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	return obj, err
}

// updateDoomed gives a child that is to be deleted the fields that its deletion depends on, and no other field of the present spec. If the
// server refuses it, that is no error: the child is deleted as it is.
func (r *Reconciler) updateDoomed(ctx context.Context, c *nexusv1.NexusAICapability, ref apply.Ref) error {
	obj, err := r.resource(ctx, ref)
	if err != nil || obj == nil {
		return err
	}
	if want := capability.DoomedChild(c, obj, ref.Kind.Kind, reconciler.MayDeleteData(c, obj.GetName())); !equality.Semantic.DeepEqual(want, obj) {
		err = r.exact(ctx, want, obj)
	}
	if _, refused := status.AsStalled(err); err == nil || refused {
		err = r.allowDataLoss(ctx, c, obj)
	}
	return client.IgnoreNotFound(err)
}

// exact gives a live child the spec of another object of its kind.
func (r *Reconciler) exact(ctx context.Context, want, live client.Object) error {
	desired, err := toManifest(r.Client.Scheme(), want)
	if err != nil {
		return err
	}
	m, err := toManifest(r.Client.Scheme(), live)
	if err == nil {
		_, err = r.Applier.Exact(ctx, desired, m)
	}
	return err
}

// allowDataLoss lets a store's deletion go on with its data: the capability's annotation names the store, or the
// capability itself is being deleted with its stores, and the deletion of the store began before and is held. Most deletions are
// not, and a write to the object would only refuse the removal of its finalizer.
func (r *Reconciler) allowDataLoss(ctx context.Context, c *nexusv1.NexusAICapability, obj v1alpha1.Resource) error {
	given := reconciler.MayDeleteData(c, obj.GetName())
	if !given && c.DeletionTimestamp == nil {
		return r.unmarkDropped(ctx, obj)
	}
	if !given && !takesData(c, obj) || reconciler.MayDeleteData(obj, obj.GetName()) || !r.holdsData(obj) {
		return nil
	}
	if until, kept := r.keptUntil(c, obj); given && kept {
		return r.markDropped(ctx, c, obj, until)
	}
	if _, isKey := obj.(*v1alpha1.KMSKey); isKey && !given { // data of others may need it: it looks again, and only a person gives that up
		return r.annotate(ctx, obj, map[string]string{wellknown.AnnotationReconcileAt: "deletion of " + string(c.UID)})
	}
	return r.annotate(ctx, obj, map[string]string{reconciler.AnnotationDeleteData: obj.GetName()})
}

// annotate sets annotations of a child, and removes those with an empty value. It writes nothing where they are as they should be.
func (r *Reconciler) annotate(ctx context.Context, obj v1alpha1.Resource, values map[string]string) error {
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
	return r.Client.Patch(ctx, next, client.MergeFrom(obj), client.FieldOwner(apply.FieldOwner))
}

// takesData reports whether a capability is being deleted with its stores, and the deletion of one waits for that.
func takesData(c *nexusv1.NexusAICapability, obj v1alpha1.Resource) bool {
	return c.DeletionTimestamp != nil && isHeld(obj) && capability.EffectiveDeletionPolicy(c) == nexusv1.DeletionDelete
}

// isHeld reports whether the deletion of a store is held because its data would be lost.
func isHeld(obj v1alpha1.Resource) bool {
	ready := meta.FindStatusCondition(obj.CommonStatus().Conditions, status.Ready)
	return obj.GetDeletionTimestamp() != nil && ready != nil && (ready.Reason == status.ReasonDataWouldBeLost || ready.Reason == status.ReasonOwnedByCapability)
}

func (r *Reconciler) holdsData(obj client.Object) bool {
	gvks, _, err := r.Client.Scheme().ObjectKinds(obj)
	return err == nil && len(gvks) > 0 && capability.IsStore(gvks[0].Kind)
}

// keepAfter is the time that a store's object must have been in deletion before its store is kept and its object created again. A person
// who deletes store and capability in one command has deleted both by then.
const keepAfter = 2 * time.Second

// deletesItsStore reports whether an object has been in deletion long enough and would delete its store.
func (r *Reconciler) deletesItsStore(obj v1alpha1.Resource) bool {
	return obj.GetDeletionTimestamp() != nil && !reconciler.MayDeleteData(obj, obj.GetName()) &&
		obj.CommonSpec().DeletionPolicy == v1alpha1.DeletionDelete && r.Clock.Now().Sub(obj.GetDeletionTimestamp().Time) >= keepAfter
}

// keepDeletedStore ends the deletion of a store's object that the capability declares, by a person or by an edit that
// was taken back, without deleting the store: the next apply creates the object again, which takes the store over.
func (r *Reconciler) keepDeletedStore(ctx context.Context, c *nexusv1.NexusAICapability, ref apply.Ref) error {
	obj, err := r.resource(ctx, ref)
	if err != nil || obj == nil || !r.deletesItsStore(obj) {
		return err
	}
	if going, err := reconciler.Terminating(ctx, r.Live, ref.Namespace); going || err != nil {
		return err
	}
	if err := r.stillCurrent(ctx, c); err != nil {
		return err
	}
	want := obj.DeepCopyObject().(v1alpha1.Resource)
	want.CommonSpec().DeletionPolicy = v1alpha1.DeletionRetain
	if err = r.exact(ctx, want, obj); err == nil {
		r.Events.Warning(c, status.ReasonStoreKept, "Apply",
			ref.String()+" was deleted although this capability declares it: its store and data are kept and the object is created again; to delete the store, edit the capability")
	}
	return client.IgnoreNotFound(err)
}
