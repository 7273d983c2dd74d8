// SPDX-License-Identifier: Apache-2.0

package health

import (
	"cmp"
	"context"
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/clock"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	intentv1alpha1 "github.com/nexus-operator/nexus-operator/api/intent/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/clusterfacts"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// Health is the judgment of an object.
type Health struct {
	// Ready is true when the object is fit for use.
	Ready bool
	// Present is true when everything that the object declares exists in AWS, perhaps with earlier values.
	Present bool
	// Reason and Message say why the object is not ready and how to correct it, or name a problem of one that is.
	Reason, Message string
	// Stalled is true when only a person can help.
	Stalled bool
	// Unknown is true when it cannot be determined whether the object is ready.
	Unknown bool
	// Serving is true when the earlier declared state still works.
	Serving bool
	// NoCredentials says how many of the pods that run got no AWS credentials, as "1 of 2 pods"; empty for none of them.
	NoCredentials string
	// ARN of the AWS resource, once known.
	ARN string
	// Runs reports the runs of a Job or a CronJob; nil for other kinds.
	Runs *nexusv1.RunStatus
}

// Reader judges objects by their status and by related objects that it reads: pods of Deployments, IngressClasses, Gateways and their
// classes.
type Reader struct {
	Client client.Reader
	// Live reads Nodes, which Client may not cache; nil is Client.
	Live client.Reader
	// AutoMode asks EKS about EKS Auto Mode; nil leaves it to the nodes.
	AutoMode clusterfacts.AutoMode
	Clock    clock.PassiveClock
}

// Of reads an object's own status. Kinds without one are fit for use once they exist.
func (r Reader) Of(ctx context.Context, o client.Object) (Health, error) {
	switch o := o.(type) {
	case *v1alpha1.AWSProvider:
		return OfConditions(o.Status.Conditions, o.Generation), nil
	case v1alpha1.Resource:
		return resourceHealth(o), nil
	case *appsv1.Deployment:
		return r.deployment(ctx, o)
	case *batchv1.Job:
		return r.job(ctx, o)
	case *batchv1.CronJob:
		return r.cronJob(ctx, o)
	case *corev1.Service:
		return r.service(ctx, o)
	case *networkingv1.Ingress:
		return r.ingress(ctx, o)
	case *intentv1alpha1.SecurityIntentBinding:
		return bindingHealth(o), nil
	case *corev1.Pod:
		return r.OfPod(o), nil
	case *unstructured.Unstructured:
		return r.ofUnstructured(ctx, o)
	default:
		return byItself(o), nil
	}
}

// byItself is the health of an object that tells it in its own status, and of one that has no status.
func byItself(o client.Object) Health {
	switch o := o.(type) {
	case *corev1.ResourceQuota:
		return quotaHealth(o)
	case *autoscalingv2.HorizontalPodAutoscaler:
		return autoscalerHealth(o)
	case *policyv1.PodDisruptionBudget:
		return budgetHealth(o)
	case *corev1.Namespace:
		if o.Status.Phase == corev1.NamespaceTerminating {
			return Health{Reason: status.ReasonDeleting, Message: "the namespace is being deleted"}
		}
	}
	return Health{Ready: true}
}

// resourceHealth is the health of an object that represents something in AWS.
func resourceHealth(o v1alpha1.Resource) Health {
	st := o.CommonStatus()
	h := usableRole(o, OfConditions(st.Conditions, o.GetGeneration()))
	h.ARN = st.ARN
	if set, ok := o.(*v1alpha1.SSMParameterSet); ok {
		h.Present = !h.Stalled && allExist(set)
	}
	return h
}

// quotaHealth is ready once the quota is counted: until then the API server refuses every pod of the namespace.
func quotaHealth(q *corev1.ResourceQuota) Health {
	if equality.Semantic.DeepEqual(q.Spec.Hard, q.Status.Hard) {
		return Health{Ready: true}
	}
	return Health{Reason: status.ReasonProgressing, Message: "the limits are not in force yet"}
}

// autoscalerHealth is ready in any case: pods serve without their autoscaler. One that does not scale says so. The message
// has the reason of Kubernetes alone, because its text changes from one attempt to the next.
// https://kubernetes.io/docs/tasks/run-application/horizontal-pod-autoscale-walkthrough/#appendix-horizontal-pod-autoscaler-status-conditions
func autoscalerHealth(a *autoscalingv2.HorizontalPodAutoscaler) Health {
	h := Health{Ready: true}
	for _, c := range a.Status.Conditions {
		// disabled: a person set 0 replicas
		if c.Status != corev1.ConditionFalse || c.Type == autoscalingv2.ScalingLimited || c.Reason == "ScalingDisabled" {
			continue
		}
		h.Reason = status.ReasonAutoscalerInactive
		h.Message = fmt.Sprintf("the autoscaler does not scale (%s): install the Kubernetes Metrics Server, or read kubectl describe hpa -n %s %s", c.Reason, a.Namespace, a.Name)
	}
	return h
}

// budgetHealth is ready in any case. A budget that can never allow an eviction, however healthy the pods are, says so: drains of nodes,
// which upgrades and Karpenter make, wait for it without end.
// https://kubernetes.io/docs/tasks/run-application/configure-pdb/
func budgetHealth(b *policyv1.PodDisruptionBudget) Health {
	h, st := Health{Ready: true}, b.Status
	if st.ObservedGeneration == b.Generation && st.ExpectedPods > 0 && st.DesiredHealthy >= st.ExpectedPods {
		h.Reason = status.ReasonEvictionsBlocked
		h.Message = fmt.Sprintf("it wants %d of %d pods to stay, so that no pod can be evicted and the drain of a node never ends: declare more replicas, or pdb.maxUnavailable: 1 in place of pdb.minAvailable",
			st.DesiredHealthy, st.ExpectedPods)
	}
	return h
}

// allExist reports whether each declared parameter was observed to exist as the set's own.
func allExist(set *v1alpha1.SSMParameterSet) bool {
	for name := range set.Spec.Parameters {
		if set.Status.Versions[name] == 0 {
			return false
		}
	}
	return true
}

// OfRole is the health of a role, with whether pods can get its credentials.
func OfRole(o *v1alpha1.IAMRole) Health { return resourceHealth(o) }

// usableRole reads of a role that is as declared whether pods can get its credentials. Other children do not wait for
// that: pods get the credentials as soon as it is repaired.
func usableRole(o v1alpha1.Resource, h Health) Health {
	c := meta.FindStatusCondition(o.CommonStatus().Conditions, v1alpha1.ConditionOIDCProviderReady)
	if !h.Ready || c == nil || c.Status == metav1.ConditionTrue {
		return h
	}
	h.Reason, h.Message = c.Reason, c.Message
	h.Stalled, h.Unknown = c.Reason != status.ReasonRetrying, c.Status == metav1.ConditionUnknown
	return h
}

// OfConditions reads the conditions that every kind of ours reports. Conditions of an earlier generation do not count.
func OfConditions(conds []metav1.Condition, generation int64) Health {
	h := Health{Reason: status.ReasonProgressing, Message: "is being brought in line"}
	c := meta.FindStatusCondition(conds, status.Ready)
	if c == nil || c.ObservedGeneration != generation {
		return h
	}
	if c.Status == metav1.ConditionTrue {
		h = Health{Ready: true}
		// A failure that passes leaves Ready as it was; who looks at the capability is to know of it.
		if trying := meta.FindStatusCondition(conds, status.Reconciling); trying != nil && trying.Status == metav1.ConditionTrue {
			h.Reason, h.Message = trying.Reason, trying.Message
		}
		return h
	}
	return Health{Reason: c.Reason, Message: c.Message, Stalled: meta.IsStatusConditionTrue(conds, status.Stall)}
}

// service is ready when its load balancer, if it has one, has an address. Without the controller's IngressClass nothing
// in the cluster is known to give it one, unless EKS Auto Mode does; another load balancer takes less than slowAddress.
func (r Reader) service(ctx context.Context, s *corev1.Service) (Health, error) {
	if s.Spec.Type != corev1.ServiceTypeLoadBalancer || len(s.Status.LoadBalancer.Ingress) > 0 {
		return Health{Ready: true}, nil
	}
	err := r.Client.Get(ctx, client.ObjectKey{Name: "alb"}, &networkingv1.IngressClass{})
	if apierrors.IsNotFound(err) && r.Clock.Now().Sub(s.CreationTimestamp.Time) > slowAddress {
		auto, err := r.hasAutoMode(ctx)
		if err != nil {
			return Health{}, err
		}
		if !auto {
			return Health{Reason: status.ReasonControllerMissing, Stalled: true,
				Message: "the load balancer has no address and the cluster has no IngressClass alb: " +
					"install the AWS Load Balancer Controller, or set service.type: ClusterIP"}, nil
		}
	}
	return Health{Reason: status.ReasonProgressing, Message: "the load balancer has no address yet"}, client.IgnoreNotFound(err)
}

// slowAddress bounds the time that a load balancer without AWS takes to give a Service its address.
const slowAddress = 10 * time.Second

// ingress is ready when it has an address; without its class no controller will ever give it one.
func (r Reader) ingress(ctx context.Context, i *networkingv1.Ingress) (Health, error) {
	if len(i.Status.LoadBalancer.Ingress) > 0 {
		return Health{Ready: true}, nil
	}
	name := "alb"
	if i.Spec.IngressClassName != nil {
		name = *i.Spec.IngressClassName
	}
	err := r.Client.Get(ctx, client.ObjectKey{Name: name}, &networkingv1.IngressClass{})
	if apierrors.IsNotFound(err) {
		auto, err := r.hasAutoMode(ctx)
		if err != nil {
			return Health{}, err
		}
		remedy := "install the AWS Load Balancer Controller"
		if auto {
			remedy = "create it with controller " + clusterfacts.BalancerController + ", because EKS Auto Mode creates the load balancers"
		}
		return Health{Reason: status.ReasonIngressClassMissing, Stalled: true, Message: fmt.Sprintf(
			"there is no IngressClass %s: %s, or set ingress.enabled: false", name, remedy)}, nil
	}
	return Health{Reason: status.ReasonProgressing, Message: "the load balancer has no address yet"}, err
}

// hasAutoMode reports whether EKS Auto Mode, which creates load balancers without another controller, is enabled in the cluster.
func (r Reader) hasAutoMode(ctx context.Context) (bool, error) {
	return clusterfacts.HasAutoMode(ctx, r.nodes(), r.AutoMode)
}

// bindingHealth is the health of a binding: it is fit for use once the intents that it names are in force. A binding that the operator has
// processed and that is not in force needs a person: an engine to be installed, or an intent to be changed.
func bindingHealth(b *intentv1alpha1.SecurityIntentBinding) Health {
	conds := b.Status.Conditions
	h := OfConditions(conds, b.Generation)
	if !h.Ready {
		return h
	}
	c := meta.FindStatusCondition(conds, intentv1alpha1.ConditionEnforced)
	switch {
	case c == nil || c.ObservedGeneration != b.Generation:
		return Health{Reason: status.ReasonProgressing, Message: "its enforcement is not known yet"}
	case c.Status == metav1.ConditionTrue:
		return h
	default:
		return Health{Reason: cmp.Or(c.Reason, status.ReasonNotEnforced), Message: c.Message,
			Stalled: !meta.IsStatusConditionTrue(conds, status.Reconciling)}
	}
}

// OfIngressInDeletion reports that an Ingress in deletion waits for a load balancer controller that no longer exists and so never releases
// it.
func (r Reader) OfIngressInDeletion(ctx context.Context, i *networkingv1.Ingress) (Health, error) {
	if i.DeletionTimestamp == nil || len(i.Finalizers) == 0 {
		return Health{}, nil
	}
	err := r.Client.Get(ctx, client.ObjectKey{Name: ptr.Deref(i.Spec.IngressClassName, "alb")}, &networkingv1.IngressClass{})
	if !apierrors.IsNotFound(err) {
		return Health{}, err
	}
	return Health{Reason: status.ReasonIngressControllerGone, Stalled: true, Message: fmt.Sprintf(
		"finalizers %v hold it and the load balancer controller is gone: install it again, or remove the finalizers and delete the load balancer in AWS by hand", i.Finalizers)}, nil
}
