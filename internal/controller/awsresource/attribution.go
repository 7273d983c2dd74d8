// SPDX-License-Identifier: Apache-2.0

package awsresource

import (
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/controller/reconciler"
	"github.com/nexus-operator/nexus-operator/internal/driftevents"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// attributeDrift names in the status, and in an event, the change that CloudTrail reported of the resource before the pass found it
// changed.
func (r *reports) attributeDrift(err error) {
	key := client.ObjectKeyFromObject(r.obj)
	e, ok := r.changes.reported(key)
	paths := attribute(r.obj.CommonStatus().Drift, r.subject.was.CommonStatus().Drift, e, ok)
	if !ok {
		return
	}
	if paths = append(paths, r.changedOutside(err)...); len(paths) > 0 {
		r.obj.CommonStatus().LastChangedBy = authorOf(e)
		r.events.Warning(r.obj, status.ReasonChangedOutside, "Check", "changed by "+e.Principal+" at "+e.Time.UTC().Format(time.RFC3339)+
			" with "+e.Service+":"+e.Name+", according to CloudTrail event "+e.ID+": "+strings.Join(paths, ", "))
	}
	if err == nil || len(paths) > 0 {
		r.changes.served(key, e)
	}
}

// changedOutside names the fields that the pass found changed and wrote again, and a resource that it misses.
func (r *reports) changedOutside(err error) []string {
	was, st := r.subject.was.CommonStatus(), r.obj.CommonStatus()
	var paths []string
	isEdited := st.SyncedGeneration != r.obj.GetGeneration() || was.SyncedGeneration != r.obj.GetGeneration()
	if len(r.work.done) > 0 && (r.work.drifted || !isEdited) {
		paths = append(paths, r.work.fields())
	}
	s, stalled := status.AsStalled(err)
	if stalled && s.Reason == status.ReasonMissing && !reconciler.StalledFor(was.Conditions, s.Reason) {
		paths = append(paths, "the resource itself")
	}
	return paths
}

// attribute sets the author of each entry of a drift: the author that was recorded before for the same difference, or otherwise the author
// of an event. It returns the paths of the entries that the event explains.
func attribute(drift, was []v1alpha1.DriftEntry, e driftevents.Event, reported bool) []string {
	var paths []string
	for i := range drift {
		d := &drift[i]
		known := slices.IndexFunc(was, func(w v1alpha1.DriftEntry) bool { return w.Path == d.Path && w.Have == d.Have && w.By != nil })
		switch {
		case known >= 0:
			d.By = was[known].By
		case reported:
			d.By = authorOf(e)
			paths = append(paths, d.Path)
		}
	}
	return paths
}

// authorOf returns who made a change, as the event about it says.
func authorOf(e driftevents.Event) *v1alpha1.DriftAuthor {
	at := metav1.NewTime(e.Time.UTC().Truncate(time.Second))
	return &v1alpha1.DriftAuthor{Principal: e.Principal, Source: e.Source, Action: e.Service + ":" + e.Name, Time: &at, EventID: e.ID}
}
