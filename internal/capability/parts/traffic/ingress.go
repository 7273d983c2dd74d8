// SPDX-License-Identifier: Apache-2.0

package traffic

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	networkingv1 "k8s.io/api/networking/v1"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/api/wellknown"
	"github.com/nexus-operator/nexus-operator/internal/capability/part"
	"github.com/nexus-operator/nexus-operator/internal/graph"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// The annotations of the AWS Load Balancer Controller.
// https://kubernetes-sigs.github.io/aws-load-balancer-controller/latest/guide/ingress/annotations/
const (
	alb          = "alb.ingress.kubernetes.io/"
	albGroup     = alb + "group."
	ingressClass = "alb"
	tlsPolicy    = "ELBSecurityPolicy-TLS13-1-2-2021-06"
	legacyClass  = "kubernetes.io/ingress.class"
)

// ownAnnotations are set here or left out on purpose. A user's value for them is refused, and left out while a capability
// that has one is deleted.
var ownAnnotations = []string{
	legacyClass, part.AnnotationLastApplied,
	alb + "scheme", alb + "target-type", alb + "listen-ports", alb + "certificate-arn", alb + "ssl-redirect", alb + "ssl-policy",
	alb + "healthcheck-path", alb + "success-codes", alb + "tags",
}

// IsAsked reports whether traffic from outside is to come through an Ingress or a Gateway.
func IsAsked(s *nexusv1.NexusAICapabilitySpec) bool {
	return s.Ingress == nil || part.BoolOr(s.Ingress.Enabled, true)
}

// IsEnabled reports whether there is an Ingress or a Gateway: it also needs a path that leads to a component.
func IsEnabled(s *nexusv1.NexusAICapabilitySpec) bool {
	return IsAsked(s) && len(part.RoutesOf(s)) > 0
}

// Settings returns the ingress's settings with their defaults; they count for health checks and load
// balancers also while the ingress is disabled.
func Settings(s *nexusv1.NexusAICapabilitySpec) nexusv1.IngressSpec {
	var out nexusv1.IngressSpec
	if s.Ingress != nil {
		out = *s.Ingress
	}
	out.Scheme = cmp.Or(out.Scheme, nexusv1.SchemeInternal)
	out.HealthCheckPath = cmp.Or(out.HealthCheckPath, "/health")
	return out
}

func addIngress(k *part.Compiler) {
	if !IsEnabled(k.Spec) || GatewaySpec(k.Spec) != nil {
		return
	}
	in := Settings(k.Spec)
	var paths []networkingv1.HTTPIngressPath
	for _, r := range part.RoutesOf(k.Spec) {
		paths = append(paths, ingressRoute(k, r.Path, r.To))
	}
	o := &networkingv1.Ingress{Spec: networkingv1.IngressSpec{
		IngressClassName: new(ingressClass),
		Rules: []networkingv1.IngressRule{{
			Host:             in.Host,
			IngressRuleValue: networkingv1.IngressRuleValue{HTTP: &networkingv1.HTTPIngressRuleValue{Paths: paths}},
		}},
	}}
	o.Annotations = albAnnotations(k, in)
	after := servicesApplied(k)
	if id := certificateID(k); id != "" { // a load balancer refuses a certificate that is not issued
		after = append(after, graph.NeedReady(id)...)
	}
	k.Workload(part.Child{Kind: kindIngress, Name: k.Names.Ingress(), Step: StepIngress, Component: "ingress"}, o, after...)
}

// servicesApplied are the edges to the Services that traffic is led to.
func servicesApplied(k *part.Compiler) []graph.Edge {
	var services []string
	for _, c := range part.Routed(k.Spec) {
		services = append(services, graph.ID(part.KindService, k.Names.WorkloadNamespace(), k.Names.Service(c.Name), k.Capability.Namespace))
	}
	return graph.NeedApplied(services...)
}

func ingressRoute(k *part.Compiler, prefix string, c part.Component) networkingv1.HTTPIngressPath {
	return networkingv1.HTTPIngressPath{
		Path: prefix, PathType: new(networkingv1.PathTypePrefix),
		Backend: networkingv1.IngressBackend{Service: &networkingv1.IngressServiceBackend{
			Name: k.Names.Service(c.Name), Port: networkingv1.ServiceBackendPort{Number: c.PortNumber},
		}},
	}
}

func albAnnotations(k *part.Compiler, in nexusv1.IngressSpec) map[string]string {
	out := map[string]string{}
	for key, v := range in.Annotations {
		if !ownedAnnotation(key) {
			out[key] = string(v)
		}
	}
	out[alb+"scheme"] = string(in.Scheme)
	out[alb+"target-type"] = "ip"
	out[alb+"listen-ports"] = `[{"HTTP":80}]`
	out[alb+"healthcheck-path"] = in.HealthCheckPath
	out[alb+"success-codes"] = "200-399"
	out[alb+"tags"] = BalancerTags(k)
	if arn := certificateArn(k); arn != "" {
		out[alb+"listen-ports"] = `[{"HTTP":80},{"HTTPS":443}]`
		out[alb+"certificate-arn"] = arn
		out[alb+"ssl-redirect"] = "443"
		out[alb+"ssl-policy"] = tlsPolicy
	}
	if in.GroupName != "" {
		out[albGroup+"name"] = in.GroupName
	}
	return out
}

func ownedAnnotation(key string) bool {
	return slices.Contains(ownAnnotations, key) || strings.HasPrefix(key, albGroup) || strings.HasPrefix(key, part.ReservedNexus)
}

// BalancerTags returns the tags of the AWS resources that the load balancer controller creates, as key=value pairs.
func BalancerTags(k *part.Compiler) string {
	tags := []string{
		"nexus.ai/capability=" + k.Capability.Namespace + "/" + k.Capability.Name, "nexus.ai/environment=" + k.Names.Environment,
		"nexus.ai/managed-by=" + wellknown.OperatorName,
	}
	if k.Facts.Cluster.ID != "" {
		tags = append(tags, "nexus.ai/cluster="+k.Facts.Cluster.ID)
	}
	if k.Spec.Budget != nil {
		tags = append(tags, part.TagCapability+"="+k.Names.Prefix())
	}
	return strings.Join(tags, ",")
}

// groupAllowed reports whether a pattern of the administrator's matches the group.
func groupAllowed(patterns []string, group string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool {
		ok, err := path.Match(p, group)
		return ok && err == nil
	})
}

func checkIngress(v *part.Verdict, in nexusv1.IngressSpec, f part.Facts) {
	checkZone(v, in)
	checkGateway(v, in)
	v.AnnotationKeys("spec.ingress.annotations", in.Annotations)
	for _, key := range part.SortedKeys(in.Annotations) {
		v.Require(!strings.HasPrefix(key, albGroup), fmt.Sprintf("spec.ingress.annotations[%s]", status.Truncate(key, 64)),
			"is not passed on: set spec.ingress.groupName, which an administrator must allow")
	}
	v.OwnedAnnotations("spec.ingress.annotations", in.Annotations, ownAnnotations, "scheme, healthCheckPath, certificateArn, host or hostedZoneName of spec.ingress")
	if in.GroupName == "" {
		return
	}
	if !groupAllowed(f.Limits.AllowedIngressGroups, in.GroupName) {
		v.Refuse(status.ReasonNotPermitted, "spec.ingress.groupName",
			"the operator's --allowed-ingress-groups does not match %s: leave groupName out for its own load balancer, or ask an administrator", in.GroupName)
	}
}
