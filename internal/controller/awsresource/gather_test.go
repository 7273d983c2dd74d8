// SPDX-License-Identifier: Apache-2.0

package awsresource

import (
	"errors"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/awsclient"
	"github.com/nexus-operator/nexus-operator/internal/controller/reconciler"
	"github.com/nexus-operator/nexus-operator/internal/engine"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

func TestReconcile_InvalidSpecStallsBeforeAWS(t *testing.T) {
	o := bucket(edited, func(o *v1alpha1.S3Bucket) { o.Spec.BucketName = "Not_A_Bucket" })
	r := newRoom(t, "S3Bucket", o)
	if _, err := r.reconcile(o); err == nil {
		t.Error("the work queue does not see the failure")
	}
	r.read(o)
	if m := r.is(o, status.Stall, metav1.ConditionTrue, status.ReasonInvalidSpec); !strings.Contains(m, "spec.bucketName") {
		t.Errorf("the message does not name the field: %s", m)
	}
	if events := r.emitted(); len(events) != 1 || !strings.HasPrefix(events[0], "Warning InvalidSpec spec.bucketName") {
		t.Errorf("events %q", events)
	}
	if _, err := r.reconcile(o); err == nil || len(r.emitted()) > 0 {
		t.Error("the event is repeated")
	}
}

// goingWith is a capability that is being deleted with a policy.
func goingWith(policy nexusv1.DeletionPolicy) func(*nexusv1.NexusAICapability) {
	return func(c *nexusv1.NexusAICapability) {
		c.DeletionTimestamp, c.Spec.DeletionPolicy = &metav1.Time{Time: noon}, policy
	}
}

// recovering is a capability that is being deleted with a time to undo that; without a state it was not looked at yet.
func recovering(state nexusv1.RecoveryState) func(*nexusv1.NexusAICapability) {
	return func(c *nexusv1.NexusAICapability) {
		goingWith(nexusv1.DeletionDelete)(c)
		c.Spec.Deletion = &nexusv1.DeletionSpec{Graceful: &metav1.Duration{Duration: time.Hour}}
		if state != "" {
			c.Status.Recovery = &nexusv1.RecoveryStatus{State: state, Until: metav1.NewTime(noon.Add(time.Hour))}
		}
	}
}

func under(policy v1alpha1.DeletionPolicy) func(*v1alpha1.S3Bucket) {
	return func(o *v1alpha1.S3Bucket) { o.Spec.DeletionPolicy = policy }
}

func TestGuardsData_OfTheStoresOfACapability(t *testing.T) {
	going := func(c *nexusv1.NexusAICapability) { c.DeletionTimestamp = &metav1.Time{Time: noon} }
	confirmed := func(o *v1alpha1.S3Bucket) { o.Annotations[reconciler.AnnotationDeleteData] = "media" }
	same := func(*nexusv1.NexusAICapability) {}
	for name, tc := range map[string]struct {
		capability func(*nexusv1.NexusAICapability) // nil: there is none
		object     []func(*v1alpha1.S3Bucket)
		declared   bool
		guards     bool
		reason     string
	}{
		"dropped by an edit": {same, []func(*v1alpha1.S3Bucket){controlled, deleting}, false, true, ""},
		"deleted by a person, and declared": {same, []func(*v1alpha1.S3Bucket){controlled, deleting}, true, true,
			status.ReasonOwnedByCapability},
		"confirmed":                         {same, []func(*v1alpha1.S3Bucket){controlled, deleting, confirmed}, true, false, ""},
		"its capability is deleted as well": {going, []func(*v1alpha1.S3Bucket){controlled, deleting}, false, false, ""},
		"its capability is gone":            {nil, []func(*v1alpha1.S3Bucket){controlled, deleting}, false, false, ""},
		"a new capability of that name": {func(c *nexusv1.NexusAICapability) { c.UID = "cap-2" },
			[]func(*v1alpha1.S3Bucket){controlled, deleting}, false, false, ""},
		"kept by a capability that goes": {goingWith(nexusv1.DeletionRetain),
			[]func(*v1alpha1.S3Bucket){controlled, deleting, under(v1alpha1.DeletionDelete)}, false, true, status.ReasonOwnedByCapability},
		"orphaned by one that goes": {goingWith(nexusv1.DeletionOrphan),
			[]func(*v1alpha1.S3Bucket){controlled, deleting, under(v1alpha1.DeletionDelete)}, true, true, status.ReasonOwnedByCapability},
		"kept, as it knows": {goingWith(nexusv1.DeletionRetain),
			[]func(*v1alpha1.S3Bucket){controlled, deleting, under(v1alpha1.DeletionRetain)}, false, false, ""},
		"deleted with its capability": {goingWith(nexusv1.DeletionDelete),
			[]func(*v1alpha1.S3Bucket){controlled, deleting, under(v1alpha1.DeletionRetain)}, false, false, ""},
		"recoverable, before the first look": {recovering(""), []func(*v1alpha1.S3Bucket){controlled, deleting, under(v1alpha1.DeletionDelete)},
			false, true, status.ReasonRecoverable},
		"recoverable": {recovering(nexusv1.RecoveryWaiting),
			[]func(*v1alpha1.S3Bucket){controlled, deleting, under(v1alpha1.DeletionDelete)}, false, true, status.ReasonRecoverable},
		"of a deletion that is undone": {recovering(nexusv1.RecoveryRestoring),
			[]func(*v1alpha1.S3Bucket){controlled, deleting, under(v1alpha1.DeletionDelete)}, false, true, status.ReasonRecoverable},
		"of a namespace that goes": {recovering(nexusv1.RecoveryReleased),
			[]func(*v1alpha1.S3Bucket){controlled, deleting, under(v1alpha1.DeletionDelete)}, false, true, status.ReasonRecoverable},
		"after the time": {recovering(nexusv1.RecoveryEnded),
			[]func(*v1alpha1.S3Bucket){controlled, deleting, under(v1alpha1.DeletionDelete)}, false, false, ""},
		"recoverable, and confirmed": {recovering(nexusv1.RecoveryWaiting), []func(*v1alpha1.S3Bucket){controlled, deleting, confirmed},
			false, false, ""},
		"of no capability": {same, []func(*v1alpha1.S3Bucket){deleting}, false, false, ""},
		"not deleted":      {same, []func(*v1alpha1.S3Bucket){controlled}, true, false, ""},
		"controlled by something else": {same,
			[]func(*v1alpha1.S3Bucket){controlled, deleting, func(o *v1alpha1.S3Bucket) { o.OwnerReferences[0].Kind = "App" }}, false, false, ""},
		"the name of another one is allowed": {same, []func(*v1alpha1.S3Bucket){controlled, deleting,
			func(o *v1alpha1.S3Bucket) { o.Annotations[reconciler.AnnotationDeleteData] = "media2" }}, false, true, ""},
	} {
		t.Run(name, func(t *testing.T) {
			var cluster []client.Object
			if tc.capability != nil {
				cluster = append(cluster, capabilityOf(tc.capability))
			}
			o := bucket(tc.object...)
			guards, err := newRoom(t, "S3Bucket", cluster...).guardsData(t.Context(), o, tc.declared)
			w, _ := status.AsWaiting(err)
			if guards != tc.guards || (tc.reason == "") != (err == nil) || w != nil &&
				(w.Reason != tc.reason || !strings.Contains(w.For, "its capability")) {
				t.Errorf("guards %v, %v", guards, err)
			}
		})
	}
	// The cache may not show that the capability goes: without an answer of the API server nothing is decided.
	r := newRoom(t, "S3Bucket", capabilityOf())
	r.refuse["live NexusAICapability"] = unavailable
	if _, err := r.guardsData(t.Context(), bucket(controlled, deleting), false); !apierrors.IsServiceUnavailable(err) {
		t.Errorf("without an answer: %v", err)
	}
	// A kind that holds no data needs no guard.
	if guards, err := newRoom(t, "SSMParameterSet", capabilityOf()).guardsData(t.Context(), bucket(controlled, deleting), false); guards ||
		err != nil {
		t.Errorf("%v, %v", guards, err)
	}
}

func TestParameterPath_OfAnotherNamespacesCapability(t *testing.T) {
	holder := func(namespace string, edits ...func(*nexusv1.NexusAICapability)) *nexusv1.NexusAICapability {
		c := capabilityOf(edits...)
		c.Namespace, c.Spec.CapabilityName, c.Spec.Environment = namespace, "shop", "dev"
		return c
	}
	set := func(path string, names ...string) *v1alpha1.SSMParameterSet {
		o := &v1alpha1.SSMParameterSet{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "set"}}
		o.Spec.Path, o.Spec.Parameters = path, map[string]v1alpha1.SSMParameter{}
		for _, n := range names {
			o.Spec.Parameters[n] = v1alpha1.SSMParameter{}
		}
		return o
	}
	suspended := func(c *nexusv1.NexusAICapability) { c.Spec.Suspend = true }
	for name, tc := range map[string]struct {
		set     *v1alpha1.SSMParameterSet
		holder  *nexusv1.NexusAICapability
		refused bool
	}{
		"its path":                      {set("/shop/dev", "a"), holder("secretive"), true},
		"below its path":                {set("/shop/dev/backend", "a"), holder("secretive"), true},
		"above it, with a parameter in": {set("/shop", "dev/a"), holder("secretive"), true},
		"beside it":                     {set("/shop/prod", "a"), holder("secretive"), false},
		"a path that begins alike":      {set("/shop/dev2", "a"), holder("secretive"), false},
		"in the capability's namespace": {set("/shop/dev", "a"), holder("ns"), false},
		"of one that cannot run":        {set("/shop/dev", "a"), holder("secretive", suspended), false},
		"of nobody": {set("/shop/dev", "a"),
			holder("secretive", func(c *nexusv1.NexusAICapability) { c.DeletionTimestamp = &metav1.Time{Time: noon} }), false},
		"in deletion, which must not end": {func() *v1alpha1.SSMParameterSet {
			o := set("/shop/dev", "a")
			o.DeletionTimestamp = &metav1.Time{Time: noon}
			return o
		}(), holder("secretive"), false},
	} {
		t.Run(name, func(t *testing.T) {
			err := newRoom(t, "SSMParameterSet", tc.holder).checkParameterPath(t.Context(), tc.set)
			s, refused := status.AsStalled(err)
			if refused != tc.refused || refused && (s.Reason != status.ReasonNameConflict || strings.Contains(s.Message, "secretive") ||
				!strings.Contains(s.Message, "choose another path")) {
				t.Errorf("%v", err)
			}
		})
	}
	r := newRoom(t, "SSMParameterSet")
	r.refuse["list NexusAICapability"] = forbidden
	if err := r.checkParameterPath(t.Context(), set("/shop/dev", "a")); !apierrors.IsForbidden(err) {
		t.Errorf("a path that cannot be checked is allowed: %v", err)
	}
}

func TestResolve_NeedsTheIDAndTheARN(t *testing.T) {
	role := func(edit func(*v1alpha1.IAMRole)) *v1alpha1.IAMRole {
		o := &v1alpha1.IAMRole{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "role"}}
		o.Status.ARN, o.Status.ID, o.Status.Ownership = "arn:aws:iam::1:role/role", "role", v1alpha1.OwnershipOwned
		edit(o)
		return o
	}
	for name, tc := range map[string]struct {
		objs []client.Object
		want string
	}{
		"one that exists in AWS":    {[]client.Object{role(func(*v1alpha1.IAMRole) {})}, ""},
		"one that does not yet":     {[]client.Object{role(func(o *v1alpha1.IAMRole) { o.Status = v1alpha1.IAMRoleStatus{} })}, "Waiting"},
		"one with an ID and no ARN": {[]client.Object{role(func(o *v1alpha1.IAMRole) { o.Status.ARN = "" })}, "Waiting"},
		"one of another namespace":  {[]client.Object{role(func(o *v1alpha1.IAMRole) { o.Namespace = "other" })}, "Waiting"},
		"a role that is only watched": {[]client.Object{role(func(o *v1alpha1.IAMRole) { o.Spec.ManagementPolicy = v1alpha1.ManageObserve })},
			status.ReasonNotPermitted},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPass(newRoom(t, "GlueCrawler", tc.objs...).Reconciler,
				&v1alpha1.GlueCrawler{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "crawler"}})
			target, err := p.resolve(t.Context(), engine.Referrer{}, "IAMRole", "role")
			if got := reasonOf(err); got != tc.want {
				t.Fatalf("%v, want %q", err, tc.want)
			}
			if _, recorded := p.Refs()["IAMRole/role"]; recorded != (tc.want == "") || recorded && target.ARN != "arn:aws:iam::1:role/role" {
				t.Errorf("target %+v, recorded %v", target, recorded)
			}
		})
	}
	r := newRoom(t, "GlueCrawler")
	p := newPass(r.Reconciler, &v1alpha1.GlueCrawler{ObjectMeta: metav1.ObjectMeta{Namespace: "ns"}})
	if _, err := p.resolve(t.Context(), engine.Referrer{}, "Deployment", "x"); err == nil {
		t.Error("a reference to a foreign kind is possible")
	}
	r.refuse["get IAMRole"] = unavailable
	if _, err := p.resolve(t.Context(), engine.Referrer{}, "IAMRole", "role"); !apierrors.IsServiceUnavailable(err) {
		t.Errorf("a role that cannot be read is taken for absent: %v", err)
	}
}

// An edit that AWS refuses, or a check that fails, makes a target not Ready; its identifiers stay valid.
func TestResolve_DoesNotWaitUntilTheTargetIsReady(t *testing.T) {
	o := &v1alpha1.IAMRole{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "role"}}
	o.Status.ARN, o.Status.ID, o.Status.Ownership = "arn:aws:iam::1:role/role", "role", v1alpha1.OwnershipOwned
	status.Summarize(&o.Status.Conditions,
		status.Result{Now: noon, Err: &status.Stalled{Reason: status.ReasonRefusedByAWS, Message: "AWS refuses iam:UpdateRole"}})
	p := newPass(newRoom(t, "GlueCrawler", o).Reconciler,
		&v1alpha1.GlueCrawler{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "crawler"}})
	if target, err := p.resolve(t.Context(), engine.Referrer{}, "IAMRole", "role"); err != nil || target.ARN != "arn:aws:iam::1:role/role" {
		t.Errorf("%+v, %v", target, err)
	}
}

func reasonOf(err error) string {
	if s, ok := status.AsStalled(err); ok {
		return s.Reason
	}
	if w, ok := status.AsWaiting(err); ok {
		return w.Reason
	}
	return ""
}

// The record of the home was removed by a person: the ARN in the status is all that tells where the resource is.
func TestCheckHome_BelievesTheARN(t *testing.T) {
	session := &awsclient.Session{Account: "123456789012", Region: "eu-central-1"}
	for name, tc := range map[string]struct {
		arn   string
		home  *engine.Intent
		moved bool
	}{
		"here":               {"arn:aws:sqs:eu-central-1:123456789012:q", nil, false},
		"another region":     {"arn:aws:sqs:us-east-1:123456789012:q", nil, true},
		"another account":    {"arn:aws:sqs:eu-central-1:999999999999:q", nil, true},
		"IAM has no region":  {"arn:aws:iam::123456789012:role/r", nil, false},
		"a role elsewhere":   {"arn:aws:iam::999999999999:role/r", nil, true},
		"S3 has neither":     {"arn:aws:s3:::b", nil, false},
		"nothing is known":   {"", nil, false},
		"the record decides": {"arn:aws:sqs:us-east-1:123456789012:q", &engine.Intent{}, false},
	} {
		o := &v1alpha1.S3Bucket{}
		o.Status.ARN = tc.arn
		err := (&pass{obj: o}).checkHome(session, tc.home)
		if s, moved := status.AsStalled(err); moved != tc.moved || moved &&
			(s.Reason != status.ReasonProviderMoved || !strings.Contains(s.Message, "point the provider back")) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestStillCurrent_AsksBeforeAWriteToAWS(t *testing.T) {
	for name, tc := range map[string]struct {
		edit     func(*v1alpha1.S3Bucket)
		absent   bool
		refusal  error
		conflict bool
	}{
		"as it was read":           {func(*v1alpha1.S3Bucket) {}, false, nil, false},
		"edited since":             {edited, false, nil, true},
		"another of that name":     {func(o *v1alpha1.S3Bucket) { o.UID = "uid-2" }, false, nil, true},
		"gone":                     {func(*v1alpha1.S3Bucket) {}, true, nil, true},
		"the API server is silent": {func(*v1alpha1.S3Bucket) {}, false, unavailable, false},
	} {
		t.Run(name, func(t *testing.T) {
			var cluster []client.Object
			if !tc.absent {
				cluster = append(cluster, bucket(tc.edit))
			}
			r := newRoom(t, "S3Bucket", cluster...)
			r.refuse["live S3Bucket"] = tc.refusal
			k := newReading(r.Reconciler, bucket())
			if err := k.stillCurrent(t.Context()); apierrors.IsConflict(err) != tc.conflict || errors.Is(err, unavailable) != (tc.refusal != nil) {
				t.Errorf("%v", err)
			}
		})
	}
	r := newRoom(t, "S3Bucket", bucket())
	k := newReading(r.Reconciler, bucket())
	if err := k.confirmed(func() error { return nil }); err != nil {
		t.Fatal(err)
	}
	r.refuse["live S3Bucket"] = unavailable
	if err := k.stillCurrent(t.Context()); err != nil {
		t.Errorf("what was just confirmed is asked again: %v", err)
	}
	r.clock.SetTime(r.clock.Now().Add(trustReading))
	if err := k.stillCurrent(t.Context()); !apierrors.IsServiceUnavailable(err) {
		t.Errorf("what was confirmed long ago is believed: %v", err)
	}
}

func TestCommit_PersistsFinalizerAndRecordInOneWrite(t *testing.T) {
	o := bucket(func(o *v1alpha1.S3Bucket) { o.Finalizers, o.Annotations = nil, map[string]string{"team": "a"} })
	r := newRoom(t, "S3Bucket", o)
	r.read(o)
	p := newPass(r.Reconciler, o)
	p.home = "aws/123456789012/eu-central-1"
	r.refuse["patch S3Bucket"] = raced
	if err := p.Commit(t.Context(), &engine.Intent{UID: "uid-1", Attempt: 1}); !apierrors.IsConflict(err) || len(o.Finalizers) > 0 {
		t.Errorf("a race: %v, finalizers %q", err, o.Finalizers)
	}
	delete(r.refuse, "patch S3Bucket")
	if err := p.Commit(t.Context(), &engine.Intent{UID: "uid-1", Attempt: 1}); err != nil {
		t.Fatal(err)
	}
	stored := bucket()
	r.read(stored)
	if writes := r.written(); !slices.Equal(writes, []string{"patch"}) || !r.cadence().hasMarks(stored) || stored.Annotations["team"] != "a" {
		t.Errorf("wrote %q: %v %v", writes, stored.Finalizers, stored.Annotations)
	}
	// A person edits the object: the decision of the pass is based on the object before.
	stored.Annotations["team"] = "b"
	if err := r.client.Update(t.Context(), stored); err != nil {
		t.Fatal(err)
	}
	if err := p.Commit(t.Context(), &engine.Intent{UID: "uid-1", Attempt: 2}); !apierrors.IsConflict(err) {
		t.Errorf("a record is written over an object that changed: %v", err)
	}
}

func TestDependents_AreThoseThatWait(t *testing.T) {
	named := func(name string, edits ...func(*v1alpha1.S3Bucket)) *v1alpha1.S3Bucket {
		o := bucket(edits...)
		o.Name = name
		return o
	}
	r := newRoom(t, "S3Bucket", named("ready"), named("waits", edited), named("goes", deleting),
		named("other-provider", edited, func(o *v1alpha1.S3Bucket) { o.Spec.ProviderRef.Name = "other" }),
		named("elsewhere", edited, func(o *v1alpha1.S3Bucket) { o.Namespace = "other" }))
	provider := &v1alpha1.AWSProvider{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "aws"}}
	dependents := r.triggers().dependents(reconciler.ProviderIndex)
	if got := namesOf(dependents(t.Context(), provider)); !slices.Equal(got, []string{"goes", "waits"}) {
		t.Errorf("%q are looked at", got)
	}
	for state, want := range map[metav1.ConditionStatus][]string{metav1.ConditionTrue: {"goes", "waits"},
		metav1.ConditionUnknown: {"goes", "waits"}, metav1.ConditionFalse: {"goes", "ready", "waits"}} {
		provider.Status.Conditions = []metav1.Condition{{Type: status.Ready, Status: state}}
		if got := namesOf(dependents(t.Context(), provider)); !slices.Equal(got, want) {
			t.Errorf("with a provider that is Ready=%s, %q are looked at", state, got)
		}
	}
	if due, ok := r.checks.Due(client.ObjectKey{Namespace: "ns", Name: "ready"}); !ok || due.After(noon) {
		t.Errorf("the ready object of a broken provider is looked at at %v", due)
	}
	r.refuse["list S3Bucket"] = unavailable
	if got := dependents(t.Context(), provider); got != nil {
		t.Errorf("%v", got)
	}
}

func TestServed_ChecksEveryObjectOfAnEditedProvider(t *testing.T) {
	other := func(o *v1alpha1.S3Bucket) { o.Name, o.Spec.ProviderRef.Name = "other", "other" }
	r := newRoom(t, "S3Bucket", bucket(), bucket(other))
	provider := &v1alpha1.AWSProvider{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "aws"}}
	got := r.triggers().served(t.Context(), provider)
	if len(got) != 1 || got[0].Name == "other" || !r.checks.IsRequested(got[0].NamespacedName) {
		t.Errorf("%v are checked", got)
	}
}

func namesOf(reqs []reconcile.Request) []string {
	var out []string
	for _, r := range reqs {
		out = append(out, r.Name)
	}
	slices.Sort(out)
	return out
}

func TestOfResumed_MakesItsObjectsDue(t *testing.T) {
	mine, other := bucket(controlled), bucket(func(o *v1alpha1.S3Bucket) { o.Name = "other" })
	r := newRoom(t, "S3Bucket", mine, other)
	key := client.ObjectKeyFromObject(mine)
	r.checks.Set(key, noon.Add(time.Hour))
	if got := namesOf(r.triggers().ofResumed(t.Context(), capabilityOf())); !slices.Equal(got, []string{"media"}) {
		t.Errorf("%q are looked at", got)
	}
	if due, _ := r.checks.Due(key); due.After(noon) {
		t.Errorf("the next look is at %v", due)
	}
	if got := r.triggers().ofResumed(t.Context(), capabilityOf(func(c *nexusv1.NexusAICapability) { c.UID = "cap-2" })); got != nil {
		t.Errorf("a new capability of that name resumes %v", got)
	}
}

func TestPredicates_OfTheKindItself(t *testing.T) {
	gone := func(edit func(*v1alpha1.S3Bucket)) *v1alpha1.S3Bucket { return bucket(edit) }
	stalled := gone(func(o *v1alpha1.S3Bucket) {
		status.Summarize(&o.Status.Conditions,
			status.Result{Generation: 2, Now: noon, Err: &status.Stalled{Reason: status.ReasonConflict, Message: "m"}})
	})
	unidentified := gone(func(o *v1alpha1.S3Bucket) { o.Status = v1alpha1.S3BucketStatus{} })
	created := gone(func(o *v1alpha1.S3Bucket) { o.Status = v1alpha1.S3BucketStatus{}; o.Status.ID = "media" })
	for name, tc := range map[string]struct {
		predicate predicate.Predicate
		was, is   *v1alpha1.S3Bucket
		want      bool
	}{
		"a status":                          {unmarked{}, unidentified, bucket(), false},
		"the finalizer is stripped":         {unmarked{}, bucket(), gone(func(o *v1alpha1.S3Bucket) { o.Finalizers = nil }), true},
		"a finalizer is added":              {unmarked{}, gone(func(o *v1alpha1.S3Bucket) { o.Finalizers = nil }), bucket(), false},
		"the record is removed":             {unmarked{}, bucket(), gone(func(o *v1alpha1.S3Bucket) { o.Annotations = nil }), true},
		"its owner reference goes":          {unmarked{}, bucket(controlled), bucket(), true},
		"another capability owns it":        {unmarked{}, bucket(), bucket(controlled), true},
		"it is no longer ready":             {unready{}, bucket(), stalled, true},
		"it becomes ready":                  {unready{}, stalled, bucket(), false},
		"it stays stalled":                  {unready{}, stalled, stalled, false},
		"a target gets its ID and ARN":      {identified{}, unidentified, stalled, true},
		"a target has an ID and no ARN yet": {identified{}, unidentified, created, false},
		"a target with an ID gets its ARN":  {identified{}, created, stalled, true},
		"a target becomes ready":            {identified{}, stalled, bucket(), true},
		"a target is looked at":             {identified{}, bucket(), bucket(), false},
	} {
		if got := tc.predicate.Update(event.UpdateEvent{ObjectOld: tc.was, ObjectNew: tc.is}); got != tc.want {
			t.Errorf("%s: %v", name, got)
		}
	}
	for _, p := range []predicate.Predicate{unmarked{}, unready{}} {
		if p.Create(event.CreateEvent{Object: bucket()}) || p.Delete(event.DeleteEvent{Object: bucket()}) {
			t.Errorf("%T lets an event through that the controller's own watch brings already", p)
		}
	}
}

func TestReadersOf_WithoutAnAnswer(t *testing.T) {
	r := newRoom(t, "SecretsManagerSecret", secretFrom("ns", "one", "source"))
	r.refuse["list SecretsManagerSecret"] = unavailable
	if got := r.triggers().readersOf(t.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "source"}}); got != nil {
		t.Errorf("%v", got)
	}
}

func TestWaitForQuota_SaysHowMuchIsLeft(t *testing.T) {
	r := newRoom(t, "SSMParameterSet")
	p := newPass(r.Reconciler, &v1alpha1.SSMParameterSet{})
	if w := p.pacing.waitForQuota("ssm:PutParameter"); w.Reason != status.ReasonThrottled || !w.Usable ||
		!strings.Contains(w.For, "SSM quota; a higher quota") {
		t.Errorf("before the plan: %+v", w)
	}
	left := 7
	p.pacing.left = func(string) int { return left }
	if w := p.pacing.waitForQuota("ssm:PutParameter"); !strings.Contains(w.For, "SSM quota: 7 ") || !strings.Contains(w.For, "--aws-rates") {
		t.Errorf("%+v", w)
	}
	left = 0
	if w := p.pacing.waitForQuota("ssm:PutParameter"); strings.Contains(w.For, " left") {
		t.Errorf("%+v", w)
	}
}

func TestMemories_OfAnEarlierObjectAreDropped(t *testing.T) {
	m, key := newMemories(), client.ObjectKey{Namespace: "ns", Name: "media"}
	first := m.of(key, "1")
	if m.of(key, "1") != first {
		t.Error("the memory of an object changes from pass to pass")
	}
	second := m.of(key, "2")
	if second == first || m.of(key, "2") != second {
		t.Error("a new object has the memory of the one before")
	}
	m.forget(key)
	if m.of(key, "2") == second {
		t.Error("what was forgotten is remembered")
	}
}

// TestSteadily_NoticesAStopAndNotASlowAnswer stops the process of the test itself.
func TestSteadily_NoticesAStopAndNotASlowAnswer(t *testing.T) {
	self := strconv.Itoa(os.Getpid())
	steady, err := steadily(clock.RealClock{}, func() error {
		return exec.Command("sh", "-c", "kill -STOP "+self+"; sleep 0.5; kill -CONT "+self).Run()
	})
	if steady || err != nil {
		t.Errorf("a stop of half a second: %v, %v", steady, err)
	}
	for range 10 { // a busy machine may stop the process as well
		if steady, err = steadily(clock.RealClock{}, func() error { time.Sleep(2 * trustReading); return unavailable }); steady {
			break
		}
	}
	if !steady || !errors.Is(err, unavailable) {
		t.Errorf("a slow answer: %v, %v", steady, err)
	}
}

func TestStillCurrent_BelievesASlowAnswer(t *testing.T) {
	r := newRoom(t, "S3Bucket", bucket())
	k, asked := newReading(r.Reconciler, bucket()), 0
	r.delayed = func(verb string) {
		if verb == "live" {
			asked++
			time.Sleep(2 * trustReading)
			r.clock.SetTime(r.clock.Now().Add(2 * trustReading))
		}
	}
	for range 10 { // see above
		asked = 0
		if err := k.stillCurrent(t.Context()); err != nil {
			t.Fatal(err)
		}
		if asked == 1 {
			return
		}
		r.clock.SetTime(r.clock.Now().Add(time.Minute))
	}
	t.Errorf("the API server was asked %d times for one write", asked)
}
