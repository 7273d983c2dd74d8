// SPDX-License-Identifier: Apache-2.0

package capabilityfacts

import (
	"fmt"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/capability"
)

// gatewayObject returns an object of the Gateway API or of its extension by the AWS Load Balancer Controller.
func gatewayObject(group, version, kind, namespace, name string, spec map[string]any) *unstructured.Unstructured {
	u := &unstructured.Unstructured{Object: map[string]any{"apiVersion": group + "/" + version, "kind": kind, "spec": spec}}
	u.SetNamespace(namespace)
	u.SetName(name)
	return u
}

// settings is a LoadBalancerConfiguration; "" leaves a field out.
func settings(namespace, addresses, merging string) *unstructured.Unstructured {
	spec := map[string]any{}
	for field, value := range map[string]string{"ipAddressType": addresses, "mergingMode": merging} {
		if value != "" {
			spec[field] = value
		}
	}
	return gatewayObject("gateway.k8s.aws", "v1beta1", "LoadBalancerConfiguration", namespace, "settings", spec)
}

func TestGateway_TellsTheAddressesOfItsLoadBalancer(t *testing.T) {
	const networking = "gateway.networking.k8s.io"
	ref := map[string]any{"group": "gateway.k8s.aws", "kind": "LoadBalancerConfiguration", "name": "settings"}
	ofClass := map[string]any{"group": ref["group"], "kind": ref["kind"], "name": "settings", "namespace": "platform"}
	other := map[string]any{"group": "gateway.envoyproxy.io", "kind": "EnvoyProxy", "name": "settings", "namespace": "platform"}
	for name, tc := range map[string]struct {
		class, gateway map[string]any
		settings       []client.Object
		want           string
	}{
		"nothing says it": {nil, nil, nil, ""},
		"the class":       {ofClass, nil, []client.Object{settings("platform", "dualstack", "")}, "dualstack"},
		"the Gateway": {nil, ref, []client.Object{settings("edge", "dualstack-without-public-ipv4", "")},
			"dualstack-without-public-ipv4"},
		"the class before it": {ofClass, ref, []client.Object{settings("platform", "ipv4", ""), settings("edge", "dualstack", "")},
			"ipv4"},
		"the class after it": {ofClass, ref,
			[]client.Object{settings("platform", "ipv4", "prefer-gateway"), settings("edge", "dualstack", "")}, "dualstack"},
		"the one of both that says": {ofClass, ref, []client.Object{settings("platform", "", ""), settings("edge", "dualstack", "")},
			"dualstack"},
		"settings that do not exist": {ofClass, ref, nil, ""},
		"settings of another maker":  {other, nil, nil, ""},
	} {
		class, spec := map[string]any{"controllerName": "gateway.k8s.aws/alb"}, map[string]any{"gatewayClassName": "aws"}
		if tc.class != nil {
			class["parametersRef"] = tc.class
		}
		if tc.gateway != nil {
			spec["infrastructure"] = map[string]any{"parametersRef": tc.gateway}
		}
		for sort, gateway := range map[string]*nexusv1.GatewaySpec{"own": {Class: "aws"}, "existing": {Name: "shared", Namespace: "edge"}} {
			c := &nexusv1.NexusAICapability{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "shop", UID: "1"},
				Spec: nexusv1.NexusAICapabilitySpec{Frontend: nexusv1.FrontendSpec{ComponentSpec: nexusv1.ComponentSpec{Image: "frontend:1"}}}}
			c.Spec.CapabilityName, c.Spec.Environment = "shop", "dev"
			c.Spec.Ingress = &nexusv1.IngressSpec{Host: "app.example.com", HostedZoneID: "Z1", Gateway: gateway}
			namespace, gatewayName, _ := capability.GatewayObject(c)
			live := gatewayObject(networking, "v1", "Gateway", namespace, gatewayName, spec)
			live.SetLabels(map[string]string{"nexus.ai/capability-uid": "1"})
			objects := []client.Object{gatewayObject(networking, "v1", "GatewayClass", "", "aws", class), live}
			for _, o := range tc.settings {
				made := o.DeepCopyObject().(client.Object)
				if made.GetNamespace() == "edge" {
					made.SetNamespace(namespace)
				}
				objects = append(objects, made)
			}
			var f capability.Facts
			err := Gatherer{Live: fake.NewClientBuilder().WithScheme(runtime.NewScheme()).WithObjects(objects...).Build()}.gateway(
				t.Context(), c, &f)
			if err != nil || f.Balancer.IPAddressType != tc.want {
				t.Errorf("%s, %s: %q, want %q, %v", name, sort, f.Balancer.IPAddressType, tc.want, err)
			}
		}
	}
}

func TestAddressOf_PrefersANameAndKeepsAllAddresses(t *testing.T) {
	for _, tc := range []struct {
		told      []string
		want      string
		addresses string
	}{
		{nil, "", "[]"}, {[]string{"", ""}, "", "[]"}, {[]string{"", "192.0.2.1", "lb.example.net", ""}, "lb.example.net", "[]"},
		{[]string{"2001:db8::1", "192.0.2.1"}, "2001:db8::1", "[2001:db8::1 192.0.2.1]"},
	} {
		var f capability.Facts
		if got := addressOf(tc.told, &f); got != tc.want || fmt.Sprint(f.Balancer.Addresses) != tc.addresses {
			t.Errorf("%v: %q and %v", tc.told, got, f.Balancer.Addresses)
		}
	}
}
