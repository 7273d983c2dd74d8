// SPDX-License-Identifier: Apache-2.0

package awsresource

import (
	"context"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/controller/reconciler"
	"github.com/nexus-operator/nexus-operator/internal/driftevents"
	"github.com/nexus-operator/nexus-operator/internal/engine"
)

// ResourceIndex is the cache's index of AWS resource objects by account and identifiers of their resources.
const ResourceIndex = "status.resource"

// Watcher requests checks of objects when events report changes of their resources. It implements driftevents.Watcher.
type Watcher struct {
	entry   engine.Entry
	client  client.Client
	owns    func(namespace string) bool // this process
	indexed bool                        // the cache has ResourceIndex
	cadence cadence
	changes *changes
}

// Watcher returns the watcher of the reconciler's kind.
func (r *Reconciler) Watcher() *Watcher {
	return &Watcher{entry: r.Entry, client: r.Client, owns: r.Shard.Owns, indexed: r.IndexResources, cadence: r.cadence(), changes: r.changes}
}

// resourceOf returns how AWS identifies the resource of an object, with the account and region; the account is empty where it is not known.
func (w *Watcher) resourceOf(o v1alpha1.Resource) (res driftevents.Resource, account, region string) {
	st := o.CommonStatus()
	home := strings.Split(st.Home, "/")
	if len(home) != 3 {
		return res, "", ""
	}
	return driftevents.Resource{ARN: st.ARN, ID: st.ID, Services: w.services()}, home[1], home[2]
}

// services returns the prefixes of the IAM actions that change resources of the kind; none for a kind with resources of any service.
func (w *Watcher) services() []string {
	var out []string
	for _, action := range w.entry.Meta().Writes {
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
func (w *Watcher) indexedBy(o client.Object) []string {
	res, account, _ := w.resourceOf(o.(v1alpha1.Resource))
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
func (w *Watcher) Changed(ctx context.Context, e driftevents.Event, namespace string) (int, error) {
	found := map[types.NamespacedName]bool{}
	for _, where := range w.lookups(e, namespace) {
		list := reconciler.NewList(w.client, w.entry)
		if err := w.client.List(ctx, list, append(where, client.InNamespace(namespace), client.UnsafeDisableDeepCopy)...); err != nil {
			return 0, err
		}
		_ = meta.EachListItem(list, func(item runtime.Object) error {
			obj := item.(v1alpha1.Resource)
			if w.isNamedBy(obj, e) {
				found[client.ObjectKeyFromObject(obj)] = true
			}
			return nil
		})
	}
	for key := range found {
		w.requestCheck(key, e)
	}
	return len(found), nil
}

// lookups returns the options of the lists that contain the objects of the resources that an event may name: one list of a namespace, or
// one for each identifier of the event that a resource of the kind may have.
func (w *Watcher) lookups(e driftevents.Event, namespace string) [][]client.ListOption {
	services := w.services()
	ofKind := len(services) == 0 || slices.Contains(services, e.Service)
	var out [][]client.ListOption
	for name := range e.Names {
		if ofKind || slices.Contains(services, driftevents.ServiceOfARN(name)) {
			if namespace != "" || !w.indexed {
				return [][]client.ListOption{nil}
			}
			out = append(out, []client.ListOption{client.MatchingFields{ResourceIndex: e.Account + "/" + name}})
		}
	}
	return out
}

// isNamedBy reports whether an event is about the resource of an object, which this process serves.
func (w *Watcher) isNamedBy(obj v1alpha1.Resource, e driftevents.Event) bool {
	res, account, region := w.resourceOf(obj)
	service := e.Service
	if of := driftevents.ServiceOfARN(res.ARN); of != "" && service == "tag" {
		service = of
	}
	return account == e.Account && driftevents.RegionOf(service, region) == e.Region && w.owns(obj.GetNamespace()) && res.IsNamedBy(e)
}

// requestCheck requests a check of an object. Events of one object within a short time cause one check.
func (w *Watcher) requestCheck(key types.NamespacedName, e driftevents.Event) {
	now := w.cadence.clock.Now()
	if due, request := w.changes.record(key, e, now); request {
		if next, ok := w.cadence.due.Due(key); ok && next.Before(due) { // a request postpones no check
			due = next
		}
		w.cadence.due.Request(key, due)
		w.changes.enqueue(key, due.Sub(now), eventPriority)
	}
}

// HastenChecks implements driftevents.Watcher.
func (w *Watcher) HastenChecks(ctx context.Context) {
	list := reconciler.NewList(w.client, w.entry)
	if err := w.client.List(ctx, list, client.UnsafeDisableDeepCopy); err != nil {
		return // the cache has stopped, and with it the process
	}
	now, most := w.cadence.clock.Now(), w.cadence.interval()
	_ = meta.EachListItem(list, func(item runtime.Object) error {
		obj := item.(v1alpha1.Resource)
		key := client.ObjectKeyFromObject(obj)
		due, ok := w.cadence.due.Due(key)
		if ok && due.After(now.Add(most)) && w.cadence.intervalOf(obj) == most {
			after := time.Duration(rand.Int64N(int64(most)))
			w.cadence.due.Set(key, now.Add(after))
			w.changes.enqueue(key, after, restPriority)
		}
		return nil
	})
}
