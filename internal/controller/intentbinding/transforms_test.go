// SPDX-License-Identifier: Apache-2.0

package intentbinding

import (
	"fmt"
	"strings"
	"testing"

	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/nexus-operator/nexus-operator/api/intent/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/apply"
)

func TestWithoutLongLabels_SelectsNoMoreThanBefore(t *testing.T) {
	long := strings.Repeat("x", 500<<10)
	b := &v1alpha1.SecurityIntentBinding{}
	b.Spec.Selector.MatchLabels = map[string]string{"app": "web", "long": long, long: "a"}
	b.Spec.Selector.WorkloadSelector = &v1alpha1.LabelSelector{MatchLabels: map[string]string{"long": long}}
	if _, err := WithoutLongLabels(b); err != nil || apply.SizeOf(b) > 1<<10 {
		t.Errorf("%d bytes are kept (%v)", apply.SizeOf(b), err)
	}
	s := b.Spec.Selector
	if len(s.MatchLabels) != 3 || s.MatchLabels["app"] != "web" || len(s.MatchLabels["long"]) != 64 || len(s.WorkloadSelector.MatchLabels["long"]) != 64 {
		t.Errorf("%v", s)
	}
}

func TestWithoutForeignRules_KeepsWhatIsIsolated(t *testing.T) {
	policy := func() *networkingv1.NetworkPolicy {
		np := &networkingv1.NetworkPolicy{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: "b"}}
		np.Spec.PodSelector.MatchLabels = map[string]string{"app": "web"}
		np.Spec.Egress = make([]networkingv1.NetworkPolicyEgressRule, 3000)
		for i := range np.Spec.Egress {
			np.Spec.Egress[i].To = []networkingv1.NetworkPolicyPeer{{IPBlock: &networkingv1.IPBlock{CIDR: fmt.Sprintf("2001:db8:%x::/48 of a long list", i)}}}
		}
		return np
	}
	foreign := policy()
	if _, err := WithoutForeignRules(foreign); err != nil || len(foreign.Spec.Egress) > 0 || len(foreign.Spec.PolicyTypes) != 2 || foreign.Spec.PodSelector.MatchLabels["app"] != "web" {
		t.Errorf("%+v (%v)", foreign.Spec, err)
	}
	derived := policy()
	derived.OwnerReferences = []metav1.OwnerReference{{APIVersion: v1alpha1.GroupVersion.String(), Kind: "NimbusPolicy", Name: "p", UID: "u", Controller: new(true)}}
	if _, err := WithoutForeignRules(derived); err != nil || len(derived.Spec.Egress) != 3000 {
		t.Errorf("the rules of a policy of a binding: %d (%v)", len(derived.Spec.Egress), err)
	}
	huge := policy()
	huge.Spec.PodSelector.MatchLabels["long"] = strings.Repeat("x", 100<<10)
	if _, err := WithoutForeignRules(huge); err != nil || apply.SizeOf(huge) > apply.LargeObject || len(huge.Spec.PodSelector.MatchLabels) > 0 {
		t.Errorf("%d bytes are kept (%v)", apply.SizeOf(huge), err)
	}
}
