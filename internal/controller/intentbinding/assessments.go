// SPDX-License-Identifier: Apache-2.0

package intentbinding

import (
	"context"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"github.com/nexus-operator/nexus-operator/api/intent/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/intent"
	"github.com/nexus-operator/nexus-operator/internal/intentfacts"
)

// assessmentsEvery is the interval between two reads of the Services of a namespace for intent assessTLS, and between two checks of the age
// of its results. A watch on pods reports new results.
const assessmentsEvery = 5 * time.Minute

// readAssessments gathers the facts about the TLS assessments of a policy, unless --adapters leaves out the engine that makes
// CronJobs.
func (r *Reconciler) readAssessments(ctx context.Context, p intent.Policy, live *unstructured.Unstructured) (intent.TLS, error) {
	if !intentfacts.AssessesTLS(r.Engines) {
		return intent.TLS{}, nil
	}
	return intentfacts.Assessments{Client: r.Client, Live: r.Live, Image: r.TLSAssessorImage}.Read(ctx, p, live, r.Clock.Now())
}

func assessesTLS(p intent.PolicyReport) bool {
	_, assesses := intent.AssessedTLS(p.Policy)
	return assesses
}

// assessed passes events of pods of assessments with a status that may hold a result. Deletions change no result.
type assessed struct{ predicate.Funcs }

// Create implements predicate.Predicate.
func (assessed) Create(e event.CreateEvent) bool { return assesses(e.Object) }

// Update implements predicate.Predicate.
func (assessed) Update(e event.UpdateEvent) bool {
	was, okWas := e.ObjectOld.(*corev1.Pod)
	is, okIs := e.ObjectNew.(*corev1.Pod)
	return okWas && okIs && assesses(is) && (was.Status.Phase != is.Status.Phase || !equality.Semantic.DeepEqual(was.Status.ContainerStatuses, is.Status.ContainerStatuses))
}

// Delete implements predicate.Predicate.
func (assessed) Delete(event.DeleteEvent) bool { return false }

func assesses(o client.Object) bool {
	return o.GetLabels()[intent.LabelAssessment] == intent.AssessmentTLS
}

// warnOfAssessment records one event when assessments begin to fail, not one for each.
func (r *Reconciler) warnOfAssessment(policy client.Object, was, is []v1alpha1.Coverage) {
	for _, c := range is {
		if c.Reason != intent.ReasonAssessmentFailed && c.Reason != intent.ReasonResultInvalid {
			continue
		}
		known := slices.ContainsFunc(was, func(b v1alpha1.Coverage) bool {
			return b.Intent == c.Intent && b.Engine == c.Engine && b.Reason == c.Reason
		})
		if !known {
			r.Events.Warning(policy, c.Reason, "Assess", c.Message)
		}
	}
}
