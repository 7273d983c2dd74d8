// SPDX-License-Identifier: Apache-2.0

package intentfacts

import (
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/internal/intent"
)

// PatchesKey is the entry of the ConfigMap that holds the catalog of virtual patches.
const PatchesKey = "patches.yaml"

// ReadPatches reads the administrator's catalog of virtual patches from the ConfigMap that is named as namespace/name; empty is
// none.
func ReadPatches(ctx context.Context, live client.Reader, configMap string) (intent.Patches, error) {
	namespace, name, named := strings.Cut(configMap, "/")
	if !named {
		return intent.Patches{Reason: intent.ReasonCatalogMissing,
			Problem: "the operator has no catalog of virtual patches: an administrator sets --virtual-patches=namespace/configmap"}, nil
	}
	c := &corev1.ConfigMap{}
	err := live.Get(ctx, types.NamespacedName{Namespace: namespace, Name: name}, c)
	if apierrors.IsNotFound(err) || err == nil && c.Data[PatchesKey] == "" {
		return intent.Patches{Reason: intent.ReasonCatalogMissing,
			Problem: fmt.Sprintf("ConfigMap %s, which --virtual-patches names, does not exist or has no entry %s", configMap, PatchesKey)}, nil
	}
	if err != nil {
		return intent.Patches{}, fmt.Errorf("reading the catalog of virtual patches: %w", err)
	}
	known, err := intent.ParsePatches(c.Data[PatchesKey])
	if err != nil {
		return intent.Patches{Reason: intent.ReasonCatalogInvalid,
			Problem: fmt.Sprintf("ConfigMap %s, entry %s: %v", configMap, PatchesKey, err)}, nil
	}
	return intent.Patches{Known: known}, nil
}

// UsesPatches reports whether any policy has a rule that the catalog of virtual patches is needed for.
func UsesPatches(rules []intent.Rule) bool {
	return slices.ContainsFunc(rules, func(r intent.Rule) bool { return r.Canonical == "virtualPatch" })
}
