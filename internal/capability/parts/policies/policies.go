// SPDX-License-Identifier: Apache-2.0

// Package policies is spec.security: the bindings of security intents.
package policies

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	intentv1alpha1 "github.com/nexus-operator/nexus-operator/api/intent/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/api/wellknown"
	"github.com/nexus-operator/nexus-operator/internal/capability/part"
	"github.com/nexus-operator/nexus-operator/internal/capability/parts/traffic"
	"github.com/nexus-operator/nexus-operator/internal/capability/parts/workloads"
	"github.com/nexus-operator/nexus-operator/internal/graph"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// Names of the policies, and the number of their intents.
const (
	KindPolicies = "SecurityIntentBinding"
)

// Part is spec.security.
func Part() part.Part {
	return part.Part{
		Kinds: []part.KindFacts{{Kind: KindPolicies, Version: intentv1alpha1.GroupVersion, Step: StepPolicies,
			Removed: part.Removal{Stage: part.RemovesIdentity + 10}}},
		Checks: []part.Turn[part.Checking]{part.At(150,
			func(v *part.Verdict, c *nexusv1.NexusAICapability, _ part.Facts) { checkIntents(v, &c.Spec) })},
		Compile: []func(*part.Compiler){addPolicies},
	}
}

// StepPolicies is the part of the graph that only its condition reports: it is none of the Steps,
// and no phase.
const StepPolicies = "Policies"

func intents(s *nexusv1.NexusAICapabilitySpec) []nexusv1.IntentReference {
	if s.Security == nil {
		return nil
	}
	return s.Security.Intents
}

func checkIntents(v *part.Verdict, s *nexusv1.NexusAICapabilitySpec) {
	const at = "spec.security.intents"
	list, declared := intents(s), []nexusv1.Component{""}
	for _, c := range part.FrontFirst(s) {
		declared = append(declared, nexusv1.Component(c.Name))
	}
	for i, a := range list {
		at := fmt.Sprintf("%s[%d]", at, i)
		v.Require(slices.Contains(declared, a.Component), at+".component", "%q is none of %v", string(a.Component), declared)
		twice := slices.ContainsFunc(list[:i], func(b nexusv1.IntentReference) bool {
			return a.Name == b.Name && (a.Component == b.Component || a.Component == "" || b.Component == "")
		})
		v.Require(!twice, at, "%s is bound to the same pods already: list it once for all components, or once for each", status.Truncate(a.Name, 64))
	}
}

// addPolicies binds the intents: those for all components by one binding, and those for one by another.
//
// There is no edge between bindings and Deployments, in either direction. An intent that does not exist yet, or that no engine can enforce,
// must not keep a workload from starting, nor a broken engine keep it from being updated; the condition reports that the declared posture
// is not enforced. All the same the bindings come first: they wait for no more than their namespace, and stand in the graph before the
// Deployments, which also wait for all of AWS.
func addPolicies(k *part.Compiler) {
	bound := []nexusv1.Component{""}
	for _, c := range part.FrontFirst(k.Spec) {
		bound = append(bound, nexusv1.Component(c.Name))
	}
	for _, c := range bound {
		o := &intentv1alpha1.SecurityIntentBinding{}
		for _, i := range intents(k.Spec) {
			if i.Component == c {
				o.Spec.Intents = append(o.Spec.Intents, intentv1alpha1.MatchIntent{Name: i.Name})
			}
		}
		if len(o.Spec.Intents) == 0 {
			continue
		}
		o.Spec.Selector.WorkloadSelector = &intentv1alpha1.LabelSelector{MatchLabels: podsOf(k, c)}
		name, label := part.Policies, part.Policies
		if c != "" {
			name, label = string(c)+"-"+part.Policies, string(c)
		}
		k.Workload(part.Child{Kind: KindPolicies, Name: k.Names.Of(name), Step: StepPolicies, Component: label}, o)
	}
}

// podsOf selects those of one component, or of all. The labels that people use for an application may be
// on other pods too, in a namespace that is not ours alone; the UID is on ours only.
func podsOf(k *part.Compiler, c nexusv1.Component) map[string]string {
	l := k.Selector(string(c))
	if c == "" {
		delete(l, part.LabelComponent)
	}
	l[wellknown.LabelCapabilityUID] = string(k.Capability.UID)
	return l
}

// BoundTo returns the component that a binding is for; empty is all.
func BoundTo(n graph.Node) nexusv1.Component {
	if c := n.Object.GetLabels()[part.LabelComponent]; c != part.Policies {
		return nexusv1.Component(c)
	}
	return ""
}

// closesEgress returns the bound intents that close a component's way to AWS. The frontend has no need of it, nor has a component
// without access to anything there.
func closesEgress(ps part.Parts, f part.Facts, c *nexusv1.NexusAICapability, n graph.Node) []string {
	if n.Step != StepPolicies || !slices.ContainsFunc(part.ComponentsOf(&c.Spec), func(of part.Component) bool {
		bound := BoundTo(n)
		return of.Name != part.Frontend && !ps.AccessOf(&c.Spec, of.Access).IsNone() && (bound == "" || bound == nexusv1.Component(of.Name))
	}) {
		return nil
	}
	return slices.DeleteFunc(boundIntents(n), func(name string) bool { return f.ClosesEgress[name] == "" })
}

// Contradiction returns an error if a binding blocks traffic that the capability needs. The binding may still be enforced completely.
func Contradiction(ps part.Parts, f part.Facts, c *nexusv1.NexusAICapability, n graph.Node) *status.Stalled {
	if names := closesEgress(ps, f, c, n); len(names) > 0 {
		return &status.Stalled{Reason: status.ReasonEgressToAWSBlocked,
			Message: howToOpen(f, names, string(cmp.Or(BoundTo(n), nexusv1.ComponentBackend)))}
	}
	if message := closedToBalancer(f, n); message != "" {
		return &status.Stalled{Reason: status.ReasonLoadBalancerBlocked, Message: message}
	}
	return nil
}

// boundIntents returns the names of the SecurityIntents of a binding.
func boundIntents(n graph.Node) []string {
	list, _, _ := unstructured.NestedSlice(n.Object.Object, "spec", "intents")
	var out []string
	for _, item := range list {
		name, _ := item.(map[string]any)["name"].(string)
		out = append(out, name)
	}
	return out
}

// closedToBalancer returns a message if intents of a binding block the traffic of a load balancer to its pods, with the remedy; it is empty
// if they do not. A load balancer of AWS calls pods from its own addresses, not from addresses of pods.
// https://kubernetes-sigs.github.io/aws-load-balancer-controller/latest/guide/ingress/annotations/#target-type
func closedToBalancer(f part.Facts, n graph.Node) string {
	if n.Step != StepPolicies {
		return ""
	}
	var out, names, components []string
	closed := slices.DeleteFunc(slices.Clone(f.ClosedToBalancers), func(c part.ClosedToBalancer) bool {
		bound := BoundTo(n)
		return !slices.Contains(boundIntents(n), c.Intent) || bound != "" && bound != c.Component
	})
	for i, c := range closed {
		if !slices.Contains(names, c.Intent) {
			names = append(names, c.Intent)
		}
		if !slices.Contains(components, string(c.Component)) {
			components = append(components, string(c.Component))
		}
		if i+1 < len(closed) && closed[i+1].To == c.To && closed[i+1].Remedy == c.Remedy {
			continue
		}
		out = append(out, fmt.Sprintf("SecurityIntent %s lets %s call the %s, so that the load balancer cannot: take it out of spec.security, set ingress.enabled: false and "+
			"service.type: ClusterIP, or %s", strings.Join(names, ", "), c.To, strings.Join(components, " and the "), c.Remedy))
		names, components = nil, nil
	}
	return strings.Join(out, "; ")
}

// Balanced is a component with pods that a load balancer of AWS calls, and the port of its container.
type Balanced struct {
	Component nexusv1.Component
	Port      int32
}

// BalancedComponents returns the components with pods that a load balancer of AWS calls.
func BalancedComponents(c *nexusv1.NexusAICapability, f part.Facts) []Balanced {
	var out []Balanced
	for _, of := range part.FrontFirst(&c.Spec) {
		if isBalanced(f, &c.Spec, of) {
			out = append(out, Balanced{nexusv1.Component(of.Name), of.PortNumber})
		}
	}
	return out
}

// isBalanced reports whether a load balancer of AWS calls the pods of a component. Which pods serve a Gateway of another controller, or
// one of others, is not known.
func isBalanced(f part.Facts, s *nexusv1.NexusAICapabilitySpec, c part.Component) bool {
	switch {
	case !c.IsServed():
		return false
	case workloads.ServiceType(s, c) == corev1.ServiceTypeLoadBalancer:
		return true
	case len(c.Paths) == 0:
		return false
	case traffic.GatewaySpec(s) != nil:
		return traffic.GatewaySpec(s).Class != "" && f.Gateway.Controller == traffic.ALBController
	default:
		return traffic.IsEnabled(s)
	}
}

// howToOpen returns the remedies for SecurityIntents that block the egress to AWS. Intents with the same remedy share one message.
func howToOpen(f part.Facts, names []string, component string) string {
	var out []string
	for _, name := range names {
		remedy := f.ClosesEgress[name]
		same := slices.DeleteFunc(slices.Clone(names), func(n string) bool { return f.ClosesEgress[n] != remedy })
		if same[0] == name {
			out = append(out, "SecurityIntent "+strings.Join(same, ", ")+" closes the "+component+"'s way to AWS: "+remedy+
				", or bind it to component frontend")
		}
	}
	return strings.Join(out, "; ")
}
