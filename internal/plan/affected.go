// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"context"
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	intentv1alpha1 "github.com/nexus-operator/nexus-operator/api/intent/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/intent"
	"github.com/nexus-operator/nexus-operator/internal/intentfacts"
)

// affectedBindings plans the bindings that the plan does not have and whose policies become others by it: those that name an
// edited intent, and those that share the pods of a namespace. It returns the items of those alone that change.
func (p *Planner) affectedBindings(ctx context.Context, found []Item) ([]Item, error) {
	edited, changed := editedIntents(found)
	if !changed || p.bindings == nil && len(edited) == 0 {
		return nil, nil
	}
	s, err := p.posture(ctx)
	if err != nil {
		return nil, err
	}
	var out []Item
	for {
		next, err := p.nextAffected(ctx, s, edited)
		if next == nil || err != nil {
			return out, err
		}
		it := itemOf(next, None)
		follow, err := p.binding(ctx, &it, next)
		if err != nil {
			return nil, err
		}
		s.planned[keyOf(it.Kind, it.Namespace, it.Name)] = true // also where it waits
		follow = slices.DeleteFunc(follow, func(f Item) bool { return !f.Changes() })
		if len(follow) > 0 {
			out = append(append(out, it), follow...)
		}
	}
}

// editedIntents are the SecurityIntents that a plan changes. Changed is true where it changes anything of the security intents.
func editedIntents(found []Item) (edited map[string]bool, changed bool) {
	edited = map[string]bool{}
	for _, it := range found {
		if !strings.HasPrefix(it.APIVersion, intentv1alpha1.GroupName+"/") || !it.Changes() {
			continue
		}
		changed = true
		if it.Kind == "SecurityIntent" {
			edited[it.Name] = true
		}
	}
	return edited, changed
}

// nextAffected returns a binding that is affected and not planned yet; nil when there is none.
func (p *Planner) nextAffected(ctx context.Context, s *posture, edited map[string]bool) (*unstructured.Unstructured, error) {
	namespaces := []string{metav1.NamespaceAll}
	if len(edited) == 0 {
		namespaces = slices.Sorted(maps.Keys(s.divisions))
	}
	for _, namespace := range namespaces {
		bindings, err := p.bindingsIn(ctx, namespace)
		if err != nil {
			return nil, err
		}
		for _, o := range bindings {
			if o.GetDeletionTimestamp() == nil && s.isAffected(intentfacts.BindingOf(o), edited) {
				return toManifest(o)
			}
		}
	}
	return nil, nil
}

// isAffected reports whether a binding that is not planned yet names an edited intent, or restricts the network in a namespace
// that was divided.
func (s *posture) isAffected(b intent.Binding, edited map[string]bool) bool {
	if s.planned[keyOf(b.Kind, b.Namespace, b.Name)] {
		return false
	}
	if slices.ContainsFunc(b.Intents, func(name string) bool { return edited[name] }) {
		return true
	}
	_, divided := s.divisions[b.Namespace]
	return b.Restricts(s.intents) != 0 && (divided || b.Kind == intent.KindClusterBinding && len(s.divisions) > 0)
}

// toManifest is a binding, its kind named.
func toManifest(o runtime.Object) (*unstructured.Unstructured, error) {
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(o)
	if err != nil {
		return nil, err
	}
	u := &unstructured.Unstructured{Object: content}
	kind := intent.KindClusterBinding
	if u.GetNamespace() != "" {
		kind = intent.KindBinding
	}
	u.SetGroupVersionKind(intentv1alpha1.GroupVersion.WithKind(kind))
	return u, nil
}
