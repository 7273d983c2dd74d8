// SPDX-License-Identifier: Apache-2.0

package health

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/nexus-operator/nexus-operator/internal/status"
)

// ofNewestTemplate returns the pods of the template that is being rolled out: an edit may just have repaired the problem of earlier pods.
// The newest pod names the template by its hash; among pods of one second, those that run the template's images come first. Without a hash
// all pods stay, newest first.
func ofNewestTemplate(d *appsv1.Deployment, pods []corev1.Pod) []corev1.Pod {
	pods = slices.Clone(pods)
	slices.SortFunc(pods, func(a, b corev1.Pod) int {
		return cmp.Or(b.CreationTimestamp.Compare(a.CreationTimestamp.Time), cmp.Compare(foreignImages(d, a), foreignImages(d, b)),
			cmp.Compare(a.Name, b.Name))
	})
	if len(pods) == 0 {
		return nil
	}
	hash := pods[0].Labels[appsv1.DefaultDeploymentUniqueLabelKey]
	return slices.DeleteFunc(pods, func(p corev1.Pod) bool { return p.Labels[appsv1.DefaultDeploymentUniqueLabelKey] != hash })
}

// foreignImages counts the containers of a pod's specification that run another image than the Deployment's template says.
func foreignImages(d *appsv1.Deployment, p corev1.Pod) int {
	n := 0
	for _, c := range d.Spec.Template.Spec.Containers {
		if slices.ContainsFunc(p.Spec.Containers, func(o corev1.Container) bool { return o.Name == c.Name && o.Image != c.Image }) {
			n++
		}
	}
	return n
}

// annotationIdentity on pods is the mode of their credentials, where that is not IRSA.
const annotationIdentity = "nexus.ai/identity-mode"

// RolledOutWithCredentials reports whether every replica is of the newest template, and none that runs lacks the credentials
// that its template is for.
func RolledOutWithCredentials(d *appsv1.Deployment, pods []corev1.Pod) bool {
	lacks := func(p corev1.Pod) bool { return !hasCredentialEnv(d, p) }
	return rolledOut(d, neededReplicas(d)) && !slices.ContainsFunc(runningPods(pods), lacks)
}

// lackCredentials says how many of the running pods have no way to AWS credentials, as "1 of 2 pods"; empty where all have one. A pod needs
// the token and role that the EKS pod identity webhook adds for the ServiceAccount's annotation, or the address of the EKS Pod Identity
// agent. Pods that are started for the agent need its address. The webhook may fail for some pods and serve others.
// https://docs.aws.amazon.com/eks/latest/userguide/pod-configuration.html
func lackCredentials(d *appsv1.Deployment, pods []corev1.Pod) string {
	running := runningPods(pods)
	lacking := 0
	for _, p := range running {
		if !hasCredentialEnv(d, p) {
			lacking++
		}
	}
	if lacking == 0 {
		return ""
	}
	return fmt.Sprintf("%d of %d pods", lacking, len(running))
}

// Credentials are the pods of a Deployment's newest template that are to stay, by whether they have a way to AWS credentials.
type Credentials struct {
	Have, Lack []corev1.Pod
}

// CredentialsOf sorts the pods of a Deployment. Those of an earlier template, and those that end, say nothing of how new pods start. Pods
// are of the Deployment by their controller, whatever their labels say.
func CredentialsOf(d *appsv1.Deployment, pods []corev1.Pod) Credentials {
	var out Credentials
	for _, p := range ofNewestTemplate(d, slices.DeleteFunc(slices.Clone(pods), func(p corev1.Pod) bool { return !isMadeBy(d, p) })) {
		switch {
		case p.DeletionTimestamp != nil || p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed:
		case p.Annotations[annotationIdentity] != d.Spec.Template.Annotations[annotationIdentity]:
		case hasCredentialEnv(d, p):
			out.Have = append(out.Have, p)
		default:
			out.Lack = append(out.Lack, p)
		}
	}
	return out
}

// isMadeBy reports whether a ReplicaSet of the Deployment made the pod. The names of its ReplicaSets end with the hash of the template.
func isMadeBy(d *appsv1.Deployment, p corev1.Pod) bool {
	owner, hash := metav1.GetControllerOf(&p), p.Labels[appsv1.DefaultDeploymentUniqueLabelKey]
	return hash != "" && owner != nil && owner.Kind == "ReplicaSet" && owner.Name == d.Name+"-"+hash
}

// WasInjected reports whether something in the cluster gave the pod credentials when it started: the pods of capabilities declare neither a
// token nor the address of an agent.
func WasInjected(p corev1.Pod) bool {
	return hasCredentialEnv(&appsv1.Deployment{}, p) && !hasEnv(&appsv1.Deployment{}, p, "AWS_ACCESS_KEY_ID")
}

// hasEnv reports whether the containers of the Deployment's template have a variable in a pod. Containers from other sources, such as a
// proxy, do not count, unless nothing is known of the template.
func hasEnv(d *appsv1.Deployment, p corev1.Pod, name string) bool {
	lacks := func(c corev1.Container) bool {
		return !slices.ContainsFunc(c.Env, func(e corev1.EnvVar) bool { return e.Name == name })
	}
	own := slices.DeleteFunc(slices.Clone(p.Spec.Containers), func(c corev1.Container) bool {
		return !slices.ContainsFunc(d.Spec.Template.Spec.Containers, func(of corev1.Container) bool { return of.Name == c.Name })
	})
	if len(own) == 0 {
		return slices.ContainsFunc(p.Spec.Containers, func(c corev1.Container) bool { return !lacks(c) })
	}
	return !slices.ContainsFunc(own, lacks)
}

func runningPods(pods []corev1.Pod) []corev1.Pod {
	return slices.DeleteFunc(slices.Clone(pods), func(p corev1.Pod) bool {
		return p.DeletionTimestamp != nil || p.Status.Phase != corev1.PodRunning
	})
}

func hasCredentialEnv(d *appsv1.Deployment, p corev1.Pod) bool {
	has := func(name string) bool { return hasEnv(d, p, name) }
	if has("AWS_CONTAINER_CREDENTIALS_FULL_URI") || has("AWS_ACCESS_KEY_ID") {
		return true
	}
	token := slices.ContainsFunc(p.Spec.Volumes, func(v corev1.Volume) bool {
		return v.Projected != nil &&
			slices.ContainsFunc(v.Projected.Sources, func(s corev1.VolumeProjection) bool { return s.ServiceAccountToken != nil })
	})
	return d.Spec.Template.Annotations[annotationIdentity] == "" && has("AWS_ROLE_ARN") && token
}

// OfPod judges one pod: it is ready, sick, or on its way.
func (r Reader) OfPod(p *corev1.Pod) Health {
	if p.DeletionTimestamp != nil {
		return Health{Reason: status.ReasonDeleting, Message: "the pod is being deleted"}
	}
	if isReady(p) || p.Status.Phase == corev1.PodSucceeded {
		return Health{Ready: true}
	}
	if h, sick := r.sickPod(p); sick {
		return h
	}
	return Health{Reason: status.ReasonProgressing, Message: "the pod is starting"}
}

// sickPod finds why a pod does not become ready, with a remedy. Pods in deletion say nothing about the workload.
func (r Reader) sickPod(p *corev1.Pod) (Health, bool) {
	if p.DeletionTimestamp != nil {
		return Health{}, false
	}
	for _, c := range p.Status.Conditions {
		if c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse && c.Reason == corev1.PodReasonUnschedulable {
			return Health{Reason: status.ReasonUnschedulable,
				Message: "a pod finds no node: " + strings.TrimRight(status.Truncate(c.Message, 512), ".") +
					"; add nodes or lower its requests"}, true
		}
	}
	for _, c := range append(slices.Clone(p.Status.InitContainerStatuses), p.Status.ContainerStatuses...) {
		if h, sick := r.sickContainer(c); sick {
			if h.Reason == status.ReasonImagePull {
				h.Message += pullSecretsOf(p)
			}
			return h, true
		}
	}
	return Health{}, false
}

// slowStart is the time that a running container has to answer its readiness probe before the status reports it.
const slowStart = 10 * time.Second

func (r Reader) sickContainer(c corev1.ContainerStatus) (Health, bool) {
	w, running := c.State.Waiting, c.State.Running
	switch {
	case w != nil && w.Reason == "CrashLoopBackOff", !c.Ready && c.RestartCount > 1 && c.LastTerminationState.Terminated != nil:
		// Between two crashes it runs for a moment; the status still reports the crashes.
		return Health{Reason: status.ReasonCrashLoop, Stalled: true, Message: fmt.Sprintf(
			"container %s keeps crashing%s: see kubectl logs --previous", c.Name, exitCode(c))}, true
	case w != nil:
		return cannotStart(c, w)
	case running != nil && !c.Ready && r.Clock.Now().Sub(running.StartedAt.Time) > slowStart:
		return Health{Reason: status.ReasonProbeFailing, Message: fmt.Sprintf(
			"container %s runs and is not Ready: its readiness probe fails; check the probe's path and port, and kubectl logs", c.Name)}, true
	default:
		return Health{}, false
	}
}

func exitCode(c corev1.ContainerStatus) string {
	if t := c.LastTerminationState.Terminated; t != nil {
		return fmt.Sprintf(" (exit code %d)", t.ExitCode)
	}
	return ""
}

// pullSecretsOf asks to check the Secrets that an image is pulled with. The kubelet ignores one that does not exist, and the operator has
// no right to look.
func pullSecretsOf(p *corev1.Pod) string {
	var names []string
	for _, s := range p.Spec.ImagePullSecrets {
		names = append(names, s.Name)
	}
	if len(names) == 0 {
		return ""
	}
	return "; check that its imagePullSecrets exist in namespace " + p.Namespace + " and are valid: " + strings.Join(names, ", ")
}

func cannotStart(c corev1.ContainerStatus, w *corev1.ContainerStateWaiting) (Health, bool) {
	switch w.Reason {
	case "ImagePullBackOff", "ErrImagePull", "InvalidImageName":
		return Health{Reason: status.ReasonImagePull, Stalled: true, Message: fmt.Sprintf(
			"image %s cannot be pulled: push it, or check its name and the nodes' right to pull it", c.Image)}, true
	case "CreateContainerConfigError", "CreateContainerError":
		if strings.Contains(w.Message, "non-numeric user") {
			return Health{Reason: status.ReasonImageUserNotNumeric, Stalled: true, Message: fmt.Sprintf(
				"image %s names its user, so that Kubernetes cannot see whether it is root: give it a numeric USER, such as 65532", c.Image)}, true
		}
		if strings.Contains(w.Message, "run as root") || strings.Contains(w.Message, "runAsNonRoot") {
			return Health{Reason: status.ReasonImageRunsAsRoot, Stalled: true, Message: fmt.Sprintf(
				"image %s runs as root, which Pod Security restricted forbids: give it a numeric USER", c.Image)}, true
		}
		return Health{Reason: w.Reason, Stalled: true,
			Message: fmt.Sprintf("container %s cannot start: %s", c.Name, status.Truncate(w.Message, 256))}, true
	default:
		return Health{}, false
	}
}
