// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/api/wellknown"
	"github.com/nexus-operator/nexus-operator/internal/apply"
	"github.com/nexus-operator/nexus-operator/internal/awsclient"
	"github.com/nexus-operator/nexus-operator/internal/capability"
	"github.com/nexus-operator/nexus-operator/internal/capabilityfacts"
	"github.com/nexus-operator/nexus-operator/internal/engine"
	"github.com/nexus-operator/nexus-operator/internal/graph"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// family is a capability under planning, with what its children are compared with.
type family struct {
	c       *nexusv1.NexusAICapability
	owner   apply.Owner
	applier *apply.Applier
	graph   *graph.Graph
}

// controlled adds the reference that the write of an object of the capability's namespace adds: a generated provider serves the
// objects of its own capability alone.
func (f family) controlled(u *unstructured.Unstructured) *unstructured.Unstructured {
	if u.GetNamespace() == f.c.Namespace && metav1.GetControllerOf(u) == nil {
		u.SetOwnerReferences(append(u.GetOwnerReferences(), *metav1.NewControllerRef(f.c, f.owner.Kind)))
	}
	return u
}

// capability plans the children of a capability: those that it compiles to, and those that are to go.
func (p *Planner) capability(ctx context.Context, it *Item, c *nexusv1.NexusAICapability) ([]Item, error) {
	if c.Spec.Suspend {
		it.Waits = "spec.suspend to be removed: nothing is done for a suspended capability"
		return nil, nil
	}
	if err := p.nameConflict(ctx, it, c); err != nil {
		return nil, problemOf(it, err)
	}
	facts, err := p.facts(ctx, c)
	if err != nil {
		return nil, problemOf(it, err)
	}
	g, err := capability.Compile(c, facts)
	if err == nil {
		err = capability.CheckResources(ctx, c, g, p.Schemas)
	}
	if err != nil {
		return nil, problemOf(it, err)
	}
	f := family{c: c, owner: capabilityfacts.OwnerOf(c), graph: g,
		applier: &apply.Applier{Client: p.Client, Live: p.Client, OperatorNamespace: p.Operator.OperatorNamespace}}
	for _, n := range g.Nodes() {
		p.declare(f.controlled(n.Object.DeepCopy()))
	}
	var out []Item
	for _, n := range g.Nodes() {
		child, err := p.child(ctx, f, n)
		if err != nil {
			return nil, err
		}
		child.nameWithheld(facts.WithheldFrom(c, n.Object.GetKind(), n.Object.GetName()))
		if p.Planned != nil {
			p.Planned(child)
		}
		out = append(out, child)
		follow, err := p.childPolicies(ctx, n, &out[len(out)-1])
		if err != nil {
			return nil, err
		}
		out = append(out, follow...)
	}
	surplus, err := p.surplus(ctx, f)
	return append(out, surplus...), err
}

// nameWithheld adds why the workloads get no rights on an existing store, unless the item has another problem; nothing for an empty text.
func (it *Item) nameWithheld(why string) {
	if why != "" && it.Problem == nil {
		it.Problem = &Problem{Reason: status.ReasonNotPermitted, Code: status.CodeOf(status.ReasonNotPermitted), Message: why}
	}
}

// facts returns the facts that the operator will have once it has made everything that the capability needs.
func (p *Planner) facts(ctx context.Context, c *nexusv1.NexusAICapability) (capability.Facts, error) {
	f, err := capabilityfacts.Gatherer{Settings: p.Operator.Settings, Client: ahead{p.Client, p}, Live: p.Client, Scheme: p.Client.Scheme()}.Gather(ctx, c)
	if err != nil {
		return f, err
	}
	if f.Account == "" && c.Spec.ProviderRef == nil && (p.Open != nil || p.Access != nil) {
		session, err := p.futureSession(ctx, c, cmp.Or(f.ProviderRegion, c.Spec.Region, p.Operator.DefaultRegion))
		if err != nil {
			return f, err
		}
		f.Account, f.Partition = session.Account, session.Partition
	}
	disputed, err := p.disputed(ctx, c)
	return f.Expect(c, disputed), err
}

// futureSession is the session of the provider that the operator is yet to make for a capability. It leads where the operator's
// own credentials lead, or those of whoever asks.
func (p *Planner) futureSession(ctx context.Context, c *nexusv1.NexusAICapability, region string) (*awsclient.Session, error) {
	if p.Access == nil {
		return p.open(ctx, region, "")
	}
	provider := &v1alpha1.AWSProvider{Spec: v1alpha1.AWSProviderSpec{Region: region}}
	provider.Namespace, provider.Name = c.Namespace, capability.ProviderName(c)
	return p.generated(ctx, provider, nil, true)
}

// disputed finds the children whose AWS resource belongs to another owner.
func (p *Planner) disputed(ctx context.Context, c *nexusv1.NexusAICapability) (func(id string) bool, error) {
	found := map[string]bool{}
	for _, k := range capability.ProvingKinds(c) {
		if !p.Operator.Kinds.Serves(k) {
			continue
		}
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind(k + "List"))
		if err := p.Client.List(ctx, list, client.InNamespace(c.Namespace)); err != nil {
			return nil, fmt.Errorf("listing %s objects: %w", k, err)
		}
		for i := range list.Items {
			obj, err := toTyped(p.entry(k), &list.Items[i])
			if err != nil {
				return nil, err
			}
			if status.IsDisputed(obj.CommonStatus().Conditions) {
				found[graph.ID(k, c.Namespace, obj.GetName(), c.Namespace)] = true
			}
		}
	}
	return func(id string) bool { return found[id] }, nil
}

// child plans one object of a capability.
func (p *Planner) child(ctx context.Context, f family, n graph.Node) (Item, error) {
	it := itemOf(n.Object, None)
	it.Owner = f.c.Namespace + "/" + f.c.Name
	written, err := p.childWrite(ctx, f, n)
	if err != nil {
		return it, problemOf(&it, err)
	}
	it.record(written)
	it.Risk = riskOf(it)
	if e := p.entry(it.Kind); e == nil || n.Object.GroupVersionKind().Group != v1alpha1.GroupName {
		return it, nil
	}
	if it.Action == Create { // of the other objects, nexusctl render prints the content
		it.Fields = slices.DeleteFunc(contentOf(n.Object), func(f Field) bool { return strings.HasPrefix(f.Path, "metadata.") })
	}
	next, err := p.nextForm(written.Live, n.Object, it.Action == Update)
	if err != nil {
		return it, err
	}
	return it, p.resource(ctx, &it, f.controlled(next), true)
}

// record adds the planned write of its object to an item.
func (it *Item) record(written apply.Plan) {
	added := slices.Concat(written.Additions(), written.Removals())
	switch it.Fields = fieldsOf(slices.Concat(written.Differences, added)); {
	case written.Change == apply.Created:
		it.Action = Create
	case written.Change == apply.Updated || len(fieldsOf(added)) > 0:
		it.Action = Update
	}
}

// childWrite plans the write of a child to Kubernetes. Errors are those of the applier.
func (p *Planner) childWrite(ctx context.Context, f family, n graph.Node) (apply.Plan, error) {
	if err := p.Operator.MayApply(n.Object.GroupVersionKind(), n.Object.GetName()); err != nil {
		return apply.Plan{}, err
	}
	written, err := f.applier.Plan(ctx, f.owner, n.Object)
	switch {
	case err != nil:
		return written, err
	case written.Change == apply.Created && n.Object.GetKind() == "Namespace":
		return written, p.Operator.MayCreateNamespace(n.Object.GetName())
	case written.Change != apply.Created && n.Unresolved != "":
		return written, &status.Waiting{For: n.Unresolved + " to be ready"}
	case n.Object.GetKind() == "Job" && written.Live != nil && capability.IsSameRun(written.Live, n.Object) && hasTemplate(written.Differences):
		return apply.Plan{Change: apply.Unchanged, Live: written.Live}, nil // it stays as it ran
	default:
		return written, nil
	}
}

// nextForm is an AWS child as it will be: what the capability compiles to, with the defaults of its kind and the
// metadata and status that it has.
func (p *Planner) nextForm(live, desired *unstructured.Unstructured, edited bool) (*unstructured.Unstructured, error) {
	next := desired.DeepCopy()
	if err := p.Schemas.Default(next); err != nil {
		return nil, err
	}
	if live == nil {
		next.SetGeneration(1)
		return next, nil
	}
	metadata := live.DeepCopy().Object["metadata"]
	next.Object["metadata"] = metadata
	if s, ok := live.Object["status"]; ok {
		next.Object["status"] = s
	}
	if edited {
		next.SetGeneration(live.GetGeneration() + 1)
	}
	return next, nil
}

// hasTemplate reports whether differences are in a template of pods.
func hasTemplate(found []apply.Difference) bool {
	return slices.ContainsFunc(found, func(d apply.Difference) bool { return strings.HasPrefix(d.Path, podTemplate) })
}

// riskOf is the risk of writing a Kubernetes object.
func riskOf(it Item) Risk {
	if it.Action == None {
		return ""
	}
	for _, f := range it.Fields {
		if it.Kind == "Job" && strings.HasPrefix(f.Path, "metadata.annotations."+capability.AnnotationRun) {
			return Disrupts // it runs again
		}
		if it.Kind == "Deployment" && len(f.Path) >= len(podTemplate) && f.Path[:len(podTemplate)] == podTemplate {
			return Disrupts
		}
	}
	return Safe
}

// podTemplate is the path of a Deployment below which a change replaces the pods.
const podTemplate = "spec.template"

// surplus plans the children that the capability no longer compiles to.
func (p *Planner) surplus(ctx context.Context, f family) ([]Item, error) {
	var out []Item
	for _, stage := range capability.DeletionOrder {
		children, err := f.applier.Children(ctx, f.owner, p.Operator.Served(stage.Kinds))
		if err != nil {
			return nil, err
		}
		for _, child := range children {
			_, wanted := f.graph.Node(graph.ID(child.Kind.Kind, child.Namespace, child.Name, f.c.Namespace))
			if wanted || !stage.Includes(child.Kind.Kind, child.Name) {
				continue
			}
			it, err := p.removal(ctx, f, child)
			if err != nil {
				return nil, err
			}
			follow, err := p.removedPolicies(ctx, child)
			if err != nil {
				return nil, err
			}
			out = append(append(out, it), follow...)
		}
	}
	return out, nil
}

// removal plans the end of a child.
func (p *Planner) removal(ctx context.Context, f family, child apply.Child) (Item, error) {
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(child.Kind)
	u.SetNamespace(child.Namespace)
	u.SetName(child.Name)
	it := itemOf(u, Delete)
	it.Owner, it.Risk = f.c.Namespace+"/"+f.c.Name, Disrupts
	if child.Kind.Group != v1alpha1.GroupName || p.entry(child.Kind.Kind) == nil {
		return it, nil
	}
	it.Risk = Safe // the item's AWS part has the risk for the resource
	err := p.Client.Get(ctx, client.ObjectKeyFromObject(u), u)
	if apierrors.IsNotFound(err) {
		it.Action = None
		return it, nil
	}
	if err != nil {
		return it, fmt.Errorf("reading %s: %w", child.Ref, err)
	}
	doomed, err := p.doomedChild(f.c, u)
	if err != nil {
		return it, err
	}
	return it, p.resource(ctx, &it, doomed, true)
}

// doomedChild returns an AWS child as it is when its deletion begins: the capability's deletion policy, and its consent to the loss of
// data, reach it before.
func (p *Planner) doomedChild(c *nexusv1.NexusAICapability, u *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	live, err := toTyped(p.entry(u.GetKind()), u)
	if err != nil {
		return nil, err
	}
	mayDeleteData := engine.MayDeleteData(c, u.GetName())
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(capability.DoomedChild(c, live, u.GetKind(), mayDeleteData))
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", apply.RefOf(u), err)
	}
	doomed := &unstructured.Unstructured{Object: content}
	doomed.SetGroupVersionKind(u.GroupVersionKind())
	doomed.SetDeletionTimestamp(plannedDeletion())
	if mayDeleteData {
		annotations := doomed.GetAnnotations()
		if annotations == nil {
			annotations = map[string]string{}
		}
		annotations[wellknown.AnnotationDeleteData] = u.GetName()
		doomed.SetAnnotations(annotations)
	}
	return doomed, nil
}
