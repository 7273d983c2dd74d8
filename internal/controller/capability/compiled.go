// SPDX-License-Identifier: Apache-2.0

package capability

import (
	"context"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/capability"
	"github.com/nexus-operator/nexus-operator/internal/graph"
)

// compilations keep the last graph of each capability: every pass over a child asks whether its
// capability compiles to it, and compiling everything takes about 2 ms and 600 KB.
type compilations struct {
	schemas  capability.Schemas
	memories *memories
}

type compilation struct {
	uid        types.UID
	generation int64
	deleting   bool
	facts      capability.Facts
	built      *capability.Compilation
	err        error
	// valid says once it is asked for whether a capability in deletion, which compiles with any spec, has a valid one.
	valid func() error
	// generated are the children that were found to be as the capability compiles them, by their UIDs.
	generated map[types.UID]generated
}

// generated holds the inputs of a comparison: the generation of a child stands for its spec.
type generated struct {
	generation int64
	desired    *unstructured.Unstructured
}

// compile returns the graph of a capability under these facts. It is shared and must not be changed.
func (k *compilations) compile(ctx context.Context, c *nexusv1.NexusAICapability, facts capability.Facts) (*graph.Graph, error) {
	last, err := k.of(ctx, c, facts)
	if err != nil {
		return nil, err
	}
	return last.built.Graph, nil
}

// of returns the compilation of a capability under these facts; its error is that of the compiler.
func (k *compilations) of(ctx context.Context, c *nexusv1.NexusAICapability, facts capability.Facts) (*compilation, error) {
	var last *compilation
	k.memories.use(c, func(of *memory) { last = of.compilation })
	if !last.isOf(c) {
		last = nil
	}
	if last != nil && last.facts.Equal(facts) {
		return last, last.err
	}
	next := &compilation{uid: c.UID, generation: c.Generation, deleting: c.DeletionTimestamp != nil, facts: facts, generated: map[types.UID]generated{},
		valid: sync.OnceValue(func() error { return capability.Validate(c, facts) })}
	var before *capability.Compilation
	if last != nil {
		before, next.generated = last.built, last.generated
	}
	next.built, next.err = capability.CompileAfter(before, c, facts)
	if next.err == nil {
		next.err = capability.CheckResources(ctx, c, next.built.Graph, k.schemas)
	}
	k.memories.use(c, func(of *memory) { of.compilation = next })
	return next, next.err
}

// isOf reports whether the compilation is of the capability's current spec.
func (l *compilation) isOf(c *nexusv1.NexusAICapability) bool {
	return l != nil && l.uid == c.UID && l.generation == c.Generation && l.deleting == (c.DeletionTimestamp != nil)
}

// isGenerated reports whether a child was found to be as the desired object says, which is compared by its address:
// nodes that a compilation takes over keep theirs.
func (k *compilations) isGenerated(l *compilation, child client.Object, desired *unstructured.Unstructured) bool {
	k.memories.mu.Lock()
	defer k.memories.mu.Unlock()
	return l.generated[child.GetUID()] == generated{child.GetGeneration(), desired}
}

// addGenerated notes that a child is as the desired object says.
func (k *compilations) addGenerated(l *compilation, child client.Object, desired *unstructured.Unstructured) {
	k.memories.mu.Lock()
	defer k.memories.mu.Unlock()
	l.generated[child.GetUID()] = generated{child.GetGeneration(), desired}
}
