// SPDX-License-Identifier: Apache-2.0

package intentbinding

import (
	"context"
	"fmt"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/nexus-operator/nexus-operator/api/intent/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/intent"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// assessmentsEvery is how often the Services of a namespace are read for intent assessTLS, and the age of its results
// is judged. A watch on pods reports new results.
const assessmentsEvery = 5 * time.Minute

// maxServices bounds how many Services of a namespace are read.
const maxServices = 500

// readAssessments gathers the facts about the TLS assessments of a policy: Services, pods of earlier runs, and the
// results in the policy's own status, which outlast the pods.
func (r *Reconciler) readAssessments(ctx context.Context, p intent.Policy, live *unstructured.Unstructured) (intent.TLS, error) {
	rule, ok := intent.AssessedTLS(p)
	engine := r.countKind(batchv1.SchemeGroupVersion.WithKind("CronJob"))
	if !ok || p.Namespace == "" || r.TLSAssessorImage == "" || engine < 0 || !r.Engines[engine].Enabled {
		return intent.TLS{}, nil
	}
	services, err := r.servicesIn(ctx, p.Namespace)
	if err != nil {
		return intent.TLS{}, err
	}
	runs, err := r.runsOf(ctx, p)
	if err != nil {
		return intent.TLS{}, err
	}
	was := &v1alpha1.NimbusPolicy{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(live.Object, was); err != nil {
		return intent.TLS{}, err
	}
	targets, _ := intent.TLSTargets(p, rule, services)
	out := intent.AssessTLS(targets, was.Status.Assessments, runs)
	out.Image, out.Services = r.TLSAssessorImage, services
	out.Outdated = intent.OutdatedTLS(rule, out.Results, r.Clock.Now())
	return out, nil
}

func assessesTLS(p intent.PolicyReport) bool {
	_, assesses := intent.AssessedTLS(p.Policy)
	return assesses
}

// servicesIn reads the Services of a namespace from the API server: the cache holds only those of capabilities.
func (r *Reconciler) servicesIn(ctx context.Context, namespace string) ([]intent.Service, error) {
	list := &corev1.ServiceList{}
	if err := r.Live.List(ctx, list, client.InNamespace(namespace), client.Limit(maxServices)); err != nil {
		return nil, fmt.Errorf("reading the Services whose TLS is assessed: %w", err)
	}
	var out []intent.Service
	for i := range list.Items {
		s := &list.Items[i]
		if s.Spec.Type == corev1.ServiceTypeExternalName || s.DeletionTimestamp != nil {
			continue // ExternalName leads to a host that is not a pod
		}
		service := intent.Service{Name: s.Name, Selector: s.Spec.Selector}
		for _, p := range s.Spec.Ports {
			if p.Protocol == corev1.ProtocolTCP {
				service.Ports = append(service.Ports, p.Port)
			}
		}
		out = append(out, service)
	}
	return out, nil
}

// runsOf lists the pods of a policy's assessments from the cache.
func (r *Reconciler) runsOf(ctx context.Context, p intent.Policy) ([]intent.Run, error) {
	pods := &corev1.PodList{}
	if err := r.Client.List(ctx, pods, client.InNamespace(p.Namespace), client.MatchingLabels{intent.LabelAssessment: intent.AssessmentTLS}, client.UnsafeDisableDeepCopy); err != nil {
		return nil, err
	}
	var out []intent.Run
	for i := range pods.Items {
		if pod := &pods.Items[i]; pod.Annotations[intent.AnnotationPolicy] == p.Name {
			out = append(out, runOf(pod))
		}
	}
	return out, nil
}

// runOf reads how a pod of an assessment ended, or why it cannot start.
func runOf(pod *corev1.Pod) intent.Run {
	run := intent.Run{Pod: pod.Name, Created: pod.CreationTimestamp.Time}
	i := slices.IndexFunc(pod.Status.ContainerStatuses, func(c corev1.ContainerStatus) bool { return c.Name == intent.AssessorContainer })
	if i < 0 {
		if pod.Status.Phase == corev1.PodFailed {
			run.Failure = "it failed" + reasonText(pod.Status.Reason)
		}
		return run
	}
	switch s := pod.Status.ContainerStatuses[i].State; {
	case s.Terminated != nil && s.Terminated.ExitCode != 0:
		run.Failure = fmt.Sprintf("the container ended with exit code %d%s", s.Terminated.ExitCode, reasonText(s.Terminated.Reason))
	case s.Terminated != nil:
		run.Finished, run.Message = s.Terminated.FinishedAt.Time, s.Terminated.Message
	case s.Waiting != nil:
		run.Failure = cannotStartBecause(s.Waiting.Reason)
	}
	return run
}

// cannotStartBecause says why a container waits, or nothing while it is being started. The kubelet alternates between
// two reasons for an image that it cannot pull; one is shown, so that the status does not flap.
func cannotStartBecause(reason string) string {
	switch reason {
	case "", "ContainerCreating", "PodInitializing":
		return ""
	case "ErrImagePull":
		reason = "ImagePullBackOff"
	}
	return "the container cannot start" + reasonText(reason)
}

func reasonText(reason string) string {
	if reason == "" {
		return ""
	}
	return " (" + status.Truncate(reason, 64) + ")"
}

// ofAssessment maps a pod of an assessment to the binding of its policy.
func (r *Reconciler) ofAssessment(ctx context.Context, o client.Object) []reconcile.Request {
	policy := &v1alpha1.NimbusPolicy{}
	key := types.NamespacedName{Namespace: o.GetNamespace(), Name: o.GetAnnotations()[intent.AnnotationPolicy]}
	if key.Name == "" || r.kinds.derived.Get(ctx, key, policy) != nil {
		return nil // a pass looks at the pods, too
	}
	return r.ownerOfDerived(ctx, policy)
}

// assessed passes events of pods of assessments whose status may hold a result. Deletions change no result.
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
