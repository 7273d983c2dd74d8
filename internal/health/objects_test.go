// SPDX-License-Identifier: Apache-2.0

package health

import (
	"strings"
	"testing"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	intentv1alpha1 "github.com/nexus-operator/nexus-operator/api/intent/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

func TestRoleWithoutUsableTrustIsNotDone(t *testing.T) {
	ready := Health{Ready: true}
	for name, c := range map[string]struct {
		condition metav1.Condition
		want      Health
	}{
		"true": {metav1.Condition{Status: metav1.ConditionTrue, Reason: "Ready"}, ready},
		"missing": {metav1.Condition{Status: metav1.ConditionFalse, Reason: "OIDCProviderMissing", Message: "m"},
			Health{Ready: true, Stalled: true, Reason: "OIDCProviderMissing", Message: "m"}},
		"denied": {metav1.Condition{Status: metav1.ConditionUnknown, Reason: "AccessDenied", Message: "m"},
			Health{Ready: true, Stalled: true, Unknown: true, Reason: "AccessDenied", Message: "m"}},
		"passing": {metav1.Condition{Status: metav1.ConditionUnknown, Reason: "Retrying", Message: "m"},
			Health{Ready: true, Unknown: true, Reason: "Retrying", Message: "m"}},
	} {
		c.condition.Type = v1alpha1.ConditionOIDCProviderReady
		o := &v1alpha1.IAMRole{}
		o.Status.Conditions = []metav1.Condition{c.condition}
		if got := usableRole(o, ready); got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
		if got := usableRole(o, Health{Reason: "Progressing"}); got != (Health{Reason: "Progressing"}) {
			t.Errorf("%s: a role that is not ready says %+v", name, got)
		}
	}
}

func TestABindingIsFitForUseOnceItIsInForceAsItIsNow(t *testing.T) {
	condition := func(kind string, is metav1.ConditionStatus, reason string, generation int64) metav1.Condition {
		return metav1.Condition{Type: kind, Status: is, Reason: reason, Message: reason + "!", ObservedGeneration: generation}
	}
	ready := condition("Ready", metav1.ConditionTrue, "Ready", 4)
	for name, tc := range map[string]struct {
		conditions []metav1.Condition
		want       Health
	}{
		"in force":   {[]metav1.Condition{ready, condition("Enforced", metav1.ConditionTrue, "Enforced", 4)}, Health{Ready: true}},
		"never seen": {nil, Health{Reason: "Progressing", Message: "is being brought in line"}},
		"seen as it was": {[]metav1.Condition{condition("Ready", metav1.ConditionTrue, "Ready", 3),
			condition("Enforced", metav1.ConditionTrue, "Enforced", 3)}, Health{Reason: "Progressing", Message: "is being brought in line"}},
		"in force as it was": {[]metav1.Condition{ready, condition("Enforced", metav1.ConditionTrue, "Enforced", 3)},
			Health{Reason: "Progressing", Message: "its enforcement is not known yet"}},
		"nothing said of its force": {[]metav1.Condition{ready}, Health{Reason: "Progressing", Message: "its enforcement is not known yet"}},
		"an intent is missing": {[]metav1.Condition{condition("Ready", metav1.ConditionFalse, "IntentMissing", 4),
			condition("Reconciling", metav1.ConditionTrue, "IntentMissing", 4),
			condition("Enforced", metav1.ConditionTrue, "Enforced", 4)}, Health{Reason: "IntentMissing", Message: "IntentMissing!"}},
		"its selector is refused": {[]metav1.Condition{condition("Ready", metav1.ConditionFalse, "SelectorUnsupported", 4),
			condition("Stalled", metav1.ConditionTrue, "SelectorUnsupported", 4)},
			Health{Reason: "SelectorUnsupported", Message: "SelectorUnsupported!", Stalled: true}},
		"settled, and not in force": {[]metav1.Condition{ready, condition("Enforced", metav1.ConditionFalse, "NotEnforced", 4)},
			Health{Reason: "NotEnforced", Message: "NotEnforced!", Stalled: true}},
		"not in force, and work to do": {[]metav1.Condition{ready, condition("Reconciling", metav1.ConditionTrue, "Progressing", 4),
			condition("Enforced", metav1.ConditionFalse, "NotEnforced", 4)}, Health{Reason: "NotEnforced", Message: "NotEnforced!"}},
	} {
		b := &intentv1alpha1.SecurityIntentBinding{ObjectMeta: metav1.ObjectMeta{Generation: 4}}
		b.Status.Conditions = tc.conditions
		if got := bindingHealth(b); got != tc.want {
			t.Errorf("%s: got %+v, want %+v", name, got, tc.want)
		}
	}
}

func TestAutoscaler_ThatDoesNotScaleIsReadyAndSaysSo(t *testing.T) {
	type conditions = []autoscalingv2.HorizontalPodAutoscalerCondition
	const inactive = "the autoscaler does not scale (FailedGetResourceMetric): install the Kubernetes Metrics Server, or read kubectl describe hpa -n ns app"
	for name, tc := range map[string]struct {
		conditions conditions
		message    string
	}{
		"new": {nil, ""},
		"scales": {conditions{{Type: autoscalingv2.AbleToScale, Status: corev1.ConditionTrue},
			{Type: autoscalingv2.ScalingActive, Status: corev1.ConditionTrue}}, ""},
		"within its limits": {conditions{{Type: autoscalingv2.ScalingLimited, Status: corev1.ConditionFalse,
			Reason: "DesiredWithinRange"}}, ""},
		"without any replica": {conditions{{Type: autoscalingv2.ScalingActive, Status: corev1.ConditionFalse, Reason: "ScalingDisabled"}}, ""},
		"has no metrics": {conditions{{Type: autoscalingv2.ScalingActive, Status: corev1.ConditionFalse, Reason: "FailedGetResourceMetric",
			Message: "of 3 pods"}}, inactive},
		"cannot read the scale": {conditions{{Type: autoscalingv2.AbleToScale, Status: corev1.ConditionFalse, Reason: "FailedGetResourceMetric"}},
			inactive},
	} {
		a := &autoscalingv2.HorizontalPodAutoscaler{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "app"}}
		a.Status.Conditions = tc.conditions
		want := Health{Ready: true, Message: tc.message}
		if tc.message != "" {
			want.Reason = "AutoscalerInactive"
		}
		if got, err := (Reader{}).Of(t.Context(), a); err != nil || got != want {
			t.Errorf("%s: %+v %v, want %+v", name, got, err, want)
		}
	}
}

func TestBudget_ThatAllowsNoEvictionIsReadyAndSaysSo(t *testing.T) {
	for name, tc := range map[string]struct {
		status policyv1.PodDisruptionBudgetStatus
		reason string
	}{
		"one of one must stay": {policyv1.PodDisruptionBudgetStatus{ObservedGeneration: 1, ExpectedPods: 1, DesiredHealthy: 1,
			CurrentHealthy: 1}, status.ReasonEvictionsBlocked},
		"two of two must stay": {policyv1.PodDisruptionBudgetStatus{ObservedGeneration: 1, ExpectedPods: 2, DesiredHealthy: 2},
			status.ReasonEvictionsBlocked},
		"one of two may go": {policyv1.PodDisruptionBudgetStatus{ObservedGeneration: 1, ExpectedPods: 2, DesiredHealthy: 1,
			CurrentHealthy: 1}, ""},
		"no pods":                 {policyv1.PodDisruptionBudgetStatus{ObservedGeneration: 1}, ""},
		"counted before the edit": {policyv1.PodDisruptionBudgetStatus{ExpectedPods: 1, DesiredHealthy: 1}, ""},
	} {
		b := &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Generation: 1}, Status: tc.status}
		h, err := (Reader{}).Of(t.Context(), b)
		if err != nil || !h.Ready || h.Reason != tc.reason || (h.Reason != "") != strings.Contains(h.Message, "pdb.maxUnavailable: 1") {
			t.Errorf("%s: %+v, %v", name, h, err)
		}
	}
}
