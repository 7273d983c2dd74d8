// SPDX-License-Identifier: Apache-2.0

package pass

import (
	"context"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/apply"
	"github.com/nexus-operator/nexus-operator/internal/capability"
	"github.com/nexus-operator/nexus-operator/internal/capabilityfacts"
	"github.com/nexus-operator/nexus-operator/internal/graph"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// Sources holds the sources of the facts for the decisions of passes.
type Sources struct {
	Settings capabilityfacts.Settings
	Applier  *apply.Applier
	// Namesakes lists the capabilities that may have the names of one, itself among them.
	Namesakes func(ctx context.Context, c *nexusv1.NexusAICapability) ([]nexusv1.NexusAICapability, error)
	// Facts gathers the facts that a capability depends on outside its own spec.
	Facts func(ctx context.Context, c *nexusv1.NexusAICapability) (capability.Facts, error)
	// Compile compiles a capability that is valid. Its error is a *status.Stalled for one that is not.
	Compile func(ctx context.Context, c *nexusv1.NexusAICapability, f capability.Facts) (*graph.Graph, error)
	// Existing drops kinds from a list if the capability is known to have no objects of them; nil drops none.
	Existing func(c *nexusv1.NexusAICapability, kinds []schema.GroupVersionKind) []schema.GroupVersionKind
}

// Pass is a capability with the facts that its acts depend on.
type Pass struct {
	Sources
	Capability *nexusv1.NexusAICapability
	Owner      apply.Owner
	Facts      capability.Facts
	// Graph holds the objects that the capability declares; nil where all that exist are to go.
	Graph *graph.Graph
}

// Conflict says that another capability has the names of one. It wraps a *status.Stalled.
type Conflict struct {
	error
	// Holder is the other one.
	Holder *nexusv1.NexusAICapability
}

// Unwrap returns the *status.Stalled.
func (c *Conflict) Unwrap() error { return c.error }

// Begin gathers the facts that the acts for a capability depend on. The error is a *Conflict if another capability has its names, a
// *status.Stalled for a spec that is not valid, or one of a source.
func (s Sources) Begin(ctx context.Context, c *nexusv1.NexusAICapability) (*Pass, error) {
	namesakes, err := s.Namesakes(ctx, c)
	if err != nil {
		return nil, err
	}
	if holder := capability.HolderOfNames(c, namesakes); holder != nil {
		return nil, &Conflict{error: capability.NameConflict(c, holder), Holder: holder}
	}
	return s.Declared(ctx, c)
}

// Declared is like Begin, for a capability with names that are known to be free of conflicts.
func (s Sources) Declared(ctx context.Context, c *nexusv1.NexusAICapability) (*Pass, error) {
	p := s.Ending(c)
	var err error
	if p.Facts, err = s.Facts(ctx, c); err != nil {
		return nil, err
	}
	if p.Graph, err = s.Compile(ctx, c, p.Facts); err != nil {
		return p, err
	}
	return p, nil
}

// Ending returns the pass that removes everything of a capability.
func (s Sources) Ending(c *nexusv1.NexusAICapability) *Pass {
	return &Pass{Sources: s, Capability: c, Owner: capabilityfacts.OwnerOf(c)}
}

// Verb names the act on a child.
type Verb string

// The verbs.
const (
	// Apply makes the child as it is declared. It writes nothing where Written has no change.
	Apply Verb = "Apply"
	// Replace deletes a Job of another declaration; once it is gone, Apply creates the declared one.
	Replace Verb = "Replace"
	// Keep leaves a Job that ran, or runs, unchanged even if its spec differs.
	Keep Verb = "Keep"
	// Delete deletes the child.
	Delete Verb = "Delete"
	// Release takes the marks of the capability off the child, which stays.
	Release Verb = "Release"
)

// Act describes the change of one child.
type Act struct {
	Verb Verb
	Ref  apply.Ref
	// Written compares a declared child with the existing object.
	Written apply.Plan
	// Child is one that exists and that the capability does not declare.
	Child apply.Child
	// After is the ID of an object that is deleted before this one; empty for none.
	After string
	// Err says why the act is not possible, or not yet: a *status.Stalled, a *status.Waiting, or an error of the API server.
	Err error
}

// Write decides about a declared child.
func (p *Pass) Write(ctx context.Context, n graph.Node) Act {
	act := Act{Verb: Apply, Ref: apply.RefOf(n.Object)}
	if act.Err = p.Settings.MayApply(act.Ref.Kind, act.Ref.Name); act.Err != nil {
		return act
	}
	if act.Written, act.Err = p.compare(ctx, n.Object); act.Err != nil {
		return act
	}
	live := act.Written.Live
	switch {
	case live == nil:
		act.Err = p.mayCreate(act.Ref)
	case n.Unresolved != "":
		act.Err = &status.Waiting{For: n.Unresolved + " to be ready"}
	case act.Ref.Kind.Kind == kindJob && !capability.IsSameRun(live, n.Object):
		act.Verb = Replace
	case act.Ref.Kind.Kind == kindJob && slices.ContainsFunc(act.Written.Differences, isOfTemplate):
		act.Verb = Keep
	}
	return act
}

// compare compares a declared child with the existing object. A Namespace or a Job that the cache does not have is looked up in the API
// server: the acts for them depend on whether they exist.
func (p *Pass) compare(ctx context.Context, desired *unstructured.Unstructured) (apply.Plan, error) {
	if kind := desired.GetKind(); kind == kindNamespace || kind == kindJob {
		return p.Applier.Plan(ctx, p.Owner, desired)
	}
	return p.Applier.Decide(ctx, p.Owner, desired)
}

const (
	kindJob       = "Job"
	kindNamespace = "Namespace"
)

// isOfTemplate reports whether a difference is in the template of a Job, which is immutable.
func isOfTemplate(d apply.Difference) bool { return strings.HasPrefix(d.Path, "spec.template") }

// mayCreate refuses a namespace that the administrator does not let the operator create.
func (p *Pass) mayCreate(ref apply.Ref) error {
	if ref.Kind.Kind != kindNamespace {
		return nil
	}
	return p.Settings.MayCreateNamespace(ref.Name)
}

// Stages lists the existing objects of the capability by the stages of its deletion. Empty stages are left out.
func (p *Pass) Stages(ctx context.Context) ([][]apply.Child, error) {
	var out [][]apply.Child
	for _, stage := range capability.DeletionOrder {
		kinds := p.Settings.Served(stage.Kinds)
		if p.Existing != nil {
			kinds = p.Existing(p.Capability, kinds)
		}
		children, err := p.Applier.Children(ctx, p.Owner, kinds)
		if err != nil {
			return nil, err
		}
		children = slices.DeleteFunc(children, func(child apply.Child) bool { return !stage.Includes(child.Kind.Kind, child.Name) })
		if len(children) > 0 {
			out = append(out, children)
		}
	}
	return out, nil
}

// Surplus returns the acts for the children that the capability does not declare, in the order of the stages.
func (p *Pass) Surplus(stages [][]apply.Child) []Act {
	var out []Act
	existing := map[string]bool{}
	for _, child := range slices.Concat(stages...) {
		id := p.IDOf(child.Ref)
		existing[id] = true
		if p.declares(id) {
			continue
		}
		act := p.End(child)
		if acting := capability.ActingResource(child.Kind.Kind, child.Name); existing[acting] {
			act.After = acting // the resource acts as the role until it is gone
		}
		out = append(out, act)
	}
	return out
}

func (p *Pass) declares(id string) bool {
	if p.Graph == nil {
		return false
	}
	_, is := p.Graph.Node(id)
	return is
}

// End returns the act for a child that goes. With a deletion policy of Orphan, the deletion of the capability leaves the objects outside
// AWS.
func (p *Pass) End(child apply.Child) Act {
	act := Act{Verb: Delete, Ref: child.Ref, Child: child}
	isOrphaned := p.Graph == nil && capability.EffectiveDeletionPolicy(p.Capability) == nexusv1.DeletionOrphan
	if isOrphaned && child.Kind.Group != v1alpha1.GroupName {
		act.Verb = Release
	}
	return act
}

// IDOf returns the ID that an object has, or would have, in the graph of the capability.
func (p *Pass) IDOf(ref apply.Ref) string {
	return graph.ID(ref.Kind.Kind, ref.Namespace, ref.Name, p.Capability.Namespace)
}
