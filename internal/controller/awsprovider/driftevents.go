// SPDX-License-Identifier: Apache-2.0

package awsprovider

import (
	"context"
	"sync"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// DriftEvents reads the queues that report changes in AWS.
type DriftEvents interface {
	// Follow starts to read the queue of a provider that is ready, or stops when it names none.
	Follow(provider *v1alpha1.AWSProvider)
	// Drop stops reading the queue of a provider that is gone.
	Drop(key types.NamespacedName)
	// Condition returns the condition DriftEvents; nil where no queue serves the provider, and false while that is not known.
	Condition(provider *v1alpha1.AWSProvider) (*metav1.Condition, bool)
}

// shown holds the queue of the controller, for changes of the condition DriftEvents.
type shown struct {
	mu    sync.Mutex
	queue workqueue.TypedRateLimitingInterface[reconcile.Request]
}

// start implements source.Func.
func (s *shown) start(_ context.Context, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.queue = queue
	return nil
}

func (s *shown) add(key types.NamespacedName) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.queue != nil {
		s.queue.Add(reconcile.Request{NamespacedName: key})
	}
}

// ShowDriftEvents has each provider show whether events of changes arrive.
func (r *Reconciler) ShowDriftEvents(ctx context.Context) {
	list := &v1alpha1.AWSProviderList{}
	if err := r.Client.List(ctx, list); err != nil {
		return // the periodic check comes all the same
	}
	for i := range list.Items {
		if p := &list.Items[i]; r.Shard.Owns(p.Namespace) {
			key := client.ObjectKeyFromObject(p)
			r.checks.Set(key, r.Clock.Now())
			r.shown.add(key)
		}
	}
}

func (r *Reconciler) dropQueue(key types.NamespacedName) {
	if r.Drift != nil {
		r.Drift.Drop(key)
	}
}

// showDriftEvents sets the condition DriftEvents, and emits an event when changes are no longer reported.
func (r *Reconciler) showDriftEvents(provider, was *v1alpha1.AWSProvider) {
	if r.Drift == nil {
		return
	}
	if provider.Status.Ready {
		r.Drift.Follow(provider)
	}
	c, known := r.Drift.Condition(provider)
	switch {
	case !known || !provider.Status.Ready:
	case c == nil:
		meta.RemoveStatusCondition(&provider.Status.Conditions, status.DriftEvents)
	default:
		status.Set(&provider.Status.Conditions, provider.Generation, r.Clock.Now(), *c)
		had := meta.FindStatusCondition(was.Status.Conditions, status.DriftEvents)
		if c.Status == metav1.ConditionFalse && (had == nil || had.Status != c.Status || had.Reason != c.Reason) {
			r.Events.Warning(provider, c.Reason, "ReadDriftEvents", c.Message)
		}
	}
}
