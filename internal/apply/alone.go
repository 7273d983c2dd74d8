package apply

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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
	ours, theirs := &fieldpath.Set{}, &fieldpath.Set{}
	for _, m := range live.GetManagedFields() {
		if m.Subresource != "" || m.FieldsV1 == nil {
			continue
		}
		s := specOf(m)
		if m.Manager == FieldOwner {
			ours = ours.Union(s)
		} else {
			theirs = theirs.Union(s)
		}
	}
	var out []Difference
	theirs.Leaves().Difference(ours).Iterate(func(p fieldpath.Path) {
		out = append(out, Difference{Path: p.String()[1:]})
	})
	return out
}

// specOf returns the fields under spec; an entry that cannot be read has none.
func specOf(m metav1.ManagedFieldsEntry) *fieldpath.Set {
	s := &fieldpath.Set{}
	if err := s.FromJSON(m.FieldsV1.GetRawReader()); err != nil {
		return &fieldpath.Set{}
	}
	name := "spec"
	under := fieldpath.NewSet()
	s.WithPrefix(fieldpath.PathElement{FieldName: &name}).Iterate(func(p fieldpath.Path) {
		under.Insert(append(fieldpath.Path{{FieldName: &name}}, p.Copy()...))
	})
	return under
}
