// SPDX-License-Identifier: Apache-2.0

package capabilityfacts

import (
	"cmp"
	"context"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/api/wellknown"
	"github.com/nexus-operator/nexus-operator/internal/capability"
)

// gateway gathers the facts about the Gateway of the capability's route, and the address of its load balancer.
func (g Gatherer) gateway(ctx context.Context, c *nexusv1.NexusAICapability, f *capability.Facts) error {
	namespace, name, ok := capability.GatewayObject(c)
	if !ok {
		return nil
	}
	own := capability.GatewayOf(c).Class
	class, err := g.class(ctx, own, f)
	if err != nil {
		return err
	}
	live, err := g.gatewayObject(ctx, "Gateway", namespace, name)
	u := unstructured.Unstructured{Object: live}
	if err != nil || live == nil || own != "" && u.GetLabels()[wellknown.LabelCapabilityUID] != string(c.UID) {
		return err
	}
	listeners, _, _ := unstructured.NestedSlice(live, "spec", "listeners")
	f.Gateway.HTTPS = slices.ContainsFunc(listeners, func(l any) bool { m, _ := l.(map[string]any); return m["protocol"] == "HTTPS" })
	addresses, _, _ := unstructured.NestedSlice(live, "status", "addresses")
	var told []string
	for _, a := range addresses {
		m, _ := a.(map[string]any)
		value, _ := m["value"].(string)
		told = append(told, value)
	}
	f.Balancer.Name = addressOf(told, f)
	if capability.KeepsRecords(c) {
		f.Balancer.IPAddressType, err = g.gatewayAddressType(ctx, class, u)
	}
	return err
}

// class reads the GatewayClass of the capability's own Gateway; nil where the capability has another one's Gateway.
func (g Gatherer) class(ctx context.Context, name string, f *capability.Facts) (map[string]any, error) {
	if name == "" {
		return nil, nil
	}
	of, err := g.gatewayObject(ctx, "GatewayClass", "", name)
	f.Gateway.Controller, _, _ = unstructured.NestedString(of, "spec", "controllerName")
	return of, err
}

// gatewayAddressType is that of the load balancer of a Gateway, where its LoadBalancerConfiguration or that of its class says it.
// That of the class wins unless it says otherwise.
// https://kubernetes-sigs.github.io/aws-load-balancer-controller/latest/guide/gateway/loadbalancerconfig/
func (g Gatherer) gatewayAddressType(ctx context.Context, class map[string]any, gateway unstructured.Unstructured) (string, error) {
	var err error
	if class == nil {
		name, _, _ := unstructured.NestedString(gateway.Object, "spec", "gatewayClassName")
		if class, err = g.gatewayObject(ctx, "GatewayClass", "", name); err != nil {
			return "", err
		}
	}
	ofClass, err := g.balancerConfiguration(ctx, class, "", "spec", "parametersRef")
	if err != nil {
		return "", err
	}
	ofGateway, err := g.balancerConfiguration(ctx, gateway.Object, gateway.GetNamespace(), "spec", "infrastructure", "parametersRef")
	if err != nil {
		return "", err
	}
	first, second := ofClass, ofGateway
	if mode, _, _ := unstructured.NestedString(ofClass, "spec", "mergingMode"); mode == "prefer-gateway" {
		first, second = second, first
	}
	says, _, _ := unstructured.NestedString(first, "spec", "ipAddressType")
	otherwise, _, _ := unstructured.NestedString(second, "spec", "ipAddressType")
	return cmp.Or(says, otherwise), nil
}

// balancerConfiguration reads the LoadBalancerConfiguration that a Gateway, or with a namespace of its own a GatewayClass, refers to;
// nil where it refers to none.
func (g Gatherer) balancerConfiguration(ctx context.Context, of map[string]any, namespace string, path ...string) (map[string]any, error) {
	ref, _, _ := unstructured.NestedStringMap(of, path...)
	kind := capability.BalancerSettingsKind()
	if ref["group"] != kind.Group || ref["kind"] != kind.Kind {
		return nil, nil
	}
	return g.optional(ctx, kind, cmp.Or(ref["namespace"], namespace), ref["name"])
}

// gatewayObject reads an object of the Gateway API; nil when it does not exist, or may not be read.
func (g Gatherer) gatewayObject(ctx context.Context, kind, namespace, name string) (map[string]any, error) {
	return g.optional(ctx, schema.GroupVersionKind{Group: capability.GatewayGroup, Version: "v1", Kind: kind}, namespace, name)
}

// optional reads an object of a kind that the cluster need not have; nil when it does not exist, or may not be read.
func (g Gatherer) optional(ctx context.Context, kind schema.GroupVersionKind, namespace, name string) (map[string]any, error) {
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(kind)
	err := g.Live.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, u)
	if apierrors.IsNotFound(err) || meta.IsNoMatchError(err) || apierrors.IsForbidden(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return u.Object, nil
}
