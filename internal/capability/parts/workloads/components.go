// SPDX-License-Identifier: Apache-2.0

package workloads

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/capability/part"
	"github.com/nexus-operator/nexus-operator/internal/capability/parts/traffic"
)

// Workload describes the objects of a component by their names.
type Workload struct {
	// Component is the name of the component, and Condition the one that speaks of it.
	Component, Condition string
	// Deployment is the name of its Deployment, empty for a Job and a CronJob; Services are those of its Services, that for traffic from
	// outside first.
	Deployment string
	Services   []string
	// ServiceAccount is the name of that of its pods, and Role that of the role that they have in AWS.
	ServiceAccount, Role string
	Image                string
	Replicas             *int32
	// Balanced is true where its Service has a load balancer.
	Balanced bool
}

// Of returns the components of a capability: backend, frontend, and the others by name.
func Of(ps part.Parts, c *nexusv1.NexusAICapability) []Workload {
	n := part.NamesOf(c)
	var out []Workload
	for _, of := range part.ComponentsOf(&c.Spec) {
		access := ps.AccessOf(&c.Spec, of.Access)
		w := Workload{Component: of.Name, ServiceAccount: access.ServiceAccount(n), Role: access.Role(n), Image: of.Image, Replicas: of.Replicas}
		if step, ok := ps.Step(of.Step); ok {
			w.Condition = step.Condition
		}
		if !of.EndsAlone() {
			w.Deployment = n.Of(of.Name)
		}
		if of.IsServed() {
			w.Services = servicesOf(c, of)
			w.Balanced = ServiceType(&c.Spec, of) == corev1.ServiceTypeLoadBalancer
		}
		out = append(out, w)
	}
	return out
}

// servicesOf names the Services of a component.
func servicesOf(c *nexusv1.NexusAICapability, of part.Component) []string {
	n := part.NamesOf(c)
	if of.Name == part.Backend && dualService(&c.Spec) {
		return []string{n.Service(of.Name), n.InternalService(of.Name)}
	}
	return []string{n.Service(of.Name)}
}

// WantsAddress reports whether a load balancer is declared for the component that people open.
func WantsAddress(c *nexusv1.NexusAICapability) bool {
	of, ok := part.Front(&c.Spec)
	return HasIngress(c) || ok && ServiceType(&c.Spec, of) == corev1.ServiceTypeLoadBalancer
}

// HasIngress reports whether an Ingress or a Gateway leads traffic to components.
func HasIngress(c *nexusv1.NexusAICapability) bool { return traffic.IsEnabled(&c.Spec) }

// URLOf returns the address of a component for callers inside the cluster; "" where it has no Service.
func URLOf(c part.Component, of *nexusv1.NexusAICapability) string {
	if !c.IsServed() {
		return ""
	}
	n, list := part.NamesOf(of), servicesOf(of, c)
	return fmt.Sprintf("http://%s.%s.svc:%d", list[len(list)-1], n.WorkloadNamespace(), c.PortNumber)
}

// maxComponentNames bounds capabilityName, environment and the name of a component: {cap}-{env}-{name}-svc is a Service's name.
const maxComponentNames = 57

// reservedComponents are names of fields, and of an object of every capability with intents.
var reservedComponents = []string{part.Frontend, part.Backend, part.Policies}

// checkComponents checks the components of a capability.
func checkComponents(v *part.Verdict, s *nexusv1.NexusAICapabilitySpec) {
	for i, n := range s.Components {
		field := fmt.Sprintf("spec.components[%d].name", i)
		v.Require(!slices.Contains(reservedComponents, n.Name), field, "%v are reserved: choose another name", reservedComponents)
		v.Require(len(s.CapabilityName)+len(s.Environment)+len(n.Name) <= maxComponentNames, field,
			"capabilityName, environment and name together have at most %d characters", maxComponentNames)
	}
	all := part.FrontFirst(s)
	v.Require(len(all) > 0, "spec", "a capability needs a component: declare frontend, backend or components")
	for _, c := range all {
		checkComponent(v, c.Field, c.ComponentSpec)
		checkWorker(v, c)
		checkRuns(v, s, c)
		checkAccess(v, s, c)
	}
	checkRoutes(v, all)
}

// checkWorker refuses fields that need a Service on a component without one.
func checkWorker(v *part.Verdict, c part.Component) {
	if c.IsServed() {
		return
	}
	v.Require(len(c.Paths) == 0, c.Field+".routes", "nothing calls a %s: remove routes, or set type: Service", c.Kind)
	v.Require(c.Service == nil, c.Field+".service", "nothing calls a %s: remove service, or set type: Service", c.Kind)
	if c.Probes == nil || c.PortNumber != 0 {
		return
	}
	for name, p := range map[string]*nexusv1.Probe{"liveness": c.Probes.Liveness, "readiness": c.Probes.Readiness,
		"startup": c.Probes.Startup} {
		if p != nil {
			v.Require(!callsPort(*p), c.Field+".probes."+name, "calls the port of a %s that declares none: set the number of a port in the probe", c.Kind)
		}
	}
}

// checkRoutes requires that each path leads to one component.
func checkRoutes(v *part.Verdict, all []part.Component) {
	by := map[string]part.Component{}
	for _, c := range all {
		for i, path := range c.Paths {
			field := fmt.Sprintf("%s.routes[%d].path", c.Field, i)
			other, taken := by[path]
			if c.Routes == nil { // a default of frontend or backend
				field = c.Field + ".routes"
			}
			v.Require(!taken, field, "%s leads to the component %s already: choose another path, or set %s.routes", path, other.Name, strings.TrimSuffix(other.Field, "."))
			by[path] = c
		}
	}
}

// DeclaredComponents returns the settings of all components that a capability declares, to be changed in place.
func DeclaredComponents(s *nexusv1.NexusAICapabilitySpec) []*nexusv1.ComponentSpec {
	var out []*nexusv1.ComponentSpec
	if _, ok := part.Named(s, part.Frontend); ok {
		out = append(out, &s.Frontend.ComponentSpec)
	}
	if _, ok := part.Named(s, part.Backend); ok {
		out = append(out, &s.Backend.ComponentSpec)
	}
	for i := range s.Components {
		out = append(out, &s.Components[i].ComponentSpec)
	}
	return out
}

// callsPort reports whether a probe calls the port of the component, which it then must have.
func callsPort(p nexusv1.Probe) bool {
	byName := func(port *intstr.IntOrString) bool { return port == nil || port.Type == intstr.String }
	return p.HTTPGet != nil && byName(p.HTTPGet.Port) || p.TCPSocket != nil && byName(p.TCPSocket.Port) || p.GRPC != nil && p.GRPC.Port == nil
}

// checkAccess requires that each name of a component's access stands for something.
func checkAccess(v *part.Verdict, s *nexusv1.NexusAICapabilitySpec, c part.Component) {
	if c.Access == nil {
		return
	}
	at, all := c.Field+".access", v.Parts.Accessible(s)
	for i, name := range *c.Access {
		v.Require(len(part.MeantBy(name, all)) > 0, fmt.Sprintf("%s[%d]", at, i), "%q is no data service or secret of the capability: %s", name,
			v.Parts.InsteadOf(name, s, all))
	}
}
