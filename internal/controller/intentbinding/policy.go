// SPDX-License-Identifier: Apache-2.0

package intentbinding

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"
	networkingv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/nexus-operator/nexus-operator/api/intent/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/apply"
	"github.com/nexus-operator/nexus-operator/internal/controller/reconciler"
	"github.com/nexus-operator/nexus-operator/internal/intent"
	"github.com/nexus-operator/nexus-operator/internal/intentfacts"
	"github.com/nexus-operator/nexus-operator/internal/pass"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// lostRace is a write that another writer came before in, or a read of a kind that went while the pass ran.
type lostRace struct{ error }

// Unwrap returns the API server's conflict.
func (l *lostRace) Unwrap() error { return l.error }

func explainLostRace(err error) error {
	if _, gone := errors.AsType[*cache.ErrResourceNotCached](err); gone || apierrors.IsConflict(err) {
		return &lostRace{err}
	}
	return err
}

// policy writes one policy and its engines' objects, and the result into the policy's status.
func (r *Reconciler) policy(ctx context.Context, owner apply.Owner, s *clusterFacts, p intent.Policy) intent.PolicyReport {
	report := intent.PolicyReport{Policy: p}
	fail := func(err error) intent.PolicyReport {
		report.Err = explainLostRace(err)
		for _, e := range r.Engines {
			report.Engines = append(report.Engines, reportNotApplied(e.Name(), p.Rules, report.Err))
		}
		return report
	}
	m, err := intentfacts.ManifestOf(p)
	if err != nil {
		return fail(err)
	}
	res, err := r.Applier.Apply(ctx, owner, m)
	if err != nil {
		return fail(err)
	}
	r.restored(res.Live, res)
	w := &work{s: s, policy: res.Live, facts: s.base(p.Namespace), report: &report, part: newPart()}
	if p.Namespace != "" && p.Restricts() != 0 {
		w.space = r.spaces.of(p.Namespace)
		w.space.mu.Lock()
		defer func() {
			waiting := w.waiting
			w.space.mu.Unlock()
			r.enqueueNeighbors(ctx, waiting)
		}()
		if err := r.refresh(ctx, w.space, s); err != nil {
			return fail(err)
		}
		if !reflect.DeepEqual(w.space.policies[p.Name], p) {
			// The caches have moved on since this pass began: the next one sees the same everywhere.
			return fail(&lostRace{fmt.Errorf("policy %s has changed meanwhile", p.Name)})
		}
		w.facts = w.space.facts
	} else if cluster, err := r.cluster.read(ctx); err != nil {
		return fail(err)
	} else {
		cluster.AddTo(&w.facts, p.Namespace)
	}
	if err := r.readCatalogs(ctx, w, p); err != nil {
		return fail(err)
	}
	report.Assessments = w.facts.TLS.Results
	r.engines(ctx, w)
	report.Err = explainLostRace(intent.Worst(report.Err, r.policyStatus(ctx, owner, res.Live, report)))
	return report
}

// readCatalogs adds the virtual patches and the results of assessments that the rules of a policy need to its facts.
func (r *Reconciler) readCatalogs(ctx context.Context, w *work, p intent.Policy) (err error) {
	if intentfacts.UsesPatches(p.Rules) {
		if w.facts.Patches, err = r.patch.read(ctx); err != nil {
			return err
		}
	}
	w.facts.TLS, err = r.readAssessments(ctx, p, w.policy)
	return err
}

// reportNotApplied says of every rule that nothing came of it, and why.
func reportNotApplied(engine string, rules []intent.Rule, err error) intent.EngineReport {
	out := intent.EngineReport{Engine: engine}
	for _, rule := range rules {
		out.Claims = append(out.Claims, intent.Not(rule, reconciler.ReasonOf(err), err.Error()))
	}
	return out
}

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

// engines has every engine translate the policy and writes the difference, make before break: first all objects, then the deletions.
// Objects of a rule are deleted only once all objects that replace them exist.
func (r *Reconciler) engines(ctx context.Context, w *work) {
	pieces, kinds := r.translate(w)
	group := errgroup.Group{}
	group.SetLimit(maxConcurrentPolicies)
	for i := range pieces {
		group.Go(func() error {
			p := &pieces[i]
			p.res, p.err = r.Applier.Apply(ctx, w.owner(), p.object)
			if p.err == nil {
				p.err = r.undoSwitches(ctx, p)
			}
			return nil
		})
	}
	_ = group.Wait() // each object's error is in its piece
	var wanted []apply.Ref
	for i, p := range pieces {
		r.note(w, &pieces[i])
		wanted = append(wanted, apply.RefOf(p.object))
		w.report.Err = intent.Worst(w.report.Err, explainLostRace(p.err))
		recordOutcome(&w.report.Engines[p.engine], p)
		r.restored(w.policy, p.res)
	}
	if _, stalled := status.AsStalled(w.report.Err); w.report.Err == nil || stalled {
		w.report.Err = intent.Worst(w.report.Err, explainLostRace(r.pruneObjects(ctx, w, pieces, kinds, wanted)))
	}
	r.confirm(w)
}

// undoSwitches removes annotations of the engine's own domain that are not the rule's, such as istio.io/dry-run:
// engines are switched off by them. One that comes back at once, from a webhook, is an error.
func (r *Reconciler) undoSwitches(ctx context.Context, p *piece) error {
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
	if err := r.Applier.Client.Patch(ctx, next, patch, client.FieldOwner(apply.FieldOwner)); err != nil {
		return fmt.Errorf("removing annotation %s of %s: %w", strings.Join(added, ", "), apply.RefOf(p.object), err)
	}
	r.Applier.Wrote(apply.RefOf(p.object), next.GetResourceVersion())
	p.res.Live, p.res.Change = next, apply.Updated
	for _, k := range added {
		if _, back := next.GetAnnotations()[k]; back {
			return &status.Stalled{Reason: intent.ReasonNotLive, Message: fmt.Sprintf("annotation %s of %s, which may switch it off, is put back by a webhook: remove that", k, apply.RefOf(p.object))}
		}
	}
	return nil
}

// mayReplace reports whether an object that could not be written may have to take the place of one of an engine's objects. It must be of
// the same rule. For an engine with objects that add up, it may be of any rule, since an edited intent becomes another rule.
func (r *Reconciler) mayReplace(pieces []piece, engine int, rule string) bool {
	_, adds := r.Engines[engine].Engine.(intent.Divider)
	return slices.ContainsFunc(pieces, func(p piece) bool { return p.err != nil && p.engine == engine && (adds || p.rule() == rule) })
}

// note remembers an object of a Divider that was written.
func (r *Reconciler) note(w *work, p *piece) {
	if _, ok := r.Engines[p.engine].Engine.(intent.Divider); !ok || p.err != nil || w.space == nil {
		return
	}
	w.wrote = w.wrote || p.res.Change != apply.Unchanged
	w.space.wrote(p.res.Live, r.parse(p.res.Live), r.Clock.Now())
}

// pruneObjects removes the policy's objects that are not wanted, except those with a failed replacement.
func (r *Reconciler) pruneObjects(ctx context.Context, w *work, pieces []piece, kinds []schema.GroupVersionKind, wanted []apply.Ref) error {
	children, err := r.Applier.Children(ctx, w.owner(), kinds)
	if err != nil {
		return err
	}
	var worst error
	for _, c := range apply.Surplus(children, wanted) {
		if i := r.engineOf(c.Kind); i >= 0 && r.mayReplace(pieces, i, c.Labels[intent.LabelRule]) {
			continue
		}
		gone, err := r.Applier.Delete(ctx, w.owner(), c.Ref)
		worst = intent.Worst(worst, err)
		if w.space != nil && err == nil && c.Kind.Group == networkingv1.GroupName {
			w.wrote = w.wrote || !gone
			w.space.deleted(c.Name, c.UID)
		}
	}
	return worst
}

// engineOf returns the index of the engine that makes a kind, -1 for none.
func (r *Reconciler) engineOf(kind schema.GroupVersionKind) int {
	return slices.IndexFunc(r.Engines, func(e Engine) bool { return slices.Contains(e.Makes(), kind) })
}

// confirm takes back the claims that the live objects of the namespace do not bear out.
func (r *Reconciler) confirm(w *work) {
	if w.space == nil {
		return
	}
	p := w.report.Policy
	req := w.space.bindings[p.Name]
	delete(w.space.pending, req)
	for i, e := range r.Engines {
		d, ok := e.Engine.(intent.Divider)
		if !ok || !e.Enabled {
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
func (r *Reconciler) translate(w *work) (pieces []piece, kinds []schema.GroupVersionKind) {
	known, report := w.s.kinds, w.report
	for i, e := range pass.Enforce(r.Engines, report.Policy, w.facts, known.served) {
		if _, ok := e.Engine.Engine.(intent.Divider); ok {
			w.part.add(e.Translation)
		}
		name, err := e.Engine.Name(), known.deniedOf(e.Engine)
		if err != nil && e.Engine.Enabled {
			report.Err = intent.Worst(report.Err, err)
			report.Engines = append(report.Engines, reportNotApplied(name, report.Policy.Rules, err))
			continue
		}
		report.Engines = append(report.Engines, intent.EngineReport{Engine: name, Claims: e.Claims})
		for _, o := range e.Objects {
			pieces = append(pieces, piece{engine: i, object: o})
		}
		if err == nil {
			kinds = append(kinds, e.Kinds...)
		}
	}
	return pieces, kinds
}

// deniedOf says that one of an engine's kinds may not be listed.
func (v view) deniedOf(e Engine) error {
	for _, k := range e.Makes() {
		if err := v.denied[k]; err != nil {
			return &status.Stalled{Reason: status.ReasonAccessDenied, Cause: err, Message: fmt.Sprintf(
				"the operator may not list %s, and can neither make nor remove any: %v; apply this version's config/rbac, which binds ClusterRole nexus-operator-%s, or leave the engine out of --adapters", k.Kind, err, strings.ToLower(e.Name()))}
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

// restored reports the fields of a derived object that a person had changed by hand and that were restored.
func (r *Reconciler) restored(about *unstructured.Unstructured, res apply.Result) {
	if res.Change != apply.Updated || len(res.Drift) == 0 {
		return
	}
	paths := make([]string, len(res.Drift))
	for i, d := range res.Drift {
		paths[i] = d.Path
	}
	r.Events.Normal(about, status.ReasonDrift, "Restore",
		strings.Join(paths, ", ")+" of "+apply.RefOf(res.Live).String()+" was changed by hand and is as derived again")
}

// prune removes the policies that a binding does not become any more.
func (r *Reconciler) prune(ctx context.Context, b pass.Bound) error {
	children, err := r.Applier.Children(ctx, b.Owner, pass.PolicyKinds(b.Owner))
	if err != nil {
		return err
	}
	var worst error
	for _, c := range b.Surplus(children) {
		if _, err := r.Applier.Delete(ctx, b.Owner, c.Ref); err != nil {
			worst = intent.Worst(worst, err)
		}
	}
	return worst
}

// policyStatus writes how it went into the status of a policy, which is live as it was just applied.
func (r *Reconciler) policyStatus(ctx context.Context, owner apply.Owner, live *unstructured.Unstructured, report intent.PolicyReport) error {
	var obj client.Object = &v1alpha1.NimbusPolicy{}
	if report.Policy.Namespace == "" {
		obj = &v1alpha1.ClusterNimbusPolicy{}
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(live.Object, obj); err != nil {
		return err
	}
	was := obj.DeepCopyObject().(client.Object)
	at := intent.Moment{Generation: obj.GetGeneration(), Now: r.Clock.Now()}
	at.FailingSince = r.policies.observe(types.NamespacedName{Namespace: owner.Namespace, Name: owner.Name}, client.ObjectKeyFromObject(obj), report.Err, at.Now)
	switch o := obj.(type) {
	case *v1alpha1.NimbusPolicy:
		report.Report(&o.Status, at)
		r.warnOfAssessment(o, CommonOf(was).Coverage, o.Status.Coverage)
	case *v1alpha1.ClusterNimbusPolicy:
		report.Report(&o.Status, at)
	}
	return client.IgnoreNotFound(r.patchStatus(ctx, obj, was))
}
