package controller

import (
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	intentv1alpha1 "github.com/nexus-operator/nexus-operator/api/intent/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
)

func TestABindingIsFitForUseOnceItIsInForceAsItIsNow(t *testing.T) {
	condition := func(kind string, is metav1.ConditionStatus, reason string, generation int64) metav1.Condition {
		return metav1.Condition{Type: kind, Status: is, Reason: reason, Message: reason + "!", ObservedGeneration: generation}
	}
	ready := condition("Ready", metav1.ConditionTrue, "Ready", 4)
	for name, tc := range map[string]struct {
		conditions []metav1.Condition
		want       health
	}{
		"in force":                  {[]metav1.Condition{ready, condition("Enforced", metav1.ConditionTrue, "Enforced", 4)}, health{ready: true}},
		"never seen":                {nil, health{reason: "Progressing", message: "is being brought in line"}},
		"seen as it was":            {[]metav1.Condition{condition("Ready", metav1.ConditionTrue, "Ready", 3), condition("Enforced", metav1.ConditionTrue, "Enforced", 3)}, health{reason: "Progressing", message: "is being brought in line"}},
		"in force as it was":        {[]metav1.Condition{ready, condition("Enforced", metav1.ConditionTrue, "Enforced", 3)}, health{reason: "Progressing", message: "its enforcement is not known yet"}},
		"nothing said of its force": {[]metav1.Condition{ready}, health{reason: "Progressing", message: "its enforcement is not known yet"}},
		"an intent is missing": {[]metav1.Condition{condition("Ready", metav1.ConditionFalse, "IntentMissing", 4), condition("Reconciling", metav1.ConditionTrue, "IntentMissing", 4),
			condition("Enforced", metav1.ConditionTrue, "Enforced", 4)}, health{reason: "IntentMissing", message: "IntentMissing!"}},
		"its selector is refused": {[]metav1.Condition{condition("Ready", metav1.ConditionFalse, "SelectorUnsupported", 4), condition("Stalled", metav1.ConditionTrue, "SelectorUnsupported", 4)},
			health{reason: "SelectorUnsupported", message: "SelectorUnsupported!", stalled: true}},
		"settled, and not in force":    {[]metav1.Condition{ready, condition("Enforced", metav1.ConditionFalse, "NotEnforced", 4)}, health{reason: "NotEnforced", message: "NotEnforced!", stalled: true}},
		"not in force, and work to do": {[]metav1.Condition{ready, condition("Reconciling", metav1.ConditionTrue, "Progressing", 4), condition("Enforced", metav1.ConditionFalse, "NotEnforced", 4)}, health{reason: "NotEnforced", message: "NotEnforced!"}},
	} {
		b := &intentv1alpha1.SecurityIntentBinding{ObjectMeta: metav1.ObjectMeta{Generation: 4}}
		b.Status.Conditions = tc.conditions
		if got := policyHealth(b); got != tc.want {
			t.Errorf("%s: got %+v, want %+v", name, got, tc.want)
		}
	}
}

func TestACapabilityIsFoundByEachOfItsIntentsOnce(t *testing.T) {
	c := &nexusv1.NexusAICapability{}
	if got := indexIntents(c); got != nil {
		t.Errorf("without intents: %q", got)
	}
	c.Spec.Security = &nexusv1.SecuritySpec{Intents: []nexusv1.IntentReference{{Name: "z", Component: "backend"}, {Name: "a"}, {Name: "z", Component: "frontend"}}}
	if got := indexIntents(c); !slices.Equal(got, []string{"a", "z"}) {
		t.Errorf("got %q", got)
	}
}

func TestAPodNeedsItsPoliciesUntilItHasEndedOrItsNodeIsLost(t *testing.T) {
	now := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	ends := func(after time.Duration) *metav1.Time { return &metav1.Time{Time: now.Add(after)} }
	for name, tc := range map[string]struct {
		phase corev1.PodPhase
		ends  *metav1.Time
		want  bool
	}{
		"it runs":                        {corev1.PodRunning, nil, true},
		"it is in its time of grace":     {corev1.PodRunning, ends(20 * time.Second), true},
		"its kubelet is a little late":   {corev1.PodRunning, ends(-30 * time.Second), true},
		"its kubelet says no more":       {corev1.PodRunning, ends(-2 * time.Minute), false},
		"it came to its end":             {corev1.PodSucceeded, nil, false},
		"it failed and is being deleted": {corev1.PodFailed, ends(20 * time.Second), false},
		"it has not been started":        {corev1.PodPending, nil, true},
	} {
		p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{DeletionTimestamp: tc.ends}, Status: corev1.PodStatus{Phase: tc.phase}}
		if got := alive(p, now); got != tc.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
