// SPDX-License-Identifier: Apache-2.0

package networkpolicy

import (
	"net/netip"
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// flows are the allowed flows in one direction: the union of its parts, none when it is empty.
type flows []allowance

// allowance is one rule of a NetworkPolicy: these peers, on these ports.
type allowance struct {
	peers []peer
	ports ports
}

// peer is a set of other ends. Networks hold no pods and pods are in no network: CNIs differ in whether an
// ipBlock matches a pod, so pods are always asked for as pods.
type peer struct {
	kind peerKind
	// namespaces and pods are labels of the pods' namespaces, and of the pods.
	namespaces, pods podSet
	network          netip.Prefix
}

type peerKind int

const (
	everybody peerKind = iota
	podPeer
	networkPeer
)

func (p peer) and(q peer) (peer, bool) {
	switch {
	case p.kind == everybody:
		return q, true
	case q.kind == everybody:
		return p, true
	case p.kind != q.kind:
		return peer{}, false
	case p.kind == networkPeer:
		// Two networks are one in the other, or apart.
		if q.within(p) {
			return q, true
		}
		return p, p.within(q)
	}
	namespaces, someNamespace := p.namespaces.and(q.namespaces)
	pods, somePod := p.pods.and(q.pods)
	return peer{kind: podPeer, namespaces: namespaces, pods: pods}, someNamespace && somePod
}

// within reports whether every end in p is in q.
func (p peer) within(q peer) bool {
	switch {
	case q.kind == everybody:
		return true
	case p.kind != q.kind:
		return false
	case p.kind == networkPeer:
		return q.network.Bits() <= p.network.Bits() && q.network.Overlaps(p.network)
	}
	return p.namespaces.within(q.namespaces) && p.pods.within(q.pods)
}

// ports is a set of ports; nil is all of them, of every protocol.
type ports []portRange

type portRange struct {
	protocol corev1.Protocol
	from, to int32
}

// and returns the intersection; it is empty when the second value is false.
func (p ports) and(q ports) (ports, bool) {
	if p == nil {
		return q, true
	}
	if q == nil {
		return p, true
	}
	var out ports
	for _, a := range p {
		for _, b := range q {
			both := portRange{a.protocol, max(a.from, b.from), min(a.to, b.to)}
			if a.protocol == b.protocol && both.from <= both.to {
				out = append(out, both)
			}
		}
	}
	return out, len(out) > 0
}

// within reports whether every port in p is in q.
func (p ports) within(q ports) bool {
	if p == nil || q == nil {
		return q == nil
	}
	return !slices.ContainsFunc(p, func(r portRange) bool { return !r.within(q) })
}

func (r portRange) within(q ports) bool {
	byStart := slices.SortedFunc(slices.Values(q), func(a, b portRange) int { return int(a.from - b.from) })
	for _, s := range byStart {
		if s.protocol == r.protocol && s.from <= r.from && r.from <= s.to {
			r.from = s.to + 1
		}
	}
	return r.from > r.to
}

// and returns the flows that both allow.
func (f flows) and(g flows) flows {
	var out flows
	for _, a := range f {
		for _, b := range g {
			shared, some := a.ports.and(b.ports)
			if !some {
				continue
			}
			for _, p := range a.peers {
				for _, q := range b.peers {
					if both, ok := p.and(q); ok {
						out = append(out, allowance{peers: []peer{both}, ports: shared})
					}
				}
			}
		}
	}
	return out.normalize()
}

// allow reports whether f allows all flows that g allows. Flows that only several peers of f together allow are not seen: then a rule is
// not recognized as the wider one, and the intersection is written out.
func (f flows) allow(g flows) bool {
	for _, a := range g {
		for _, p := range a.peers {
			if !f.allowOne(p, a.ports) {
				return false
			}
		}
	}
	return true
}

// equal reports that both are observed to allow the same.
func (f flows) equal(g flows) bool { return f.allow(g) && g.allow(f) }

// size returns how many pairs of peer and ports there are.
func (f flows) size() int {
	n := 0
	for _, a := range f {
		n += len(a.peers)
	}
	return n
}

func (f flows) allowOne(p peer, on ports) bool {
	allowed := ports{}
	for _, a := range f {
		if !slices.ContainsFunc(a.peers, p.within) {
			continue
		}
		if a.ports == nil {
			return true
		}
		allowed = append(allowed, a.ports...)
	}
	return on.within(allowed)
}

// normalize drops flows that the rest allows anyway, and gathers the peers of equal ports. Each part has one peer.
func (f flows) normalize() flows {
	kept := slices.Clone(f)
	for i := len(kept) - 1; i >= 0; i-- {
		if rest := slices.Delete(slices.Clone(kept), i, i+1); rest.allow(kept[i : i+1]) {
			kept = rest
		}
	}
	var out flows
	for _, a := range kept {
		same := slices.IndexFunc(out, func(o allowance) bool {
			return (o.ports == nil) == (a.ports == nil) && slices.Equal(o.ports, a.ports)
		})
		if same < 0 {
			out = append(out, a)
			continue
		}
		out[same].peers = append(out[same].peers, a.peers...)
	}
	return out
}
