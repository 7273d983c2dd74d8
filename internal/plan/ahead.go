// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"context"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	intentv1alpha1 "github.com/nexus-operator/nexus-operator/api/intent/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/apply"
)

// ahead reads capabilities, providers, security intents and bindings in their state after the plan, and all other objects in their present
// state.
type ahead struct {
	// now is the cluster in its present state.
	now client.Client
	// declared holds the objects that are to exist after the plan, keyed by the names that References use.
	declared map[string]*unstructured.Unstructured
	// doomed holds the objects that the plan deletes, with the keys of declared.
	doomed map[string]bool
}

func (a ahead) declare(u *unstructured.Unstructured) {
	a.declared[keyOf(u.GetKind(), u.GetNamespace(), u.GetName())] = u
}

// find returns an object that is to exist after the plan.
func (a ahead) find(kind, namespace, name string) (u *unstructured.Unstructured, declared bool) {
	u, declared = a.declared[keyOf(kind, namespace, name)]
	return u, declared
}

func keyOf(kind, namespace, name string) string { return kind + "/" + namespace + "/" + name }

// isForeseen reports whether objects of a group are read as the plan declares them.
func isForeseen(group string) bool {
	return group == nexusv1.GroupVersion.Group || group == intentv1alpha1.GroupName
}

// Get implements client.Reader.
func (a ahead) Get(ctx context.Context, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error {
	gvk, err := apiutil.GVKForObject(obj, a.now.Scheme())
	if err != nil {
		return err
	}
	if next, is := obj.(*v1alpha1.AWSProvider); is {
		return a.provider(ctx, key, next)
	}
	u, declared := a.find(gvk.Kind, key.Namespace, key.Name)
	if !declared || !isForeseen(gvk.Group) {
		return a.now.Get(ctx, key, obj, opts...)
	}
	return fromDeclared(u, obj)
}

// provider reads a provider with its future spec. The operator has not judged an edit yet, so the status for the previous spec counts.
func (a ahead) provider(ctx context.Context, key client.ObjectKey, out *v1alpha1.AWSProvider) error {
	next, err := a.nextProvider(ctx, key.Namespace, key.Name)
	if err != nil {
		return err
	}
	found := &v1alpha1.AWSProvider{}
	if err := a.now.Get(ctx, key, found); err != nil && (next == nil || !apierrors.IsNotFound(err)) {
		return err
	}
	*out = *next
	out.Generation = found.Generation
	return nil
}

// nextProvider reads the provider of an object as it will be; nil when there is none and none is declared.
func (a ahead) nextProvider(ctx context.Context, namespace, name string) (*v1alpha1.AWSProvider, error) {
	found := &v1alpha1.AWSProvider{}
	err := a.now.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, found)
	u, declared := a.find("AWSProvider", namespace, name)
	switch {
	case client.IgnoreNotFound(err) != nil:
		return nil, fmt.Errorf("reading AWSProvider %s/%s: %w", namespace, name, err)
	case !declared && apierrors.IsNotFound(err):
		return nil, nil
	case !declared:
		return found, nil
	}
	next := &v1alpha1.AWSProvider{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, next); err != nil {
		return nil, fmt.Errorf("reading %s: %w", apply.RefOf(u), err)
	}
	next.ObjectMeta.UID, next.Status = found.UID, found.Status
	return next, nil
}

func fromDeclared(u *unstructured.Unstructured, obj runtime.Object) error {
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, obj); err != nil {
		return fmt.Errorf("reading %s: %w", apply.RefOf(u), err)
	}
	return nil
}

// List implements client.Reader.
func (a ahead) List(ctx context.Context, list client.ObjectList, opts ...client.ListOption) error {
	if err := a.now.List(ctx, list, opts...); err != nil {
		return err
	}
	gvk, err := apiutil.GVKForObject(list, a.now.Scheme())
	if err != nil || !isForeseen(gvk.Group) {
		return err
	}
	gvk.Kind = strings.TrimSuffix(gvk.Kind, "List")
	which := (&client.ListOptions{}).ApplyOptions(opts)
	items, err := meta.ExtractList(list)
	if err != nil {
		return err
	}
	for _, u := range a.declaredOf(gvk.GroupKind()) {
		if which.Namespace != "" && which.Namespace != u.GetNamespace() {
			continue
		}
		if items, err = a.replace(items, gvk, u, which.LabelSelector); err != nil {
			return err
		}
	}
	return meta.SetList(list, items)
}

// replace replaces the existing object of the same name by a declared object, if the selector selects it.
func (a ahead) replace(items []runtime.Object, gvk schema.GroupVersionKind, u *unstructured.Unstructured, selector labels.Selector) (
	[]runtime.Object, error) {
	items = slices.DeleteFunc(items, func(o runtime.Object) bool {
		m, err := meta.Accessor(o)
		return err == nil && m.GetNamespace() == u.GetNamespace() && m.GetName() == u.GetName()
	})
	if selector != nil && !selector.Matches(labels.Set(u.GetLabels())) {
		return items, nil
	}
	next, err := a.now.Scheme().New(gvk)
	if err != nil {
		return nil, err
	}
	return append(items, next), fromDeclared(u, next)
}

// declaredOf are the declared objects of a kind, in the order of their names.
func (a ahead) declaredOf(kind schema.GroupKind) []*unstructured.Unstructured {
	var out []*unstructured.Unstructured
	for _, u := range a.declared {
		if u.GroupVersionKind().GroupKind() == kind {
			out = append(out, u)
		}
	}
	slices.SortFunc(out, func(x, y *unstructured.Unstructured) int {
		return strings.Compare(keyOf(x.GetKind(), x.GetNamespace(), x.GetName()), keyOf(y.GetKind(), y.GetNamespace(), y.GetName()))
	})
	return out
}

// goes reports whether an object is deleted by the plan, itself or with its capability.
func (a ahead) goes(u *unstructured.Unstructured) bool {
	if a.doomed[keyOf(u.GetKind(), u.GetNamespace(), u.GetName())] {
		return true
	}
	ref := metav1.GetControllerOf(u)
	return ref != nil && a.doomed[keyOf(ref.Kind, u.GetNamespace(), ref.Name)]
}
