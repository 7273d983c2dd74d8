// SPDX-License-Identifier: Apache-2.0

package intentbinding

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

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
	restored(r.Events, res.Live, res)
	w := &work{s: s, policy: res.Live, facts: s.base(p.Namespace), report: &report, part: newPart()}
	if p.Namespace != "" && p.Restricts() != 0 {
		w.space = r.spaces.of(p.Namespace)
		w.space.mu.Lock()
		defer func() {
			waiting := w.waiting
			w.space.mu.Unlock()
			r.triggers().enqueueNeighbors(ctx, waiting)
		}()
		if err := r.survey().refresh(ctx, w.space, s); err != nil {
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
	r.enforcement().enforce(ctx, w)
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

// restored reports the fields of a derived object that a person had changed by hand and that were restored.
func restored(events reconciler.Events, about *unstructured.Unstructured, res apply.Result) {
	if res.Change != apply.Updated || len(res.Drift) == 0 {
		return
	}
	paths := make([]string, len(res.Drift))
	for i, d := range res.Drift {
		paths[i] = d.Path
	}
	events.Normal(about, status.ReasonDrift, "Restore",
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
