// SPDX-License-Identifier: Apache-2.0

package inspect

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	intentv1alpha1 "github.com/nexus-operator/nexus-operator/api/intent/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/api/wellknown"
	"github.com/nexus-operator/nexus-operator/internal/health"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// waitingReasons are the reasons of objects that need another object first.
var waitingReasons = []string{status.ReasonWaiting, status.ReasonNotStarted, status.ReasonProviderMissing, status.ReasonProviderNotReady,
	status.ReasonProviderDeleting}

// NeedsAnother reports whether an object with the reason waits for another object, which then is the cause.
func NeedsAnother(reason string) bool { return slices.Contains(waitingReasons, reason) }

// notObserved is the reason of an object if the operator has not processed its present generation.
const notObserved = "NotObserved"

func compareNames(a, b *Node) int {
	return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
}

// nodes makes the nodes of objects, each with the health of its object.
type nodes struct {
	client client.Client
	health health.Reader
}

// of makes the node of an object alone, with its health.
func (ns nodes) of(ctx context.Context, gvk schema.GroupVersionKind, o client.Object) (*Node, error) {
	n := &Node{APIVersion: gvk.GroupVersion().String(), Kind: gvk.Kind, Namespace: o.GetNamespace(), Name: o.GetName(),
		Created: ptr.To(o.GetCreationTimestamp())}
	u, err := runtime.DefaultUnstructuredConverter.ToUnstructured(o)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", n.Title(), err)
	}
	conds := conditionsOf(&unstructured.Unstructured{Object: u})
	n.Resource = resourceOf(o)
	n.conditions, n.deleting = conds, o.GetDeletionTimestamp() != nil
	h, err := ns.healthOf(ctx, gvk, o, conds)
	switch {
	case apierrors.IsForbidden(err):
		n.Health, n.Reason, n.Message = Unknown, "Forbidden", err.Error()
	case err != nil:
		return nil, fmt.Errorf("judging %s: %w", n.Title(), err)
	default:
		n.ARN = h.ARN
		n.judge(h, o, conds)
		n.explainOwnState(o, u)
	}
	if IsOurs(gvk) || ns.client.Scheme().Recognizes(gvk) {
		n.addCode()
	}
	if d, ok := o.(*appsv1.Deployment); ok {
		n.Pods = fmt.Sprintf("%d/%d", d.Status.ReadyReplicas, ptr.Deref(d.Spec.Replicas, 1))
	}
	return n, nil
}

// addCode ends the message with the stable code of the reason, as the operator does in conditions. The reasons of an engine's
// objects are not those of the table.
func (n *Node) addCode() {
	if n.Health == Paused {
		return // the trouble before the pause is not the cause
	}
	n.Message = status.WithCode(n.Reason, n.Message, math.MaxInt)
	_, code := status.SplitCode(n.Message)
	n.Code = cmp.Or(code, status.CodeOf(n.Reason))
}

// healthOf uses the same checks as the operator. A capability, an intent and an object of an engine are judged by their own conditions.
func (ns nodes) healthOf(ctx context.Context, gvk schema.GroupVersionKind, o client.Object, conds []metav1.Condition) (health.Health,
	error) {
	switch o.(type) {
	case *nexusv1.NexusAICapability, *intentv1alpha1.SecurityIntent, *intentv1alpha1.ClusterSecurityIntentBinding,
		*intentv1alpha1.NimbusPolicy, *intentv1alpha1.ClusterNimbusPolicy:
		return health.OfConditions(conds, o.GetGeneration()), nil
	}
	if IsOurs(gvk) || ns.client.Scheme().Recognizes(gvk) {
		return ns.health.Of(ctx, o)
	}
	return ofOthers(conds), nil
}

// ofOthers judges an object of an engine: most have no conditions, and those that have say False when they are refused.
func ofOthers(conds []metav1.Condition) health.Health {
	if c := meta.FindStatusCondition(conds, status.Ready); c != nil && c.Status == metav1.ConditionFalse {
		return health.Health{Reason: c.Reason, Message: c.Message}
	}
	return health.Health{Ready: true}
}

// judge puts a health in one word.
func (n *Node) judge(h health.Health, o client.Object, conds []metav1.Condition) {
	n.Reason, n.Message = h.Reason, h.Message
	switch {
	case !h.Ready && isPaused(h, o, conds): // also where it failed before: nothing is tried again
		n.Health = Paused
	case NeedsAnother(h.Reason) && !h.Ready: // also where it is a failure: the other object is the cause
		n.Health = Waiting
	case h.Unknown:
		n.Health = Unknown
	case h.Stalled:
		n.Health = Failed
	case o.GetDeletionTimestamp() != nil:
		n.Health = Deleting
		n.Reason, n.Message = cmp.Or(n.Reason, status.ReasonDeleting), cmp.Or(n.Message, "it is being deleted")
	case h.Ready:
		n.Health = Ready
	default:
		n.Health = Progressing
	}
}

// isPaused reports whether a person froze the object.
func isPaused(h health.Health, o client.Object, conds []metav1.Condition) bool {
	return h.Reason == status.ReasonPaused || o.GetAnnotations()[wellknown.AnnotationPaused] == "true" ||
		meta.IsStatusConditionTrue(conds, status.Paused)
}

// explainUse takes over the report of an object in deletion about its users.
func (n *Node) explainUse() {
	c := meta.FindStatusCondition(n.conditions, status.ReasonInUse)
	if c != nil && c.Status == metav1.ConditionTrue && n.Reason == status.ReasonDeleting {
		n.Reason, n.Message = c.Reason, c.Message
	}
}

// explainOwnState adds facts about an object of ours that its health does not have: that it is paused, that the operator has not processed
// it, that others use it, and its ARN.
func (n *Node) explainOwnState(o client.Object, u map[string]any) {
	if !IsOurs(n.gvk()) {
		return
	}
	observed, found, _ := unstructured.NestedInt64(u, "status", "observedGeneration")
	if n.Health == Paused && n.Reason != status.ReasonPaused {
		before := strings.TrimSuffix(n.Reason+": "+n.Message, ": ")
		n.Reason, n.Message = status.ReasonPaused,
			"annotation "+wellknown.AnnotationPaused+" freezes the object, and every object that it made; before that it was not ready: "+before
		return
	}
	if n.Health == Progressing && (!found || observed < o.GetGeneration()) {
		n.Reason, n.Message = notObserved, fmt.Sprintf("the operator has not processed generation %d of %s yet", o.GetGeneration(), n.Title())
	}
	n.explainUse()
	if res, ok := o.(v1alpha1.Resource); ok && n.ARN == "" {
		n.ARN = cmp.Or(res.CommonStatus().ARN, res.CommonStatus().ID)
	}
	n.Message = strings.TrimSpace(n.Message)
}
