// SPDX-License-Identifier: Apache-2.0

package capability

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/apply"
	"github.com/nexus-operator/nexus-operator/internal/capability"
	"github.com/nexus-operator/nexus-operator/internal/controller/reconciler"
	"github.com/nexus-operator/nexus-operator/internal/graph"
)

// IsGenerated implements awssession.Provenance: it reports whether the object's capability, as it is now, compiles to
// exactly this object, spec and all. While an edit waits for its approval, the approved declaration counts.
func (r *Reconciler) IsGenerated(ctx context.Context, obj client.Object) (bool, error) {
	c, err := r.capabilityInForce(ctx, obj)
	if c == nil || err != nil {
		return false, err
	}
	gvk, err := apiutil.GVKForObject(obj, r.Client.Scheme())
	if err != nil {
		return false, err
	}
	facts, err := r.Facts.Gather(ctx, c)
	if err != nil {
		return false, err
	}
	compiled, err := r.compilations.of(ctx, c, facts)
	if err == nil && gvk.Kind != "AWSProvider" && c.DeletionTimestamp != nil {
		err = compiled.valid() // Compile accepts any spec of a capability in deletion, which must end
	}
	if err != nil {
		return false, nil //nolint:nilerr // what is not valid vouches for nothing
	}
	n, ok := compiled.built.Graph.Node(graph.ID(gvk.Kind, obj.GetNamespace(), obj.GetName(), c.Namespace))
	if !ok || n.Unresolved != "" {
		return false, nil
	}
	return r.isAsDesired(compiled, n.Object, obj), nil
}

// capabilityInForce returns the capability that controls an object, as it was approved; nil when none does.
func (r *Reconciler) capabilityInForce(ctx context.Context, obj client.Object) (*nexusv1.NexusAICapability, error) {
	declared, err := r.wholeCapabilityOf(ctx, obj)
	if declared == nil || err != nil {
		return nil, err
	}
	return capability.InForce(declared)
}

// wholeCapabilityOf returns the capability that controls an object, from the API server where the cache lacks its contents; nil when none
// does.
func (r *Reconciler) wholeCapabilityOf(ctx context.Context, obj client.Object) (*nexusv1.NexusAICapability, error) {
	c, err := r.CapabilityOf(ctx, obj)
	if c == nil || err != nil {
		return nil, err
	}
	if _, trimmed := apply.TrimmedSize(c); !trimmed {
		return c, nil
	}
	whole := &nexusv1.NexusAICapability{}
	if err := r.Live.Get(ctx, client.ObjectKeyFromObject(c), whole); err != nil || whole.UID != c.UID {
		return nil, client.IgnoreNotFound(err)
	}
	return whole, nil
}

// Covers reports whether an approval of the capability that controls an object holds for the object too: for an object that is as the
// approved declaration compiles to it, and for a deletion that belongs to the approved plan.
func (r *Reconciler) Covers(ctx context.Context, obj client.Object) (bool, error) {
	c, err := r.wholeCapabilityOf(ctx, obj)
	if c == nil || err != nil || c.Status.Approved == nil {
		return false, err
	}
	if obj.GetDeletionTimestamp() == nil {
		return r.IsGenerated(ctx, obj)
	}
	gvk, err := apiutil.GVKForObject(obj, r.Client.Scheme())
	if err != nil {
		return false, err
	}
	losesData := reconciler.MayDeleteData(obj, obj.GetName())
	return capability.CoversDeletion(c, graph.ID(gvk.Kind, obj.GetNamespace(), obj.GetName(), c.Namespace), losesData), nil
}

// isAsDesired reports whether an object is as its node declares it, and remembers when it is.
func (r *Reconciler) isAsDesired(compiled *compilation, desired *unstructured.Unstructured, obj client.Object) bool {
	if r.compilations.isGenerated(compiled, obj, desired) {
		return true
	}
	if !apply.SameSpec(r.Client.Scheme(), desired, obj) {
		return false
	}
	r.compilations.addGenerated(compiled, obj, desired)
	return true
}
