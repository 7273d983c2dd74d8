package apply

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// alone takes out of a child's spec what others added. Who added what is told by the managed fields, and
// not by comparing, since the API server and an engine's webhooks add defaults that are nobody's.
func (a *Applier) alone(ctx context.Context, want *unstructured.Unstructured, res Result) (Result, error) {
	added := additions(res.Live)
	if len(added) == 0 {
		return res, nil
	}
	next := res.Live.DeepCopy()
	next.Object["spec"] = runtime.DeepCopyJSONValue(want.Object["spec"])
	patch := client.MergeFromWithOptions(res.Live, client.MergeFromWithOptimisticLock{})
	if err := a.Client.Patch(ctx, next, patch, client.FieldOwner(FieldOwner)); err != nil {
		return Result{}, explain(RefOf(want), "restoring the spec of", err)
	}
	a.memory.wrote(RefOf(want), next.GetResourceVersion())
	return Result{Change: Updated, Drift: append(res.Drift, added...), Live: next}, nil
}

// additions lists the fields of the spec that somebody else manages and we do not.
func additions(live *unstructured.Unstructured) []Difference {
	ours, theirs := managed(live)
	var out []Difference
	theirs.Leaves().Difference(ours).Iterate(func(p fieldpath.Path) {
		if p[0].FieldName != nil && *p[0].FieldName == "spec" {
			out = append(out, Difference{Path: p.String()[1:]})
		}
	})
	return out
}

// managed are the fields that we manage, and those that others do, status left out. An entry that cannot be
// read has none.
func managed(live *unstructured.Unstructured) (ours, theirs *fieldpath.Set) {
	ours, theirs = &fieldpath.Set{}, &fieldpath.Set{}
	for _, m := range live.GetManagedFields() {
		s := &fieldpath.Set{}
		if m.Subresource != "" || m.FieldsV1 == nil || s.FromJSON(m.FieldsV1.GetRawReader()) != nil {
			continue
		}
		if m.Manager == FieldOwner {
			ours = ours.Union(s)
		} else {
			theirs = theirs.Union(s)
		}
	}
	return ours, theirs
}
