// SPDX-License-Identifier: Apache-2.0

// Package traffic is spec.ingress: an Ingress or a Gateway, with the certificate and the records of its host.
package traffic

import (
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/capability/part"
	"github.com/nexus-operator/nexus-operator/internal/graph"
)

// The API groups of the Gateway API, and of its extensions by the AWS Load Balancer Controller.
// https://kubernetes-sigs.github.io/aws-load-balancer-controller/latest/guide/gateway/gateway/
const (
	GatewayGroup    = "gateway.networking.k8s.io"
	balancerGroup   = "gateway.k8s.aws"
	ALBController   = balancerGroup + "/alb"
	listenerHTTP    = "http"
	listenerHTTPS   = "https"
	permanentlyGone = int64(301)
)

// IsGatewayKind reports whether a kind belongs to the Gateway API or its extensions. A cluster need not have their definitions.
func IsGatewayKind(k schema.GroupVersionKind) bool {
	return k.Group == GatewayGroup || k.Group == balancerGroup
}

// balancerVersion is that of the settings of the AWS Load Balancer Controller.
var balancerVersion = schema.GroupVersion{Group: balancerGroup, Version: "v1beta1"}

// BalancerSettingsKind returns the kind that configures the AWS Load Balancer Controller for a Gateway or a GatewayClass.
func BalancerSettingsKind() schema.GroupVersionKind {
	return balancerVersion.WithKind(kindBalancerSettings)
}

// GatewayOf returns spec.ingress.gateway of a capability; nil if traffic comes through an Ingress, or not from outside.
func GatewayOf(c *nexusv1.NexusAICapability) *nexusv1.GatewaySpec { return GatewaySpec(&c.Spec) }

// GatewaySpec is GatewayOf for the spec of a capability.
func GatewaySpec(s *nexusv1.NexusAICapabilitySpec) *nexusv1.GatewaySpec {
	if !IsEnabled(s) || s.Ingress == nil {
		return nil
	}
	return s.Ingress.Gateway
}

// GatewayObject names the Gateway that the capability's route belongs to; ok is false where there is none. It is the
// capability's own unless the spec names one.
func GatewayObject(c *nexusv1.NexusAICapability) (namespace, name string, ok bool) {
	g, n := GatewayOf(c), part.NamesOf(c)
	switch {
	case g == nil:
		return "", "", false
	case g.Name == "":
		return n.WorkloadNamespace(), n.Ingress(), true
	case g.Namespace != "":
		return g.Namespace, g.Name, true
	default:
		return n.WorkloadNamespace(), g.Name, true
	}
}

// usesALBGateway reports whether the Gateway is the capability's own and becomes an Application Load Balancer. A class that is not known
// yet, or no longer, is taken for one: the objects that this load balancer needs stay.
func usesALBGateway(s *nexusv1.NexusAICapabilitySpec, f part.Facts) bool {
	g := GatewaySpec(s)
	return g != nil && g.Class != "" && (f.Gateway.Controller == "" || f.Gateway.Controller == ALBController)
}

// MayCertify reports whether the load balancer takes certificates of ACM from the capability: the listeners of an existing
// Gateway have their own, and other controllers know Secrets only.
func MayCertify(s *nexusv1.NexusAICapabilitySpec, f part.Facts) bool {
	return GatewaySpec(s) == nil || usesALBGateway(s, f)
}

// addGateway makes the routes of the capability and, for a class, the Gateway with the settings of its controller.
func addGateway(k *part.Compiler) {
	g := GatewaySpec(k.Spec)
	if g == nil {
		return
	}
	secure := certificateArn(k) != "" && MayCertify(k.Spec, k.Facts)
	section := ""
	if g.Class != "" {
		section = listenerHTTP
		if secure {
			section = listenerHTTPS
		}
		addOwnGateway(k, g.Class, secure)
	}
	addRoute(k, k.Names.Ingress(), section, routeRules(k)...)
	if secure {
		redirect := map[string]any{"scheme": "https", "statusCode": permanentlyGone}
		addRoute(k, k.Names.Of("app-redirect"), listenerHTTP,
			map[string]any{"filters": []any{map[string]any{"type": "RequestRedirect", "requestRedirect": redirect}}})
	}
}

// routeRules returns the rules of the Ingress as rules of an HTTPRoute.
func routeRules(k *part.Compiler) []any {
	rule := func(prefix string, c part.Component) any {
		return map[string]any{
			"matches":     []any{map[string]any{"path": map[string]any{"type": "PathPrefix", "value": prefix}}},
			"backendRefs": []any{map[string]any{"name": k.Names.Service(c.Name), "port": int64(c.PortNumber)}},
		}
	}
	var out []any
	for _, r := range part.RoutesOf(k.Spec) {
		out = append(out, rule(r.Path, r.To))
	}
	return out
}

func addRoute(k *part.Compiler, name, section string, rules ...any) {
	namespace, gateway, _ := GatewayObject(k.Capability)
	parent := map[string]any{"name": gateway}
	if namespace != k.Names.WorkloadNamespace() {
		parent["namespace"] = namespace
	}
	if section != "" {
		parent["sectionName"] = section
	}
	spec := map[string]any{"parentRefs": []any{parent}, "rules": rules}
	if host := Settings(k.Spec).Host; host != "" {
		spec["hostnames"] = []any{host}
	}
	after := servicesApplied(k)
	if GatewaySpec(k.Spec).Class != "" {
		after = append(after, graph.NeedApplied(gatewayID(k))...)
	}
	k.Workload(part.Child{Kind: kindRoute, Name: name, Step: StepIngress, Component: "ingress"}, manifest(spec), after...)
}

// addOwnGateway makes the Gateway, and for the AWS Load Balancer Controller the settings that an Ingress has as annotations.
func addOwnGateway(k *part.Compiler, class string, secure bool) {
	in := Settings(k.Spec)
	same := map[string]any{"namespaces": map[string]any{"from": "Same"}}
	listener := func(name, protocol string, port int64) any {
		l := map[string]any{"name": name, "protocol": protocol, "port": port, "allowedRoutes": same}
		if in.Host != "" {
			l["hostname"] = in.Host
		}
		return l
	}
	listeners := []any{listener(listenerHTTP, "HTTP", 80)}
	if secure {
		listeners = append(listeners, listener(listenerHTTPS, "HTTPS", 443))
	}
	spec := map[string]any{"gatewayClassName": class, "listeners": listeners}
	var after []graph.Edge
	if usesALBGateway(k.Spec, k.Facts) {
		spec["infrastructure"] = map[string]any{"parametersRef": map[string]any{"group": balancerGroup, "kind": kindBalancerSettings,
			"name": k.Names.Ingress()}}
		after = graph.NeedApplied(addBalancerSettings(k, secure)...)
	}
	if id := certificateID(k); id != "" { // a load balancer refuses a certificate that is not issued
		after = append(after, graph.NeedReady(id)...)
	}
	k.Workload(part.Child{Kind: kindGateway, Name: k.Names.Ingress(), Step: StepIngress, Component: "ingress"}, manifest(spec), after...)
}

// addBalancerSettings adds the settings of the load balancer and of its targets; it returns the IDs of their nodes.
func addBalancerSettings(k *part.Compiler, secure bool) []string {
	in := Settings(k.Spec)
	tags := map[string]any{}
	for _, tag := range strings.Split(BalancerTags(k), ",") {
		key, value, _ := strings.Cut(tag, "=")
		tags[key] = value
	}
	spec := map[string]any{"scheme": string(in.Scheme), "tags": tags}
	if secure {
		spec["listenerConfigurations"] = []any{map[string]any{"protocolPort": "HTTPS:443", "defaultCertificate": certificateArn(k),
			"sslPolicy": tlsPolicy}}
	}
	out := []string{k.Workload(part.Child{Kind: kindBalancerSettings, Name: k.Names.Ingress(), Step: StepIngress, Component: "ingress"},
		manifest(spec))}
	for _, c := range part.Routed(k.Spec) {
		service := k.Names.Service(c.Name)
		settings := map[string]any{"targetType": "ip", "healthCheckConfig": map[string]any{
			"healthCheckPath": in.HealthCheckPath, "matcher": map[string]any{"httpCode": "200-399"}}}
		o := manifest(map[string]any{"targetReference": map[string]any{"name": service}, "defaultConfiguration": settings})
		out = append(out, k.Workload(part.Child{Kind: kindTargetSettings, Name: service, Step: StepIngress, Component: "ingress"}, o))
	}
	return out
}

func manifest(spec map[string]any) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{"spec": spec}}
}

// gatewayID is the ID of the node of the capability's own Gateway.
func gatewayID(k *part.Compiler) string {
	return graph.ID(kindGateway, k.Names.WorkloadNamespace(), k.Names.Ingress(), k.Capability.Namespace)
}

// EntryID returns the ID of the node that has the address for external traffic in its status.
func EntryID(c *nexusv1.NexusAICapability) string {
	n, kind := part.NamesOf(c), kindIngress
	switch g := GatewayOf(c); {
	case g == nil:
	case g.Class != "":
		kind = kindGateway
	default:
		kind = kindRoute
	}
	return graph.ID(kind, n.WorkloadNamespace(), n.Ingress(), c.Namespace)
}

func checkGateway(v *part.Verdict, in nexusv1.IngressSpec) {
	const at = "spec.ingress.gateway"
	g := in.Gateway
	if g == nil {
		return
	}
	v.Require((g.Name == "") != (g.Class == ""), at, "name and class exclude each other, and one of them is given")
	v.Require(g.Namespace == "" || g.Name != "", at+".namespace", "is that of an existing Gateway: set name")
	checkObjectName(v, at+".name", g.Name)
	checkObjectName(v, at+".class", g.Class)
	v.Require(len(in.Annotations) == 0 && in.GroupName == "", at, "excludes annotations and groupName, which are for an Ingress")
	v.Require(g.Name == "" || in.CertificateArn == "", "spec.ingress.certificateArn",
		"the listeners of an existing Gateway have their own certificates")
}
