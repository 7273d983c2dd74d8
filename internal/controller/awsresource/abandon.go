// SPDX-License-Identifier: Apache-2.0

package awsresource

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/controller/reconciler"
	"github.com/nexus-operator/nexus-operator/internal/engine"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// isAbandoned reports whether the object's author gave up its resource in AWS.
func isAbandoned(obj client.Object) bool {
	return obj.GetDeletionTimestamp() != nil && obj.GetUID() != "" &&
		obj.GetAnnotations()[reconciler.AnnotationAbandon] == string(obj.GetUID())
}

// abandon drops the finalizer and leaves the AWS resource as it is, on record: an event and a line of log.
func (r *Reconciler) abandon(ctx context.Context, obj v1alpha1.Resource) (reconcile.Result, error) {
	key, st := client.ObjectKeyFromObject(obj), obj.CommonStatus()
	left := fmt.Sprintf("home %q, id %q, ARN %q", obj.GetAnnotations()[engine.AnnotationHome], st.ID, st.ARN)
	p := newPass(r, obj)
	p.r.Events.Warning(p.obj, status.ReasonAbandoned, "Delete", "whatever is in AWS stays there, as annotation "+reconciler.AnnotationAbandon+
		" asks for: "+left)
	log.FromContext(ctx).Info("Abandoned: the finalizer goes and whatever is in AWS stays", "kind", r.Entry.Name(), "uid", obj.GetUID(),
		"left", left)
	if err := p.release(ctx, engine.Outcome{}); apierrors.IsConflict(err) {
		return r.retries.Conflict(key), nil
	} else if err != nil {
		return reconcile.Result{}, err
	}
	r.forget(key)
	return reconcile.Result{}, nil
}
