package controller

import (
	"context"
	"fmt"
	"sync"

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
		report.Engines = r.unmade(p, report.Err)
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
	facts, err := s.facts(ctx, p)
	if err != nil {
		return fail(err)
	}
	self := apply.Owner{
		Kind: res.Live.GroupVersionKind(), Namespace: p.Namespace, Name: p.Name, UID: res.Live.GetUID(), Label: LabelPolicyOwner, Sole: true,
	}
	r.engines(ctx, self, s, facts, &report)
	report.Err = raced(intent.Worst(report.Err, r.policyStatus(ctx, res.Live, report)))
	return report
}

// unmade says of every engine and rule that nothing came of it, and why.
func (r *Bindings) unmade(p intent.Policy, err error) []intent.EngineReport {
	out := make([]intent.EngineReport, len(r.Engines))
	for i, e := range r.Engines {
		out[i].Engine = e.Name()
		for _, rule := range p.Rules {
			out[i].Claims = append(out[i].Claims, intent.Not(rule, reasonOf(err), err.Error()))
		}
	}
	return out
}

// engines has every engine translate the policy, writes what comes of it, and removes what no longer
// does. Nothing is removed while something that may replace it could not be written for a passing reason.
func (r *Bindings) engines(ctx context.Context, self apply.Owner, s *surroundings, facts intent.Facts, report *intent.PolicyReport) {
	report.Engines = make([]intent.EngineReport, len(r.Engines))
	var wanted []apply.Ref
	var kinds []schema.GroupVersionKind
	var mu sync.Mutex
	group := errgroup.Group{}
	group.SetLimit(policing)
	for i, e := range r.Engines {
		t := intent.Translate(e.Engine, report.Policy, facts, e.Enabled, s.served)
		er := &report.Engines[i]
		er.Engine, er.Claims = e.Name(), t.Claims
		for _, k := range e.Makes() {
			if s.served(k) {
				kinds = append(kinds, k)
			}
		}
		made := make([]error, len(t.Objects))
		for n, o := range t.Objects {
			wanted = append(wanted, apply.RefOf(o))
			er.Objects = append(er.Objects, o.GetKind()+"/"+o.GetName())
			group.Go(func() error {
				_, made[n] = r.Applier.Apply(ctx, self, o)
				mu.Lock()
				defer mu.Unlock()
				report.Err = intent.Worst(report.Err, raced(made[n]))
				return nil
			})
		}
		defer settle(er, t.Objects, made)
	}
	_ = group.Wait() // each object's error is in made
	if _, stalled := status.AsStalled(report.Err); report.Err == nil || stalled {
		report.Err = intent.Worst(report.Err, raced(r.prune(ctx, self, kinds, wanted)))
	}
}

// settle takes back what an engine claims for objects that could not be written.
func settle(er *intent.EngineReport, objects []*unstructured.Unstructured, made []error) {
	var there []string
	for i, o := range objects {
		if made[i] == nil {
			there = append(there, er.Objects[i])
			continue
		}
		for n := range er.Claims {
			if c := &er.Claims[n]; c.Intent == o.GetLabels()[intent.LabelRule] {
				c.Level, c.Reason, c.Message = v1alpha1.LevelNone, reasonOf(made[i]), made[i].Error()
			}
		}
	}
	er.Objects = there
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
