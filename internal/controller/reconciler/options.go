// SPDX-License-Identifier: Apache-2.0

package reconciler

import (
	"time"

	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
	ctrlcontroller "sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// WorkerOptions returns the options of a controller with so many workers, which serve the namespaces in turn. Its work queue retries
// sooner than controller-runtime's while the API server does not answer. Requests of cluster scope are one more namespace.
func WorkerOptions(workers int) ctrlcontroller.Options {
	return ctrlcontroller.Options{MaxConcurrentReconciles: workers,
		RateLimiter: workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](5*time.Millisecond, outageRetry),
		NewQueue: func(name string,
			limiter workqueue.TypedRateLimiter[reconcile.Request]) workqueue.TypedRateLimitingInterface[reconcile.Request] {
			return newFairQueue(name, limiter, clock.RealClock{}, workers)
		}}
}
