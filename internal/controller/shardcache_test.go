// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"maps"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/go-logr/logr"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	intentv1alpha1 "github.com/nexus-operator/nexus-operator/api/intent/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/apply"
	"github.com/nexus-operator/nexus-operator/internal/catalog"
	"github.com/nexus-operator/nexus-operator/internal/controller/reconciler"
	"github.com/nexus-operator/nexus-operator/internal/options"
	"github.com/nexus-operator/nexus-operator/internal/shard"
)

func TestCacheOfShard_KeepsOnlyTheNamesOfOtherShards(t *testing.T) {
	owned := shard.Shard{Index: shard.Of("team-a", 2), Count: 2}
	foreign := "team-b"
	if owned.Owns(foreign) {
		t.Fatalf("shard %s owns both namespaces", owned)
	}
	kinds := catalog.Kinds()
	caches := cachesOf(owned, kinds, reconciler.NewLargeObjects())
	if len(caches) != len(kinds)+1 {
		t.Errorf("%d of %d kinds are limited", len(caches), len(kinds))
	}
	for kind, cache := range caches {
		if _, ok := kind.(v1alpha1.Resource); !ok {
			continue
		}
		for _, namespace := range []string{"team-a", foreign} {
			o := kind.DeepCopyObject().(v1alpha1.Resource)
			o.SetNamespace(namespace)
			o.SetName("orders")
			o.SetUID("u")
			o.SetResourceVersion("7")
			name := o.DeepCopyObject().(client.Object)
			o.SetFinalizers([]string{"a.example/b"})
			o.SetManagedFields([]metav1.ManagedFieldsEntry{{Manager: "m"}})
			o.CommonSpec().ProviderRef.Name = "aws"
			o.CommonStatus().ARN = "arn"
			want := o.DeepCopyObject().(client.Object)
			want.SetManagedFields(nil) // nothing reads those of an object that the operator did not apply
			if namespace == foreign {
				want = name
			}
			if got, err := cache.Transform(o); err != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("%T in %s: %+v (%v), want %+v", kind, namespace, got, err, want)
			}
		}
	}
}

// transformsOf returns the transforms of the manager's cache by kind, and the one of all other kinds.
func transformsOf(t *testing.T) (byKind map[client.Object]toolscache.TransformFunc, others toolscache.TransformFunc) {
	t.Helper()
	scheme, err := newScheme()
	if err != nil {
		t.Fatal(err)
	}
	o := managerOptions(scheme, options.Options{}, logr.Discard()).Cache
	large := reconciler.NewLargeObjects()
	maps.Copy(o.ByObject, cachesOf(shard.Shard{}, catalog.Kinds(), large))
	byKind = map[client.Object]toolscache.TransformFunc{}
	for kind, c := range o.ByObject {
		switch kind.(type) {
		case *apiextensionsv1.CustomResourceDefinition: // tenants cannot write it
		case *intentv1alpha1.SecurityIntentBinding: // its definition bounds all but the labels, which have their own test
		default:
			byKind[kind] = c.Transform
		}
	}
	return byKind, o.DefaultTransform
}

// A tenant may fill the cache with objects of a mebibyte, in any field.
func TestCache_BoundsTheLargeObjectsOfANamespace(t *testing.T) {
	byKind, _ := transformsOf(t)
	for kind, transform := range byKind {
		for i := range reconciler.MostLarge / (apply.LargeObject + 1<<10) {
			o := kind.DeepCopyObject().(client.Object)
			o.SetNamespace("team-a")
			o.SetName(strconv.Itoa(i))
			o.SetAnnotations(map[string]string{"a": strings.Repeat("x", apply.LargeObject+1<<10)})
			if _, err := transform(o); err != nil {
				t.Fatal(err)
			}
		}
		for _, f := range fieldsOf(kind) {
			o := kind.DeepCopyObject().(client.Object)
			o.SetNamespace("team-a")
			if !f.fill(o) {
				continue
			}
			if made, err := transform(o); err != nil || apply.SizeOf(made.(client.Object)) > apply.LargeObject {
				t.Errorf("%T: of a large %s, %d bytes are kept (%v)", kind, f.name, apply.SizeOf(o), err)
			}
		}
	}
}

// When an informer starts, client-go transforms the objects that are streamed to it, and then transforms the results once more.
func TestCache_TransformsTwiceAsOnce(t *testing.T) {
	byKind, others := transformsOf(t)
	for kind, transform := range byKind {
		for i := range reconciler.MostLarge / (apply.LargeObject + 1<<10) {
			o := kind.DeepCopyObject().(client.Object)
			o.SetNamespace("team-a")
			o.SetName(strconv.Itoa(i))
			o.SetAnnotations(map[string]string{"a": strings.Repeat("x", apply.LargeObject+1<<10)})
			if _, err := transform(o); err != nil {
				t.Fatal(err)
			}
		}
		for _, f := range fieldsOf(kind) {
			o := kind.DeepCopyObject().(client.Object)
			o.SetNamespace("team-a")
			if f.fill(o) {
				transformsTwiceAsOnce(t, f.name, transform, o.DeepCopyObject().(client.Object))
				transformsTwiceAsOnce(t, f.name, others, o)
			}
		}
	}
}

func transformsTwiceAsOnce(t *testing.T, what string, transform toolscache.TransformFunc, o client.Object) {
	t.Helper()
	once, err := transform(o)
	if err != nil {
		t.Fatal(err)
	}
	first := once.(client.Object).DeepCopyObject()
	if twice, err := transform(once); err != nil || !reflect.DeepEqual(twice, first) {
		t.Errorf("%T with large %s: annotations %v after the first time, %v after the second (%v)", o, what,
			first.(client.Object).GetAnnotations(), twice.(client.Object).GetAnnotations(), err)
	}
}

func TestCache_BoundsTheMetadataOfEveryKind(t *testing.T) {
	_, others := transformsOf(t)
	for _, kind := range []client.Object{&intentv1alpha1.SecurityIntentBinding{}, &v1alpha1.AWSProvider{}, &metav1.PartialObjectMetadata{}} {
		for _, f := range fieldsOf(kind) {
			o := kind.DeepCopyObject().(client.Object)
			o.SetNamespace("team-a")
			if !f.metadata || !f.fill(o) {
				continue
			}
			if _, err := others(o); err != nil || apply.SizeOf(o) > apply.LargeObject {
				t.Errorf("%T: of its %s, %d bytes are kept (%v)", kind, f.name, apply.SizeOf(o), err)
			}
		}
	}
}

// field is a place of an object that its author may fill.
type field struct {
	name     string
	metadata bool
	at       func(client.Object) reflect.Value
}

// fill makes a field large, of texts that are short. It returns false for one that cannot be.
func (f field) fill(o client.Object) bool {
	fillValue(f.at(o), 1+apply.LargeObject/shortText)
	return apply.SizeOf(o) > apply.LargeObject
}

// fieldsOf are the metadata of a kind and the fields of its spec, or of the object where it has none.
func fieldsOf(o client.Object) []field {
	out := []field{
		{"labels", true, func(o client.Object) reflect.Value { return metaField(o, "Labels") }},
		{"annotations", true, func(o client.Object) reflect.Value { return metaField(o, "Annotations") }},
		{"owners", true, func(o client.Object) reflect.Value { return metaField(o, "OwnerReferences") }},
	}
	root := reflect.ValueOf(o).Elem()
	spec := root.FieldByName("Spec")
	if !spec.IsValid() {
		return out
	}
	for i := range spec.NumField() {
		name := spec.Type().Field(i).Name
		if name == "PolicyTypes" { // the API server accepts two
			continue
		}
		out = append(out, field{"spec." + name, false, func(o client.Object) reflect.Value {
			return reflect.ValueOf(o).Elem().FieldByName("Spec").FieldByName(name)
		}})
	}
	return out
}

func metaField(o client.Object, name string) reflect.Value {
	return reflect.ValueOf(o).Elem().FieldByName("ObjectMeta").FieldByName(name)
}

// shortText is the length of a text that no trimming touches.
const shortText = 300

// fillValue fills a value, its outermost lists with n elements and those inside with one.
func fillValue(v reflect.Value, n int) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(strings.Repeat("x", shortText))
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fillValue(v.Elem(), n)
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				fillValue(v.Field(i), n)
			}
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), n, n))
		for i := range n {
			fillValue(v.Index(i), 1)
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		for i := range n {
			key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
			key.SetString(strconv.Itoa(i))
			fillValue(value, 1)
			v.SetMapIndex(key, value)
		}
	default:
	}
}
