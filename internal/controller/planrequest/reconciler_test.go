// SPDX-License-Identifier: Apache-2.0

package planrequest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	testingclock "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	intentv1alpha1 "github.com/nexus-operator/nexus-operator/api/intent/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/config/crd"
	"github.com/nexus-operator/nexus-operator/internal/awssession"
	"github.com/nexus-operator/nexus-operator/internal/catalog"
	"github.com/nexus-operator/nexus-operator/internal/controller/reconciler"
	"github.com/nexus-operator/nexus-operator/internal/crdschema"
	"github.com/nexus-operator/nexus-operator/internal/engine"
	"github.com/nexus-operator/nexus-operator/internal/plan"
	"github.com/nexus-operator/nexus-operator/internal/testkit/fakeapi"
)

var start = fakeapi.Start()

// bed is a reconciler before a fake API server that has one request.
type bed struct {
	*testing.T
	*Reconciler
	api   *fakeapi.API
	clock *testingclock.FakePassiveClock
	q     *nexusv1.PlanRequest
}

func newBed(t *testing.T, spec nexusv1.PlanRequestSpec, objs ...client.Object) *bed {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := errors.Join(clientgoscheme.AddToScheme(scheme), v1alpha1.AddToScheme(scheme), nexusv1.AddToScheme(scheme),
		intentv1alpha1.AddToScheme(scheme)); err != nil {
		t.Fatal(err)
	}
	schemas, err := crdschema.Load(crd.Bases)
	if err != nil {
		t.Fatal(err)
	}
	q := &nexusv1.PlanRequest{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "plan-1", UID: "u1", Generation: 1,
		CreationTimestamp: metav1.NewTime(start)}, Spec: spec}
	q.Status.ObservedGeneration = -1
	api := fakeapi.New(fake.NewClientBuilder().WithScheme(scheme).WithObjects(append(objs, q)...).WithStatusSubresource(q))
	b := &bed{T: t, api: api, clock: testingclock.NewFakePassiveClock(start), q: q}
	env := reconciler.Environment{Client: api, Live: api.Live(), Clock: b.clock, Schemas: schemas,
		Intervals: reconciler.Intervals{Stalled: time.Minute, RetryFirst: time.Second, RetryMost: time.Minute}}
	providers := &awssession.Directory{Client: api, Live: api.Live()}
	b.Reconciler = New(env, Contents{Kinds: catalog.Kinds(), Providers: providers})
	return b
}

func (b *bed) pass() (reconcile.Result, error) {
	b.Helper()
	res, err := b.Reconcile(b.Context(), reconcile.Request{NamespacedName: client.ObjectKeyFromObject(b.q)})
	if gerr := b.api.Store.Get(b.Context(), client.ObjectKeyFromObject(b.q), b.q); client.IgnoreNotFound(gerr) != nil {
		b.Fatal(gerr)
	}
	return res, err
}

func (b *bed) shows(kind, state, reason, text string) {
	b.Helper()
	fakeapi.CheckCondition(b, b.q.Status.Conditions, kind, state, reason, text)
	if c := meta.FindStatusCondition(b.q.Status.Conditions, kind); c != nil && c.ObservedGeneration != 1 {
		b.Errorf("condition %s is of generation %d", kind, c.ObservedGeneration)
	}
}

func (b *bed) answer() plan.Plan {
	b.Helper()
	p := plan.Plan{}
	if err := json.Unmarshal([]byte(b.q.Status.Plan), &p); err != nil {
		b.Fatalf("%v: %q", err, b.q.Status.Plan)
	}
	return p
}

const bucket = `{"apiVersion":"aws-infra-operator.runner.codes/v1alpha1","kind":"S3Bucket","metadata":{"name":"logs"},"spec":{"providerRef":{"name":"aws"},"bucketName":"team-logs"}}`

var oneBucket = nexusv1.PlanRequestSpec{Manifests: []nexusv1.PlannedManifest{bucket}}

func TestReconcile_AnswersOnceAndWritesNothingElse(t *testing.T) {
	b := newBed(t, oneBucket)
	res, err := b.pass()
	if err != nil || res.RequeueAfter != lifetime {
		t.Errorf("%+v %v", res, err)
	}
	b.shows("Ready", "True", "Ready", "the plan is in status.plan")
	if p := b.answer(); p.APIVersion != plan.APIVersion || len(p.Items) != 1 || p.Items[0].Action != plan.Create ||
		p.Items[0].Namespace != "team" || p.Items[0].Waits != "AWSProvider/aws to exist in namespace team" {
		t.Errorf("%+v", p)
	}
	if w := b.api.Writes(); !slices.Equal(w, []string{"status PlanRequest team/plan-1"}) || b.q.Status.ObservedGeneration != 1 {
		t.Errorf("writes %q, observed generation %d", w, b.q.Status.ObservedGeneration)
	}
	b.clock.SetTime(start.Add(4 * time.Minute))
	if res, err := b.pass(); err != nil || res.RequeueAfter != 6*time.Minute {
		t.Errorf("%+v %v", res, err)
	}
	if calls := b.api.Calls(); !slices.Equal(calls, []string{"live get PlanRequest team/plan-1"}) {
		t.Errorf("the second pass sent %q", calls)
	}
}

func TestReconcile_DeletesAnOldRequest(t *testing.T) {
	b := newBed(t, oneBucket)
	b.clock.SetTime(start.Add(lifetime))
	if res, err := b.pass(); err != nil || !res.IsZero() {
		t.Errorf("%+v %v", res, err)
	}
	if w := b.api.Writes(); !slices.Equal(w, []string{"delete PlanRequest team/plan-1"}) {
		t.Errorf("writes %q", w)
	}
	if res, err := b.pass(); err != nil || !res.IsZero() {
		t.Errorf("a request that is gone: %+v %v", res, err)
	}
}

// A crash between the plan and the write of the answer leaves a request without one, which is planned again.
func TestReconcile_PlansAgainWhatWasNotWritten(t *testing.T) {
	b := newBed(t, oneBucket)
	b.api.Fail("status PlanRequest", errors.New("connection lost"))
	if _, err := b.pass(); err == nil || b.q.Status.Plan != "" {
		t.Errorf("%v, plan %q", err, b.q.Status.Plan)
	}
	b.api.Fail("status PlanRequest", nil)
	if _, err := b.pass(); err != nil {
		t.Error(err)
	}
	b.shows("Ready", "True", "Ready", "")
	if len(b.answer().Items) != 1 {
		t.Error(b.q.Status.Plan)
	}
}

func TestReconcile_SaysWhichRightTheOperatorLacks(t *testing.T) {
	b := newBed(t, oneBucket)
	b.api.Fail("live get S3Bucket", apierrors.NewForbidden(schema.GroupResource{Resource: "s3buckets"}, "logs", errors.New("no rule")))
	if _, err := b.pass(); err != nil {
		t.Error(err)
	}
	b.shows("Stalled", "True", "AccessDenied", "the operator may not read what the plan depends on")
	b.shows("Ready", "False", "AccessDenied", "config/rbac")
}

func TestReconcile_TriesAgainAfterAFailureThatMayPass(t *testing.T) {
	b := newBed(t, oneBucket)
	b.api.Fail("live get S3Bucket", errors.New("etcd has no leader"))
	if _, err := b.pass(); err == nil || b.q.Status.ObservedGeneration == 1 {
		t.Errorf("%v, observed generation %d", err, b.q.Status.ObservedGeneration)
	}
	b.shows("Reconciling", "True", "Retrying", "etcd has no leader")
	b.api.Fail("live get S3Bucket", nil)
	if _, err := b.pass(); err != nil {
		t.Error(err)
	}
	b.shows("Ready", "True", "Ready", "")
}

func TestReconcile_ReadsNoWholeRequestFromTheCache(t *testing.T) {
	b := newBed(t, oneBucket)
	b.api.Fail("get PlanRequest", errors.New("a cache of whole requests fills the memory"))
	if _, err := b.pass(); err != nil {
		t.Error(err)
	}
	b.shows("Ready", "True", "Ready", "")
}

// A plan that took too long takes as long again: it is answered, and not repeated.
func TestReconcile_AnswersAPlanThatRanOutOfTime(t *testing.T) {
	b := newBed(t, oneBucket)
	b.timeout = time.Nanosecond
	b.api.Fail("live get S3Bucket", context.DeadlineExceeded)
	if res, err := b.pass(); err != nil || res.RequeueAfter != lifetime || b.q.Status.ObservedGeneration != 1 {
		t.Errorf("%+v %v, observed generation %d", res, err, b.q.Status.ObservedGeneration)
	}
	b.shows("Stalled", "True", "LimitExceeded", "plan fewer objects")
}

func TestReconcile_LimitsTheRequestsOfANamespace(t *testing.T) {
	var others []client.Object
	for i := range mostOfNamespace {
		others = append(others, &nexusv1.PlanRequest{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: fmt.Sprint("older-", i),
			CreationTimestamp: metav1.NewTime(start.Add(-time.Second))}})
	}
	b := newBed(t, oneBucket, others[1:]...)
	_, _ = b.pass()
	b.shows("Ready", "True", "Ready", "")
	b = newBed(t, oneBucket, others...)
	if res, err := b.pass(); err != nil || res.RequeueAfter != lifetime {
		t.Errorf("%+v %v", res, err)
	}
	b.shows("Stalled", "True", "LimitExceeded", "delete those that are answered")
	large := nexusv1.PlanRequestSpec{Manifests: []nexusv1.PlannedManifest{bucket, nexusv1.PlannedManifest(strings.Repeat(" ", maxManifests))}}
	b = newBed(t, large)
	_, _ = b.pass()
	b.shows("Stalled", "True", "InvalidSpec", "divide them among several requests")
}

func TestReconcile_PlansObjectsAsTheyAre(t *testing.T) {
	o := &v1alpha1.S3Bucket{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "logs"},
		Spec: v1alpha1.S3BucketSpec{BucketName: "team-logs"}}
	o.Spec.ProviderRef.Name = "aws"
	b := newBed(t, nexusv1.PlanRequestSpec{Objects: []nexusv1.PlannedObject{{Kind: "S3Bucket", Name: "logs"}}}, o)
	if _, err := b.pass(); err != nil {
		t.Error(err)
	}
	if p := b.answer(); len(p.Items) != 1 || p.Items[0].Action != plan.None || p.Items[0].Name != "logs" {
		t.Errorf("%+v", p)
	}
}

func TestManifest_RefusesWhatTheNamespaceDoesNotHold(t *testing.T) {
	b := newBed(t, oneBucket)
	for name, tc := range map[string]struct{ text, want string }{
		"no JSON":        {"kind: S3Bucket", "spec.manifests[3]: is no object as JSON"},
		"a list":         {`{"apiVersion":"v1","kind":"List","items":[]}`, "spec.manifests[3]: must be one object"},
		"a foreign kind": {`{"apiVersion":"v1","kind":"Secret","metadata":{"name":"a"}}`, "spec.manifests[3].kind"},
		"a kind of a cluster": {`{"apiVersion":"intent.security.nimbus.com/v1alpha1","kind":"SecurityIntent","metadata":{"name":"a"}}`,
			"spec.manifests[3].kind"},
		"a provider": {`{"apiVersion":"aws-infra-operator.runner.codes/v1alpha1","kind":"AWSProvider","metadata":{"name":"a"}}`,
			"AWSProvider is refused"},
		"a policy": {`{"apiVersion":"intent.security.nimbus.com/v1alpha1","kind":"NimbusPolicy","metadata":{"name":"a"}}`,
			"spec.manifests[3].kind"},
		"a request":     {`{"apiVersion":"nexus.ai/v1","kind":"PlanRequest","metadata":{"name":"a"}}`, "spec.manifests[3].kind"},
		"another group": {`{"apiVersion":"example.com/v1","kind":"S3Bucket","metadata":{"name":"a"}}`, "spec.manifests[3].apiVersion"},
		"another version": {`{"apiVersion":"aws-infra-operator.runner.codes/v9","kind":"S3Bucket","metadata":{"name":"a"}}`,
			"spec.manifests[3].apiVersion"},
		"another namespace": {`{"apiVersion":"nexus.ai/v1","kind":"NexusAICapability","metadata":{"name":"a","namespace":"victim"}}`,
			"spec.manifests[3].metadata.namespace"},
		"no name": {`{"apiVersion":"nexus.ai/v1","kind":"NexusAICapability","metadata":{}}`, "spec.manifests[3].metadata.name"},
		"a path for a name": {`{"apiVersion":"nexus.ai/v1","kind":"NexusAICapability","metadata":{"name":"../secrets"}}`,
			"spec.manifests[3].metadata.name"},
	} {
		if _, err := b.manifest("team", "spec.manifests[3]", tc.text); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v, want %q", name, err, tc.want)
		}
	}
	u, err := b.manifest("team", "spec.manifests[0]", bucket)
	if err != nil || u.GetNamespace() != "team" {
		t.Errorf("%v %v", u, err)
	}
}

func TestLimitTo_HidesOtherNamespacesAndForeignResources(t *testing.T) {
	q := &nexusv1.PlanRequest{ObjectMeta: metav1.ObjectMeta{Namespace: "team"}}
	values := []plan.Field{{Path: "spec.a", Have: "private", Want: "new"}, {Path: "spec.b", Want: "new"}}
	p := limitTo(q, plan.Of([]plan.Item{
		{Kind: "NexusAICapability", Namespace: "team", Name: "app"},
		{Kind: "Deployment", Namespace: "team", Name: "near", Owner: "team/app", Action: plan.Update, Fields: values},
		{Kind: "Deployment", Namespace: "app-dev", Name: "far", Owner: "team/app", Action: plan.Update, Fields: values},
		{Kind: "NetworkPolicy", Namespace: "victim", Name: "hidden", Owner: "victim/web", Action: plan.Update, Fields: values},
		{Kind: "ClusterNimbusPolicy", Name: "hidden", Owner: "over", Action: plan.Update, Fields: values},
		{Kind: "S3Bucket", Namespace: "team", Name: "conflict", Action: plan.None, Problem: &plan.Problem{Reason: "Conflict"},
			AWS: &plan.Resource{Action: plan.None, Fields: values}},
	}))
	text, err := json.Marshal(p)
	if err != nil || strings.Contains(string(text), "hidden") || strings.Contains(string(text), "victim") || len(p.Items) != 4 {
		t.Errorf("%v %s", err, text)
	}
	if p.Items[1].Fields[0].Have != "private" || p.Items[2].Fields[0].Have != "***" || p.Items[2].Fields[1].Have != "" ||
		p.Items[3].AWS.Fields != nil {
		t.Errorf("%s", text)
	}
	if p.Summary.Update != 2 {
		t.Errorf("the summary counts what is hidden: %+v", p.Summary)
	}
}

func TestBounded_LeavesOutTheEndOfALongPlan(t *testing.T) {
	var items []plan.Item
	for i := range 100 {
		items = append(items, plan.Item{Kind: "S3Bucket", Name: fmt.Sprint(i), Action: plan.Create})
	}
	text, leftOut, err := bounded(plan.Of(items), 2000)
	p := plan.Plan{}
	if err := errors.Join(err, json.Unmarshal([]byte(text), &p)); err != nil {
		t.Fatal(err)
	}
	if len(text) > 2000 || len(p.Items) == 0 || len(p.Items)+int(leftOut) != 100 || p.Summary.Create != 100 || p.Items[0].Name != "0" {
		t.Errorf("%d bytes, %d items, %d left out, %+v", len(text), len(p.Items), leftOut, p.Summary)
	}
	if text, leftOut, err := bounded(plan.Of(items[:3]), 2000); err != nil || leftOut != 0 || !json.Valid([]byte(text)) {
		t.Errorf("a short plan: %d left out, %v", leftOut, err)
	}
	long := plan.Of([]plan.Item{{Kind: "S3Bucket", Name: strings.Repeat("x", 3000)}})
	if _, leftOut, err := bounded(long, 2000); err != nil || leftOut != 1 {
		t.Errorf("an item that is too long: %d left out, %v", leftOut, err)
	}
}

func TestReadOnly_WritesNothing(t *testing.T) {
	b := newBed(t, oneBucket)
	c := b.contents.Planner(b.Environment).Client
	o := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "a"}}
	patch := client.RawPatch("application/merge-patch+json", []byte("{}"))
	ctx := t.Context()
	for name, err := range map[string]error{
		"create": c.Create(ctx, o), "update": c.Update(ctx, o), "patch": c.Patch(ctx, o, patch), "delete": c.Delete(ctx, o),
		"apply":      c.Apply(ctx, nil),
		"delete all": c.DeleteAllOf(ctx, o), "status": c.Status().Patch(ctx, o, patch), "status update": c.Status().Update(ctx, o),
		"status create": c.Status().Create(ctx, o, o),
		"subresource":   c.SubResource("scale").Apply(ctx, nil), "read of a subresource": c.SubResource("token").Get(ctx, o, o),
	} {
		if !errors.Is(err, errReadOnly) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if w := b.api.Writes(); len(w) > 0 {
		t.Errorf("writes %q", w)
	}
}

func TestReconcile_SaysThatAKindIsNotServed(t *testing.T) {
	for kinds, served := range map[string]bool{"*,-S3Bucket": false, "DynamoDBTable": false, "-DynamoDBTable": true, "*": true} {
		b := newBed(t, oneBucket)
		b.contents.Settings.Kinds = strings.Split(kinds, ",")
		// as the operator has them
		b.contents.Kinds = slices.DeleteFunc(b.contents.Kinds, func(e engine.Entry) bool { return !b.contents.Settings.Kinds.Serves(e.Name()) })
		if _, err := b.pass(); err != nil {
			t.Fatal(err)
		}
		p := b.answer()
		if len(p.Items) != 1 {
			t.Fatalf("--kinds=%s: %+v", kinds, p)
		}
		problem := p.Items[0].Problem
		if served && problem != nil {
			t.Errorf("--kinds=%s: %+v", kinds, problem)
		}
		if !served && (problem == nil || problem.Reason != "KindNotServed" || problem.Code != "NX-OP-002" ||
			!strings.Contains(problem.Message, "S3Bucket/logs") || !strings.Contains(problem.Message, "--kinds")) {
			t.Errorf("--kinds=%s: %+v", kinds, problem)
		}
	}
}
