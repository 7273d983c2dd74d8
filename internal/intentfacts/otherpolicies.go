// SPDX-License-Identifier: Apache-2.0

package intentfacts

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/internal/intent"
)

// otherKinds are the kinds of policies whose flows network plugins add to those of NetworkPolicies.
// https://docs.cilium.io/en/stable/network/kubernetes/policy/, https://docs.aws.amazon.com/eks/latest/userguide/auto-net-pol.html
func otherKinds() []schema.GroupVersionKind {
	return []schema.GroupVersionKind{
		{Group: "cilium.io", Version: "v2", Kind: "CiliumNetworkPolicy"},
		{Group: "networking.k8s.aws", Version: "v1alpha1", Kind: "ApplicationNetworkPolicy"},
	}
}

// readOtherPolicies lists the policies of the cluster that are no NetworkPolicies and that no intent made. Of a kind that is not
// served, or that the reader may not list, there are none: the roles of the engines grant the right.
func readOtherPolicies(ctx context.Context, live client.Reader) ([]intent.OtherPolicy, error) {
	marks := sync.OnceValues(func() (map[string]bool, error) { return PolicyMarks(ctx, live, metav1.NamespaceAll) })
	var out []intent.OtherPolicy
	for _, kind := range otherKinds() {
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(kind.GroupVersion().WithKind(kind.Kind + "List"))
		switch err := live.List(ctx, list); {
		case meta.IsNoMatchError(err), runtime.IsNotRegisteredError(err), apierrors.IsNotFound(err), apierrors.IsForbidden(err):
			continue
		case err != nil:
			return nil, fmt.Errorf("listing %s: %w", kind.Kind, err)
		}
		for i := range list.Items {
			mine, _, err := IsOfPolicy(&list.Items[i], marks)
			if err != nil {
				return nil, err
			}
			if !mine {
				out = append(out, otherPolicies(&list.Items[i])...)
			}
		}
	}
	return out, nil
}

// otherPolicies reads each rule of a policy.
func otherPolicies(u *unstructured.Unstructured) []intent.OtherPolicy {
	spec, _, _ := unstructured.NestedMap(u.Object, "spec")
	specs, _, _ := unstructured.NestedSlice(u.Object, "specs")
	var out []intent.OtherPolicy
	for _, one := range append([]any{spec}, specs...) {
		rule, _ := one.(map[string]any)
		p := intent.OtherPolicy{Kind: u.GetKind(), Namespace: u.GetNamespace(), Name: u.GetName()}
		if u.GroupVersionKind().Group == "cilium.io" {
			readCilium(&p, rule)
		} else {
			readApplication(&p, rule)
		}
		if p.Isolates|p.Opens != 0 {
			out = append(out, p)
		}
	}
	return out
}

// readCilium reads a rule of Cilium. One with allowing or denying rules for a direction isolates it, unless enableDefaultDeny
// says otherwise; a rule about nodes is about no pods.
// https://docs.cilium.io/en/stable/security/policy/language/
func readCilium(p *intent.OtherPolicy, rule map[string]any) {
	selector, aboutPods := rule["endpointSelector"].(map[string]any)
	if !aboutPods {
		return
	}
	p.Selector = selectorOf(selector)
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
	p.Selector.Labels = podLabels(p.Selector.Labels)
	p.Selector.Expressions = podExpressions(p.Selector.Expressions)
}

// readApplication reads an ApplicationNetworkPolicy, which has the form of a NetworkPolicy.
func readApplication(p *intent.OtherPolicy, spec map[string]any) {
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

// podNamespace is the label by which Cilium knows the namespace of a pod.
const podNamespace = "io.kubernetes.pod.namespace"

// podKey returns the label of pods that a label of Cilium stands for, and whether it stands for one.
func podKey(key string) (string, bool) {
	source, rest, found := strings.Cut(key, ":")
	if !found {
		source, rest = "any", key
	}
	return rest, (source == "any" || source == "k8s") && !strings.HasPrefix(rest, "io.cilium.k8s.") && rest != podNamespace
}

// podLabels returns the labels of pods among those of Cilium. The others are left out: they could only select fewer pods.
func podLabels(labels map[string]string) map[string]string {
	out := map[string]string{}
	for k, v := range labels {
		if key, ofPods := podKey(k); ofPods {
			out[key] = v
		}
	}
	return out
}

func podExpressions(all []metav1.LabelSelectorRequirement) (out []metav1.LabelSelectorRequirement) {
	for _, e := range all {
		if key, ofPods := podKey(e.Key); ofPods {
			e.Key = key
			out = append(out, e)
		}
	}
	return out
}
