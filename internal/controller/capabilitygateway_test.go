// SPDX-License-Identifier: Apache-2.0

package controller_test

import (
	"fmt"
	"slices"
	"testing"

	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/testkit/enginecrds"
	"github.com/nexus-operator/nexus-operator/internal/testkit/extent"
)

func gatewayAPI(kind string) schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: "gateway.networking.k8s.io", Version: "v1", Kind: kind}
}

func balancerAPI(kind string) schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: "gateway.k8s.aws", Version: "v1beta1", Kind: kind}
}

// accepts writes the status that the controller of a Gateway writes.
func (h *home) accepts(u *unstructured.Unstructured, status map[string]any) {
	h.Helper()
	next := u.DeepCopy()
	next.Object["status"] = status
	if err := h.c.Status().Patch(h.ctx(), next, client.MergeFrom(u)); err != nil {
		h.Fatal(err)
	}
}

// conditionsOf returns conditions of an object's generation, all True.
func conditionsOf(u *unstructured.Unstructured, types ...string) []any {
	var out []any
	for _, t := range types {
		out = append(out, map[string]any{"type": t, "status": "True", "reason": t, "message": "", "observedGeneration": u.GetGeneration(),
			"lastTransitionTime": "2026-01-01T00:00:00Z"})
	}
	return out
}

// programs stands for the AWS Load Balancer Controller: it accepts the Gateway and the routes of a namespace.
func (h *home) programs(ns, name string) {
	h.Helper()
	u := h.there(gatewayAPI("Gateway"), ns, name)
	h.accepts(u, map[string]any{"conditions": conditionsOf(u, "Accepted", "Programmed"),
		"addresses": []any{map[string]any{"type": "Hostname", "value": "gw-1.ap-southeast-1.elb.amazonaws.com"}}})
	r := h.there(gatewayAPI("HTTPRoute"), ns, name)
	h.accepts(r, map[string]any{"parents": []any{map[string]any{"controllerName": "gateway.k8s.aws/alb",
		"parentRef": map[string]any{"name": name}, "conditions": conditionsOf(r, "Accepted", "ResolvedRefs")}}})
}

// lifeOfAGateway is one of a capability that had an Ingress, and has one again.
func (h *home) lifeOfAGateway(app string) {
	h.Helper()
	h.install(enginecrds.GatewayAPI, enginecrds.AWSLoadBalancer)
	class := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"controllerName": "gateway.k8s.aws/alb"}}}
	class.SetGroupVersionKind(gatewayAPI("GatewayClass"))
	class.SetName("alb-" + app)
	settings := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"ipAddressType": "dualstack"}}}
	settings.SetGroupVersionKind(balancerAPI("LoadBalancerConfiguration"))
	settings.SetNamespace(metav1.NamespaceDefault)
	settings.SetName(class.GetName())
	h.make(settings)
	ref := map[string]any{"group": "gateway.k8s.aws", "kind": "LoadBalancerConfiguration", "namespace": metav1.NamespaceDefault,
		"name": class.GetName()}
	_ = unstructured.SetNestedMap(class.Object, ref, "spec", "parametersRef")
	h.make(class)
	c := example(app)
	c.Namespace = app + "-dev" // its workloads are there, too
	h.create(c)
	h.shows(c, "Ready", "True", "Ready")
	ns, name := app+"-dev", app+"-dev-app-ingress"
	ingress := networkingv1.SchemeGroupVersion.WithKind("Ingress")
	h.there(ingress, ns, name)

	h.alter(c, func() { c.Spec.Ingress = &nexusv1.IngressSpec{Gateway: &nexusv1.GatewaySpec{Class: class.GetName()}} })
	gateway := h.there(gatewayAPI("Gateway"), ns, name)
	h.there(gatewayAPI("HTTPRoute"), ns, name)
	h.shows(c, "IngressReady", "False", "Progressing")
	h.there(ingress, ns, name)
	h.programs(ns, name)
	h.shows(c, "Ready", "True", "Ready")
	h.gone(ingress, ns, name)
	h.eventually("the URL of the Gateway to be told", func() error {
		err := h.c.Get(h.ctx(), client.ObjectKeyFromObject(c), c)
		if err == nil && c.Status.Endpoints.URL != "http://gw-1.ap-southeast-1.elb.amazonaws.com" {
			err = fmt.Errorf("it is %q", c.Status.Endpoints.URL)
		}
		return err
	})
	h.alter(gateway, func() { _ = unstructured.SetNestedField(gateway.Object, "other", "spec", "gatewayClassName") })
	h.eventually("the Gateway to be healed", func() error {
		u, err := h.object(gatewayAPI("Gateway"), ns, name)
		if is, _, _ := unstructured.NestedString(u.Object, "spec", "gatewayClassName"); err == nil && is != class.GetName() {
			return fmt.Errorf("it is of class %s", is)
		}
		return err
	})
	h.programs(ns, name)
	h.shows(c, "Ready", "True", "Ready")
	h.recordsForIPv6(ns, false)
	zone := h.zone(app + ".example.com")
	h.alter(c, func() {
		c.Spec.Ingress.Host, c.Spec.Ingress.HostedZoneID = "www."+app+".example.com", zone
		c.Spec.Ingress.CertificateArn = "arn:aws:acm:ap-southeast-1:123456789012:certificate/11111111-2222-3333-4444-555555555555"
	})
	h.recordsForIPv6(ns, true)
	h.programs(ns, name)

	h.alter(c, func() { c.Spec.Ingress = nil })
	h.shows(c, "Ready", "True", "Ready")
	for _, k := range []schema.GroupVersionKind{gatewayAPI("HTTPRoute"), gatewayAPI("Gateway"), balancerAPI("LoadBalancerConfiguration")} {
		h.gone(k, ns, name)
	}
	for _, component := range []string{"backend", "frontend"} {
		h.gone(balancerAPI("TargetGroupConfiguration"), ns, app+"-dev-"+component+"-svc")
	}
	h.alter(c, func() { c.Spec.Ingress = &nexusv1.IngressSpec{Gateway: &nexusv1.GatewaySpec{Class: "nobody"}} })
	h.shows(c, "IngressReady", "False", "GatewayMissing")
	h.remove(c)
	h.gone(gatewayAPI("Gateway"), ns, name)
}

func TestCapability_SwitchesToAGatewayAndBack(t *testing.T) {
	extent.Full(t)
	h := start(t)
	h.lifeOfAGateway("gate")
}

func TestCapability_SaysHowToInstallTheGatewayAPI(t *testing.T) {
	extent.Full(t)
	h := start(t)
	c := example("nogate")
	c.Spec.Ingress = &nexusv1.IngressSpec{Gateway: &nexusv1.GatewaySpec{Name: "shared", Namespace: "edge"}}
	h.create(c)
	h.shows(c, "IngressReady", "False", "GatewayAPIMissing")
	h.remove(c)
}

// recordsForIPv6 waits for a namespace to have records that lead a host to IPv6 addresses, or none.
func (h *home) recordsForIPv6(ns string, want bool) {
	h.Helper()
	h.eventually(fmt.Sprintf("records for IPv6: %v", want), func() error {
		list := &v1alpha1.Route53RecordSetList{}
		err := h.c.List(h.ctx(), list, client.InNamespace(ns))
		if got := slices.ContainsFunc(list.Items, func(r v1alpha1.Route53RecordSet) bool { return r.Spec.Type == "AAAA" }); err == nil &&
			got != want {
			err = fmt.Errorf("%v", got)
		}
		return err
	})
}

// classParameters has the IngressClass alb name parameters of a group that say which addresses load balancers have.
func (h *home) classParameters(group, version, addresses string) {
	h.Helper()
	u := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"ipAddressType": addresses}}}
	u.SetGroupVersionKind(schema.GroupVersionKind{Group: group, Version: version, Kind: "IngressClassParams"})
	u.SetName("alb")
	h.make(u)
	class := &networkingv1.IngressClass{ObjectMeta: metav1.ObjectMeta{Name: "alb"}}
	h.alter(class, func() {
		class.Spec.Parameters = &networkingv1.IngressClassParametersReference{APIGroup: &group, Kind: "IngressClassParams", Name: "alb"}
	})
}
