// SPDX-License-Identifier: Apache-2.0

package intentbinding

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/internal/intent"
)

// patchesKey is the entry of the ConfigMap that holds the catalog of virtual patches.
const patchesKey = "patches.yaml"

// patchesEvery is how often the catalog is read, and bindings that use it are looked at.
const patchesEvery = time.Minute

// patchReader reads the administrator's catalog of virtual patches.
type patchReader struct {
	configMap string // namespace/name; empty is none
	live      client.Reader
	clock     clock.PassiveClock

	mu    sync.Mutex
	known intent.Patches
	next  time.Time
}

func (r *patchReader) read(ctx context.Context) (intent.Patches, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if now := r.clock.Now(); r.next.IsZero() || !now.Before(r.next) {
		known, err := r.ask(ctx)
		if err != nil {
			return r.known, err
		}
		r.known, r.next = known, now.Add(patchesEvery/2)
	}
	return r.known, nil
}

func (r *patchReader) ask(ctx context.Context) (intent.Patches, error) {
	namespace, name, named := strings.Cut(r.configMap, "/")
	if !named {
		return intent.Patches{Reason: intent.ReasonCatalogMissing, Problem: "the operator has no catalog of virtual patches: an administrator sets --virtual-patches=namespace/configmap"}, nil
	}
	c := &corev1.ConfigMap{}
	err := r.live.Get(ctx, types.NamespacedName{Namespace: namespace, Name: name}, c)
	if apierrors.IsNotFound(err) || err == nil && c.Data[patchesKey] == "" {
		return intent.Patches{Reason: intent.ReasonCatalogMissing, Problem: fmt.Sprintf("ConfigMap %s, which --virtual-patches names, does not exist or has no entry %s", r.configMap, patchesKey)}, nil
	}
	if err != nil {
		return intent.Patches{}, fmt.Errorf("reading the catalog of virtual patches: %w", err)
	}
	known, err := intent.ParsePatches(c.Data[patchesKey])
	if err != nil {
		return intent.Patches{Reason: intent.ReasonCatalogInvalid, Problem: fmt.Sprintf("ConfigMap %s, entry %s: %v", r.configMap, patchesKey, err)}, nil
	}
	return intent.Patches{Known: known}, nil
}

// usesPatches reports whether any policy has a rule that the catalog of virtual patches is needed for.
func usesPatches(rules []intent.Rule) bool {
	return slices.ContainsFunc(rules, func(r intent.Rule) bool { return r.Canonical == "virtualPatch" })
}
