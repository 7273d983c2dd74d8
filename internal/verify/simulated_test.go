// SPDX-License-Identifier: Apache-2.0

package verify

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
)

// A cluster may have real nodes beside those of kwok: the health of an application that one of them runs is never skipped.
func TestVerify_SkipsHealthOnSimulatedNodesOnly(t *testing.T) {
	labels := map[string]string{"app": "web"}
	pod := func(name, node string) client.Object {
		return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name, Labels: labels}, Spec: corev1.PodSpec{NodeName: node}}
	}
	nodes := []client.Object{
		&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "kwok", Annotations: map[string]string{"kwok.x-k8s.io/node": "fake"}}},
		&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "real"}},
	}
	s := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "web"}, Spec: corev1.ServiceSpec{Selector: labels}}
	for name, tc := range map[string]struct {
		pods []client.Object
		want bool
	}{
		"all pods are simulated":        {[]client.Object{pod("a", "kwok"), pod("b", "kwok")}, true},
		"one pod is real":               {[]client.Object{pod("a", "kwok"), pod("b", "real")}, false},
		"one pod has no node yet":       {[]client.Object{pod("a", "kwok"), pod("b", "")}, false},
		"the node of a pod is not here": {[]client.Object{pod("a", "gone")}, false},
		"no pods":                       {nil, false},
	} {
		v := &verifier{client: fake.NewClientBuilder().WithObjects(append(tc.pods, nodes...)...).Build()}
		if got := v.isSimulated(t.Context(), s); got != tc.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
