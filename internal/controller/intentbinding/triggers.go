// SPDX-License-Identifier: Apache-2.0

package intentbinding

import (
	"context"
	"slices"
	"strings"
	"sync/atomic"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/nexus-operator/nexus-operator/api/intent/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/apply"
	"github.com/nexus-operator/nexus-operator/internal/intent"
	"github.com/nexus-operator/nexus-operator/internal/intentfacts"
)

// triggers maps changes in the cluster to the bindings that they concern.
type triggers struct {
	client, derived client.Reader
	spaces          *spaces
	cluster         *clusterReader
	// declarations and neighborEvents are those of the Reconciler.
	declarations   *atomic.Uint64
	neighborEvents chan<- event.GenericEvent
}

func (r *Reconciler) triggers() *triggers {
	return &triggers{client: r.Client, derived: r.kinds.derived, spaces: r.spaces, cluster: r.cluster, declarations: &r.declarations,
		neighborEvents: r.neighborEvents}
}

// itselfAndNeighborhood maps a binding to itself and to the namespaces that are divided among it and others.
func (t *triggers) itselfAndNeighborhood(_ context.Context, o client.Object) []reconcile.Request {
	t.declarations.Add(1)
	return append(t.spaces.neighborhoods(o.GetNamespace()), requestOf(o))
}

// bindingsNaming maps an intent to the bindings that name it, and to their namespaces: an edit may make an intent
// restrict the network, or no longer.
func (t *triggers) bindingsNaming(ctx context.Context, o client.Object) []reconcile.Request {
	t.declarations.Add(1)
	bindings, err := bindingsOf(ctx, t.client, metav1.NamespaceAll)
	if err != nil {
		return nil
	}
	var out []reconcile.Request
	namespaces := map[string]bool{}
	for _, b := range bindings {
		if slices.ContainsFunc(intentsOfBinding(b), func(m v1alpha1.MatchIntent) bool { return m.Name == o.GetName() }) {
			out = append(out, requestOf(b))
			namespaces[b.GetNamespace()] = true
		}
	}
	for ns := range namespaces {
		out = append(out, t.spaces.neighborhoods(ns)...)
	}
	return out
}

func intentsOfBinding(o client.Object) []v1alpha1.MatchIntent {
	switch b := o.(type) {
	case *v1alpha1.SecurityIntentBinding:
		return b.Spec.Intents
	case *v1alpha1.ClusterSecurityIntentBinding:
		return b.Spec.Intents
	default:
		return nil
	}
}

// ofNamespace maps a namespace to the bindings that may select it, or read its labels.
func (t *triggers) ofNamespace(ctx context.Context, o client.Object) []reconcile.Request {
	return append(t.spaces.neighborhoods(o.GetName()), t.requests(ctx, o.GetName())...)
}

func (t *triggers) everyBinding(ctx context.Context, _ client.Object) []reconcile.Request {
	return t.requests(ctx, metav1.NamespaceAll)
}

func (t *triggers) requests(ctx context.Context, namespace string) []reconcile.Request {
	bindings, err := bindingsOf(ctx, t.client, namespace)
	if err != nil {
		return nil
	}
	out := make([]reconcile.Request, len(bindings))
	for i, b := range bindings {
		out[i] = requestOf(b)
	}
	return out
}

// besideForeign maps another owner's NetworkPolicy to its namespace.
func (t *triggers) besideForeign(_ context.Context, o client.Object) []reconcile.Request {
	if intentfacts.IsDerived(o) {
		return nil
	}
	return t.spaces.neighborhoods(o.GetNamespace())
}

// ownerOfDerived maps a policy, or an engine's object through its policy, to the binding.
func (t *triggers) ownerOfDerived(ctx context.Context, o client.Object) []reconcile.Request {
	c := metav1.GetControllerOf(o)
	if c == nil {
		return ownerByName(o)
	}
	var policy client.Object
	switch c.Kind {
	case "SecurityIntentBinding":
		return []reconcile.Request{{NamespacedName: types.NamespacedName{Namespace: o.GetNamespace(), Name: c.Name}}}
	case "ClusterSecurityIntentBinding":
		return []reconcile.Request{{NamespacedName: types.NamespacedName{Name: c.Name}}}
	case "NimbusPolicy":
		policy = &v1alpha1.NimbusPolicy{}
	case "ClusterNimbusPolicy":
		policy = &v1alpha1.ClusterNimbusPolicy{}
	default:
		return nil
	}
	if err := t.derived.Get(ctx, types.NamespacedName{Namespace: o.GetNamespace(), Name: c.Name}, policy); err != nil {
		return nil // the policy's own end wakes its binding
	}
	return t.ownerOfDerived(ctx, policy)
}

// ownerByName maps a policy that has lost its owner reference to the binding that its annotation names.
func ownerByName(o client.Object) []reconcile.Request {
	switch part := strings.Split(o.GetAnnotations()[apply.AnnotationOwner], "/"); {
	case len(part) == 3 && part[0] == "SecurityIntentBinding" && part[1] == o.GetNamespace():
		return []reconcile.Request{{NamespacedName: types.NamespacedName{Namespace: part[1], Name: part[2]}}}
	case len(part) == 2 && part[0] == "ClusterSecurityIntentBinding":
		return []reconcile.Request{{NamespacedName: types.NamespacedName{Name: part[1]}}}
	default:
		return nil
	}
}

// ofAssessment maps a pod of an assessment to the binding of its policy.
func (t *triggers) ofAssessment(ctx context.Context, o client.Object) []reconcile.Request {
	policy := &v1alpha1.NimbusPolicy{}
	key := types.NamespacedName{Namespace: o.GetNamespace(), Name: o.GetAnnotations()[intent.AnnotationPolicy]}
	if key.Name == "" || t.derived.Get(ctx, key, policy) != nil {
		return nil // a pass looks at the pods, too
	}
	return t.ownerOfDerived(ctx, policy)
}

// enqueueNeighbors requeues bindings.
func (t *triggers) enqueueNeighbors(ctx context.Context, requests []reconcile.Request) {
	for _, req := range requests {
		about := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Namespace: req.Namespace, Name: req.Name}}
		select {
		case t.neighborEvents <- event.GenericEvent{Object: about}:
		case <-ctx.Done():
			return
		}
	}
}
