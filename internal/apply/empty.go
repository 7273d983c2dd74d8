// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"context"
	"encoding/json"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// emptyMaps takes our keys out of maps that are now to be empty, and is done before an apply. A server-side apply that takes the last key
// out of a map leaves null in its place, which the schema of a resource definition refuses.
// https://github.com/kubernetes-sigs/structured-merge-diff/blob/v6.4.2/typed/remove.go
func (a *Applier) emptyMaps(ctx context.Context, p Plan) error {
	paths := emptiedPaths(p.want.Object, p.Live.Object, nil)
	if len(paths) == 0 {
		return nil
	}
	ref := RefOf(p.want)
	live := ref.emptyObject() // caches may leave out whose the keys are
	if err := a.Live.Get(ctx, ref.key(), live); err != nil {
		return explain(ref, "reading", err)
	}
	if live.GetUID() != p.Live.GetUID() {
		return apierrors.NewConflict(schema.GroupResource{Group: ref.Kind.Group, Resource: ref.Kind.Kind}, ref.Name, errReplaced)
	}
	patch := map[string]any{}
	ours, theirs := managedSets(live)
	for _, path := range paths {
		have, _, _ := unstructured.NestedMap(live.Object, path...)
		for k := range have {
			// A key that others have, too, such as restartedAt, stays when we give it up.
			if at := fieldPath(append(slices.Clone(path), k)); containsPath(ours, at) && !containsPath(theirs, at) {
				_ = unstructured.SetNestedField(patch, nil, append(slices.Clone(path), k)...)
			}
		}
	}
	if len(patch) == 0 {
		return nil
	}
	patch["metadata"] = map[string]any{"resourceVersion": live.GetResourceVersion()}
	body, err := json.Marshal(patch)
	if err != nil {
		return err
	}
	if err := a.Client.Patch(ctx, live, client.RawPatch(types.MergePatchType, body), client.FieldOwner(FieldOwner)); err != nil {
		return explain(ref, "emptying a map of", err)
	}
	a.memory.recordWrite(ref, live.GetResourceVersion())
	return nil
}

// emptiedPaths lists, as paths, the maps that are wanted empty and hold something. Lists are replaced as a
// whole, and metadata are never empty.
func emptiedPaths(want, have map[string]any, at []string) [][]string {
	var out [][]string
	for _, k := range sortedKeys(want) {
		w, isMap := want[k].(map[string]any)
		h, has := have[k].(map[string]any)
		if !isMap || !has || len(h) == 0 || len(at) == 0 && (k == "metadata" || k == "status") {
			continue
		}
		path := append(slices.Clone(at), k)
		if len(w) == 0 {
			out = append(out, path)
			continue
		}
		out = append(out, emptiedPaths(w, h, path)...)
	}
	return out
}

func fieldPath(names []string) fieldpath.Path {
	p := make(fieldpath.Path, len(names))
	for i := range names {
		p[i] = fieldpath.PathElement{FieldName: &names[i]}
	}
	return p
}

// containsPath reports whether a set of fields holds a field, or one below it.
func containsPath(s *fieldpath.Set, p fieldpath.Path) bool {
	if s.Has(p) {
		return true
	}
	for _, e := range p {
		s = s.WithPrefix(e)
	}
	return !s.Empty()
}
