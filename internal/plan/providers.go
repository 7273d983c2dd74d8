// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"context"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
)

// affectedByProviders plans the objects that the plan does not have and that an edited AWSProvider changes, such as by other
// defaultTags: capabilities that use it, and the AWS objects of no capability. It returns the items of those alone that change.
func (p *Planner) affectedByProviders(ctx context.Context, found []Item) ([]Item, error) {
	planned := map[string]bool{}
	for _, it := range found {
		planned[keyOf(it.Kind, it.Namespace, it.Name)] = true
	}
	var out []Item
	for _, it := range found {
		if it.Kind != "AWSProvider" || it.Action != Update || it.Problem != nil {
			continue
		}
		users, err := p.usersOf(ctx, it.Namespace, it.Name)
		if err != nil {
			return nil, err
		}
		users = slices.DeleteFunc(users, func(u *unstructured.Unstructured) bool {
			return planned[keyOf(u.GetKind(), u.GetNamespace(), u.GetName())]
		})
		items := make([]Item, len(users))
		for i, u := range users {
			items[i] = itemOf(u, None)
		}
		affected, err := p.plan(ctx, items, users)
		if err != nil {
			return nil, err
		}
		out = append(out, slices.DeleteFunc(affected, func(it Item) bool { return !it.Changes() })...)
	}
	return out, nil
}

// usersOf returns the objects that use a provider, and for those of a capability the capability.
func (p *Planner) usersOf(ctx context.Context, namespace, provider string) ([]*unstructured.Unstructured, error) {
	capabilities, err := p.listed(ctx, nexusv1.GroupVersion.WithKind("NexusAICapability"), namespace)
	if err != nil {
		return nil, err
	}
	out := slices.DeleteFunc(capabilities, func(u *unstructured.Unstructured) bool { return !refersTo(u, provider) })
	for _, e := range p.Kinds {
		if !p.Operator.Kinds.Serves(e.Name()) {
			continue
		}
		objects, err := p.listed(ctx, v1alpha1.GroupVersion.WithKind(e.Name()), namespace)
		if err != nil {
			return nil, err
		}
		for _, u := range objects {
			if refersTo(u, provider) && !isOfCapability(u) {
				out = append(out, u)
			}
		}
	}
	return out, nil
}

// listed returns the objects of a kind in a namespace, their kind named.
func (p *Planner) listed(ctx context.Context, gvk schema.GroupVersionKind, namespace string) ([]*unstructured.Unstructured, error) {
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(gvk.GroupVersion().WithKind(gvk.Kind + "List"))
	if err := p.Client.List(ctx, list, client.InNamespace(namespace)); err != nil {
		return nil, fmt.Errorf("listing %s objects: %w", gvk.Kind, err)
	}
	out := make([]*unstructured.Unstructured, len(list.Items))
	for i := range list.Items {
		out[i] = &list.Items[i]
		out[i].SetGroupVersionKind(gvk)
	}
	return out, nil
}

func refersTo(u *unstructured.Unstructured, provider string) bool {
	name, _, _ := unstructured.NestedString(u.Object, "spec", "providerRef", "name")
	return name == provider
}

// isOfCapability reports whether a capability makes the object.
func isOfCapability(u *unstructured.Unstructured) bool {
	ref := metav1.GetControllerOf(u)
	return ref != nil && ref.Kind == "NexusAICapability"
}
