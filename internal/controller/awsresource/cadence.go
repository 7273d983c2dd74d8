// SPDX-License-Identifier: Apache-2.0

package awsresource

import (
	"math/rand/v2"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/controller/reconciler"
	"github.com/nexus-operator/nexus-operator/internal/engine"
	"github.com/nexus-operator/nexus-operator/internal/kind"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// cadence decides when objects that are as declared are checked.
type cadence struct {
	entry     engine.Entry
	client    client.Client
	clock     clock.PassiveClock
	intervals reconciler.Intervals
	// covered reports whether events of changes of an object's resource arrive; nil where none do.
	covered func(v1alpha1.Resource) bool
	// due holds when each object is checked next.
	due *reconciler.Schedule
}

func (r *Reconciler) cadence() cadence {
	return cadence{entry: r.Entry, client: r.Client, clock: r.Clock, intervals: r.Intervals, covered: r.Covered, due: r.checks}
}

// timeToNextCheck returns how long an object that is as declared is left alone: nothing changed since AWS was last seen
// to be right, and the next check is not due. After a restart the first check falls at a random moment
// of an interval, so that a thousand objects do not ask at once.
func (c cadence) timeToNextCheck(obj v1alpha1.Resource) time.Duration {
	if !c.isAtRest(obj) {
		return 0
	}
	key := client.ObjectKeyFromObject(obj)
	due, ok := c.due.Due(key)
	if !ok {
		due = c.clock.Now().Add(time.Duration(rand.Int64N(int64(c.interval()))))
		c.due.Set(key, due)
	}
	return max(0, due.Sub(c.clock.Now()))
}

// isAtRest reports whether an object is as declared and nothing changed since AWS was last seen to be right.
func (c cadence) isAtRest(obj v1alpha1.Resource) bool {
	st := obj.CommonStatus()
	if obj.CommonSpec().ManagementPolicy == v1alpha1.ManageObserve && st.Ownership == "" {
		return false // an earlier version observed it, and did not record whether another object owns the resource
	}
	return obj.GetDeletionTimestamp() == nil && meta.FindStatusCondition(st.Conditions, status.Paused) == nil &&
		status.ReadyAt(st.Conditions, obj.GetGeneration()) &&
		st.LastHandledReconcileAt == engine.ReconcileRequestOf(obj) && c.hasMarks(obj)
}

// hasMarks reports whether the object carries the finalizer and the record that protect its AWS resource.
func (c cadence) hasMarks(obj v1alpha1.Resource) bool {
	if obj.CommonSpec().ManagementPolicy == v1alpha1.ManageObserve {
		return true
	}
	_, recorded := obj.GetAnnotations()[engine.AnnotationHome]
	return recorded && controllerutil.ContainsFinalizer(obj, v1alpha1.FinalizerOf(c.entry.Name()))
}

func (c cadence) interval() time.Duration {
	if d, ok := c.intervals.CheckOf[c.entry.Name()]; ok {
		return d
	}
	return c.intervals.Check
}

// intervalOf returns the interval of the checks of an object that is as declared: a longer one while events of its changes arrive.
func (c cadence) intervalOf(obj v1alpha1.Resource) time.Duration {
	ordinary := c.interval()
	if _, set := c.intervals.CheckOf[c.entry.Name()]; set || c.covered == nil || !c.covered(obj) {
		return ordinary
	}
	return max(ordinary, c.intervals.WithEvents)
}

// nextLook returns when to look again at an object that is as declared: after the check interval, or after the retry interval of stalled
// objects while a note reports a problem that a person has to repair.
func (c cadence) nextLook(obj v1alpha1.Resource, notes []kind.Note) time.Duration {
	if slices.ContainsFunc(notes, func(n kind.Note) bool { return n.Recheck }) {
		return min(c.interval(), c.intervals.Stalled)
	}
	return c.intervalOf(obj)
}
