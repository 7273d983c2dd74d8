// SPDX-License-Identifier: Apache-2.0

package intentfacts

import (
	"context"
	"fmt"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/api/intent/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/intent"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// maxServices bounds how many Services of a namespace are read.
const maxServices = 500

// AssessesTLS reports whether one of the engines assesses TLS, and --adapters names it.
func AssessesTLS(engines []Engine) bool {
	i := slices.IndexFunc(engines, func(e Engine) bool { return slices.Contains(e.Makes(), batchv1.SchemeGroupVersion.WithKind("CronJob")) })
	return i >= 0 && engines[i].Enabled
}

// Assessments reads the facts about the TLS assessments of policies.
type Assessments struct {
	// Client reads the pods of assessments, Live the Services.
	Client, Live client.Reader
	// Image assesses TLS; empty is none.
	Image string
}

// Read gathers the facts about the TLS assessments of a policy: Services, pods of earlier runs, and the results in the
// policy's own status, which outlast the pods. Live is the policy as it exists.
func (a Assessments) Read(ctx context.Context, p intent.Policy, live *unstructured.Unstructured, now time.Time) (intent.TLS, error) {
	rule, ok := intent.AssessedTLS(p)
	if !ok || p.Namespace == "" || a.Image == "" {
		return intent.TLS{}, nil
	}
	services, err := ServicesIn(ctx, a.Live, p.Namespace)
	if err != nil {
		return intent.TLS{}, err
	}
	runs, err := RunsOf(ctx, a.Client, p)
	if err != nil {
		return intent.TLS{}, err
	}
	was := &v1alpha1.NimbusPolicy{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(live.Object, was); err != nil {
		return intent.TLS{}, err
	}
	targets, _ := intent.TLSTargets(p, rule, services)
	out := intent.AssessTLS(targets, was.Status.Assessments, runs)
	out.Image, out.Services = a.Image, services
	out.Outdated = intent.OutdatedTLS(rule, out.Results, now)
	return out, nil
}

// ServicesIn reads the Services of a namespace from the API server: the cache holds only those of capabilities.
func ServicesIn(ctx context.Context, live client.Reader, namespace string) ([]intent.Service, error) {
	list := &corev1.ServiceList{}
	if err := live.List(ctx, list, client.InNamespace(namespace), client.Limit(maxServices)); err != nil {
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

// RunsOf lists the pods of a policy's assessments.
func RunsOf(ctx context.Context, c client.Reader, p intent.Policy) ([]intent.Run, error) {
	pods := &corev1.PodList{}
	if err := c.List(ctx, pods, client.InNamespace(p.Namespace), client.MatchingLabels{intent.LabelAssessment: intent.AssessmentTLS},
		client.UnsafeDisableDeepCopy); err != nil {
		return nil, err
	}
	var out []intent.Run
	for i := range pods.Items {
		if pod := &pods.Items[i]; pod.Annotations[intent.AnnotationPolicy] == p.Name {
			out = append(out, RunOf(pod))
		}
	}
	return out, nil
}

// RunOf reads how a pod of an assessment ended, or why it cannot start.
func RunOf(pod *corev1.Pod) intent.Run {
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
