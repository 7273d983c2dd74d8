// SPDX-License-Identifier: Apache-2.0

package world

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"path"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/uuid"
)

// Copies are objects that were stored beside the API server.
type Copies struct {
	world *World
	keys  [][]byte
}

// Copy stores n copies of a custom resource, each with a UID and the changes of edit. These have to include the name. They go to etcd, in
// the stored form of the original, and the API server learns of them by its watches: a request to create an object, and one to delete it,
// take several times the processor time. No admission checks the changes of edit.
func (w *World) Copy(ctx context.Context, resource schema.GroupResource, original types.NamespacedName, n int,
	edit func(i int, o *unstructured.Unstructured)) (_ *Copies, err error) {
	folder := path.Join("/registry", resource.Group, resource.Resource, original.Namespace)
	var found struct{ Kvs []struct{ Value []byte } }
	if err := w.etcd(ctx, "range", map[string]any{"key": []byte(path.Join(folder, original.Name))}, &found); err != nil {
		return nil, err
	}
	if len(found.Kvs) != 1 {
		return nil, fmt.Errorf("etcd has no %s %s", resource, original)
	}
	c := &Copies{world: w}
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
		return w.etcd(ctx, "put", map[string]any{"key": c.keys[i], "value": values[i]}, nil)
	})
}

// CustomResources returns the objects of all kinds of a group as etcd has them, with one request: a list through the API server takes one
// for each kind.
func CustomResources(ctx context.Context, w *World, group string) ([]*unstructured.Unstructured, error) {
	folder := path.Join("/registry", group)
	var found struct{ Kvs []struct{ Value []byte } }
	if err := w.etcd(ctx, "range", map[string]any{"key": []byte(folder + "/"), "range_end": []byte(folder + "0")}, &found); err != nil {
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
		return c.world.etcd(ctx, "deleterange", map[string]any{"key": c.keys[i]}, nil)
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

// etcd sends a request to the JSON gateway of etcd.
func (w *World) etcd(ctx context.Context, verb string, request map[string]any, answer any) (err error) {
	body, err := json.Marshal(request)
	if err != nil {
		return err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, w.loopback("http", w.ports[portEtcd])+"/v3/kv/"+verb, bytes.NewReader(body))
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, response.Body.Close()) }()
	var text bytes.Buffer
	if _, err := text.ReadFrom(response.Body); err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("etcd: %s: %s", response.Status, &text)
	}
	if answer == nil {
		return nil
	}
	return json.Unmarshal(text.Bytes(), answer)
}
