// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/nexus-operator/nexus-operator/api/wellknown"
)

// Delete removes one child, in the background, and only the very object that was judged to be the
// owner's. It is to be called again until gone, which is true once the API server itself says that the
// child is absent. A foreign object of that name is left alone and logged: our child is gone.
func (a *Applier) Delete(ctx context.Context, owner Owner, ref Ref) (gone bool, err error) {
	have, err := a.owned(ctx, owner, ref)
	if err != nil {
		return false, err
	}
	if have == nil {
		a.memory.forget(ref)
		return true, nil
	}
	if have.GetDeletionTimestamp() != nil {
		return false, nil
	}
	uid := have.GetUID()
	err = a.Client.Delete(ctx, have, client.Preconditions{UID: &uid}, client.PropagationPolicy(metav1.DeletePropagationBackground))
	if apierrors.IsNotFound(err) {
		a.memory.forget(ref)
		return true, nil
	}
	if err != nil {
		return false, explain(ref, "deleting", err)
	}
	return false, nil
}

// Orphan removes the owner reference, labels and annotations of one child in one patch, and the object stays. An
// annotation names the owner that it had, so that a later one takes it over. Absent and foreign objects need nothing.
func (a *Applier) Orphan(ctx context.Context, owner Owner, ref Ref) error {
	have, err := a.owned(ctx, owner, ref)
	if err != nil || have == nil {
		return err
	}
	next := have.DeepCopy()
	next.SetOwnerReferences(slices.DeleteFunc(next.GetOwnerReferences(), func(r metav1.OwnerReference) bool { return r.UID == owner.UID }))
	next.SetLabels(withoutKeys(next.GetLabels(), func(k, v string) bool {
		return k == owner.label() || k == wellknown.LabelManagedBy && v == FieldOwner || strings.HasPrefix(k, wellknown.Prefix)
	}))
	// Of the annotations only ours go: an AWS object's own controller remembers things in others.
	next.SetAnnotations(withKey(withoutKeys(next.GetAnnotations(), func(k, _ string) bool {
		return k == AnnotationOwner || k == AnnotationHash || k == wellknown.AnnotationCapability
	}), AnnotationOrphanedFrom, owner.String()))
	// The list of owner references is replaced as a whole, so no one may have written it in the meantime.
	patch := client.MergeFromWithOptions(have, client.MergeFromWithOptimisticLock{})
	if err := a.Client.Patch(ctx, next, patch, client.FieldOwner(FieldOwner)); client.IgnoreNotFound(err) != nil {
		return explain(ref, "orphaning", err)
	}
	a.memory.forget(ref)
	return nil
}

// Refer restores the owner reference of a child if a person removed it and the owner is being deleted. Absent and foreign objects, and
// those in namespaces that a reference of the owner does not reach, need nothing.
func (a *Applier) Refer(ctx context.Context, owner Owner, ref Ref) error {
	have, err := a.owned(ctx, owner, ref)
	if err != nil || have == nil || isController(owner, have) || !owner.refersTo(have) {
		return err
	}
	next := have.DeepCopy()
	refs, _, err := unstructured.NestedSlice(next.Object, "metadata", "ownerReferences")
	if err != nil {
		return err
	}
	if err := unstructured.SetNestedSlice(next.Object, append(refs, owner.reference()), "metadata", "ownerReferences"); err != nil {
		return err
	}
	patch := client.MergeFromWithOptions(have, client.MergeFromWithOptimisticLock{})
	if err := a.Client.Patch(ctx, next, patch, client.FieldOwner(FieldOwner)); client.IgnoreNotFound(err) != nil {
		return explain(ref, "restoring the owner reference of", err)
	}
	a.memory.recordWrite(ref, next.GetResourceVersion())
	return nil
}

// owned returns the child if it exists and is the owner's, otherwise nil.
func (a *Applier) owned(ctx context.Context, owner Owner, ref Ref) (*unstructured.Unstructured, error) {
	if err := errors.Join(owner.validate(), ref.validate()); err != nil {
		return nil, err
	}
	have, err := a.current(ctx, ref)
	if meta.IsNoMatchError(err) {
		return nil, nil // its kind is not installed, so there is none
	}
	if err != nil {
		return nil, explain(ref, "reading", err)
	}
	if have == nil {
		return nil, nil
	}
	whose, why := judgeOwnership(owner, ref, have)
	if whose != ours || a.reserved(owner, ref) {
		log.FromContext(ctx).Info("An object with the name of a child is left alone: it is not ours", "object", ref.String(), "why", why)
		return nil, nil
	}
	return have, nil
}

// Child is an object of an owner that exists.
type Child struct {
	Ref
	UID types.UID
	// Labels are the child's.
	Labels map[string]string
	// Deleting is true once its deletion was asked for.
	Deleting bool
	// Controlled is true while an owner reference says so: the garbage collector cuts those of objects
	// that are to outlive their owner.
	Controlled bool
}

// Children lists the existing objects of an owner in its namespaces, over the given kinds, from the cache, in a stable order. Kinds that
// are not installed have none.
func (a *Applier) Children(ctx context.Context, owner Owner, kinds []schema.GroupVersionKind) ([]Child, error) {
	if err := owner.validate(); err != nil {
		return nil, err
	}
	which := []client.ListOption{client.MatchingLabels{owner.label(): string(owner.UID)}, client.UnsafeDisableDeepCopy}
	if a.OwnerIndex != "" {
		which = append(which, client.MatchingFields{a.OwnerIndex: string(owner.UID)})
	}
	var out []Child
	for _, k := range kinds {
		err := a.eachOf(ctx, owner, k, which, func(item runtime.Object) error {
			o := item.(client.Object)
			ref := Ref{Kind: k, Namespace: o.GetNamespace(), Name: o.GetName()}
			if whose, _ := judgeOwnership(owner, ref, o); whose == ours && owner.mayOwn(ref) {
				out = append(out, Child{Ref: ref, UID: o.GetUID(), Labels: maps.Clone(o.GetLabels()), Deleting: o.GetDeletionTimestamp() != nil,
					Controlled: isController(owner, o)})
			}
			return nil
		})
		if err != nil && !meta.IsNoMatchError(err) {
			return nil, explain(Ref{Kind: k}, "listing", err)
		}
	}
	slices.SortFunc(out, func(a, b Child) int {
		return cmp.Or(cmp.Compare(a.Kind.String(), b.Kind.String()), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	return out, nil
}

// eachOf calls do for every selected object of a kind. Without an index by owner, and if the namespaces of the children are known, it lists
// these alone: a list of the whole cluster takes the longer the more owners there are.
func (a *Applier) eachOf(ctx context.Context, owner Owner, k schema.GroupVersionKind, which []client.ListOption,
	do func(runtime.Object) error) error {
	namespaces := []string{metav1.NamespaceAll}
	if len(owner.Namespaces) > 0 && a.OwnerIndex == "" {
		namespaced, err := a.isNamespaced(k)
		if err != nil {
			return err
		}
		if namespaced {
			namespaces = owner.Namespaces
		}
	}
	for _, namespace := range namespaces {
		list := a.list(k)
		if err := a.Client.List(ctx, list, append(slices.Clone(which), client.InNamespace(namespace))...); err != nil {
			return err
		}
		if err := meta.EachListItem(list, do); err != nil {
			return err
		}
	}
	return nil
}

// isNamespaced reports whether objects of a kind are in namespaces. The scope of a kind is asked for once: to find it takes longer
// than to list the kind's objects in a cache.
func (a *Applier) isNamespaced(k schema.GroupVersionKind) (bool, error) {
	if known, ok := a.memory.scopeOf(k); ok {
		return known, nil
	}
	mapping, err := a.Client.RESTMapper().RESTMapping(k.GroupKind(), k.Version)
	if err != nil {
		return false, err
	}
	namespaced := mapping.Scope.Name() == meta.RESTScopeNameNamespace
	a.memory.recordScope(k, namespaced)
	return namespaced, nil
}

func (a *Applier) list(k schema.GroupVersionKind) client.ObjectList {
	k.Kind += "List"
	if obj, err := a.Client.Scheme().New(k); err == nil {
		if l, ok := obj.(client.ObjectList); ok {
			return l
		}
	}
	l := &unstructured.UnstructuredList{}
	l.SetGroupVersionKind(k)
	return l
}

// Surplus returns the children that are not desired, whichever version they were listed in.
func Surplus(children []Child, desired []Ref) []Child {
	type id struct {
		kind            schema.GroupKind
		namespace, name string
	}
	keep := make(map[id]bool, len(desired))
	for _, r := range desired {
		keep[id{r.Kind.GroupKind(), r.Namespace, r.Name}] = true
	}
	return slices.DeleteFunc(slices.Clone(children), func(c Child) bool {
		return keep[id{c.Kind.GroupKind(), c.Namespace, c.Name}]
	})
}

func withoutKeys(m map[string]string, drop func(k, v string) bool) map[string]string {
	maps.DeleteFunc(m, drop)
	return m
}

func isController(owner Owner, child metav1.Object) bool {
	c := metav1.GetControllerOf(child)
	return c != nil && c.UID == owner.UID
}
