// SPDX-License-Identifier: Apache-2.0

package capability

import (
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/graph"
)

// Compilation is a compiled graph, with what is needed to compile the capability again when more of its children are
// proven: each child that becomes so changes the policies of one or two roles, and the rest of the graph is taken over.
type Compilation struct {
	Graph *graph.Graph

	facts Facts
	// checked are the proofs that the check of the capability looked at.
	checked reads
	parts   []builtPart
}

// reads are the proofs that were looked at, by IDs of nodes, and what they were.
type reads map[string]Proof

// hold reports whether the same would be read.
func (r reads) hold(f Facts) bool {
	for id, was := range r {
		if !was.equals(f.Owned[id]) {
			return false
		}
	}
	return true
}

func (p Proof) equals(o Proof) bool {
	return p.ARN == o.ARN && p.UID == o.UID && p.Client == o.Client && slices.Equal(p.Names, o.Names) && maps.Equal(p.Values, o.Values) && p.Settled == o.Settled && p.Foreign == o.Foreign && p.Neighbor == o.Neighbor
}

// Equal reports whether the facts are the same.
func (f Facts) Equal(o Facts) bool {
	return maps.EqualFunc(f.Owned, o.Owned, Proof.equals) && f.equalsBut(o)
}

// equalsBut compares everything but the proofs.
func (f Facts) equalsBut(o Facts) bool {
	f.Owned, o.Owned = nil, nil
	return equality.Semantic.DeepEqual(f, o)
}

// builtPart holds everything that a part of the compiler added.
type builtPart struct {
	reads        reads
	nodes        []graph.Node
	aws, grants  []string
	parameterSet string
}

// joins reports whether the parts that follow find the same as after another part.
func (b builtPart) joins(o builtPart) bool {
	return slices.Equal(b.aws, o.aws) && slices.Equal(b.grants, o.grants) && b.parameterSet == o.parameterSet
}

// CompileAfter is Compile, and takes over what it can from the last compilation, which must be of the same generation
// of the same capability, in deletion or not; nil is none.
func CompileAfter(last *Compilation, c *nexusv1.NexusAICapability, f Facts) (*Compilation, error) {
	if last != nil && !last.facts.equalsBut(f) {
		last = nil
	}
	checked, err := last.check(c, f)
	if err != nil {
		return nil, err
	}
	k := newCompiler(allParts(), c, f)
	out := &Compilation{facts: f, checked: checked, parts: k.buildAfter(last.built())}
	if k.err != nil {
		return nil, k.err
	}
	out.Graph, err = graph.New(k.nodes)
	return out, err
}

// built are the parts of a compilation; none of no compilation.
func (last *Compilation) built() []builtPart {
	if last == nil {
		return nil
	}
	return last.parts
}

// check checks a capability that is not being deleted, unless the last check would say the same.
func (last *Compilation) check(c *nexusv1.NexusAICapability, f Facts) (reads, error) {
	switch {
	case c.DeletionTimestamp != nil:
		return nil, nil
	case last != nil && last.checked.hold(f):
		return last.checked, nil
	}
	read := reads{}
	return read, check(c, f, read)
}

// buildAfter runs the parts that would add something else than in the last compilation, and those that follow on a part that
// leaves them another state.
func (k *compiler) buildAfter(last []builtPart) (out []builtPart) {
	for i, build := range k.builders() {
		if last != nil && last[i].reads.hold(k.facts) {
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

// build runs a part and returns what it added.
func (k *compiler) build(add func(*compiler)) builtPart {
	nodes, aws, grants := len(k.nodes), len(k.aws), len(k.grants)
	k.read = reads{}
	add(k)
	return builtPart{reads: k.read, nodes: slices.Clone(k.nodes[nodes:]), aws: slices.Clone(k.aws[aws:]), grants: slices.Clone(k.grants[grants:]), parameterSet: k.parameterSet}
}

// take adds what a part added before.
func (k *compiler) take(b builtPart) {
	k.nodes, k.aws, k.grants, k.parameterSet = append(k.nodes, b.nodes...), append(k.aws, b.aws...), append(k.grants, b.grants...), b.parameterSet
}

// proof tells which resource a child is proven to own; zero when nothing is proven.
func (k *compiler) proof(id string) Proof {
	p := k.facts.Owned[id]
	if k.read != nil {
		k.read[id] = p
	}
	return p
}
