// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"context"
	"fmt"
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

// mostAffected bounds the objects that a plan does not have and that it plans because they are affected: each costs reads of the API
// server or of AWS.
const mostAffected = 500

// affected plans bindings outside the plan if the plan changes their policies: bindings that name an edited intent, and bindings
// that share the pods of a namespace. It returns the items of the changed bindings only. If it stops at the limit, the item of an edited
// object has a note.
func (bs *bindings) affected(ctx context.Context, found []Item) ([]Item, error) {
	edited, cause := editedIntents(found)
	if cause == nil || bs.posture.intents == nil && len(edited) == 0 {
		return nil, nil
	}
	if err := bs.posture.gather(ctx); err != nil {
		return nil, err
	}
	var out []Item
	for planned := 0; ; {
		next, err := bs.nextAffected(ctx, edited)
		if len(next) == 0 || err != nil {
			return out, err
		}
		for _, u := range next {
			if planned++; planned > mostAffected {
				cause.addNote(fmt.Sprintf("more than %d bindings are affected, and the others are not in this plan", mostAffected))
				return out, nil
			}
			items, err := bs.affectedOne(ctx, u)
			if err != nil {
				return nil, err
			}
			out = append(out, items...)
		}
	}
}

// affectedOne plans a binding that the plan does not have. It returns no items where nothing changes.
func (bs *bindings) affectedOne(ctx context.Context, u *unstructured.Unstructured) ([]Item, error) {
	it := itemOf(u, None)
	follow, err := bs.plan(ctx, &it, u)
	if err != nil {
		return nil, err
	}
	bs.posture.planned[keyOf(it.Kind, it.Namespace, it.Name)] = true // also where it waits
	follow = slices.DeleteFunc(follow, func(f Item) bool { return !f.Changes() })
	if len(follow) == 0 {
		return nil, nil
	}
	return append([]Item{it}, follow...), nil
}

// editedIntents are the SecurityIntents that a plan changes. Cause is the first object of the security intents that it changes; nil for
// none.
func editedIntents(found []Item) (edited map[string]bool, cause *Item) {
	edited = map[string]bool{}
	for i := range found {
		it := &found[i]
		if !strings.HasPrefix(it.APIVersion, intentv1alpha1.GroupName+"/") || !it.Changes() {
			continue
		}
		if cause == nil {
			cause = it
		}
		if it.Kind == "SecurityIntent" {
			edited[it.Name] = true
		}
	}
	return edited, cause
}

// nextAffected returns the bindings that are affected and not planned yet. To plan them may affect others.
func (bs *bindings) nextAffected(ctx context.Context, edited map[string]bool) ([]*unstructured.Unstructured, error) {
	namespaces := []string{metav1.NamespaceAll}
	if len(edited) == 0 {
		namespaces = slices.Sorted(maps.Keys(bs.posture.divisions))
	}
	var out []*unstructured.Unstructured
	seen := map[string]bool{}
	for _, namespace := range namespaces {
		bindings, err := bs.posture.bindingsIn(ctx, namespace)
		if err != nil {
			return nil, err
		}
		for _, o := range bindings {
			b := intentfacts.BindingOf(o)
			key := keyOf(b.Kind, b.Namespace, b.Name)
			if o.GetDeletionTimestamp() != nil || seen[key] || !bs.posture.isAffected(b, edited) {
				continue
			}
			u, err := toManifest(o)
			if err != nil {
				return nil, err
			}
			seen[key], out = true, append(out, u)
		}
	}
	return out, nil
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
