// SPDX-License-Identifier: Apache-2.0

package controller_test

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	intentv1alpha1 "github.com/nexus-operator/nexus-operator/api/intent/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/testkit/enginecrds"
	"github.com/nexus-operator/nexus-operator/internal/testkit/extent"
	"github.com/nexus-operator/nexus-operator/internal/testkit/world"
)

func (h *home) messageOf(b *intentv1alpha1.SecurityIntentBinding, id, engine string) string {
	h.Helper()
	if err := h.c.Get(h.ctx(), client.ObjectKeyFromObject(b), b); err != nil {
		h.Fatal(err)
	}
	for _, c := range b.Status.Coverage {
		if c.Intent == id && c.Engine == engine {
			return c.Message
		}
	}
	return ""
}

func TestTheWayToTheDNSPodsRealPortsStaysOpen(t *testing.T) {
	extent.Full(t)
	h := start(t, "--cluster-dns-service=default/walk-dns")
	service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "walk-dns"}}
	service.Spec.Selector = map[string]string{"dns": "walk"}
	service.Spec.Ports = []corev1.ServicePort{
		{Name: "dns", Protocol: corev1.ProtocolUDP, Port: 53, TargetPort: intstr.FromInt32(5353)}, {Name: "metrics", Port: 9153},
	}
	h.make(service)
	ns := h.namespace(nil)
	b := h.binds(ns, "web", app, h.declared("dnsManipulation", intentv1alpha1.Block, nil))
	h.make(b)
	h.covers(b, "dnsManipulation", "NetworkPolicy", "Enforced", "")
	said := fmt.Sprint(h.there(networkPolicy, ns, "web-dnsmanipulation").Object["spec"])
	for _, part := range []string{"5353", "dns:walk", "kubernetes.io/metadata.name:default"} {
		if !strings.Contains(said, part) {
			t.Errorf("%q is not in %s", part, said)
		}
	}
	if strings.Contains(said, "9153") {
		t.Errorf("the port of metrics is open: %s", said)
	}
	if m := h.messageOf(b, "dnsManipulation", "NetworkPolicy"); !strings.Contains(m, "port [5353]") ||
		!strings.Contains(m, "default/walk-dns") {
		t.Errorf("the message is %q", m)
	}
}

func TestAMissingDNSServiceIsReported(t *testing.T) {
	h := start(t, "--cluster-dns-service=default/nothing")
	ns := h.namespace(nil)
	b := h.binds(ns, "web", app, h.declared("dnsManipulation", intentv1alpha1.Block, nil))
	h.make(b)
	if world.AutoMode() { // its nodes answer themselves
		h.covers(b, "dnsManipulation", "NetworkPolicy", "Enforced", "")
		return
	}
	h.covers(b, "dnsManipulation", "NetworkPolicy", "Partial", "DNSNotFound")
	if m := h.messageOf(b, "dnsManipulation", "NetworkPolicy"); !strings.Contains(m, "does not exist") ||
		!strings.Contains(m, "--cluster-dns-service") {
		t.Errorf("the message is %q", m)
	}
}

func TestVirtualPatchesAreReadFromTheConfigMap(t *testing.T) {
	extent.Full(t)
	h := start(t, "--virtual-patches=default/walk-patches")
	h.install(enginecrds.KubeArmor)
	c := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "walk-patches"}}
	c.Data = map[string]string{"patches.yaml": `{version: 1, patches: [{cve: CVE-2021-4034, references: ["https://nvd.nist.gov/vuln/detail/CVE-2021-4034"], processes: [{path: /usr/bin/pkexec}]}]}`}
	h.make(c)
	ns := h.namespace(nil)
	b := h.binds(ns, "web", app, h.declared("virtualPatch", intentv1alpha1.Block, intentv1alpha1.Params{"cveList": {"CVE-2021-4034"}}))
	h.make(b)
	h.covers(b, "virtualPatch", "KubeArmor", "Enforced", "")
	h.there(kubeArmorPolicy, ns, "web-virtualpatch-cve-2021-4034-process")
	h.shows(b, "Enforced", "True", "Enforced")
}

func TestWithoutACatalogNoVirtualPatchIsClaimed(t *testing.T) {
	extent.Full(t)
	h := start(t)
	h.install(enginecrds.KubeArmor)
	ns := h.namespace(nil)
	b := h.binds(ns, "web", app, h.declared("virtualPatch", intentv1alpha1.Block, intentv1alpha1.Params{"cveList": {"CVE-2021-4034"}}))
	h.make(b)
	h.covers(b, "virtualPatch", "KubeArmor", "None", "CatalogMissing")
	h.shows(b, "Enforced", "False", "NotEnforced")
}

// The API server prunes fields that a definition loses from its answers, and sends no watch event for it.
func TestClaims_FollowADefinitionThatLosesAField(t *testing.T) {
	extent.Full(t)
	h := start(t)
	h.install(enginecrds.KubeArmor)
	ns := h.namespace(nil)
	b := h.binds(ns, "web", app, h.declared("swDeploymentTools", intentv1alpha1.Block, nil))
	h.make(b)
	h.covers(b, "swDeploymentTools", "KubeArmor", "Enforced", "")
	definition := &unstructured.Unstructured{}
	definition.SetGroupVersionKind(schema.GroupVersionKind{Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition"})
	edit := func(edit func(version map[string]any)) {
		h.Helper()
		if err := h.c.Get(h.ctx(), client.ObjectKey{Name: "kubearmorpolicies.security.kubearmor.com"}, definition); err != nil {
			h.Fatal(err)
		}
		was := definition.DeepCopy()
		versions, _, _ := unstructured.NestedSlice(definition.Object, "spec", "versions")
		for _, v := range versions {
			edit(v.(map[string]any))
		}
		_ = unstructured.SetNestedSlice(definition.Object, versions, "spec", "versions")
		if err := h.c.Patch(h.ctx(), definition, client.MergeFrom(was)); err != nil {
			h.Fatal(err)
		}
	}
	field := []string{"schema", "openAPIV3Schema", "properties", "spec", "properties", "process", "properties", "matchPaths"}
	var lost any
	edit(func(version map[string]any) {
		lost, _, _ = unstructured.NestedFieldCopy(version, field...)
		unstructured.RemoveNestedField(version, field...)
	})
	h.covers(b, "swDeploymentTools", "KubeArmor", "None", "InvalidSpec")
	edit(func(version map[string]any) { _ = unstructured.SetNestedField(version, lost, field...) })
	h.covers(b, "swDeploymentTools", "KubeArmor", "Enforced", "")
}
