// SPDX-License-Identifier: Apache-2.0

package intentbinding

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/api/intent/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/intent"
)

// intentsByName are SecurityIntents, to be read only.
type intentsByName = map[string]*v1alpha1.SecurityIntent

// clusterFacts holds the facts for the resolution and translation of bindings, read once a pass.
type clusterFacts struct {
	r          *Reconciler
	intents    intentsByName
	namespaces []intent.Namespace
	kinds      view
}

func (r *Reconciler) gather(ctx context.Context) (*clusterFacts, error) {
	intents, err := intentsOf(ctx, r.Client)
	if err != nil {
		return nil, err
	}
	list := &corev1.NamespaceList{}
	if err := r.Client.List(ctx, list, client.UnsafeDisableDeepCopy); err != nil {
		return nil, err
	}
	namespaces := make([]intent.Namespace, len(list.Items))
	for i := range list.Items {
		ns := &list.Items[i]
		namespaces[i] = intent.Namespace{Name: ns.Name, Labels: ns.Labels, Terminating: ns.DeletionTimestamp != nil}
	}
	kinds, err := r.kinds.look(ctx)
	return &clusterFacts{r: r, intents: intents, namespaces: namespaces, kinds: kinds}, err
}

// only is a namespace alone, if it exists.
func (s *clusterFacts) only(name string) []intent.Namespace {
	i := slices.IndexFunc(s.namespaces, func(ns intent.Namespace) bool { return ns.Name == name })
	if i < 0 {
		return nil
	}
	return s.namespaces[i : i+1]
}

func (s *clusterFacts) terminating(namespace string) bool {
	ns := s.only(namespace)
	return len(ns) == 0 || ns[0].Terminating
}

// base are the facts that do not depend on other policies.
func (s *clusterFacts) base(namespace string) intent.Facts {
	f := intent.Facts{OperatorNamespace: s.r.OperatorNamespace, MeshRootNamespace: s.r.MeshRootNamespace, TrustDomain: s.r.TrustDomain}
	for _, ns := range s.only(namespace) {
		f.NamespaceLabels = ns.Labels
	}
	return f
}

// intentsOf lists the intents from the cache, to be read only.
func intentsOf(ctx context.Context, c client.Reader) (intentsByName, error) {
	list := &v1alpha1.SecurityIntentList{}
	if err := c.List(ctx, list, client.UnsafeDisableDeepCopy); err != nil {
		return nil, err
	}
	out := make(intentsByName, len(list.Items))
	for i := range list.Items {
		out[list.Items[i].Name] = &list.Items[i]
	}
	return out, nil
}

// bindingsOf lists those of a namespace and those over the cluster, from the cache.
func bindingsOf(ctx context.Context, c client.Reader, namespace string) ([]client.Object, error) {
	var out []client.Object
	list := &v1alpha1.SecurityIntentBindingList{}
	if err := c.List(ctx, list, client.InNamespace(namespace), client.UnsafeDisableDeepCopy); err != nil {
		return nil, err
	}
	for i := range list.Items {
		out = append(out, &list.Items[i])
	}
	over := &v1alpha1.ClusterSecurityIntentBindingList{}
	if err := c.List(ctx, over, client.UnsafeDisableDeepCopy); err != nil {
		return nil, err
	}
	for i := range over.Items {
		out = append(out, &over.Items[i])
	}
	return out, nil
}
