// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"context"
	"reflect"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Exact takes the additions of others out of a live child's spec: server-side apply leaves fields of other managers alone, and a child with
// more rights than its owner declares does not follow its owner. The live child, as Apply returned it, is patched only when its spec is not
// the desired one to the letter. Owner.Sole does not replace it: it goes by managed fields, which every writer may forge, and a child that
// is dropped is not applied.
func (a *Applier) Exact(ctx context.Context, desired, live *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	if SameSpec(a.Client.Scheme(), desired, live) {
		return live, nil
	}
	next := live.DeepCopy()
	next.Object["spec"] = runtime.DeepCopyJSONValue(desired.Object["spec"])
	patch := client.MergeFromWithOptions(live, client.MergeFromWithOptimisticLock{})
	if err := a.Client.Patch(ctx, next, patch, client.FieldOwner(FieldOwner)); err != nil {
		return nil, explain(RefOf(live), "restoring the spec of", err)
	}
	a.memory.recordWrite(RefOf(live), next.GetResourceVersion())
	return next, nil
}

// SameSpec reports whether two objects of a kind of the scheme declare the same, to the letter. Both are
// read through their Go type, so that an absent field and its zero value are distinguished as the kind does. Either may be of
// that type already.
func SameSpec(scheme *runtime.Scheme, a, b client.Object) bool {
	x, okA := typedSpec(scheme, a)
	y, okB := typedSpec(scheme, b)
	return okA && okB && equality.Semantic.DeepEqual(x, y)
}

// typedSpec is the value of an object's spec; nil for a kind without one.
func typedSpec(scheme *runtime.Scheme, o client.Object) (any, bool) {
	var typed runtime.Object = o
	if u, ok := o.(*unstructured.Unstructured); ok {
		var err error
		if typed, err = scheme.New(u.GroupVersionKind()); err != nil {
			return nil, false
		}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(map[string]any{"spec": u.Object["spec"]}, typed); err != nil {
			return nil, false
		}
	}
	spec := reflect.ValueOf(typed).Elem().FieldByName("Spec")
	if !spec.IsValid() {
		return nil, true
	}
	return spec.Interface(), true
}
