// SPDX-License-Identifier: Apache-2.0

package verify

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/testkit/creation"
)

func TestVerify_AdvisesByWhatKeepsPodsFromBeingReady(t *testing.T) {
	s := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "app"},
		Spec: corev1.ServiceSpec{Selector: map[string]string{"app": "a"}}}
	pod := func(ready corev1.ConditionStatus, state corev1.ContainerState) *corev1.Pod {
		return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "app-1", Labels: map[string]string{"app": "a"}},
			Spec: corev1.PodSpec{NodeName: "machine"},
			Status: corev1.PodStatus{Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: ready}},
				ContainerStatuses: []corev1.ContainerStatus{{Name: "app", State: state}}}}
	}
	node := func(ready corev1.ConditionStatus) *corev1.Node {
		return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "machine"},
			Status: corev1.NodeStatus{Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: ready,
				LastTransitionTime: metav1.NewTime(creation.Midday())}}}}
	}
	crashed := corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff"}}
	for name, tc := range map[string]struct {
		objects []client.Object
		want    string
	}{
		"a dead node": {[]client.Object{node(corev1.ConditionUnknown), pod(corev1.ConditionFalse, corev1.ContainerState{})},
			"node machine is not ready since"},
		"a crash": {[]client.Object{node(corev1.ConditionTrue), pod(corev1.ConditionFalse, crashed)}, "keeps crashing"},
		"a pod starts": {[]client.Object{node(corev1.ConditionTrue), pod(corev1.ConditionFalse, corev1.ContainerState{})},
			"kubectl describe pod -n ns app-1"},
		"all are ready":    {[]client.Object{node(corev1.ConditionTrue), pod(corev1.ConditionTrue, corev1.ContainerState{})}, "by default"},
		"there are none":   {nil, "see the check of the workloads"},
		"the node is gone": {[]client.Object{pod(corev1.ConditionFalse, crashed)}, "keeps crashing"},
	} {
		v, _ := verifierOf(creation.At(nexusv1.PhaseRunning))
		v.client = fake.NewClientBuilder().WithObjects(tc.objects...).Build()
		if got, err := v.fixOfPods(t.Context(), s, "by default"); err != nil || !strings.Contains(got, tc.want) {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}
