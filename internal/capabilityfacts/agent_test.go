// SPDX-License-Identifier: Apache-2.0

package capabilityfacts

import (
	"context"
	"errors"
	"slices"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/nexus-operator/nexus-operator/internal/capability"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

func TestAgent_IsReadyByNode(t *testing.T) {
	labels := map[string]string{"app": "agent"}
	set := &appsv1.DaemonSet{ObjectMeta: metav1.ObjectMeta{Namespace: capability.AgentNamespace, Name: capability.AgentName},
		Spec: appsv1.DaemonSetSpec{Selector: &metav1.LabelSelector{MatchLabels: labels}}}
	node := func(name, compute string) *corev1.Node {
		return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"eks.amazonaws.com/compute-type": compute}}}
	}
	pod := func(on string) *corev1.Pod {
		return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: capability.AgentNamespace, Name: "agent-" + on, Labels: labels},
			Spec:   corev1.PodSpec{NodeName: on},
			Status: corev1.PodStatus{Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}}}
	}
	for name, tc := range map[string]struct {
		objects []client.Object
		found   bool
		ready   int32
		without []string
	}{
		"nodes of Auto Mode": {[]client.Object{node("a", "auto"), node("b", "auto")}, false, 2, nil},
		"a mixed cluster": {[]client.Object{node("a", "auto"), node("b", ""), node("c", ""), set, pod("b")}, true, 2,
			[]string{"c"}},
		"a mixed cluster with no agent": {[]client.Object{node("a", "auto"), node("b", "")}, false, 1, []string{"b"}},
		"an agent on one node":          {[]client.Object{node("a", ""), node("b", ""), set, pod("a")}, true, 1, []string{"b"}},
		"an agent without pods":         {[]client.Object{node("a", ""), set}, true, 0, []string{"a"}},
		"no agent":                      {[]client.Object{node("a", "")}, false, 0, []string{"a"}},
	} {
		got := Gatherer{Live: fake.NewClientBuilder().WithObjects(tc.objects...).Build()}.Agent(t.Context())
		if got.Err != nil || !got.Known || got.Found != tc.found || got.Ready != tc.ready || !slices.Equal(got.Without, tc.without) {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func TestAgent_IsReadyBeforeTheFirstNodeOfAutoMode(t *testing.T) {
	for enabled, want := range map[bool]bool{true: true, false: false} {
		got := Gatherer{Settings: Settings{AutoMode: func(context.Context) bool { return enabled }},
			Live: fake.NewClientBuilder().Build()}.Agent(t.Context())
		if got.Err != nil || got.IsReady() != want {
			t.Errorf("enabled %t: %+v", enabled, got)
		}
	}
}

func TestAgent_WithoutTheRightToListNodesIsUnknown(t *testing.T) {
	live := fake.NewClientBuilder().WithInterceptorFuncs(interceptor.Funcs{List: func(context.Context, client.WithWatch, client.ObjectList,
		...client.ListOption) error {
		return apierrors.NewForbidden(schema.GroupResource{Resource: "nodes"}, "", errors.New("no right"))
	}}).Build()
	got := Gatherer{Live: live}.Agent(t.Context())
	if st, ok := status.AsStalled(got.Err); !got.Known || !ok || st.Reason != status.ReasonAccessDenied {
		t.Errorf("%+v", got)
	}
}
