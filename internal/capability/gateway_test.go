// SPDX-License-Identifier: Apache-2.0

package capability_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/capability"
	"github.com/nexus-operator/nexus-operator/internal/graph"
	"github.com/nexus-operator/nexus-operator/internal/testkit/enginecrds"
	"github.com/nexus-operator/nexus-operator/internal/testkit/golden"
)

// gatewayObjects returns the Gateway API objects of a graph, in the order of creation.
func gatewayObjects(g *graph.Graph) []*unstructured.Unstructured {
	var out []*unstructured.Unstructured
	for _, n := range g.Nodes() {
		if capability.IsGatewayKind(n.Object.GroupVersionKind()) {
			out = append(out, n.Object)
		}
	}
	return out
}

func byGateway(g nexusv1.GatewaySpec, edits ...func(*nexusv1.IngressSpec)) *nexusv1.NexusAICapability {
	return named(append(edits, func(in *nexusv1.IngressSpec) { in.Gateway = &g })...)
}

func TestGateway_HasTheRulesOfTheIngress(t *testing.T) {
	noZone := func(in *nexusv1.IngressSpec) { in.HostedZoneID = "" }
	certificate := func(in *nexusv1.IngressSpec) { in.CertificateArn, in.Scheme = certified, nexusv1.SchemeInternetFacing }
	for file, tc := range map[string]struct {
		c          *nexusv1.NexusAICapability
		controller string
	}{
		"alb":      {byGateway(nexusv1.GatewaySpec{Class: "aws-alb"}, noZone, certificate), "gateway.k8s.aws/alb"},
		"alb-http": {byGateway(nexusv1.GatewaySpec{Class: "aws-alb"}, noZone), ""},
		"other":    {byGateway(nexusv1.GatewaySpec{Class: "envoy"}, certificate), "gateway.envoyproxy.io/gatewayclass-controller"},
		"existing": {byGateway(nexusv1.GatewaySpec{Name: "shared", Namespace: "edge"}), ""},
	} {
		t.Run(file, func(t *testing.T) {
			f := facts()
			f.Gateway.Controller = tc.controller
			g := compile(t, tc.c, f)
			made := gatewayObjects(g)
			for _, o := range made {
				stored, problem := enginecrds.Admit(t, o)
				if problem != "" {
					t.Errorf("%s: %s", o.GetKind(), problem)
				}
				kept := stored.DeepCopy()
				if kind := o.GetKind(); kind != "HTTPRoute" && kind != "TargetGroupConfiguration" && !reflect.DeepEqual(kept.Object, o.Object) {
					t.Errorf("%s is stored as %v", kind, kept.Object)
				}
			}
			golden.Check(t, "gateway/"+file+".yaml", golden.Manifests(t, made))
			if len(ofKind(g, "Ingress")) > 0 {
				t.Error("an Ingress beside the Gateway")
			}
		})
	}
}

// Certificates of ACM are for load balancers of AWS; others have Secrets, and those of existing Gateways are their owner's.
func TestGateway_CertificatesAreForOurLoadBalancersOnly(t *testing.T) {
	for name, tc := range map[string]struct {
		gateway    nexusv1.GatewaySpec
		controller string
		want       bool
	}{
		"of the AWS Load Balancer Controller": {nexusv1.GatewaySpec{Class: "alb"}, "gateway.k8s.aws/alb", true},
		"of a class that is not known":        {nexusv1.GatewaySpec{Class: "alb"}, "", true},
		"of another controller":               {nexusv1.GatewaySpec{Class: "cilium"}, "io.cilium/gateway-controller", false},
		"an existing one":                     {nexusv1.GatewaySpec{Name: "shared"}, "", false},
	} {
		f := facts()
		f.Gateway.Controller, f.Balancer.Name = tc.controller, balancer
		g := compile(t, byGateway(tc.gateway), f)
		if got := len(ofKind(g, "Certificate")) > 0; got != tc.want {
			t.Errorf("%s: a certificate: %v", name, got)
		}
		if alias, _ := recordSets(t, g)["A"]["aliasTarget"].(map[string]any); alias["dnsName"] != balancer {
			t.Errorf("%s: the host leads to %v", name, alias)
		}
	}
}

func TestGateway_ADualStackLoadBalancerHasARecordForIPv6(t *testing.T) {
	for _, gateway := range []nexusv1.GatewaySpec{{Class: "alb"}, {Name: "shared"}} {
		for kind, want := range map[string]bool{"": false, "ipv4": false, "dualstack": true, "dualstack-without-public-ipv4": true} {
			f := facts()
			f.Gateway.Controller, f.Balancer.Name, f.Balancer.IPAddressType = "gateway.k8s.aws/alb", balancer, kind
			alias, _ := recordSets(t, compile(t, byGateway(gateway), f))["AAAA"]["aliasTarget"].(map[string]any)
			if got := alias["dnsName"] == balancer; got != want {
				t.Errorf("%+v with %q: a record for IPv6: %v", gateway, kind, alias)
			}
		}
	}
}

func TestGateway_TheHostWaitsForItsAddress(t *testing.T) {
	for want, gateway := range map[string]nexusv1.GatewaySpec{"Gateway/": {Class: "alb"}, "HTTPRoute/": {Name: "shared"}} {
		g := compile(t, byGateway(gateway), facts())
		for _, n := range g.Nodes() {
			if spec, _ := n.Object.Object["spec"].(map[string]any); n.Object.GetKind() == "Route53RecordSet" && spec["type"] == "A" && !strings.HasPrefix(n.Unresolved, want) {
				t.Errorf("%+v: the record lacks %q", gateway, n.Unresolved)
			}
		}
	}
}

func TestGateway_WhatIsSaidTwiceIsRefused(t *testing.T) {
	for field, c := range map[string]*nexusv1.NexusAICapability{
		"spec.ingress.gateway":                 byGateway(nexusv1.GatewaySpec{}),
		"spec.ingress.gateway.namespace":       byGateway(nexusv1.GatewaySpec{Class: "alb", Namespace: "edge"}),
		"spec.ingress.gateway.name":            byGateway(nexusv1.GatewaySpec{Name: "A"}),
		"spec.ingress.certificateArn":          byGateway(nexusv1.GatewaySpec{Name: "shared"}, func(in *nexusv1.IngressSpec) { in.CertificateArn = certified }),
		"spec.ingress.gateway: excludes anno":  byGateway(nexusv1.GatewaySpec{Class: "alb"}, func(in *nexusv1.IngressSpec) { in.Annotations = map[string]nexusv1.AnnotationValue{"a": "b"} }),
		"spec.ingress.gateway: name and class": byGateway(nexusv1.GatewaySpec{Name: "a", Class: "b"}),
	} {
		_, err := capability.Compile(c, facts())
		if err == nil || !strings.Contains(err.Error(), field) {
			t.Errorf("%s: %v", field, err)
		}
	}
}

// The switch is seamless: the former entry is removed when the declared one serves.
func TestGateway_TheIngressStaysUntilTheGatewayServes(t *testing.T) {
	g := compile(t, byGateway(nexusv1.GatewaySpec{Class: "alb"}), facts())
	o := capability.Observed{Capability: byGateway(nexusv1.GatewaySpec{Class: "alb"}), Graph: g, States: map[string]capability.State{}}
	if o.Prunable("Ingress") || o.Prunable("HTTPRoute") {
		t.Error("the Ingress goes before the Gateway is there")
	}
	for _, n := range g.Nodes() {
		o.States[n.ID] = capability.State{Applied: true, Ready: true}
	}
	if !o.Prunable("Ingress") {
		t.Error("the Ingress stays beside the Gateway")
	}
}

func TestGateway_DeletionStopsTrafficFirst(t *testing.T) {
	var order []string
	for _, s := range capability.DeletionOrder {
		for _, k := range s.Kinds {
			order = append(order, k.Kind)
		}
	}
	for _, pair := range [][2]string{{"HTTPRoute", "Gateway"}, {"Gateway", "LoadBalancerConfiguration"}, {"Gateway", "TargetGroupConfiguration"}, {"LoadBalancerConfiguration", "Deployment"}} {
		if slices.Index(order, pair[0]) > slices.Index(order, pair[1]) {
			t.Errorf("%s goes after %s", pair[0], pair[1])
		}
	}
}
