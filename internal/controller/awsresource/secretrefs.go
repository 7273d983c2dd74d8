// SPDX-License-Identifier: Apache-2.0

package awsresource

import (
	"context"
	"reflect"
	"slices"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/kind/documents"
)

// SecretIndex holds the names of the Secrets that an object's spec refers to.
const SecretIndex = "spec.*SecretRef.name"

// secretReferenceTypes are the types of the fields that refer to a Secret in the object's own namespace.
var secretReferenceTypes = []reflect.Type{reflect.TypeFor[v1alpha1.SecretReference](), reflect.TypeFor[v1alpha1.SecretKeyReference]()}

// indexSecretReferences adds SecretIndex for the kind of obj. Kinds with a spec that cannot refer to a Secret need none; see
// refersToSecrets.
func indexSecretReferences(ctx context.Context, indexer client.FieldIndexer, obj v1alpha1.Resource) error {
	return indexer.IndexField(ctx, obj, SecretIndex, func(o client.Object) []string { return secretsReadBy(o) })
}

// secretsReadBy returns the names of the Secrets that the object's spec refers to, sorted and distinct.
func secretsReadBy(obj client.Object) []string {
	names := namesIn(specOf(obj), secretReferenceTypes)
	slices.Sort(names)
	return slices.Compact(names)
}

// refersToSecrets reports whether objects of obj's kind can refer to a Secret.
func refersToSecrets(obj client.Object) bool {
	return holdsAny(specOf(obj).Type(), secretReferenceTypes)
}

func specOf(obj client.Object) reflect.Value {
	return reflect.ValueOf(obj).Elem().FieldByName("Spec")
}

// namesIn collects the Name of every struct of the given types at or below v.
func namesIn(v reflect.Value, types []reflect.Type) []string {
	var out []string
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			return namesIn(v.Elem(), types)
		}
	case reflect.Struct:
		if slices.Contains(types, v.Type()) {
			return []string{v.FieldByName("Name").String()}
		}
		if document, ok := v.Interface().(runtime.RawExtension); ok {
			return namesInDocument(document.Raw, types)
		}
		for i := range v.NumField() {
			out = append(out, namesIn(v.Field(i), types)...)
		}
	case reflect.Slice:
		for i := range v.Len() {
			out = append(out, namesIn(v.Index(i), types)...)
		}
	case reflect.Map:
		for entries := v.MapRange(); entries.Next(); {
			out = append(out, namesIn(entries.Value(), types)...)
		}
	}
	return out
}

// namesInDocument collects the names that a document refers to. The members of a document are known only at run time.
func namesInDocument(text []byte, types []reflect.Type) []string {
	var out []string
	references, secrets := documents.References(text)
	if slices.Contains(types, reflect.TypeFor[v1alpha1.ObjectReference]()) {
		for _, r := range references {
			out = append(out, r.Name)
		}
	}
	if slices.Contains(types, reflect.TypeFor[v1alpha1.SecretKeyReference]()) {
		for _, k := range secrets {
			out = append(out, k.Name)
		}
	}
	return out
}

// holdsAny reports whether values of type t can hold one of the given types.
func holdsAny(t reflect.Type, types []reflect.Type) bool {
	if slices.Contains(types, t) || t == reflect.TypeFor[runtime.RawExtension]() {
		return true
	}
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map:
		return holdsAny(t.Elem(), types)
	case reflect.Struct:
		for i := range t.NumField() {
			if holdsAny(t.Field(i).Type, types) {
				return true
			}
		}
	}
	return false
}
