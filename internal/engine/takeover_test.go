// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"slices"
	"testing"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/api/wellknown"
	"github.com/nexus-operator/nexus-operator/internal/kind"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// left is a resource that an earlier object of the name left.
func left() *box {
	tags := us().OwnerTags()
	tags[wellknown.TagOwnerUID] = "earlier"
	return &box{exists: true, tags: tags}
}

func TestWhatAnEarlierObjectLeftIsTakenOverOnlyWhenAllowed(t *testing.T) {
	b := left()
	if out, _, err := advanceBox(t, b, us(), nil); err != nil || !out.Synced || b.tags[wellknown.TagOwnerUID] != "u" {
		t.Fatalf("allowed: %+v, %v, tags %v", out, err, b.tags)
	}
	b = left()
	h := &host{t: t, b: b, now: noon, stray: &status.Waiting{Reason: status.ReasonWaiting, For: "its capability"}}
	_, err := advanceOn(t, h, us(), nil)
	waits(t, err, status.ReasonWaiting)
	if len(b.writes) > 0 || len(h.committed) > 0 {
		t.Errorf("not allowed: wrote %v, recorded %v", b.writes, h.committed)
	}
}

func TestADeletionLeavesWhatItsObjectMayNotTakeOver(t *testing.T) {
	o := us()
	o.Deleting, o.Record.Intent = true, recorded()
	b := left()
	out, _, err := advanceBox(t, b, o, nil)
	if err != nil || !out.Gone || !slices.Equal(b.writes, []string{"box:Delete"}) {
		t.Fatalf("allowed: %+v, %v, wrote %v", out, err, b.writes)
	}
	for _, holds := range [][]kind.Hold{nil, {{Reason: status.ReasonBucketNotEmpty, Message: "empty it"}}} {
		b = left()
		b.holds = holds
		out, err = advanceOn(t, &host{t: t, b: b, now: noon, stray: errStray}, o, nil)
		if err != nil || !out.Gone || len(b.writes) > 0 {
			t.Errorf("not allowed: %+v, %v, wrote %v", out, err, b.writes)
		}
	}
}

func TestARequestedCheckOfAHeldDeletionIsAnswered(t *testing.T) {
	o := us()
	o.Deleting, o.Record.Intent = true, recorded()
	b := &box{exists: true, tags: o.OwnerTags(), holds: []kind.Hold{{Reason: status.ReasonBucketNotEmpty, Message: "empty it"}}}
	out, _, err := advanceBox(t, b, o, nil)
	waits(t, err, status.ReasonBucketNotEmpty)
	obj := &v1alpha1.S3Bucket{}
	obj.Annotations = map[string]string{wellknown.AnnotationReconcileAt: "now"}
	Summarize(obj, out, err, noon, noon)
	if obj.Status.LastHandledReconcileAt != "now" {
		t.Errorf("handled %q", obj.Status.LastHandledReconcileAt)
	}
	obj.Status.LastHandledReconcileAt = ""
	Summarize(obj, Outcome{}, &status.Waiting{Reason: status.ReasonWaiting, For: "its provider"}, noon, noon)
	if obj.Status.LastHandledReconcileAt != "" {
		t.Errorf("a check that could not begin is shown as handled: %q", obj.Status.LastHandledReconcileAt)
	}
}
