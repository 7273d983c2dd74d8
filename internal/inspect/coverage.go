// SPDX-License-Identifier: Apache-2.0

package inspect

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"

	intentv1alpha1 "github.com/nexus-operator/nexus-operator/api/intent/v1alpha1"
)

// CoverageReport lists for each pod the enforcement by each policy engine of the security intents that select the pod.
type CoverageReport struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	// Engines are the names of the engines that any policy reports, sorted.
	Engines []string      `json:"engines"`
	Pods    []PodCoverage `json:"pods"`
	// Idle are the policies that select no pod.
	Idle []PolicyRef `json:"idle,omitempty"`
}

// PolicyRef names a policy.
type PolicyRef struct {
	// Namespace is empty for a policy of the cluster.
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
}

// PodCoverage is the coverage of one pod.
type PodCoverage struct {
	Namespace string           `json:"namespace"`
	Name      string           `json:"name"`
	Intents   []IntentCoverage `json:"intents"`
}

// IntentCoverage lists how far each engine covers an intent of a policy.
type IntentCoverage struct {
	Intent string `json:"intent"`
	// Policy is the name of the NimbusPolicy, or of the ClusterNimbusPolicy.
	Policy string `json:"policy"`
	// Cluster is true for a policy of the cluster.
	Cluster bool `json:"cluster,omitempty"`
	// Engines lists the report of each engine.
	Engines []intentv1alpha1.Coverage `json:"engines"`
}

// Coverage reads the policies and the names and labels of the pods of a namespace, or of all namespaces when it is empty. Only pods that
// a policy selects are in the report. Policies of the cluster are left out for a user who may not list them.
func (r *Reader) Coverage(ctx context.Context, namespace string) (*CoverageReport, error) {
	policies := &intentv1alpha1.NimbusPolicyList{}
	if err := r.Client.List(ctx, policies, client.InNamespace(namespace)); err != nil {
		return nil, fmt.Errorf("listing NimbusPolicy objects: %w", err)
	}
	wide := &intentv1alpha1.ClusterNimbusPolicyList{}
	if err := r.Client.List(ctx, wide); err != nil && !apierrors.IsForbidden(err) && !isAbsent(err) {
		return nil, fmt.Errorf("listing ClusterNimbusPolicy objects: %w", err)
	}
	pods := &metav1.PartialObjectMetadataList{}
	pods.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("PodList"))
	if err := r.Client.List(ctx, pods, client.InNamespace(namespace)); err != nil {
		return nil, fmt.Errorf("listing pods: %w", err)
	}
	all, err := selectingPolicies(policies.Items, wide.Items)
	if err != nil {
		return nil, err
	}
	report := coverageOf(all, pods.Items)
	if namespace != "" { // a policy of the cluster may select pods elsewhere
		report.Idle = slices.DeleteFunc(report.Idle, func(p PolicyRef) bool { return p.Namespace == "" })
	}
	return report, nil
}

// selectingPolicy is a policy of a namespace or of the cluster, with the pods that it selects.
type selectingPolicy struct {
	PolicyRef
	rules    []intentv1alpha1.Rule
	coverage []intentv1alpha1.Coverage
	selects  func(pod *metav1.PartialObjectMetadata) bool
}

// selectingPolicies reads the selectors of policies.
func selectingPolicies(policies []intentv1alpha1.NimbusPolicy, wide []intentv1alpha1.ClusterNimbusPolicy) ([]selectingPolicy, error) {
	var out []selectingPolicy
	for _, p := range policies {
		selector, err := metav1.LabelSelectorAsSelector(&metav1.LabelSelector{MatchLabels: p.Spec.Selector.MatchLabels,
			MatchExpressions: p.Spec.Selector.MatchExpressions})
		if err != nil {
			return nil, fmt.Errorf("spec.selector of NimbusPolicy %s/%s: %w", p.Namespace, p.Name, err)
		}
		out = append(out, selectingPolicy{PolicyRef: PolicyRef{Namespace: p.Namespace, Name: p.Name}, rules: p.Spec.Rules,
			coverage: p.Status.Coverage,
			selects: func(pod *metav1.PartialObjectMetadata) bool {
				return pod.Namespace == p.Namespace && selector.Matches(labels.Set(pod.Labels))
			}})
	}
	for _, p := range wide {
		selector := labels.SelectorFromSet(p.Spec.Selector.WorkloadSelector.MatchLabels)
		out = append(out, selectingPolicy{PolicyRef: PolicyRef{Name: p.Name}, rules: p.Spec.Rules, coverage: p.Status.Coverage,
			selects: func(pod *metav1.PartialObjectMetadata) bool {
				return selectsNamespace(p.Spec.Selector.NsSelector, pod.Namespace) && selector.Matches(labels.Set(pod.Labels))
			}})
	}
	return out, nil
}

// selectsNamespace reports whether a selector of the cluster names a namespace. None reaches kube-system.
func selectsNamespace(s intentv1alpha1.NamespaceSelector, name string) bool {
	is := func(given intentv1alpha1.NamespaceName) bool { return given == "*" || string(given) == name }
	if name == metav1.NamespaceSystem {
		return false
	}
	if len(s.ExcludeNames) > 0 {
		return !slices.ContainsFunc(s.ExcludeNames, is)
	}
	return slices.ContainsFunc(s.MatchNames, is)
}

// coverageOf decides from the given objects alone.
func coverageOf(policies []selectingPolicy, pods []metav1.PartialObjectMetadata) *CoverageReport {
	out := &CoverageReport{APIVersion: APIVersion, Kind: "CoverageReport", Engines: []string{}, Pods: []PodCoverage{}}
	selected := map[string]*PodCoverage{}
	for _, p := range policies {
		for _, c := range p.coverage {
			if !slices.Contains(out.Engines, c.Engine) {
				out.Engines = append(out.Engines, c.Engine)
			}
		}
		if !addPolicy(selected, p, pods) {
			out.Idle = append(out.Idle, p.PolicyRef)
		}
	}
	for _, p := range selected {
		slices.SortFunc(p.Intents, func(a, b IntentCoverage) int {
			return cmp.Or(cmp.Compare(a.Intent, b.Intent), cmp.Compare(a.Policy, b.Policy))
		})
		out.Pods = append(out.Pods, *p)
	}
	slices.Sort(out.Engines)
	slices.SortFunc(out.Pods, func(a, b PodCoverage) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	return out
}

// addPolicy adds the coverage of a policy to the pods that it selects, and reports whether there are any.
func addPolicy(to map[string]*PodCoverage, p selectingPolicy, pods []metav1.PartialObjectMetadata) bool {
	found := false
	for i := range pods {
		pod := &pods[i]
		if !p.selects(pod) {
			continue
		}
		found = true
		key := pod.Namespace + "/" + pod.Name
		if to[key] == nil {
			to[key] = &PodCoverage{Namespace: pod.Namespace, Name: pod.Name}
		}
		to[key].Intents = append(to[key].Intents, p.intents()...)
	}
	return found
}

// intents groups the coverage of a policy by intent. An intent without a report of any engine is listed without engines.
func (p selectingPolicy) intents() []IntentCoverage {
	var out []IntentCoverage
	for _, rule := range p.rules {
		c := IntentCoverage{Intent: rule.ID, Policy: p.Name, Cluster: p.Namespace == "", Engines: []intentv1alpha1.Coverage{}}
		for _, e := range p.coverage {
			if e.Intent == rule.ID {
				c.Engines = append(c.Engines, e)
			}
		}
		out = append(out, c)
	}
	return out
}
