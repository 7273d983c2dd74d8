// SPDX-License-Identifier: Apache-2.0

package intentfacts

import (
	"fmt"
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/nexus-operator/nexus-operator/api/intent/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/intent"
)

func TestOtherPolicies_SayWhichPodsTheyIsolate(t *testing.T) {
	for name, tc := range map[string]struct {
		kind, text string
		want       []intent.OtherPolicy
	}{
		"egress": {"CiliumNetworkPolicy", `spec: {endpointSelector: {matchLabels: {app: web, "k8s:tier": front, "k8s:io.kubernetes.pod.namespace": shop}}, egress: [{}]}`,
			[]intent.OtherPolicy{{Selector: intent.Selector{Labels: map[string]string{"app": "web", "tier": "front"}}, Isolates: intent.Egress}}},
		"denials":            {"CiliumNetworkPolicy", `spec: {endpointSelector: {}, ingressDeny: [{fromEntities: [world]}]}`, []intent.OtherPolicy{{Isolates: intent.Ingress}}},
		"additions":          {"CiliumNetworkPolicy", `spec: {endpointSelector: {}, enableDefaultDeny: {egress: false}, egress: [{toEntities: [all]}]}`, []intent.OtherPolicy{{Opens: intent.Egress}}},
		"denials that add":   {"CiliumNetworkPolicy", `spec: {endpointSelector: {}, enableDefaultDeny: {egress: false}, egressDeny: [{toEntities: [world]}]}`, nil},
		"nothing but denial": {"CiliumNetworkPolicy", `spec: {endpointSelector: {}, enableDefaultDeny: {egress: true}}`, []intent.OtherPolicy{{Isolates: intent.Egress}}},
		"nodes":              {"CiliumNetworkPolicy", `spec: {nodeSelector: {}, egress: [{}]}`, nil},
		"several rules": {"CiliumNetworkPolicy", `specs: [{endpointSelector: {matchLabels: {"io.kubernetes.pod.namespace": shop}}, egress: [{}]}, {endpointSelector: {matchExpressions: [{key: "k8s:app", operator: Exists}, {key: "k8s:io.cilium.k8s.namespace.labels.team", operator: Exists}]}, ingress: [{}]}]`,
			[]intent.OtherPolicy{
				{Isolates: intent.Egress},
				{Selector: intent.Selector{Expressions: []metav1.LabelSelectorRequirement{{Key: "app", Operator: metav1.LabelSelectorOpExists}}}, Isolates: intent.Ingress},
			}},
		"names": {"ApplicationNetworkPolicy", `spec: {podSelector: {matchLabels: {app: web}}, policyTypes: [Egress], egress: [{to: [{domainNames: [example.com]}]}]}`,
			[]intent.OtherPolicy{{Selector: intent.Selector{Labels: map[string]string{"app": "web"}}, Isolates: intent.Egress}}},
		"names without types": {"ApplicationNetworkPolicy", `spec: {podSelector: {}, egress: [{}]}`, []intent.OtherPolicy{{Isolates: intent.Ingress | intent.Egress}}},
	} {
		u := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte(tc.text), &u.Object); err != nil {
			t.Fatal(err)
		}
		i := slices.IndexFunc(otherKinds(), func(k schema.GroupVersionKind) bool { return k.Kind == tc.kind })
		u.SetGroupVersionKind(otherKinds()[i])
		u.SetName("theirs")
		got := otherPolicies(u)
		for i := range tc.want {
			tc.want[i].Kind, tc.want[i].Name = tc.kind, "theirs"
		}
		if fmt.Sprint(got) != fmt.Sprint(tc.want) || !slices.EqualFunc(got, tc.want, func(a, b intent.OtherPolicy) bool {
			return a.Namespace == b.Namespace && a.Isolates == b.Isolates && a.Opens == b.Opens && fmt.Sprint(a.Selector) == fmt.Sprint(b.Selector)
		}) {
			t.Errorf("%s: %+v, want %+v", name, got, tc.want)
		}
	}
}

func TestReadCluster_LeavesOutPoliciesOfIntents(t *testing.T) {
	policyOf := func(name string, owner string) *unstructured.Unstructured {
		u := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"endpointSelector": map[string]any{}, "egress": []any{map[string]any{}}}}}
		u.SetGroupVersionKind(otherKinds()[0])
		u.SetNamespace("shop")
		u.SetName(name)
		if owner != "" {
			yes := true
			u.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: v1alpha1.GroupVersion.String(), Kind: "NimbusPolicy", Name: owner, UID: "1", Controller: &yes}})
		}
		return u
	}
	got, err := ReadCluster(t.Context(), api(t, policyOf("ours", "web"), policyOf("theirs", "")), Settings{DNSService: "kube-system/kube-dns"})
	if err != nil || len(got.Others) != 1 || got.Others[0].Name != "theirs" {
		t.Fatalf("%+v, %v", got.Others, err)
	}
	var here, elsewhere intent.Facts
	got.AddTo(&here, "shop")
	got.AddTo(&elsewhere, "blog")
	if len(here.OtherPolicies) != 1 || len(elsewhere.OtherPolicies) != 0 {
		t.Errorf("%+v in its namespace, %+v in another", here.OtherPolicies, elsewhere.OtherPolicies)
	}
}
