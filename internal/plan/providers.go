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
func (d *draft) affectedByProviders(ctx context.Context, found []Item) ([]Item, error) {
	planned := map[string]bool{}
	for _, it := range found {
		planned[keyOf(it.Kind, it.Namespace, it.Name)] = true
	}
	var out []Item
	for i := range found {
		cause := &found[i]
		if cause.Kind != "AWSProvider" || cause.Action != Update || cause.Problem != nil {
			continue
		}
		users, leftOut, err := d.usersOf(ctx, cause.Namespace, cause.Name, planned)
		if err != nil {
			return nil, err
		}
		if leftOut > 0 {
			cause.addNote(fmt.Sprintf("%d objects that use the provider are not in this plan, which has the first %d: plan them without the provider",
				leftOut, mostAffected))
		}
		items := make([]Item, len(users))
		for i, u := range users {
			items[i] = itemOf(u, None)
		}
		affected, err := d.plan(ctx, items, users)
		if err != nil {
			return nil, err
		}
		out = append(out, slices.DeleteFunc(affected, func(it Item) bool { return !it.Changes() })...)
	}
	return out, nil
}

// usersOf returns the objects that use a provider and are not planned yet, and for those of a capability the capability: as many as a
// plan has, and how many more there are.
func (d *draft) usersOf(ctx context.Context, namespace, provider string, planned map[string]bool) (
	out []*unstructured.Unstructured, leftOut int, err error) {
	kinds := []schema.GroupVersionKind{nexusv1.GroupVersion.WithKind("NexusAICapability")}
	for _, e := range d.kinds {
		if d.operator.Kinds.Serves(e.Name()) {
			kinds = append(kinds, v1alpha1.GroupVersion.WithKind(e.Name()))
		}
	}
	for _, gvk := range kinds {
		err := eachOf(ctx, d.ahead.now, gvk, namespace, func(u *unstructured.Unstructured) {
			switch {
			case !refersTo(u, provider) || isOfCapability(u) || planned[keyOf(u.GetKind(), u.GetNamespace(), u.GetName())]:
			case len(out) < mostAffected:
				out = append(out, u)
			default:
				leftOut++
			}
		})
		if err != nil {
			return nil, 0, err
		}
	}
	return out, leftOut, nil
}

// pageSize limits the objects in memory during the search for the users of a provider.
const pageSize = 250

// eachOf calls do with each object of a kind in a namespace, its kind named.
func eachOf(ctx context.Context, c client.Reader, gvk schema.GroupVersionKind, namespace string,
	do func(*unstructured.Unstructured)) error {
	for next := ""; ; {
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(gvk.GroupVersion().WithKind(gvk.Kind + "List"))
		if err := c.List(ctx, list, client.InNamespace(namespace), client.Limit(pageSize), client.Continue(next)); err != nil {
			return fmt.Errorf("listing %s objects: %w", gvk.Kind, err)
		}
		for i := range list.Items {
			u := &unstructured.Unstructured{Object: list.Items[i].Object} // a pointer into the page would keep all of it
			u.SetGroupVersionKind(gvk)
			do(u)
		}
		if next = list.GetContinue(); next == "" {
			return nil
		}
	}
}

// listed returns the objects of a kind in a namespace, their kind named.
func listed(ctx context.Context, c client.Reader, gvk schema.GroupVersionKind, namespace string) (out []*unstructured.Unstructured,
	err error) {
	err = eachOf(ctx, c, gvk, namespace, func(u *unstructured.Unstructured) { out = append(out, u) })
	return out, err
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
