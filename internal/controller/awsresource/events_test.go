// SPDX-License-Identifier: Apache-2.0

package awsresource

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/awsclient"
	"github.com/nexus-operator/nexus-operator/internal/engine"
	"github.com/nexus-operator/nexus-operator/internal/kind"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// recorded is an edit that leaves a record of the object's creates.
func recorded(i engine.Intent) func(*v1alpha1.S3Bucket) {
	return func(o *v1alpha1.S3Bucket) {
		annotations, err := i.Annotations()
		if err != nil {
			panic(err)
		}
		o.Annotations = annotations
	}
}

func TestReport_OneEventForWhatAPassCompleted(t *testing.T) {
	steps := func(actions ...string) (out []kind.Step) {
		for _, a := range actions {
			out = append(out, kind.Step{Action: a})
		}
		return out
	}
	observed := func(o *v1alpha1.S3Bucket) { o.Spec.ManagementPolicy = v1alpha1.ManageObserve }
	owned := recorded(engine.Intent{UID: "uid-1", Attempt: 1, At: noon})
	existed := recorded(engine.Intent{UID: "uid-1"})
	refused := recorded(engine.Intent{UID: "uid-1", Attempt: 1, At: noon, Refused: true})
	exists := engine.Plan{Findings: engine.Findings{Exists: true}}
	for name, c := range map[string]struct {
		object func(*v1alpha1.S3Bucket)
		first  bool
		synced bool
		plan   engine.Plan
		did    engine.Plan
		steps  []kind.Step
		want   string
	}{
		"created": {owned, true, true, exists, engine.Plan{Cause: engine.New},
			steps("s3:CreateBucket", "s3:PutBucketTagging"), "Normal Created S3Bucket arn:aws:s3:::media exists"},
		"adopted": {existed, true, true, exists, engine.Plan{Cause: engine.Edited}, steps("s3:PutBucketTagging"),
			"Normal Adopted S3Bucket arn:aws:s3:::media existed"},
		"adopted without a write":     {existed, true, true, exists, engine.Plan{}, nil, "Normal Adopted S3Bucket arn:aws:s3:::media existed"},
		"adopted after its create":    {refused, true, true, exists, engine.Plan{}, nil, "Normal Adopted S3Bucket arn:aws:s3:::media existed"},
		"observed for the first time": {observed, true, true, exists, engine.Plan{}, nil, ""},
		"edited": {owned, false, true, exists,
			engine.Plan{Cause: engine.Edited, Diff: kind.Diff{{Path: "Versioning"}, {Path: "Tags[team]"}}},
			steps("s3:PutBucketVersioning", "s3:PutBucketTagging"), "Normal Updated Updated the AWS resource: Versioning, Tags[team]"},
		"changed outside the operator": {owned, false, true, exists, engine.Plan{Cause: engine.Drifted, Diff: kind.Diff{{Path: "Versioning"}}},
			steps("s3:PutBucketVersioning"), "Normal DriftCorrected Corrected 1 field that was changed outside the operator: Versioning"},
		"more is to be done": {owned, false, false, exists, engine.Plan{Cause: engine.Edited}, steps("s3:PutBucketVersioning"), ""},
		"nothing to do":      {owned, false, true, exists, engine.Plan{}, nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRoom(t, "S3Bucket")
			p := newPass(r.Reconciler, bucket(c.object))
			p.Did(c.did, c.steps)
			p.reports.completed(engine.Outcome{Synced: c.synced, Plan: c.plan}, c.first)
			got := r.emitted()
			if c.want == "" && len(got) > 0 || c.want != "" && (len(got) != 1 || !strings.HasPrefix(got[0], c.want)) {
				t.Errorf("events %q, want %q", got, c.want)
			}
		})
	}
}

// An event reports that an object has failed or waited for so long that it is Stalled, because a person has to look.
func TestWarn_TellsOnceThatAnObjectHasStalledByTime(t *testing.T) {
	for reason, err := range map[string]error{
		status.ReasonNotFoundInAWS: &status.Waiting{Reason: status.ReasonNotFoundInAWS, For: "what ec2:CreateSubnet names to exist",
			Bounded: true},
		status.ReasonThrottled: &status.Retrying{Reason: status.ReasonThrottled, Cause: errors.New("AWS throttles ec2:CreateSubnet")},
	} {
		t.Run(reason, func(t *testing.T) {
			o := bucket()
			r := newRoom(t, "S3Bucket", o)
			var told []string
			for range 14 {
				p := newPass(r.Reconciler, o)
				p.summarize(engine.Outcome{}, err)
				told = append(told, r.emitted()...)
				r.clock.SetTime(r.clock.Now().Add(time.Minute))
			}
			if len(told) != 1 || !strings.HasPrefix(told[0], "Warning "+reason) || !strings.Contains(told[0], "ec2:CreateSubnet") {
				t.Errorf("events %q", told)
			}
		})
	}
}

func TestReportEnd_SaysWhetherTheResourceWasDeleted(t *testing.T) {
	none := func(o *v1alpha1.S3Bucket) { o.Status.ARN, o.Status.ID = "", "" }
	same := func(*v1alpha1.S3Bucket) {}
	for name, c := range map[string]struct {
		object func(*v1alpha1.S3Bucket)
		plan   engine.Plan
		want   string
	}{
		"deleted": {same, engine.Plan{Cause: engine.Gone}, "Normal Deleted Deleted arn:aws:s3:::media"},
		"deleted, known by its id": {func(o *v1alpha1.S3Bucket) { o.Status.ARN = "" }, engine.Plan{Cause: engine.Gone},
			"Normal Deleted Deleted media in AWS"},
		"never created": {none, engine.Plan{Cause: engine.Gone}, ""},
		"kept": {same, engine.Plan{Findings: engine.Findings{Exists: true}, Reason: "it belongs to somebody else"},
			"Normal Kept The AWS resource was kept: it belongs to somebody else"},
		"kept by its policy": {func(o *v1alpha1.S3Bucket) { o.Spec.DeletionPolicy = v1alpha1.DeletionRetain }, engine.Plan{},
			"Normal Kept arn:aws:s3:::media stays in AWS (deletionPolicy Retain)"},
		"only observed": {func(o *v1alpha1.S3Bucket) { o.Spec.ManagementPolicy = v1alpha1.ManageObserve }, engine.Plan{},
			"Normal Kept arn:aws:s3:::media stays in AWS (managementPolicy Observe)"},
		"nothing was ever created": {none, engine.Plan{}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRoom(t, "S3Bucket")
			newPass(r.Reconciler, bucket(c.object)).reports.end(engine.Outcome{Plan: c.plan})
			got := r.emitted()
			if c.want == "" && len(got) > 0 || c.want != "" && (len(got) != 1 || !strings.HasPrefix(got[0], c.want)) {
				t.Errorf("events %q, want %q", got, c.want)
			}
		})
	}
}

// DynamoDB deletes the table of one region, and keeps its replicas.
func TestReportEnd_NamesTheReplicasThatStay(t *testing.T) {
	const arn = "arn:aws:dynamodb:eu-west-1:123456789012:table/orders"
	for want, replicas := range map[string][]string{
		"Normal Deleted Deleted " + arn + " in AWS": nil,
		"Normal Deleted Deleted " + arn +
			" in AWS; the replicas of the table in ca-central-1, us-east-1 stay, with their data": {"ca-central-1", "us-east-1"},
	} {
		o := &v1alpha1.DynamoDBTable{}
		o.Status.ARN, o.Status.Replicas = arn, replicas
		r := newRoom(t, "DynamoDBTable")
		newPass(r.Reconciler, o).reports.end(engine.Outcome{Plan: engine.Plan{Cause: engine.Gone}})
		if got := r.emitted(); len(got) != 1 || got[0] != want {
			t.Errorf("events %q, want %q", got, want)
		}
	}
}

func TestRelease_ReportsTheEndOnceHoweverOftenItIsTried(t *testing.T) {
	gone := engine.Outcome{Gone: true, Plan: engine.Plan{Cause: engine.Gone}}
	o := bucket(deleting)
	r := newRoom(t, "S3Bucket", o)
	r.refuse["patch S3Bucket"] = raced
	for range 2 {
		if err := newPass(r.Reconciler, o.DeepCopy()).release(t.Context(), gone); !apierrors.IsConflict(err) {
			t.Errorf("a conflict ends with %v", err)
		}
	}
	delete(r.refuse, "patch S3Bucket")
	r.read(o)
	if err := newPass(r.Reconciler, o.DeepCopy()).release(t.Context(), gone); err != nil {
		t.Error(err)
	}
	if err := newPass(r.Reconciler, o.DeepCopy()).release(t.Context(), gone); err != nil { // another instance released it
		t.Error(err)
	}
	if got := r.emitted(); len(got) != 1 || !strings.HasPrefix(got[0], "Normal Deleted Deleted arn:aws:s3:::media") {
		t.Errorf("events %q", got)
	}
}

func TestMemories_AnObjectIsValidAtOneGeneration(t *testing.T) {
	key, m := types.NamespacedName{Namespace: "ns", Name: "media"}, newMemories()
	m.recordValid(key, "uid-1", 3)
	for _, c := range []struct {
		uid        types.UID
		generation int64
		want       bool
	}{{"uid-1", 3, true}, {"uid-1", 4, false}, {"uid-1", 2, false}, {"uid-2", 3, false}, {"uid-1", 0, false}} {
		if got := m.isValid(key, c.uid, c.generation); got != c.want {
			t.Errorf("%s at generation %d is valid: %v", c.uid, c.generation, got)
		}
	}
	m.of(key, "uid-2")
	if m.isValid(key, "uid-1", 3) || m.isValid(key, "uid-2", 0) {
		t.Error("a new object of the name is valid unseen")
	}
	m.forget(key)
	if m.isValid(key, "uid-1", 3) {
		t.Error("an object that is gone is valid")
	}
}

// A deletion uses the references that were recorded when the resource was created: an object that was edited or replaced since
// leads elsewhere.
func TestFacts_DeletionUsesTheRecordedReferences(t *testing.T) {
	now := &v1alpha1.IAMRole{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "role"}}
	now.Status.ID, now.Status.ARN, now.Status.Ownership = "now", "arn:aws:iam::123456789012:role/now", v1alpha1.OwnershipOwned
	recorded := &engine.Intent{Refs: map[string]kind.Target{"IAMRole/role": {ARN: "arn:aws:iam::123456789012:role/then"}}}
	for name, c := range map[string]struct {
		object *v1alpha1.S3Bucket
		intent *engine.Intent
		want   string
	}{
		"in deletion":                   {bucket(deleting), recorded, "then"},
		"in deletion, without a record": {bucket(deleting), nil, "now"},
		"in use":                        {bucket(), recorded, "now"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRoom(t, "S3Bucket", now)
			r.Issuer = func(context.Context) (string, error) { return "https://issuer.example.com", nil }
			f := newPass(r.Reconciler, c.object).facts(t.Context(),
				&awsclient.Session{Partition: "aws", Account: "123456789012", Region: "eu-central-1"}, &v1alpha1.AWSProvider{}, c.intent)
			target, err := f.Ref("IAMRole", "role")
			if err != nil || !strings.HasSuffix(target.ARN, "/"+c.want) {
				t.Errorf("%+v, %v, want the role of %s", target, err, c.want)
			}
			if f.Account != "123456789012" || f.Federation.Issuer != "https://issuer.example.com" || f.Federation.NoIssuer != nil {
				t.Errorf("account %s, issuer %s, %v", f.Account, f.Federation.Issuer, f.Federation.NoIssuer)
			}
		})
	}
}

func TestInterval_IsOneUnlessAnAdministratorSetsThatOfTheKind(t *testing.T) {
	r := newRoom(t, "S3Bucket")
	r.Intervals.CheckOf = map[string]time.Duration{"IAMRole": 20 * time.Minute}
	if got := r.cadence().interval(); got != 5*time.Minute {
		t.Errorf("a kind without an interval is checked every %s", got)
	}
	r.Intervals.CheckOf = map[string]time.Duration{"S3Bucket": time.Hour}
	if got := r.cadence().interval(); got != time.Hour {
		t.Errorf("a kind whose interval is set is checked every %s", got)
	}
}

// An object that only observes writes neither finalizer nor record, so it does not lack them.
func TestHasMarks_NotNeededByAnObjectThatObserves(t *testing.T) {
	r := newRoom(t, "S3Bucket")
	bare := func(o *v1alpha1.S3Bucket) { o.Finalizers, o.Annotations = nil, nil }
	if r.cadence().hasMarks(bucket(bare)) {
		t.Error("an object without finalizer and record has its marks")
	}
	if !r.cadence().hasMarks(bucket(bare, func(o *v1alpha1.S3Bucket) { o.Spec.ManagementPolicy = v1alpha1.ManageObserve })) {
		t.Error("an object that observes lacks marks")
	}
}

// A status that AWS's answers belong to is written at once: the id of a resource is lost with a crash otherwise.
func TestStore_WritesTheIDAtOnce(t *testing.T) {
	o := bucket(func(o *v1alpha1.S3Bucket) { o.Status.ID = "" })
	r := newRoom(t, "S3Bucket", o)
	r.read(o)
	if err := newPass(r.Reconciler, o).Store(t.Context(), kind.Accepted{ID: "vpc-1"}); err != nil {
		t.Fatal(err)
	}
	stored := bucket()
	if r.read(stored); stored.Status.ID != "vpc-1" || stored.Status.ARN != "" {
		t.Errorf("the status has the id %q, and the ARN %q of what was lost", stored.Status.ID, stored.Status.ARN)
	}
	r.refuse["patch status S3Bucket"] = unavailable
	if err := newPass(r.Reconciler, stored).Store(t.Context(), kind.Accepted{ID: "vpc-2"}); err == nil {
		t.Error("a write that fails is not reported")
	}
	if !status.ReadyAt(stored.Status.Conditions, stored.Generation) {
		t.Error("conditions are lost")
	}
}
