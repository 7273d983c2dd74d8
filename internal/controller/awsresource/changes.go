// SPDX-License-Identifier: Apache-2.0

package awsresource

import (
	"context"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/controller/reconciler"
	"github.com/nexus-operator/nexus-operator/internal/driftevents"
)

const (
	// ResourceIndex is the cache's index of AWS resource objects by account and identifiers of their resources.
	ResourceIndex = "status.resource"
	// eventGap is the least time between two checks of an object that events cause.
	eventGap = 10 * time.Second
	// eventPriority puts checks that events cause behind new objects and edits, and before periodic checks.
	eventPriority = -50
)

// changes remembers the changes in AWS that events reported, of each object the newest one until a check has looked at the resource.
type changes struct {
	mu    sync.Mutex
	queue workqueue.TypedRateLimitingInterface[reconcile.Request]
	// due holds the start time of the last check that an event caused, past or future.
	due   map[types.NamespacedName]time.Time
	event map[types.NamespacedName]driftevents.Event
}

func newChanges() *changes {
	return &changes{due: map[types.NamespacedName]time.Time{}, event: map[types.NamespacedName]driftevents.Event{}}
}

// start keeps the queue of the controller; it implements source.Func.
func (c *changes) start(_ context.Context, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.queue = queue
	return nil
}

// record keeps an event and returns when the check is to begin, and whether it is still to be requested.
func (c *changes) record(key types.NamespacedName, e driftevents.Event, now time.Time) (due time.Time, request bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e.Names = nil
	if had, ok := c.event[key]; !ok || !had.Time.After(e.Time) {
		c.event[key] = e
	}
	last, ok := c.due[key]
	if ok && last.After(now) {
		return last, false
	}
	due = now
	if next := last.Add(eventGap); ok && next.After(now) {
		due = next
	}
	c.due[key] = due
	return due, true
}

// enqueue adds a request after a time. Priorities are those of controller-runtime.
func (c *changes) enqueue(key types.NamespacedName, after time.Duration, priority int) {
	c.mu.Lock()
	queue := c.queue
	c.mu.Unlock()
	request := reconcile.Request{NamespacedName: key}
	switch q := queue.(type) {
	case nil: // the controller has not started: its first look at the object comes
	case priorityqueue.PriorityQueue[reconcile.Request]:
		q.AddWithOpts(priorityqueue.AddOpts{After: after, Priority: &priority}, request)
	default:
		q.AddAfter(request, after)
	}
}

// reported returns the newest event about an object that no check has served.
func (c *changes) reported(key types.NamespacedName) (driftevents.Event, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.event[key]
	return e, ok
}

// served drops an event after a check, unless a newer one arrived.
func (c *changes) served(key types.NamespacedName, e driftevents.Event) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if had, ok := c.event[key]; ok && had.ID == e.ID && had.Time.Equal(e.Time) {
		delete(c.event, key)
	}
}

func (c *changes) forget(key types.NamespacedName) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.due, key)
	delete(c.event, key)
}

// resourceOf returns how AWS identifies the resource of an object, with the account and region; the account is empty where it is not known.
func (r *Reconciler) resourceOf(o v1alpha1.Resource) (res driftevents.Resource, account, region string) {
	st := o.CommonStatus()
	home := strings.Split(st.Home, "/")
	if len(home) != 3 {
		return res, "", ""
	}
	return driftevents.Resource{ARN: st.ARN, ID: st.ID, Services: r.services()}, home[1], home[2]
}

// services returns the prefixes of the IAM actions that change resources of the kind; none for a kind with resources of any service.
func (r *Reconciler) services() []string {
	var out []string
	for _, action := range r.Entry.Meta().Writes {
		service, _, _ := strings.Cut(action, ":")
		if service == "cloudformation" {
			return nil
		}
		out = append(out, service)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// indexedBy returns the entries of an object in ResourceIndex.
func (r *Reconciler) indexedBy(o client.Object) []string {
	res, account, _ := r.resourceOf(o.(v1alpha1.Resource))
	if account == "" {
		return nil
	}
	keys := res.Keys()
	for i, key := range keys {
		keys[i] = account + "/" + key
	}
	return keys
}

// Changed implements driftevents.Watcher.
func (r *Reconciler) Changed(ctx context.Context, e driftevents.Event, namespace string) (int, error) {
	found := map[types.NamespacedName]bool{}
	for _, where := range r.lookups(e, namespace) {
		list := reconciler.NewList(r.Client, r.Entry)
		if err := r.Client.List(ctx, list, append(where, client.InNamespace(namespace), client.UnsafeDisableDeepCopy)...); err != nil {
			return 0, err
		}
		_ = meta.EachListItem(list, func(item runtime.Object) error {
			obj := item.(v1alpha1.Resource)
			if r.isNamedBy(obj, e) {
				found[client.ObjectKeyFromObject(obj)] = true
			}
			return nil
		})
	}
	for key := range found {
		r.requestCheck(key, e)
	}
	return len(found), nil
}

// lookups returns the options of the lists that contain the objects of the resources that an event may name: one list of a namespace, or
// one for each identifier of the event that a resource of the kind may have.
func (r *Reconciler) lookups(e driftevents.Event, namespace string) [][]client.ListOption {
	services := r.services()
	ofKind := len(services) == 0 || slices.Contains(services, e.Service)
	var out [][]client.ListOption
	for name := range e.Names {
		if ofKind || slices.Contains(services, driftevents.ServiceOfARN(name)) {
			if namespace != "" || !r.IndexResources {
				return [][]client.ListOption{nil}
			}
			out = append(out, []client.ListOption{client.MatchingFields{ResourceIndex: e.Account + "/" + name}})
		}
	}
	return out
}

// isNamedBy reports whether an event is about the resource of an object, which this process serves.
func (r *Reconciler) isNamedBy(obj v1alpha1.Resource, e driftevents.Event) bool {
	res, account, region := r.resourceOf(obj)
	service := e.Service
	if of := driftevents.ServiceOfARN(res.ARN); of != "" && service == "tag" {
		service = of
	}
	return account == e.Account && driftevents.RegionOf(service, region) == e.Region && r.Shard.Owns(obj.GetNamespace()) && res.IsNamedBy(e)
}

// requestCheck requests a check of an object. Events of one object within a short time cause one check.
func (r *Reconciler) requestCheck(key types.NamespacedName, e driftevents.Event) {
	now := r.Clock.Now()
	if due, request := r.changes.record(key, e, now); request {
		if next, ok := r.checks.Due(key); ok && next.Before(due) { // a request postpones no check
			due = next
		}
		r.checks.Request(key, due)
		r.changes.enqueue(key, due.Sub(now), eventPriority)
	}
}

// HastenChecks implements driftevents.Watcher.
func (r *Reconciler) HastenChecks(ctx context.Context) {
	list := reconciler.NewList(r.Client, r.Entry)
	if err := r.Client.List(ctx, list, client.UnsafeDisableDeepCopy); err != nil {
		return // the cache has stopped, and with it the process
	}
	now, most := r.Clock.Now(), r.interval()
	_ = meta.EachListItem(list, func(item runtime.Object) error {
		obj := item.(v1alpha1.Resource)
		key := client.ObjectKeyFromObject(obj)
		due, ok := r.checks.Due(key)
		if ok && due.After(now.Add(most)) && r.intervalOf(obj) == most {
			after := time.Duration(rand.Int64N(int64(most)))
			r.checks.Set(key, now.Add(after))
			r.changes.enqueue(key, after, restPriority)
		}
		return nil
	})
}

// restPriority is that of periodic checks.
const restPriority = -100

// intervalOf returns the interval of the checks of an object that is as declared: a longer one while events of its changes arrive.
func (r *Reconciler) intervalOf(obj v1alpha1.Resource) time.Duration {
	ordinary := r.interval()
	if _, set := r.Intervals.CheckOf[r.Entry.Name()]; set || r.Covered == nil || !r.Covered(obj) {
		return ordinary
	}
	return max(ordinary, r.Intervals.WithEvents)
}
