// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/kind"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// Findings holds the facts about a resource that a look showed.
type Findings struct {
	// Exists and Notes are those that Observe reported.
	Exists bool
	Notes  []kind.Note
	// Duplicates are further resources that carry the object's UID.
	Duplicates []string
	// Ignored lists the differences of AWS in members that the object leaves alone.
	Ignored kind.Diff
	// HoldsData is true when data is lost with the resource.
	HoldsData bool
	// TakesOver is true when the resource was left by an earlier object of the same name.
	TakesOver bool
	// Owned is true when the resource carries this object's owner tags; Created is then its creation time.
	Owned   bool
	Created time.Time
	// Ownership is the ownership that the look showed; empty if the status keeps its value.
	Ownership v1alpha1.Ownership
	// Publish copies the values that AWS assigned into an object. Nil when no resource of this object was seen.
	Publish func(v1alpha1.Resource)
}

// record writes the result of a look at a resource of this object into the object's status, in memory.
func (f Findings) record(obj v1alpha1.Resource) {
	if f.Publish == nil {
		return
	}
	f.Publish(obj)
	st := obj.CommonStatus()
	if created := f.Created; !created.IsZero() && (st.CreationTime == nil || !sameSecond(st.CreationTime.Time, created)) {
		t := metav1.NewTime(created.UTC().Truncate(time.Second))
		st.CreationTime = &t
	}
}

// reportDuplicates sets the condition DuplicateResources, and removes it once a look found no duplicate.
func (f Findings) reportDuplicates(obj v1alpha1.Resource, now time.Time) {
	conditions := &obj.CommonStatus().Conditions
	switch {
	case len(f.Duplicates) > 0:
		status.Set(conditions, obj.GetGeneration(), now,
			metav1.Condition{Type: status.DuplicateResources, Status: metav1.ConditionTrue, Reason: status.ReasonDuplicateResources,
				Message: fmt.Sprintf("%d more AWS resources carry the owner tags of this object: %s; this object manages %s, delete the others in AWS unless something uses them",
					len(f.Duplicates), status.Truncate(strings.Join(f.Duplicates, ", "), maxDriftValue), obj.CommonStatus().ID)})
	case f.Exists:
		meta.RemoveStatusCondition(conditions, status.DuplicateResources)
	}
}
