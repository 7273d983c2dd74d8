// SPDX-License-Identifier: Apache-2.0

package awsresource

import (
	"context"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/controller/reconciler"
	"github.com/nexus-operator/nexus-operator/internal/engine"
	"github.com/nexus-operator/nexus-operator/internal/kind"
)

// triggers maps changes of other objects to the objects of a kind that they concern.
type triggers struct {
	entry  engine.Entry
	kinds  map[string]engine.Entry // that objects can refer to
	client client.Client
	clock  clock.PassiveClock
	due    *reconciler.Schedule // of checks
}

func (r *Reconciler) triggers() triggers {
	return triggers{entry: r.Entry, kinds: r.Kinds, client: r.Client, clock: r.Clock, due: r.checks}
}

// referable returns the kinds that objects of the kind can refer to, without those that --kinds leaves out.
func (t triggers) referable() []engine.Entry {
	var out []engine.Entry
	names := t.entry.Meta().References
	for _, name := range slices.Sorted(maps.Keys(t.kinds)) {
		if slices.Contains(names, name) || slices.Contains(names, kind.AnyKind) {
			out = append(out, t.kinds[name])
		}
	}
	return out
}

// dependents maps an object to those of the kind that name it and are not ready. If a provider is broken, nothing can
// be said of any of its objects: all of them are looked at.
func (t triggers) dependents(field string) handler.MapFunc {
	return func(ctx context.Context, o client.Object) []reconcile.Request {
		list := reconciler.NewList(t.client, t.entry)
		if err := t.client.List(ctx, list, client.InNamespace(o.GetNamespace()), client.MatchingFields{field: o.GetName()}); err != nil {
			return nil // the periodic retry of what waits comes all the same
		}
		_, isProvider := o.(*v1alpha1.AWSProvider)
		blind := isProvider && reconciler.IsBroken(o)
		var out []reconcile.Request
		_ = meta.EachListItem(list, func(item runtime.Object) error {
			obj := item.(v1alpha1.Resource)
			key := client.ObjectKeyFromObject(obj)
			ready := reconciler.IsReady(obj) && obj.GetDeletionTimestamp() == nil
			if ready && blind {
				t.due.Request(key, t.clock.Now())
			}
			if !ready || blind {
				out = append(out, reconcile.Request{NamespacedName: key})
			}
			return nil
		})
		return out
	}
}

// served maps a provider that was edited to all of its objects, and asks for a check of each: the edit may change the desired state in AWS,
// such as tags. The queue and the limits of AWS calls spread them.
func (t triggers) served(ctx context.Context, provider client.Object) []reconcile.Request {
	list := reconciler.NewList(t.client, t.entry)
	if err := t.client.List(ctx, list, client.InNamespace(provider.GetNamespace()),
		client.MatchingFields{reconciler.ProviderIndex: provider.GetName()}); err != nil {
		return nil // the periodic check comes all the same
	}
	var out []reconcile.Request
	_ = meta.EachListItem(list, func(item runtime.Object) error {
		key := client.ObjectKeyFromObject(item.(v1alpha1.Resource))
		t.due.Request(key, t.clock.Now())
		out = append(out, reconcile.Request{NamespacedName: key})
		return nil
	})
	return out
}

// ofResumed maps a capability that resumes to its objects of the kind. Each is due for a look at once.
func (t triggers) ofResumed(ctx context.Context, c client.Object) []reconcile.Request {
	list := reconciler.NewList(t.client, t.entry)
	if err := t.client.List(ctx, list, client.InNamespace(c.GetNamespace())); err != nil {
		return nil // the periodic check comes all the same
	}
	var out []reconcile.Request
	_ = meta.EachListItem(list, func(item runtime.Object) error {
		obj := item.(client.Object)
		if owner := metav1.GetControllerOf(obj); owner != nil && owner.UID == c.GetUID() {
			key := client.ObjectKeyFromObject(obj)
			t.due.Request(key, t.clock.Now())
			out = append(out, reconcile.Request{NamespacedName: key})
		}
		return nil
	})
	return out
}

// readersOf returns the objects of the kind that read the Secret. Each is due for a look at
// once. Objects that are being deleted are left out, because a deletion reads no Secret.
func (t triggers) readersOf(ctx context.Context, secret client.Object) []client.Object {
	list := reconciler.NewList(t.client, t.entry)
	if err := t.client.List(ctx, list, client.InNamespace(secret.GetNamespace()),
		client.MatchingFields{SecretIndex: secret.GetName()}); err != nil {
		return nil // the periodic check comes all the same
	}
	var out []client.Object
	_ = meta.EachListItem(list, func(item runtime.Object) error {
		if o := item.(client.Object); o.GetDeletionTimestamp() == nil {
			t.due.Request(client.ObjectKeyFromObject(o), t.clock.Now())
			out = append(out, o)
		}
		return nil
	})
	return out
}

// heldObjects maps an object that is gone to those of the kind in deletion that it may have held.
func (t triggers) heldObjects(ctx context.Context, gone client.Object) []reconcile.Request {
	list := reconciler.NewList(t.client, t.entry)
	options := []client.ListOption{client.UnsafeDisableDeepCopy}
	if t.entry.Meta().Users == kind.UsersOfNamespace {
		options = append(options, client.InNamespace(gone.GetNamespace()))
	}
	if err := t.client.List(ctx, list, options...); err != nil {
		return nil // the next look comes all the same
	}
	var out []reconcile.Request
	_ = meta.EachListItem(list, func(item runtime.Object) error {
		if o := item.(client.Object); o.GetDeletionTimestamp() != nil {
			out = append(out, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(o)})
		}
		return nil
	})
	return out
}
