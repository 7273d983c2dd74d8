// SPDX-License-Identifier: Apache-2.0

package capabilityfacts

import (
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

// gateway gathers what is seen of the Gateway that the capability's route belongs to, and the address of its load balancer.
func (g Gatherer) gateway(ctx context.Context, c *nexusv1.NexusAICapability, f *capability.Facts) error {
	namespace, name, ok := capability.GatewayObject(c)
	if !ok {
		return nil
	}
	class := capability.GatewayOf(c).Class
	if class != "" {
		of, err := g.gatewayObject(ctx, "GatewayClass", "", class)
		if err != nil {
			return err
		}
		f.Gateway.Controller, _, _ = unstructured.NestedString(of, "spec", "controllerName")
	}
	live, err := g.gatewayObject(ctx, "Gateway", namespace, name)
	u := unstructured.Unstructured{Object: live}
	if err != nil || live == nil || class != "" && u.GetLabels()[wellknown.LabelCapabilityUID] != string(c.UID) {
		return err
	}
	listeners, _, _ := unstructured.NestedSlice(live, "spec", "listeners")
	f.Gateway.HTTPS = slices.ContainsFunc(listeners, func(l any) bool { m, _ := l.(map[string]any); return m["protocol"] == "HTTPS" })
	addresses, _, _ := unstructured.NestedSlice(live, "status", "addresses")
	for _, a := range addresses {
		m, _ := a.(map[string]any)
		f.Balancer, _ = m["value"].(string)
		break
	}
	return nil
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
