// SPDX-License-Identifier: Apache-2.0

package capability

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	networkingv1 "k8s.io/api/networking/v1"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/api/wellknown"
	"github.com/nexus-operator/nexus-operator/internal/graph"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// The annotations of the AWS Load Balancer Controller.
// https://kubernetes-sigs.github.io/aws-load-balancer-controller/latest/guide/ingress/annotations/
const (
	alb           = "alb.ingress.kubernetes.io/"
	albGroup      = alb + "group."
	ingressClass  = "alb"
	tlsPolicy     = "ELBSecurityPolicy-TLS13-1-2-2021-06"
	legacyClass   = "kubernetes.io/ingress.class"
	reservedNexus = "nexus.ai/"
)

// ownAnnotations are set here or left out on purpose. A user's value for them is refused, and left out while a capability
// that has one is deleted.
var ownAnnotations = []string{
	legacyClass, AnnotationLastApplied,
	alb + "scheme", alb + "target-type", alb + "listen-ports", alb + "certificate-arn", alb + "ssl-redirect", alb + "ssl-policy",
	alb + "healthcheck-path", alb + "success-codes", alb + "tags",
}

// AnnotationLastApplied is kubectl's own record; passed on it would lie.
const AnnotationLastApplied = "kubectl.kubernetes.io/last-applied-configuration"

// ingressAsked reports whether traffic from outside is to come through an Ingress or a Gateway.
func ingressAsked(s *nexusv1.NexusAICapabilitySpec) bool {
	return s.Ingress == nil || boolOr(s.Ingress.Enabled, true)
}

// ingressEnabled reports whether there is an Ingress or a Gateway: it also needs a path that leads to a component.
func ingressEnabled(s *nexusv1.NexusAICapabilitySpec) bool {
	return ingressAsked(s) && len(routesOf(s)) > 0
}

// ingressOf returns the ingress's settings with their defaults; they count for health checks and load
// balancers also while the ingress is disabled.
func ingressOf(s *nexusv1.NexusAICapabilitySpec) nexusv1.IngressSpec {
	var out nexusv1.IngressSpec
	if s.Ingress != nil {
		out = *s.Ingress
	}
	out.Scheme = cmp.Or(out.Scheme, nexusv1.SchemeInternal)
	out.HealthCheckPath = cmp.Or(out.HealthCheckPath, "/health")
	return out
}

func addIngress(k *compiler) {
	if !ingressEnabled(k.spec) || gatewayOf(k.spec) != nil {
		return
	}
	in := ingressOf(k.spec)
	var paths []networkingv1.HTTPIngressPath
	for _, r := range routesOf(k.spec) {
		paths = append(paths, ingressRoute(k, r.path, r.to))
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
	k.workload(child{kindIngress, k.names.Ingress(), StepIngress, "ingress"}, o, after...)
}

// servicesApplied are the edges to the Services that traffic is led to.
func servicesApplied(k *compiler) []graph.Edge {
	var services []string
	for _, c := range routed(k.spec) {
		services = append(services, graph.ID(kindService, k.names.WorkloadNamespace(), k.names.Service(c.name), k.c.Namespace))
	}
	return graph.NeedApplied(services...)
}

func ingressRoute(k *compiler, prefix string, c component) networkingv1.HTTPIngressPath {
	return networkingv1.HTTPIngressPath{
		Path: prefix, PathType: new(networkingv1.PathTypePrefix),
		Backend: networkingv1.IngressBackend{Service: &networkingv1.IngressServiceBackend{
			Name: k.names.Service(c.name), Port: networkingv1.ServiceBackendPort{Number: c.port},
		}},
	}
}

func albAnnotations(k *compiler, in nexusv1.IngressSpec) map[string]string {
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
	out[alb+"tags"] = balancerTags(k)
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
	return slices.Contains(ownAnnotations, key) || strings.HasPrefix(key, albGroup) || strings.HasPrefix(key, reservedNexus)
}

// balancerTags mark what the load balancer controller makes in AWS, as key=value pairs.
func balancerTags(k *compiler) string {
	tags := []string{
		"nexus.ai/capability=" + k.c.Namespace + "/" + k.c.Name, "nexus.ai/environment=" + k.names.Environment, "nexus.ai/managed-by=" + wellknown.OperatorName,
	}
	if k.facts.ClusterID != "" {
		tags = append(tags, "nexus.ai/cluster="+k.facts.ClusterID)
	}
	if k.spec.Budget != nil {
		tags = append(tags, tagCapability+"="+k.names.Prefix())
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

// Ingress names the way in.
func (n Names) Ingress() string { return n.Of("app-ingress") }

func checkIngress(v *verdict, in nexusv1.IngressSpec, f Facts) {
	oneOf(v, "spec.ingress.scheme", in.Scheme, nexusv1.SchemeInternal, nexusv1.SchemeInternetFacing)
	v.matches("spec.ingress.healthCheckPath", in.HealthCheckPath, 1024, healthPattern)
	v.optional("spec.ingress.host", in.Host, 253, hostPattern)
	v.optional("spec.ingress.certificateArn", in.CertificateArn, 2048, certificatePattern)
	checkZone(v, in)
	checkGateway(v, in)
	v.annotations("spec.ingress.annotations", in.Annotations)
	for _, key := range sortedKeys(in.Annotations) {
		v.require(!strings.HasPrefix(key, albGroup), fmt.Sprintf("spec.ingress.annotations[%s]", status.Truncate(key, 64)),
			"is not passed on: set spec.ingress.groupName, which an administrator must allow")
	}
	v.ownedAnnotations("spec.ingress.annotations", in.Annotations, ownAnnotations, "scheme, healthCheckPath, certificateArn, host or hostedZoneName of spec.ingress")
	if in.GroupName == "" {
		return
	}
	v.matches("spec.ingress.groupName", in.GroupName, 63, groupPattern)
	if !groupAllowed(f.AllowedIngressGroups, in.GroupName) {
		v.refuse(status.ReasonNotPermitted, "spec.ingress.groupName",
			"the operator's --allowed-ingress-groups does not match %s: leave groupName out for its own load balancer, or ask an administrator", in.GroupName)
	}
}
