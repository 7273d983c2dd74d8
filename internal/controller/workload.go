package controller

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	intentv1alpha1 "github.com/nexus-operator/nexus-operator/api/intent/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// health is what became of one child.
type health struct {
	ready           bool
	reason, message string
	// stalled says that only a person can help.
	stalled bool
	arn     string
}

// healthOf reads a child's own status. Kinds without one are fit for use once they are applied.
func (r *Capability) healthOf(ctx context.Context, o client.Object) (health, error) {
	switch o := o.(type) {
	case *v1alpha1.AWSProvider:
		return ofConditions(o.Status.Conditions, o.Generation), nil
	case v1alpha1.Resource:
		st := o.CommonStatus()
		h := ofConditions(st.Conditions, o.GetGeneration())
		h.arn = st.ARN
		return h, nil
	case *appsv1.Deployment:
		return r.deployment(ctx, o)
	case *corev1.Service:
		if o.Spec.Type == corev1.ServiceTypeLoadBalancer && len(o.Status.LoadBalancer.Ingress) == 0 {
			return health{reason: status.ReasonProgressing, message: "the load balancer has no address yet"}, nil
		}
	case *networkingv1.Ingress:
		return r.ingress(ctx, o)
	case *intentv1alpha1.SecurityIntentBinding:
		return policyHealth(o), nil
	case *corev1.Namespace:
		if o.Status.Phase == corev1.NamespaceTerminating {
			return health{reason: status.ReasonDeleting, message: "the namespace is being deleted"}, nil
		}
	}
	return health{ready: true}, nil
}

// ofConditions reads the conditions that every kind of ours reports. What they said of an earlier
// generation is not believed.
func ofConditions(conds []metav1.Condition, generation int64) health {
	h := health{reason: status.ReasonProgressing, message: "is being brought in line"}
	c := meta.FindStatusCondition(conds, status.Ready)
	if c == nil || c.ObservedGeneration != generation {
		return h
	}
	if c.Status == metav1.ConditionTrue {
		h = health{ready: true}
		// A failure that passes leaves Ready as it was; who looks at the capability is to know of it.
		if trying := meta.FindStatusCondition(conds, status.Reconciling); trying != nil && trying.Status == metav1.ConditionTrue {
			h.reason, h.message = trying.Reason, trying.Message
		}
		return h
	}
	return health{reason: c.Reason, message: c.Message, stalled: meta.IsStatusConditionTrue(conds, status.Stall)}
}

func (r *Capability) deployment(ctx context.Context, d *appsv1.Deployment) (health, error) {
	want := int32(1)
	if d.Spec.Replicas != nil {
		want = *d.Spec.Replicas
	}
	st := d.Status
	if rolledOut(d, want) {
		return health{ready: true}, nil
	}
	pods := &corev1.PodList{}
	if err := r.Client.List(ctx, pods, client.InNamespace(d.Namespace), client.MatchingLabels(d.Spec.Selector.MatchLabels)); err != nil {
		return health{}, err
	}
	for i := range pods.Items {
		if h, sick := r.sickPod(&pods.Items[i]); sick {
			h.stalled = h.stalled || h.reason == status.ReasonProbeFailing && overdue(d)
			return h, nil
		}
	}
	for _, c := range st.Conditions {
		if c.Type == appsv1.DeploymentReplicaFailure && c.Status == corev1.ConditionTrue {
			return health{reason: status.ReasonPodsRefused, stalled: true, message: "its pods are refused: " +
				strings.TrimRight(status.Bound(c.Message, 512), ".") + "; raise the quota, or change what refuses them"}, nil
		}
	}
	return health{reason: status.ReasonProgressing, message: fmt.Sprintf("%d of %d replicas are available", min(st.AvailableReplicas, want), want)}, nil
}

// rolledOut says whether every replica is of the newest template, is available, and is the only one.
func rolledOut(d *appsv1.Deployment, want int32) bool {
	st := d.Status
	return st.ObservedGeneration >= d.Generation && st.UpdatedReplicas >= want && st.AvailableReplicas >= want && st.Replicas == st.UpdatedReplicas
}

// overdue says whether the rollout took longer than its progressDeadlineSeconds.
func overdue(d *appsv1.Deployment) bool {
	return slices.ContainsFunc(d.Status.Conditions, func(c appsv1.DeploymentCondition) bool {
		return c.Type == appsv1.DeploymentProgressing && c.Reason == "ProgressDeadlineExceeded"
	})
}

// sickPod finds what keeps a pod from becoming ready, with what to do about it. Pods on their way out
// say nothing of the workload.
func (r *Capability) sickPod(p *corev1.Pod) (health, bool) {
	if p.DeletionTimestamp != nil {
		return health{}, false
	}
	for _, c := range p.Status.Conditions {
		if c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse && c.Reason == corev1.PodReasonUnschedulable {
			return health{reason: status.ReasonUnschedulable, message: "a pod finds no node: " + strings.TrimRight(status.Bound(c.Message, 512), ".") +
				"; add nodes or lower its requests"}, true
		}
	}
	for _, c := range append(slices.Clone(p.Status.InitContainerStatuses), p.Status.ContainerStatuses...) {
		if h, sick := r.sickContainer(c); sick {
			return h, true
		}
	}
	return health{}, false
}

// slowStart is how long a container that runs may take to answer its readiness probe before that is told.
const slowStart = 10 * time.Second

func (r *Capability) sickContainer(c corev1.ContainerStatus) (health, bool) {
	w, running := c.State.Waiting, c.State.Running
	switch {
	case w != nil && w.Reason == "CrashLoopBackOff", !c.Ready && c.RestartCount > 1 && c.LastTerminationState.Terminated != nil:
		// Between two crashes it runs for a moment; that is no reason to say anything else.
		return health{reason: status.ReasonCrashLoop, stalled: true, message: fmt.Sprintf(
			"container %s keeps crashing%s: see kubectl logs --previous", c.Name, exitCode(c))}, true
	case w != nil:
		return cannotStart(c, w)
	case running != nil && !c.Ready && r.Clock.Now().Sub(running.StartedAt.Time) > slowStart:
		return health{reason: status.ReasonProbeFailing, message: fmt.Sprintf(
			"container %s runs and is not ready: its readiness probe fails; check the probe's path and port, and kubectl logs", c.Name)}, true
	default:
		return health{}, false
	}
}

func exitCode(c corev1.ContainerStatus) string {
	if t := c.LastTerminationState.Terminated; t != nil {
		return fmt.Sprintf(" (exit code %d)", t.ExitCode)
	}
	return ""
}

func cannotStart(c corev1.ContainerStatus, w *corev1.ContainerStateWaiting) (health, bool) {
	switch w.Reason {
	case "ImagePullBackOff", "ErrImagePull", "InvalidImageName":
		return health{reason: status.ReasonImagePull, stalled: true, message: fmt.Sprintf(
			"image %s cannot be pulled: push it, or check its name and the nodes' right to pull it", c.Image)}, true
	case "CreateContainerConfigError", "CreateContainerError":
		if strings.Contains(w.Message, "run as root") || strings.Contains(w.Message, "runAsNonRoot") {
			return health{reason: status.ReasonImageRunsAsRoot, stalled: true, message: fmt.Sprintf(
				"image %s runs as root, which Pod Security restricted forbids: give it a numeric USER", c.Image)}, true
		}
		return health{reason: w.Reason, stalled: true, message: fmt.Sprintf("container %s cannot start: %s", c.Name, status.Bound(w.Message, 256))}, true
	default:
		return health{}, false
	}
}

// ingress is ready when it has an address; without its class no controller will ever give it one.
func (r *Capability) ingress(ctx context.Context, i *networkingv1.Ingress) (health, error) {
	if len(i.Status.LoadBalancer.Ingress) > 0 {
		return health{ready: true}, nil
	}
	name := "alb"
	if i.Spec.IngressClassName != nil {
		name = *i.Spec.IngressClassName
	}
	err := r.Client.Get(ctx, client.ObjectKey{Name: name}, &networkingv1.IngressClass{})
	if apierrors.IsNotFound(err) {
		return health{reason: status.ReasonIngressClassMissing, stalled: true, message: fmt.Sprintf(
			"there is no IngressClass %s: install the AWS Load Balancer Controller, or set ingress.enabled: false", name)}, nil
	}
	return health{reason: status.ReasonProgressing, message: "the load balancer has no address yet"}, err
}
