// SPDX-License-Identifier: Apache-2.0

package ui

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/go-logr/logr"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/api/wellknown"
	"github.com/nexus-operator/nexus-operator/internal/inspect"
)

// Feed keeps a row for each object of the operator's kinds by watches, and sends the changes to its subscribers.
type Feed struct {
	// Client lists and watches with the rights of the user.
	Client client.WithWatch
	// Kinds lists the kinds that have rows.
	Kinds []schema.GroupVersionKind
	// Namespace limits the objects to one namespace; empty means all.
	Namespace string

	mu          sync.Mutex
	rows        map[string]inspect.Row
	unlisted    []string
	subscribers map[*subscriber]struct{}
	// unsynced counts the watches that have not listed their objects yet.
	unsynced int
	// left signals that a subscriber has gone, or come.
	left chan struct{}
}

// watched is a kind that the feed watches. Objects of an auxiliary kind have no row: a message names the ones that changed.
type watched struct {
	kind      schema.GroupVersionKind
	auxiliary bool
	options   []client.ListOption
}

// kept replaces an object in the store of a watch. It has only a key and a row.
type kept struct {
	metav1.ObjectMeta
	row inspect.Row
}

// Start begins to watch, until the context ends. It fails when the user may list objects of no kind.
func (f *Feed) Start(ctx context.Context) error {
	f.rows, f.subscribers, f.left = map[string]inspect.Row{}, map[*subscriber]struct{}{}, make(chan struct{}, 1)
	var all []watched
	for _, k := range f.Kinds {
		all = append(all, watched{kind: k})
	}
	all = append(all,
		watched{kind: appsv1.SchemeGroupVersion.WithKind("Deployment"), auxiliary: true,
			options: []client.ListOption{client.HasLabels{wellknown.LabelCapabilityUID}}},
		watched{kind: corev1.SchemeGroupVersion.WithKind("Event"), auxiliary: true,
			options: []client.ListOption{client.MatchingFieldsSelector{Selector: fields.OneTermEqualSelector("reportingComponent",
				wellknown.OperatorName)}}})
	refusals := f.probe(ctx, all)
	var refused error
	var may []watched
	for i, w := range all {
		switch err := refusals[i]; {
		case err == nil:
			may = append(may, w)
		case apierrors.IsForbidden(err), apierrors.IsNotFound(err), meta.IsNoMatchError(err):
			f.unlisted = append(f.unlisted, w.kind.Kind)
			refused = err
		default:
			return fmt.Errorf("listing %s objects: %w", w.kind.Kind, err)
		}
	}
	if !slices.ContainsFunc(may, func(w watched) bool { return !w.auxiliary }) {
		return fmt.Errorf("listing objects of any kind: %w", refused)
	}
	f.unsynced = len(may)
	for _, w := range may {
		if err := f.watch(ctx, w); err != nil {
			return err
		}
	}
	return nil
}

// probe lists one object of each kind at the same time, and returns the errors in the order of the kinds.
func (f *Feed) probe(ctx context.Context, all []watched) []error {
	out := make([]error, len(all))
	var asked sync.WaitGroup
	for i, w := range all {
		asked.Go(func() {
			out[i] = f.Client.List(ctx, listOf(w.kind), append(slices.Clone(w.options), client.InNamespace(f.Namespace), client.Limit(1))...)
		})
	}
	asked.Wait()
	return out
}

func listOf(kind schema.GroupVersionKind) *unstructured.UnstructuredList {
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(kind.GroupVersion().WithKind(kind.Kind + "List"))
	return list
}

// watch lists and watches objects of a kind. A watch that ends or expires is resumed.
func (f *Feed) watch(ctx context.Context, w watched) error {
	with := func(raw metav1.ListOptions) *client.ListOptions {
		o := &client.ListOptions{}
		o.ApplyOptions(append(slices.Clone(w.options), client.InNamespace(f.Namespace)))
		o.Raw = &raw
		return o
	}
	lw := &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, raw metav1.ListOptions) (runtime.Object, error) {
			l := listOf(w.kind)
			return l, f.Client.List(ctx, l, with(raw))
		},
		WatchFuncWithContext: func(ctx context.Context, raw metav1.ListOptions) (watch.Interface, error) {
			return f.Client.Watch(ctx, listOf(w.kind), with(raw))
		},
	}
	informer := cache.NewSharedInformer(lw, &unstructured.Unstructured{}, 0)
	if err := informer.SetTransform(keep); err != nil {
		return err
	}
	_, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(o any) { f.see(w, o) },
		UpdateFunc: func(_, o any) { f.see(w, o) },
		DeleteFunc: func(o any) { f.remove(w, o) },
	})
	if err != nil {
		return err
	}
	go informer.RunWithContext(klog.NewContext(ctx, logr.Discard()))
	go func() {
		if cache.WaitForCacheSync(ctx.Done(), informer.HasSynced) {
			f.noteSynced()
		}
	}()
	return nil
}

// keep reduces an object to its row, so that ten thousand of them take little memory.
func keep(o any) (any, error) {
	u, ok := o.(*unstructured.Unstructured)
	if !ok {
		return o, nil
	}
	row := inspect.RowOf(u)
	if u.GetKind() == "Event" {
		row.Kind, row.Name, row.Namespace = eventSubject(u)
	}
	return &kept{ObjectMeta: metav1.ObjectMeta{Namespace: u.GetNamespace(), Name: u.GetName(), ResourceVersion: u.GetResourceVersion()},
		row: row}, nil
}

// eventSubject is the object that an event is about.
func eventSubject(u *unstructured.Unstructured) (kind, name, namespace string) {
	kind, _, _ = unstructured.NestedString(u.Object, "involvedObject", "kind")
	name, _, _ = unstructured.NestedString(u.Object, "involvedObject", "name")
	namespace, _, _ = unstructured.NestedString(u.Object, "involvedObject", "namespace")
	return kind, name, namespace
}

// keyOfRow is the key of a row on the page.
func keyOfRow(r inspect.Row) string { return r.Kind + "/" + r.Namespace + "/" + r.Name }

func (f *Feed) see(w watched, o any) {
	k, ok := o.(*kept)
	if !ok {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	key := keyOfRow(k.row)
	if w.auxiliary {
		f.tell(func(c *changes) { c.touched[Touched{k.row.Kind, k.row.Namespace, k.row.Name, w.kind.Kind}] = true })
		return
	}
	if f.rows[key] == k.row {
		return
	}
	f.rows[key] = k.row
	f.tell(func(c *changes) { c.rows[key] = &k.row })
}

func (f *Feed) remove(w watched, o any) {
	if gone, is := o.(cache.DeletedFinalStateUnknown); is {
		o = gone.Obj
	}
	k, ok := o.(*kept)
	if !ok {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if w.auxiliary {
		f.tell(func(c *changes) { c.touched[Touched{k.row.Kind, k.row.Namespace, k.row.Name, w.kind.Kind}] = true })
		return
	}
	key := keyOfRow(k.row)
	delete(f.rows, key)
	f.tell(func(c *changes) { c.rows[key] = nil })
}

// noteSynced tells the subscribers when all objects are known.
func (f *Feed) noteSynced() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.unsynced--; f.unsynced == 0 {
		f.tell(func(c *changes) { c.synced = true })
	}
}

// Unlisted names the kinds that the user may not list, or that the cluster does not have.
func (f *Feed) Unlisted() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.unlisted)
}

// tell adds a change for every subscriber. The caller holds the lock.
func (f *Feed) tell(add func(*changes)) {
	for s := range f.subscribers {
		add(&s.pending)
		s.wake()
	}
}

// subscribe returns a subscriber that has everything to hear first.
func (f *Feed) subscribe() *subscriber {
	f.mu.Lock()
	defer f.mu.Unlock()
	s := &subscriber{feed: f, pending: newChanges(), changed: make(chan struct{}, 1)}
	for key, row := range f.rows {
		s.pending.rows[key] = &row
	}
	s.pending.reset, s.pending.synced = true, f.unsynced == 0
	f.subscribers[s] = struct{}{}
	s.wake()
	f.noteSubscribers()
	return s
}

func (f *Feed) unsubscribe(s *subscriber) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.subscribers, s)
	f.noteSubscribers()
}

func (f *Feed) noteSubscribers() {
	select {
	case f.left <- struct{}{}:
	default: // the receiver is yet to look
	}
}

func (f *Feed) hasSubscribers() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.subscribers) > 0
}

// whenIdle calls end once no subscriber was there for some time.
func (f *Feed) whenIdle(ctx context.Context, after time.Duration, end func()) {
	go func() {
		for {
			var idle <-chan time.Time
			if !f.hasSubscribers() {
				idle = time.After(after)
			}
			select {
			case <-ctx.Done():
				return
			case <-f.left:
			case <-idle:
				end()
				return
			}
		}
	}()
}

// subscriber is a page that is open.
type subscriber struct {
	feed    *Feed
	pending changes
	changed chan struct{}
}

func (s *subscriber) wake() {
	select {
	case s.changed <- struct{}{}:
	default: // it is yet to look
	}
}

// take returns the changes since the last call.
func (s *subscriber) take() Message {
	s.feed.mu.Lock()
	defer s.feed.mu.Unlock()
	m := s.pending.message()
	s.pending = newChanges()
	return m
}

// changes gathers the changes that a subscriber has not received yet. Of an object that changed twice, it holds the last row; nil for one
// that is gone.
type changes struct {
	reset, synced bool
	rows          map[string]*inspect.Row
	touched       map[Touched]bool
}

func newChanges() changes {
	return changes{rows: map[string]*inspect.Row{}, touched: map[Touched]bool{}}
}

// Touched names an object without a row that changed in part, or had an event.
type Touched struct {
	Kind      string `json:"kind"`
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	// By is the kind of the object that changed: Deployment or Event.
	By string `json:"by"`
}

// Message describes changes to a page.
type Message struct {
	// Reset says that the rows are all there are so far.
	Reset bool `json:"reset,omitempty"`
	// Synced says that all objects are known now.
	Synced  bool          `json:"synced,omitempty"`
	Rows    []inspect.Row `json:"rows,omitempty"`
	Removed []string      `json:"removed,omitempty"`
	Touched []Touched     `json:"touched,omitempty"`
}

// message puts the changes in order.
func (c changes) message() Message {
	m := Message{Reset: c.reset, Synced: c.synced}
	for key, row := range c.rows {
		if row == nil {
			m.Removed = append(m.Removed, key)
		} else {
			m.Rows = append(m.Rows, *row)
		}
	}
	for t := range c.touched {
		m.Touched = append(m.Touched, t)
	}
	slices.Sort(m.Removed)
	slices.SortFunc(m.Rows, func(a, b inspect.Row) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Name, b.Name))
	})
	slices.SortFunc(m.Touched, func(a, b Touched) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Name, b.Name), cmp.Compare(a.By, b.By))
	})
	return m
}
