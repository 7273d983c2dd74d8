// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"context"
	"fmt"
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	intentv1alpha1 "github.com/nexus-operator/nexus-operator/api/intent/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/intent"
	"github.com/nexus-operator/nexus-operator/internal/intentfacts"
)

// posture is the security posture of the cluster after the plan, as far as the plan has needed it. Bindings are resolved and translated in
// it.
type posture struct {
	ahead    ahead
	engines  []intentfacts.Engine
	settings intentfacts.Settings
	// clock judges the age of assessments of TLS.
	clock clock.PassiveClock

	// intents holds the SecurityIntents; nil until they are gathered.
	intents map[string]*intentv1alpha1.SecurityIntent
	// divisions holds the facts of the namespaces that have planned policies that restrict the network.
	divisions map[string]intent.Facts
	// known holds the facts of the cluster once they were read.
	known *intentfacts.Cluster
	// planned are the bindings that the plan has.
	planned map[string]bool
	// spaces are the namespaces that were read, each with itself if it exists or will.
	spaces map[string][]intent.Namespace
}

// gather reads the intents once a plan.
func (s *posture) gather(ctx context.Context) error {
	if s.intents != nil {
		return nil
	}
	list := &intentv1alpha1.SecurityIntentList{}
	if err := s.ahead.List(ctx, list); err != nil {
		return fmt.Errorf("listing SecurityIntents: %w", err)
	}
	s.intents = map[string]*intentv1alpha1.SecurityIntent{}
	for i := range list.Items {
		s.intents[list.Items[i].Name] = &list.Items[i]
	}
	return nil
}

// namespaces lists the namespaces that a binding of the cluster may select, with those that the manifests create.
func (s *posture) namespaces(ctx context.Context) ([]intent.Namespace, error) {
	list := &corev1.NamespaceList{}
	if err := s.ahead.now.List(ctx, list); err != nil {
		return nil, fmt.Errorf("listing namespaces: %w", err)
	}
	var out []intent.Namespace
	for i := range list.Items {
		out = append(out, namespaceOf(&list.Items[i]))
	}
	for _, u := range s.ahead.declaredOf(schema.GroupKind{Kind: "Namespace"}) {
		if !slices.ContainsFunc(out, func(ns intent.Namespace) bool { return ns.Name == u.GetName() }) {
			out = append(out, namespaceOf(u))
		}
	}
	return out, nil
}

func namespaceOf(o metav1.Object) intent.Namespace {
	return intent.Namespace{Name: o.GetName(), Labels: o.GetLabels(), Terminating: o.GetDeletionTimestamp() != nil}
}

// only is one namespace, if it exists or will.
func (s *posture) only(ctx context.Context, name string) ([]intent.Namespace, error) {
	ns := &corev1.Namespace{}
	err := s.ahead.now.Get(ctx, client.ObjectKey{Name: name}, ns)
	u, declared := s.ahead.find("Namespace", "", name)
	switch {
	case err == nil:
		return []intent.Namespace{namespaceOf(ns)}, nil
	case !apierrors.IsNotFound(err):
		return nil, fmt.Errorf("reading namespace %s: %w", name, err)
	case declared:
		return []intent.Namespace{namespaceOf(u)}, nil
	default:
		return nil, nil
	}
}

// factsOf returns the facts for the translation of a policy. Live is the policy as it exists, or as it will be made.
func (s *posture) factsOf(ctx context.Context, policy intent.Policy, live *unstructured.Unstructured) (intent.Facts, error) {
	f, err := s.placeOf(ctx, policy)
	if err != nil {
		return f, err
	}
	if intentfacts.UsesPatches(policy.Rules) {
		if f.Patches, err = intentfacts.ReadPatches(ctx, s.ahead.now, s.settings.VirtualPatches); err != nil {
			return f, err
		}
	}
	if intentfacts.AssessesTLS(s.engines) {
		f.TLS, err = intentfacts.Assessments{Client: s.ahead.now, Live: s.ahead.now, Image: s.settings.TLSAssessorImage}.
			Read(ctx, policy, live, s.clock.Now())
	}
	return f, err
}

// placeOf are the facts of the place that a policy is for: the cluster, a namespace, or a namespace with the other policies
// that restrict the network there.
func (s *posture) placeOf(ctx context.Context, policy intent.Policy) (intent.Facts, error) {
	f := intent.Facts{OperatorNamespace: s.settings.OperatorNamespace, MeshRootNamespace: s.settings.MeshRootNamespace,
		TrustDomain: s.settings.TrustDomain}
	if policy.Namespace == "" {
		return f, nil
	}
	only, known := s.spaces[policy.Namespace]
	if !known {
		var err error
		if only, err = s.only(ctx, policy.Namespace); err != nil {
			return f, err
		}
		s.spaces[policy.Namespace] = only
	}
	for _, ns := range only {
		f.NamespaceLabels = ns.Labels
	}
	if policy.Restricts() == 0 {
		cluster, err := s.cluster(ctx)
		cluster.AddTo(&f, policy.Namespace)
		return f, err
	}
	if known, ok := s.divisions[policy.Namespace]; ok {
		return known, nil
	}
	f, err := s.divide(ctx, policy.Namespace, only, f)
	if err == nil {
		s.divisions[policy.Namespace] = f
	}
	return f, err
}

// cluster reads the facts of the cluster once.
func (s *posture) cluster(ctx context.Context) (intentfacts.Cluster, error) {
	if s.known == nil {
		read, err := intentfacts.ReadCluster(ctx, s.ahead.now, s.settings)
		if err != nil {
			return read, err
		}
		s.known = &read
	}
	return *s.known, nil
}

// divide gathers the facts for the policies of a namespace that restrict the network, and divides the pods among them.
func (s *posture) divide(ctx context.Context, namespace string, only []intent.Namespace, f intent.Facts) (intent.Facts, error) {
	cluster, err := s.cluster(ctx)
	if err != nil {
		return f, err
	}
	cluster.AddTo(&f, namespace)
	if f.NetworkPolicies, err = s.foreignPolicies(ctx, namespace); err != nil {
		return f, err
	}
	bindings, err := s.bindingsIn(ctx, namespace)
	if err != nil {
		return f, err
	}
	known := &served{mapper: s.ahead.now.RESTMapper()}
	if f.NamesHeld = intentfacts.HoldNames(s.engines, f, known.has); known.err != nil {
		return f, known.err
	}
	declared := intentfacts.Declared{Intents: s.intents, Namespaces: only}
	return intentfacts.Divide(s.engines, bindings, declared, f, func(intent.Policy, client.Object) {}), nil
}

// foreignPolicies are the NetworkPolicies of a namespace that no intent made.
func (s *posture) foreignPolicies(ctx context.Context, namespace string) ([]networkingv1.NetworkPolicy, error) {
	list := &networkingv1.NetworkPolicyList{}
	if err := s.ahead.now.List(ctx, list, client.InNamespace(namespace)); err != nil {
		return nil, fmt.Errorf("listing NetworkPolicies: %w", err)
	}
	marks := sync.OnceValues(func() (map[string]bool, error) { return intentfacts.PolicyMarks(ctx, s.ahead.now, namespace) })
	var out []networkingv1.NetworkPolicy
	for i := range list.Items {
		mine, _, err := intentfacts.IsOfPolicy(&list.Items[i], marks)
		if err != nil {
			return nil, err
		}
		if !mine {
			out = append(out, list.Items[i])
		}
	}
	return out, nil
}

// bindingsIn lists the bindings of a namespace, or of every one, and those of the cluster, as they will be.
func (s *posture) bindingsIn(ctx context.Context, namespace string) ([]client.Object, error) {
	var out []client.Object
	lists := []client.ObjectList{&intentv1alpha1.SecurityIntentBindingList{}, &intentv1alpha1.ClusterSecurityIntentBindingList{}}
	for i, list := range lists {
		var in []client.ListOption
		if i == 0 {
			in = append(in, client.InNamespace(namespace))
		}
		if err := s.ahead.List(ctx, list, in...); err != nil {
			return nil, fmt.Errorf("listing bindings of security intents: %w", err)
		}
		err := meta.EachListItem(list, func(o runtime.Object) error {
			out = append(out, o.(client.Object))
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// served knows which kinds the API server serves. Its first error is kept.
type served struct {
	mapper meta.RESTMapper
	err    error
}

func (s *served) has(kind schema.GroupVersionKind) bool {
	_, err := s.mapper.RESTMapping(kind.GroupKind(), kind.Version)
	if err != nil && !meta.IsNoMatchError(err) && s.err == nil {
		s.err = fmt.Errorf("finding out whether %s is served: %w", kind, err)
	}
	return err == nil
}
