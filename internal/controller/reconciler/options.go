// SPDX-License-Identifier: Apache-2.0

package reconciler

import (
	"time"

	"k8s.io/client-go/util/workqueue"
	ctrlcontroller "sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// WorkerOptions returns the options of a controller with so many workers. Its work queue retries sooner than
// controller-runtime's while the API server does not answer.
func WorkerOptions(workers int) ctrlcontroller.Options {
	return ctrlcontroller.Options{MaxConcurrentReconciles: workers,
		RateLimiter: workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](5*time.Millisecond, outageRetry)}
}
