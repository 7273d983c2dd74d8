// SPDX-License-Identifier: Apache-2.0

package health

import (
	"errors"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/api/wellknown"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

// homeless is a pod that finds no node.
func homeless(name string) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name, Labels: map[string]string{"app": "app"}},
		Status: corev1.PodStatus{Phase: corev1.PodPending,
			Conditions: []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable,
				Message: "0/1 nodes are available."}}}}
}

// ending is a pod that no one says has ended.
func ending(p *corev1.Pod) *corev1.Pod {
	at := metav1.NewTime(noon)
	p.DeletionTimestamp, p.Finalizers = &at, []string{"example.com/slow"}
	return p
}

func TestDeployment_WithAnAutoscalerNeedsItsMinimum(t *testing.T) {
	type st = appsv1.DeploymentStatus
	for name, tc := range map[string]struct {
		replicas int32
		status   st
		pods     []client.Object
		ready    bool
		reason   string
		serving  bool
		says     string
	}{
		"the autoscaler adds pods": {4, st{ObservedGeneration: 2, Replicas: 4, UpdatedReplicas: 4, AvailableReplicas: 2}, nil, true,
			status.ReasonScaling, false, "2 of the 4 replicas that the autoscaler asks for are available, at least 2 are needed"},
		"no node has room for more": {6, st{ObservedGeneration: 2, Replicas: 6, UpdatedReplicas: 6, AvailableReplicas: 4},
			[]client.Object{homeless("app-9")}, true, status.ReasonUnschedulable, false, "at least 2 are needed: a pod finds no node"},
		"all that it asks for": {4, st{ObservedGeneration: 2, Replicas: 4, UpdatedReplicas: 4, AvailableReplicas: 4}, nil, true, "",
			false, ""},
		"the new ReplicaSet has begun": {4, st{ObservedGeneration: 2, Replicas: 2, UpdatedReplicas: 2, AvailableReplicas: 2}, nil, true,
			status.ReasonScaling, false, "2 of the 4"},
		"the pods vanish": {4, st{ObservedGeneration: 2, Replicas: 4, UpdatedReplicas: 4, AvailableReplicas: 1}, nil, false,
			status.ReasonProgressing, false, "1 of 2 replicas are available"},
		"an update under load": {4, st{ObservedGeneration: 2, Replicas: 5, UpdatedReplicas: 2, AvailableReplicas: 4}, nil, false,
			status.ReasonProgressing, true, "the previous version is serving"},
		"a person scaled it to nothing": {0, st{ObservedGeneration: 2}, nil, true, "", false, ""},
		"fewer than the minimum by a person": {1, st{ObservedGeneration: 2, Replicas: 1, UpdatedReplicas: 1, AvailableReplicas: 1}, nil, true, "",
			false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			d := deployment(tc.replicas, tc.status)
			d.Annotations = map[string]string{wellknown.AnnotationMinReplicas: "2"}
			h, err := lookingAt(t, nil, tc.pods...).Of(t.Context(), d)
			if err != nil || h.Serving != tc.serving {
				t.Errorf("serving %v, %v", h.Serving, err)
			}
			looksLike(t, h, tc.ready, tc.reason, false, tc.says)
		})
	}
	// Without an autoscaler the declared number is needed.
	h, _ := lookingAt(t, nil).Of(t.Context(), deployment(4, st{ObservedGeneration: 2, Replicas: 4, UpdatedReplicas: 4, AvailableReplicas: 2}))
	looksLike(t, h, false, status.ReasonProgressing, false, "2 of 4")
}

// The controller of Deployments needs a moment to observe the number that an autoscaler sets. That is no update, unless the template was
// changed in that second, too.
func TestDeployment_ThatWasScaledIsNotUpdated(t *testing.T) {
	second := func(n int) metav1.Time { return metav1.Time{Time: noon.Add(time.Duration(n) * time.Second)} }
	for name, tc := range map[string]struct {
		generation int64
		annotation string
		changed    int
		reason     string
		ready      bool
	}{
		"scaled":                    {3, "2", 0, "NewReplicaSetAvailable", true},
		"edited after the rollout":  {3, "2", 2, "NewReplicaSetAvailable", false},
		"edited in the same second": {3, "2", 1, "NewReplicaSetAvailable", false},
		"edited and scaled":         {4, "2", 0, "NewReplicaSetAvailable", false},
		"by a person":               {3, "", 0, "NewReplicaSetAvailable", false},
		"during a rollout":          {3, "2", 0, "ReplicaSetUpdated", false},
	} {
		t.Run(name, func(t *testing.T) {
			rolledOut := appsv1.DeploymentCondition{Type: appsv1.DeploymentProgressing, Reason: tc.reason, LastUpdateTime: second(1)}
			d := deployment(4, appsv1.DeploymentStatus{ObservedGeneration: 2, Replicas: 2, UpdatedReplicas: 2, AvailableReplicas: 2,
				Conditions: []appsv1.DeploymentCondition{rolledOut}})
			d.Generation, d.ManagedFields = tc.generation,
				[]metav1.ManagedFieldsEntry{{Manager: "nexus", Time: new(second(tc.changed))}, {Manager: "hpa", Subresource: "scale"},
					{Subresource: "status", Time: new(second(3))}}
			if tc.annotation != "" {
				d.Annotations = map[string]string{wellknown.AnnotationMinReplicas: tc.annotation}
			}
			h, err := lookingAt(t, nil).Of(t.Context(), d)
			if err != nil || h.Ready != tc.ready {
				t.Errorf("ready %v, %v", h.Ready, err)
			}
		})
	}
}

// A pod that crashes for want of credentials never becomes ready.
func TestDeployment_TellsOfMissingCredentialsBeforeItIsRolledOut(t *testing.T) {
	running := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "app-1", Labels: map[string]string{"app": "app"}},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "app"}}}, Status: corev1.PodStatus{Phase: corev1.PodRunning}}
	h, err := lookingAt(t, nil, running).Of(t.Context(),
		deployment(2, appsv1.DeploymentStatus{ObservedGeneration: 2, Replicas: 2, UpdatedReplicas: 2}))
	if err != nil || h.NoCredentials != "1 of 1 pods" {
		t.Errorf("%q: %v", h.NoCredentials, err)
	}
}

func TestDeployment_NamesTheNodeThatDied(t *testing.T) {
	machine := func(name string, ready corev1.ConditionStatus) *corev1.Node {
		return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}, Status: corev1.NodeStatus{Conditions: []corev1.NodeCondition{{
			Type: corev1.NodeReady, Status: ready, Reason: "NodeStatusUnknown", LastTransitionTime: metav1.NewTime(noon)}}}}
	}
	pod := func(name, node string, ready corev1.ConditionStatus) *corev1.Pod {
		return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name, Labels: map[string]string{"app": "app"}},
			Spec:   corev1.PodSpec{NodeName: node},
			Status: corev1.PodStatus{Phase: corev1.PodRunning, Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: ready}}}}
	}
	st := appsv1.DeploymentStatus{ObservedGeneration: 2, Replicas: 2, UpdatedReplicas: 2, AvailableReplicas: 1}
	for name, tc := range map[string]struct {
		objects []client.Object
		reason  string
		says    string
	}{
		"the node is dead": {[]client.Object{machine("a", corev1.ConditionUnknown), machine("b", corev1.ConditionTrue),
			pod("app-1", "a", corev1.ConditionFalse), pod("app-2", "b", corev1.ConditionTrue)},
			status.ReasonNodeNotReady, "1 of 2 replicas are available: node a is not ready since 2026-01-01T12:00:00Z: repair it"},
		"its pod is replaced and finds no other": {[]client.Object{machine("a", corev1.ConditionUnknown),
			ending(pod("app-1", "a", corev1.ConditionFalse)), homeless("app-3")},
			status.ReasonNodeNotReady,
			"1 of 2 replicas are available: node a is not ready since 2026-01-01T12:00:00Z: repair it, or delete the Node if the machine is gone; a pod finds no node: 0/1 nodes are available; add nodes"},
		"no node is dead, and none has room": {[]client.Object{machine("a", corev1.ConditionTrue), homeless("app-3")}, status.ReasonUnschedulable,
			"a pod finds no node"},
		"the pod alone is not ready": {[]client.Object{machine("a", corev1.ConditionTrue), pod("app-1", "a", corev1.ConditionFalse)},
			status.ReasonProgressing, "1 of 2 replicas are available"},
		"the node is gone": {[]client.Object{pod("app-1", "a", corev1.ConditionFalse)}, status.ReasonProgressing,
			"1 of 2 replicas are available"},
		"many nodes": {[]client.Object{machine("a", "False"), machine("b", "False"), machine("c", "False"), machine("d", "False"),
			pod("app-1", "a", "False"), pod("app-2", "b", "False"), pod("app-3", "c", "False"), pod("app-4", "d", "False")},
			status.ReasonNodeNotReady, "and perhaps more"},
	} {
		t.Run(name, func(t *testing.T) {
			h, err := lookingAt(t, nil, tc.objects...).Of(t.Context(), deployment(2, st))
			if err != nil {
				t.Fatal(err)
			}
			looksLike(t, h, false, tc.reason, false, tc.says)
		})
	}
	r := lookingAt(t, nil, pod("app-1", "a", "False"))
	r.Live = lookingAt(t, errors.New("no connection")).Client
	if _, err := r.Of(t.Context(), deployment(2, st)); err == nil {
		t.Error("a node that could not be read counts as ready")
	}
}
