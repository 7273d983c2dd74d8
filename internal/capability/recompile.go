// SPDX-License-Identifier: Apache-2.0

package capability

import (
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/capability/part"
	"github.com/nexus-operator/nexus-operator/internal/capability/parts"
	"github.com/nexus-operator/nexus-operator/internal/graph"
)

// Compilation is a compiled graph, with the state that is needed to compile the capability again when more of its children are proven. Each
// newly proven child changes the policies of one or two roles. The rest of the graph is reused.
type Compilation struct {
	Graph *graph.Graph

	facts part.Facts
	// checked holds the proofs that the check of the capability read.
	checked part.Reads
	parts   []part.BuiltPart
}

// CompileAfter is Compile, and reuses the unchanged parts of the last compilation. The last compilation must be of the same generation of
// the same capability, in deletion or not; nil means that there is none.
func CompileAfter(last *Compilation, c *nexusv1.NexusAICapability, f part.Facts) (*Compilation, error) {
	if last != nil && !last.facts.EqualsBut(f) {
		last = nil
	}
	checked, err := last.check(c, f)
	if err != nil {
		return nil, err
	}
	k := part.NewCompiler(parts.All, c, f)
	out := &Compilation{facts: f, checked: checked, parts: k.BuildAfter(last.built())}
	if k.Err != nil {
		return nil, k.Err
	}
	out.Graph, err = graph.New(k.Nodes)
	return out, err
}

// built are the parts of a compilation; none of no compilation.
func (last *Compilation) built() []part.BuiltPart {
	if last == nil {
		return nil
	}
	return last.parts
}

// check checks a capability that is not being deleted, unless the last check would say the same.
func (last *Compilation) check(c *nexusv1.NexusAICapability, f part.Facts) (part.Reads, error) {
	switch {
	case c.DeletionTimestamp != nil:
		return nil, nil
	case last != nil && last.checked.Hold(f):
		return last.checked, nil
	}
	read := part.Reads{}
	if last == nil { // the last compilation is of the same spec
		if err := checkSchema(c); err != nil {
			return nil, err
		}
	}
	return read, check(c, f, read)
}
