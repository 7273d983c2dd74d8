// SPDX-License-Identifier: Apache-2.0

package reconciler

import (
	"reflect"
	"strconv"
	"sync"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/api/wellknown"
)

const (
	// largeObject is the size in bytes above which an object counts as large; most have a hundredth of it.
	largeObject = 64 << 10
	// MostLarge bounds the size in bytes of the large objects of one namespace that the operator keeps and works for.
	MostLarge = 16 << 20
	// longText and longList are the sizes in bytes of what an object keeps that is too much for its namespace.
	longText = 1 << 10
	longList = 4 << 10
	// annotationTrimmed marks an object of the cache that lacks its long contents; its value is the size of the whole. Anybody may write
	// it: it leads to one read of the object.
	annotationTrimmed = wellknown.Prefix + "trimmed-in-cache"
)

// LargeObjects keeps account of the large objects of each namespace. The API server accepts objects of more than a megabyte, and the
// cache has all objects of the operator's kinds: those beyond the bound of their namespace are in the cache without their long contents.
type LargeObjects struct {
	mu sync.Mutex
	// sizes holds the sizes of the large objects that are admitted, by namespace.
	sizes map[string]map[largeKey]int
}

type largeKey struct{ kind, name string }

// NewLargeObjects returns an empty account.
func NewLargeObjects() *LargeObjects { return &LargeObjects{sizes: map[string]map[largeKey]int{}} }

// Trim takes the long contents out of an object that is beyond the bound of its namespace. It is for a transform of a cache.
func (l *LargeObjects) Trim(kind string, o client.Object) {
	size := sizeOf(reflect.ValueOf(o).Elem())
	if l.admit(kind, client.ObjectKeyFromObject(o), size) {
		return
	}
	trim(reflect.ValueOf(o).Elem())
	a := o.GetAnnotations()
	if a == nil {
		a = map[string]string{}
	}
	a[annotationTrimmed] = strconv.Itoa(size)
	o.SetAnnotations(a)
}

// Beyond reports whether an object of the cache lacks its contents, and whether its namespace still has no room for it.
func (l *LargeObjects) Beyond(kind string, o client.Object) (trimmed, full bool) {
	text, trimmed := o.GetAnnotations()[annotationTrimmed]
	if !trimmed || l == nil {
		return trimmed, false
	}
	size, err := strconv.Atoi(text)
	return true, err == nil && !l.admit(kind, client.ObjectKeyFromObject(o), size)
}

// Forget gives the room of an object that is gone to others.
func (l *LargeObjects) Forget(kind string, key types.NamespacedName) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.remove(kind, key)
}

func (l *LargeObjects) remove(kind string, key types.NamespacedName) {
	delete(l.sizes[key.Namespace], largeKey{kind, key.Name})
	if len(l.sizes[key.Namespace]) == 0 {
		delete(l.sizes, key.Namespace)
	}
}

// admit reports whether there is room for an object, and takes it.
func (l *LargeObjects) admit(kind string, key types.NamespacedName, size int) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.remove(kind, key)
	if size <= largeObject {
		return true
	}
	sum := size
	for _, n := range l.sizes[key.Namespace] {
		sum += n
	}
	if sum > MostLarge {
		return false
	}
	if l.sizes[key.Namespace] == nil {
		l.sizes[key.Namespace] = map[largeKey]int{}
	}
	l.sizes[key.Namespace][largeKey{kind, key.Name}] = size
	return true
}

// sizeOf counts the bytes of the texts in a value. Fields that are not exported belong to other packages, which may be writing them:
// all times share one location, for example.
func sizeOf(v reflect.Value) int {
	n := 0
	switch v.Kind() {
	case reflect.String:
		n = v.Len()
	case reflect.Pointer:
		if !v.IsNil() {
			n = sizeOf(v.Elem())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				n += sizeOf(v.Field(i))
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			n += sizeOf(v.Index(i))
		}
	case reflect.Map:
		for _, k := range v.MapKeys() {
			n += sizeOf(k) + sizeOf(v.MapIndex(k))
		}
	default:
	}
	return n
}

// trim takes long texts, lists of texts and maps out of a value. It keeps short ones, such as references to other objects.
func trim(v reflect.Value) {
	if v.CanSet() && isLong(v) {
		v.SetZero()
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			trim(v.Elem())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				trim(v.Field(i))
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			trim(v.Index(i))
		}
	default:
	}
}

// isLong reports whether a value is a text, a list of texts or a map that is longer than what a trimmed object keeps.
func isLong(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.String:
		return v.Len() > longText
	case reflect.Map:
		return sizeOf(v) > longList
	case reflect.Slice:
		return v.Type().Elem().Kind() == reflect.String && sizeOf(v) > longList
	default:
		return false
	}
}
