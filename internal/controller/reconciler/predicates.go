// SPDX-License-Identifier: Apache-2.0

package reconciler

import (
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/api/wellknown"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// AnnotationChanged passes events that change the request in an annotation.
type AnnotationChanged struct{ predicate.Funcs }

// Update implements predicate.Predicate.
func (AnnotationChanged) Update(e event.UpdateEvent) bool {
	a, b := e.ObjectOld.GetAnnotations(), e.ObjectNew.GetAnnotations()
	return slices.ContainsFunc([]string{wellknown.AnnotationPaused, wellknown.AnnotationReconcileAt, AnnotationAbandon, AnnotationDeleteData,
		wellknown.AnnotationApprovedPlan}, func(k string) bool { return a[k] != b[k] })
}

// ReadyChanged passes events that let a dependent continue, or make it stop.
type ReadyChanged struct{ predicate.Funcs }

// Update implements predicate.Predicate.
func (ReadyChanged) Update(e event.UpdateEvent) bool {
	return IsReady(e.ObjectOld) != IsReady(e.ObjectNew) || IsBroken(e.ObjectOld) != IsBroken(e.ObjectNew)
}

// Delete implements predicate.Predicate.
func (ReadyChanged) Delete(event.DeleteEvent) bool { return false }

// ProviderApplied passes events that show an edited provider in effect for its objects: it was looked at and is Ready.
type ProviderApplied struct{ predicate.Funcs }

// Create implements predicate.Predicate.
func (ProviderApplied) Create(event.CreateEvent) bool { return false }

// Update implements predicate.Predicate.
func (ProviderApplied) Update(e event.UpdateEvent) bool {
	was, okWas := e.ObjectOld.(*v1alpha1.AWSProvider)
	is, okIs := e.ObjectNew.(*v1alpha1.AWSProvider)
	return okWas && okIs && IsReady(is) && was.Status.ObservedGeneration != 0 && was.Status.ObservedGeneration != is.Status.ObservedGeneration
}

// Delete implements predicate.Predicate.
func (ProviderApplied) Delete(event.DeleteEvent) bool { return false }

// IsReady reports whether a provider, or an object of an AWS kind, is Ready at its generation.
func IsReady(o client.Object) bool {
	return status.ReadyAt(conditionsOf(o), o.GetGeneration())
}

// IsBroken reports whether a provider, or an object of an AWS kind, was last found not to be Ready. One that was edited and not
// looked at yet is neither Ready nor broken.
func IsBroken(o client.Object) bool {
	return meta.IsStatusConditionFalse(conditionsOf(o), status.Ready)
}

func conditionsOf(o client.Object) []metav1.Condition {
	switch o := o.(type) {
	case *v1alpha1.AWSProvider:
		return o.Status.Conditions
	case v1alpha1.Resource:
		return o.CommonStatus().Conditions
	default:
		return nil
	}
}
