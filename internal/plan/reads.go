// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"context"
	"maps"
	"reflect"
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

	"github.com/nexus-operator/nexus-operator/internal/intentfacts"
)

const (
	// fewReads limits the objects of a kind that are read one by one before all of a namespace are listed.
	fewReads = 4
	// mostKept bounds the objects of a kind and a namespace that a plan keeps.
	mostKept = 2000
)

// batched reads objects of kinds that a plan needs many of by lists, which it keeps: those that policies of security intents are
// enforced with, one of each for every binding. All other reads and all writes are the client's. It is for one plan, and not for
// concurrent use.
type batched struct {
	client.Client
	kinds map[schema.GroupVersionKind]bool
	asked map[place]int
	kept  map[place]map[string]client.Object
}

// place identifies one list of objects.
type place struct {
	kind      schema.GroupVersionKind
	namespace string
	typed     bool
}

func newBatched(c client.Client, engines []intentfacts.Engine) *batched {
	b := &batched{Client: c, kinds: map[schema.GroupVersionKind]bool{}, asked: map[place]int{}, kept: map[place]map[string]client.Object{}}
	for _, k := range intentfacts.PolicyKinds {
		b.kinds[k] = true
	}
	for _, e := range engines {
		for _, k := range e.Makes() {
			b.kinds[k] = true
		}
	}
	return b
}

// Get implements client.Reader.
func (b *batched) Get(ctx context.Context, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error {
	gvk, err := apiutil.GVKForObject(obj, b.Scheme())
	if err != nil {
		return err
	}
	all := b.in(ctx, gvk, key.Namespace, obj)
	if all == nil || len(opts) > 0 {
		return b.Client.Get(ctx, key, obj, opts...)
	}
	found := all[key.Name]
	if found == nil {
		return apierrors.NewNotFound(schema.GroupResource{Group: gvk.Group, Resource: gvk.Kind}, key.Name)
	}
	reflect.ValueOf(obj).Elem().Set(reflect.ValueOf(found.DeepCopyObject()).Elem())
	return nil
}

// List implements client.Reader.
func (b *batched) List(ctx context.Context, list client.ObjectList, opts ...client.ListOption) error {
	gvk, err := apiutil.GVKForObject(list, b.Scheme())
	if err != nil {
		return err
	}
	which := (&client.ListOptions{}).ApplyOptions(opts)
	var all map[string]client.Object
	if which.FieldSelector == nil && which.Continue == "" {
		all = b.in(ctx, gvk.GroupVersion().WithKind(strings.TrimSuffix(gvk.Kind, "List")), which.Namespace, list)
	}
	if all == nil {
		return b.Client.List(ctx, list, opts...)
	}
	var items []runtime.Object
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if o := all[name]; which.LabelSelector == nil || which.LabelSelector.Matches(labels.Set(o.GetLabels())) {
			items = append(items, o.DeepCopyObject())
		}
	}
	return meta.SetList(list, items)
}

// in returns all objects of a kind in a namespace by name; nil while few were read, for kinds that are not batched, and where they are too
// many or may not be listed.
func (b *batched) in(ctx context.Context, gvk schema.GroupVersionKind, namespace string, as runtime.Object) map[string]client.Object {
	_, untyped := as.(runtime.Unstructured)
	at := place{gvk, namespace, !untyped}
	if !b.kinds[gvk] || namespace == "" || isMetadata(as) {
		return nil
	}
	if b.asked[at]++; b.asked[at] <= fewReads {
		return nil
	}
	if all, known := b.kept[at]; known {
		return all
	}
	b.kept[at] = b.load(ctx, at)
	return b.kept[at]
}

func isMetadata(o runtime.Object) bool {
	switch o.(type) {
	case *metav1.PartialObjectMetadata, *metav1.PartialObjectMetadataList:
		return true
	default:
		return false
	}
}

// load lists the objects of a place; nil where that fails: then each read says why.
func (b *batched) load(ctx context.Context, at place) map[string]client.Object {
	list := b.newList(at)
	out := map[string]client.Object{}
	if err := b.Client.List(ctx, list, client.InNamespace(at.namespace), client.Limit(mostKept)); err != nil ||
		meta.LenList(list) >= mostKept {
		return nil
	}
	err := meta.EachListItem(list, func(o runtime.Object) error {
		item := o.(client.Object)
		out[item.GetName()] = item
		return nil
	})
	if err != nil {
		return nil
	}
	return out
}

// newList is an empty list of the Go type of a kind, or of unstructured objects where those are read.
func (b *batched) newList(at place) client.ObjectList {
	gvk := at.kind.GroupVersion().WithKind(at.kind.Kind + "List")
	if at.typed {
		if o, err := b.Scheme().New(gvk); err == nil {
			return o.(client.ObjectList)
		}
	}
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(gvk)
	return list
}
