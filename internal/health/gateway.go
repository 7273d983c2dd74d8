// SPDX-License-Identifier: Apache-2.0

package health

import (
	"cmp"
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/api/wellknown"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// ofUnstructured reads an object of the Gateway API. Other kinds without a Go type have no status of interest.
// https://gateway-api.sigs.k8s.io/guides/implementers-guide/
func (r Reader) ofUnstructured(ctx context.Context, o *unstructured.Unstructured) (Health, error) {
	switch o.GetKind() {
	case "Gateway":
		return r.gateway(ctx, o)
	case "HTTPRoute":
		return r.httpRoute(ctx, o)
	default:
		return Health{Ready: true}, nil
	}
}

// gateway is ready when its controller has accepted and programmed it with all its listeners, and it has an address. Without its class no
// controller ever looks at it.
func (r Reader) gateway(ctx context.Context, o *unstructured.Unstructured) (Health, error) {
	conds := conditionsIn(o.Object, "status", "conditions")
	for _, t := range []string{"Accepted", "Programmed"} {
		c := meta.FindStatusCondition(conds, t)
		switch {
		case c == nil || c.ObservedGeneration != o.GetGeneration() || c.Status == metav1.ConditionUnknown:
			class, _, _ := unstructured.NestedString(o.Object, "spec", "gatewayClassName")
			if there, err := r.exists(ctx, gatewayKind("GatewayClass"), "", class); err != nil || !there {
				return missing(err, "there is no GatewayClass "+class+": install its controller, or correct spec.ingress.gateway.class"), err
			}
			return Health{Reason: status.ReasonProgressing, Message: "the controller of GatewayClass " + class + " has not looked at it yet"}, nil
		case c.Status != metav1.ConditionTrue:
			return notAccepted(c), nil
		}
	}
	if sick, _ := listeners(o); len(sick) > 0 {
		return sick[0], nil
	}
	if addresses, _, _ := unstructured.NestedSlice(o.Object, "status", "addresses"); len(addresses) == 0 {
		return Health{Reason: status.ReasonProgressing, Message: "the load balancer has no address yet"}, nil
	}
	return Health{Ready: true}, nil
}

// listeners returns the problems of the listeners of a Gateway that do not serve, in the order of their names, and the number of all
// listeners. A Gateway is programmed as soon as one of its listeners serves.
func listeners(o *unstructured.Unstructured) (sick []Health, all int) {
	list, _, _ := unstructured.NestedSlice(o.Object, "status", "listeners")
	for _, l := range list {
		of, _ := l.(map[string]any)
		conds := conditionsIn(of, "conditions")
		for _, t := range []string{"Accepted", "ResolvedRefs", "Programmed"} {
			c := meta.FindStatusCondition(conds, t)
			if c != nil && c.ObservedGeneration == o.GetGeneration() && c.Status == metav1.ConditionFalse {
				h := notAccepted(c)
				h.Message = fmt.Sprintf("listener %v: %s", of["name"], h.Message)
				sick = append(sick, h)
				break
			}
		}
	}
	return sick, len(list)
}

// httpRoute is ready when its Gateway has accepted it and serves, and its Services were found. Conditions of Gateways that it belonged to
// before do not count.
func (r Reader) httpRoute(ctx context.Context, o *unstructured.Unstructured) (Health, error) {
	parents, _, _ := unstructured.NestedSlice(o.Object, "status", "parents")
	accepted := false
	for _, p := range parents {
		of, _ := p.(map[string]any)
		if !isParent(o, of) {
			continue
		}
		accepted = true
		conds := conditionsIn(of, "conditions")
		for _, t := range []string{"Accepted", "ResolvedRefs"} {
			c := meta.FindStatusCondition(conds, t)
			if c == nil || c.ObservedGeneration != o.GetGeneration() {
				return Health{Reason: status.ReasonProgressing, Message: "the controller of its Gateway has not looked at it yet"}, nil
			}
			if c.Status != metav1.ConditionTrue {
				return notAccepted(c), nil
			}
		}
	}
	if problem, err := r.gatewayOf(ctx, o); err != nil || problem != nil {
		return *cmp.Or(problem, &Health{}), err
	}
	if accepted {
		return Health{Ready: true}, nil
	}
	return Health{Reason: status.ReasonProgressing, Message: "no Gateway has accepted it yet"}, nil
}

// isParent reports whether an entry of a route's status is about the Gateway that it belongs to.
func isParent(o *unstructured.Unstructured, entry map[string]any) bool {
	ref, _ := entry["parentRef"].(map[string]any)
	namespace, name := parentOf(o)
	of, _ := ref["namespace"].(string)
	return ref == nil || ref["name"] == name && cmp.Or(of, o.GetNamespace()) == namespace
}

// gatewayOf returns why the Gateway of a route does not serve; nil where it serves, where it may not be read, and where it is the
// capability's own, which is judged separately. One listener of a shared Gateway that serves is enough: the other listeners may belong to
// others.
func (r Reader) gatewayOf(ctx context.Context, route *unstructured.Unstructured) (*Health, error) {
	namespace, name := parentOf(route)
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(gatewayKind("Gateway"))
	switch err := r.Client.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, u); {
	case apierrors.IsNotFound(err), meta.IsNoMatchError(err):
		h := missing(nil, fmt.Sprintf("there is no Gateway %s in namespace %s: create it, or correct spec.ingress.gateway", name, namespace))
		return &h, nil
	case apierrors.IsForbidden(err):
		return nil, nil
	case err != nil:
		return nil, err
	}
	uid := u.GetLabels()[wellknown.LabelCapabilityUID]
	if uid != "" && uid == route.GetLabels()[wellknown.LabelCapabilityUID] {
		return nil, nil
	}
	return r.othersGateway(ctx, u)
}

// othersGateway is gatewayOf for a Gateway of others. Until a controller looks at it, its conditions are missing, or Unknown by the
// defaults of its definition.
func (r Reader) othersGateway(ctx context.Context, u *unstructured.Unstructured) (*Health, error) {
	sick, all := listeners(u)
	c := meta.FindStatusCondition(conditionsIn(u.Object, "status", "conditions"), "Programmed")
	switch {
	case all > 0 && len(sick) == all:
		sick[0].Message = "Gateway " + u.GetName() + ", " + sick[0].Message
		return &sick[0], nil
	case c == nil, c.Status == metav1.ConditionUnknown:
		return r.classOf(ctx, u)
	case c.ObservedGeneration == u.GetGeneration() && c.Status == metav1.ConditionFalse:
		h := notAccepted(c)
		h.Message = "Gateway " + u.GetName() + ": " + h.Message
		return &h, nil
	}
	return nil, nil
}

// classOf says that the class of a Gateway does not exist, so that no controller looks at it; nil where it does.
func (r Reader) classOf(ctx context.Context, gateway *unstructured.Unstructured) (*Health, error) {
	class, _, _ := unstructured.NestedString(gateway.Object, "spec", "gatewayClassName")
	if there, err := r.exists(ctx, gatewayKind("GatewayClass"), "", class); err != nil || there {
		return nil, err
	}
	h := missing(nil, fmt.Sprintf("Gateway %s in namespace %s is of GatewayClass %s, which does not exist: install its controller, or correct spec.ingress.gateway",
		gateway.GetName(), gateway.GetNamespace(), class))
	return &h, nil
}

// parentOf returns the namespace and name of the Gateway that a route belongs to.
func parentOf(o *unstructured.Unstructured) (namespace, name string) {
	refs, _, _ := unstructured.NestedSlice(o.Object, "spec", "parentRefs")
	namespace = o.GetNamespace()
	if len(refs) == 0 {
		return namespace, ""
	}
	ref, _ := refs[0].(map[string]any)
	name, _ = ref["name"].(string)
	if other, _ := ref["namespace"].(string); other != "" {
		namespace = other
	}
	return namespace, name
}

func notAccepted(c *metav1.Condition) Health {
	return Health{Reason: status.ReasonGatewayNotAccepted, Stalled: true,
		Message: fmt.Sprintf("its controller says %s=%s, %s: %s", c.Type, c.Status, c.Reason, status.Truncate(c.Message, 256))}
}

func missing(err error, message string) Health {
	if err != nil {
		return Health{}
	}
	return Health{Reason: status.ReasonGatewayMissing, Stalled: true, Message: message}
}

func gatewayKind(kind string) schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: "gateway.networking.k8s.io", Version: "v1", Kind: kind}
}

// exists reports whether an object exists; one that may not be read is taken to exist.
func (r Reader) exists(ctx context.Context, kind schema.GroupVersionKind, namespace, name string) (bool, error) {
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(kind)
	err := r.Client.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, u)
	if apierrors.IsNotFound(err) || meta.IsNoMatchError(err) {
		return false, nil
	}
	if apierrors.IsForbidden(err) {
		return true, nil
	}
	return err == nil, err
}

// conditionsIn reads a list of conditions; entries that are not conditions are left out.
func conditionsIn(content map[string]any, path ...string) []metav1.Condition {
	list, _, _ := unstructured.NestedSlice(content, path...)
	var out []metav1.Condition
	for _, item := range list {
		m, _ := item.(map[string]any)
		c := metav1.Condition{}
		if runtime.DefaultUnstructuredConverter.FromUnstructured(m, &c) == nil {
			out = append(out, c)
		}
	}
	return out
}
