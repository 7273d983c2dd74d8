// SPDX-License-Identifier: Apache-2.0

package world

import (
	"context"
	"encoding/json"
	"fmt"
	"path"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/uuid"
)

// Copies are objects that were stored beside the API server.
type Copies struct {
	store store
	keys  [][]byte
}

// Copy stores n copies of a custom resource, each with a UID and the changes of edit. These have to include the name. They go to etcd, in
// the stored form of the original, and the API server learns of them by its watches: a request to create an object, and one to delete it,
// take several times the processor time. No admission checks the changes of edit.
func (w *World) Copy(ctx context.Context, resource schema.GroupResource, original types.NamespacedName, n int,
	edit func(i int, o *unstructured.Unstructured)) (_ *Copies, err error) {
	folder := path.Join("/registry", resource.Group, resource.Resource, original.Namespace)
	var found struct{ Kvs []struct{ Value []byte } }
	etcd := w.components.store()
	if err := etcd.ask(ctx, "range", map[string]any{"key": []byte(path.Join(folder, original.Name))}, &found); err != nil {
		return nil, err
	}
	if len(found.Kvs) != 1 {
		return nil, fmt.Errorf("etcd has no %s %s", resource, original)
	}
	c := &Copies{store: etcd}
	values := make([][]byte, n)
	for i := range n {
		o := &unstructured.Unstructured{}
		if err := json.Unmarshal(found.Kvs[0].Value, &o.Object); err != nil {
			return nil, err
		}
		o.SetUID(uuid.NewUUID())
		edit(i, o)
		if values[i], err = json.Marshal(o.Object); err != nil {
			return nil, err
		}
		c.keys = append(c.keys, []byte(path.Join(folder, o.GetName())))
	}
	return c, c.each(func(i int) error {
		return etcd.ask(ctx, "put", map[string]any{"key": c.keys[i], "value": values[i]}, nil)
	})
}

// CustomResources returns the objects of all kinds of a group as etcd has them, with one request: a list through the API server takes one
// for each kind.
func CustomResources(ctx context.Context, w *World, group string) ([]*unstructured.Unstructured, error) {
	folder := path.Join("/registry", group)
	var found struct{ Kvs []struct{ Value []byte } }
	request := map[string]any{"key": []byte(folder + "/"), "range_end": []byte(folder + "0")}
	if err := w.components.store().ask(ctx, "range", request, &found); err != nil {
		return nil, err
	}
	out := make([]*unstructured.Unstructured, len(found.Kvs))
	for i, kv := range found.Kvs {
		out[i] = &unstructured.Unstructured{}
		if err := json.Unmarshal(kv.Value, &out[i].Object); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// Remove removes the copies from etcd.
func (c *Copies) Remove(ctx context.Context) error {
	return c.each(func(i int) error {
		return c.store.ask(ctx, "deleterange", map[string]any{"key": c.keys[i]}, nil)
	})
}

// each calls do for every copy, for some at a time. Each has a request, and so a revision, as the API server expects: it may
// not show all objects that one transaction has written.
func (c *Copies) each(do func(i int) error) error {
	group := errgroup.Group{}
	group.SetLimit(copiesAtATime)
	for i := range c.keys {
		group.Go(func() error { return do(i) })
	}
	return group.Wait()
}

// copiesAtATime sets how many requests etcd has at once.
const copiesAtATime = 2
