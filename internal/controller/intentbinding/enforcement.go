// SPDX-License-Identifier: Apache-2.0

package intentbinding

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/nexus-operator/nexus-operator/internal/apply"
	"github.com/nexus-operator/nexus-operator/internal/controller/reconciler"
	"github.com/nexus-operator/nexus-operator/internal/intent"
	"github.com/nexus-operator/nexus-operator/internal/intentfacts"
	"github.com/nexus-operator/nexus-operator/internal/pass"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// work is one policy in a pass.
type work struct {
	s      *clusterFacts
	policy *unstructured.Unstructured
	facts  intent.Facts
	// space is shared with the other policies of the namespace, for one that restricts the network; its lock is
	// held.
	space  *space
	report *intent.PolicyReport
	// part identifies the objects that Dividers make of the policy.
	part *part
	// wrote says that an object of a Divider was written or deleted; waiting are the bindings that waited for that.
	wrote   bool
	waiting []reconcile.Request
}

// owner is the policy as the owner of engine objects.
func (w *work) owner() apply.Owner {
	o := intentfacts.OwnerOfDerived(w.policy.GroupVersionKind(), w.policy)
	o.Optimistic = w.space != nil
	return o
}

// piece is one engine's object, and the result of its apply.
type piece struct {
	engine int
	object *unstructured.Unstructured
	res    apply.Result
	err    error
}

func (p piece) rule() string { return p.object.GetLabels()[intent.LabelRule] }

// enforcement has engines enforce policies that are in the cluster.
type enforcement struct {
	applier *apply.Applier
	engines []Engine
	events  reconciler.Events
	clock   clock.PassiveClock
}

func (r *Reconciler) enforcement() *enforcement {
	return &enforcement{applier: r.Applier, engines: r.Engines, events: r.Events, clock: r.Clock}
}

// enforce has every engine translate the policy and writes the difference, make before break: first all objects, then the deletions.
// Objects of a rule are deleted only once all objects that replace them exist.
func (e *enforcement) enforce(ctx context.Context, w *work) {
	pieces, kinds := e.translate(w)
	group := errgroup.Group{}
	group.SetLimit(maxConcurrentPolicies)
	for i := range pieces {
		group.Go(func() error {
			p := &pieces[i]
			p.res, p.err = e.applier.Apply(ctx, w.owner(), p.object)
			if p.err == nil {
				p.err = e.undoSwitches(ctx, p)
			}
			return nil
		})
	}
	_ = group.Wait() // each object's error is in its piece
	var wanted []apply.Ref
	for i, p := range pieces {
		e.note(w, &pieces[i])
		wanted = append(wanted, apply.RefOf(p.object))
		w.report.Err = intent.Worst(w.report.Err, explainLostRace(p.err))
		recordOutcome(&w.report.Engines[p.engine], p)
		restored(e.events, w.policy, p.res)
	}
	if _, stalled := status.AsStalled(w.report.Err); w.report.Err == nil || stalled {
		w.report.Err = intent.Worst(w.report.Err, explainLostRace(e.pruneObjects(ctx, w, pieces, kinds, wanted)))
	}
	e.confirm(w)
}

// undoSwitches removes annotations of the engine's own domain that are not the rule's, such as istio.io/dry-run:
// engines are switched off by them. One that comes back at once, from a webhook, is an error.
func (e *enforcement) undoSwitches(ctx context.Context, p *piece) error {
	added := intentfacts.AddedSwitches(p.object, p.res.Live)
	if len(added) == 0 {
		return nil
	}
	next := p.res.Live.DeepCopy()
	annotations := next.GetAnnotations()
	for _, k := range added {
		delete(annotations, k)
		p.res.Drift = append(p.res.Drift, apply.Difference{Path: "metadata.annotations." + k})
	}
	next.SetAnnotations(annotations)
	patch := client.MergeFromWithOptions(p.res.Live, client.MergeFromWithOptimisticLock{})
	if err := e.applier.Client.Patch(ctx, next, patch, client.FieldOwner(apply.FieldOwner)); err != nil {
		return fmt.Errorf("removing annotation %s of %s: %w", strings.Join(added, ", "), apply.RefOf(p.object), err)
	}
	e.applier.Wrote(apply.RefOf(p.object), next.GetResourceVersion())
	p.res.Live, p.res.Change = next, apply.Updated
	for _, k := range added {
		if _, back := next.GetAnnotations()[k]; back {
			return &status.Stalled{Reason: intent.ReasonNotLive, Message: fmt.Sprintf(
				"annotation %s of %s, which may switch it off, is put back by a webhook: remove that", k, apply.RefOf(p.object))}
		}
	}
	return nil
}

// mayReplace reports whether an object that could not be written may have to take the place of one of an engine's objects. It must be of
// the same rule. For an engine with objects that add up, it may be of any rule, since an edited intent becomes another rule.
func (e *enforcement) mayReplace(pieces []piece, engine int, rule string) bool {
	_, adds := e.engines[engine].Engine.(intent.Divider)
	return slices.ContainsFunc(pieces, func(p piece) bool { return p.err != nil && p.engine == engine && (adds || p.rule() == rule) })
}

// note remembers an object of a Divider that was written.
func (e *enforcement) note(w *work, p *piece) {
	if _, ok := e.engines[p.engine].Engine.(intent.Divider); !ok || p.err != nil || w.space == nil {
		return
	}
	w.wrote = w.wrote || p.res.Change != apply.Unchanged
	w.space.wrote(p.res.Live, parse(e.engines, p.res.Live), e.clock.Now())
}

// pruneObjects removes the policy's objects that are not wanted, except those with a failed replacement.
func (e *enforcement) pruneObjects(ctx context.Context, w *work, pieces []piece, kinds []schema.GroupVersionKind,
	wanted []apply.Ref) error {
	children, err := e.applier.Children(ctx, w.owner(), kinds)
	if err != nil {
		return err
	}
	var worst error
	for _, c := range apply.Surplus(children, wanted) {
		if i := e.engineOf(c.Kind); i >= 0 && e.mayReplace(pieces, i, c.Labels[intent.LabelRule]) {
			continue
		}
		gone, err := e.applier.Delete(ctx, w.owner(), c.Ref)
		worst = intent.Worst(worst, err)
		if w.space != nil && err == nil && c.Kind.Group == networkingv1.GroupName {
			w.wrote = w.wrote || !gone
			w.space.deleted(c.Name, c.UID)
		}
	}
	return worst
}

// engineOf returns the index of the engine that makes a kind, -1 for none.
func (e *enforcement) engineOf(kind schema.GroupVersionKind) int {
	return slices.IndexFunc(e.engines, func(of Engine) bool { return slices.Contains(of.Makes(), kind) })
}

// confirm takes back the claims that the live objects of the namespace do not bear out.
func (e *enforcement) confirm(w *work) {
	if w.space == nil {
		return
	}
	p := w.report.Policy
	req := w.space.bindings[p.Name]
	delete(w.space.pending, req)
	for i, of := range e.engines {
		d, ok := of.Engine.(intent.Divider)
		if !ok || !of.Enabled {
			continue
		}
		was := w.report.Engines[i].Claims
		now := d.Confirm(p, w.facts, was, w.space.existing())
		if !slices.Equal(was, now) {
			w.report.Engines[i].Claims, w.report.Unconfirmed = now, true
			w.space.pending[req] = true
		}
	}
	if w.report.Err == nil {
		w.space.acted[p.Name] = w.part.String()
	}
	if !w.wrote {
		return
	}
	for other := range w.space.pending {
		if other != req {
			w.waiting = append(w.waiting, other)
		}
	}
}

// translate asks every engine, and lists the kinds that may have objects of the policy. If the kinds of an engine may not be listed, the
// engine is left alone: its existing objects cannot be known. That is no error of an engine that --adapters leaves out: an administrator
// need not bind its ClusterRole.
func (e *enforcement) translate(w *work) (pieces []piece, kinds []schema.GroupVersionKind) {
	known, report := w.s.kinds, w.report
	for i, of := range pass.Enforce(e.engines, report.Policy, w.facts, known.served) {
		if _, ok := of.Engine.Engine.(intent.Divider); ok {
			w.part.add(of.Translation)
		}
		name, err := of.Engine.Name(), known.deniedOf(of.Engine)
		if err != nil && of.Engine.Enabled {
			report.Err = intent.Worst(report.Err, err)
			report.Engines = append(report.Engines, reportNotApplied(name, report.Policy.Rules, err))
			continue
		}
		report.Engines = append(report.Engines, intent.EngineReport{Engine: name, Claims: of.Claims})
		for _, o := range of.Objects {
			pieces = append(pieces, piece{engine: i, object: o})
		}
		if err == nil {
			kinds = append(kinds, of.Kinds...)
		}
	}
	return pieces, kinds
}

// reportNotApplied says of every rule that nothing came of it, and why.
func reportNotApplied(engine string, rules []intent.Rule, err error) intent.EngineReport {
	out := intent.EngineReport{Engine: engine}
	for _, rule := range rules {
		out.Claims = append(out.Claims, intent.Not(rule, reconciler.ReasonOf(err), err.Error()))
	}
	return out
}

// deniedOf says that one of an engine's kinds may not be listed.
func (v view) deniedOf(e Engine) error {
	for _, k := range e.Makes() {
		if err := v.denied[k]; err != nil {
			return &status.Stalled{Reason: status.ReasonAccessDenied, Cause: err, Message: fmt.Sprintf(
				"the operator may not list %s, and can neither make nor remove any: %v; apply this version's config/rbac, which binds ClusterRole nexus-operator-%s, or leave the engine out of --adapters",
				k.Kind, err, strings.ToLower(e.Name()))}
		}
	}
	return nil
}

// recordOutcome lists an object that is there, and takes back the claims for one that could not be written.
func recordOutcome(er *intent.EngineReport, p piece) {
	if p.err == nil && len(p.res.Unsettled) > 0 {
		p.err = fmt.Errorf("%s is not as written: the API server or a webhook keeps %s otherwise", apply.RefOf(p.object), p.res.Unsettled[0].Path)
		er.Deny(p.rule(), intent.ReasonNotLive, p.err)
		return
	}
	if p.err == nil {
		er.Objects = append(er.Objects, p.object.GetKind()+"/"+p.object.GetName())
		return
	}
	er.Deny(p.rule(), reconciler.ReasonOf(p.err), p.err)
}
