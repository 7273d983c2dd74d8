// SPDX-License-Identifier: Apache-2.0

package intentbinding

import (
	"context"
	"encoding/json"
	"fmt"
	"hash"
	"hash/fnv"
	"hash/maphash"
	"maps"
	"slices"
	"sync"
	"time"

	networkingv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/nexus-operator/nexus-operator/internal/intent"
	"github.com/nexus-operator/nexus-operator/internal/intentfacts"
)

// spaces holds the shared state of the passes over each namespace.
type spaces struct {
	mu  sync.Mutex
	all map[string]*space
}

func newSpaces() *spaces { return &spaces{all: map[string]*space{}} }

func (s *spaces) of(namespace string) *space {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all[namespace] == nil {
		s.all[namespace] = &space{
			name: namespace, recent: map[string]written{}, gone: map[types.UID]string{}, acted: map[string]string{},
			pending: map[reconcile.Request]bool{}, changed: &changes{},
		}
	}
	return s.all[namespace]
}

// names lists the namespaces that have policies which restrict the network, or had.
func (s *spaces) names() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Sorted(maps.Keys(s.all))
}

// drop forgets a namespace that is gone.
func (s *spaces) drop(namespace string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.all, namespace)
}

// space holds the shared state of the passes over the policies of a namespace that restrict the network. Its lock is held while such a
// policy is translated, written and confirmed. Every later pass knows all that an earlier pass knew, since caches only move forward: so no
// later write opens a connection that an earlier pass has seen to be closed.
type space struct {
	mu   sync.Mutex
	name string
	// inputs identifies the inputs of all other fields, and declared the intents and bindings among them, as they were when the count of
	// their changes was declaredAt.
	inputs, declared inputHash
	declaredAt       uint64
	// surveyed are the last inputs that all affected bindings were woken for.
	surveyed inputHash
	facts    intent.Facts
	// policies holds those that restrict the network, by name, and bindings the requests that write them.
	policies map[string]intent.Policy
	bindings map[string]reconcile.Request
	// foreign holds the NetworkPolicies that no intent made, live those of ours, as parsed; both by name.
	foreign map[string]*networkingv1.NetworkPolicy
	live    map[string]parsed
	// changed names the NetworkPolicies that events have told of since they were read, and unclear those that are
	// ours as long as the policy exists which they name. The first read is of all.
	changed *changes
	unclear map[string]bool
	read    bool
	// recent are our writes that the cache may not hold yet, gone the names of objects that we deleted.
	recent map[string]written
	gone   map[types.UID]string
	// acted holds, for each policy, the translation of its last pass.
	acted map[string]string
	// pending are bindings with a claim that waits for a write to the object of another.
	pending map[reconcile.Request]bool
}

// parsed is a live object, read once for each of its versions.
type parsed struct {
	uid     types.UID
	version string
	live    intent.Live
}

type written struct {
	object *unstructured.Unstructured
	at     time.Time
}

// believed limits how long we trust our own write before the cache shows it.
const believed = 2 * time.Second

// refresh brings the space up to date with the caches. The lock is held.
func (r *Reconciler) refresh(ctx context.Context, sp *space, s *clusterFacts) error {
	if err := r.kinds.watchForeign(ctx); err != nil {
		return err
	}
	declared, err := r.declaredIn(ctx, sp)
	if err != nil {
		return err
	}
	if err := r.readNetworkPolicies(ctx, sp); err != nil {
		return err
	}
	base := s.base(sp.name)
	cluster, err := r.cluster.read(ctx)
	if err != nil {
		return err
	}
	cluster.AddTo(&base, sp.name)
	base.NamesHeld = intentfacts.HoldNames(r.Engines, base, s.kinds.served)
	inputs := declared
	for _, np := range sp.foreign {
		inputs.addObject(np)
	}
	inputs.add(base.NamespaceLabels, base.DNS, base.Credentials, base.Enforcer, base.NamesHeld, base.AutoMode, base.AppArmor, base.SELinux, base.NotRunning, base.OtherPolicies, s.terminating(sp.name))
	if sp.policies == nil || inputs != sp.inputs {
		bindings, intents, err := r.lists(ctx, sp.name)
		if err != nil {
			return err
		}
		// The lists may be newer than the inputs that were identified: the event of a change in between divides again.
		for _, name := range slices.Sorted(maps.Keys(sp.foreign)) {
			base.NetworkPolicies = append(base.NetworkPolicies, *sp.foreign[name])
		}
		r.divide(sp, s, base, bindings, intents)
		sp.inputs = inputs
	}
	return nil
}

// changes collects the names of objects that have changed.
type changes struct {
	mu    sync.Mutex
	names map[string]bool
}

func (c *changes) add(name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.names == nil {
		c.names = map[string]bool{}
	}
	c.names[name] = true
}

func (c *changes) take() map[string]bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	names := c.names
	c.names = nil
	return names
}

// networkPolicyChanged notes an event for the space of its namespace, if there is one: a space that is made later
// reads all.
func (s *spaces) networkPolicyChanged(o client.Object) {
	s.mu.Lock()
	sp := s.all[o.GetNamespace()]
	s.mu.Unlock()
	if sp != nil {
		sp.changed.add(o.GetName())
	}
}

// readNetworkPolicies brings foreign and live up to date with the cache. A namespace may have a thousand, and each of
// their policies has passes: after the first read only those are looked at that an event has told of, or that we
// wrote or deleted. The handler of these events is in place before, see watchForeign.
func (r *Reconciler) readNetworkPolicies(ctx context.Context, sp *space) error {
	indexer, err := r.networkPolicies(ctx)
	if err != nil {
		return err
	}
	names := sp.changed.take() // before they are read: what changes now is read again
	if !sp.read {
		names, sp.foreign, sp.live, sp.unclear = map[string]bool{}, map[string]*networkingv1.NetworkPolicy{}, map[string]parsed{}, map[string]bool{}
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
	policies := sync.OnceValues(func() (map[string]bool, error) { return intentfacts.PolicyMarks(ctx, r.kinds.derived, sp.name) })
	for name := range again.names {
		if err := r.readNetworkPolicy(sp, indexer, name, policies); err != nil {
			sp.read = false // the names are taken
			return err
		}
	}
	sp.read = true
	return r.readRecent(ctx, sp)
}

// networkPolicies is the cache's own store of all NetworkPolicies: a list would copy every one in each pass. They must
// not be changed.
func (r *Reconciler) networkPolicies(ctx context.Context) (toolscache.Indexer, error) {
	informer, err := r.informers.GetInformer(ctx, &networkingv1.NetworkPolicy{})
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
func (r *Reconciler) readNetworkPolicy(sp *space, cached toolscache.KeyGetter, name string, policies func() (map[string]bool, error)) error {
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
		sp.live[name] = r.parse(&unstructured.Unstructured{Object: u})
	}
	return nil
}

// forget removes the memory of a NetworkPolicy, and returns it as it was parsed; now is the existing one, or nil. That we deleted an object
// matters only as long as it exists.
func (sp *space) forget(name string, now *networkingv1.NetworkPolicy) parsed {
	was := sp.live[name]
	delete(sp.foreign, name)
	delete(sp.live, name)
	delete(sp.unclear, name)
	maps.DeleteFunc(sp.gone, func(uid types.UID, of string) bool { return of == name && (now == nil || now.UID != uid) })
	return was
}

// declaredIn identifies the intents and bindings that a namespace is divided by. They are listed only after an event
// told of a change: a namespace may have a thousand bindings, and each of them has passes. Lists from a cache have no
// order.
func (r *Reconciler) declaredIn(ctx context.Context, sp *space) (inputHash, error) {
	now := r.declarations.Load() // before the lists: an event that comes meanwhile has them read again
	if sp.policies != nil && sp.declaredAt == now {
		return sp.declared, nil
	}
	bindings, intents, err := r.lists(ctx, sp.name)
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
func (r *Reconciler) lists(ctx context.Context, namespace string) ([]client.Object, intentsByName, error) {
	intents, err := intentsOf(ctx, r.Client)
	if err != nil {
		return nil, nil, err
	}
	bindings, err := r.bindings(ctx, namespace)
	return bindings, intents, err
}

// inputHash identifies a set of things, in whatever order they are added.
type inputHash struct{ sum, count uint64 }

// inputSeed is of this process, as all hashes are. Hashes are added: those of FNV would cancel each other, because they mix the last bytes too
// little. Two objects whose generations rose together then looked unchanged.
var inputSeed = maphash.MakeSeed()

// declaredObject identifies an object as it was declared.
type declaredObject struct {
	uid        types.UID
	generation int64
	isDeleting bool
}

// addObject adds an object as it was declared.
func (u *inputHash) addObject(o metav1.Object) {
	u.addSum(maphash.Comparable(inputSeed, declaredObject{o.GetUID(), o.GetGeneration(), o.GetDeletionTimestamp() != nil}))
}

// add adds plain values.
func (u *inputHash) add(values ...any) { u.addSum(maphash.String(inputSeed, fmt.Sprint(values...))) }

func (u *inputHash) addSum(sum uint64) {
	u.sum += sum
	u.count++
}

// divide resolves all bindings of the namespace and has the engines divide the pods among them, once for every
// change.
func (r *Reconciler) divide(sp *space, s *clusterFacts, f intent.Facts, bindings []client.Object, intents intentsByName) {
	sp.policies, sp.bindings = map[string]intent.Policy{}, map[string]reconcile.Request{}
	f = intentfacts.Divide(r.Engines, bindings, intentfacts.Declared{Intents: intents, Namespaces: s.only(sp.name)}, f, func(p intent.Policy, o client.Object) {
		sp.policies[p.Name], sp.bindings[p.Name] = p, requestOf(o)
	})
	maps.DeleteFunc(sp.acted, func(name, _ string) bool { _, there := sp.policies[name]; return !there })
	sp.facts = f
}

// outdated reports whether we have deleted or written an object since the cache saw it. A write that the cache
// has caught up with is forgotten.
func (sp *space) outdated(np *networkingv1.NetworkPolicy) bool {
	if _, deleted := sp.gone[np.UID]; deleted && len(np.Finalizers) == 0 {
		return true
	}
	w, ok := sp.recent[np.Name]
	if ok && w.object.GetUID() == np.UID && isBefore(np.ResourceVersion, w.object.GetResourceVersion()) {
		return true
	}
	delete(sp.recent, np.Name)
	return false
}

// readRecent adds our writes that the cache does not show. One that it does not show for long is read again.
func (r *Reconciler) readRecent(ctx context.Context, sp *space) error {
	for name, w := range sp.recent {
		if r.Clock.Since(w.at) > believed {
			err := r.Live.Get(ctx, types.NamespacedName{Namespace: sp.name, Name: name}, w.object)
			if apierrors.IsNotFound(err) {
				delete(sp.recent, name)
				continue
			}
			if err != nil {
				return err
			}
			sp.recent[name] = written{w.object, r.Clock.Now()}
		}
		sp.live[name] = r.parse(w.object)
	}
	return nil
}

// isBefore reports whether a resource version is older than another.
func isBefore(a, b string) bool {
	order, err := resourceversion.CompareResourceVersion(a, b)
	return err == nil && order < 0
}

// parse reads a live object by the engine that makes its kind.
func (r *Reconciler) parse(u *unstructured.Unstructured) parsed {
	p := parsed{uid: u.GetUID(), version: u.GetResourceVersion(), live: intent.Live{Name: u.GetName(), Rule: u.GetLabels()[intent.LabelRule]}}
	for _, o := range u.GetOwnerReferences() {
		if o.Controller != nil && *o.Controller {
			p.live.Policy = o.Name
		}
	}
	for _, e := range r.Engines {
		if d, ok := e.Engine.(intent.Divider); ok {
			p.live.Parsed = d.Parse(u)
		}
	}
	return p
}

// wrote remembers an object as it is since our write.
func (sp *space) wrote(u *unstructured.Unstructured, p parsed, at time.Time) {
	sp.recent[u.GetName()] = written{u, at}
	sp.live[u.GetName()] = p
}

// deleted remembers that we deleted an object.
func (sp *space) deleted(name string, uid types.UID) {
	delete(sp.recent, name)
	delete(sp.live, name)
	sp.gone[uid] = name
}

// existing lists the live objects, in no order.
func (sp *space) existing() []intent.Live {
	out := make([]intent.Live, 0, len(sp.live))
	for _, p := range sp.live {
		out = append(out, p.live)
	}
	return out
}

// part identifies the engines' translations of a policy beside its neighbors.
func (r *Reconciler) part(sp *space, known view, p intent.Policy) string {
	sum := newPart()
	for _, e := range r.Engines {
		if _, ok := e.Engine.(intent.Divider); ok {
			sum.add(intent.Translate(e.Engine, p, sp.facts, e.Enabled, known.served))
		}
	}
	return sum.String()
}

// part is a hash over translations.
type part struct {
	sum    hash.Hash64
	failed bool
}

func newPart() *part { return &part{sum: fnv.New64a()} }

func (p *part) add(t intent.Translation) {
	p.failed = p.failed || json.NewEncoder(p.sum).Encode(t) != nil // not possible for plain data
}

// String is the same for equal translations.
func (p *part) String() string {
	if p.failed {
		return ""
	}
	return string(p.sum.Sum(nil))
}

// neighborhood divides a namespace again and wakes the bindings with policies that this changes.
func (r *Reconciler) neighborhood(ctx context.Context, namespace string) error {
	s, err := r.gather(ctx)
	if err != nil {
		return err
	}
	sp := r.spaces.of(namespace)
	sp.mu.Lock()
	var wake []reconcile.Request
	if err = r.refresh(ctx, sp, s); err == nil && sp.surveyed != sp.inputs {
		sp.surveyed = sp.inputs
		for name, p := range sp.policies {
			if sp.acted[name] != r.part(sp, s.kinds, p) {
				wake = append(wake, sp.bindings[name])
			}
		}
		for req := range sp.pending {
			wake = append(wake, req)
		}
	}
	sp.mu.Unlock()
	if err == nil && len(s.only(namespace)) == 0 {
		r.spaces.drop(namespace)
	}
	r.enqueueNeighbors(ctx, wake)
	return err
}
