// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"crypto/rand"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/api/wellknown"
)

const (
	// LargeObject is the size in bytes above which an object counts as large; most have a hundredth of it.
	LargeObject = 64 << 10
	// longText, longList and shortText are the sizes in bytes of texts, lists and maps that a trimmed object does not keep. The texts in
	// a long list are cut at shortText before the list goes as a whole, so that the names of variables stay.
	longText  = 1 << 10
	longList  = 4 << 10
	shortText = 64
)

// WithoutLongContents is a transform for caches of objects that the Applier makes. Anybody may put the operator's labels on an object of
// more than a megabyte in their own namespace. The cache keeps the short parts of it, and the Applier reads the whole object from the API
// server.
func WithoutLongContents(obj any) (any, error) {
	o, ok := obj.(client.Object)
	if !ok {
		return obj, nil
	}
	if _, trimmed := TrimmedSize(o); trimmed {
		return o, nil
	}
	if size := SizeOf(o); size > LargeObject {
		Trim(o, size)
	} else {
		Unmark(o)
	}
	return o, nil
}

// WithoutLongMetadata is a transform for caches: of labels, annotations and owner references of more than LargeObject together it keeps the
// operator's and the controller.
func WithoutLongMetadata(obj any) (any, error) {
	o, ok := obj.(client.Object)
	if !ok {
		return obj, nil
	}
	dropUnusedFields(o)
	m := metadataOf(o)
	if o.GetNamespace() != "" && sizeOfValue(reflect.ValueOf(m)) > LargeObject {
		trimMetadata(o)
	}
	return o, nil
}

// metadataOf returns the parts of the metadata that may be of any size.
func metadataOf(o metav1.Object) []any {
	return []any{o.GetLabels(), o.GetAnnotations(), o.GetOwnerReferences()}
}

// Trim takes the long contents out of an object, and marks it as incomplete, with the size of the whole. It keeps short contents, such as
// references to other objects.
func Trim(o client.Object, size int) {
	trimMetadata(o)
	o.SetManagedFields(nil)
	if f := o.GetFinalizers(); sizeOfValue(reflect.ValueOf(f)) > longList {
		o.SetFinalizers(slices.DeleteFunc(f, func(f string) bool { return !isOurs(f) && f != metav1.FinalizerOrphanDependents }))
	}
	if u, ok := o.(*unstructured.Unstructured); ok {
		u.Object = map[string]any{"apiVersion": u.Object["apiVersion"], "kind": u.Object["kind"], "metadata": u.Object["metadata"]}
	} else {
		trimContents(reflect.ValueOf(o).Elem())
	}
	o.SetAnnotations(withKey(o.GetAnnotations(), annotationIncomplete, strconv.Itoa(size)+" "+markOfProcess))
}

// markOfProcess distinguishes the marks of Trim from marks that the author of an object wrote. A transform sees an object twice: client-go
// transforms the objects that the API server streams to a new informer, and transforms the results once more when it fills the cache with
// them.
var markOfProcess = rand.Text()

// TrimmedSize returns the size of an object that the cache has without its long contents. ok is false for a whole one.
func TrimmedSize(o metav1.Object) (size int, ok bool) {
	text, mark, _ := strings.Cut(o.GetAnnotations()[annotationIncomplete], " ")
	size, err := strconv.Atoi(text)
	return size, err == nil && mark == markOfProcess
}

// Unmark removes the mark of Trim from a whole object: its author may have written the mark.
func Unmark(o metav1.Object) {
	if _, marked := o.GetAnnotations()[annotationIncomplete]; marked {
		o.SetAnnotations(withoutKeys(o.GetAnnotations(), func(k, _ string) bool { return k == annotationIncomplete }))
	}
}

// trimMetadata keeps of labels and annotations the operator's, and of the owners the controller.
func trimMetadata(o metav1.Object) {
	o.SetLabels(shortOf(o.GetLabels()))
	o.SetAnnotations(shortOf(o.GetAnnotations()))
	o.SetOwnerReferences(shortOwners(o.GetOwnerReferences()))
}

// shortOwners returns owners as they are, or of a long list the controller.
func shortOwners(owners []metav1.OwnerReference) []metav1.OwnerReference {
	if sizeOfValue(reflect.ValueOf(owners)) <= longList {
		return owners
	}
	return slices.DeleteFunc(slices.Clone(owners), func(r metav1.OwnerReference) bool { return r.Controller == nil || !*r.Controller })
}

// shortOf returns a map as it is, or the short values of the operator's keys in a long one, as many as are not too long together.
func shortOf(m map[string]string) map[string]string {
	if sizeOfValue(reflect.ValueOf(m)) <= longList {
		return m
	}
	out, size := map[string]string{}, 0
	for _, k := range slices.Sorted(maps.Keys(m)) {
		if n := len(k) + len(m[k]); isOurs(k) && n <= longText && size+n <= longList {
			out[k], size = m[k], size+n
		}
	}
	return out
}

// isOurs reports whether a label, an annotation or a finalizer is one that the operator writes.
func isOurs(key string) bool {
	return strings.HasPrefix(key, wellknown.Prefix) || strings.HasPrefix(key, v1alpha1.GroupName+"/") || key == wellknown.LabelManagedBy
}

// SizeOf counts the bytes of the texts in an object.
func SizeOf(o client.Object) int {
	n := 0
	for _, f := range o.GetManagedFields() {
		if f.FieldsV1 != nil {
			n += len(f.FieldsV1.GetRawString())
		}
	}
	if u, ok := o.(*unstructured.Unstructured); ok {
		return n + sizeOfValue(reflect.ValueOf(u.Object))
	}
	return n + sizeOfValue(reflect.ValueOf(o).Elem())
}

// sizeOfValue counts the bytes of the texts in a value. Fields that are not exported belong to other packages, which may be writing them:
// all times share one location, for example.
func sizeOfValue(v reflect.Value) int {
	n := 0
	switch v.Kind() {
	case reflect.String:
		n = v.Len()
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			n = sizeOfValue(v.Elem())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				n += sizeOfValue(v.Field(i))
			}
		}
	case reflect.Slice:
		n = sizeOfList(v)
	case reflect.Map:
		for _, k := range v.MapKeys() {
			n += sizeOfValue(k) + sizeOfValue(v.MapIndex(k))
		}
	default:
	}
	return n
}

// sizeOfList counts the bytes of the elements of a list.
func sizeOfList(v reflect.Value) int {
	if v.Type().Elem().Kind() == reflect.Uint8 {
		return v.Len()
	}
	n := 0
	for i := range v.Len() {
		n += sizeOfValue(v.Index(i))
	}
	return n
}

// trimContents trims all fields of an object but its metadata.
func trimContents(o reflect.Value) {
	for i := range o.NumField() {
		if o.Type().Field(i).Name != "ObjectMeta" {
			trim(o.Field(i), longText)
		}
	}
}

// trim takes texts longer than a limit out of a value, and lists and maps that are long.
func trim(v reflect.Value, limit int) {
	switch v.Kind() {
	case reflect.String:
		if v.Len() > limit {
			v.SetZero()
		}
	case reflect.Pointer:
		if !v.IsNil() {
			trim(v.Elem(), limit)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				trim(v.Field(i), limit)
			}
		}
	case reflect.Map:
		if sizeOfValue(v) > longList {
			v.SetZero()
		}
	case reflect.Slice:
		trimList(v, limit)
	default:
	}
}

// trimList empties a long list of texts, or a long list of objects if their short texts alone are too long.
func trimList(v reflect.Value, limit int) {
	if sizeOfValue(v) <= longList {
		return
	}
	if kind := v.Type().Elem().Kind(); kind == reflect.String || kind == reflect.Uint8 {
		v.SetZero()
		return
	}
	isCondition := v.Type().Elem() == reflect.TypeFor[metav1.Condition]()
	for i := range v.Len() {
		trim(v.Index(i), kindLimit(isCondition, limit))
	}
	if sizeOfValue(v) > 4*longList && !isCondition {
		v.SetZero()
	}
}

// kindLimit keeps the messages of conditions, which the operator writes.
func kindLimit(isCondition bool, limit int) int {
	if isCondition {
		return limit
	}
	return min(limit, shortText)
}
