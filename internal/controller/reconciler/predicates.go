// SPDX-License-Identifier: Apache-2.0

package reconciler

import (
	"slices"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/api/wellknown"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// AnnotationChanged lets events through that change what an annotation asks for.
type AnnotationChanged struct{ predicate.Funcs }

// Update implements predicate.Predicate.
func (AnnotationChanged) Update(e event.UpdateEvent) bool {
	a, b := e.ObjectOld.GetAnnotations(), e.ObjectNew.GetAnnotations()
	return slices.ContainsFunc([]string{wellknown.AnnotationPaused, wellknown.AnnotationReconcileAt, AnnotationAbandon, AnnotationDeleteData}, func(k string) bool { return a[k] != b[k] })
}

// ReadyChanged lets events through after which a dependent may go on, or must stop.
type ReadyChanged struct{ predicate.Funcs }

// Update implements predicate.Predicate.
func (ReadyChanged) Update(e event.UpdateEvent) bool {
	return IsReady(e.ObjectOld) != IsReady(e.ObjectNew)
}

// Delete implements predicate.Predicate.
func (ReadyChanged) Delete(event.DeleteEvent) bool { return false }

// IsReady reports whether a provider, or an object of an AWS kind, is Ready at its generation.
func IsReady(o client.Object) bool {
	switch o := o.(type) {
	case *v1alpha1.AWSProvider:
		return status.ReadyAt(o.Status.Conditions, o.Generation)
	case v1alpha1.Resource:
		return status.ReadyAt(o.CommonStatus().Conditions, o.GetGeneration())
	default:
		return false
	}
}
