// SPDX-License-Identifier: Apache-2.0

package clusterfacts_test

import (
	"context"
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

	"github.com/nexus-operator/nexus-operator/internal/clusterfacts"
)

func apiWith(objects ...client.Object) client.Client {
	return fake.NewClientBuilder().WithObjects(objects...).Build()
}

func node(name, compute string) *corev1.Node {
	n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{}}}
	if compute != "" {
		n.Labels[clusterfacts.LabelComputeType] = compute
	}
	return n
}

func podOf(app, nodeName string, ready corev1.ConditionStatus) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: app + "-" + nodeName, Labels: map[string]string{"app": app}},
		Spec:       corev1.PodSpec{NodeName: nodeName},
		Status:     corev1.PodStatus{Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: ready}}},
	}
}

func agentDaemonSet() *appsv1.DaemonSet {
	return &appsv1.DaemonSet{
		ObjectMeta: metav1.ObjectMeta{Namespace: clusterfacts.AgentNamespace, Name: clusterfacts.AgentName},
		Spec:       appsv1.DaemonSetSpec{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "agent"}}},
	}
}

func TestReadNodes_NamesThoseWithoutTheAgent(t *testing.T) {
	api := apiWith(node("b", ""), node("a", ""), node("auto", "auto"), node("fargate", "fargate"), agentDaemonSet(),
		podOf("agent", "a", corev1.ConditionTrue), podOf("agent", "b", corev1.ConditionFalse), podOf("web", "fargate", corev1.ConditionTrue))
	got, err := clusterfacts.ReadNodes(t.Context(), api, nil)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got.Auto, []string{"auto"}) || !slices.Equal(got.Others, []string{"a", "b", "fargate"}) ||
		!slices.Equal(got.WithoutAgent(), []string{"b", "fargate"}) {
		t.Errorf("%+v lacks %v", got, got.WithoutAgent())
	}
	if !got.IsMixed() || got.IsAuto() || !got.GiveCredentials() {
		t.Errorf("mixed=%t auto=%t credentials=%t", got.IsMixed(), got.IsAuto(), got.GiveCredentials())
	}
}

func TestReadNodes_AutoModeNeedsNoDaemonSet(t *testing.T) {
	got, err := clusterfacts.ReadNodes(t.Context(), apiWith(node("auto", "auto")), nil)
	if err != nil || !got.IsAuto() || got.IsMixed() || !got.GiveCredentials() || len(got.WithoutAgent()) > 0 {
		t.Errorf("%+v, %v", got, err)
	}
	none, err := clusterfacts.ReadNodes(t.Context(), apiWith(), nil)
	if err != nil || none.IsAuto() || none.GiveCredentials() {
		t.Errorf("a cluster without nodes: %+v, %v", none, err)
	}
}

// Node pools of Auto Mode begin without nodes. EKS is asked only where no node says that it is on.
func TestReadNodes_AsksEKSBeforeTheFirstNode(t *testing.T) {
	for name, tc := range map[string]struct {
		objects                        []client.Object
		enabled                        bool
		asked, auto, mixed, credential bool
	}{
		"no node, enabled":     {nil, true, true, true, false, true},
		"no node, not enabled": {nil, false, true, false, false, false},
		"other nodes, enabled": {[]client.Object{node("a", "")}, true, true, false, true, false},
		"nodes of Auto Mode":   {[]client.Object{node("a", "auto")}, false, false, true, false, true},
		"other nodes, an agent": {[]client.Object{node("a", ""), agentDaemonSet(), podOf("agent", "a", corev1.ConditionTrue)}, true, true, false,
			true, true},
		"other nodes, not asked": {[]client.Object{node("a", "")}, false, true, false, false, false},
	} {
		asked := false
		got, err := clusterfacts.ReadNodes(t.Context(), apiWith(tc.objects...), func(context.Context) bool { asked = true; return tc.enabled })
		if err != nil || asked != tc.asked || got.IsAuto() != tc.auto || got.IsMixed() != tc.mixed || got.GiveCredentials() != tc.credential {
			t.Errorf("%s: asked %t, %+v, %v", name, asked, got, err)
		}
		asked = false
		has, err := clusterfacts.HasAutoMode(t.Context(), apiWith(tc.objects...), func(context.Context) bool { asked = true; return tc.enabled })
		if err != nil || asked != tc.asked || has != got.MayBeAuto() {
			t.Errorf("%s: asked %t, has it: %t, %v", name, asked, has, err)
		}
	}
}

// A caller without the right to list nodes may still ask EKS. Any other failure is one of the API server.
func TestHasAutoMode_AsksEKSWhereNodesMayNotBeListed(t *testing.T) {
	for name, tc := range map[string]struct {
		refusal error
		ask     clusterfacts.AutoMode
		has     bool
	}{
		"nodes may not be listed": {apierrors.NewForbidden(schema.GroupResource{Resource: "nodes"}, "", nil),
			func(context.Context) bool { return true }, true},
		"nor is there a second source":   {apierrors.NewForbidden(schema.GroupResource{Resource: "nodes"}, "", nil), nil, false},
		"the API server does not answer": {apierrors.NewServiceUnavailable("etcd"), func(context.Context) bool { return true }, false},
	} {
		api := interceptor.NewClient(apiWith().(client.WithWatch), interceptor.Funcs{
			List: func(context.Context, client.WithWatch, client.ObjectList, ...client.ListOption) error {
				return tc.refusal
			}})
		has, err := clusterfacts.HasAutoMode(t.Context(), api, tc.ask)
		if has != tc.has || (err != nil) == apierrors.IsForbidden(tc.refusal) {
			t.Errorf("%s: %t, %v", name, has, err)
		}
	}
}
