// SPDX-License-Identifier: Apache-2.0

package part

import (
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/nexus-operator/nexus-operator/internal/graph"
)

// builders are the functions of the parts that add nodes, in their order.
func (k *Compiler) builders() (out []func(*Compiler)) {
	for _, p := range k.Parts {
		out = append(out, p.Compile...)
	}
	return out
}

// Reads holds the proofs that were read, with their values at that time, by the IDs of their nodes.
type Reads map[string]Proof

// Hold reports whether the same would be read.
func (r Reads) Hold(f Facts) bool {
	for id, was := range r {
		if !was.equals(f.Owned[id]) {
			return false
		}
	}
	return true
}

func (p Proof) equals(o Proof) bool {
	return p.ARN == o.ARN && p.UID == o.UID && p.Client == o.Client && slices.Equal(p.Names, o.Names) && maps.Equal(p.Values, o.Values) &&
		p.Settled == o.Settled && p.Foreign == o.Foreign && p.Neighbor == o.Neighbor
}

// Equal reports whether the facts are the same.
func (f Facts) Equal(o Facts) bool {
	return maps.EqualFunc(f.Owned, o.Owned, Proof.equals) && f.EqualsBut(o)
}

// EqualsBut compares everything but the proofs.
func (f Facts) EqualsBut(o Facts) bool {
	sameAddresses := slices.Equal(f.Balancer.Addresses, o.Balancer.Addresses)
	f.Owned, o.Owned = nil, nil
	f.Balancer.Addresses, o.Balancer.Addresses = nil, nil // fields of an address are not exported, and DeepEqual panics on those
	return sameAddresses && equality.Semantic.DeepEqual(f, o)
}

// BuiltPart holds everything that a part of the compiler added.
type BuiltPart struct {
	reads        Reads
	nodes        []graph.Node
	aws, grants  []string
	parameterSet string
}

// joins reports whether the parts that follow find the same as after another part.
func (b BuiltPart) joins(o BuiltPart) bool {
	return slices.Equal(b.aws, o.aws) && slices.Equal(b.grants, o.grants) && b.parameterSet == o.parameterSet
}

// BuildAfter runs the parts that read other proofs than in the last compilation. After a part that changes the input of the following
// parts, it runs all of those.
func (k *Compiler) BuildAfter(last []BuiltPart) (out []BuiltPart) {
	for i, build := range k.builders() {
		if last != nil && last[i].reads.Hold(k.Facts) {
			k.take(last[i])
			out = append(out, last[i])
			continue
		}
		built := k.build(build)
		out = append(out, built)
		if last != nil && !built.joins(last[i]) {
			last = nil
		}
	}
	return out
}

// build runs a part and returns its additions.
func (k *Compiler) build(add func(*Compiler)) BuiltPart {
	nodes, aws, grants := len(k.Nodes), len(k.AWS), len(k.Grants)
	k.Read = Reads{}
	add(k)
	return BuiltPart{reads: k.Read, nodes: slices.Clone(k.Nodes[nodes:]), aws: slices.Clone(k.AWS[aws:]),
		grants: slices.Clone(k.Grants[grants:]), parameterSet: k.ParameterSet}
}

// take repeats the additions of a part in the last compilation.
func (k *Compiler) take(b BuiltPart) {
	k.Nodes, k.AWS, k.Grants, k.ParameterSet = append(k.Nodes, b.nodes...), append(k.AWS, b.aws...), append(k.Grants, b.grants...),
		b.parameterSet
}
