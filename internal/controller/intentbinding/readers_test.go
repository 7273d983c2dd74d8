// SPDX-License-Identifier: Apache-2.0

package intentbinding

import (
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/nexus-operator/nexus-operator/api/intent/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/intent"
	"github.com/nexus-operator/nexus-operator/internal/intentfacts"
	"github.com/nexus-operator/nexus-operator/internal/options"
)

func dnsService(target intstr.IntOrString) *corev1.Service {
	s := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "dns", Name: "resolver"}}
	s.Spec.Selector = map[string]string{"app": "resolver"}
	s.Spec.Ports = []corev1.ServicePort{{Name: "udp", Port: 53, TargetPort: target}, {Name: "tcp", Port: 53, TargetPort: target}, {Name: "metrics", Port: 9153, TargetPort: intstr.FromInt32(9153)}}
	return s
}

func TestClusterFacts_AreReadOnceAMinute(t *testing.T) {
	b := newBedOf(t, options.Options{Intents: options.Intents{ClusterDNSService: "dns/resolver"}}, dnsService(intstr.FromInt32(8053)))
	b.api.Fail("live get Service dns/resolver", errOutage)
	for range 2 { // a failure is not remembered
		if _, err := b.cluster.read(t.Context()); err == nil || !strings.Contains(err.Error(), "Service dns/resolver") {
			t.Errorf("got %v", err)
		}
	}
	b.api.Fail("live get Service dns/resolver", nil)
	b.api.Calls()
	for _, c := range []struct {
		after time.Duration
		asked int
	}{{0, 1}, {59 * time.Second, 0}, {time.Minute, 1}} {
		b.clock.SetTime(start.Add(c.after))
		if got, err := b.cluster.read(t.Context()); err != nil || got.DNS.Namespace != "dns" {
			t.Errorf("%+v %v", got, err)
		}
		if got := b.api.Calls("live get Service dns/resolver"); len(got) != c.asked {
			t.Errorf("after %v: asked %q", c.after, got)
		}
	}
	b.clock.SetTime(start.Add(3 * time.Minute))
	b.api.Fail("live get Service dns/resolver", errOutage)
	if got, err := b.cluster.read(t.Context()); err == nil || got.DNS.Namespace != "dns" {
		t.Errorf("what was known last is lost: %+v %v", got, err)
	}
}

func TestReconcile_OpensThePortsOfTheClusterDNS(t *testing.T) {
	web := bindingTo("web", "dnsmanipulation")
	b := newBedOf(t, options.Options{Intents: options.Intents{ClusterDNSService: "dns/resolver"}},
		web, intentOf("dnsManipulation", "Block", nil), dnsService(intstr.FromInt32(8053)))
	b.passed(web)
	text, err := b.there(networkPolicy, team, "web-dnsmanipulation").MarshalJSON()
	if err != nil || !strings.Contains(string(text), "8053") || !strings.Contains(string(text), `"resolver"`) {
		t.Errorf("%s %v", text, err)
	}
}

func catalogOf(text string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "ops", Name: "patches"}, Data: map[string]string{intentfacts.PatchesKey: text}}
}

func TestVirtualPatches_SayWhatTheirCatalogLacks(t *testing.T) {
	for _, c := range []struct {
		name, flag   string
		config       *corev1.ConfigMap
		reason, text string
	}{
		{"no flag", "", nil, intent.ReasonCatalogMissing, "--virtual-patches=namespace/configmap"},
		{"no ConfigMap", "ops/patches", nil, intent.ReasonCatalogMissing, "ops/patches"},
		{"no entry", "ops/patches", catalogOf(""), intent.ReasonCatalogMissing, intentfacts.PatchesKey},
		{"not a catalog", "ops/patches", catalogOf("- {"), intent.ReasonCatalogInvalid, intentfacts.PatchesKey},
	} {
		b := newBedOf(t, options.Options{Intents: options.Intents{VirtualPatches: c.flag}})
		if c.config != nil {
			b.must(b.api.Store.Create(t.Context(), c.config))
		}
		got, err := b.patch.read(t.Context())
		if err != nil || got.Reason != c.reason || !strings.Contains(got.Problem, c.text) || got.Known != nil {
			t.Errorf("%s: %+v %v", c.name, got, err)
		}
	}
}

func TestReconcile_ReadsTheCatalogOfPatchesAgain(t *testing.T) {
	web := bindingTo("web", "virtualpatch")
	b := newBedOf(t, options.Options{Intents: options.Intents{VirtualPatches: "ops/patches"}},
		web, intentOf("virtualPatch", "Block", v1alpha1.Params{"cveList": {"CVE-2024-4439"}}), definition(kubeArmorPolicy))
	if res := b.passed(web); res.RequeueAfter != patchesEvery {
		t.Errorf("%+v: nothing watches the catalog", res)
	}
	b.covers(web, "virtualPatch", "KubeArmor", "None", intent.ReasonCatalogMissing)
	b.clock.SetTime(start.Add(time.Minute))
	b.api.Fail("live get ConfigMap", errOutage)
	if _, err := b.pass(web); err == nil || !strings.Contains(err.Error(), "catalog of virtual patches") {
		t.Errorf("got %v", err)
	}
	b.api.Fail("live get ConfigMap", nil)
	b.must(b.api.Store.Create(t.Context(), catalogOf("- {")))
	b.passed(web)
	b.covers(web, "virtualPatch", "KubeArmor", "None", intent.ReasonCatalogInvalid)
}

func TestReconcile_ReadsNoCatalogForOtherIntents(t *testing.T) {
	web := bindingTo("web", "dnsmanipulation")
	b := newBedOf(t, options.Options{Intents: options.Intents{VirtualPatches: "ops/patches"}}, web, intentOf("dnsManipulation", "Block", nil))
	b.passed(web)
	if got := b.api.Calls("live get ConfigMap"); len(got) != 0 {
		t.Errorf("asked %q", got)
	}
}

func TestReconcile_ClaimsWhatAutoModeEnforces(t *testing.T) {
	web := bindingTo("web", "dnsmanipulation")
	b := newBed(t, web, intentOf("dnsManipulation", "Block", nil))
	b.passed(web)
	b.covers(web, "dnsManipulation", "NetworkPolicy", "Enforced", "")
	// The cluster becomes one of Auto Mode, without CoreDNS and without the engine that enforced policies.
	for _, o := range usualCluster() {
		b.must(b.api.Store.Delete(t.Context(), o))
	}
	b.must(b.api.Store.Create(t.Context(), &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "kubernetes"}, Spec: corev1.ServiceSpec{ClusterIP: "10.100.0.1"}}))
	b.must(b.api.Store.Create(t.Context(), &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "auto", Labels: map[string]string{"eks.amazonaws.com/compute-type": "auto"}}}))
	b.clock.SetTime(start.Add(time.Minute))
	b.passed(web)
	b.covers(web, "dnsManipulation", "NetworkPolicy", "None", "NoEnforcer")
	text, err := b.there(networkPolicy, team, "web-dnsmanipulation").MarshalJSON()
	if err != nil || !strings.Contains(string(text), `"10.100.0.10/32"`) || !strings.Contains(string(text), "169.254.170.23/32") || strings.Contains(string(text), "kube-dns") {
		t.Errorf("%s %v", text, err)
	}
	b.must(b.api.Store.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "amazon-vpc-cni"}, Data: map[string]string{"enable-network-policy-controller": "true"}}))
	b.clock.SetTime(start.Add(2 * time.Minute))
	b.passed(web)
	b.covers(web, "dnsManipulation", "NetworkPolicy", "Enforced", "")
}

// A policy that restricts no network is no part of a namespace that is divided: its binding is enqueued all the same.
func TestReconcile_ClaimsFollowWhetherTheEngineRuns(t *testing.T) {
	web := bindingTo("web", "swdeploymenttools")
	b := newBed(t, web, intentOf("swDeploymentTools", "Block", nil), definition(kubeArmorPolicy))
	b.passed(web)
	b.covers(web, "swDeploymentTools", "KubeArmor", "Enforced", "")
	known := b.triggers().enqueueAfterChange(t.Context(), nil)
	b.enqueued("before anything has changed")
	agents := usualCluster()[2]
	after := func(minutes time.Duration) {
		t.Helper()
		b.clock.SetTime(start.Add(minutes * time.Minute))
		known = b.triggers().enqueueAfterChange(t.Context(), known)
	}
	after(1)
	b.enqueued("without a change")

	b.must(b.api.Store.Delete(t.Context(), agents))
	after(2)
	b.enqueued("after the agents are gone", requestOf(web))
	b.passed(web)
	b.covers(web, "swDeploymentTools", "KubeArmor", "None", "NoEnforcer")
	b.there(kubeArmorPolicy, team, "web-swdeploymenttools")

	agents.SetResourceVersion("")
	b.must(b.api.Store.Create(t.Context(), agents))
	after(3)
	b.enqueued("after they are back", requestOf(web))
	b.passed(web)
	b.covers(web, "swDeploymentTools", "KubeArmor", "Enforced", "")
}

// enqueued fails unless the requests are those that were enqueued since it was asked last.
func (b *bed) enqueued(when string, want ...reconcile.Request) {
	b.Helper()
	var got []reconcile.Request
	for len(b.neighborEvents) > 0 {
		got = append(got, requestOf((<-b.neighborEvents).Object))
	}
	if !slices.Equal(got, want) {
		b.Errorf("%s: enqueued %v, want %v", when, got, want)
	}
}
