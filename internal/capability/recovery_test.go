// SPDX-License-Identifier: Apache-2.0

package capability_test

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/api/wellknown"
	"github.com/nexus-operator/nexus-operator/internal/capability"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

var deletedAt = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

// deletedGracefully is a capability that was deleted with a time to undo that.
func deletedGracefully(grace time.Duration, edits ...func(*nexusv1.NexusAICapability)) *nexusv1.NexusAICapability {
	return minimal(append([]func(*nexusv1.NexusAICapability){func(c *nexusv1.NexusAICapability) {
		c.UID, c.DeletionTimestamp = "uid-1", &metav1.Time{Time: deletedAt}
		c.Spec.DeletionPolicy = nexusv1.DeletionDelete
		c.Spec.Deletion = &nexusv1.DeletionSpec{Graceful: &metav1.Duration{Duration: grace}}
	}}, edits...)...)
}

func in(state nexusv1.RecoveryState) func(*nexusv1.NexusAICapability) {
	return func(c *nexusv1.NexusAICapability) {
		c.Status.Recovery = &nexusv1.RecoveryStatus{State: state, Until: metav1.NewTime(deletedAt.Add(time.Hour))}
	}
}

func asked(annotation, uid string) func(*nexusv1.NexusAICapability) {
	return func(c *nexusv1.NexusAICapability) { c.Annotations = map[string]string{annotation: uid} }
}

func TestNextRecovery_DecidesOnce(t *testing.T) {
	const waiting, restoring, released, ended = nexusv1.RecoveryWaiting, nexusv1.RecoveryRestoring, nexusv1.RecoveryReleased, nexusv1.RecoveryEnded
	undone, finished := asked(wellknown.AnnotationUndo, "uid-1"), asked(wellknown.AnnotationDeleteNow, "uid-1")
	for name, tc := range map[string]struct {
		c       *nexusv1.NexusAICapability
		leaving bool
		after   time.Duration
		want    nexusv1.RecoveryState // "": there is none
	}{
		"the first look":                        {deletedGracefully(time.Hour), false, time.Minute, waiting},
		"no time":                               {deletedGracefully(0), false, 0, ""},
		"no time, and the namespace goes":       {deletedGracefully(0), true, 0, ""},
		"Orphan":                                {deletedGracefully(time.Hour, func(c *nexusv1.NexusAICapability) { c.Spec.DeletionPolicy = nexusv1.DeletionOrphan }), false, 0, ""},
		"before the end":                        {deletedGracefully(time.Hour, in(waiting)), false, time.Hour - time.Second, waiting},
		"the end":                               {deletedGracefully(time.Hour, in(waiting)), false, time.Hour, ended},
		"the operator was away":                 {deletedGracefully(time.Hour), false, 2 * time.Hour, ended},
		"a longer time":                         {deletedGracefully(3*time.Hour, in(waiting)), false, 2 * time.Hour, waiting},
		"a shorter time":                        {deletedGracefully(0, in(waiting)), false, time.Minute, ended},
		"undone":                                {deletedGracefully(time.Hour, in(waiting), undone), false, time.Minute, restoring},
		"undone at the last moment":             {deletedGracefully(time.Hour, in(waiting), undone), false, time.Hour, restoring},
		"undone before the first look":          {deletedGracefully(time.Hour, undone), false, time.Minute, restoring},
		"undone too late":                       {deletedGracefully(time.Hour, in(ended), undone), false, time.Minute, ended},
		"the annotation of an earlier object":   {deletedGracefully(time.Hour, in(waiting), asked(wellknown.AnnotationUndo, "uid-0")), false, time.Minute, waiting},
		"ended by a person":                     {deletedGracefully(time.Hour, in(waiting), finished), false, time.Minute, ended},
		"ended by a person after an undo":       {deletedGracefully(time.Hour, in(restoring), finished), false, 2 * time.Hour, restoring},
		"the namespace goes":                    {deletedGracefully(time.Hour, in(waiting)), true, time.Minute, released},
		"the namespace goes before a look":      {deletedGracefully(time.Hour), true, time.Minute, released},
		"released, and the time is over":        {deletedGracefully(time.Hour, in(released)), true, 2 * time.Hour, released},
		"the namespace goes after the end":      {deletedGracefully(time.Hour, in(ended)), true, 2 * time.Hour, ended},
		"the namespace goes while it is undone": {deletedGracefully(time.Hour, in(restoring)), true, time.Minute, restoring},
	} {
		next := capability.NextRecovery(tc.c, capability.DefaultGrace{}, tc.leaving, deletedAt.Add(tc.after))
		if (next == nil) != (tc.want == "") || next != nil && next.State != tc.want {
			t.Errorf("%s: %+v, want %q", name, next, tc.want)
		}
		tc.c.Status.Recovery = next
		if again := capability.NextRecovery(tc.c, capability.DefaultGrace{}, tc.leaving, deletedAt.Add(tc.after)); !equality.Semantic.DeepEqual(again, next) {
			t.Errorf("%s: a second look says %+v after %+v", name, again, next)
		}
		if holds := capability.HoldsStores(tc.c, capability.DefaultGrace{}); holds != (next != nil && next.State != ended) {
			t.Errorf("%s: stores are held: %v", name, holds)
		}
	}
}

func TestGraceOf_FallsBackToTheOperators(t *testing.T) {
	c := deletedGracefully(0)
	if got := capability.GraceOf(c, capability.DefaultGrace{All: time.Hour, Production: time.Hour}); got != 0 {
		t.Errorf("0s is an answer: %s", got)
	}
	c.Spec.Deletion = nil
	if got := capability.GraceOf(c, capability.DefaultGrace{All: time.Hour}); got != time.Hour {
		t.Errorf("no answer: %s", got)
	}
}

func TestGraceOf_KeepsWhatProductionWouldLose(t *testing.T) {
	day := capability.DefaultGrace{Production: 24 * time.Hour}
	for name, tc := range map[string]struct {
		environment string
		policy      nexusv1.DeletionPolicy
		graceful    *metav1.Duration
		defaults    capability.DefaultGrace
		want        time.Duration
	}{
		"production that deletes its stores":      {"production", nexusv1.DeletionDelete, nil, day, 24 * time.Hour},
		"prod that deletes its stores":            {"prod", nexusv1.DeletionDelete, nil, day, 24 * time.Hour},
		"production that says 0s":                 {"prod", nexusv1.DeletionDelete, &metav1.Duration{}, day, 0},
		"production that says more":               {"prod", nexusv1.DeletionDelete, &metav1.Duration{Duration: 48 * time.Hour}, day, 48 * time.Hour},
		"production that loses nothing":           {"prod", "", nil, day, 0},
		"production with Retain":                  {"prod", nexusv1.DeletionRetain, nil, day, 0},
		"production with Retain and a time":       {"prod", nexusv1.DeletionRetain, &metav1.Duration{Duration: time.Hour}, day, time.Hour},
		"production with Orphan":                  {"prod", nexusv1.DeletionOrphan, nil, day, 0},
		"another environment":                     {"dev", nexusv1.DeletionDelete, nil, day, 0},
		"an environment with production in it":    {"preprod", "", nil, day, 0},
		"switched off":                            {"prod", nexusv1.DeletionDelete, nil, capability.DefaultGrace{}, 0},
		"a longer default of all":                 {"prod", nexusv1.DeletionDelete, nil, capability.DefaultGrace{All: 48 * time.Hour, Production: time.Hour}, 48 * time.Hour},
		"a default of all, and Retain":            {"prod", "", nil, capability.DefaultGrace{All: time.Hour, Production: 24 * time.Hour}, time.Hour},
		"a default of all in another environment": {"dev", "", nil, capability.DefaultGrace{All: time.Hour, Production: 24 * time.Hour}, time.Hour},
	} {
		c := minimal(func(c *nexusv1.NexusAICapability) {
			c.Spec.Environment, c.Spec.DeletionPolicy = tc.environment, tc.policy
			if tc.graceful != nil {
				c.Spec.Deletion = &nexusv1.DeletionSpec{Graceful: tc.graceful}
			}
		})
		if got := capability.GraceOf(c, tc.defaults); got != tc.want {
			t.Errorf("%s: %s, want %s", name, got, tc.want)
		}
	}
}

func TestKeepingAll_RetainsWhatAnUndoTakesOver(t *testing.T) {
	for state, want := range map[nexusv1.RecoveryState]nexusv1.DeletionPolicy{nexusv1.RecoveryRestoring: nexusv1.DeletionRetain,
		nexusv1.RecoveryReleased: nexusv1.DeletionRetain, nexusv1.RecoveryWaiting: nexusv1.DeletionDelete, nexusv1.RecoveryEnded: nexusv1.DeletionDelete} {
		c := deletedGracefully(time.Hour, in(state))
		if got := capability.EffectiveDeletionPolicy(capability.KeepingAll(c)); got != want || c.Spec.DeletionPolicy != nexusv1.DeletionDelete {
			t.Errorf("%s: %s", state, got)
		}
	}
}

func TestToBeDeleted_DeletesAtOnceAndServesNothing(t *testing.T) {
	c := deletedGracefully(time.Hour, in(nexusv1.RecoveryReleased))
	c.Spec.Suspend, c.Spec.Backend.Autoscaling = true, &nexusv1.AutoscalingSpec{}
	made := capability.ToBeDeleted(c)
	if made.Spec.Suspend || *made.Spec.Backend.Replicas != 0 || *made.Spec.Frontend.Replicas != 0 || made.Spec.Backend.Autoscaling != nil || *made.Spec.Ingress.Enabled ||
		capability.GraceOf(made, capability.DefaultGrace{All: time.Hour}) != 0 || made.DeletionTimestamp != nil {
		t.Errorf("%+v", made.Spec)
	}
	made.UID = "uid-2"
	if !capability.IsToBeDeleted(made) {
		t.Error("it is not known again")
	}
	if capability.IsToBeDeleted(c) {
		t.Error("a capability without the annotation is to be deleted")
	}
	serving := made.DeepCopy()
	serving.Spec.Backend.Replicas = new(int32(2))
	if capability.IsToBeDeleted(serving) {
		t.Error("a capability that serves is to be deleted")
	}
	made.UID = c.UID
	if capability.IsToBeDeleted(made) {
		t.Error("the deleted capability itself is to be deleted again")
	}
}

func TestIsKeptForRecovery_BeginsAfterTheRoles(t *testing.T) {
	for id, want := range map[string]bool{"Deployment": false, "Ingress": false, "IAMRole": false, "IAMRole/shop-dev-app-role": false, "IAMRole/shop-dev-handbook.service": true, "GlueCrawler": false, "Route53RecordSet": false, "Namespace": false,
		"S3Bucket": true, "DynamoDBTable": true, "SecretsManagerSecret": true, "CognitoUserPool": true, "KMSKey": true, "SSMParameterSet": true, "AWSProvider": true} {
		kind, name, _ := strings.Cut(id, "/")
		if got := capability.IsKeptForRecovery(kind, name); got != want {
			t.Errorf("%s: %v", id, got)
		}
	}
}

func TestSummarize_RecoverableOnceTheRightsHaveEnded(t *testing.T) {
	o := capability.Observed{Capability: deletedGracefully(time.Hour, in(nexusv1.RecoveryWaiting)), States: map[string]capability.State{
		"IAMRole/app": {Applied: true, Reason: status.ReasonDeleting, Message: "is being deleted"}, "S3Bucket/media": {Applied: true}}}
	if r := capability.Summarize(o); r.Phase != nexusv1.PhaseDeleting || !strings.Contains(r.Message, "IAMRole/app") {
		t.Errorf("%s: %s", r.Phase, r.Message)
	}
	delete(o.States, "IAMRole/app")
	r := capability.Summarize(o)
	waiting, _ := status.AsWaiting(r.Err)
	if r.Phase != nexusv1.PhaseRecoverable || waiting == nil || waiting.Reason != status.ReasonRecoverable || !strings.Contains(r.Message, "2026-05-01T13:00:00Z") {
		t.Errorf("%s: %s (%v)", r.Phase, r.Message, r.Err)
	}
	o.States["S3Bucket/media"] = capability.State{Applied: true, Stalled: true, Reason: status.ReasonAccessDenied, Message: "AWS refuses"}
	if r := capability.Summarize(o); !strings.Contains(r.Message, "AWS refuses") {
		t.Errorf("a failure is not told: %s", r.Message)
	}
}

func TestRecord_BringsBackWhatWasDeclared(t *testing.T) {
	c := deletedGracefully(time.Hour, in(nexusv1.RecoveryWaiting), asked(wellknown.AnnotationUndo, "uid-1"))
	c.Annotations["team"], c.Annotations[corev1.LastAppliedConfigAnnotation] = "a", "{}"
	c.Labels, c.Finalizers, c.ResourceVersion = map[string]string{"app": "x"}, []string{"f"}, "7"
	o, err := capability.RecordOf(c, "nexus-system")
	if err != nil {
		t.Fatal(err)
	}
	record, err := capability.ReadRecord(o)
	if err != nil {
		t.Fatal(err)
	}
	again := capability.AsDeclared(record.Capability)
	if !equality.Semantic.DeepEqual(again.Spec, c.Spec) || record.Capability.UID != c.UID || again.UID != "" || len(again.Finalizers) > 0 || again.ResourceVersion != "" ||
		again.Labels["app"] != "x" || len(again.Annotations) != 1 || again.Annotations["team"] != "a" || record.Recovery.State != nexusv1.RecoveryWaiting {
		t.Errorf("%+v, %+v", again, record.Recovery)
	}
	c.Spec.Version, c.Status.Recovery.State = "9", nexusv1.RecoveryReleased
	next, err := capability.RecordOf(c, "nexus-system")
	if err != nil {
		t.Fatal(err)
	}
	if _, released := capability.ReleasedUntil(o); released {
		t.Error("a deletion that waits is released")
	}
	o = capability.UpdatedRecord(o, next)
	if until, released := capability.ReleasedUntil(o); !released || !until.Equal(deletedAt.Add(time.Hour)) {
		t.Errorf("released until %s: %v", until, released)
	}
	record, err = capability.ReadRecord(o)
	if err != nil || record.Capability.Spec.Version == "9" || record.Recovery.State != nexusv1.RecoveryReleased {
		t.Errorf("an edit after the deletion counts: %+v, %v", record, err)
	}
	if capability.RecordName("a", "b-c") == capability.RecordName("a-b", "c") {
		t.Error("two capabilities have one record")
	}
	for _, key := range []string{"capability.json", "recovery.json"} {
		broken := o.DeepCopy()
		broken.Data[key] = "{"
		if _, err := capability.ReadRecord(broken); err == nil || !strings.Contains(err.Error(), key) {
			t.Errorf("broken %s: %v", key, err)
		}
	}
}
