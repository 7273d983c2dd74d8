// SPDX-License-Identifier: Apache-2.0

package inspect

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	intentv1alpha1 "github.com/nexus-operator/nexus-operator/api/intent/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// ListQuery selects objects of the operator's kinds.
type ListQuery struct {
	// Namespace is that of the objects; empty selects all namespaces, and cluster-scoped objects.
	Namespace string
	// Kinds lists the kinds, in upper or lower case; empty selects all.
	Kinds []string
	// Phase selects capabilities in a phase, in upper or lower case; empty selects objects of all kinds.
	Phase string
	// Ready selects objects that are ready, or those that are not; nil selects both.
	Ready *bool
	// Limit bounds the number of objects in the answer; 0 means no limit.
	Limit int
}

// ObjectList lists objects of the operator's kinds with the reason of their Ready condition.
type ObjectList struct {
	APIVersion string       `json:"apiVersion"`
	Kind       string       `json:"kind"`
	Objects    []ListedItem `json:"objects"`
	// Total counts the objects that were selected; more than are listed when the limit left some out.
	Total int `json:"total"`
	// Unlisted names kinds that the caller may not list, or that the cluster does not have.
	Unlisted []string `json:"unlisted,omitempty"`
}

// ListedItem is an object in a list.
type ListedItem struct {
	Kind      string `json:"kind"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
	Ready     bool   `json:"ready"`
	Phase     string `json:"phase,omitempty"`
	Progress  string `json:"progress,omitempty"`
	// Reason and Message are those of the Ready condition.
	Reason  string `json:"reason,omitempty"`
	Message string `json:"message,omitempty"`
}

// UnknownKindError says that a query selects a kind that the operator does not have.
type UnknownKindError struct {
	Kind  string
	Known []string
}

// Error implements error.
func (e *UnknownKindError) Error() string {
	return fmt.Sprintf("kind: %q is no kind of Nexus Operator; it has %s", e.Kind, strings.Join(e.Known, ", "))
}

// List lists the objects that a query selects, sorted by namespace, kind and name. Of a query for all kinds, it fails when none can be
// listed.
func (r *Reader) List(ctx context.Context, q ListQuery) (*ObjectList, error) {
	kinds, err := r.selectKinds(q.Kinds)
	if err != nil {
		return nil, err
	}
	out := &ObjectList{APIVersion: APIVersion, Kind: "ObjectList", Objects: []ListedItem{}}
	var refused error
	for _, k := range kinds {
		err := r.listKind(ctx, q, k, out)
		switch {
		case len(q.Kinds) == 0 && (apierrors.IsForbidden(err) || isAbsent(err)):
			out.Unlisted = append(out.Unlisted, k.Kind)
			refused = err
		case err != nil:
			return nil, fmt.Errorf("listing %s objects: %w", k.Kind, err)
		}
	}
	if len(out.Unlisted) == len(kinds) {
		return nil, fmt.Errorf("listing objects of any kind: %w", refused)
	}
	slices.SortFunc(out.Objects, func(a, b ListedItem) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Name, b.Name))
	})
	out.Total = len(out.Objects)
	if q.Limit > 0 && out.Total > q.Limit {
		out.Objects = out.Objects[:q.Limit]
	}
	return out, nil
}

// listKind adds the objects of a kind that a query selects.
func (r *Reader) listKind(ctx context.Context, q ListQuery, k schema.GroupVersionKind, to *ObjectList) error {
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(k)
	if err := r.Client.List(ctx, list, client.InNamespace(q.Namespace)); err != nil {
		return err
	}
	for i := range list.Items {
		if item := listedItemOf(&list.Items[i]); q.selects(item) {
			to.Objects = append(to.Objects, item)
		}
	}
	return nil
}

// selectKinds returns the operator's kinds of these names; all of them without names.
func (r *Reader) selectKinds(names []string) ([]schema.GroupVersionKind, error) {
	all := r.OwnKinds()
	if len(names) == 0 {
		return all, nil
	}
	var out []schema.GroupVersionKind
	for _, name := range names {
		i := slices.IndexFunc(all, func(k schema.GroupVersionKind) bool { return strings.EqualFold(k.Kind, name) })
		if i < 0 {
			unknown := &UnknownKindError{Kind: name}
			for _, k := range all {
				unknown.Known = append(unknown.Known, k.Kind)
			}
			return nil, unknown
		}
		if !slices.Contains(out, all[i]) {
			out = append(out, all[i])
		}
	}
	return out, nil
}

// OwnKinds returns every kind of the operator that has a list, sorted by name.
func (r *Reader) OwnKinds() []schema.GroupVersionKind {
	var out []schema.GroupVersionKind
	for _, version := range []schema.GroupVersion{nexusv1.GroupVersion, v1alpha1.GroupVersion, intentv1alpha1.GroupVersion} {
		known := r.Client.Scheme().KnownTypes(version)
		for kind := range known {
			if _, is := known[kind+"List"]; is {
				out = append(out, version.WithKind(kind))
			}
		}
	}
	slices.SortFunc(out, func(a, b schema.GroupVersionKind) int { return cmp.Compare(a.Kind, b.Kind) })
	return out
}

func listedItemOf(u *unstructured.Unstructured) ListedItem {
	s := Statuses([]*unstructured.Unstructured{u}).Objects[0]
	item := ListedItem{Kind: s.Kind, Namespace: s.Namespace, Name: s.Name, Ready: s.Ready, Phase: s.Phase, Progress: s.Progress}
	if c := meta.FindStatusCondition(s.Conditions, status.Ready); c != nil {
		item.Reason, item.Message = c.Reason, c.Message
	}
	return item
}

// selects reports whether the query selects an object by its phase and its readiness.
func (q ListQuery) selects(item ListedItem) bool {
	return (q.Phase == "" || strings.EqualFold(q.Phase, item.Phase)) && (q.Ready == nil || *q.Ready == item.Ready)
}
