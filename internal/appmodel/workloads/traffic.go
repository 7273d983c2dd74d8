// SPDX-License-Identifier: Apache-2.0

package workloads

import (
	"fmt"
	"strings"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/appmodel"
)

// readService takes over that a Service leads to a component.
func (r *reader) readService(x *object) error {
	if x.GetKind() != "Service" {
		return nil
	}
	service := &corev1.Service{}
	if err := x.decode("", x.Object, service); err != nil {
		return err
	}
	for _, workload := range r.objects {
		name := r.components[workload]
		if name == "" || !r.selects(x, workload) {
			continue
		}
		x.used = true
		if t := service.Spec.Type; t == corev1.ServiceTypeLoadBalancer || t == corev1.ServiceTypeNodePort {
			r.app.Component(name).Published = true
			r.app.Notef(name, x.at("spec.type"), "%s is not carried over: users reach the component through spec.ingress", t)
		}
		for i, p := range service.Spec.Ports[min(1, len(service.Spec.Ports)):] {
			r.app.Notef(name, x.at(fmt.Sprintf("spec.ports[%d]", i+1)), "%d is not carried over: the Service of a component has one port", p.Port)
		}
	}
	for _, left := range r.app.Left {
		x.used = x.used || left == x.GetName()
	}
	return nil
}

// readIngress takes over hosts and paths.
func (r *reader) readIngress(x *object) error {
	if x.GetKind() != "Ingress" {
		return nil
	}
	in := &networkingv1.Ingress{}
	if err := x.decode("", x.Object, in); err != nil {
		return err
	}
	x.used = true
	if len(in.Annotations) > 0 {
		r.app.Notef("", x.at("metadata.annotations"),
			"are not carried over: set those of the AWS Load Balancer Controller in ingress.annotations")
	}
	if len(in.Spec.TLS) > 0 {
		r.app.Notef("", x.at("spec.tls"),
			"is not carried over: set ingress.certificateArn, or ingress.hostedZoneName for a certificate that the operator requests")
	}
	for i, rule := range in.Spec.Rules {
		r.readRule(x, fmt.Sprintf("spec.rules[%d]", i), rule)
	}
	return nil
}

// readRule takes over the first host, and the paths.
func (r *reader) readRule(x *object, at string, rule networkingv1.IngressRule) {
	switch host := rule.Host; {
	case host == "" || host == r.app.Ingress.Host:
	case r.app.Ingress.Host == "" && appmodel.CheckHost(host) == nil:
		r.app.Ingress.Host = host
	default:
		r.app.Notef("", x.at(at+".host"), "%s is not carried over: a capability has one host", host)
	}
	if rule.HTTP == nil {
		return
	}
	for j, p := range rule.HTTP.Paths {
		r.readRoute(x, fmt.Sprintf("%s.http.paths[%d]", at, j), p)
	}
}

// readRoute takes over one path.
func (r *reader) readRoute(x *object, at string, p networkingv1.HTTPIngressPath) {
	if p.Backend.Service == nil {
		r.app.Notef("", x.at(at), "is not carried over: it leads to no Service")
		return
	}
	s := r.find("Service", p.Backend.Service.Name)
	for _, workload := range r.objects {
		name := r.components[workload]
		if s == nil || name == "" || !r.selects(s, workload) {
			continue
		}
		c := r.app.Component(name)
		c.Published = true
		if err := r.app.AddRoute(c, routeOf(p.Path)); err != nil {
			r.app.Notef(name, x.at(at), "is not carried over: %v", err)
		}
		return
	}
	r.app.Notef("", x.at(at), "is not carried over: Service %s leads to no component", p.Backend.Service.Name)
}

// routeOf returns the path of an Ingress as that of a route: without the slash at its end. An absent path is every path.
func routeOf(path string) string {
	return "/" + strings.Trim(path, "/")
}

// readAutoscaler copies the least and greatest number of pods of an autoscaler.
func (r *reader) readAutoscaler(x *object) error {
	if x.GetKind() != "HorizontalPodAutoscaler" || !strings.HasPrefix(x.GetAPIVersion(), "autoscaling/v2") {
		return nil
	}
	h := &autoscalingv2.HorizontalPodAutoscaler{}
	if err := x.decode("", x.Object, h); err != nil {
		return err
	}
	c := r.componentOf(h.Spec.ScaleTargetRef.Kind, h.Spec.ScaleTargetRef.Name)
	if c == nil {
		return nil
	}
	x.used = true
	if h.Spec.MaxReplicas < 1 || h.Spec.MaxReplicas > 1000 {
		return x.fault("spec.maxReplicas", "%d is no number of replicas from 1 to 1000", h.Spec.MaxReplicas)
	}
	c.Spec.Autoscaling = &nexusv1.AutoscalingSpec{Max: h.Spec.MaxReplicas}
	if n := h.Spec.MinReplicas; n != nil && *n >= 1 && *n <= h.Spec.MaxReplicas {
		c.Spec.Autoscaling.Min = n
	}
	r.readMetrics(x, c, h)
	return nil
}

// readMetrics takes over the use of CPU to aim at, and notes all other metrics.
func (r *reader) readMetrics(x *object, c *appmodel.Component, h *autoscalingv2.HorizontalPodAutoscaler) {
	for i, m := range h.Spec.Metrics {
		if n := targetCPU(m); n > 0 {
			c.Spec.Autoscaling.TargetCPU = new(min(n, 1000))
			continue
		}
		r.app.Notef(c.Name, x.at(fmt.Sprintf("spec.metrics[%d]", i)), "is not carried over: a component scales by the use of CPU")
	}
	if h.Spec.Behavior != nil {
		r.app.Notef(c.Name, x.at("spec.behavior"), "is not carried over: a component has no such setting")
	}
}

// targetCPU returns the target use of CPU of a metric, in percent; 0 for any other metric.
func targetCPU(m autoscalingv2.MetricSpec) int32 {
	if m.Resource == nil || m.Resource.Name != corev1.ResourceCPU || m.Resource.Target.AverageUtilization == nil {
		return 0
	}
	return *m.Resource.Target.AverageUtilization
}

// readBudget takes over how many pods may be evicted.
func (r *reader) readBudget(x *object) error {
	if x.GetKind() != "PodDisruptionBudget" {
		return nil
	}
	b := &policyv1.PodDisruptionBudget{}
	if err := x.decode("", x.Object, b); err != nil {
		return err
	}
	for _, workload := range r.objects {
		name := r.components[workload]
		if name == "" || b.Spec.Selector == nil || !hasLabels(workload, b.Spec.Selector.MatchLabels) {
			continue
		}
		x.used = true
		budget := &nexusv1.DisruptionBudgetSpec{MinAvailable: b.Spec.MinAvailable, MaxUnavailable: b.Spec.MaxUnavailable}
		if budget.MinAvailable != nil && budget.MaxUnavailable != nil {
			return x.fault("spec", "minAvailable and maxUnavailable exclude each other")
		}
		r.app.Component(name).Spec.PDB = budget
	}
	return nil
}
