// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"cmp"
	"context"
	"fmt"
	"hash/fnv"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	intentv1alpha1 "github.com/nexus-operator/nexus-operator/api/intent/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/apply"
	"github.com/nexus-operator/nexus-operator/internal/crdschema"
	"github.com/nexus-operator/nexus-operator/internal/graph"
	"github.com/nexus-operator/nexus-operator/internal/intent"
	"github.com/nexus-operator/nexus-operator/internal/intentfacts"
	"github.com/nexus-operator/nexus-operator/internal/pass"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// bindings plans the policies of security intents and the engines' objects that enforce them.
type bindings struct {
	ahead   ahead
	schemas *crdschema.Schemas
	engines []intentfacts.Engine
	posture *posture
	// operatorNamespace is never used for objects of owners elsewhere.
	operatorNamespace string
}

// unknownUID is the prefix of the text in place of a UID that the API server has not yet given to an owner. No object carries such a UID.
const unknownUID = "known-after-create"

// futureUID is different for any two objects that are yet to be made. It is the value of a label.
func futureUID(u *unstructured.Unstructured) types.UID {
	h := fnv.New64a()
	_, _ = h.Write([]byte(keyOf(u.GetKind(), u.GetNamespace(), u.GetName()))) // a hash never fails
	return types.UID(fmt.Sprintf("%s-%x", unknownUID, h.Sum64()))
}

func isFuture(uid types.UID) bool { return strings.HasPrefix(string(uid), unknownUID) }

// intention plans the effects of an object of the security intents.
func (bs *bindings) intention(ctx context.Context, it *Item, u *unstructured.Unstructured) ([]Item, error) {
	switch u.GetKind() {
	case "SecurityIntent":
		si := &intentv1alpha1.SecurityIntent{}
		if err := fromDeclared(u, si); err != nil {
			return nil, err
		}
		return nil, problemOf(it, intent.CheckIntent(si))
	case intent.KindBinding, intent.KindClusterBinding:
		return bs.plan(ctx, it, u)
	default: // policies, which the operator makes
		return nil, nil
	}
}

// plan plans the policies of a binding, and the engines' objects that enforce them.
func (bs *bindings) plan(ctx context.Context, it *Item, u *unstructured.Unstructured) ([]Item, error) {
	out, err := bs.policies(ctx, u)
	if apierrors.IsForbidden(err) {
		err = &status.Waiting{For: "the right to read what the policies depend on: " + err.Error()}
	}
	return out, problemOf(it, err)
}

// bindingOf reads a binding of either kind.
func bindingOf(u *unstructured.Unstructured) (client.Object, error) {
	var obj client.Object = &intentv1alpha1.SecurityIntentBinding{}
	if u.GetKind() == intent.KindClusterBinding {
		obj = &intentv1alpha1.ClusterSecurityIntentBinding{}
	}
	return obj, fromDeclared(u, obj)
}

// policies plans the policies of a binding. The items are valid even if an error reports that the binding waits or is wrong.
func (bs *bindings) policies(ctx context.Context, u *unstructured.Unstructured) ([]Item, error) {
	obj, err := bindingOf(u)
	if err != nil {
		return nil, err
	}
	s := bs.posture
	if err := s.gather(ctx); err != nil {
		return nil, err
	}
	s.planned[keyOf(u.GetKind(), u.GetNamespace(), u.GetName())] = true
	var namespaces []intent.Namespace
	if u.GetKind() == intent.KindClusterBinding {
		if namespaces, err = s.namespaces(ctx); err != nil {
			return nil, err
		}
	}
	b := pass.Bind(obj, s.intents, namespaces, s.settings.OperatorNamespace)
	b.Owner.UID = cmp.Or(b.Owner.UID, futureUID(u))
	var out []Item
	for _, policy := range b.Policies {
		items, err := bs.policy(ctx, b.Owner, policy)
		if err != nil {
			return nil, err
		}
		out = append(out, items...)
	}
	surplus, err := bs.surplusPolicies(ctx, b)
	if err != nil {
		return nil, err
	}
	return append(out, surplus...), intent.BindingReport{Resolution: b.Resolution}.Failure()
}

// policy plans one policy of a binding and the engines' objects.
func (bs *bindings) policy(ctx context.Context, owner apply.Owner, policy intent.Policy) ([]Item, error) {
	m, err := intentfacts.ManifestOf(policy)
	if err != nil {
		return nil, err
	}
	it, live, err := bs.derived(ctx, owner, m)
	if err != nil || it.Problem != nil || it.Waits != "" {
		return []Item{it}, err
	}
	if live == nil {
		live = m
	}
	made, err := bs.enforcing(ctx, policy, live)
	return append([]Item{it}, made...), err
}

// derived plans the write of an object that a binding or a policy owns, and returns the object as it is.
func (bs *bindings) derived(ctx context.Context, owner apply.Owner, m *unstructured.Unstructured) (Item, *unstructured.Unstructured,
	error) {
	it := itemOf(m, None)
	it.Owner = nameOf(owner)
	written, err := bs.applier().Plan(ctx, owner, m)
	if err != nil {
		err = problemOf(&it, err)
		return it, nil, err
	}
	it.record(written)
	if live := written.Live; live != nil {
		for _, k := range intentfacts.AddedSwitches(m, live) {
			it.Fields = append(it.Fields, Field{Path: "metadata.annotations." + k, Have: text(live.GetAnnotations()[k])})
			it.Action = Update
		}
	}
	if it.Action != None {
		it.Risk = Safe
	}
	return it, written.Live, nil
}

func nameOf(owner apply.Owner) string {
	return strings.TrimPrefix(owner.Namespace+"/"+owner.Name, "/")
}

func (bs *bindings) applier() *apply.Applier {
	return &apply.Applier{Client: bs.ahead.now, Live: bs.ahead.now, OperatorNamespace: bs.operatorNamespace}
}

// enforcing plans the engines' objects that enforce a policy. The policy exists as live or is to be created.
func (bs *bindings) enforcing(ctx context.Context, policy intent.Policy, live *unstructured.Unstructured) ([]Item, error) {
	facts, err := bs.posture.factsOf(ctx, policy, live)
	if err != nil {
		return nil, err
	}
	owner := intentfacts.OwnerOfDerived(live.GroupVersionKind(), live)
	owner.UID = cmp.Or(owner.UID, futureUID(live))
	known := &served{mapper: bs.ahead.now.RESTMapper()}
	var out []Item
	var wanted []apply.Ref
	var kinds []schema.GroupVersionKind
	for _, e := range pass.Enforce(bs.engines, policy, facts, bs.preferred(known)) {
		for _, o := range e.Objects {
			it, _, err := bs.derived(ctx, owner, o)
			if err != nil {
				return nil, err
			}
			if it.Action != None {
				it.Risk = enforcementRisk(policy, o)
			}
			out, wanted = append(out, it), append(wanted, apply.RefOf(o))
		}
		kinds = append(kinds, e.Kinds...)
	}
	surplus, err := bs.enforcingSurplus(ctx, owner, kinds, wanted)
	return append(out, surplus...), cmp.Or(err, known.err)
}

// enforcementRisk is the risk of a change of an engine's object: where its rule blocks, pods that run may do less than before.
func enforcementRisk(policy intent.Policy, o *unstructured.Unstructured) Risk {
	for _, r := range policy.Rules {
		if r.ID == o.GetLabels()[intent.LabelRule] && r.Audit() {
			return Safe
		}
	}
	return Disrupts
}

// preferred knows of the engines' kinds which version is used.
func (bs *bindings) preferred(known *served) intent.Served {
	var kinds []schema.GroupVersionKind
	for _, e := range bs.engines {
		kinds = append(kinds, e.Makes()...)
	}
	return intent.PreferredOnly(kinds, known.has)
}

// enforcingSurplus plans the removal of a policy's objects of some kinds that are not wanted.
func (bs *bindings) enforcingSurplus(ctx context.Context, owner apply.Owner, kinds []schema.GroupVersionKind, wanted []apply.Ref) ([]Item,
	error) {
	if isFuture(owner.UID) {
		return nil, nil
	}
	children, err := bs.applier().Children(ctx, owner, kinds)
	if err != nil {
		return nil, err
	}
	var out []Item
	for _, c := range apply.Surplus(children, wanted) {
		out = append(out, removalOf(owner, c.Ref, Disrupts))
	}
	return out, nil
}

// surplusPolicies plans the removal of the policies that a binding does not become any more, with the engines' objects.
func (bs *bindings) surplusPolicies(ctx context.Context, b pass.Bound) ([]Item, error) {
	if isFuture(b.Owner.UID) {
		return nil, nil
	}
	children, err := bs.applier().Children(ctx, b.Owner, pass.PolicyKinds(b.Owner))
	if err != nil {
		return nil, err
	}
	var out []Item
	for _, c := range b.Surplus(children) {
		objects, err := bs.enforcedBy(ctx, c)
		if err != nil {
			return nil, err
		}
		out = append(append(out, removalOf(b.Owner, c.Ref, Safe)), objects...)
	}
	return out, nil
}

// enforcedBy plans the removal of all objects of a policy.
func (bs *bindings) enforcedBy(ctx context.Context, policy apply.Child) ([]Item, error) {
	known := &served{mapper: bs.ahead.now.RESTMapper()}
	isServed := bs.preferred(known)
	var kinds []schema.GroupVersionKind
	for _, e := range bs.engines {
		kinds = append(kinds, pass.ServedKinds(e, isServed)...)
	}
	if known.err != nil {
		return nil, known.err
	}
	owner := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Namespace: policy.Namespace, Name: policy.Name, UID: policy.UID}}
	return bs.enforcingSurplus(ctx, intentfacts.OwnerOfDerived(policy.Kind, owner), kinds, nil)
}

func removalOf(owner apply.Owner, ref apply.Ref, risk Risk) Item {
	it := itemOf(objectOf(ref), Delete)
	it.Owner, it.Risk = nameOf(owner), risk
	return it
}

// objectOf returns an object with only its name known.
func objectOf(ref apply.Ref) *unstructured.Unstructured {
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(ref.Kind)
	u.SetNamespace(ref.Namespace)
	u.SetName(ref.Name)
	return u
}

// ofChild plans the policies of a binding that a capability compiles to; none of any other child.
func (bs *bindings) ofChild(ctx context.Context, n graph.Node, it *Item) ([]Item, error) {
	if n.Object.GroupVersionKind() != intentv1alpha1.GroupVersion.WithKind(intent.KindBinding) || it.Problem != nil || it.Waits != "" {
		return nil, nil
	}
	live := &unstructured.Unstructured{}
	live.SetGroupVersionKind(n.Object.GroupVersionKind())
	err := bs.ahead.now.Get(ctx, client.ObjectKeyFromObject(n.Object), live)
	if apierrors.IsNotFound(err) {
		live, err = nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", apply.RefOf(n.Object), err)
	}
	next, err := nextForm(bs.schemas, live, n.Object, it.Action == Update)
	if err != nil {
		return nil, err
	}
	if reason := frozen(next); reason != "" {
		it.Waits = reason
		return nil, nil
	}
	return bs.plan(ctx, it, next)
}

// removed plans the deletion of everything that a binding made, when the binding is to be deleted; nothing for children of other
// kinds.
func (bs *bindings) removed(ctx context.Context, c apply.Child) ([]Item, error) {
	if c.Kind.Group != intentv1alpha1.GroupName {
		return nil, nil
	}
	binding := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Namespace: c.Namespace, Name: c.Name, UID: c.UID}}
	return bs.surplusPolicies(ctx, pass.Bound{Owner: intentfacts.OwnerOfDerived(c.Kind, binding)})
}
