// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// current returns a child from the cache, or from the API server where the cache does not have it, has only its metadata,
// or has not caught up with our own last write; nil when it is absent there too.
func (a *Applier) current(ctx context.Context, ref Ref) (*unstructured.Unstructured, error) {
	have, err := a.cached(ctx, ref)
	if err != nil || have != nil && !isIncomplete(have) && !a.memory.lags(ref, have.GetResourceVersion()) {
		return have, err
	}
	have = ref.emptyObject()
	err = a.Live.Get(ctx, ref.key(), have)
	if apierrors.IsNotFound(err) {
		a.memory.forget(ref)
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return have, nil
}

// expected is current without a question to the API server about a child that was never seen: that is asked by the
// create itself, which conflicts when there is an object.
func (a *Applier) expected(ctx context.Context, ref Ref) (*unstructured.Unstructured, error) {
	if !a.memory.hasSeen(ref) {
		if have, err := a.cached(ctx, ref); have == nil {
			return nil, err
		}
	}
	return a.current(ctx, ref)
}

// cached reads through the Go type where there is one: an unstructured read would start a second
// informer beside the controllers' own.
func (a *Applier) cached(ctx context.Context, ref Ref) (*unstructured.Unstructured, error) {
	obj := a.typed(ref.Kind)
	if obj == nil {
		obj = ref.emptyObject()
	}
	err := a.Client.Get(ctx, ref.key(), obj)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return asUnstructured(obj, ref.Kind)
}

// typed returns a new object of the kind's Go type, nil when the scheme has none.
func (a *Applier) typed(kind schema.GroupVersionKind) client.Object {
	obj, err := a.Client.Scheme().New(kind)
	if err != nil {
		return nil
	}
	o, _ := obj.(client.Object)
	return o
}

func asUnstructured(obj client.Object, kind schema.GroupVersionKind) (*unstructured.Unstructured, error) {
	if u, ok := obj.(*unstructured.Unstructured); ok {
		return u, nil
	}
	m, err := runtime.DefaultUnstructuredConverter.ToUnstructured(obj)
	if err != nil {
		return nil, err
	}
	u := &unstructured.Unstructured{Object: m}
	u.SetGroupVersionKind(kind) // typed reads leave it out
	return u, nil
}

// normal brings an object into the form for comparisons: that of its Go type, which drops empties and spells quantities as the API server
// does. An object that does not fit the type, or has none, stays as it is; the server then reports the error in it.
func (a *Applier) normal(u *unstructured.Unstructured) *unstructured.Unstructured {
	obj := a.typed(u.GroupVersionKind())
	if obj == nil {
		return u
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, obj); err != nil {
		return u
	}
	n, err := asUnstructured(obj, u.GroupVersionKind())
	if err != nil {
		return u
	}
	return n
}

// wanted is the normal form of a desired object, with its declared fields only: zero values that the Go type added are left out, and
// declared empty values, which the type drops, are marked.
func (a *Applier) wanted(desired *unstructured.Unstructured) *unstructured.Unstructured {
	n := a.normal(desired)
	if n != desired {
		asSaid(n.Object, desired.Object)
	}
	return n
}

func asSaid(normal, said any) {
	switch normal := normal.(type) {
	case map[string]any:
		if said, ok := said.(map[string]any); ok {
			asSaidOf(normal, said)
		}
	case []any:
		said, _ := said.([]any)
		for i := range min(len(normal), len(said)) {
			asSaid(normal[i], said[i])
		}
	}
}

func asSaidOf(normal, said map[string]any) {
	for k, v := range normal {
		if s, ok := said[k]; ok {
			asSaid(v, s)
		} else {
			delete(normal, k)
		}
	}
	for k, s := range said {
		if _, ok := normal[k]; !ok && s != nil && isEmpty(s) {
			normal[k] = unset{}
		}
	}
}
