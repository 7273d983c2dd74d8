// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/internal/testkit/extent"
)

// pods returns the pods of the operator that are not ending.
func (x *tool) pods() []corev1.Pod {
	x.Helper()
	list := &corev1.PodList{}
	if err := x.Client.List(x.Ctx(), list, client.InNamespace("default"),
		client.MatchingLabels{"app.kubernetes.io/name": "nexus-operator"}); err != nil {
		x.Fatal(err)
	}
	var out []corev1.Pod
	for _, p := range list.Items {
		if p.DeletionTimestamp == nil {
			out = append(out, p)
		}
	}
	return out
}

func TestUpdate_ReplacesThePodsAndNamesDigests(t *testing.T) {
	extent.Full(t)
	x := newTool(t)
	x.wants(x.run("", "update"), 4, "neither a Deployment nor a StatefulSet nexus-operator")
	x.wants(x.run("", "update", "--timeout", "0"), 2, "--timeout")
	x.wants(x.as("stranger", "update"), 4, `cannot get resource "deployments"`)
	selector, template := operatorPod()
	d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "nexus-operator", Namespace: "default"},
		Spec: appsv1.DeploymentSpec{Replicas: new(int32(2)), Selector: &selector, Template: template}}
	x.installed(d)
	x.Eventually(time.Minute, "the pods to be ready", func() error {
		if err := x.Get(d); err != nil || d.Status.ReadyReplicas != 2 {
			return fmt.Errorf("%+v %v", d.Status, err)
		}
		return nil
	})
	const digest = "sha256:0000000000000000000000000000000000000000000000000000000000000001"
	was := map[string]bool{}
	for _, p := range x.pods() {
		was[p.Name] = true
		base := p.DeepCopy()
		for i := range p.Status.ContainerStatuses {
			p.Status.ContainerStatuses[i].ImageID = "registry.example.com/nexus-operator@" + digest
		}
		if err := x.Client.Status().Patch(x.Ctx(), &p, client.MergeFrom(base)); err != nil {
			t.Fatal(err)
		}
	}
	x.wants(x.run("", "update", "--dry-run"), 0, "Deployment default/nexus-operator: pods are replaced (dry run)")
	for _, p := range x.pods() {
		if !was[p.Name] {
			t.Errorf("a dry run replaced pods: %s", p.Name)
		}
	}
	x.wants(x.run("", "update"), 0, "Deployment default/nexus-operator: pods are replaced",
		"ready with nexus-operator:v0.0.1: "+digest+" -> digest not known")
	now := x.pods()
	for _, p := range now {
		if was[p.Name] {
			t.Errorf("pod %s was not replaced", p.Name)
		}
	}
	if len(now) != 2 {
		t.Errorf("%d pods", len(now))
	}
	// No node takes the new pods.
	x.Edit(d, func() { d.Spec.Template.Spec.NodeSelector = map[string]string{"none": "none"} })
	x.wants(x.run("", "update", "--timeout", "3s"), 124, "not done within 3s", "kubectl rollout undo -n default deployment/nexus-operator")
}
