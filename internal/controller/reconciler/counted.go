// SPDX-License-Identifier: Apache-2.0

package reconciler

import (
	"context"
	"errors"

	"go.opentelemetry.io/otel/attribute"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/nexus-operator/nexus-operator/internal/metrics"
	"github.com/nexus-operator/nexus-operator/internal/shard"
	"github.com/nexus-operator/nexus-operator/internal/status"
	"github.com/nexus-operator/nexus-operator/internal/tracing"
)

// Counted traces the passes of a reconciler, counts its failures by their class, and ends a failure at a success. Requests for namespaces
// of other shards are dropped here, because all requests come this way.
func (e Environment) Counted(controller string, r reconcile.Reconciler) reconcile.Reconciler {
	e.Metrics.Controller(controller)
	return &countedReconciler{Reconciler: r, controller: controller, metrics: e.Metrics, failures: e.Failures, shard: e.Shard}
}

type countedReconciler struct {
	reconcile.Reconciler
	controller string
	metrics    *metrics.Recorder
	failures   *Failures
	shard      shard.Shard
}

// Reconcile implements reconcile.Reconciler.
func (c *countedReconciler) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	if !c.shard.Owns(req.Namespace) {
		return reconcile.Result{}, nil
	}
	ctx, span := tracing.Span(ctx, "reconcile "+c.controller, attribute.String("k8s.namespace.name", req.Namespace),
		attribute.String("k8s.object.name", req.Name),
		attribute.String("reconcile.id", string(controller.ReconcileIDFromContext(ctx))))
	if id, sampled := tracing.IDOf(ctx); sampled {
		ctx = log.IntoContext(ctx, log.FromContext(ctx).WithValues("traceID", id))
	}
	result, err := c.Reconciler.Reconcile(ctx, req)
	if err == nil {
		c.failures.succeeded(c.controller, req)
	}
	class := failureClass(err)
	if class != "" && ctx.Err() == nil {
		c.metrics.ReconcileFailed(c.controller, class)
	}
	tracing.End(span, class)
	return result, err
}

// failureClass returns the class of a reconciler's error in the metrics; empty when it is no failure.
func failureClass(err error) string {
	_, isStalled := status.AsStalled(err)
	_, isWaiting := status.AsWaiting(err)
	retrying, isRetrying := status.AsRetrying(err)
	switch {
	case err == nil, isWaiting, apierrors.IsConflict(err):
		return ""
	case isStalled:
		return metrics.ClassStalled
	case isRetrying && retrying.Reason != status.ReasonWebhookFailing:
		return metrics.ClassAWS
	case isRetrying, APIServerUnavailable(err), apierrors.ReasonForError(err) != metav1.StatusReasonUnknown,
		errors.Is(err, context.DeadlineExceeded):
		return metrics.ClassKubernetes
	default:
		return metrics.ClassError
	}
}
