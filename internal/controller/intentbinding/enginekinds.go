// SPDX-License-Identifier: Apache-2.0

package intentbinding

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	networkingv1 "k8s.io/api/networking/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/selection"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/nexus-operator/nexus-operator/api/intent/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/apply"
	"github.com/nexus-operator/nexus-operator/internal/intent"
	"github.com/nexus-operator/nexus-operator/internal/intentfacts"
)

// EngineKinds knows which kinds of policy engines are served, as their definitions come and go, and keeps
// watches on just those.
type EngineKinds struct {
	reader client.Reader // of definitions
	live   client.Reader // the API server itself
	// derived holds only objects that bindings own, directly or through their policies; client reads from it. It keeps managed fields: they
	// show the writer of each field.
	derived cache.Cache
	client  client.Client
	// all are the kinds that any engine makes or requires by a definition.
	all map[schema.GroupVersionKind]bool
	// groups holds the API groups of the kinds, and of versions of engines that we cannot speak to.
	groups map[string]bool
	// watch starts to watch a kind in the derived objects' cache, foreign all NetworkPolicies.
	watch   func(client.Object) error
	foreign func(context.Context) error
	// changed wakes the bindings.
	changed chan event.GenericEvent
	clock   clock.PassiveClock

	mu        sync.Mutex
	watched   map[schema.GroupVersionKind]bool
	indexed   map[schema.GroupVersionKind]bool
	strangers bool
	// generations holds those of the definitions, and changedAt the time of a change if the objects have not been listed again since.
	generations map[schema.GroupVersionKind]int64
	changedAt   map[schema.GroupVersionKind]time.Time
}

// NewEngineKinds finds out which kinds of the engines the API server has, and follows their definitions.
func NewEngineKinds(mgr manager.Manager, engines []Engine, now clock.PassiveClock) (*EngineKinds, error) {
	ours, err := labels.NewRequirement(LabelPolicyOwner, selection.Exists, nil)
	if err != nil {
		return nil, err
	}
	derived, err := cache.New(mgr.GetConfig(), cache.Options{
		HTTPClient: mgr.GetHTTPClient(), Scheme: mgr.GetScheme(), Mapper: mgr.GetRESTMapper(),
		DefaultLabelSelector: labels.NewSelector().Add(*ours), DefaultTransform: withoutLongContents,
		// A pass that began before a kind went must not bring its informer back: that one would have no index and never end.
		ReaderFailOnMissingInformer: true,
	})
	if err != nil {
		return nil, fmt.Errorf("making the cache of derived policies: %w", err)
	}
	c, err := client.New(mgr.GetConfig(), client.Options{
		HTTPClient: mgr.GetHTTPClient(), Scheme: mgr.GetScheme(), Mapper: mgr.GetRESTMapper(),
		Cache: &client.CacheOptions{Reader: derived, Unstructured: true},
	})
	if err != nil {
		return nil, fmt.Errorf("making the client of derived policies: %w", err)
	}
	k := &EngineKinds{
		reader: mgr.GetClient(), live: mgr.GetAPIReader(), derived: derived, client: c, changed: make(chan event.GenericEvent, 16),
		watched: map[schema.GroupVersionKind]bool{}, indexed: map[schema.GroupVersionKind]bool{},
		clock: now, generations: map[schema.GroupVersionKind]int64{}, changedAt: map[schema.GroupVersionKind]time.Time{},
	}
	k.all, k.groups = definedKinds(engines)
	return k, mgr.Add(derived)
}

// definedKinds returns the kinds of engines that exist by a definition, and their groups, beside those of versions of
// engines that are not supported.
func definedKinds(engines []Engine) (kinds map[schema.GroupVersionKind]bool, groups map[string]bool) {
	kinds, groups = map[schema.GroupVersionKind]bool{}, map[string]bool{}
	for _, e := range engines {
		for _, gvk := range append(e.Requires(), e.Makes()...) {
			if builtIn(gvk.Group) {
				continue
			}
			kinds[gvk] = true
			groups[gvk.Group] = true
		}
		if v, ok := e.Engine.(intent.Versioned); ok {
			for _, gk := range v.Unsupported() {
				groups[gk.Group] = true
			}
		}
	}
	return kinds, groups
}

// ownerIndex holds derived objects by their LabelPolicyOwner.
const ownerIndex = "metadata.labels.owner-uid"

// index has the cache of derived objects index a kind by owners, once in the life of its informer.
func (k *EngineKinds) index(ctx context.Context, gvk schema.GroupVersionKind, o client.Object) error {
	if k.indexed[gvk] {
		return nil
	}
	err := k.derived.IndexField(ctx, o, ownerIndex, ownerUID)
	k.indexed[gvk] = err == nil
	return err
}

func ownerUID(o client.Object) []string { return []string{o.GetLabels()[LabelPolicyOwner]} }

// view holds the known facts about the engines' kinds at one moment.
type view struct {
	served intent.Served
	// denied are the kinds that are served and may not be listed, and how the API server says so. A cache of
	// one would never be in sync, and a reader of it would wait without end.
	denied map[schema.GroupVersionKind]error
}

// look reads which kinds are served, and watches just those. Kubernetes' own are always served; CronJobs are watched like the
// kinds of engines all the same, because an operator with the role of an earlier version may not list them.
func (k *EngineKinds) look(ctx context.Context) (view, error) {
	list := &apiextensionsv1.CustomResourceDefinitionList{}
	if err := k.reader.List(ctx, list, client.UnsafeDisableDeepCopy); err != nil {
		return view{}, err
	}
	there, generations := map[schema.GroupVersionKind]bool{}, map[schema.GroupVersionKind]int64{}
	for i := range list.Items {
		for _, gvk := range servedBy(&list.Items[i]) {
			there[gvk], generations[gvk] = true, list.Items[i].Generation
		}
	}
	v := view{served: intent.PreferredOnly(slices.Collect(maps.Keys(k.all)), func(gvk schema.GroupVersionKind) bool {
		return there[gvk] || builtIn(gvk.Group) || gvk.Group == batchv1.GroupName
	})}
	var err error
	v.denied, err = k.follow(ctx, v.served, generations)
	return v, err
}

func builtIn(group string) bool { return group == networkingv1.GroupName }

// servedBy lists the kinds that a definition makes the API server serve.
func servedBy(d *apiextensionsv1.CustomResourceDefinition) []schema.GroupVersionKind {
	established := false
	for _, c := range d.Status.Conditions {
		established = established || c.Type == apiextensionsv1.Established && c.Status == apiextensionsv1.ConditionTrue
	}
	if !established || d.DeletionTimestamp != nil {
		return nil
	}
	var out []schema.GroupVersionKind
	for _, v := range d.Spec.Versions {
		if v.Served {
			out = append(out, schema.GroupVersionKind{Group: d.Spec.Group, Version: v.Name, Kind: d.Spec.Names.Kind})
		}
	}
	return out
}

// WithoutSchemas keeps only the parts of a definition that servedBy reads: some definitions are a megabyte.
func WithoutSchemas(o any) (any, error) {
	if d, ok := o.(*apiextensionsv1.CustomResourceDefinition); ok {
		d.ManagedFields, d.Annotations = nil, nil
		for i := range d.Spec.Versions {
			d.Spec.Versions[i] = apiextensionsv1.CustomResourceDefinitionVersion{Name: d.Spec.Versions[i].Name, Served: d.Spec.Versions[i].Served}
		}
	}
	return o, nil
}

// withoutLongContents is apply.WithoutLongContents for all derived objects but the policies of bindings: tenants cannot write those, and
// their contents are read from the cache.
func withoutLongContents(o any) (any, error) {
	switch o.(type) {
	case *v1alpha1.NimbusPolicy, *v1alpha1.ClusterNimbusPolicy:
		return o, nil
	default:
		return apply.WithoutLongContents(o)
	}
}

// WithoutForeignRules is a transform for the cache of everybody's NetworkPolicies: of a large one that no policy of a binding made it keeps which
// pods it isolates, which is all that is asked for.
func WithoutForeignRules(o any) (any, error) {
	o, err := apply.WithoutLongMetadata(o)
	np, ok := o.(*networkingv1.NetworkPolicy)
	if !ok || apply.SizeOf(np) <= apply.LargeObject || intentfacts.IsDerived(np) { // policies of bindings are read whole
		return o, err
	}
	if len(np.Spec.PolicyTypes) == 0 && len(np.Spec.Egress) > 0 { // the API server says so of every policy
		np.Spec.PolicyTypes = []networkingv1.PolicyType{networkingv1.PolicyTypeIngress, networkingv1.PolicyTypeEgress}
	}
	np.Spec.Ingress, np.Spec.Egress = nil, nil
	if apply.SizeOf(np) > apply.LargeObject { // too many pods are left alone rather than too few
		np.Spec.PodSelector = metav1.LabelSelector{}
	}
	return np, err
}

// WithoutLongLabels is a transform for the cache of SecurityIntentBindings. It cuts labels of selectors that are longer than any pod's, which
// the definition does not bound, and leaves them too long: such a selector selects nothing, before and after.
func WithoutLongLabels(o any) (any, error) {
	o, err := apply.WithoutLongMetadata(o)
	if b, ok := o.(*v1alpha1.SecurityIntentBinding); ok {
		cutLabels(b.Spec.Selector.MatchLabels)
		if w := b.Spec.Selector.WorkloadSelector; w != nil {
			cutLabels(w.MatchLabels)
		}
	}
	return o, err
}

func cutLabels(m map[string]string) {
	const longestKey = validation.DNS1123SubdomainMaxLength + 1 + validation.LabelValueMaxLength
	for k, v := range m {
		if len(k) <= longestKey && len(v) <= validation.LabelValueMaxLength {
			continue
		}
		delete(m, k)
		m[k[:min(len(k), longestKey+1)]] = v[:min(len(v), validation.LabelValueMaxLength+1)]
	}
}

// Reconcile implements reconcile.Reconciler over the definitions: it wakes the bindings, and their passes look at the kinds. It looks
// itself, too: kinds that go are to be forgotten even where there is no binding.
func (k *EngineKinds) Reconcile(ctx context.Context, _ reconcile.Request) (reconcile.Result, error) {
	_, err := k.look(ctx)
	var again time.Duration
	if err == nil {
		again, err = k.refreshChanged(ctx)
	}
	select { // a failure, too: the bindings tell of it
	case k.changed <- event.GenericEvent{Object: &metav1.PartialObjectMetadata{}}:
	case <-ctx.Done():
	}
	return reconcile.Result{RequeueAfter: again}, err
}

// follow watches the kinds that are served, but for those that may not be listed, and forgets the others.
func (k *EngineKinds) follow(ctx context.Context, served intent.Served, generations map[schema.GroupVersionKind]int64) (denied map[schema.GroupVersionKind]error, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	denied = map[schema.GroupVersionKind]error{}
	for gvk := range k.all {
		switch is, was := served(gvk), k.watched[gvk]; {
		case is == was:
			continue
		case was:
			err = k.forget(ctx, gvk)
		default:
			if err = k.listable(ctx, gvk); apierrors.IsForbidden(err) {
				denied[gvk] = err
				continue
			}
			if err == nil {
				k.generations[gvk] = generations[gvk] // read before the objects are
				err = k.begin(ctx, gvk)
			}
		}
		if err != nil {
			return nil, fmt.Errorf("following %s: %w", gvk, err)
		}
	}
	return denied, nil
}

// object returns an empty object of a kind, of its Go type where the scheme has one, as the Applier reads it.
func (k *EngineKinds) object(gvk schema.GroupVersionKind) client.Object {
	if o, err := k.client.Scheme().New(gvk); err == nil {
		if typed, ok := o.(client.Object); ok {
			return typed
		}
	}
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(gvk)
	return u
}

// listable reports whether a kind may be listed.
func (k *EngineKinds) listable(ctx context.Context, gvk schema.GroupVersionKind) error {
	probe := &metav1.PartialObjectMetadataList{}
	probe.SetGroupVersionKind(gvk.GroupVersion().WithKind(gvk.Kind + "List"))
	return k.live.List(ctx, probe, client.Limit(1))
}

// watchForeign starts, the first time it is asked, to watch everybody's NetworkPolicies, and returns once all of them
// are known.
func (k *EngineKinds) watchForeign(ctx context.Context) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.strangers {
		return nil
	}
	if err := k.foreign(ctx); err != nil {
		return fmt.Errorf("watching NetworkPolicies: %w", err)
	}
	k.strangers = true
	return nil
}

// concerns reports whether a definition is of a kind that any engine makes, requires or has replaced.
func (k *EngineKinds) concerns(o client.Object) bool {
	d, ok := o.(*apiextensionsv1.CustomResourceDefinition)
	return ok && k.groups[d.Spec.Group]
}
