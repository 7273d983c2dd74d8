// SPDX-License-Identifier: Apache-2.0

package inspect

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"

	intentv1alpha1 "github.com/nexus-operator/nexus-operator/api/intent/v1alpha1"
)

// CoverageReport says for each pod what each policy engine does for the security intents that select it.
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
	Namespace string `json:"namespace"`
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
	// Policy is the name of the NimbusPolicy.
	Policy string `json:"policy"`
	// Engines lists what each engine reports.
	Engines []intentv1alpha1.Coverage `json:"engines"`
}

// Coverage reads the policies and the names and labels of the pods of a namespace, or of all namespaces when it is empty. Only pods that
// a policy selects are in the report.
func (r *Reader) Coverage(ctx context.Context, namespace string) (*CoverageReport, error) {
	policies := &intentv1alpha1.NimbusPolicyList{}
	if err := r.Client.List(ctx, policies, client.InNamespace(namespace)); err != nil {
		return nil, fmt.Errorf("listing NimbusPolicy objects: %w", err)
	}
	pods := &metav1.PartialObjectMetadataList{}
	pods.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("PodList"))
	if err := r.Client.List(ctx, pods, client.InNamespace(namespace)); err != nil {
		return nil, fmt.Errorf("listing pods: %w", err)
	}
	return coverageOf(policies.Items, pods.Items)
}

// coverageOf decides from what was read alone.
func coverageOf(policies []intentv1alpha1.NimbusPolicy, pods []metav1.PartialObjectMetadata) (*CoverageReport, error) {
	out := &CoverageReport{APIVersion: APIVersion, Kind: "CoverageReport", Engines: []string{}, Pods: []PodCoverage{}}
	selected := map[string]*PodCoverage{}
	for _, p := range policies {
		for _, c := range p.Status.Coverage {
			if !slices.Contains(out.Engines, c.Engine) {
				out.Engines = append(out.Engines, c.Engine)
			}
		}
		selector, err := metav1.LabelSelectorAsSelector(&metav1.LabelSelector{MatchLabels: p.Spec.Selector.MatchLabels, MatchExpressions: p.Spec.Selector.MatchExpressions})
		if err != nil {
			return nil, fmt.Errorf("spec.selector of NimbusPolicy %s/%s: %w", p.Namespace, p.Name, err)
		}
		if !addPolicy(selected, p, selector, pods) {
			out.Idle = append(out.Idle, PolicyRef{Namespace: p.Namespace, Name: p.Name})
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
	return out, nil
}

// addPolicy adds the coverage of a policy to the pods that it selects, and reports whether there are any.
func addPolicy(to map[string]*PodCoverage, p intentv1alpha1.NimbusPolicy, selector labels.Selector, pods []metav1.PartialObjectMetadata) bool {
	found := false
	for i := range pods {
		pod := &pods[i]
		if pod.Namespace != p.Namespace || !selector.Matches(labels.Set(pod.Labels)) {
			continue
		}
		found = true
		key := pod.Namespace + "/" + pod.Name
		if to[key] == nil {
			to[key] = &PodCoverage{Namespace: pod.Namespace, Name: pod.Name}
		}
		to[key].Intents = append(to[key].Intents, intentsOf(p)...)
	}
	return found
}

// intentsOf groups the coverage of a policy by intent. An intent of which no engine has reported is listed without engines.
func intentsOf(p intentv1alpha1.NimbusPolicy) []IntentCoverage {
	var out []IntentCoverage
	for _, rule := range p.Spec.Rules {
		c := IntentCoverage{Intent: rule.ID, Policy: p.Name, Engines: []intentv1alpha1.Coverage{}}
		for _, e := range p.Status.Coverage {
			if e.Intent == rule.ID {
				c.Engines = append(c.Engines, e)
			}
		}
		out = append(out, c)
	}
	return out
}
