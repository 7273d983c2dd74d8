// SPDX-License-Identifier: Apache-2.0

package networkpolicy

import (
	"net/netip"
	"slices"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/nexus-operator/nexus-operator/internal/intent"
)

// An evaluator of NetworkPolicies, written from the API's documentation and sharing nothing with the engine.

// cluster is all that decides about a flow.
type cluster struct {
	namespaces map[string]map[string]string
	ends       []end
	policies   []networkingv1.NetworkPolicy
}

// end is a pod, or an address outside of the cluster.
type end struct {
	name, namespace string
	labels          map[string]string
	address         netip.Addr
}

func (e end) pod() bool { return e.namespace != "" }

type portOf struct {
	protocol corev1.Protocol
	number   int32
}

func matches(s *metav1.LabelSelector, labels map[string]string) bool {
	for k, v := range s.MatchLabels {
		if got, ok := labels[k]; !ok || got != v {
			return false
		}
	}
	for _, e := range s.MatchExpressions {
		got, ok := labels[e.Key]
		holds := map[metav1.LabelSelectorOperator]bool{
			metav1.LabelSelectorOpIn:           ok && slices.Contains(e.Values, got),
			metav1.LabelSelectorOpNotIn:        !ok || !slices.Contains(e.Values, got),
			metav1.LabelSelectorOpExists:       ok,
			metav1.LabelSelectorOpDoesNotExist: !ok,
		}
		if !holds[e.Operator] {
			return false
		}
	}
	return true
}

// affects reports whether a policy isolates a direction.
func affects(np networkingv1.NetworkPolicy, direction intent.Direction) bool {
	switch {
	case len(np.Spec.PolicyTypes) == 0 && direction == intent.Ingress:
		return true
	case len(np.Spec.PolicyTypes) == 0:
		return len(np.Spec.Egress) > 0
	case direction == intent.Ingress:
		return slices.Contains(np.Spec.PolicyTypes, networkingv1.PolicyTypeIngress)
	}
	return slices.Contains(np.Spec.PolicyTypes, networkingv1.PolicyTypeEgress)
}

// on are the policies that isolate a pod in a direction.
func (c cluster) on(e end, direction intent.Direction) []networkingv1.NetworkPolicy {
	var out []networkingv1.NetworkPolicy
	for _, np := range c.policies {
		if e.pod() && np.Namespace == e.namespace && affects(np, direction) && matches(&np.Spec.PodSelector, e.labels) {
			out = append(out, np)
		}
	}
	return out
}

// permits reports whether one end lets a flow pass, given the policies on it: any flow when there is none, otherwise the flows that one of
// them allows.
func (c cluster) permits(policies []networkingv1.NetworkPolicy, direction intent.Direction, other end, p portOf) bool {
	return len(policies) == 0 || slices.ContainsFunc(policies, func(np networkingv1.NetworkPolicy) bool {
		if direction == intent.Ingress {
			return slices.ContainsFunc(np.Spec.Ingress, func(r networkingv1.NetworkPolicyIngressRule) bool {
				return c.peers(r.From, np.Namespace, other) && onPorts(r.Ports, p)
			})
		}
		return slices.ContainsFunc(np.Spec.Egress, func(r networkingv1.NetworkPolicyEgressRule) bool {
			return c.peers(r.To, np.Namespace, other) && onPorts(r.Ports, p)
		})
	})
}

func (c cluster) peers(list []networkingv1.NetworkPolicyPeer, home string, other end) bool {
	return len(list) == 0 || slices.ContainsFunc(list, func(p networkingv1.NetworkPolicyPeer) bool {
		switch {
		case p.IPBlock != nil:
			return !other.pod() && inBlock(p.IPBlock, other.address)
		case !other.pod():
			return false
		case p.NamespaceSelector == nil && other.namespace != home:
			return false
		case p.NamespaceSelector != nil && !matches(p.NamespaceSelector, c.namespaces[other.namespace]):
			return false
		}
		return p.PodSelector == nil || matches(p.PodSelector, other.labels)
	})
}

func inBlock(b *networkingv1.IPBlock, a netip.Addr) bool {
	in := func(cidr string) bool { return netip.MustParsePrefix(cidr).Contains(a) }
	return in(b.CIDR) && !slices.ContainsFunc(b.Except, in)
}

func onPorts(list []networkingv1.NetworkPolicyPort, p portOf) bool {
	return len(list) == 0 || slices.ContainsFunc(list, func(r networkingv1.NetworkPolicyPort) bool {
		protocol := corev1.ProtocolTCP
		if r.Protocol != nil {
			protocol = *r.Protocol
		}
		switch {
		case protocol != p.protocol:
			return false
		case r.Port == nil:
			return true
		case r.EndPort == nil:
			return r.Port.IntVal == p.number
		}
		return r.Port.IntVal <= p.number && p.number <= *r.EndPort
	})
}

// verdict is the judgment on a flow: whether its source lets it out, whether its destination lets it in.
type verdict struct{ out, in bool }

func (v verdict) open() bool { return v.out && v.in }

// flow is from one end of the cluster to another; at least one is a pod. A pod's own traffic to itself is as
// any other.
type flow struct {
	from, to int
	port     portOf
}

func (c cluster) flows(ports []portOf) []flow {
	var out []flow
	for i, from := range c.ends {
		for j, to := range c.ends {
			for _, p := range ports {
				if from.pod() || to.pod() {
					out = append(out, flow{i, j, p})
				}
			}
		}
	}
	return out
}

func (c cluster) judge(flows []flow) []verdict {
	var out, in [][]networkingv1.NetworkPolicy
	for _, e := range c.ends {
		out, in = append(out, c.on(e, intent.Egress)), append(in, c.on(e, intent.Ingress))
	}
	verdicts := make([]verdict, len(flows))
	for n, f := range flows {
		verdicts[n] = verdict{
			out: c.permits(out[f.from], intent.Egress, c.ends[f.to], f.port),
			in:  c.permits(in[f.to], intent.Ingress, c.ends[f.from], f.port),
		}
	}
	return verdicts
}
