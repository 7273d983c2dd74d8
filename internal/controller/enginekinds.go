package controller

import (
	"context"
	"fmt"
	"sync"

	networkingv1 "k8s.io/api/networking/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/selection"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/nexus-operator/nexus-operator/internal/intent"
)

// engineKinds knows which kinds of policy engines are served, as their definitions come and go, and keeps
// watches on just those.
type engineKinds struct {
	reader client.Reader // of definitions
	live   client.Reader // the API server itself
	// derived holds what bindings own, directly or through their policies, and nothing else; client reads
	// from it. It keeps managed fields: they tell who added what.
	derived cache.Cache
	client  client.Client
	// all are the kinds that any engine makes or requires by a definition.
	all map[schema.GroupVersionKind]bool
	// groups are those of the kinds, and of versions of engines that we cannot speak to.
	groups map[string]bool
	// watch starts to watch a kind in the derived objects' cache, foreign all NetworkPolicies.
	watch   func(client.Object) error
	foreign func() error
	// changed wakes the bindings.
	changed chan event.GenericEvent

	mu        sync.Mutex
	watched   map[schema.GroupVersionKind]bool
	strangers bool
}

func newEngineKinds(mgr manager.Manager, cfg *rest.Config, engines []Engine) (*engineKinds, error) {
	ours, err := labels.NewRequirement(LabelPolicyOwner, selection.Exists, nil)
	if err != nil {
		return nil, err
	}
	derived, err := cache.New(cfg, cache.Options{
		HTTPClient: mgr.GetHTTPClient(), Scheme: mgr.GetScheme(), Mapper: mgr.GetRESTMapper(),
		DefaultLabelSelector: labels.NewSelector().Add(*ours),
	})
	if err != nil {
		return nil, fmt.Errorf("making the cache of derived policies: %w", err)
	}
	c, err := client.New(cfg, client.Options{
		HTTPClient: mgr.GetHTTPClient(), Scheme: mgr.GetScheme(), Mapper: mgr.GetRESTMapper(),
		Cache: &client.CacheOptions{Reader: derived, Unstructured: true},
	})
	if err != nil {
		return nil, fmt.Errorf("making the client of derived policies: %w", err)
	}
	k := &engineKinds{
		reader: mgr.GetClient(), live: mgr.GetAPIReader(), derived: derived, client: c, changed: make(chan event.GenericEvent, 16),
		all: map[schema.GroupVersionKind]bool{}, groups: map[string]bool{}, watched: map[schema.GroupVersionKind]bool{},
	}
	for _, e := range engines {
		for _, gvk := range append(e.Requires(), e.Makes()...) {
			if builtIn(gvk.Group) {
				continue
			}
			k.all[gvk] = true
			k.groups[gvk.Group] = true
		}
		if v, ok := e.Engine.(intent.Versioned); ok {
			for _, gk := range v.Unsupported() {
				k.groups[gk.Group] = true
			}
		}
	}
	return k, mgr.Add(derived)
}

// view is what is known of the engines' kinds at one moment.
type view struct {
	served intent.Served
	// denied are the kinds that are served and may not be listed, and how the API server says so. A cache of
	// one would never be in sync, and whoever reads from it would wait for ever.
	denied map[schema.GroupVersionKind]error
}

// look reads which kinds are served, and sees to it that just those are watched. Kubernetes' own always are.
func (k *engineKinds) look(ctx context.Context) (view, error) {
	list := &apiextensionsv1.CustomResourceDefinitionList{}
	if err := k.reader.List(ctx, list, client.UnsafeDisableDeepCopy); err != nil {
		return view{}, err
	}
	there := map[schema.GroupVersionKind]bool{}
	for i := range list.Items {
		for _, gvk := range servedBy(&list.Items[i]) {
			there[gvk] = true
		}
	}
	v := view{served: func(gvk schema.GroupVersionKind) bool { return there[gvk] || builtIn(gvk.Group) }}
	var err error
	v.denied, err = k.follow(ctx, v.served)
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

// withoutSchemas keeps of a definition what servedBy reads: some are a megabyte.
func withoutSchemas(o any) (any, error) {
	if d, ok := o.(*apiextensionsv1.CustomResourceDefinition); ok {
		d.ManagedFields, d.Annotations = nil, nil
		for i := range d.Spec.Versions {
			d.Spec.Versions[i] = apiextensionsv1.CustomResourceDefinitionVersion{Name: d.Spec.Versions[i].Name, Served: d.Spec.Versions[i].Served}
		}
	}
	return o, nil
}

// Reconcile implements reconcile.Reconciler over the definitions: it wakes the bindings, whose passes look
// at the kinds. It looks itself, too: kinds that go are to be forgotten even where there is no binding.
func (k *engineKinds) Reconcile(ctx context.Context, _ reconcile.Request) (reconcile.Result, error) {
	_, err := k.look(ctx)
	select { // a failure, too: the bindings tell of it
	case k.changed <- event.GenericEvent{Object: &metav1.PartialObjectMetadata{}}:
	case <-ctx.Done():
	}
	return reconcile.Result{}, err
}

// follow watches the kinds that are served, but for those that may not be listed, and forgets the others.
func (k *engineKinds) follow(ctx context.Context, served intent.Served) (denied map[schema.GroupVersionKind]error, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	denied = map[schema.GroupVersionKind]error{}
	for gvk := range k.all {
		u := &unstructured.Unstructured{}
		u.SetGroupVersionKind(gvk)
		switch is, was := served(gvk), k.watched[gvk]; {
		case is == was:
			continue
		case was:
			err = k.derived.RemoveInformer(ctx, u)
		default:
			if err = k.listable(ctx, gvk); apierrors.IsForbidden(err) {
				denied[gvk] = err
				continue
			}
			if err == nil {
				err = k.watch(u)
			}
		}
		if err != nil {
			return nil, fmt.Errorf("following %s: %w", gvk, err)
		}
		k.watched[gvk] = !k.watched[gvk]
	}
	return denied, nil
}

// listable says whether a kind may be listed.
func (k *engineKinds) listable(ctx context.Context, gvk schema.GroupVersionKind) error {
	probe := &metav1.PartialObjectMetadataList{}
	probe.SetGroupVersionKind(gvk.GroupVersion().WithKind(gvk.Kind + "List"))
	return k.live.List(ctx, probe, client.Limit(1))
}

// watchForeign starts, the first time it is asked, to watch everybody's NetworkPolicies.
func (k *engineKinds) watchForeign() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.strangers {
		return nil
	}
	if err := k.foreign(); err != nil {
		return fmt.Errorf("watching NetworkPolicies: %w", err)
	}
	k.strangers = true
	return nil
}

// concerns says whether a definition is of a kind that any engine makes, requires or has replaced.
func (k *engineKinds) concerns(o client.Object) bool {
	d, ok := o.(*apiextensionsv1.CustomResourceDefinition)
	return ok && k.groups[d.Spec.Group]
}
