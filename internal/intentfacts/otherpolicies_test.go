// SPDX-License-Identifier: Apache-2.0

package intentfacts

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/yaml"

	"github.com/nexus-operator/nexus-operator/api/intent/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/intent"
)

func TestOtherPolicies_SayWhichPodsTheyIsolate(t *testing.T) {
	for name, tc := range map[string]struct {
		kind, text string
		want       []intent.OtherPolicy
	}{
		"egress": {"CiliumNetworkPolicy",
			`spec: {endpointSelector: {matchLabels: {app: web, "k8s:tier": front, "k8s:io.kubernetes.pod.namespace": shop}}, egress: [{}]}`,
			[]intent.OtherPolicy{{Selector: intent.Selector{Labels: map[string]string{"app": "web", "tier": "front"}}, Isolates: intent.Egress}}},
		"denials": {"CiliumNetworkPolicy", `spec: {endpointSelector: {}, ingressDeny: [{fromEntities: [world]}]}`,
			[]intent.OtherPolicy{{Isolates: intent.Ingress}}},
		"additions": {"CiliumNetworkPolicy",
			`spec: {endpointSelector: {}, enableDefaultDeny: {egress: false}, egress: [{toEntities: [all]}]}`,
			[]intent.OtherPolicy{{Opens: intent.Egress}}},
		"denials that add": {"CiliumNetworkPolicy",
			`spec: {endpointSelector: {}, enableDefaultDeny: {egress: false}, egressDeny: [{toEntities: [world]}]}`, nil},
		"nothing but denial": {"CiliumNetworkPolicy", `spec: {endpointSelector: {}, enableDefaultDeny: {egress: true}}`,
			[]intent.OtherPolicy{{Isolates: intent.Egress}}},
		"nodes": {"CiliumNetworkPolicy", `spec: {nodeSelector: {}, egress: [{}]}`, nil},
		"several rules": {"CiliumNetworkPolicy",
			`specs: [{endpointSelector: {matchLabels: {"io.kubernetes.pod.namespace": shop}}, egress: [{}]}, {endpointSelector: {matchExpressions: [{key: "k8s:app", operator: Exists}, {key: "k8s:io.cilium.k8s.namespace.labels.team", operator: Exists}]}, ingress: [{}]}]`,
			[]intent.OtherPolicy{
				{Isolates: intent.Egress},
				{Selector: intent.Selector{Expressions: []metav1.LabelSelectorRequirement{{Key: "app", Operator: metav1.LabelSelectorOpExists}}},
					Isolates: intent.Ingress},
			}},
		"names": {"ApplicationNetworkPolicy",
			`spec: {podSelector: {matchLabels: {app: web}}, policyTypes: [Egress], egress: [{to: [{domainNames: [example.com]}]}]}`,
			[]intent.OtherPolicy{{Selector: intent.Selector{Labels: map[string]string{"app": "web"}}, Isolates: intent.Egress}}},
		"reserved endpoints": {"CiliumClusterwideNetworkPolicy",
			`spec: {endpointSelector: {matchLabels: {"reserved:ingress": ""}}, egress: [{}]}`, nil},
		"pods of the cluster": {"CiliumClusterwideNetworkPolicy",
			`spec: {endpointSelector: {matchExpressions: [{key: "reserved:health", operator: DoesNotExist}]}, ingress: [{}]}`,
			[]intent.OtherPolicy{{Isolates: intent.Ingress}}},
		"an administrator": {"AdminNetworkPolicy",
			`spec: {subject: {pods: {podSelector: {matchLabels: {app: web}}}}, ingress: [{action: Deny}, {action: Pass}], egress: [{action: Deny}, {action: Allow}]}`,
			[]intent.OtherPolicy{{Selector: intent.Selector{Labels: map[string]string{"app": "web"}}, Opens: intent.Egress}}},
		"a baseline": {"BaselineAdminNetworkPolicy",
			`spec: {subject: {namespaces: {}}, ingress: [{action: Deny}], egress: [{action: Allow}]}`,
			[]intent.OtherPolicy{{Isolates: intent.Ingress}}},
		"the tier Admin": {"ClusterNetworkPolicy",
			`spec: {tier: Admin, subject: {namespaces: {}}, ingress: [{action: Deny}], egress: [{action: Accept}]}`,
			[]intent.OtherPolicy{{Opens: intent.Egress}}},
		"the tier Baseline": {"ClusterNetworkPolicy",
			`spec: {tier: Baseline, subject: {namespaces: {}}, ingress: [{action: Accept}], egress: [{action: Deny}]}`,
			[]intent.OtherPolicy{{Isolates: intent.Egress}}},
		"names without types": {"ApplicationNetworkPolicy", `spec: {podSelector: {}, egress: [{}]}`,
			[]intent.OtherPolicy{{Isolates: intent.Ingress | intent.Egress}}},
	} {
		u := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte(tc.text), &u.Object); err != nil {
			t.Fatal(err)
		}
		i := slices.IndexFunc(OtherPolicyKinds(), func(k schema.GroupVersionKind) bool { return k.Kind == tc.kind })
		u.SetGroupVersionKind(OtherPolicyKinds()[i])
		u.SetName("theirs")
		got := otherPolicies(u)
		for i := range tc.want {
			tc.want[i].Kind, tc.want[i].Name = tc.kind, "theirs"
		}
		if !slices.EqualFunc(got, tc.want, func(a otherPolicy, b intent.OtherPolicy) bool {
			return a.Namespace == b.Namespace && a.Isolates == b.Isolates && a.Opens == b.Opens && fmt.Sprint(a.Selector) == fmt.Sprint(b.Selector)
		}) {
			t.Errorf("%s: %+v, want %+v", name, got, tc.want)
		}
	}
}

func TestReadCluster_LeavesOutPoliciesOfIntents(t *testing.T) {
	policyOf := func(name string, owner string) *unstructured.Unstructured {
		u := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"endpointSelector": map[string]any{},
			"egress": []any{map[string]any{}}}}}
		u.SetGroupVersionKind(OtherPolicyKinds()[0])
		u.SetNamespace("shop")
		u.SetName(name)
		if owner != "" {
			yes := true
			u.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: v1alpha1.GroupVersion.String(), Kind: "NimbusPolicy", Name: owner, UID: "1",
				Controller: &yes}})
		}
		return u
	}
	got, err := ReadCluster(t.Context(), api(t, policyOf("ours", "web"), policyOf("theirs", "")), Settings{DNSService: "kube-system/kube-dns"})
	if err != nil || len(got.others) != 1 || got.others[0].Name != "theirs" {
		t.Fatalf("%+v, %v", got.others, err)
	}
	var here, elsewhere intent.Facts
	got.AddTo(&here, "shop")
	got.AddTo(&elsewhere, "blog")
	if len(here.OtherPolicies) != 1 || len(elsewhere.OtherPolicies) != 0 {
		t.Errorf("%+v in its namespace, %+v in another", here.OtherPolicies, elsewhere.OtherPolicies)
	}
}

func TestOtherPolicies_SelectNamespaces(t *testing.T) {
	labels := map[string]string{"kubernetes.io/metadata.name": "shop", "team": "web"}
	for name, tc := range map[string]struct {
		kind, spec string
		want       bool
	}{
		"Cilium over all": {"CiliumClusterwideNetworkPolicy", `{endpointSelector: {}, egress: [{}]}`, true},
		"Cilium by name": {"CiliumClusterwideNetworkPolicy",
			`{endpointSelector: {matchLabels: {"k8s:io.kubernetes.pod.namespace": shop}}, egress: [{}]}`, true},
		"Cilium by another name": {"CiliumClusterwideNetworkPolicy",
			`{endpointSelector: {matchLabels: {"io.kubernetes.pod.namespace": blog}}, egress: [{}]}`, false},
		"Cilium by names": {"CiliumClusterwideNetworkPolicy",
			`{endpointSelector: {matchExpressions: [{key: "k8s:io.kubernetes.pod.namespace", operator: NotIn, values: [shop]}]}, egress: [{}]}`,
			false},
		"Cilium by a label": {"CiliumClusterwideNetworkPolicy",
			`{endpointSelector: {matchLabels: {"k8s:io.cilium.k8s.namespace.labels.team": web}}, egress: [{}]}`, true},
		"Cilium by another label": {"CiliumClusterwideNetworkPolicy",
			`{endpointSelector: {matchLabels: {"io.cilium.k8s.namespace.labels.team": api}}, egress: [{}]}`, false},
		"an administrator": {"AdminNetworkPolicy",
			`{subject: {namespaces: {matchLabels: {team: web}}}, egress: [{action: Allow}]}`, true},
		"an administrator, elsewhere": {"AdminNetworkPolicy",
			`{subject: {namespaces: {matchLabels: {team: api}}}, egress: [{action: Allow}]}`, false},
		"an administrator, pods": {"ClusterNetworkPolicy",
			`{tier: Admin, subject: {pods: {namespaceSelector: {matchLabels: {team: web}}, podSelector: {}}}, egress: [{action: Accept}]}`, true},
		"an administrator, pods there": {"ClusterNetworkPolicy",
			`{tier: Admin, subject: {pods: {namespaceSelector: {matchLabels: {team: api}}, podSelector: {}}}, egress: [{action: Accept}]}`, false},
		"a selector that cannot be read": {"AdminNetworkPolicy",
			`{subject: {namespaces: {matchExpressions: [{key: team, operator: Like}]}}, egress: [{action: Allow}]}`, true},
		"a baseline of another namespace": {"BaselineAdminNetworkPolicy",
			`{subject: {namespaces: {matchExpressions: [{key: team, operator: DoesNotExist}]}}, egress: [{action: Deny}]}`, false},
	} {
		u := &unstructured.Unstructured{Object: map[string]any{}}
		var spec map[string]any
		if err := yaml.Unmarshal([]byte(tc.spec), &spec); err != nil {
			t.Fatal(err)
		}
		u.Object["spec"] = spec
		i := slices.IndexFunc(OtherPolicyKinds(), func(k schema.GroupVersionKind) bool { return k.Kind == tc.kind })
		u.SetGroupVersionKind(OtherPolicyKinds()[i])
		got := otherPolicies(u)
		if len(got) != 1 || got[0].selects("shop", labels) != tc.want {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func TestReadCluster_CountsAPolicyOnceInAllVersions(t *testing.T) {
	for _, version := range []string{"v1alpha2", "v1"} {
		u := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"tier": "Admin",
			"egress": []any{map[string]any{"action": "Accept"}}}}}
		u.SetGroupVersionKind(schema.GroupVersionKind{Group: "policy.networking.k8s.io", Version: version, Kind: "ClusterNetworkPolicy"})
		u.SetName("open")
		served := interceptor.NewClient(api(t, u).Store,
			interceptor.Funcs{List: func(ctx context.Context, c client.WithWatch, l client.ObjectList, opts ...client.ListOption) error {
				if kind := l.GetObjectKind().GroupVersionKind(); kind.Group == "policy.networking.k8s.io" && kind.Version != version {
					return &meta.NoKindMatchError{GroupKind: kind.GroupKind(), SearchedVersions: []string{kind.Version}}
				}
				return c.List(ctx, l, opts...)
			}})
		got, err := ReadCluster(t.Context(), served, Settings{DNSService: "kube-system/kube-dns"})
		if err != nil || len(got.others) != 1 {
			t.Errorf("%s: %+v, %v", version, got.others, err)
		}
	}
}

// Tenants may create many policies of a mebibyte.
func TestReadCluster_ListsOtherPoliciesByPages(t *testing.T) {
	kind, pages := OtherPolicyKinds()[0], 0
	live := interceptor.NewClient(api(t).Store,
		interceptor.Funcs{List: func(ctx context.Context, c client.WithWatch, l client.ObjectList, opts ...client.ListOption) error {
			list, ok := l.(*unstructured.UnstructuredList)
			if !ok || list.GetKind() != kind.Kind+"List" {
				return c.List(ctx, l, opts...)
			}
			asked := (&client.ListOptions{}).ApplyOptions(opts)
			if pages++; asked.Limit == 0 || asked.Limit > 100 || asked.Continue != []string{"", "next"}[min(pages, 2)-1] {
				t.Errorf("page %d: %+v", pages, asked)
			}
			u := unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"endpointSelector": map[string]any{},
				"egress": []any{map[string]any{}}}}}
			u.SetGroupVersionKind(kind)
			u.SetNamespace("shop")
			u.SetName(fmt.Sprintf("of-page-%d", pages))
			if list.Items = []unstructured.Unstructured{u}; pages == 1 {
				list.SetContinue("next")
			}
			return nil
		}})
	got, err := ReadCluster(t.Context(), live, Settings{DNSService: "kube-system/kube-dns"})
	if err != nil || len(got.others) != 2 || pages != 2 {
		t.Errorf("%+v after %d pages, %v", got.others, pages, err)
	}
}
