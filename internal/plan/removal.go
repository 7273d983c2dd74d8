// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"context"
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	intentv1alpha1 "github.com/nexus-operator/nexus-operator/api/intent/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/apply"
	"github.com/nexus-operator/nexus-operator/internal/capability"
	"github.com/nexus-operator/nexus-operator/internal/intent"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// remove plans the deletion of objects, and of everything that is deleted with them.
func (d *draft) remove(ctx context.Context, objects []*unstructured.Unstructured) (out []Item, err error) {
	for _, u := range objects {
		d.ahead.doomed[keyOf(u.GetKind(), u.GetNamespace(), u.GetName())] = true
	}
	for _, u := range objects {
		it := itemOf(u, Delete)
		follow, err := d.removed(ctx, &it, u)
		if err != nil {
			return nil, err
		}
		out = append(append(out, it), follow...)
	}
	return out, nil
}

// Removable reports whether Remove plans the deletion of objects of a kind.
func Removable(gvk schema.GroupVersionKind) bool {
	switch gvk.Group {
	case v1alpha1.GroupName:
		return true
	case nexusv1.GroupVersion.Group:
		return gvk.Kind == "NexusAICapability"
	case intentv1alpha1.GroupName:
		return gvk.Kind == intent.KindBinding || gvk.Kind == intent.KindClusterBinding
	default:
		return false
	}
}

// removed completes the item of an object that is deleted, and returns those of the objects that go with it.
func (d *draft) removed(ctx context.Context, it *Item, u *unstructured.Unstructured) ([]Item, error) {
	it.Risk = Safe
	if isPaused(u) {
		it.Waits = frozen(u)
		return nil, nil
	}
	switch gvk := u.GroupVersionKind(); {
	case !Removable(gvk):
		return nil, fmt.Errorf("a deletion of %s is not planned: name capabilities, AWS objects, AWSProviders and bindings", apply.RefOf(u))
	case gvk.Group == nexusv1.GroupVersion.Group:
		return d.capabilities.removed(ctx, u)
	case gvk.Group == intentv1alpha1.GroupName:
		it.Risk = Disrupts
		return d.bindings.removed(ctx, apply.Child{Ref: apply.RefOf(u), UID: u.GetUID()})
	case gvk.Kind == "AWSProvider":
		return nil, d.removedProvider(ctx, it)
	case d.kinds.entry(gvk.Kind) != nil:
		doomed := u.DeepCopy()
		if doomed.GetDeletionTimestamp() == nil {
			doomed.SetGeneration(doomed.GetGeneration() + 1) // as the API server does
		}
		doomed.SetDeletionTimestamp(plannedDeletion())
		return nil, d.resources.plan(ctx, it, doomed, false)
	default:
		return nil, fmt.Errorf("a deletion of %s is not planned: this version does not know the kind", apply.RefOf(u))
	}
}

// keepFor sets for how long the resource of an item outlives the deletion of its capability.
func (it *Item) keepFor(c *nexusv1.NexusAICapability, fallback capability.DefaultGrace) {
	grace := capability.GraceOf(c, fallback)
	if it.AWS == nil && it.Kind != "AWSProvider" || !capability.IsKeptForRecovery(it.Kind, it.Name) {
		return
	}
	switch r := c.Status.Recovery; {
	case r != nil && r.State == nexusv1.RecoveryWaiting:
		it.Recoverable = &Recoverable{Until: r.Until.UTC().Format(time.RFC3339)}
	case r == nil && grace > 0:
		it.Recoverable = &Recoverable{For: withoutZeros(grace)}
	}
}

// withoutZeros writes a duration as people do: 24h instead of 24h0m0s.
func withoutZeros(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

// removedProvider names the objects that hold a provider: those that use it and are not deleted with it.
func (d *draft) removedProvider(ctx context.Context, it *Item) error {
	n := 0
	for _, e := range d.kinds {
		if !d.operator.Kinds.Serves(e.Name()) {
			continue
		}
		objects, err := listed(ctx, d.ahead.now, v1alpha1.GroupVersion.WithKind(e.Name()), it.Namespace)
		if err != nil {
			return err
		}
		for _, u := range objects {
			if refersTo(u, it.Name) && !d.ahead.goes(u) {
				n++
			}
		}
	}
	if n > 0 {
		it.Waits = status.Counted(n, "object that uses it", "objects that use it") + " to be gone"
	}
	return nil
}
