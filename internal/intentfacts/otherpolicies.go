// SPDX-License-Identifier: Apache-2.0

package intentfacts

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/internal/intent"
)

// OtherPolicyKinds lists the kinds of policies, in addition to NetworkPolicies, that let network plugins restrict or open flows. Of a kind
// with several versions the first served version counts.
// https://docs.cilium.io/en/stable/network/kubernetes/policy/, https://docs.aws.amazon.com/eks/latest/userguide/auto-net-pol.html,
// https://network-policy-api.sigs.k8s.io/api-overview/
func OtherPolicyKinds() []schema.GroupVersionKind {
	return []schema.GroupVersionKind{
		{Group: "cilium.io", Version: "v2", Kind: "CiliumNetworkPolicy"},
		{Group: "cilium.io", Version: "v2", Kind: "CiliumClusterwideNetworkPolicy"},
		{Group: "networking.k8s.aws", Version: "v1alpha1", Kind: "ApplicationNetworkPolicy"},
		{Group: "networking.k8s.aws", Version: "v1alpha1", Kind: "ClusterNetworkPolicy"},
		{Group: adminGroup, Version: "v1", Kind: "ClusterNetworkPolicy"},
		{Group: adminGroup, Version: "v1beta1", Kind: "ClusterNetworkPolicy"},
		{Group: adminGroup, Version: "v1alpha2", Kind: "ClusterNetworkPolicy"},
		{Group: adminGroup, Version: "v1alpha1", Kind: "AdminNetworkPolicy"},
		{Group: adminGroup, Version: "v1alpha1", Kind: "BaselineAdminNetworkPolicy"},
	}
}

// adminGroup is the API group of policies of administrators over all namespaces.
const adminGroup = "policy.networking.k8s.io"

// otherPolicy is a policy of another owner, with the namespaces of the pods that it selects. If Namespace is empty, the selector over the
// labels of namespaces counts.
type otherPolicy struct {
	intent.OtherPolicy
	namespaces intent.Selector
}

// selects reports whether the policy selects pods of a namespace. A selector that cannot be read selects all namespaces.
func (o otherPolicy) selects(namespace string, all map[string]string) bool {
	if o.Namespace != "" && o.Namespace != namespace {
		return false
	}
	selector, err := metav1.LabelSelectorAsSelector(&metav1.LabelSelector{MatchLabels: o.namespaces.Labels,
		MatchExpressions: o.namespaces.Expressions})
	named := labels.Set{corev1.LabelMetadataName: namespace}
	return err != nil || selector.Matches(labels.Merge(named, all))
}

// pageOfPolicies bounds how many policies of a kind are in memory at a time: tenants may create many large ones.
const pageOfPolicies = 50

// readOtherPolicies lists the policies of the cluster that are no NetworkPolicies and that no intent made. Of a kind that is not
// served, or that the reader may not list, there are none: the roles of the operator and its engines grant the right.
func readOtherPolicies(ctx context.Context, live client.Reader) ([]otherPolicy, error) {
	marks := sync.OnceValues(func() (map[string]bool, error) { return PolicyMarks(ctx, live, metav1.NamespaceAll) })
	var out []otherPolicy
	listed := map[schema.GroupKind]bool{}
	for _, kind := range OtherPolicyKinds() {
		if listed[kind.GroupKind()] {
			continue
		}
		policies, err := policiesOfKind(ctx, live, kind, marks)
		switch {
		case meta.IsNoMatchError(err), runtime.IsNotRegisteredError(err), apierrors.IsNotFound(err), apierrors.IsForbidden(err):
			continue
		case err != nil:
			return nil, fmt.Errorf("listing %s: %w", kind.Kind, err)
		}
		listed[kind.GroupKind()] = true
		out = append(out, policies...)
	}
	return out, nil
}

// policiesOfKind lists the policies of a kind that no intent made, by pages.
func policiesOfKind(ctx context.Context, live client.Reader, kind schema.GroupVersionKind,
	marks func() (map[string]bool, error)) ([]otherPolicy, error) {
	var out []otherPolicy
	for next := ""; ; {
		page := &unstructured.UnstructuredList{}
		page.SetGroupVersionKind(kind.GroupVersion().WithKind(kind.Kind + "List"))
		if err := live.List(ctx, page, client.Limit(pageOfPolicies), client.Continue(next)); err != nil {
			return nil, err
		}
		for i := range page.Items {
			mine, _, err := IsOfPolicy(&page.Items[i], marks)
			if err != nil {
				return nil, err
			}
			if !mine {
				out = append(out, otherPolicies(&page.Items[i])...)
			}
		}
		if next = page.GetContinue(); next == "" {
			return out, nil
		}
	}
}

// otherPolicies reads each rule of a policy.
func otherPolicies(u *unstructured.Unstructured) []otherPolicy {
	spec, _, _ := unstructured.NestedMap(u.Object, "spec")
	specs, _, _ := unstructured.NestedSlice(u.Object, "specs")
	var out []otherPolicy
	for _, one := range append([]any{spec}, specs...) {
		rule, _ := one.(map[string]any)
		p := otherPolicy{OtherPolicy: intent.OtherPolicy{Kind: u.GetKind(), Namespace: u.GetNamespace(), Name: u.GetName()}}
		switch {
		case u.GroupVersionKind().Group == "cilium.io":
			readCilium(&p, rule)
		case u.GetKind() == "ApplicationNetworkPolicy":
			readApplication(&p, rule)
		default:
			readAdmin(&p, rule)
		}
		if p.Isolates|p.Opens != 0 {
			out = append(out, p)
		}
	}
	return out
}

// readCilium reads a rule of Cilium. One with allowing or denying rules for a direction isolates it, unless enableDefaultDeny
// says otherwise; a rule about nodes, or about endpoints that Cilium reserves, is about no pods.
// https://docs.cilium.io/en/stable/security/policy/language/
func readCilium(p *otherPolicy, rule map[string]any) {
	selector, aboutPods := rule["endpointSelector"].(map[string]any)
	all := selectorOf(selector)
	if !aboutPods || isReserved(all) {
		return
	}
	for _, d := range []struct {
		direction intent.Direction
		name      string
	}{{intent.Ingress, "ingress"}, {intent.Egress, "egress"}} {
		allows, _, _ := unstructured.NestedSlice(rule, d.name)
		denies, _, _ := unstructured.NestedSlice(rule, d.name+"Deny")
		isolates, said, _ := unstructured.NestedBool(rule, "enableDefaultDeny", d.name)
		switch {
		case said && !isolates && len(allows) > 0:
			p.Opens |= d.direction
		case isolates, !said && len(allows)+len(denies) > 0:
			p.Isolates |= d.direction
		}
	}
	p.Selector, p.namespaces = selectorFor(all, podKey), selectorFor(all, namespaceKey)
}

// readApplication reads an ApplicationNetworkPolicy, which has the form of a NetworkPolicy.
func readApplication(p *otherPolicy, spec map[string]any) {
	selector, _ := spec["podSelector"].(map[string]any)
	p.Selector = selectorOf(selector)
	types, said, _ := unstructured.NestedStringSlice(spec, "policyTypes")
	egress, _, _ := unstructured.NestedSlice(spec, "egress")
	if slices.Contains(types, "Ingress") || !said && spec != nil {
		p.Isolates |= intent.Ingress
	}
	if slices.Contains(types, "Egress") || !said && len(egress) > 0 {
		p.Isolates |= intent.Egress
	}
}

// selectorOf reads a selector; one that cannot be read selects all pods.
func selectorOf(m map[string]any) intent.Selector {
	var s metav1.LabelSelector
	if runtime.DefaultUnstructuredConverter.FromUnstructured(m, &s) != nil {
		return intent.Selector{}
	}
	return intent.Selector{Labels: s.MatchLabels, Expressions: s.MatchExpressions}
}

// The labels that Cilium uses for the namespace of a pod, and for the labels of that namespace.
const (
	podNamespace    = "io.kubernetes.pod.namespace"
	namespaceLabels = "io.cilium.k8s.namespace.labels."
)

// podKey returns the label of pods that a label of Cilium stands for, and whether it stands for one.
func podKey(key string) (string, bool) {
	source, rest := sourceOf(key)
	return rest, (source == "any" || source == "k8s") && !strings.HasPrefix(rest, "io.cilium.k8s.") && rest != podNamespace
}

// namespaceKey returns the label of namespaces that a label of Cilium stands for, and whether it stands for one.
func namespaceKey(key string) (string, bool) {
	_, rest := sourceOf(key)
	if rest == podNamespace {
		return corev1.LabelMetadataName, true
	}
	return strings.CutPrefix(rest, namespaceLabels)
}

// sourceOf divides a label of Cilium into its source and its key.
func sourceOf(key string) (source, rest string) {
	source, rest, found := strings.Cut(key, ":")
	if !found {
		return "any", key
	}
	return source, rest
}

// isReserved reports whether a selector of Cilium is about endpoints without a pod, such as health checks.
func isReserved(s intent.Selector) bool {
	reserved := func(key string) bool { source, _ := sourceOf(key); return source == "reserved" }
	for key := range s.Labels {
		if reserved(key) {
			return true
		}
	}
	return slices.ContainsFunc(s.Expressions, func(e metav1.LabelSelectorRequirement) bool {
		return reserved(e.Key) && (e.Operator == metav1.LabelSelectorOpExists || e.Operator == metav1.LabelSelectorOpIn)
	})
}

// selectorFor returns the part of a Cilium selector with the labels that as translates. It leaves out all other labels: they could only
// select fewer pods.
func selectorFor(s intent.Selector, as func(key string) (string, bool)) intent.Selector {
	out := intent.Selector{Labels: map[string]string{}}
	for k, v := range s.Labels {
		if key, ok := as(k); ok {
			out.Labels[key] = v
		}
	}
	for _, e := range s.Expressions {
		if key, ok := as(e.Key); ok {
			e.Key = key
			out.Expressions = append(out.Expressions, e)
		}
	}
	return out
}

// readAdmin reads a policy of an administrator over all namespaces. Flows that it accepts are open regardless of NetworkPolicies, and flows
// that it denies are closed. A baseline policy applies only to pods that no NetworkPolicy selects, so that a NetworkPolicy would open the
// flows that it denies: it isolates them as a NetworkPolicy does.
func readAdmin(p *otherPolicy, spec map[string]any) {
	baseline := p.Kind == "BaselineAdminNetworkPolicy" || spec["tier"] == "Baseline"
	for name, direction := range map[string]intent.Direction{"ingress": intent.Ingress, "egress": intent.Egress} {
		rules, _, _ := unstructured.NestedSlice(spec, name)
		for _, r := range rules {
			rule, _ := r.(map[string]any)
			switch action := rule["action"]; {
			case baseline && action == "Deny":
				p.Isolates |= direction
			case !baseline && (action == "Allow" || action == "Accept"):
				p.Opens |= direction
			}
		}
	}
	subject, _, _ := unstructured.NestedMap(spec, "subject")
	if all, ok := subject["namespaces"].(map[string]any); ok {
		p.namespaces = selectorOf(all)
		return
	}
	pods, _, _ := unstructured.NestedMap(subject, "pods", "podSelector")
	namespaces, _, _ := unstructured.NestedMap(subject, "pods", "namespaceSelector")
	p.Selector, p.namespaces = selectorOf(pods), selectorOf(namespaces)
}
