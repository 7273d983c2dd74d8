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
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/nexus-operator/nexus-operator/internal/intent"
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

// neighborhoods are requests, without a name, that divide a namespace again, or every one when it is empty. Where
// no policy restricts the network there is nothing to divide.
func (s *spaces) neighborhoods(namespace string) []reconcile.Request {
	var out []reconcile.Request
	for _, ns := range s.names() {
		if namespace == metav1.NamespaceAll || namespace == ns {
			out = append(out, reconcile.Request{NamespacedName: types.NamespacedName{Namespace: ns}})
		}
	}
	return out
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

// isBefore reports whether a resource version is older than another.
func isBefore(a, b string) bool {
	order, err := resourceversion.CompareResourceVersion(a, b)
	return err == nil && order < 0
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
	if err = r.survey().refresh(ctx, sp, s); err == nil && sp.surveyed != sp.inputs {
		sp.surveyed = sp.inputs
		for name, p := range sp.policies {
			if sp.acted[name] != r.survey().part(sp, s.kinds, p) {
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
	r.triggers().enqueueNeighbors(ctx, wake)
	return err
}
