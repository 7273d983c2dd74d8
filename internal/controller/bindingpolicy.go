package controller

import (
	"context"
	"fmt"
	"strings"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/api/intent/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/apply"
	"github.com/nexus-operator/nexus-operator/internal/intent"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// policyKinds are what bindings own.
var policyKinds = []schema.GroupVersionKind{
	v1alpha1.GroupVersion.WithKind("NimbusPolicy"),
	v1alpha1.GroupVersion.WithKind("ClusterNimbusPolicy"),
}

// lostRace is a write that another writer came before in.
type lostRace struct{ error }

// Unwrap returns the API server's conflict.
func (l *lostRace) Unwrap() error { return l.error }

func raced(err error) error {
	if apierrors.IsConflict(err) {
		return &lostRace{err}
	}
	return err
}

// manifest is what a policy is shown as.
func manifestOf(p intent.Policy) (*unstructured.Unstructured, error) {
	var obj runtime.Object = intent.NimbusPolicyOf(p)
	if p.Namespace == "" {
		obj = intent.ClusterNimbusPolicyOf(p)
	}
	m, err := runtime.DefaultUnstructuredConverter.ToUnstructured(obj)
	if err != nil {
		return nil, fmt.Errorf("policy %s: %w", p.Name, err)
	}
	return &unstructured.Unstructured{Object: m}, nil
}

func manifestsOf(policies []intent.Policy) []apply.Ref {
	refs := make([]apply.Ref, len(policies))
	for i, p := range policies {
		kind := policyKinds[0]
		if p.Namespace == "" {
			kind = policyKinds[1]
		}
		refs[i] = apply.Ref{Kind: kind, Namespace: p.Namespace, Name: p.Name}
	}
	return refs
}

// policy makes one policy and its engines' objects true, and writes how it went into its status.
func (r *Bindings) policy(ctx context.Context, owner apply.Owner, s *surroundings, p intent.Policy) intent.PolicyReport {
	report := intent.PolicyReport{Policy: p}
	fail := func(err error) intent.PolicyReport {
		report.Err = raced(err)
		for _, e := range r.Engines {
			report.Engines = append(report.Engines, unmade(e.Name(), p.Rules, report.Err))
		}
		return report
	}
	m, err := manifestOf(p)
	if err != nil {
		return fail(err)
	}
	res, err := r.Applier.Apply(ctx, owner, m)
	if err != nil {
		return fail(err)
	}
	r.restored(res.Live, res)
	facts, err := s.facts(ctx, p)
	if err != nil {
		return fail(err)
	}
	r.engines(ctx, res.Live, s, facts, &report)
	report.Err = raced(intent.Worst(report.Err, r.policyStatus(ctx, res.Live, report)))
	return report
}

// unmade says of every rule that nothing came of it, and why.
func unmade(engine string, rules []intent.Rule, err error) intent.EngineReport {
	out := intent.EngineReport{Engine: engine}
	for _, rule := range rules {
		out.Claims = append(out.Claims, intent.Not(rule, reasonOf(err), err.Error()))
	}
	return out
}

// piece is one engine's object, and what became of it.
type piece struct {
	engine int
	object *unstructured.Unstructured
	res    apply.Result
	err    error
}

// engines has every engine translate the policy, writes what comes of it, and removes what no longer
// does. Nothing is removed while something that may replace it could not be written for a passing reason.
func (r *Bindings) engines(ctx context.Context, policy *unstructured.Unstructured, s *surroundings, facts intent.Facts, report *intent.PolicyReport) {
	self := apply.Owner{
		Kind: policy.GroupVersionKind(), Namespace: policy.GetNamespace(), Name: policy.GetName(), UID: policy.GetUID(), Label: LabelPolicyOwner, Sole: true,
	}
	pieces, kinds := r.translate(s.kinds, facts, report)
	group := errgroup.Group{}
	group.SetLimit(policing)
	for i := range pieces {
		group.Go(func() error {
			p := &pieces[i]
			p.res, p.err = r.Applier.Apply(ctx, self, p.object)
			return nil
		})
	}
	_ = group.Wait() // each object's error is in its piece
	var wanted []apply.Ref
	for _, p := range pieces {
		wanted = append(wanted, apply.RefOf(p.object))
		report.Err = intent.Worst(report.Err, raced(p.err))
		settle(&report.Engines[p.engine], p)
		r.restored(policy, p.res)
	}
	if _, stalled := status.AsStalled(report.Err); report.Err == nil || stalled {
		report.Err = intent.Worst(report.Err, raced(r.prune(ctx, self, kinds, wanted)))
	}
}

// translate asks every engine, and lists the kinds in which objects of the policy may exist. An engine whose
// kinds may not be listed is left alone: what exists of them cannot be known.
func (r *Bindings) translate(known view, facts intent.Facts, report *intent.PolicyReport) (pieces []piece, kinds []schema.GroupVersionKind) {
	for i, e := range r.Engines {
		t := intent.Translate(e.Engine, report.Policy, facts, e.Enabled, known.served)
		if err := known.deniedOf(e); err != nil {
			report.Err = intent.Worst(report.Err, err)
			report.Engines = append(report.Engines, unmade(e.Name(), report.Policy.Rules, err))
			continue
		}
		report.Engines = append(report.Engines, intent.EngineReport{Engine: e.Name(), Claims: t.Claims})
		for _, o := range t.Objects {
			pieces = append(pieces, piece{engine: i, object: o})
		}
		for _, k := range e.Makes() {
			if known.served(k) {
				kinds = append(kinds, k)
			}
		}
	}
	return pieces, kinds
}

// deniedOf says that one of an engine's kinds may not be listed.
func (v view) deniedOf(e Engine) error {
	for _, k := range e.Makes() {
		if err := v.denied[k]; err != nil {
			return &status.Stalled{Reason: status.ReasonAccessDenied, Cause: err, Message: fmt.Sprintf(
				"the operator may not list %s, and can neither make nor remove any: %v; give it the rights of this version's ClusterRole nexus-operator", k.Kind, err)}
		}
	}
	return nil
}

// settle lists an object that is there, and takes back what is claimed for one that could not be written.
func settle(er *intent.EngineReport, p piece) {
	if p.err == nil {
		er.Objects = append(er.Objects, p.object.GetKind()+"/"+p.object.GetName())
		return
	}
	for n := range er.Claims {
		if c := &er.Claims[n]; c.Intent == p.object.GetLabels()[intent.LabelRule] {
			c.Level, c.Reason, c.Message = v1alpha1.LevelNone, reasonOf(p.err), p.err.Error()
		}
	}
}

// restored tells of what somebody had changed by hand in a derived object, and was put right.
func (r *Bindings) restored(about *unstructured.Unstructured, res apply.Result) {
	if res.Change != apply.Updated || len(res.Drift) == 0 {
		return
	}
	paths := make([]string, len(res.Drift))
	for i, d := range res.Drift {
		paths[i] = d.Path
	}
	r.Events.Eventf(about, nil, "Normal", status.ReasonDrift, "Restore", "%s", status.Bound(
		fmt.Sprintf("%s of %s was changed by hand and is as derived again", strings.Join(paths, ", "), apply.RefOf(res.Live)), maxNote))
}

// prune removes the owner's children that are not wanted.
func (r *Bindings) prune(ctx context.Context, owner apply.Owner, kinds []schema.GroupVersionKind, wanted []apply.Ref) error {
	children, err := r.Applier.Children(ctx, owner, kinds)
	if err != nil {
		return err
	}
	var worst error
	for _, c := range apply.Surplus(children, wanted) {
		if _, err := r.Applier.Delete(ctx, owner, c.Ref); err != nil {
			worst = intent.Worst(worst, err)
		}
	}
	return worst
}

// policyStatus writes how it went into the status of a policy, which is live as it was just applied.
func (r *Bindings) policyStatus(ctx context.Context, live *unstructured.Unstructured, report intent.PolicyReport) error {
	var obj client.Object = &v1alpha1.NimbusPolicy{}
	if report.Policy.Namespace == "" {
		obj = &v1alpha1.ClusterNimbusPolicy{}
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(live.Object, obj); err != nil {
		return err
	}
	was := obj.DeepCopyObject().(client.Object)
	at := intent.Moment{Generation: obj.GetGeneration(), Now: r.Clock.Now()}
	switch o := obj.(type) {
	case *v1alpha1.NimbusPolicy:
		report.Report(&o.Status, at)
	case *v1alpha1.ClusterNimbusPolicy:
		report.Report(&o.Status, at)
	}
	return client.IgnoreNotFound(r.patchStatus(ctx, obj, was))
}
