// SPDX-License-Identifier: Apache-2.0

package awsresource

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/events"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/api/wellknown"
	"github.com/nexus-operator/nexus-operator/config/crd"
	"github.com/nexus-operator/nexus-operator/internal/awssession"
	"github.com/nexus-operator/nexus-operator/internal/catalog"
	"github.com/nexus-operator/nexus-operator/internal/controller/reconciler"
	"github.com/nexus-operator/nexus-operator/internal/crdschema"
	"github.com/nexus-operator/nexus-operator/internal/engine"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

var (
	forbidden   = apierrors.NewForbidden(schema.GroupResource{Resource: "things"}, "x", errors.New("the operator has no right to it"))
	unavailable = apierrors.NewServiceUnavailable("etcd does not answer")
	raced       = apierrors.NewConflict(schema.GroupResource{Resource: "things"}, "x", errors.New("somebody else was faster"))
)

// room is a reconciler of one kind over a cluster in memory. Its passes end before AWS is asked.
type room struct {
	*testing.T
	*Reconciler
	client client.WithWatch
	clock  *clocktesting.FakePassiveClock
	events *events.FakeRecorder

	mu     sync.Mutex
	writes []string
	// refuse answers instead of the API server: by verb (get, list, live, patch, patch status) and kind.
	refuse map[string]error
	// delayed is called with the verb of each call before its answer; nil does nothing.
	delayed func(verb string)
}

// no one vouches for no object.
type nobody struct{}

func (nobody) IsGenerated(context.Context, client.Object) (bool, error) { return false, nil }

func newRoom(t *testing.T, kind string, objs ...client.Object) *room {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := errors.Join(clientgoscheme.AddToScheme(scheme), v1alpha1.AddToScheme(scheme), nexusv1.AddToScheme(scheme)); err != nil {
		t.Fatal(err)
	}
	r := &room{T: t, clock: clocktesting.NewFakePassiveClock(noon), events: events.NewFakeRecorder(100), refuse: map[string]error{}}
	kinds := map[string]engine.Entry{}
	for _, e := range catalog.Kinds() {
		kinds[e.Name()] = e
	}
	entry := kinds[kind]
	b := fake.NewClientBuilder().WithScheme(scheme).WithObjects(objs...).WithStatusSubresource(entry.New(), &v1alpha1.AWSProvider{},
		&nexusv1.NexusAICapability{}).
		WithIndex(entry.New(), reconciler.ProviderIndex,
			func(o client.Object) []string { return []string{o.(v1alpha1.Resource).CommonSpec().ProviderRef.Name} }).
		WithIndex(entry.New(), ReferenceIndex, func(o client.Object) []string { return namesIn(specOf(o), objectReference) }).
		WithIndex(entry.New(), SecretIndex, func(o client.Object) []string { return secretsReadBy(o) }).
		WithIndex(&nexusv1.NexusAICapability{}, reconciler.NameIndex, reconciler.IndexName)
	r.client = b.Build()
	schemas, err := crdschema.Load(crd.Bases)
	if err != nil {
		t.Fatal(err)
	}
	env := reconciler.Environment{Schemas: schemas, Client: r.counted(), Live: r.live(), Events: reconciler.Events{Recorder: r.events},
		Clock: r.clock, ClusterID: "cluster-1",
		Intervals: reconciler.Intervals{Check: 5 * time.Minute, Stalled: time.Minute, RetryFirst: time.Second, RetryMost: time.Minute}}
	env.Gate.Client = env.Client
	sessions := &awssession.Directory{Client: env.Client, Live: env.Live, ClusterID: "cluster-1", Provenance: nobody{}}
	r.Reconciler = New(env, entry, kinds, sessions)
	return r
}

// answer returns the error for a call of a verb on an object's kind, nil for the answer of the API server.
func (r *room) answer(verb string, o runtime.Object) error {
	gvk, err := r.client.GroupVersionKindFor(o)
	if err != nil {
		gvk = o.GetObjectKind().GroupVersionKind()
	}
	if r.delayed != nil {
		r.delayed(verb)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.refuse[verb+" "+strings.TrimSuffix(gvk.Kind, "List")]; err != nil {
		return err
	}
	if strings.HasPrefix(verb, "patch") {
		r.writes = append(r.writes, verb)
	}
	return nil
}

func (r *room) counted() client.Client {
	return interceptor.NewClient(r.client, interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
			if err := r.answer("get", o); err != nil {
				return err
			}
			return c.Get(ctx, key, o, opts...)
		},
		List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, opts ...client.ListOption) error {
			if err := r.answer("list", list); err != nil {
				return err
			}
			return c.List(ctx, list, opts...)
		},
		Patch: func(ctx context.Context, c client.WithWatch, o client.Object, p client.Patch, opts ...client.PatchOption) error {
			if err := r.answer("patch", o); err != nil {
				return err
			}
			return c.Patch(ctx, o, p, opts...)
		},
		SubResourcePatch: func(ctx context.Context, c client.Client, sub string, o client.Object, p client.Patch,
			opts ...client.SubResourcePatchOption) error {
			if err := r.answer("patch "+sub, o); err != nil {
				return err
			}
			return c.SubResource(sub).Patch(ctx, o, p, opts...)
		},
	})
}

func (r *room) live() client.Reader {
	return interceptor.NewClient(r.client, interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
			if err := r.answer("live", o); err != nil {
				return err
			}
			return c.Get(ctx, key, o, opts...)
		},
	})
}

func (r *room) reconcile(o client.Object) (reconcile.Result, error) {
	return r.Reconcile(r.Context(), reconcile.Request{NamespacedName: client.ObjectKeyFromObject(o)})
}

// read reads an object again and reports whether it exists.
func (r *room) read(o client.Object) bool {
	r.Helper()
	err := r.client.Get(r.Context(), client.ObjectKeyFromObject(o), o)
	if client.IgnoreNotFound(err) != nil {
		r.Fatal(err)
	}
	return err == nil
}

func (r *room) written() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := r.writes
	r.writes = nil
	return out
}

func (r *room) emitted() []string {
	var out []string
	for {
		select {
		case e := <-r.events.Events:
			out = append(out, e)
		default:
			return out
		}
	}
}

// is fails the test unless a condition has a status and a reason; it returns the message.
func (r *room) is(o v1alpha1.Resource, kind string, want metav1.ConditionStatus, reason string) string {
	r.Helper()
	c := meta.FindStatusCondition(o.CommonStatus().Conditions, kind)
	if c == nil || c.Status != want || c.Reason != reason || c.ObservedGeneration != o.GetGeneration() {
		r.Fatalf("condition %s is %+v, want %s/%s", kind, c, want, reason)
	}
	return c.Message
}

// bucket is an object with a bucket that the operator created and observed.
func bucket(edits ...func(*v1alpha1.S3Bucket)) *v1alpha1.S3Bucket {
	o := &v1alpha1.S3Bucket{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "media", UID: "uid-1", Generation: 2,
		Finalizers: []string{v1alpha1.FinalizerOf("S3Bucket")}, Annotations: map[string]string{}}}
	annotations, err := (&engine.Intent{UID: "uid-1", Attempt: 1, Home: "aws/123456789012/eu-central-1"}).Annotations()
	if err != nil {
		panic(err)
	}
	o.Annotations = annotations
	o.Spec.BucketName, o.Spec.ProviderRef.Name = "media", "aws"
	o.Status.ARN, o.Status.ID = "arn:aws:s3:::media", "media"
	status.Summarize(&o.Status.Conditions, status.Result{Generation: 2, Now: noon})
	for _, edit := range edits {
		edit(o)
	}
	return o
}

func edited(o *v1alpha1.S3Bucket)   { o.Generation = 3 }
func deleting(o *v1alpha1.S3Bucket) { o.DeletionTimestamp = &metav1.Time{Time: noon} }

// controlled makes a capability the controller of a bucket.
func controlled(o *v1alpha1.S3Bucket) {
	o.Labels = map[string]string{wellknown.LabelCapabilityUID: "cap-1"}
	o.OwnerReferences = []metav1.OwnerReference{{APIVersion: "nexus.ai/v1", Kind: "NexusAICapability", Name: "app", UID: "cap-1",
		Controller: new(true)}}
}

func capabilityOf(edits ...func(*nexusv1.NexusAICapability)) *nexusv1.NexusAICapability {
	c := &nexusv1.NexusAICapability{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "app", UID: "cap-1",
		Finalizers: []string{"example.com/keep"}}}
	for _, edit := range edits {
		edit(c)
	}
	return c
}

func TestReconcile_RestsWithoutACall(t *testing.T) {
	o := bucket()
	r := newRoom(t, "S3Bucket", o)
	for _, verb := range []string{"live S3Bucket", "get AWSProvider", "get NexusAICapability"} {
		r.refuse[verb] = unavailable // nothing of this is needed
	}
	res, err := r.reconcile(o)
	if err != nil || res.RequeueAfter <= 0 || res.RequeueAfter > 5*time.Minute || res.Priority == nil || *res.Priority >= 0 {
		t.Errorf("%+v, %v: want a look within the check interval, behind other work", res, err)
	}
	if len(r.written())+len(r.emitted()) > 0 {
		t.Error("an object at rest is written, or has events")
	}
}

func TestReconcile_AbsentObjectIsForgotten(t *testing.T) {
	o := bucket()
	r := newRoom(t, "S3Bucket")
	r.checks.Request(client.ObjectKeyFromObject(o), noon)
	r.memories.of(client.ObjectKeyFromObject(o), o.UID)
	if res, err := r.reconcile(o); err != nil || !res.IsZero() {
		t.Errorf("%+v, %v", res, err)
	}
	if _, known := r.checks.Due(client.ObjectKeyFromObject(o)); known || len(r.memories.all) > 0 {
		t.Error("an object that is gone is remembered")
	}
	r.refuse["get S3Bucket"] = unavailable
	if _, err := r.reconcile(o); !apierrors.IsServiceUnavailable(err) {
		t.Errorf("an object that cannot be read is taken for gone: %v", err)
	}
}

func TestReconcile_PauseFreezesDeletionToo(t *testing.T) {
	for name, edit := range map[string]func(*v1alpha1.S3Bucket){"as declared": edited, "in deletion": deleting} {
		t.Run(name, func(t *testing.T) {
			o := bucket(edit)
			o.Annotations[wellknown.AnnotationPaused] = "true"
			r := newRoom(t, "S3Bucket", o)
			for range 2 {
				if res, err := r.reconcile(o); err != nil || !res.IsZero() {
					t.Errorf("%+v, %v", res, err)
				}
			}
			if writes := r.written(); !slices.Equal(writes, []string{"patch status"}) || !r.read(o) {
				t.Errorf("wrote %q", writes)
			}
			if m := r.is(o, status.Paused, metav1.ConditionTrue, status.ReasonPaused); !strings.Contains(m, "remove it to continue") {
				t.Errorf("says %s", m)
			}
			if !meta.IsStatusConditionTrue(o.Status.Conditions, status.Ready) {
				t.Error("what the status said besides is gone")
			}
		})
	}
}

func TestReconcile_ProviderThatCannotBeUsed(t *testing.T) {
	provider := func(err error) *v1alpha1.AWSProvider {
		p := &v1alpha1.AWSProvider{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "aws", UID: "p"}}
		status.Summarize(&p.Status.Conditions, status.Result{Now: noon, Err: err})
		return p
	}
	for name, tc := range map[string]struct {
		objs    []client.Object
		edit    func(*v1alpha1.S3Bucket)
		refusal error
		reason  string
		stalled bool
		says    string
	}{
		"absent": {nil, edited, nil, status.ReasonProviderMissing, false, "AWSProvider/aws to exist in namespace ns"},
		"not ready": {[]client.Object{provider(&status.Stalled{Reason: status.ReasonCredentialsInvalid, Message: "the key is invalid"})},
			edited, nil, status.ReasonProviderNotReady, false, "the key is invalid"},
		"of another space": {nil, func(o *v1alpha1.S3Bucket) { edited(o); o.Spec.ProviderRef.Namespace = "admin" }, nil,
			status.ReasonInvalidSpec, true, "spec.providerRef.namespace"},
		"absent at the end": {nil, deleting, nil, status.ReasonProviderMissing, false, "to exist"},
		"not to be read":    {nil, edited, forbidden, status.ReasonRetrying, false, "no right"},
	} {
		t.Run(name, func(t *testing.T) {
			o := bucket(tc.edit)
			r := newRoom(t, "S3Bucket", append(tc.objs, o)...)
			r.refuse["get AWSProvider"] = tc.refusal
			res, err := r.reconcile(o)
			waits := !tc.stalled && tc.refusal == nil
			if waits != (err == nil && res.RequeueAfter == awssession.PollInterval) {
				t.Errorf("%+v, %v", res, err)
			}
			if !r.read(o) || !slices.Equal(o.Finalizers, []string{v1alpha1.FinalizerOf("S3Bucket")}) {
				t.Fatalf("finalizers %q", o.Finalizers)
			}
			if m := r.is(o, status.Reconciling, condition(!tc.stalled), tc.reason); !tc.stalled && !strings.Contains(m, tc.says) {
				t.Errorf("says %s", m)
			}
			if m := r.is(o, status.Stall, condition(tc.stalled), tc.reason); tc.stalled && !strings.Contains(m, tc.says) {
				t.Errorf("says %s", m)
			}
			if events := r.emitted(); len(events) != 0 && !tc.stalled || tc.stalled &&
				(len(events) != 1 || !strings.HasPrefix(events[0], "Warning "+tc.reason)) {
				t.Errorf("events %q", events)
			}
			if r.written(); true {
				if _, err := r.reconcile(o); (err != nil) == waits || len(r.written())+len(r.emitted()) > 0 {
					t.Errorf("a second pass returns %v, or writes", err)
				}
			}
		})
	}
}

func condition(is bool) metav1.ConditionStatus {
	if is {
		return metav1.ConditionTrue
	}
	return metav1.ConditionFalse
}

func TestReconcile_StatusThatIsRefused(t *testing.T) {
	o := bucket(edited)
	r := newRoom(t, "S3Bucket", o)
	for name, refusal := range map[string]error{"a missing right": forbidden, "an outage": unavailable} {
		r.refuse["patch status S3Bucket"] = refusal
		if _, err := r.reconcile(o); !errors.Is(err, refusal) {
			t.Errorf("%s ends with %v", name, err)
		}
	}
	// The object went in the meantime: there is no more work.
	r.refuse["patch status S3Bucket"] = apierrors.NewNotFound(schema.GroupResource{Resource: "s3buckets"}, "media")
	if res, err := r.reconcile(o); err != nil || !res.IsZero() {
		t.Errorf("%+v, %v", res, err)
	}
}

func TestReconcile_DeletionThatNeedsNoAWS(t *testing.T) {
	for name, tc := range map[string]struct {
		edit  func(*v1alpha1.S3Bucket)
		event string
	}{
		"nothing was ever created": {func(o *v1alpha1.S3Bucket) { o.Annotations, o.Status = nil, v1alpha1.S3BucketStatus{} }, ""},
		"the resource is retained": {func(o *v1alpha1.S3Bucket) { o.Spec.DeletionPolicy = v1alpha1.DeletionRetain },
			"Normal Kept arn:aws:s3:::media stays in AWS (deletionPolicy Retain)"},
		"the resource is only watched": {func(o *v1alpha1.S3Bucket) { o.Spec.ManagementPolicy = v1alpha1.ManageObserve },
			"Normal Kept arn:aws:s3:::media stays in AWS (managementPolicy Observe)"},
		"the resource is given up": {func(o *v1alpha1.S3Bucket) { o.Annotations[reconciler.AnnotationAbandon] = "uid-1" },
			"Warning Abandoned whatever is in AWS stays there"},
	} {
		t.Run(name, func(t *testing.T) {
			for refusal, want := range map[error]func(reconcile.Result, error) bool{
				nil:       func(res reconcile.Result, err error) bool { return err == nil && res.IsZero() },
				raced:     func(res reconcile.Result, err error) bool { return err == nil && res.RequeueAfter > 0 },
				forbidden: func(_ reconcile.Result, err error) bool { return apierrors.IsForbidden(err) },
			} {
				o := bucket(deleting, tc.edit)
				r := newRoom(t, "S3Bucket", o)
				if refusal != nil {
					r.refuse["patch S3Bucket"] = refusal
				}
				if res, err := r.reconcile(o); !want(res, err) {
					t.Errorf("%v: %+v, %v", refusal, res, err)
				}
				if r.read(o) != (refusal != nil) {
					t.Errorf("%v: exists: %v", refusal, refusal == nil)
				}
				if events := strings.Join(r.emitted(), "\n"); strings.Contains(events, "\n") || tc.event == "" && events != "" || refusal == nil &&
					!strings.HasPrefix(events, tc.event) {
					t.Errorf("events %q", events)
				}
			}
		})
	}
	// The UID keeps a copied manifest from giving up another object's resource.
	o := bucket(deleting, func(o *v1alpha1.S3Bucket) { o.Annotations[reconciler.AnnotationAbandon] = "uid-2" })
	r := newRoom(t, "S3Bucket", o)
	if _, err := r.reconcile(o); err != nil || !r.read(o) {
		t.Errorf("it is gone (%v)", err)
	}
	// An annotation on an object that is not deleted asks for nothing.
	if isAbandoned(bucket(func(o *v1alpha1.S3Bucket) { o.Annotations[reconciler.AnnotationAbandon] = "uid-1" })) {
		t.Error("an object that is not deleted is abandoned")
	}
}

func TestReconcile_RecordThatWasTamperedWith(t *testing.T) {
	o := bucket(edited)
	for k := range o.Annotations {
		o.Annotations[k] = "{"
	}
	r := newRoom(t, "S3Bucket", o)
	if _, err := r.reconcile(o); err == nil {
		t.Error("the work queue does not see the failure")
	}
	r.read(o)
	r.is(o, status.Stall, metav1.ConditionTrue, status.ReasonInvalidSpec)
}

func TestReconcile_HeldByItsCapability(t *testing.T) {
	suspended := func(c *nexusv1.NexusAICapability) { c.Spec.Suspend = true }
	going := func(c *nexusv1.NexusAICapability) { c.DeletionTimestamp = &metav1.Time{Time: noon} }
	forged := func(o *v1alpha1.S3Bucket) { controlled(o); o.Labels = nil }
	for name, tc := range map[string]struct {
		capability func(*nexusv1.NexusAICapability)
		object     []func(*v1alpha1.S3Bucket)
		held       bool
		writes     []string
	}{
		"it runs": {func(*nexusv1.NexusAICapability) {}, []func(*v1alpha1.S3Bucket){controlled, edited}, false,
			[]string{"patch status"}},
		"it is suspended":                     {suspended, []func(*v1alpha1.S3Bucket){controlled, edited}, true, nil},
		"it is suspended, and a deletion":     {suspended, []func(*v1alpha1.S3Bucket){controlled, deleting}, true, nil},
		"it is suspended and never made this": {suspended, []func(*v1alpha1.S3Bucket){forged, edited}, true, []string{"patch status"}},
		"it goes, and this one's turn is not": {going, []func(*v1alpha1.S3Bucket){controlled, edited}, true, nil},
		"it goes, and so does this one":       {going, []func(*v1alpha1.S3Bucket){controlled, deleting}, false, []string{"patch status"}},
		"it goes, and the finalizer is gone": {going,
			[]func(*v1alpha1.S3Bucket){controlled, edited, func(o *v1alpha1.S3Bucket) { o.Finalizers = nil }}, true, []string{"patch"}},
		"another one has its name": {func(c *nexusv1.NexusAICapability) { suspended(c); c.UID = "cap-2" },
			[]func(*v1alpha1.S3Bucket){controlled, edited}, false, []string{"patch status"}},
	} {
		t.Run(name, func(t *testing.T) {
			o, c := bucket(tc.object...), capabilityOf(tc.capability)
			r := newRoom(t, "S3Bucket", o, c)
			res, err := r.reconcile(o)
			if err != nil || res.IsZero() != tc.held {
				t.Errorf("%+v, %v", res, err)
			}
			if writes := r.written(); !slices.Equal(writes, tc.writes) {
				t.Errorf("wrote %q, want %q", writes, tc.writes)
			}
			if r.read(o); !slices.Contains(o.Finalizers, v1alpha1.FinalizerOf("S3Bucket")) {
				t.Error("the finalizer is gone")
			}
			if len(tc.writes) > 0 && tc.held && tc.writes[0] == "patch status" {
				if m := r.is(o, status.Paused, metav1.ConditionTrue, status.ReasonPaused); !strings.Contains(m, "remove the owner reference") {
					t.Errorf("says %s", m)
				}
			}
		})
	}
	o := bucket(controlled, edited)
	r := newRoom(t, "S3Bucket", o)
	r.refuse["get NexusAICapability"] = unavailable
	if _, err := r.reconcile(o); !apierrors.IsServiceUnavailable(err) || len(r.written()) > 0 {
		t.Errorf("without an answer about its capability: %v", err)
	}
}
