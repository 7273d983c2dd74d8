// SPDX-License-Identifier: Apache-2.0

package intent_test

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/nexus-operator/nexus-operator/api/intent/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/intent"
)

func policyKind() schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: "security.example.com", Version: "v1", Kind: "Policy"}
}

func TestAnObjectHasTheNameThatUsersKnow(t *testing.T) {
	r := intent.Rule{ID: "escapeToHost"}
	for suffix, want := range map[string]string{"": "web-escapetohost", "disallowchroot": "web-escapetohost-disallowchroot"} {
		u := intent.NewObject("KubeArmor", policyKind(), intent.Policy{Name: "web", Namespace: "shop"}, r, suffix)
		equal(t, "the object", u.Object, map[string]any{
			"apiVersion": "security.example.com/v1", "kind": "Policy",
			"metadata": map[string]any{
				"name": want, "namespace": "shop",
				"labels":      map[string]any{"intent.security.nimbus.com/rule": "escapeToHost"},
				"annotations": map[string]any{"app.kubernetes.io/managed-by": "nimbus-kubearmor"},
			},
		})
	}
}

func TestAnObjectOfAPolicyOverTheClusterHasNoNamespace(t *testing.T) {
	u := intent.NewObject("Kyverno", policyKind(), intent.Policy{Name: "all"}, intent.Rule{ID: "cocoWorkload"}, "")
	if _, has := u.Object["metadata"].(map[string]any)["namespace"]; has || u.GetName() != "all-cocoworkload" {
		t.Errorf("the object is %v", u.Object)
	}
}

func TestANameOfAnObjectThatIsTooLongIsCutAndStaysUniqueAndValid(t *testing.T) {
	seen := map[string]bool{}
	for at := 220; at < 250; at++ {
		for _, suffix := range []string{"a", "b"} {
			p := intent.Policy{Name: strings.Repeat("x", at) + "." + strings.Repeat("y", 252-at)}
			name := intent.NewObject("E", policyKind(), p, intent.Rule{ID: "dnsManipulation"}, suffix).GetName()
			if problems := validation.IsDNS1123Subdomain(name); len(problems) > 0 || seen[name] {
				t.Errorf("%s is there twice, or: %v", name, problems)
			}
			seen[name] = true
		}
	}
}

func TestANameThatJustFitsIsKept(t *testing.T) {
	name := strings.Repeat("x", 253-len("-pkgmgrs"))
	if got := intent.NewObject("E", policyKind(), intent.Policy{Name: name}, intent.Rule{ID: "pkgMgrs"}, "").GetName(); got != name+
		"-pkgmgrs" {
		t.Errorf("it became %s", got)
	}
}

func TestClaimsSayHowFarAnEngineGoes(t *testing.T) {
	block, audit := intent.Rule{ID: "pkgMgrs", Action: v1alpha1.Block}, intent.Rule{ID: "pkgMgrs", Action: v1alpha1.Audit}
	for _, tc := range []struct{ got, want intent.Claim }{
		{intent.Enforces(block), intent.Claim{Intent: "pkgMgrs", Level: v1alpha1.LevelEnforced}},
		{intent.Enforces(audit), intent.Claim{Intent: "pkgMgrs", Level: v1alpha1.LevelAudited}},
		{intent.Partly(block, "R", "m"), intent.Claim{Intent: "pkgMgrs", Level: v1alpha1.LevelPartial, Reason: "R", Message: "m"}},
		{intent.Not(block, "R", "m"), intent.Claim{Intent: "pkgMgrs", Level: v1alpha1.LevelNone, Reason: "R", Message: "m"}},
	} {
		equal(t, "the claim", tc.got, tc.want)
	}
}
