// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"context"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/value"
)

// removeAdditions removes the additions of others from the spec or data of a child. Managed fields show the writer of an addition. A
// comparison with the desired object does not, because the API server and an engine's webhooks add defaults, which no manager owns. Fields
// that no manager owns are compared for the kinds with known defaults, because everyone who may write an object may write its managed
// fields.
func (a *Applier) removeAdditions(ctx context.Context, want *unstructured.Unstructured, res Result) (Result, error) {
	added := a.addedTo(want, res.Live)
	if len(added) == 0 {
		return res, nil
	}
	next := res.Live.DeepCopy()
	for _, p := range added {
		removePath(next.Object, p)
	}
	next, err := a.patchAdded(ctx, res.Live, next)
	if err != nil {
		return Result{}, err
	}
	a.memory.recordInserted(RefOf(want), pathsOf(unexpectedPaths(want, next)))
	if next, err = a.disown(ctx, next, addedPaths(want, next)); err != nil {
		return Result{}, err
	}
	if next.GetResourceVersion() == res.Live.GetResourceVersion() { // the server adds it itself
		return Result{Change: res.Change, Drift: res.Drift, Edited: res.Edited, Live: next, Unsettled: res.Unsettled}, nil
	}
	drift := slices.Clone(res.Drift)
	for _, p := range added {
		drift = append(drift, Difference{Path: p.String()[1:]})
	}
	return Result{Change: Updated, Drift: drift, Live: next, Unsettled: res.Unsettled}, nil
}

func (a *Applier) patchAdded(ctx context.Context, live, next *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	patch := client.MergeFromWithOptions(live, client.MergeFromWithOptimisticLock{})
	if err := a.Client.Patch(ctx, next, patch, client.FieldOwner(FieldOwner)); err != nil {
		return nil, explain(RefOf(live), "removing what others added to", err)
	}
	a.memory.recordWrite(RefOf(live), next.GetResourceVersion())
	return next, nil
}

// addedTo are the fields to take out of a live child, without those that the server inserted again when they were taken out.
func (a *Applier) addedTo(want, live *unstructured.Unstructured) []fieldpath.Path {
	inserted := a.memory.insertedIn(RefOf(want))
	unexpected := slices.DeleteFunc(unexpectedPaths(want, live), func(p fieldpath.Path) bool { return inserted[p.String()] })
	return union(addedPaths(want, live), unexpected)
}

func pathsOf(paths []fieldpath.Path) []string {
	out := make([]string, len(paths))
	for i, p := range paths {
		out[i] = p.String()
	}
	return out
}

func union(a, b []fieldpath.Path) []fieldpath.Path {
	all := fieldpath.NewSet(append(slices.Clone(a), b...)...)
	var out []fieldpath.Path
	all.Iterate(func(p fieldpath.Path) {
		for n := 1; n < len(p); n++ {
			if all.Has(p[:n]) {
				return // goes with what is above it
			}
		}
		out = append(out, p.Copy())
	})
	return out
}

// Additions are the fields that others added to an existing child of a sole owner, which Apply removes. They are no part
// of Differences: the owner's desired object does not name them.
func (p Plan) Additions() []Difference {
	if !p.sole || p.Live == nil {
		return nil
	}
	var out []Difference
	for _, path := range union(addedPaths(p.want, p.Live), unexpectedPaths(p.want, p.Live)) {
		have, _, _ := unstructured.NestedFieldNoCopy(p.Live.Object, fieldNamesOf(path)...)
		out = append(out, Difference{Path: path.String()[1:], Have: have})
	}
	return out
}

// fieldNamesOf are the names of fields that lead to a path, as far as it leads through no list.
func fieldNamesOf(p fieldpath.Path) []string {
	var out []string
	for _, e := range p {
		if e.FieldName == nil {
			return nil
		}
		out = append(out, *e.FieldName)
	}
	return out
}

// soleRoots are the top-level fields that others must not add to.
var soleRoots = []string{"spec", "data", "binaryData"}

// restartedAt is the annotation that kubectl rollout restart writes into a pod template; to remove it would roll the pods again.
var restartedAt = fieldpath.MakePathOrDie("spec", "template", "metadata", "annotations", "kubectl.kubernetes.io/restartedAt")

// replicas are for autoscalers to set where the desired state does not.
var replicas = fieldpath.MakePathOrDie("spec", "replicas")

// isLeftToOthers reports whether a field is one that others may add: outside of the spec and the data, or one that commands and
// autoscalers of Kubernetes write.
func isLeftToOthers(p fieldpath.Path) bool {
	return p[0].FieldName == nil || !slices.Contains(soleRoots, *p[0].FieldName) || p.Equals(restartedAt) || p.Equals(podAnnotations) ||
		p.Equals(replicas)
}

// addedPaths lists the topmost fields that others manage and that contain no field of ours. It adds the fields that were written under the
// name of our field manager, which anybody may use, and are not desired.
func addedPaths(want, live *unstructured.Unstructured) []fieldpath.Path {
	ours, theirs := managedSets(live)
	found := forgedUpdates(want, live)
	theirs.Leaves().Iterate(func(p fieldpath.Path) {
		if isLeftToOthers(p) {
			return
		}
		if top := topUnmanaged(ours, p); top != nil && !isDesired(want, top) {
			found.Insert(top)
		}
	})
	var out []fieldpath.Path
	found.Iterate(func(p fieldpath.Path) { out = append(out, p.Copy()) })
	return out
}

// topUnmanaged returns the topmost path above a leaf, or the leaf, if a set has no path at or below it; nil if there is none.
func topUnmanaged(s *fieldpath.Set, leaf fieldpath.Path) fieldpath.Path {
	for n := 1; n <= len(leaf); n++ {
		if !containsPath(s, leaf[:n]) {
			return beside(leaf, n)
		}
	}
	return nil
}

// beside returns the shortest beginning of a path, of this length or longer, that contains no field that is left to others.
func beside(p fieldpath.Path, n int) fieldpath.Path {
	for n < len(p) && (n < len(restartedAt) && p[:n].Equals(restartedAt[:n]) || n < len(replicas) && p[:n].Equals(replicas[:n])) {
		n++
	}
	return p[:n].Copy()
}

func isDesired(want *unstructured.Unstructured, p fieldpath.Path) bool {
	return lengthIn(want.Object, p) == len(p)
}

// takenOver returns the desired fields that others manage instead of us. A person who changes an element of a list without keys manages the
// whole list from then on, and may have added to it: our next apply restores it.
func takenOver(want, live *unstructured.Unstructured) []Difference {
	ours, theirs := managedSets(live)
	found := &fieldpath.Set{}
	theirs.Leaves().Iterate(func(p fieldpath.Path) {
		if isLeftToOthers(p) {
			return
		}
		if top := topUnmanaged(ours, p); top != nil && isDesired(want, top) {
			found.Insert(top)
		}
	})
	return foundIn(live, found)
}

// removePath takes a field, or an element of a list, out of an object.
func removePath(in map[string]any, p fieldpath.Path) {
	name := *p[0].FieldName
	if len(p) == 1 {
		delete(in, name)
		return
	}
	switch v := in[name].(type) {
	case map[string]any:
		if p[1].FieldName != nil {
			removePath(v, p[1:])
		}
	case []any:
		in[name] = without1(v, p[1:])
	}
}

// without1 is a list without an element, or without a field of an element.
func without1(list []any, p fieldpath.Path) []any {
	return slices.DeleteFunc(list, func(e any) bool {
		if !matchesElement(e, p[0]) {
			return false
		}
		if m, ok := e.(map[string]any); ok && len(p) > 1 && p[1].FieldName != nil {
			removePath(m, p[1:])
			return false
		}
		return len(p) == 1
	})
}

// matchesElement reports whether an element of a list is the one that a path names, by its key or by its value.
func matchesElement(element any, p fieldpath.PathElement) bool {
	switch {
	case p.Value != nil:
		return value.Equals(*p.Value, value.NewValueInterface(element))
	case p.Key != nil:
		m, ok := element.(map[string]any)
		return ok && !slices.ContainsFunc(*p.Key, func(f value.Field) bool {
			return !value.Equals(f.Value, value.NewValueInterface(m[f.Name]))
		})
	default:
		return false
	}
}

// managedSets are the fields that we manage, and those that others do, status left out. An entry that cannot be
// read has none.
func managedSets(live *unstructured.Unstructured) (ours, theirs *fieldpath.Set) {
	return dividedSets(live, func(m metav1.ManagedFieldsEntry) bool { return m.Manager == FieldOwner })
}

// appliedSets are the fields that Apply wrote, and all others: also those that a patch or an update of ours wrote, such as the
// finalizer, which the API server counts as another manager's.
// https://kubernetes.io/docs/reference/using-api/server-side-apply/#managers
func appliedSets(live *unstructured.Unstructured) (applied, others *fieldpath.Set) {
	return dividedSets(live, func(m metav1.ManagedFieldsEntry) bool {
		return m.Manager == FieldOwner && m.Operation == metav1.ManagedFieldsOperationApply
	})
}

func dividedSets(live *unstructured.Unstructured, isOurs func(metav1.ManagedFieldsEntry) bool) (ours, theirs *fieldpath.Set) {
	ours, theirs = &fieldpath.Set{}, &fieldpath.Set{}
	for _, m := range live.GetManagedFields() {
		s := &fieldpath.Set{}
		if m.Subresource != "" || m.FieldsV1 == nil || s.FromJSON(m.FieldsV1.GetRawReader()) != nil {
			continue
		}
		if isOurs(m) {
			ours = ours.Union(s)
		} else {
			theirs = theirs.Union(s)
		}
	}
	return ours, theirs
}
