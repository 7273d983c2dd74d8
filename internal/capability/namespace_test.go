// SPDX-License-Identifier: Apache-2.0

package capability_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/capability"
)

func TestIsSystemNamespace(t *testing.T) {
	for name, want := range map[string]bool{
		"default": true, "kube-system": true, "kube-anything": true, "istio-system": true, "cert-manager": true, "gatekeeper-system": true,
		"kyverno": true, "kubearmor": true, "flux-system": true, "argocd": true, "amazon-cloudwatch": true, "aws-observability": true,
		"ingress-nginx": true, "monitoring": true, "nexus-system": true,
		"myapp-dev": false, "kubernetes-dev": false, "systematic-dev": false, "monitoring-dev": false, "default-dev": false, "manager-cert": false,
	} {
		if got := capability.IsSystemNamespace(name); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestQuota_OnlyInANamespaceMadeForTheWorkloads(t *testing.T) {
	f := facts()
	f.Limits.NamespaceQuota = corev1.ResourceList{corev1.ResourcePods: resource.MustParse("20")}
	if own := ofKind(compile(t, minimal(), f), "ResourceQuota"); len(own) > 0 {
		t.Errorf("the capability's own namespace gets %v", own)
	}
	apart := minimal(func(c *nexusv1.NexusAICapability) { c.Namespace = "team-a" })
	if without := ofKind(compile(t, apart, facts()), "ResourceQuota"); len(without) > 0 {
		t.Errorf("without a quota there is %v", without)
	}
	g := compile(t, apart, f)
	quotas := ofKind(g, "ResourceQuota")
	if len(quotas) != 1 || quotas[0].GetNamespace() != "myapp-dev" || at(t, quotas[0], "spec", "hard", "pods") != "20" {
		t.Fatalf("%v", quotas)
	}
	// The API server admits pods without limit until the quota exists.
	for _, n := range g.Nodes() {
		if n.Object.GetKind() != "Deployment" {
			continue
		}
		waits := false
		for _, e := range n.After {
			waits = waits || e.To == "ResourceQuota/myapp-dev/myapp-dev-quota"
		}
		if !waits {
			t.Errorf("%s does not wait for the quota: %v", n.ID, n.After)
		}
	}
}

func TestDefaultBoundary_IsThatOfTheGeneratedProvider(t *testing.T) {
	f := facts()
	f.Limits.DefaultBoundary, f.Provider.Boundary = boundary, boundary
	c := minimal()
	g := compile(t, c, f)
	if p := ofKind(g, "AWSProvider"); len(p) != 1 || at(t, p[0], "spec", "permissionsBoundaryARN") != boundary {
		t.Errorf("%v", p)
	}
	for _, role := range ofKind(g, "IAMRole") {
		if at(t, role, "spec", "permissionsBoundary") != boundary {
			t.Errorf("%s is bounded by %v", role.GetName(), at(t, role, "spec", "permissionsBoundary"))
		}
	}
}
