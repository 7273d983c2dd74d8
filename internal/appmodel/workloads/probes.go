// SPDX-License-Identifier: Apache-2.0

package workloads

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/appmodel"
)

// readProbes takes over the probes of a container.
func (r *reader) readProbes(x *object, c *appmodel.Component, k corev1.Container) {
	out := nexusv1.ProbesSpec{
		Startup:   r.readProbe(x, c, k, "startupProbe", k.StartupProbe),
		Liveness:  r.readProbe(x, c, k, "livenessProbe", k.LivenessProbe),
		Readiness: r.readProbe(x, c, k, "readinessProbe", k.ReadinessProbe),
	}
	if out != (nexusv1.ProbesSpec{}) {
		c.Spec.Probes = &out
	}
	if k.ReadinessProbe == nil && c.Type == appmodel.TypeService {
		r.app.Notef(c.Name, x.at(container),
			"has no readinessProbe: its pods are ready when GET on ingress.healthCheckPath answers 2xx or 3xx; set another probe in probes.readiness")
	}
}

func (r *reader) readProbe(x *object, c *appmodel.Component, k corev1.Container, field string, p *corev1.Probe) *nexusv1.Probe {
	if p == nil {
		return nil
	}
	at := x.at(container + "." + field)
	out := &nexusv1.Probe{InitialDelaySeconds: clamped(p.InitialDelaySeconds, 3600), TimeoutSeconds: clamped(p.TimeoutSeconds, 3600),
		PeriodSeconds:    clamped(p.PeriodSeconds, 3600),
		SuccessThreshold: clamped(p.SuccessThreshold, 1000), FailureThreshold: clamped(p.FailureThreshold, 1000)}
	if field != "readinessProbe" {
		out.SuccessThreshold = min(out.SuccessThreshold, 1)
	}
	if reason := handler(p, k, out); reason != "" {
		r.app.Notef(c.Name, at, "is not carried over: %s", reason)
		return nil
	}
	return out
}

func clamped(n, most int32) int32 { return min(max(n, 0), most) }

// handler copies the request of a probe, or returns why that is not possible.
func handler(p *corev1.Probe, k corev1.Container, out *nexusv1.Probe) string {
	switch {
	case p.HTTPGet != nil:
		return httpHandler(p.HTTPGet, k, out)
	case p.TCPSocket != nil:
		port, ok := portOf(p.TCPSocket.Port, k)
		out.TCPSocket = &nexusv1.TCPProbe{Port: port}
		if !ok {
			return "the container has no such port"
		}
	case p.GRPC != nil:
		out.GRPC = &nexusv1.GRPCProbe{Port: &p.GRPC.Port}
		if p.GRPC.Service != nil {
			out.GRPC.Service = *p.GRPC.Service
		}
	case p.Exec != nil:
		if appmodel.MayHaveSecret(p.Exec.Command) {
			return "its command may have a secret"
		}
		if len(p.Exec.Command) == 0 || len(p.Exec.Command) > 32 {
			return "a command has 1 to 32 words"
		}
		out.Exec = &nexusv1.ExecProbe{}
		for _, w := range p.Exec.Command {
			out.Exec.Command = append(out.Exec.Command, nexusv1.CommandArgument(w))
		}
	default:
		return "it asks nothing"
	}
	return ""
}

func httpHandler(h *corev1.HTTPGetAction, k corev1.Container, out *nexusv1.Probe) string {
	port, ok := portOf(h.Port, k)
	switch {
	case !ok:
		return "the container has no such port"
	case h.Host != "":
		return "it asks another host than the pod"
	case h.Path != "" && appmodel.CheckPath(h.Path) != nil:
		return "its path does not begin with /"
	}
	out.HTTPGet = &nexusv1.HTTPProbe{Path: h.Path, Port: port, Scheme: h.Scheme}
	for _, header := range h.HTTPHeaders {
		if appmodel.IsSecret(header.Name, header.Value) || header.Name == "Authorization" {
			return "its header " + header.Name + " may have a secret"
		}
		out.HTTPGet.HTTPHeaders = append(out.HTTPGet.HTTPHeaders, nexusv1.HTTPHeader{Name: header.Name, Value: header.Value})
	}
	return ""
}

// portOf returns the number of a port that may be named.
func portOf(p intstr.IntOrString, k corev1.Container) (*intstr.IntOrString, bool) {
	if p.Type == intstr.Int {
		return new(p), p.IntVal >= 1 && p.IntVal <= 65535
	}
	for _, have := range k.Ports {
		if have.Name == p.StrVal {
			return new(intstr.FromInt32(have.ContainerPort)), true
		}
	}
	return nil, false
}
