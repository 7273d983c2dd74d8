// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/api/wellknown"
	"github.com/nexus-operator/nexus-operator/internal/apply"
	"github.com/nexus-operator/nexus-operator/internal/capability"
	"github.com/nexus-operator/nexus-operator/internal/capabilityfacts"
	"github.com/nexus-operator/nexus-operator/internal/crdschema"
	"github.com/nexus-operator/nexus-operator/internal/engine"
	"github.com/nexus-operator/nexus-operator/internal/graph"
	"github.com/nexus-operator/nexus-operator/internal/pass"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// capabilities plans the children of capabilities.
type capabilities struct {
	kinds     entries
	schemas   *crdschema.Schemas
	operator  Operator
	ahead     ahead
	accounts  accounts
	resources *resources
	bindings  *bindings
	// planned is that of Planner.
	planned func(Item)
}

// sources returns the places that show a pass the cluster as it will be once the plan was carried out.
func (cs *capabilities) sources() pass.Sources {
	compile := func(ctx context.Context, c *nexusv1.NexusAICapability, f capability.Facts) (*graph.Graph, error) {
		g, err := capability.Compile(c, f)
		if err != nil {
			return nil, err
		}
		return g, capability.CheckResources(ctx, c, g, cs.schemas)
	}
	return pass.Sources{Settings: cs.operator.Settings, Applier: cs.bindings.applier(), Namesakes: cs.ahead.namesakes, Facts: cs.facts,
		Compile: compile}
}

// controlled adds the reference that the write of an object of the capability's namespace adds: a generated provider serves the
// objects of its own capability alone.
func controlled(ps *pass.Pass, u *unstructured.Unstructured) *unstructured.Unstructured {
	if c := ps.Capability; u.GetNamespace() == c.Namespace && metav1.GetControllerOf(u) == nil {
		u.SetOwnerReferences(append(u.GetOwnerReferences(), *metav1.NewControllerRef(c, ps.Owner.Kind)))
	}
	return u
}

// plan plans the children of a capability: those that it compiles to, and those that are to go.
func (cs *capabilities) plan(ctx context.Context, it *Item, c *nexusv1.NexusAICapability) ([]Item, error) {
	if c.Spec.Suspend {
		it.Waits = "spec.suspend to be removed: nothing is done for a suspended capability"
		return nil, nil
	}
	if it.Action == Create {
		// The dry run says that it was created now; it will be younger than those that exist, of the same second too.
		c.CreationTimestamp = metav1.NewTime(c.CreationTimestamp.Add(time.Second))
	}
	ps, err := cs.sources().Begin(ctx, c)
	if err != nil {
		return nil, problemOf(it, err)
	}
	for _, n := range ps.Graph.Nodes() {
		cs.ahead.declare(controlled(ps, n.Object.DeepCopy()))
	}
	var out []Item
	for _, n := range ps.Graph.Nodes() {
		child, err := cs.child(ctx, ps, n)
		if err != nil {
			return nil, err
		}
		child.object(capability.Objection(ps.Facts, c, n))
		if cs.planned != nil {
			cs.planned(child)
		}
		out = append(out, child)
		follow, err := cs.bindings.ofChild(ctx, n, &out[len(out)-1])
		if err != nil {
			return nil, err
		}
		out = append(out, follow...)
	}
	surplus, err := cs.surplus(ctx, ps)
	return append(out, surplus...), err
}

// object adds why the object will not be fit for use, unless the item has another problem.
func (it *Item) object(against *status.Stalled) {
	if against != nil && it.Problem == nil {
		it.Problem = &Problem{Reason: against.Reason, Code: status.CodeOf(against.Reason), Field: against.Field, Message: against.Message}
	}
}

// facts returns the facts that the operator will have once it has made everything that the capability needs.
func (cs *capabilities) facts(ctx context.Context, c *nexusv1.NexusAICapability) (capability.Facts, error) {
	f, err := capabilityfacts.Gatherer{Settings: cs.operator.Settings, Client: cs.ahead, Live: cs.ahead.now, Scheme: cs.ahead.now.Scheme()}.
		Gather(ctx, c)
	if err != nil {
		return f, err
	}
	if f.Provider.Account == "" && c.Spec.ProviderRef == nil && cs.accounts.areOpen() {
		session, err := cs.accounts.futureSession(ctx, c, cmp.Or(f.Provider.Region, c.Spec.Region, cs.operator.DefaultRegion))
		if err != nil {
			return f, err
		}
		f.Provider.Account, f.Provider.Partition = session.Account, session.Partition
	}
	disputed, err := cs.disputed(ctx, c)
	return capability.Expect(f, c, disputed), err
}

// disputed finds the children that claim an AWS resource of another owner.
func (cs *capabilities) disputed(ctx context.Context, c *nexusv1.NexusAICapability) (func(id string) bool, error) {
	found := map[string]bool{}
	for _, k := range capability.ProvingKinds(c) {
		if !cs.operator.Kinds.Serves(k) {
			continue
		}
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind(k + "List"))
		if err := cs.ahead.now.List(ctx, list, client.InNamespace(c.Namespace)); err != nil {
			return nil, fmt.Errorf("listing %s objects: %w", k, err)
		}
		for i := range list.Items {
			obj, err := toTyped(cs.kinds.entry(k), &list.Items[i])
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
func (cs *capabilities) child(ctx context.Context, ps *pass.Pass, n graph.Node) (Item, error) {
	it := itemOf(n.Object, None)
	it.Owner = ps.Owner.Namespace + "/" + ps.Owner.Name
	act := ps.Write(ctx, n)
	if act.Err != nil {
		return it, problemOf(&it, act.Err)
	}
	if act.Verb != pass.Keep {
		it.record(act.Written)
	}
	it.Risk = riskOf(it)
	if e := cs.kinds.entry(it.Kind); e == nil || act.Ref.Kind.Group != v1alpha1.GroupName {
		return it, nil
	}
	if it.Action == Create { // of the other objects, nexusctl render prints the content
		it.Fields = slices.DeleteFunc(contentOf(n.Object), func(f Field) bool { return strings.HasPrefix(f.Path, "metadata.") })
	}
	next, err := nextForm(cs.schemas, act.Written.Live, n.Object, it.Action == Update)
	if err != nil {
		return it, err
	}
	return it, cs.resources.plan(ctx, &it, controlled(ps, next), true)
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

// nextForm returns an AWS child in its future form: the object that the capability compiles to, with the defaults of its kind and its
// present metadata and status.
func nextForm(schemas *crdschema.Schemas, live, desired *unstructured.Unstructured, edited bool) (*unstructured.Unstructured, error) {
	next := desired.DeepCopy()
	if err := schemas.Default(next); err != nil {
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

// podTemplate is the path of the pod template in a Deployment. A change at or below it replaces the pods.
const podTemplate = "spec.template"

// surplus plans the children that the capability no longer compiles to.
func (cs *capabilities) surplus(ctx context.Context, ps *pass.Pass) ([]Item, error) {
	stages, err := ps.Stages(ctx)
	if err != nil {
		return nil, err
	}
	var out []Item
	for _, act := range ps.Surplus(stages) {
		it, err := cs.removal(ctx, ps, act)
		if err != nil {
			return nil, err
		}
		follow, err := cs.bindings.removed(ctx, act.Child)
		if err != nil {
			return nil, err
		}
		for i := range follow {
			follow[i].leave(act.Verb)
		}
		out = append(append(out, it), follow...)
	}
	return out, nil
}

// leave says of an object that is only released that it stays.
func (it *Item) leave(verb pass.Verb) {
	if verb == pass.Release {
		it.Action, it.Risk, it.Note = None, "", "deletionPolicy Orphan leaves the object, without the capability's marks"
	}
}

// removal plans the end of a child.
func (cs *capabilities) removal(ctx context.Context, ps *pass.Pass, act pass.Act) (Item, error) {
	child := act.Child
	it := removalOf(ps.Owner, child.Ref, Disrupts)
	it.leave(act.Verb)
	if child.Kind.Group != v1alpha1.GroupName || cs.kinds.entry(child.Kind.Kind) == nil {
		return it, nil
	}
	it.Risk = Safe // the item's AWS part has the risk for the resource
	u := objectOf(child.Ref)
	err := cs.ahead.now.Get(ctx, client.ObjectKeyFromObject(u), u)
	if apierrors.IsNotFound(err) {
		it.Action = None
		return it, nil
	}
	if err != nil {
		return it, fmt.Errorf("reading %s: %w", child.Ref, err)
	}
	doomed, err := doomedChild(cs.kinds.entry(u.GetKind()), ps.Capability, u)
	if err != nil {
		return it, err
	}
	return it, cs.resources.plan(ctx, &it, doomed, true)
}

// doomedChild returns an AWS child as it is when its deletion begins: the capability's deletion policy, and its consent to the loss of
// data, reach it before.
func doomedChild(e engine.Entry, c *nexusv1.NexusAICapability, u *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	live, err := toTyped(e, u)
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

// removed plans the end of everything that a capability made.
func (cs *capabilities) removed(ctx context.Context, u *unstructured.Unstructured) ([]Item, error) {
	c := &nexusv1.NexusAICapability{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, c); err != nil {
		return nil, fmt.Errorf("reading %s: %w", apply.RefOf(u), err)
	}
	items, err := cs.surplus(ctx, cs.sources().Ending(c))
	for i := range items {
		if items[i].Kind == "Namespace" && items[i].Action == Delete {
			items[i].Note = "the namespace stays where it holds objects that the capability did not create"
		}
		items[i].keepFor(c, cs.operator.DeletionGrace)
	}
	return items, err
}
