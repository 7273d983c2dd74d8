// SPDX-License-Identifier: Apache-2.0

// Package fakeapi is controller-runtime's fake client for tests that call one reconciler: it records every write, and
// single calls fail on request.
package fakeapi

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

// API is a fake API server as one client sees it. Every kind that is applied needs a Go type in the scheme: the fake loses
// the kind of others.
type API struct {
	// WithWatch records calls and fails where Fail says so.
	client.WithWatch
	// Store is the same server without either, for the actions of other people and for assertions.
	Store client.WithWatch

	mu     sync.Mutex
	calls  []string
	faults map[string]func() error
	uids   int
}

// New returns the API server that the builder describes. Managed fields are kept, as the operator's cache of derived
// objects does.
func New(builder *fake.ClientBuilder) *API {
	a := &API{Store: builder.WithReturnManagedFields().WithTypeConverters(managedfields.NewDeducedTypeConverter()).Build(),
		faults: map[string]func() error{}}
	a.WithWatch = a.seenBy("")
	return a
}

// Live returns a reader with calls named with the prefix "live ", so that it fails apart from the cache.
func (a *API) Live() client.WithWatch { return a.seenBy("live ") }

func (a *API) seenBy(prefix string) client.WithWatch {
	call := func(verb string, kind, key any) error {
		return a.call(fmt.Sprintf("%s%s %s %s", prefix, verb, kind, key))
	}
	return interceptor.NewClient(a.Store, interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
			if err := call("get", a.kind(o), key); err != nil {
				return err
			}
			return c.Get(ctx, key, o, opts...)
		},
		List: func(ctx context.Context, c client.WithWatch, l client.ObjectList, opts ...client.ListOption) error {
			if err := call("list", strings.TrimSuffix(a.kind(l), "List"), "*"); err != nil {
				return err
			}
			return c.List(ctx, l, opts...)
		},
		Create: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.CreateOption) error {
			if err := call("create", a.kind(o), client.ObjectKeyFromObject(o)); err != nil {
				return err
			}
			return c.Create(ctx, o, opts...)
		},
		Delete: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.DeleteOption) error {
			if err := call("delete", a.kind(o), client.ObjectKeyFromObject(o)); err != nil {
				return err
			}
			return c.Delete(ctx, o, opts...)
		},
		Patch: func(ctx context.Context, c client.WithWatch, o client.Object, p client.Patch, opts ...client.PatchOption) error {
			if err := call("patch", a.kind(o), client.ObjectKeyFromObject(o)); err != nil {
				return err
			}
			return c.Patch(ctx, o, p, opts...)
		},
		SubResourcePatch: func(ctx context.Context, c client.Client, sub string, o client.Object, p client.Patch,
			opts ...client.SubResourcePatchOption) error {
			if err := call(sub, a.kind(o), client.ObjectKeyFromObject(o)); err != nil {
				return err
			}
			return c.SubResource(sub).Patch(ctx, o, p, opts...)
		},
		Apply: func(ctx context.Context, c client.WithWatch, o runtime.ApplyConfiguration, opts ...client.ApplyOption) error {
			u := o.(applied)
			if err := call("apply", u.GetKind(), types.NamespacedName{Namespace: u.GetNamespace(), Name: u.GetName()}); err != nil {
				return err
			}
			isNew, err := a.checkVersion(ctx, u)
			if err != nil {
				return err
			}
			if err := c.Apply(ctx, o, opts...); err != nil || !isNew {
				return err
			}
			return a.giveUID(ctx, u)
		},
	})
}

// applied is an unstructured object that is applied.
type applied interface {
	metav1.Object
	GetKind() string
	GroupVersionKind() schema.GroupVersionKind
}

// checkVersion reports whether an apply creates its object. As on the API server, and not in the fake, an object that
// exists conflicts with another resourceVersion.
func (a *API) checkVersion(ctx context.Context, u applied) (isNew bool, err error) {
	have := &unstructured.Unstructured{}
	have.SetGroupVersionKind(u.GroupVersionKind())
	err = a.Store.Get(ctx, client.ObjectKey{Namespace: u.GetNamespace(), Name: u.GetName()}, have)
	if apierrors.IsNotFound(err) {
		return true, nil
	}
	if v := u.GetResourceVersion(); err == nil && v != "" && v != have.GetResourceVersion() {
		return false, apierrors.NewConflict(schema.GroupResource{Resource: u.GetKind()}, u.GetName(),
			fmt.Errorf("resourceVersion %s is not %s", v, have.GetResourceVersion()))
	}
	return false, err
}

// giveUID gives a new object the UID that the fake leaves out.
func (a *API) giveUID(ctx context.Context, u applied) error {
	o := &unstructured.Unstructured{}
	o.SetGroupVersionKind(u.GroupVersionKind())
	if err := a.Store.Get(ctx, client.ObjectKey{Namespace: u.GetNamespace(), Name: u.GetName()}, o); err != nil {
		return err
	}
	a.mu.Lock()
	a.uids++
	o.SetUID(types.UID(fmt.Sprintf("uid-%d", a.uids)))
	a.mu.Unlock()
	if err := a.Store.Update(ctx, o); err != nil {
		return err
	}
	u.SetUID(o.GetUID())
	u.SetResourceVersion(o.GetResourceVersion())
	return nil
}

func (a *API) kind(o runtime.Object) string {
	gvk, err := apiutil.GVKForObject(o, a.Store.Scheme())
	if err != nil {
		return err.Error()
	}
	return gvk.Kind
}

func (a *API) call(name string) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.calls = append(a.calls, name)
	for prefix, fault := range a.faults {
		if strings.HasPrefix(name, prefix) {
			return fault()
		}
	}
	return nil
}

// Fail has every call with that prefix of its name return an error: "apply NetworkPolicy team/web", or only "live get". A nil error ends
// that.
func (a *API) Fail(prefix string, err error) {
	if err == nil {
		a.Before(prefix, nil)
		return
	}
	a.Before(prefix, func() error { return err })
}

// Before calls do, instead of recording success, at every call with that prefix of its name; the call goes on where do returns nil. It must
// not use the API, only its Store.
func (a *API) Before(prefix string, do func() error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.faults, prefix)
	if do != nil {
		a.faults[prefix] = do
	}
}

// Calls returns the calls since the last Calls or Writes with one of the prefixes in their names; without any, all.
func (a *API) Calls(prefixes ...string) []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	calls := a.calls
	a.calls = nil
	return slices.DeleteFunc(calls, func(c string) bool {
		return len(prefixes) > 0 && !slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(c, p) })
	})
}

// Writes returns the writes since the last Calls or Writes, sorted.
func (a *API) Writes() []string {
	writes := a.Calls("create", "delete", "patch", "status", "apply", "update")
	slices.Sort(writes)
	return writes
}
