package controller

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
)

// manifest is an object as a manifest, its kind named.
func manifest(scheme *runtime.Scheme, o client.Object) (*unstructured.Unstructured, error) {
	gvk, err := apiutil.GVKForObject(o, scheme)
	if err != nil {
		return nil, err
	}
	m, err := runtime.DefaultUnstructuredConverter.ToUnstructured(o)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", gvk.Kind, err)
	}
	u := &unstructured.Unstructured{Object: m}
	u.SetGroupVersionKind(gvk)
	return u, nil
}

// sameSpec says whether a compiled object and a live one declare the same, to the letter: a field more
// would be somebody else's word.
func sameSpec(scheme *runtime.Scheme, compiled, live *unstructured.Unstructured) bool {
	typed, err := scheme.New(compiled.GroupVersionKind())
	if err != nil {
		return false
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(compiled.Object, typed); err != nil {
		return false
	}
	want, err := manifest(scheme, typed.(client.Object))
	if err != nil {
		return false
	}
	return equality.Semantic.DeepEqual(want.Object["spec"], live.Object["spec"])
}
