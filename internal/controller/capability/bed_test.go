// SPDX-License-Identifier: Apache-2.0

package capability

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/events"
	clocktesting "k8s.io/utils/clock/testing"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	intentv1alpha1 "github.com/nexus-operator/nexus-operator/api/intent/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/config/crd"
	"github.com/nexus-operator/nexus-operator/internal/apply"
	"github.com/nexus-operator/nexus-operator/internal/capability"
	"github.com/nexus-operator/nexus-operator/internal/controller/reconciler"
	"github.com/nexus-operator/nexus-operator/internal/crdschema"
	"github.com/nexus-operator/nexus-operator/internal/options"
	"github.com/nexus-operator/nexus-operator/internal/status"
	"github.com/nexus-operator/nexus-operator/internal/testkit/fakeapi"
	"github.com/nexus-operator/nexus-operator/internal/testkit/world"
)

func TestMain(m *testing.M) {
	ctrl.SetLogger(logr.Discard())
	world.Main(m, world.Options{NoAWS: true, CRDs: []string{"../../../config/crd/bases"}})
}

// bed is a reconciler that a test calls, over a real API server with the controllers of Kubernetes. No controller of
// ours runs beside it: the test is the one of the AWS kinds and of the bindings.
type bed struct {
	*testing.T
	*Reconciler
	// person has every right, and is not counted.
	person client.WithWatch
	clock  *clocktesting.FakePassiveClock
	served discovery.DiscoveryInterfaceWithContext
	// autoMode is asked whether the cluster runs on EKS Auto Mode; nil in a cluster without it.
	autoMode func(context.Context) bool
	events   *events.FakeRecorder
	// ns is the namespace of the capabilities of this test.
	ns      string
	options options.Options

	mu     sync.Mutex
	writes []string
	// refuse answers instead of the API server when it returns an error. Live reads have verb live.
	refuse func(verb string, of schema.GroupVersionKind, name string) error
	// stale holds the capability that the cache shows; nil stands for that of the API server.
	stale *nexusv1.NexusAICapability
	// hide makes the cache list no objects of the kinds that it returns true for.
	hide func(schema.GroupVersionKind) bool
	// listed changes the objects that the cache lists, like a cache that lags.
	listed func(o client.Object)
}

// indexes holds the indexes that SetupWithManager adds to the cache.
var indexes = map[string]client.IndexerFunc{reconciler.NameIndex: reconciler.IndexName, ProviderIndex: indexProvider, IntentIndex: indexIntents}

func newBed(t *testing.T, edits ...func(*options.Options)) *bed {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := errors.Join(clientgoscheme.AddToScheme(scheme), v1alpha1.AddToScheme(scheme), nexusv1.AddToScheme(scheme), intentv1alpha1.AddToScheme(scheme)); err != nil {
		t.Fatal(err)
	}
	config := world.Shared(t).Config()
	config.QPS, config.Burst = 1000, 1000
	person, err := client.NewWithWatch(config, client.Options{Scheme: scheme})
	if err != nil {
		t.Fatal(err)
	}
	served, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	b := &bed{T: t, person: knowingWhatIsMade(person), served: served, clock: clocktesting.NewFakePassiveClock(time.Now()), events: events.NewFakeRecorder(1000)}
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "team-"}}
	b.create(ns)
	b.ns = ns.Name
	o := options.Options{Namespace: "nexus-system", AWS: options.AWS{Region: "eu-central-1"},
		Guards: options.Guards{WorkloadNamespaces: []string{"*"}}}
	for _, edit := range edits {
		edit(&o)
	}
	b.options = o
	b.Reconciler = b.newReconciler()
	return b
}

// made holds the kinds of AWS resources that tests have made objects of, each with its namespace and with none. Only tests make them here.
var made sync.Map

type kindIn struct {
	schema.GroupVersionKind
	namespace string
}

// knowingWhatIsMade answers lists of kinds that have no object without asking the API server. A pass lists sixty kinds, which the operator
// has in its cache; here the API server would be asked for each of them, and use most of the processor time of these tests.
func knowingWhatIsMade(c client.WithWatch) client.WithWatch {
	note := func(o client.Object) {
		of := kindOf(c.Scheme(), o)
		made.Store(kindIn{of, o.GetNamespace()}, true)
		made.Store(kindIn{of, ""}, true)
	}
	return interceptor.NewClient(c, interceptor.Funcs{
		Create: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.CreateOption) error {
			note(o)
			return c.Create(ctx, o, opts...)
		},
		Patch: func(ctx context.Context, c client.WithWatch, o client.Object, p client.Patch, opts ...client.PatchOption) error {
			note(o)
			return c.Patch(ctx, o, p, opts...)
		},
		List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, opts ...client.ListOption) error {
			o := client.ListOptions{}
			o.ApplyOptions(opts)
			of := kindIn{kindOf(c.Scheme(), list), o.Namespace}
			if _, known := made.Load(of); of.Group == v1alpha1.GroupVersion.Group && !known {
				return nil
			}
			return c.List(ctx, list, opts...)
		},
		Apply: func(ctx context.Context, c client.WithWatch, a runtime.ApplyConfiguration, opts ...client.ApplyOption) error {
			note(a.(client.Object)) // every configuration that the operator applies is an object
			return c.Apply(ctx, a, opts...)
		},
	})
}

// newReconciler returns one that remembers nothing, as after a restart.
func (b *bed) newReconciler() *Reconciler {
	schemas, err := crdschema.Load(crd.Bases)
	if err != nil {
		b.Fatal(err)
	}
	env := reconciler.Environment{Schemas: schemas, Client: b.counted(), Live: b.live(), Discovery: b.served, AutoMode: b.autoMode,
		Events: reconciler.Events{Recorder: b.events}, Clock: b.clock, ClusterID: "cluster-1", Gate: reconciler.PlanGate{Client: b.counted()},
		Intervals: reconciler.Intervals{Check: 5 * time.Minute, Stalled: time.Minute, RetryFirst: time.Second, RetryMost: time.Minute}}
	return New(env, b.options, nil)
}

// counted is the reconciler's client: it notes each write, finds objects by the indexes of the cache, and fails as asked.
func (b *bed) counted() client.Client {
	write := func(verb string, o runtime.Object, do func() error) error {
		gvk, name := b.identify(o)
		if err := b.refused(verb, gvk, name); err != nil {
			return err
		}
		b.mu.Lock()
		b.writes = append(b.writes, verb+" "+gvk.Kind+"/"+name)
		b.mu.Unlock()
		return do()
	}
	return interceptor.NewClient(b.person, interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
			gvk, _ := b.identify(o)
			if err := b.refused("get", gvk, key.Name); err != nil {
				return err
			}
			if c, ok := o.(*nexusv1.NexusAICapability); ok && b.stale != nil && key == client.ObjectKeyFromObject(b.stale) {
				b.stale.DeepCopyInto(c)
				return nil
			}
			return c.Get(ctx, key, o, opts...)
		},
		List: b.listIndexed,
		Create: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.CreateOption) error {
			return write("create", o, func() error { return c.Create(ctx, o, opts...) })
		},
		Update: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.UpdateOption) error {
			return write("update", o, func() error { return c.Update(ctx, o, opts...) })
		},
		Patch: func(ctx context.Context, c client.WithWatch, o client.Object, p client.Patch, opts ...client.PatchOption) error {
			return write("patch", o, func() error { return c.Patch(ctx, o, p, opts...) })
		},
		Delete: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.DeleteOption) error {
			return write("delete", o, func() error { return c.Delete(ctx, o, opts...) })
		},
		Apply: func(ctx context.Context, c client.WithWatch, a runtime.ApplyConfiguration, opts ...client.ApplyOption) error {
			return write("apply", a.(runtime.Object), func() error { return c.Apply(ctx, a, opts...) })
		},
		SubResourceCreate: func(ctx context.Context, c client.Client, sub string, o, made client.Object, opts ...client.SubResourceCreateOption) error {
			return write("create "+sub, o, func() error { return c.SubResource(sub).Create(ctx, o, made, opts...) })
		},
		SubResourcePatch: func(ctx context.Context, c client.Client, sub string, o client.Object, p client.Patch, opts ...client.SubResourcePatchOption) error {
			return write("patch "+sub, o, func() error { return c.SubResource(sub).Patch(ctx, o, p, opts...) })
		},
	})
}

// live is the reader of the API server itself.
func (b *bed) live() client.Reader {
	return interceptor.NewClient(b.person, interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
			gvk, _ := b.identify(o)
			if err := b.refused("live", gvk, key.Name); err != nil {
				return err
			}
			return c.Get(ctx, key, o, opts...)
		},
		List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, opts ...client.ListOption) error {
			gvk, _ := b.identify(list)
			if err := b.refused("live", gvk, ""); err != nil {
				return err
			}
			return c.List(ctx, list, opts...)
		},
	})
}

// listIndexed selects by the indexes in this process, as a cache does.
func (b *bed) listIndexed(ctx context.Context, c client.WithWatch, list client.ObjectList, opts ...client.ListOption) error {
	gvk, _ := b.identify(list)
	if err := b.refused("list", gvk, ""); err != nil {
		return err
	}
	if b.hide != nil && b.hide(gvk) {
		return nil
	}
	o := client.ListOptions{}
	o.ApplyOptions(opts)
	var wanted fields.Requirements
	if o.FieldSelector != nil {
		wanted = o.FieldSelector.Requirements()
	}
	o.FieldSelector, o.UnsafeDisableDeepCopy = nil, nil
	if err := c.List(ctx, list, &o); err != nil {
		return err
	}
	items, err := meta.ExtractList(list)
	if err != nil {
		return err
	}
	for _, item := range items {
		if o, ok := item.(client.Object); ok && b.listed != nil {
			b.listed(o)
		}
	}
	for _, w := range wanted {
		index, ok := indexes[w.Field]
		if !ok {
			return fmt.Errorf("there is no index %s", w.Field)
		}
		items = slices.DeleteFunc(items, func(i runtime.Object) bool { return !slices.Contains(index(i.(client.Object)), w.Value) })
	}
	return meta.SetList(list, items)
}

// kindOf returns the kind of an object, and that of its items for a list.
func kindOf(scheme *runtime.Scheme, o runtime.Object) schema.GroupVersionKind {
	gvk, err := apiutil.GVKForObject(o, scheme)
	if err != nil {
		gvk = o.GetObjectKind().GroupVersionKind()
	}
	gvk.Kind = strings.TrimSuffix(gvk.Kind, "List")
	return gvk
}

// identify returns the kind and the name of an object; the kind of its items for a list.
func (b *bed) identify(o runtime.Object) (schema.GroupVersionKind, string) {
	gvk := kindOf(b.person.Scheme(), o)
	if named, ok := o.(metav1.Object); ok {
		return gvk, named.GetName()
	}
	return gvk, ""
}

func (b *bed) refused(verb string, of schema.GroupVersionKind, name string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.refuse == nil {
		return nil
	}
	return b.refuse(verb, of, name)
}

// refuseWith has every call of a verb on a kind answered with an error; an empty verb is every one.
func (b *bed) refuseWith(verb, kind string, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.refuse = func(v string, of schema.GroupVersionKind, _ string) error {
		if of.Kind == kind && (verb == "" || v == verb) {
			return err
		}
		return nil
	}
}

func (b *bed) allowAll() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.refuse = nil
}

var (
	forbidden   = apierrors.NewForbidden(schema.GroupResource{Resource: "things"}, "x", errors.New("the operator has no right to it"))
	unavailable = apierrors.NewServiceUnavailable("etcd does not answer")
	raced       = apierrors.NewConflict(schema.GroupResource{Resource: "things"}, "x", errors.New("somebody else was faster"))
)

// ctx outlives the test, for its cleanup.
func (b *bed) ctx() context.Context { return context.WithoutCancel(b.Context()) }

func (b *bed) create(objs ...client.Object) {
	b.Helper()
	for _, o := range objs {
		if err := b.person.Create(b.Context(), o); err != nil {
			b.Fatal(err)
		}
	}
}

// edit changes an object as a person does, regardless of other writes in the meantime.
func (b *bed) edit(o client.Object, change func()) {
	b.Helper()
	b.eventually("an edit of "+o.GetName(), func() error {
		b.read(o)
		change()
		return b.person.Update(b.Context(), o)
	})
}

// read reads an object again: decoding keeps the fields that the answer lacks.
func (b *bed) read(o client.Object) {
	b.Helper()
	key := client.ObjectKeyFromObject(o)
	reflect.ValueOf(o).Elem().SetZero()
	if err := b.person.Get(b.Context(), key, o); err != nil {
		b.Fatal(err)
	}
}

// exists reports whether the API server has an object that is not being deleted.
func (b *bed) exists(o client.Object) bool {
	b.Helper()
	err := b.person.Get(b.Context(), client.ObjectKeyFromObject(o), o)
	if client.IgnoreNotFound(err) != nil {
		b.Fatal(err)
	}
	return err == nil && o.GetDeletionTimestamp() == nil
}

func (b *bed) eventually(what string, check func() error) {
	b.Helper()
	var err error
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(100 * time.Millisecond) {
		if err = check(); err == nil {
			return
		}
	}
	b.Fatalf("%s: %v", what, err)
}

// capability returns a small capability with workloads in its own namespace.
func (b *bed) capability(edits ...func(*nexusv1.NexusAICapability)) *nexusv1.NexusAICapability {
	b.Helper()
	c := &nexusv1.NexusAICapability{ObjectMeta: metav1.ObjectMeta{Namespace: b.ns, Name: "app"}}
	c.Spec.CapabilityName, c.Spec.Environment, c.Spec.Version = b.ns, "dev", "1.0.0"
	c.Spec.Frontend.Image, c.Spec.Backend.Image = "registry.example/frontend:1", "registry.example/backend:1"
	c.Spec.Ingress = &nexusv1.IngressSpec{Enabled: new(false)}
	c.Spec.Frontend.Service = &nexusv1.ServiceSpec{Type: corev1.ServiceTypeClusterIP}
	c.Spec.DefaultSecrets = nexusv1.DefaultSecretsNone
	for _, edit := range edits {
		edit(c)
	}
	b.create(c)
	return c
}

// withDefaultSecrets adds the six default secrets. Most tests do without them.
func withDefaultSecrets(c *nexusv1.NexusAICapability) {
	c.Spec.DefaultSecrets = nexusv1.DefaultSecretsAll
}

// withBucket adds only a bucket to a capability's data services.
func withBucket(c *nexusv1.NexusAICapability) {
	c.Spec.DataServices = &nexusv1.DataServicesSpec{S3: &nexusv1.S3Spec{Buckets: []nexusv1.BucketSpec{{Name: "media"}}}}
}

func (b *bed) reconcile(c *nexusv1.NexusAICapability) (reconcile.Result, error) {
	return b.Reconcile(b.Context(), reconcile.Request{NamespacedName: client.ObjectKeyFromObject(c)})
}

// pass reconciles, which must not fail, and reads the capability again.
func (b *bed) pass(c *nexusv1.NexusAICapability) reconcile.Result {
	b.Helper()
	res, err := b.reconcile(c)
	if err != nil {
		b.Fatal(err)
	}
	b.read(c)
	return res
}

// written returns the writes since the last call.
func (b *bed) written() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	out := b.writes
	b.writes = nil
	return out
}

// emitted returns the events since the last call.
func (b *bed) emitted() []string {
	return fakeapi.TakeEvents(b.events)
}

// is fails the test unless a condition has a status and a reason at the capability's generation; it returns the message.
func (b *bed) is(c *nexusv1.NexusAICapability, kind string, want metav1.ConditionStatus, reason string) string {
	b.Helper()
	k := meta.FindStatusCondition(c.Status.Conditions, kind)
	if k == nil || k.Status != want || k.Reason != reason || k.ObservedGeneration != c.Generation {
		b.Fatalf("condition %s is %+v, want %s/%s at generation %d", kind, k, want, reason, c.Generation)
	}
	return k.Message
}

// awsKinds are the kinds that a capability compiles to and that the test answers for.
var awsKinds = append(slices.Clone(capability.Proving), "IAMRole", "Route53RecordSet", "AWSProvider", "AWSResource")

// answer reports every AWS child of a namespace as ready, as the controllers of their kinds do.
func (b *bed) answer() {
	b.Helper()
	for _, kind := range awsKinds {
		made, err := b.person.Scheme().New(v1alpha1.GroupVersion.WithKind(kind + "List"))
		if err != nil {
			b.Fatal(err)
		}
		list := made.(client.ObjectList)
		if err := b.person.List(b.Context(), list, client.InNamespace(b.ns)); err != nil {
			b.Fatal(err)
		}
		if err := meta.EachListItem(list, func(o runtime.Object) error { return b.answerOne(o.(client.Object)) }); err != nil {
			b.Fatal(err)
		}
	}
}

// formsOfTypes are the beginnings of the ARNs of types other than buckets of vectors, after service, region and account.
var formsOfTypes = map[string]string{"AWS::S3Vectors::Index": "s3vectors:bucket/store/index/", "AWS::Bedrock::Guardrail": "bedrock:guardrail/", "AWS::Bedrock::GuardrailVersion": "bedrock:guardrail/"}

func (b *bed) answerOne(o client.Object) error {
	var conditions *[]metav1.Condition
	switch o := o.(type) {
	case *v1alpha1.AWSProvider:
		conditions, o.Status.AccountID, o.Status.Partition = &o.Status.Conditions, "123456789012", "aws"
	case *v1alpha1.SSMParameterSet:
		o.Status.Versions = map[string]int64{}
		for name := range o.Spec.Parameters {
			o.Status.Versions[name] = 1
			o.Status.ManagedNames = append(o.Status.ManagedNames, name)
		}
	}
	if r, ok := o.(v1alpha1.Resource); ok {
		st := r.CommonStatus()
		conditions, st.ARN, st.Ownership = &st.Conditions, "arn:aws:test:::"+o.GetName(), v1alpha1.OwnershipOwned
	}
	if r, ok := o.(*v1alpha1.AWSResource); ok {
		service, form, _ := strings.Cut(cmp.Or(formsOfTypes[r.Spec.TypeName], "s3vectors:bucket/"), ":")
		r.Status.ARN = "arn:aws:" + service + ":eu-central-1:123456789012:" + form + r.Name
		r.Status.Properties = &runtime.RawExtension{Raw: []byte(`{"GuardrailId":"id-of-` + r.Name + `","Version":"1"}`)}
	}
	if table, ok := o.(*v1alpha1.DynamoDBTable); ok && table.Spec.ManagementPolicy == v1alpha1.ManageObserve {
		table.Status.ARN, table.Status.Ownership = "arn:aws:dynamodb:eu-central-1:123456789012:table/"+table.Spec.TableName, v1alpha1.OwnershipObserved
	}
	if pool, ok := o.(*v1alpha1.CognitoUserPool); ok {
		pool.Status.ARN, pool.Status.ClientIDs = "arn:aws:test:::userpool/"+pool.Name, map[string]string{capability.SignInClient: "client"}
	}
	if status.ReadyAt(*conditions, o.GetGeneration()) {
		return nil
	}
	status.Summarize(conditions, status.Result{Generation: o.GetGeneration(), Now: b.clock.Now()})
	return b.person.Status().Update(b.Context(), o)
}

// run brings a capability to Running and returns the events. The writes are forgotten.
func (b *bed) run(c *nexusv1.NexusAICapability) []string {
	b.Helper()
	b.eventually("the capability to run", func() error {
		b.answer()
		// Longer than the status of mere progress is held back.
		b.clock.SetTime(b.clock.Now().Add(2 * progressSpacing))
		if _, err := b.reconcile(c); err != nil {
			return err
		}
		b.read(c)
		if !c.Status.Ready || c.Status.ObservedGeneration != c.Generation {
			return fmt.Errorf("%s: %s", c.Status.Phase, c.Status.Message)
		}
		return nil
	})
	b.written()
	return b.emitted()
}

// deployments are the workloads of a namespace.
func (b *bed) deployments(namespace string) []appsv1.Deployment {
	b.Helper()
	list := &appsv1.DeploymentList{}
	if err := b.person.List(b.Context(), list, client.InNamespace(namespace)); err != nil {
		b.Fatal(err)
	}
	return list.Items
}

// errorf says how far a capability is.
func errorf(c *nexusv1.NexusAICapability) error {
	return fmt.Errorf("%s: %s", c.Status.Phase, c.Status.Message)
}

// capabilityChild names a child of an AWS kind.
func capabilityChild(kind string, o client.Object) apply.Ref {
	return apply.Ref{Kind: v1alpha1.GroupVersion.WithKind(kind), Namespace: o.GetNamespace(), Name: o.GetName()}
}
