// SPDX-License-Identifier: Apache-2.0

package part

import (
	"cmp"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
)

// The components with fixed names.
const (
	Backend  = "backend"
	Frontend = "frontend"
)

// Policies is the component label of bindings for all workloads. A binding for one component has the label of that component's
// pods.
const Policies = "policies"

// Component is one workload with its defaults.
type Component struct {
	Name, Step string
	// Field is its place in the capability.
	Field string
	// Kind is Service, Worker, Job or CronJob.
	Kind nexusv1.ComponentType
	// Runs describes when and how often a Job or a CronJob runs.
	Runs Runs
	nexusv1.ComponentSpec
	// PortNumber is 0 for a Worker that declares none.
	PortNumber int32
	// Count is the number of replicas.
	Count int32
	// Paths are the paths that lead to it from outside.
	Paths []string
}

// ComponentsOf returns the components that a capability declares: backend, frontend, and the others by name.
func ComponentsOf(s *nexusv1.NexusAICapabilitySpec) []Component {
	var out []Component
	if !equality.Semantic.DeepEqual(s.Backend, nexusv1.BackendSpec{}) {
		out = append(out, withDefaults(Component{Name: Backend, Step: StepBackend, Field: "spec.backend", ComponentSpec: s.Backend.ComponentSpec,
			PortNumber: 8000, Paths: []string{"/api"}}))
	}
	if !equality.Semantic.DeepEqual(s.Frontend, nexusv1.FrontendSpec{}) {
		out = append(out, withDefaults(Component{Name: Frontend, Step: StepFrontend, Field: "spec.frontend",
			ComponentSpec: s.Frontend.ComponentSpec,
			PortNumber:    8080, Paths: []string{"/"}}))
	}
	var others []Component
	for i, n := range s.Components {
		c := Component{Name: n.Name, Step: StepComponents, Field: fmt.Sprintf("spec.components[%d]", i), Kind: n.Type,
			ComponentSpec: n.ComponentSpec,
			Runs:          Runs{n.Schedule, n.TimeZone, n.ConcurrencyPolicy, n.BackoffLimit, n.ActiveDeadlineSeconds}}
		if c.IsServed() {
			c.PortNumber = 8080
		}
		if named := func(o Component) bool { return o.Name == c.Name }; slices.ContainsFunc(out, named) || slices.ContainsFunc(others, named) {
			continue // admission refuses a name that is taken; a capability in deletion compiles anyway
		}
		others = append(others, withDefaults(c))
	}
	return append(out, ByName(others, func(c Component) string { return c.Name })...)
}

func withDefaults(c Component) Component {
	c.Kind, c.Count = cmp.Or(c.Kind, nexusv1.ComponentService), 2
	if c.Replicas != nil {
		c.Count = *c.Replicas
	}
	if c.Port != nil {
		c.PortNumber = *c.Port
	}
	if c.Routes != nil {
		c.Paths = nil
		for _, r := range *c.Routes {
			c.Paths = append(c.Paths, r.Path)
		}
	}
	return c
}

// IsServed reports whether other components call it, through a Service.
func (c Component) IsServed() bool { return c.Kind == nexusv1.ComponentService || c.Kind == "" }

// EndsAlone reports whether the pods run to their end: they are not kept running, and are of a Job.
func (c Component) EndsAlone() bool {
	return c.Kind == nexusv1.ComponentJob || c.Kind == nexusv1.ComponentCronJob
}

// IsFixed reports whether the component is frontend or backend.
func (c Component) IsFixed() bool { return c.Step != StepComponents }

// Named returns the component of a name.
func Named(s *nexusv1.NexusAICapabilitySpec, name string) (Component, bool) {
	all := ComponentsOf(s)
	i := slices.IndexFunc(all, func(c Component) bool { return c.Name == name })
	if i < 0 {
		return Component{}, false
	}
	return all[i], true
}

// services returns the components that have a Service.
func services(s *nexusv1.NexusAICapabilitySpec) []Component {
	return slices.DeleteFunc(ComponentsOf(s), func(c Component) bool { return !c.IsServed() })
}

// FrontFirst returns the components in the order of messages and status: frontend, backend, and the others by name.
func FrontFirst(s *nexusv1.NexusAICapabilitySpec) []Component {
	out := ComponentsOf(s)
	slices.SortStableFunc(out, func(a, b Component) int {
		rank := func(c Component) int { return slices.Index([]string{Backend, Frontend}, c.Name) }
		return cmp.Compare(rank(b), rank(a))
	})
	return out
}

// Route is a path with the component that it leads to.
type Route struct {
	Path string
	To   Component
}

// RoutesOf returns the paths that lead to components, the longest first, as a rule of an Ingress counts before those that follow it.
func RoutesOf(s *nexusv1.NexusAICapabilitySpec) []Route {
	var out []Route
	for _, c := range services(s) {
		for _, path := range c.Paths {
			out = append(out, Route{path, c})
		}
	}
	slices.SortStableFunc(out, func(a, b Route) int {
		return cmp.Or(cmp.Compare(len(b.Path), len(a.Path)), cmp.Compare(a.Path, b.Path))
	})
	return out
}

// Routed returns the components that paths lead to.
func Routed(s *nexusv1.NexusAICapabilitySpec) []Component {
	return slices.DeleteFunc(services(s), func(c Component) bool { return len(c.Paths) == 0 })
}

// Front returns the component that serves the path /, which people open.
func Front(s *nexusv1.NexusAICapabilitySpec) (Component, bool) {
	all := RoutesOf(s)
	i := slices.IndexFunc(all, func(r Route) bool { return r.Path == "/" })
	if i < 0 {
		return Component{}, false
	}
	return all[i].To, true
}

// Runs describes when and how often a Job or a CronJob runs.
type Runs struct {
	Schedule, TimeZone    string
	Concurrency           nexusv1.ConcurrencyPolicy
	BackoffLimit          *int32
	ActiveDeadlineSeconds *int64
}
