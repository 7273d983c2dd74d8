// SPDX-License-Identifier: Apache-2.0

package capability

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/intstr"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// The components with fixed names.
const (
	backend  = "backend"
	frontend = "frontend"
)

// component is one workload with its defaults.
type component struct {
	name, step string
	// field is its place in the capability.
	field string
	// kind is Service, Worker, Job or CronJob.
	kind nexusv1.ComponentType
	// runs describes when and how often a Job or a CronJob runs.
	runs runs
	nexusv1.ComponentSpec
	// port is 0 for a Worker that declares none.
	port     int32
	replicas int32
	// routes are the paths that lead to it from outside.
	routes []string
}

// componentsOf returns the components that a capability declares: backend, frontend, and the others by name.
func componentsOf(s *nexusv1.NexusAICapabilitySpec) []component {
	var out []component
	if !equality.Semantic.DeepEqual(s.Backend, nexusv1.BackendSpec{}) {
		out = append(out, withDefaults(component{name: backend, step: StepBackend, field: "spec.backend", ComponentSpec: s.Backend.ComponentSpec,
			port: 8000, routes: []string{"/api"}}))
	}
	if !equality.Semantic.DeepEqual(s.Frontend, nexusv1.FrontendSpec{}) {
		out = append(out, withDefaults(component{name: frontend, step: StepFrontend, field: "spec.frontend", ComponentSpec: s.Frontend.ComponentSpec,
			port: 8080, routes: []string{"/"}}))
	}
	var others []component
	for i, n := range s.Components {
		c := component{name: n.Name, step: StepComponents, field: fmt.Sprintf("spec.components[%d]", i), kind: n.Type, ComponentSpec: n.ComponentSpec,
			runs: runs{n.Schedule, n.TimeZone, n.ConcurrencyPolicy, n.BackoffLimit, n.ActiveDeadlineSeconds}}
		if c.isServed() {
			c.port = 8080
		}
		if named := func(o component) bool { return o.name == c.name }; slices.ContainsFunc(out, named) || slices.ContainsFunc(others, named) {
			continue // admission refuses a name that is taken; what is being deleted compiles anyway
		}
		others = append(others, withDefaults(c))
	}
	return append(out, byName(others, func(c component) string { return c.name })...)
}

func withDefaults(c component) component {
	c.kind, c.replicas = cmp.Or(c.kind, nexusv1.ComponentService), 2
	if c.Replicas != nil {
		c.replicas = *c.Replicas
	}
	if c.Port != nil {
		c.port = *c.Port
	}
	if c.Routes != nil {
		c.routes = nil
		for _, r := range *c.Routes {
			c.routes = append(c.routes, r.Path)
		}
	}
	return c
}

// isServed reports whether other components call it, through a Service.
func (c component) isServed() bool { return c.kind == nexusv1.ComponentService || c.kind == "" }

// endsAlone reports whether the pods run to their end: they are not kept running, and are of a Job.
func (c component) endsAlone() bool {
	return c.kind == nexusv1.ComponentJob || c.kind == nexusv1.ComponentCronJob
}

// isFixed reports whether the component is frontend or backend.
func (c component) isFixed() bool { return c.step != StepComponents }

// named returns the component of a name.
func named(s *nexusv1.NexusAICapabilitySpec, name string) (component, bool) {
	all := componentsOf(s)
	i := slices.IndexFunc(all, func(c component) bool { return c.name == name })
	if i < 0 {
		return component{}, false
	}
	return all[i], true
}

// services returns the components that have a Service.
func services(s *nexusv1.NexusAICapabilitySpec) []component {
	return slices.DeleteFunc(componentsOf(s), func(c component) bool { return !c.isServed() })
}

// frontFirst returns the components in the order in which people read of them: frontend, backend, and the others by name.
func frontFirst(s *nexusv1.NexusAICapabilitySpec) []component {
	out := componentsOf(s)
	slices.SortStableFunc(out, func(a, b component) int {
		rank := func(c component) int { return slices.Index([]string{backend, frontend}, c.name) }
		return cmp.Compare(rank(b), rank(a))
	})
	return out
}

// route is a path with the component that it leads to.
type route struct {
	path string
	to   component
}

// routesOf returns the paths that lead to components, the longest first, as a rule of an Ingress counts before those that follow it.
func routesOf(s *nexusv1.NexusAICapabilitySpec) []route {
	var out []route
	for _, c := range services(s) {
		for _, path := range c.routes {
			out = append(out, route{path, c})
		}
	}
	slices.SortStableFunc(out, func(a, b route) int {
		return cmp.Or(cmp.Compare(len(b.path), len(a.path)), cmp.Compare(a.path, b.path))
	})
	return out
}

// routed returns the components that paths lead to.
func routed(s *nexusv1.NexusAICapabilitySpec) []component {
	return slices.DeleteFunc(services(s), func(c component) bool { return len(c.routes) == 0 })
}

// front returns the component that the path / leads to, which is what people open.
func front(s *nexusv1.NexusAICapabilitySpec) (component, bool) {
	all := routesOf(s)
	i := slices.IndexFunc(all, func(r route) bool { return r.path == "/" })
	if i < 0 {
		return component{}, false
	}
	return all[i].to, true
}

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

// Workloads returns the components of a capability: backend, frontend, and the others by name.
func Workloads(c *nexusv1.NexusAICapability) []Workload {
	n, ps := NamesOf(c), allParts()
	var out []Workload
	for _, of := range componentsOf(&c.Spec) {
		access := ps.accessOf(&c.Spec, of.Access)
		w := Workload{Component: of.name, ServiceAccount: access.serviceAccount(n), Role: access.role(n), Image: of.Image, Replicas: of.Replicas}
		if step, ok := partStep(of.step); ok {
			w.Condition = step.Condition
		}
		if !of.endsAlone() {
			w.Deployment = n.Of(of.name)
		}
		if of.isServed() {
			w.Services = servicesOf(c, of)
			w.Balanced = serviceType(&c.Spec, of) == corev1.ServiceTypeLoadBalancer
		}
		out = append(out, w)
	}
	return out
}

// servicesOf names the Services of a component.
func servicesOf(c *nexusv1.NexusAICapability, of component) []string {
	n := NamesOf(c)
	if of.name == backend && dualService(&c.Spec) {
		return []string{n.Service(of.name), n.InternalService(of.name)}
	}
	return []string{n.Service(of.name)}
}

// WantsAddress reports whether a load balancer is declared for the component that people open.
func WantsAddress(c *nexusv1.NexusAICapability) bool {
	of, ok := front(&c.Spec)
	return HasIngress(c) || ok && serviceType(&c.Spec, of) == corev1.ServiceTypeLoadBalancer
}

// HasIngress reports whether an Ingress or a Gateway leads traffic to components.
func HasIngress(c *nexusv1.NexusAICapability) bool { return ingressEnabled(&c.Spec) }

// urlOf returns the address of a component for callers inside the cluster; "" where it has no Service.
func urlOf(c component, of *nexusv1.NexusAICapability) string {
	if !c.isServed() {
		return ""
	}
	n, list := NamesOf(of), servicesOf(of, c)
	return fmt.Sprintf("http://%s.%s.svc:%d", list[len(list)-1], n.WorkloadNamespace(), c.port)
}

// components reports each of spec.components.
func (s summary) components() []nexusv1.ComponentStatus {
	out := []nexusv1.ComponentStatus{}
	for _, c := range componentsOf(&s.Capability.Spec) {
		if c.isFixed() {
			continue
		}
		var nodes []view
		for _, v := range s.ofStep(StepComponents) {
			if v.Object.GetLabels()[LabelComponent] == c.name {
				nodes = append(nodes, v)
			}
		}
		row := nexusv1.ComponentStatus{Name: c.name, Type: c.kind, State: nexusv1.ResourceReady, URL: urlOf(c, s.Capability)}
		if said := s.part(nodes); worstOf(nodes) >= 0 {
			row.State = nodes[worstOf(nodes)].resourceState()
			row.Reason, row.Message = said.Reason, status.Truncate(said.Message, 512)
		}
		row.Runs = runsOf(nodes)
		if i := slices.IndexFunc(nodes, func(v view) bool { return v.hasTrouble() && v.Object.GetKind() == kindCronJob }); i >= 0 && row.State == nexusv1.ResourceReady {
			row.Reason, row.Message = nodes[i].Reason, status.Truncate(nodes[i].explain(), 512)
		}
		out = append(out, row)
	}
	return out
}

// maxComponentNames bounds capabilityName, environment and the name of a component: {cap}-{env}-{name}-svc is a Service's name.
const maxComponentNames = 57

// maxComponentName bounds the name of a component.
const maxComponentName = 40

// reservedComponents are names of fields, and of an object of every capability with intents.
var reservedComponents = []string{frontend, backend, policies}

// checkComponents checks what a capability runs.
func checkComponents(v *verdict, s *nexusv1.NexusAICapabilitySpec) {
	const at = "spec.components"
	v.require(len(s.Components) <= maxList, at, "at most %d", maxList)
	seen := map[string]bool{}
	for i, n := range s.Components {
		field := fmt.Sprintf("%s[%d]", at, i)
		v.matches(field+".name", n.Name, maxComponentName, namePattern)
		v.require(!slices.Contains(reservedComponents, n.Name), field+".name", "%v are reserved: choose another name", reservedComponents)
		v.require(!seen[n.Name], field+".name", "%q is there twice", n.Name)
		v.require(len(s.CapabilityName)+len(s.Environment)+len(n.Name) <= maxComponentNames, field+".name",
			"capabilityName, environment and name together have at most %d characters", maxComponentNames)
		oneOf(v, field+".type", n.Type, "", nexusv1.ComponentService, nexusv1.ComponentWorker, nexusv1.ComponentJob, nexusv1.ComponentCronJob)
		seen[n.Name] = true
	}
	all := frontFirst(s)
	v.require(len(all) > 0, "spec", "a capability needs a component: declare frontend, backend or components")
	for _, c := range all {
		checkComponent(v, c.field, c.ComponentSpec)
		checkWorker(v, c)
		checkRuns(v, s, c)
		checkAccess(v, s, c)
	}
	checkRoutes(v, all)
}

// checkWorker refuses what calls for a Service.
func checkWorker(v *verdict, c component) {
	if c.isServed() {
		return
	}
	v.require(len(c.routes) == 0, c.field+".routes", "nothing calls a %s: remove routes, or set type: Service", c.kind)
	v.require(c.Service == nil, c.field+".service", "nothing calls a %s: remove service, or set type: Service", c.kind)
	if c.Probes == nil || c.port != 0 {
		return
	}
	for name, p := range map[string]*nexusv1.Probe{"liveness": c.Probes.Liveness, "readiness": c.Probes.Readiness, "startup": c.Probes.Startup} {
		if p != nil {
			v.require(!callsPort(*p), c.field+".probes."+name, "calls the port of a %s that declares none: set the number of a port in the probe", c.kind)
		}
	}
}

// checkRoutes requires that each path leads to one component.
func checkRoutes(v *verdict, all []component) {
	by := map[string]component{}
	for _, c := range all {
		v.require(len(c.routes) <= 8, c.field+".routes", "at most 8")
		for i, path := range c.routes {
			field := fmt.Sprintf("%s.routes[%d].path", c.field, i)
			v.matches(field, path, 128, routePattern)
			other, taken := by[path]
			if c.Routes == nil { // a default of frontend or backend
				field = c.field + ".routes"
			}
			v.require(!taken, field, "%s leads to the component %s already: choose another path, or set %s.routes", path, other.name, strings.TrimSuffix(other.field, "."))
			by[path] = c
		}
	}
}

// declaredComponents returns the settings of all components that a capability declares, to be changed in place.
func declaredComponents(s *nexusv1.NexusAICapabilitySpec) []*nexusv1.ComponentSpec {
	var out []*nexusv1.ComponentSpec
	if _, ok := named(s, frontend); ok {
		out = append(out, &s.Frontend.ComponentSpec)
	}
	if _, ok := named(s, backend); ok {
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
