// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"context"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
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
	client.Reader
	p *Planner
}

// isForeseen reports whether objects of a group are read as the plan declares them.
func isForeseen(group string) bool {
	return group == nexusv1.GroupVersion.Group || group == intentv1alpha1.GroupName
}

// Get implements client.Reader.
func (a ahead) Get(ctx context.Context, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error {
	gvk, err := apiutil.GVKForObject(obj, a.p.Client.Scheme())
	if err != nil {
		return err
	}
	if next, is := obj.(*v1alpha1.AWSProvider); is {
		return a.provider(ctx, key, next)
	}
	u, declared := a.p.declared[keyOf(gvk.Kind, key.Namespace, key.Name)]
	if !declared || !isForeseen(gvk.Group) {
		return a.Reader.Get(ctx, key, obj, opts...)
	}
	return fromDeclared(u, obj)
}

// provider reads a provider with its future spec. The operator has not judged an edit yet, so the status for the previous spec counts.
func (a ahead) provider(ctx context.Context, key client.ObjectKey, out *v1alpha1.AWSProvider) error {
	next, err := a.p.provider(ctx, key.Namespace, key.Name)
	if err != nil {
		return err
	}
	found := &v1alpha1.AWSProvider{}
	if err := a.Reader.Get(ctx, key, found); err != nil && (next == nil || !apierrors.IsNotFound(err)) {
		return err
	}
	*out = *next
	out.Generation = found.Generation
	return nil
}

func fromDeclared(u *unstructured.Unstructured, obj runtime.Object) error {
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, obj); err != nil {
		return fmt.Errorf("reading %s: %w", apply.RefOf(u), err)
	}
	return nil
}

// List implements client.Reader.
func (a ahead) List(ctx context.Context, list client.ObjectList, opts ...client.ListOption) error {
	if err := a.Reader.List(ctx, list, opts...); err != nil {
		return err
	}
	gvk, err := apiutil.GVKForObject(list, a.p.Client.Scheme())
	if err != nil || !isForeseen(gvk.Group) {
		return err
	}
	gvk.Kind = strings.TrimSuffix(gvk.Kind, "List")
	which := (&client.ListOptions{}).ApplyOptions(opts)
	items, err := meta.ExtractList(list)
	if err != nil {
		return err
	}
	for _, u := range a.p.declaredOf(gvk.GroupKind()) {
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
func (a ahead) replace(items []runtime.Object, gvk schema.GroupVersionKind, u *unstructured.Unstructured, selector labels.Selector) ([]runtime.Object, error) {
	items = slices.DeleteFunc(items, func(o runtime.Object) bool {
		m, err := meta.Accessor(o)
		return err == nil && m.GetNamespace() == u.GetNamespace() && m.GetName() == u.GetName()
	})
	if selector != nil && !selector.Matches(labels.Set(u.GetLabels())) {
		return items, nil
	}
	next, err := a.p.Client.Scheme().New(gvk)
	if err != nil {
		return nil, err
	}
	return append(items, next), fromDeclared(u, next)
}

// declaredOf are the declared objects of a kind, in the order of their names.
func (p *Planner) declaredOf(kind schema.GroupKind) []*unstructured.Unstructured {
	var out []*unstructured.Unstructured
	for _, u := range p.declared {
		if u.GroupVersionKind().GroupKind() == kind {
			out = append(out, u)
		}
	}
	slices.SortFunc(out, func(a, b *unstructured.Unstructured) int {
		return strings.Compare(keyOf(a.GetKind(), a.GetNamespace(), a.GetName()), keyOf(b.GetKind(), b.GetNamespace(), b.GetName()))
	})
	return out
}
