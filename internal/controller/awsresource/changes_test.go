// SPDX-License-Identifier: Apache-2.0

package awsresource

import (
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/driftevents"
)

func TestChanges_EventsOfAShortTimeCauseOneCheck(t *testing.T) {
	c, key, noon := newChanges(), types.NamespacedName{Namespace: "team", Name: "logs"}, time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)
	e := driftevents.Event{ID: "first", Time: noon}
	for _, step := range []struct {
		after, due time.Duration
		request    bool
	}{
		{0, 0, true}, {time.Second, eventGap, true}, {2 * time.Second, eventGap, false}, {9 * time.Second, eventGap, false},
		{11 * time.Second, 2 * eventGap, true}, {15 * time.Second, 2 * eventGap, false}, {time.Minute, time.Minute, true},
	} {
		due, request := c.record(key, e, noon.Add(step.after))
		if due.Sub(noon) != step.due || request != step.request {
			t.Errorf("after %s: due after %s, requested %v; want %s, %v", step.after, due.Sub(noon), request, step.due, step.request)
		}
	}
}

func TestChanges_TheNewestEventCountsWhateverTheOrder(t *testing.T) {
	c, key, noon := newChanges(), types.NamespacedName{Name: "logs"}, time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)
	for _, e := range []driftevents.Event{{ID: "second", Time: noon.Add(time.Second)}, {ID: "first", Time: noon},
		{ID: "second", Time: noon.Add(time.Second)}} {
		c.record(key, e, noon)
	}
	e, ok := c.reported(key)
	if !ok || e.ID != "second" {
		t.Fatalf("reported: %+v, %v", e, ok)
	}
	c.record(key, driftevents.Event{ID: "third", Time: noon.Add(time.Minute)}, noon)
	if c.served(key, e); c.event[key].ID != "third" {
		t.Error("an event that arrived during the check was dropped")
	}
	third, _ := c.reported(key)
	if c.served(key, third); len(c.event) != 0 {
		t.Error("a served event stays")
	}
	if c.forget(key); len(c.due) != 0 {
		t.Error("an object that is gone is remembered")
	}
}

func TestAttribute_AnAuthorStaysWithItsDifference(t *testing.T) {
	jane := &v1alpha1.DriftAuthor{Principal: "arn:aws:iam::123456789012:user/jane"}
	was := []v1alpha1.DriftEntry{{Path: "a", Have: "1", By: jane}, {Path: "b", Have: "1", By: jane}, {Path: "c", Have: "1"}}
	now := []v1alpha1.DriftEntry{{Path: "a", Have: "1"}, {Path: "b", Have: "2"}, {Path: "c", Have: "1"}, {Path: "d", Have: "1"}}
	e := driftevents.Event{Principal: "arn:aws:iam::123456789012:user/joe", Service: "s3", Name: "PutBucketVersioning", ID: "x",
		Time: time.Now()}
	paths := attribute(now, was, e, true)
	for i, want := range []string{"jane", "joe", "joe", "joe"} {
		if by := now[i].By; by == nil || by.Principal != "arn:aws:iam::123456789012:user/"+want {
			t.Errorf("%s: %+v, want %s", now[i].Path, by, want)
		}
	}
	if len(paths) != 3 {
		t.Errorf("explained: %v", paths)
	}
	kept := []v1alpha1.DriftEntry{{Path: "a", Have: "1"}, {Path: "d", Have: "1"}}
	if attribute(kept, was, driftevents.Event{}, false); kept[0].By != jane || kept[1].By != nil {
		t.Errorf("without an event: %+v", kept)
	}
}
