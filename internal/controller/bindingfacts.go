package controller

import (
	"cmp"
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/api/intent/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/intent"
)

// surroundings are what a binding is resolved and translated in, read once a pass.
type surroundings struct {
	r          *Bindings
	self       types.UID
	intents    map[string]*v1alpha1.SecurityIntent
	namespaces []intent.Namespace
	kinds      view
}

func (r *Bindings) gather(ctx context.Context, self types.UID) (*surroundings, error) {
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
	return &surroundings{r: r, self: self, intents: intents, namespaces: namespaces, kinds: kinds}, err
}

// intentsOf lists the intents from the cache, to be read only.
func intentsOf(ctx context.Context, c client.Reader) (map[string]*v1alpha1.SecurityIntent, error) {
	list := &v1alpha1.SecurityIntentList{}
	if err := c.List(ctx, list, client.UnsafeDisableDeepCopy); err != nil {
		return nil, err
	}
	out := make(map[string]*v1alpha1.SecurityIntent, len(list.Items))
	for i := range list.Items {
		out[list.Items[i].Name] = &list.Items[i]
	}
	return out, nil
}

// facts gathers what engines may ask for. Policies of other people, and the neighbours, are read only for
// a policy that restricts the network.
func (s *surroundings) facts(ctx context.Context, p intent.Policy) (intent.Facts, error) {
	f := intent.Facts{OperatorNamespace: s.r.OperatorNamespace, MeshRootNamespace: s.r.MeshRootNamespace, TrustDomain: s.r.TrustDomain}
	if p.Namespace == "" {
		return f, nil
	}
	for _, ns := range s.namespaces {
		if ns.Name == p.Namespace {
			f.NamespaceLabels = ns.Labels
		}
	}
	if p.Restricts() == 0 {
		return f, nil
	}
	var err error
	if f.Siblings, err = s.siblings(ctx, p.Namespace); err != nil {
		return f, err
	}
	f.NetworkPolicies, err = s.foreign(ctx, p.Namespace)
	return f, err
}

// siblings resolves the other bindings of a namespace that restrict the network. They are resolved from
// the bindings and not read from NimbusPolicies, which come later.
func (s *surroundings) siblings(ctx context.Context, namespace string) ([]intent.Policy, error) {
	var here []intent.Namespace
	for _, ns := range s.namespaces {
		if ns.Name == namespace {
			here = append(here, ns)
		}
	}
	bindings, err := s.r.bindings(ctx, namespace)
	if err != nil {
		return nil, err
	}
	var out []intent.Policy
	for _, obj := range bindings {
		b := bindingOf(obj)
		if obj.GetUID() == s.self || obj.GetDeletionTimestamp() != nil || b.Restricts(s.intents) == 0 {
			continue
		}
		for _, p := range intent.Resolve(b, s.intents, here, intent.Options{OperatorNamespace: s.r.OperatorNamespace}).Policies {
			if p.Restricts() != 0 {
				out = append(out, p)
			}
		}
	}
	slices.SortFunc(out, func(a, b intent.Policy) int { return cmp.Compare(a.Name, b.Name) })
	return out, nil
}

// bindings lists those of a namespace and those over the cluster, from the cache.
func (r *Bindings) bindings(ctx context.Context, namespace string) ([]client.Object, error) {
	var out []client.Object
	list := &v1alpha1.SecurityIntentBindingList{}
	if err := r.Client.List(ctx, list, client.InNamespace(namespace), client.UnsafeDisableDeepCopy); err != nil {
		return nil, err
	}
	for i := range list.Items {
		out = append(out, &list.Items[i])
	}
	over := &v1alpha1.ClusterSecurityIntentBindingList{}
	if err := r.Client.List(ctx, over, client.UnsafeDisableDeepCopy); err != nil {
		return nil, err
	}
	for i := range over.Items {
		out = append(out, &over.Items[i])
	}
	return out, nil
}

// foreign lists the NetworkPolicies of a namespace that no intent made.
func (s *surroundings) foreign(ctx context.Context, namespace string) ([]networkingv1.NetworkPolicy, error) {
	if err := s.r.kinds.watchForeign(); err != nil {
		return nil, err
	}
	list := &networkingv1.NetworkPolicyList{}
	if err := s.r.Client.List(ctx, list, client.InNamespace(namespace)); err != nil {
		return nil, err
	}
	return slices.DeleteFunc(list.Items, func(p networkingv1.NetworkPolicy) bool { return derived(&p) }), nil
}

// derived says whether an object is controlled by a policy of ours.
func derived(o metav1.Object) bool {
	c := metav1.GetControllerOf(o)
	if c == nil {
		return false
	}
	gv, err := schema.ParseGroupVersion(c.APIVersion)
	return err == nil && gv.Group == v1alpha1.GroupName
}
