// SPDX-License-Identifier: Apache-2.0

package intentbinding

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/events"
	testingclock "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/nexus-operator/nexus-operator/api/intent/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/catalog"
	"github.com/nexus-operator/nexus-operator/internal/controller/reconciler"
	"github.com/nexus-operator/nexus-operator/internal/intentfacts"
	"github.com/nexus-operator/nexus-operator/internal/options"
	"github.com/nexus-operator/nexus-operator/internal/testkit/fakeapi"
	"github.com/nexus-operator/nexus-operator/internal/testkit/must"
)

const team = "team"

var (
	kubeArmorPolicy = schema.GroupVersionKind{Group: "security.kubearmor.com", Version: "v1", Kind: "KubeArmorPolicy"}
	networkPolicy   = networkingv1.SchemeGroupVersion.WithKind("NetworkPolicy")

	start = fakeapi.Start()

	errOutage    = fakeapi.Outage()
	errForbidden = fakeapi.Forbidden()
	errConflict  = fakeapi.Conflict()
)

// bed is a reconciler before a fake API server, with a cache that is always up to date.
type bed struct {
	*testing.T
	*Reconciler
	api    *fakeapi.API
	clock  *testingclock.FakePassiveClock
	events *events.FakeRecorder
	// watched are the kinds that the reconciler began to watch.
	watched []string
	// policies are the NetworkPolicies of the cache.
	policies toolscache.SharedIndexInformer
	derived  *derivedCache
}

// derivedCache reads from the API server, and notes the kinds that are indexed and given up.
type derivedCache struct {
	cache.Cache
	reader  client.Reader
	indexed []string
	removed []string
}

func (c *derivedCache) Get(ctx context.Context, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
	return c.reader.Get(ctx, key, o, opts...)
}

func (c *derivedCache) List(ctx context.Context, l client.ObjectList, opts ...client.ListOption) error {
	return c.reader.List(ctx, l, opts...)
}

func (c *derivedCache) IndexField(_ context.Context, o client.Object, _ string, _ client.IndexerFunc) error {
	c.indexed = append(c.indexed, fmt.Sprintf("%T", o))
	return nil
}

func (c *derivedCache) RemoveInformer(_ context.Context, o client.Object) error {
	c.removed = append(c.removed, fmt.Sprintf("%T", o))
	return nil
}

// informersOf hands out the informer of NetworkPolicies.
type informersOf struct {
	cache.Informers
	policies toolscache.SharedIndexInformer
}

func (i informersOf) GetInformer(context.Context, client.Object, ...cache.InformerGetOption) (cache.Informer, error) {
	return i.policies, nil
}

// kubeArmorObject is a KubeArmorPolicy: the fake can apply only kinds that have a Go type.
type kubeArmorObject struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              map[string]any `json:"spec,omitempty"`
}

func (o *kubeArmorObject) DeepCopyObject() runtime.Object {
	return &kubeArmorObject{TypeMeta: o.TypeMeta, ObjectMeta: *o.ObjectMeta.DeepCopy(), Spec: runtime.DeepCopyJSON(o.Spec)}
}

type kubeArmorObjects struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []kubeArmorObject `json:"items"`
}

func (l *kubeArmorObjects) DeepCopyObject() runtime.Object {
	out := &kubeArmorObjects{TypeMeta: l.TypeMeta, ListMeta: l.ListMeta}
	for i := range l.Items {
		out.Items = append(out.Items, *l.Items[i].DeepCopyObject().(*kubeArmorObject))
	}
	return out
}

func newScheme(t *testing.T) *runtime.Scheme {
	t.Helper()
	s := runtime.NewScheme()
	if err := errors.Join(clientgoscheme.AddToScheme(s), v1alpha1.AddToScheme(s), apiextensionsv1.AddToScheme(s)); err != nil {
		t.Fatal(err)
	}
	s.AddKnownTypeWithName(kubeArmorPolicy, &kubeArmorObject{})
	s.AddKnownTypeWithName(kubeArmorPolicy.GroupVersion().WithKind("KubeArmorPolicyList"), &kubeArmorObjects{})
	// The fake client adds kinds that are listed without a Go type to its scheme, which others read at the same time.
	for _, kind := range intentfacts.OtherPolicyKinds() {
		s.AddKnownTypeWithName(kind, &unstructured.Unstructured{})
		s.AddKnownTypeWithName(kind.GroupVersion().WithKind(kind.Kind+"List"), &unstructured.UnstructuredList{})
	}
	return s
}

// usualCluster are objects of a cluster with a DNS, a network plugin that enforces NetworkPolicies, and signs that the policy engines run.
func usualCluster() []client.Object {
	dns := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "kube-dns"}}
	dns.Spec.Selector, dns.Spec.Ports = map[string]string{"k8s-app": "kube-dns"}, []corev1.ServicePort{{Port: 53}}
	plugin := &appsv1.DaemonSet{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "kube-router"}}
	agents := &appsv1.DaemonSet{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "kubearmor"}}
	agents.Spec.Template.Labels = map[string]string{"kubearmor-app": "kubearmor"}
	return []client.Object{dns, plugin, agents, webhookOf("kyverno-policy-validating-webhook-cfg"), webhookOf("istio-validator-istio-system")}
}

// webhookOf is the webhook configuration of a policy engine that runs.
func webhookOf(name string) *admissionregistrationv1.ValidatingWebhookConfiguration {
	return &admissionregistrationv1.ValidatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: name}, Webhooks: []admissionregistrationv1.ValidatingWebhook{{
		Name: "engine.example.com", ClientConfig: admissionregistrationv1.WebhookClientConfig{URL: new("https://engine.example.com")}}}}
}

// newBed makes namespace team, a usual cluster, all engines of the operator, and the objects.
func newBed(t *testing.T, objs ...client.Object) *bed { return newBedOf(t, options.Options{}, objs...) }

func newBedOf(t *testing.T, o options.Options, objs ...client.Object) *bed {
	t.Helper()
	var engines []Engine
	for _, e := range catalog.Engines() {
		engines = append(engines, Engine{Engine: e, Enabled: true})
	}
	builder := fake.NewClientBuilder().WithScheme(newScheme(t)).WithGlobalResourceVersionCounter().WithObjects(namespaceOf(team, nil)).WithObjects(usualCluster()...).WithObjects(objs...).
		WithStatusSubresource(&v1alpha1.SecurityIntentBinding{}, &v1alpha1.ClusterSecurityIntentBinding{}, &v1alpha1.NimbusPolicy{}, &v1alpha1.ClusterNimbusPolicy{})
	for _, kind := range []client.Object{&v1alpha1.NimbusPolicy{}, &v1alpha1.ClusterNimbusPolicy{}, &networkingv1.NetworkPolicy{}, &batchv1.CronJob{}, &kubeArmorObject{}} {
		builder.WithIndex(kind, ownerIndex, ownerUID)
	}
	b := &bed{
		T: t, api: fakeapi.New(builder), clock: testingclock.NewFakePassiveClock(start), events: events.NewFakeRecorder(100),
		policies: toolscache.NewSharedIndexInformer(&toolscache.ListWatch{}, &networkingv1.NetworkPolicy{}, 0, toolscache.Indexers{toolscache.NamespaceIndex: toolscache.MetaNamespaceIndexFunc}),
	}
	b.derived = &derivedCache{reader: b.api}
	k := &EngineKinds{
		reader: b.api, live: b.api.Live(), derived: b.derived, client: b.api, changed: make(chan event.GenericEvent, 16),
		watched: map[schema.GroupVersionKind]bool{}, indexed: map[schema.GroupVersionKind]bool{},
		clock: b.clock, generations: map[schema.GroupVersionKind]int64{}, changedAt: map[schema.GroupVersionKind]time.Time{},
		watch: func(o client.Object) error {
			b.watched = append(b.watched, fmt.Sprintf("%T", o))
			return nil
		},
		foreign: func(context.Context) error { return nil },
	}
	k.all, k.groups = definedKinds(engines)
	if o.Intents.ClusterDNSService == "" {
		o.Intents.ClusterDNSService = "kube-system/kube-dns"
	}
	env := reconciler.Environment{
		Client: b.api, Live: b.api.Live(), Clock: b.clock, Events: reconciler.Events{Recorder: b.events},
		Intervals: reconciler.Intervals{Check: 5 * time.Minute, Stalled: time.Minute, RetryFirst: time.Second, RetryMost: time.Minute},
	}
	b.Reconciler = New(env, o, engines, k)
	b.informers, b.neighborEvents = informersOf{policies: b.policies}, make(chan event.GenericEvent, 100)
	return b
}

// cached brings the cache of NetworkPolicies up to date, as its watch does.
func (b *bed) cached() {
	b.Helper()
	list := &networkingv1.NetworkPolicyList{}
	b.must(b.api.Store.List(b.Context(), list))
	store := b.policies.GetIndexer()
	for _, o := range store.List() {
		np := o.(*networkingv1.NetworkPolicy)
		if !slices.ContainsFunc(list.Items, func(now networkingv1.NetworkPolicy) bool { return now.UID == np.UID && now.Name == np.Name }) {
			b.must(store.Delete(np))
			b.spaces.networkPolicyChanged(np)
		}
	}
	for i := range list.Items {
		np := &list.Items[i]
		if was, there, _ := store.Get(np); there && was.(*networkingv1.NetworkPolicy).ResourceVersion == np.ResourceVersion {
			continue
		}
		b.must(store.Update(np))
		b.spaces.networkPolicyChanged(np)
	}
}

func (b *bed) must(err error) {
	b.Helper()
	must.Succeed(b, err)
}

// pass reconciles a binding, with a cache that is up to date.
func (b *bed) pass(o client.Object) (reconcile.Result, error) {
	b.Helper()
	b.cached()
	return b.Reconcile(b.Context(), requestOf(o))
}

// passed is pass without an error, and returns the binding's status.
func (b *bed) passed(o client.Object) reconcile.Result {
	b.Helper()
	res, err := b.pass(o)
	b.must(err)
	b.get(o)
	return res
}

// changed makes a change of another client, and notifies the reconciler of declarations as their watch does.
func (b *bed) changed(do func(c client.Client) error) {
	b.Helper()
	b.must(do(b.api.Store))
	b.declarations.Add(1)
}

// edit changes an object as it is in the store.
func (b *bed) edit(o client.Object, change func()) {
	b.Helper()
	b.get(o)
	change()
	o.SetGeneration(o.GetGeneration() + 1)
	b.changed(func(c client.Client) error { return c.Update(b.Context(), o) })
}

func (b *bed) get(o client.Object) {
	b.Helper()
	b.api.Read(b, o)
}

func (b *bed) exists(kind schema.GroupVersionKind, namespace, name string) bool {
	b.Helper()
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(kind)
	err := b.api.Store.Get(b.Context(), client.ObjectKey{Namespace: namespace, Name: name}, u)
	b.must(client.IgnoreNotFound(err))
	return err == nil
}

// there is an object that must exist.
func (b *bed) there(kind schema.GroupVersionKind, namespace, name string) *unstructured.Unstructured {
	b.Helper()
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(kind)
	b.must(b.api.Store.Get(b.Context(), client.ObjectKey{Namespace: namespace, Name: name}, u))
	return u
}

// shows checks a condition and that its message has all of the texts.
func (b *bed) shows(o client.Object, kind, status, reason string, texts ...string) {
	b.Helper()
	fakeapi.CheckCondition(b, CommonOf(o).Conditions, kind, status, reason, texts...)
}

// covers checks the coverage of an intent by an engine.
func (b *bed) covers(o client.Object, id, engine string, level v1alpha1.Level, reason string) {
	b.Helper()
	for _, c := range CommonOf(o).Coverage {
		if c.Intent == id && c.Engine == engine {
			if c.Level != level || c.Reason != reason {
				b.Errorf("%s by %s is %s %s (%s), want %s %s", id, engine, c.Level, c.Reason, c.Message, level, reason)
			}
			return
		}
	}
	b.Errorf("nothing is said of %s by %s: %+v", id, engine, CommonOf(o).Coverage)
}

// writes checks the writes since the last call.
func (b *bed) writes(want ...string) {
	b.Helper()
	b.api.CheckWrites(b, want...)
}

// takeEvents returns the events since its last call.
func (b *bed) takeEvents() []string {
	return fakeapi.TakeEvents(b.events)
}

// expectEvent checks that there was exactly one event, and that it has all of the texts.
func (b *bed) expectEvent(texts ...string) {
	b.Helper()
	fakeapi.CheckEvent(b, b.events, texts...)
}

// takeRequeued returns the bindings that passes requeued since its last call.
func (b *bed) takeRequeued() []string {
	out := map[string]bool{}
	for {
		select {
		case e := <-b.neighborEvents:
			out[client.ObjectKeyFromObject(e.Object).String()] = true
		default:
			return slices.Sorted(maps.Keys(out))
		}
	}
}

func namespaceOf(name string, labels map[string]string) *corev1.Namespace {
	return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels, UID: types.UID("uid-" + name)}}
}

// intentOf makes SecurityIntent of the ID's own name.
func intentOf(id string, action v1alpha1.Action, params v1alpha1.Params) *v1alpha1.SecurityIntent {
	i := &v1alpha1.SecurityIntent{ObjectMeta: metav1.ObjectMeta{Name: strings.ToLower(id), UID: types.UID("uid-" + id), Generation: 1}}
	i.Spec.Intent = v1alpha1.Intent{ID: id, Action: action, Description: "of a test", Params: params}
	return i
}

// bindingTo binds intents to the pods app=web of namespace team.
func bindingTo(name string, intents ...string) *v1alpha1.SecurityIntentBinding {
	b := &v1alpha1.SecurityIntentBinding{ObjectMeta: metav1.ObjectMeta{Namespace: team, Name: name, UID: types.UID("uid-" + name), Generation: 1}}
	b.Spec.Selector.MatchLabels = map[string]string{"app": "web"}
	b.Spec.Intents = matched(intents)
	return b
}

// overNamespaces binds intents to the pods app=web of namespaces.
func overNamespaces(name string, namespaces []string, intents ...string) *v1alpha1.ClusterSecurityIntentBinding {
	b := &v1alpha1.ClusterSecurityIntentBinding{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID("uid-" + name), Generation: 1}}
	b.Spec.Selector.WorkloadSelector.MatchLabels = map[string]string{"app": "web"}
	for _, ns := range namespaces {
		b.Spec.Selector.NsSelector.MatchNames = append(b.Spec.Selector.NsSelector.MatchNames, v1alpha1.NamespaceName(ns))
	}
	b.Spec.Intents = matched(intents)
	return b
}

func matched(names []string) (out []v1alpha1.MatchIntent) {
	for _, n := range names {
		out = append(out, v1alpha1.MatchIntent{Name: n})
	}
	return out
}

// definition makes the API server serve a kind.
func definition(kind schema.GroupVersionKind) *apiextensionsv1.CustomResourceDefinition {
	plural := strings.ToLower(kind.Kind) + "s"
	d := &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("%s.%s", plural, kind.Group)}}
	d.Spec.Group, d.Spec.Names = kind.Group, apiextensionsv1.CustomResourceDefinitionNames{Kind: kind.Kind, Plural: plural}
	d.Spec.Versions = []apiextensionsv1.CustomResourceDefinitionVersion{{Name: kind.Version, Served: true}}
	d.Status.Conditions = []apiextensionsv1.CustomResourceDefinitionCondition{{Type: apiextensionsv1.Established, Status: apiextensionsv1.ConditionTrue}}
	return d
}
