// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"reflect"
	"strconv"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/catalog"
	"github.com/nexus-operator/nexus-operator/internal/controller/reconciler"
	"github.com/nexus-operator/nexus-operator/internal/shard"
)

func TestCacheOfShard_KeepsOnlyTheNamesOfOtherShards(t *testing.T) {
	owned := shard.Shard{Index: shard.Of("team-a", 2), Count: 2}
	foreign := "team-b"
	if owned.Owns(foreign) {
		t.Fatalf("shard %s owns both namespaces", owned)
	}
	kinds := catalog.Kinds()
	caches := cacheOf(owned, kinds, reconciler.NewLargeObjects())
	if len(caches) != len(kinds) {
		t.Errorf("%d of %d kinds are limited", len(caches), len(kinds))
	}
	for kind, cache := range caches {
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

// A tenant may fill the cache with objects of a mebibyte.
func TestCacheOf_TrimsWhatIsBeyondTheBoundOfANamespace(t *testing.T) {
	for kind, cache := range cacheOf(shard.Shard{}, catalog.Kinds(), reconciler.NewLargeObjects()) {
		trimmed := 0
		for i := range 2 * reconciler.MostLarge >> 20 {
			o := kind.DeepCopyObject().(v1alpha1.Resource)
			o.SetNamespace("team-a")
			o.SetName(strconv.Itoa(i))
			o.SetAnnotations(map[string]string{"a": strings.Repeat("x", 1<<20)})
			if _, err := cache.Transform(o); err != nil {
				t.Fatal(err)
			}
			if len(o.GetAnnotations()["a"]) == 0 {
				trimmed++
			}
		}
		if trimmed < reconciler.MostLarge>>20 {
			t.Errorf("%T: %d are trimmed", kind, trimmed)
		}
	}
}
