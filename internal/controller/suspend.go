package controller

import (
	"context"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
)

// suspended says whether the object's capability is suspended: the object is then left as it is, in AWS
// and in Kubernetes, until the capability goes on (resumed) or is itself deleted.
func (r *Resource) suspended(ctx context.Context, obj client.Object) (bool, error) {
	owner := metav1.GetControllerOf(obj)
	if owner == nil || owner.Kind != "NexusAICapability" {
		return false, nil
	}
	c := &nexusv1.NexusAICapability{}
	if err := r.Client.Get(ctx, client.ObjectKey{Namespace: obj.GetNamespace(), Name: owner.Name}, c); err != nil {
		return false, client.IgnoreNotFound(err)
	}
	return c.UID == owner.UID && suspends(c), nil
}

func suspends(c *nexusv1.NexusAICapability) bool { return c.Spec.Suspend && c.DeletionTimestamp == nil }

// ofResumed maps a capability that goes on to its objects of the kind. Each is looked at now: what
// changed meanwhile waits no longer.
func (r *Resource) ofResumed(ctx context.Context, c client.Object) []reconcile.Request {
	list := newList(r.Client, r.Entry)
	if err := r.Client.List(ctx, list, client.InNamespace(c.GetNamespace())); err != nil {
		return nil // the periodic check comes all the same
	}
	var out []reconcile.Request
	_ = meta.EachListItem(list, func(item runtime.Object) error {
		obj := item.(client.Object)
		if owner := metav1.GetControllerOf(obj); owner != nil && owner.UID == c.GetUID() {
			key := client.ObjectKeyFromObject(obj)
			r.checks.set(key, r.Clock.Now())
			out = append(out, reconcile.Request{NamespacedName: key})
		}
		return nil
	})
	return out
}

// resumed lets through what ends a suspension.
type resumed struct{ predicate.Funcs }

// Create implements predicate.Predicate.
func (resumed) Create(event.CreateEvent) bool { return false }

// Update implements predicate.Predicate.
func (resumed) Update(e event.UpdateEvent) bool {
	was, okWas := e.ObjectOld.(*nexusv1.NexusAICapability)
	is, okIs := e.ObjectNew.(*nexusv1.NexusAICapability)
	return okWas && okIs && suspends(was) && !suspends(is)
}

// Delete implements predicate.Predicate.
func (resumed) Delete(e event.DeleteEvent) bool { return true }
