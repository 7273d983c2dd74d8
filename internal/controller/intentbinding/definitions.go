// SPDX-License-Identifier: Apache-2.0

package intentbinding

import (
	"context"
	"fmt"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// definitionSettles is the time that API servers take to serve a changed definition.
const definitionSettles = 3 * time.Second

// refreshChanged lists the objects of watched kinds with changed definitions again: if a definition loses a field, the API server leaves it
// out of its answers, and no event of a watch says so. It returns when it has to be called again, or 0.
func (k *EngineKinds) refreshChanged(ctx context.Context) (time.Duration, error) {
	list := &apiextensionsv1.CustomResourceDefinitionList{}
	if err := k.reader.List(ctx, list, client.UnsafeDisableDeepCopy); err != nil {
		return 0, err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	var again time.Duration
	for i := range list.Items {
		for _, gvk := range servedBy(&list.Items[i]) {
			if !k.all[gvk] {
				continue
			}
			left, err := k.refresh(ctx, gvk, list.Items[i].Generation)
			if err != nil {
				return 0, fmt.Errorf("listing %s again: %w", gvk, err)
			}
			again = max(again, left)
		}
	}
	return again, nil
}

// refresh lists the objects of a kind again some time after the generation of its definition has changed. It returns the time that is left.
func (k *EngineKinds) refresh(ctx context.Context, gvk schema.GroupVersionKind, generation int64) (time.Duration, error) {
	now := k.clock.Now()
	if !k.watched[gvk] {
		return 0, nil
	}
	if k.generations[gvk] != generation {
		k.changedAt[gvk] = now
	}
	k.generations[gvk] = generation
	since, pending := k.changedAt[gvk]
	if left := definitionSettles - now.Sub(since); pending && left > 0 {
		return left, nil
	}
	delete(k.changedAt, gvk)
	if !pending {
		return 0, nil
	}
	if err := k.forget(ctx, gvk); err != nil {
		return 0, err
	}
	return 0, k.begin(ctx, gvk)
}

// begin watches a kind.
func (k *EngineKinds) begin(ctx context.Context, gvk schema.GroupVersionKind) error {
	u := k.object(gvk)
	if err := k.index(ctx, gvk, u); err != nil {
		return err
	}
	if err := k.watch(u); err != nil {
		return err
	}
	k.watched[gvk] = true
	return nil
}

// forget ends the watch of a kind.
func (k *EngineKinds) forget(ctx context.Context, gvk schema.GroupVersionKind) error {
	err := k.derived.RemoveInformer(ctx, k.object(gvk))
	k.indexed[gvk] = false
	k.watched[gvk] = err != nil
	return err
}
