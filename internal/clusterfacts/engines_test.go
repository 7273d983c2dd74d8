// SPDX-License-Identifier: Apache-2.0

package clusterfacts_test

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/nexus-operator/nexus-operator/internal/clusterfacts"
)

// agentsIn is the DaemonSet of KubeArmor's agents in a namespace.
func agentsIn(namespace string, scheduled, ready int32) *appsv1.DaemonSet {
	d := &appsv1.DaemonSet{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "kubearmor-bpf-containerd-98c2c"},
		Status: appsv1.DaemonSetStatus{DesiredNumberScheduled: scheduled, NumberReady: ready}}
	d.Spec.Template.Labels = map[string]string{"kubearmor-app": "kubearmor"}
	return d
}

// leadsTo is a client configuration that leads to a Service.
func leadsTo(namespace, name string) admissionregistrationv1.WebhookClientConfig {
	return admissionregistrationv1.WebhookClientConfig{Service: &admissionregistrationv1.ServiceReference{Namespace: namespace, Name: name}}
}

func validating(name string, c admissionregistrationv1.WebhookClientConfig) client.Object {
	return &admissionregistrationv1.ValidatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: name},
		Webhooks: []admissionregistrationv1.ValidatingWebhook{{Name: "w", ClientConfig: c}}}
}

func mutating(name string, c admissionregistrationv1.WebhookClientConfig) client.Object {
	return &admissionregistrationv1.MutatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: name},
		Webhooks: []admissionregistrationv1.MutatingWebhook{{Name: "w", ClientConfig: c}}}
}

func TestRead_TellsWhichEnginesRun(t *testing.T) {
	url := admissionregistrationv1.WebhookClientConfig{URL: new("https://istiod.example.com/validate")}
	kyverno, istiod := service("kyverno", "kyverno-svc", nil, nil), service("istio-system", "istiod", nil, nil)
	for name, tc := range map[string]struct {
		objects []client.Object
		runs    []string
	}{
		"nothing but their kinds": {nil, nil},
		"all, as they are installed": {[]client.Object{agentsIn("kubearmor", 1, 1),
			validating("kyverno-policy-validating-webhook-cfg", leadsTo("kyverno", "kyverno-svc")), kyverno,
			mutating("istio-sidecar-injector", leadsTo("istio-system", "istiod")), istiod}, []string{"Istio", "KubeArmor", "Kyverno"}},
		"KubeArmor, by karmor install":    {[]client.Object{agentsIn("kube-system", 2, 1)}, []string{"KubeArmor"}},
		"KubeArmor without a ready agent": {[]client.Object{agentsIn("kubearmor", 1, 0)}, nil},
		"KubeArmor on no node":            {[]client.Object{agentsIn("kubearmor", 0, 0)}, nil},
		"KubeArmor where its webhook leads": {[]client.Object{agentsIn("security", 1, 1),
			mutating("kubearmor-controller-mutating-webhook-configuration", leadsTo("security", "kubearmor-controller-webhook-service"))},
			[]string{"KubeArmor"}},
		"a tenant's DaemonSet by the same label": {[]client.Object{agentsIn("team-a", 1, 1)}, nil},
		"Kyverno whose namespace was deleted": {[]client.Object{validating("kyverno-resource-validating-webhook-cfg",
			leadsTo("kyverno", "kyverno-svc"))}, nil},
		"Kyverno that only changes objects": {[]client.Object{mutating("kyverno-resource-mutating-webhook-cfg",
			leadsTo("kyverno", "kyverno-svc")), kyverno}, []string{"Kyverno"}},
		"a control plane of Istio elsewhere": {[]client.Object{validating("istio-validator-istio-system", url)}, []string{"Istio"}},
		"Istio's base chart alone": {[]client.Object{validating("istiod-default-validator",
			leadsTo("istio-system", "istiod"))}, nil},
		"the webhook of somebody else": {[]client.Object{validating("cert-manager-webhook", leadsTo("kyverno", "kyverno-svc")),
			kyverno}, nil},
		"one webhook of two that leads to anything": {[]client.Object{validating("istio-validator-old-istio-system",
			leadsTo("istio-system", "istiod-old")), mutating("istio-sidecar-injector", leadsTo("istio-system", "istiod")), istiod},
			[]string{"Istio"}},
	} {
		got, err := clusterfacts.Reader{Live: apiWith(append(tc.objects, node("a", ""))...), DNSService: "kube-system/kube-dns"}.Read(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		runs := slices.DeleteFunc([]string{"Istio", "KubeArmor", "Kyverno"}, func(engine string) bool { return got.NotRunning[engine] != "" })
		if !slices.Equal(runs, tc.runs) {
			t.Errorf("%s: %q run, want %q", name, runs, tc.runs)
		}
		for engine, why := range got.NotRunning {
			if !strings.Contains(why, engine) || !strings.Contains(why, "see kubectl get ") ||
				!strings.Contains(why, "install "+engine+" again, or remove the kinds that it left") {
				t.Errorf("%s: %s", name, why)
			}
		}
	}
}

// A right that is missing makes nothing of an engine that runs.
func TestRead_KnowsNothingOfEnginesThatItMayNotSee(t *testing.T) {
	for name, tc := range map[string]struct {
		kind       string
		err        error
		fails      bool
		notRunning []string
	}{
		"webhooks may not be listed": {"MutatingWebhookConfigurationList",
			apierrors.NewForbidden(schema.GroupResource{Resource: "webhooks"}, "", nil), false, nil},
		"DaemonSets may not be listed": {"DaemonSetList", apierrors.NewForbidden(schema.GroupResource{Resource: "daemonsets"}, "", nil),
			false, []string{"Istio", "Kyverno"}},
		"the API server does not list these": {"ValidatingWebhookConfigurationList", apierrors.NewServiceUnavailable("etcd"), true, nil},
	} {
		api := interceptor.NewClient(apiWith(node("a", "")).(client.WithWatch), interceptor.Funcs{
			List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, opts ...client.ListOption) error {
				if gvk, err := c.GroupVersionKindFor(list); err == nil && gvk.Kind == tc.kind {
					return tc.err
				}
				return c.List(ctx, list, opts...)
			}})
		got, err := clusterfacts.Reader{Live: api, DNSService: "kube-system/kube-dns"}.Read(t.Context())
		if (err != nil) != tc.fails || !slices.Equal(slices.Sorted(maps.Keys(got.NotRunning)), tc.notRunning) {
			t.Errorf("%s: %v, %v", name, got.NotRunning, err)
		}
	}
}

func TestRead_ReportsAFailureToReadTheServiceOfAnEngine(t *testing.T) {
	api := interceptor.NewClient(apiWith(validating("kyverno-policy-validating-webhook-cfg",
		leadsTo("kyverno", "kyverno-svc"))).(client.WithWatch), interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
			if key.Name == "kyverno-svc" {
				return apierrors.NewServiceUnavailable("etcd")
			}
			return c.Get(ctx, key, o, opts...)
		}})
	if _, err := (clusterfacts.Reader{Live: api, DNSService: "kube-system/kube-dns"}).Read(t.Context()); err == nil ||
		!strings.Contains(err.Error(), "Service kyverno/kyverno-svc") {
		t.Errorf("got %v", err)
	}
}
