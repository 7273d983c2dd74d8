// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"errors"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/api/wellknown"
	"github.com/nexus-operator/nexus-operator/internal/kind"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// restored is an object as a backup tool restores it: with the annotations of an earlier one.
func restored(t *testing.T, cluster string) map[string]string {
	t.Helper()
	annotations, err := (&Intent{UID: "earlier", Cluster: cluster, Attempt: 1, Home: "aws/1/r"}).Annotations()
	if err != nil {
		t.Fatal(err)
	}
	return annotations
}

func TestARestoredObjectCreatesNothingInAnotherCluster(t *testing.T) {
	of := func(cluster string) *box {
		tags := us().OwnerTags()
		tags[wellknown.TagOwnerUID], tags[wellknown.TagCluster] = "earlier", cluster
		return &box{exists: true, tags: tags}
	}
	for name, tc := range map[string]struct {
		recorded string // the cluster in the record
		edit     func(*Owner)
		there    func() *box // nil: nothing
		want     string      // Conflict, Missing, created or taken over
	}{
		"nothing is found":           {"old", nil, nil, "Conflict"},
		"another cluster's is found": {"old", nil, func() *box { return of("old") }, "Conflict"},
		"the cluster is inherited": {"old", func(o *Owner) { o.Neighbors.Previous = []string{"old"} }, func() *box { return of("old") },
			"taken over"},
		"inherited, and nothing is left":         {"old", func(o *Owner) { o.Neighbors.Previous = []string{"old"} }, nil, "created"},
		"the same cluster":                       {"c", nil, func() *box { return of("c") }, "taken over"},
		"the same cluster, and nothing is left":  {"c", nil, nil, "created"},
		"an old record":                          {"", nil, nil, "Conflict"},
		"an old record of the same cluster":      {"", nil, func() *box { return of("c") }, "taken over"},
		"an old record, with inherited clusters": {"", func(o *Owner) { o.Neighbors.Previous = []string{"old"} }, nil, "created"},
		"an object that only observes": {"old", func(o *Owner) { o.Policy.Management = v1alpha1.ManageObserve },
			func() *box { return of("old") }, ""},
		"one that adopts, and nothing is there": {"old", func(o *Owner) { o.Policy.Adoption = v1alpha1.AdoptAlways }, nil, "Conflict"},
	} {
		for _, identity := range []kind.Identity{kind.ByName, kind.ByToken, kind.ByTag, kind.ByParent} {
			b := &box{}
			if tc.there != nil {
				b = tc.there()
			}
			b.meta = kind.Meta{Identity: identity, CreatesFirst: identity == kind.ByName}
			o := us()
			o.HasFinalizer = identity != kind.ByName // a tool may have stripped it
			o.Record.Earlier = readEarlier(restored(t, tc.recorded), o.UID)
			if tc.edit != nil {
				tc.edit(&o)
			}
			_, _, err := advanceBox(t, b, o, nil)
			got := ""
			switch s, stalled := status.AsStalled(err); {
			case stalled:
				got = s.Reason
			case b.tags[wellknown.TagOwnerUID] == o.UID && tc.there != nil:
				got = "taken over"
			case b.exists && tc.there == nil:
				got = "created"
			}
			if got != tc.want || tc.want == "Conflict" && len(b.writes) > 0 {
				t.Errorf("%s, identity %d: %q (%v), wrote %v", name, identity, got, err, b.writes)
			}
			if tc.want == "Conflict" && tc.there == nil && !strings.Contains(err.Error(), "--previous-cluster-ids") {
				t.Errorf("%s: no way out is named: %v", name, err)
			}
		}
	}
}

func TestARecordSaysWhichClusterItComesFrom(t *testing.T) {
	_, h, err := advanceBox(t, &box{}, us(), nil)
	if err != nil || len(h.committed) == 0 || h.committed[0].Cluster != "c" {
		t.Fatalf("%+v, %v", h.committed, err)
	}
	obj := &v1alpha1.S3Bucket{}
	obj.UID, obj.Annotations = "u", restored(t, "old")
	e := For(func(aws.Config) kind.Kind[*v1alpha1.S3Bucket, boxState] { return &box{} })
	if o := OwnerOf(e, obj, nil, Facts{}); o.Record.Earlier == nil || o.Record.Earlier.Cluster != "old" {
		t.Errorf("%+v", o.Record.Earlier)
	}
	obj.UID = "earlier"
	if o := OwnerOf(e, obj, nil, Facts{}); o.Record.Earlier != nil {
		t.Errorf("its own record: %+v", o.Record.Earlier)
	}
}

func TestARequestedCheckThatFailsIsAnswered(t *testing.T) {
	obj := &v1alpha1.S3Bucket{}
	obj.Annotations = map[string]string{wellknown.AnnotationReconcileAt: "now"}
	outage := &status.Retrying{Reason: status.ReasonRetrying, Cause: errors.New("AWS has an internal problem")}
	Summarize(obj, Outcome{}, outage, noon, noon)
	if obj.Status.LastHandledReconcileAt != "now" || obj.Status.Ready {
		t.Errorf("handled %q, ready %v", obj.Status.LastHandledReconcileAt, obj.Status.Ready)
	}
	obj.Annotations[wellknown.AnnotationReconcileAt] = "again"
	Summarize(obj, Outcome{Synced: true, Plan: Plan{Cause: InSync, Findings: Findings{Exists: true}}}, nil, noon, noon)
	obj.Annotations[wellknown.AnnotationReconcileAt] = "at last"
	if Summarize(obj, Outcome{}, outage, noon, noon); obj.Status.LastHandledReconcileAt != "again" || !obj.Status.Ready {
		t.Errorf("an object that stays Ready is not looked at again before its next check: handled %q, ready %v",
			obj.Status.LastHandledReconcileAt, obj.Status.Ready)
	}
}
