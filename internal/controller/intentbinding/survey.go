// SPDX-License-Identifier: Apache-2.0

package intentbinding

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	networkingv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/nexus-operator/nexus-operator/internal/intent"
	"github.com/nexus-operator/nexus-operator/internal/intentfacts"
)

// survey brings spaces up to date with the caches.
type survey struct {
	client, live client.Reader
	informers    cache.Informers
	kinds        *EngineKinds
	cluster      *clusterReader
	engines      []Engine
	clock        clock.PassiveClock
	// declarations counts the changes of bindings and intents that events have told of.
	declarations *atomic.Uint64
}

func (r *Reconciler) survey() *survey {
	return &survey{client: r.Client, live: r.Live, informers: r.informers, kinds: r.kinds, cluster: r.cluster, engines: r.Engines,
		clock: r.Clock, declarations: &r.declarations}
}

// refresh brings the space up to date with the caches. The lock is held.
func (v *survey) refresh(ctx context.Context, sp *space, s *clusterFacts) error {
	if err := v.kinds.watchForeign(ctx); err != nil {
		return err
	}
	declared, err := v.declaredIn(ctx, sp)
	if err != nil {
		return err
	}
	if err := v.readNetworkPolicies(ctx, sp); err != nil {
		return err
	}
	base := s.base(sp.name)
	cluster, err := v.cluster.read(ctx)
	if err != nil {
		return err
	}
	cluster.AddTo(&base, sp.name)
	base.NamesHeld = intentfacts.HoldNames(v.engines, base, s.kinds.served)
	inputs := declared
	for _, np := range sp.foreign {
		inputs.addObject(np)
	}
	inputs.add(base.NamespaceLabels, base.DNS, base.Credentials, base.Enforcer, base.NamesHeld, base.AutoMode, base.AppArmor,
		base.SELinux, base.NotRunning, base.OtherPolicies, s.terminating(sp.name))
	if sp.policies == nil || inputs != sp.inputs {
		bindings, intents, err := lists(ctx, v.client, sp.name)
		if err != nil {
			return err
		}
		// The lists may be newer than the inputs that were identified: the event of a change in between divides again.
		for _, name := range slices.Sorted(maps.Keys(sp.foreign)) {
			base.NetworkPolicies = append(base.NetworkPolicies, *sp.foreign[name])
		}
		v.divide(sp, s, base, bindings, intents)
		sp.inputs = inputs
	}
	return nil
}

// readNetworkPolicies brings foreign and live up to date with the cache. A namespace may have a thousand, and each of
// their policies has passes: after the first read only those are looked at that an event has told of, or that we
// wrote or deleted. The handler of these events is in place before, see watchForeign.
func (v *survey) readNetworkPolicies(ctx context.Context, sp *space) error {
	indexer, err := v.networkPolicies(ctx)
	if err != nil {
		return err
	}
	names := sp.changed.take() // before they are read: what changes now is read again
	if !sp.read {
		names, sp.unclear = map[string]bool{}, map[string]bool{}
		sp.foreign, sp.live = map[string]*networkingv1.NetworkPolicy{}, map[string]parsed{}
		all, err := indexer.ByIndex(toolscache.NamespaceIndex, sp.name)
		if err != nil {
			return err
		}
		for _, o := range all {
			names[o.(*networkingv1.NetworkPolicy).Name] = true
		}
	}
	again := &changes{names: names}
	for name := range sp.unclear {
		again.add(name)
	}
	for name := range sp.recent {
		again.add(name)
	}
	for _, name := range sp.gone {
		again.add(name)
	}
	policies := sync.OnceValues(func() (map[string]bool, error) { return intentfacts.PolicyMarks(ctx, v.kinds.derived, sp.name) })
	for name := range again.names {
		if err := v.readNetworkPolicy(sp, indexer, name, policies); err != nil {
			sp.read = false // the names are taken
			return err
		}
	}
	sp.read = true
	return v.readRecent(ctx, sp)
}

// networkPolicies is the cache's own store of all NetworkPolicies: a list would copy every one in each pass. They must
// not be changed.
func (v *survey) networkPolicies(ctx context.Context) (toolscache.Indexer, error) {
	informer, err := v.informers.GetInformer(ctx, &networkingv1.NetworkPolicy{})
	if err != nil {
		return nil, err
	}
	indexed, ok := informer.(toolscache.SharedIndexInformer)
	if !ok {
		return nil, fmt.Errorf("the cache of NetworkPolicies has no index: %T", informer)
	}
	return indexed.GetIndexer(), nil
}

// readNetworkPolicy reads one from the cache: foreign or ours, and the latter unless we have written or deleted it
// since.
func (v *survey) readNetworkPolicy(sp *space, cached toolscache.KeyGetter, name string, policies func() (map[string]bool, error)) error {
	o, there, err := cached.GetByKey(sp.name + "/" + name)
	if err != nil {
		return err
	}
	np, _ := o.(*networkingv1.NetworkPolicy)
	was := sp.forget(name, np)
	if !there {
		return nil
	}
	mine, clear, err := intentfacts.IsOfPolicy(np, policies)
	if err != nil {
		return err
	}
	if !clear {
		sp.unclear[name] = true
	}
	switch {
	case !mine:
		sp.foreign[name] = np
	case sp.outdated(np):
	case was.version == np.ResourceVersion && was.uid == np.UID:
		sp.live[name] = was
	default:
		u, err := runtime.DefaultUnstructuredConverter.ToUnstructured(np)
		if err != nil {
			return err
		}
		sp.live[name] = parse(v.engines, &unstructured.Unstructured{Object: u})
	}
	return nil
}

// declaredIn identifies the intents and bindings that a namespace is divided by. They are listed only after an event
// told of a change: a namespace may have a thousand bindings, and each of them has passes. Lists from a cache have no
// order.
func (v *survey) declaredIn(ctx context.Context, sp *space) (inputHash, error) {
	now := v.declarations.Load() // before the lists: an event that comes meanwhile has them read again
	if sp.policies != nil && sp.declaredAt == now {
		return sp.declared, nil
	}
	bindings, intents, err := lists(ctx, v.client, sp.name)
	if err != nil {
		return inputHash{}, err
	}
	var out inputHash
	for _, b := range bindings {
		out.addObject(b)
	}
	for _, i := range intents {
		out.addObject(i)
	}
	sp.declared, sp.declaredAt = out, now
	return out, nil
}

// lists are the bindings that concern a namespace, and all intents, from the cache.
func lists(ctx context.Context, c client.Reader, namespace string) ([]client.Object, intentsByName, error) {
	intents, err := intentsOf(ctx, c)
	if err != nil {
		return nil, nil, err
	}
	bindings, err := bindingsOf(ctx, c, namespace)
	return bindings, intents, err
}

// divide resolves all bindings of the namespace and has the engines divide the pods among them, once for every
// change.
func (v *survey) divide(sp *space, s *clusterFacts, f intent.Facts, bindings []client.Object, intents intentsByName) {
	sp.policies, sp.bindings = map[string]intent.Policy{}, map[string]reconcile.Request{}
	declared := intentfacts.Declared{Intents: intents, Namespaces: s.only(sp.name)}
	f = intentfacts.Divide(v.engines, bindings, declared, f, func(p intent.Policy, o client.Object) {
		sp.policies[p.Name], sp.bindings[p.Name] = p, requestOf(o)
	})
	maps.DeleteFunc(sp.acted, func(name, _ string) bool { _, there := sp.policies[name]; return !there })
	sp.facts = f
}

// readRecent adds our writes that the cache does not show. One that it does not show for long is read again.
func (v *survey) readRecent(ctx context.Context, sp *space) error {
	for name, w := range sp.recent {
		if v.clock.Since(w.at) > believed {
			err := v.live.Get(ctx, types.NamespacedName{Namespace: sp.name, Name: name}, w.object)
			if apierrors.IsNotFound(err) {
				delete(sp.recent, name)
				continue
			}
			if err != nil {
				return err
			}
			sp.recent[name] = written{w.object, v.clock.Now()}
		}
		sp.live[name] = parse(v.engines, w.object)
	}
	return nil
}

// parse reads a live object by the engine that makes its kind.
func parse(engines []Engine, u *unstructured.Unstructured) parsed {
	p := parsed{uid: u.GetUID(), version: u.GetResourceVersion(), live: intent.Live{Name: u.GetName(), Rule: u.GetLabels()[intent.LabelRule]}}
	for _, o := range u.GetOwnerReferences() {
		if o.Controller != nil && *o.Controller {
			p.live.Policy = o.Name
		}
	}
	for _, e := range engines {
		if d, ok := e.Engine.(intent.Divider); ok {
			p.live.Parsed = d.Parse(u)
		}
	}
	return p
}

// part identifies the engines' translations of a policy beside its neighbors.
func (v *survey) part(sp *space, known view, p intent.Policy) string {
	sum := newPart()
	for _, e := range v.engines {
		if _, ok := e.Engine.(intent.Divider); ok {
			sum.add(intent.Translate(e.Engine, p, sp.facts, e.Enabled, known.served))
		}
	}
	return sum.String()
}
