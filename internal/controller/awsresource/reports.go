// SPDX-License-Identifier: Apache-2.0

package awsresource

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/controller/reconciler"
	"github.com/nexus-operator/nexus-operator/internal/engine"
	"github.com/nexus-operator/nexus-operator/internal/kind"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// work is the part of a pass that AWS accepted.
type work struct {
	// done are the actions, and written the fields that they brought in line; drifted is true when they corrected a drift.
	done, written []string
	drifted       bool
}

// add adds the steps of a plan that AWS accepted.
func (w *work) add(plan engine.Plan, done []kind.Step) {
	for _, s := range done {
		w.done = append(w.done, s.Action)
	}
	for _, c := range plan.Diff {
		if !slices.Contains(w.written, c.Path) {
			w.written = append(w.written, c.Path)
		}
	}
	w.drifted = w.drifted || plan.Cause == engine.Drifted
}

// fields names the fields that the pass brought in line, or the calls where no field is behind them.
func (w *work) fields() string {
	const most = 10
	fields := w.written
	if len(fields) == 0 {
		fields = slices.Compact(slices.Sorted(slices.Values(w.done)))
	}
	text := strings.Join(fields[:min(most, len(fields))], ", ")
	if more := len(fields) - most; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// driftMetrics counts drifts by kind.
type driftMetrics interface {
	DriftDetected(kind string)
	DriftCorrected(kind string)
}

// reports tells people, by events and metrics, how a pass ended.
type reports struct {
	obj     v1alpha1.Resource // of the subject
	subject *subject
	work    *work
	events  reconciler.Events
	metrics driftMetrics
	drifts  *drifts
	changes *changes
}

func newReports(r *Reconciler, s *subject, w *work) *reports {
	return &reports{obj: s.obj, subject: s, work: w, events: r.Events, metrics: r.Metrics, drifts: r.drifts, changes: r.changes}
}

// summarized reports a pass with a summary that is in the object's status. First says that the resource was not in sync before.
func (r *reports) summarized(out engine.Outcome, err error, first bool) {
	r.countDrift(out)
	r.pending(out)
	r.attributeDrift(err)
	if err == nil {
		r.completed(out, first)
	}
	r.warn(err)
}

// countDrift counts the drift that a pass found or corrected.
func (r *reports) countDrift(out engine.Outcome) {
	found := out.Plan.Cause == engine.Drifted || len(out.Drift) > 0
	detected, corrected := r.drifts.observe(client.ObjectKeyFromObject(r.obj), out, found, r.work.drifted && len(r.work.written) > 0)
	if detected {
		r.metrics.DriftDetected(r.subject.entry.Name())
	}
	if corrected {
		r.metrics.DriftCorrected(r.subject.entry.Name())
	}
}

// pending emits an event for a plan that began to wait for an approval.
func (r *reports) pending(out engine.Outcome) {
	hash := out.Passage.Pending
	if hash == "" || hash == status.PendingPlan(r.subject.was.CommonStatus().Conditions) {
		return
	}
	if ready := meta.FindStatusCondition(r.obj.CommonStatus().Conditions, status.Ready); ready != nil {
		r.events.Normal(r.obj, status.ReasonPlanPending, "Plan", ready.Message)
	}
}

// completed emits one event for a completed change: a create is one event, however many calls and passes it took.
func (r *reports) completed(out engine.Outcome, first bool) {
	switch {
	case !out.Synced:
	case first && out.Plan.Exists && r.obj.CommonSpec().ManagementPolicy != v1alpha1.ManageObserve:
		r.first()
	case r.work.drifted:
		what := status.Counted(len(r.work.written),
			"field that was changed outside the operator", "fields that were changed outside the operator")
		r.events.Normal(r.obj, status.ReasonDriftCorrected, "Correct", "Corrected "+what+": "+r.work.fields())
	case len(r.work.done) > 0:
		r.events.Normal(r.obj, status.ReasonUpdated, "Update", "Updated the AWS resource: "+r.work.fields())
	}
}

// first says in an event that the AWS resource is as declared for the first time, and whether it existed before the object.
func (r *reports) first() {
	intent, err := engine.ReadIntent(r.obj.GetAnnotations(), string(r.obj.GetUID()))
	if err == nil && (intent == nil || intent.At.IsZero() || intent.Refused) {
		r.events.Normal(r.obj, status.ReasonAdopted, "Adopt",
			fmt.Sprintf("%s %s existed in AWS before; this object manages it now", r.subject.entry.Name(), r.subject.identifier()))
		return
	}
	r.events.Normal(r.obj, status.ReasonCreated, "Create",
		fmt.Sprintf("%s %s exists in AWS as declared", r.subject.entry.Name(), r.subject.identifier()))
}

// warn emits an event for a failure that is new, and for one that passes, or a wait, once it has lasted so long that the object is
// Stalled.
func (r *reports) warn(err error) {
	if s, ok := status.AsStalled(err); ok && !reconciler.StalledFor(r.subject.was.CommonStatus().Conditions, s.Reason) {
		r.events.Warning(r.obj, s.Reason, "Reconcile", s.Error())
		return
	}
	if now := meta.FindStatusCondition(r.obj.CommonStatus().Conditions, status.Stall); err != nil && now != nil &&
		now.Status == metav1.ConditionTrue &&
		!reconciler.StalledFor(r.subject.was.CommonStatus().Conditions, now.Reason) {
		r.events.Warning(r.obj, now.Reason, "Reconcile", now.Message)
	}
}

// survived is implemented by objects if AWS may keep a part of their resource after its deletion, apart from the parts that it can restore.
type survived interface {
	// Survivors names it, in the plural; empty for nothing.
	Survivors() string
}

// end emits the event of a deletion.
func (r *reports) end(out engine.Outcome) {
	switch id := r.subject.identifier(); {
	case out.Plan.Reason == engine.NothingOwn: // no event: it would show that AWS has a resource of the name
	case out.Plan.Exists && out.Plan.Reason != "":
		r.events.Normal(r.obj, status.ReasonKept, "Delete", "The AWS resource was kept: "+out.Plan.Reason)
	case out.Plan.Cause == engine.Gone && id != "":
		r.events.Normal(r.obj, status.ReasonDeleted, "Delete", "Deleted "+id+" in AWS"+survivorsOf(r.obj))
	case out.Plan.Cause == "" && id != "": // nothing was asked of AWS
		if policy := keptBy(r.obj, r.subject.entry.Meta()); policy != "" && !isAbandoned(r.obj) {
			r.events.Normal(r.obj, status.ReasonKept, "Delete", id+" stays in AWS ("+policy+")")
		}
	}
}

// survivorsOf names the parts that AWS keeps of a deleted resource; empty for nothing.
func survivorsOf(obj v1alpha1.Resource) string {
	if s, ok := obj.(survived); ok && s.Survivors() != "" {
		return "; " + s.Survivors() + " stay, with their data"
	}
	return ""
}

// keptBy names the policy that keeps the AWS resource of an object that is deleted; empty for none.
func keptBy(obj v1alpha1.Resource, m kind.Meta) string {
	switch {
	case obj.CommonSpec().ManagementPolicy == v1alpha1.ManageObserve:
		return "managementPolicy " + string(v1alpha1.ManageObserve)
	case engine.DeletionPolicyOf(obj, m) == v1alpha1.DeletionRetain:
		return "deletionPolicy " + string(v1alpha1.DeletionRetain)
	default:
		return ""
	}
}
