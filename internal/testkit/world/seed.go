// SPDX-License-Identifier: Apache-2.0

package world

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/nexus-operator/nexus-operator/api/wellknown"
)

// seed creates what a cluster has before anybody uses it (nodes, the class of
// the load balancer controller) and waits for what the controllers add.
func (w *World) seed(ctx context.Context) error {
	for i := range w.options.Nodes {
		if err := w.createNode(ctx, i); err != nil {
			return err
		}
	}
	class := &networkingv1.IngressClass{
		ObjectMeta: metav1.ObjectMeta{Name: "alb"},
		Spec:       networkingv1.IngressClassSpec{Controller: "ingress.k8s.aws/alb"},
	}
	if _, err := w.clientset.NetworkingV1().IngressClasses().Create(ctx, class, metav1.CreateOptions{}); ignoreExists(err) != nil {
		return fmt.Errorf("creating the IngressClass alb: %w", err)
	}
	for i := range w.options.Nodes {
		if err := w.waitNode(ctx, nodeName(i)); err != nil {
			return err
		}
	}
	return poll(ctx, w.component(ControllerManager), func(ctx context.Context) error {
		_, err := w.clientset.CoreV1().ServiceAccounts(metav1.NamespaceDefault).Get(ctx, "default", metav1.GetOptions{})
		return err
	})
}

func nodeName(i int) string { return fmt.Sprintf("node-%d", i) }

func (w *World) createNode(ctx context.Context, i int) error {
	zone := "ap-southeast-1" + string(rune('a'+i%3))
	node := &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{
			Name:        nodeName(i),
			Annotations: map[string]string{wellknown.AnnotationSimulatedNode: "fake"},
			Labels: map[string]string{
				corev1.LabelHostname: nodeName(i), corev1.LabelOSStable: "linux", corev1.LabelArchStable: "amd64",
				corev1.LabelTopologyZone: zone, corev1.LabelTopologyRegion: "ap-southeast-1",
				corev1.LabelInstanceTypeStable: "m5.4xlarge",
			},
		},
		Spec: corev1.NodeSpec{ProviderID: fmt.Sprintf("aws:///%s/i-%017x", zone, i)},
	}
	if _, err := w.clientset.CoreV1().Nodes().Create(ctx, node, metav1.CreateOptions{}); ignoreExists(err) != nil {
		return fmt.Errorf("creating %s: %w", node.Name, err)
	}
	return nil
}

// waitNode waits until kwok has made the node Ready, and removes the taint that
// admission put on the new node (the controller that would do so is not run).
func (w *World) waitNode(ctx context.Context, name string) error {
	nodes := w.clientset.CoreV1().Nodes()
	return poll(ctx, w.component(Kwok), func(ctx context.Context) error {
		node, err := nodes.Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		if !nodeReady(node) {
			return fmt.Errorf("%s is not Ready", name)
		}
		if len(node.Spec.Taints) == 0 {
			return nil
		}
		node.Spec.Taints = nil
		_, err = nodes.Update(ctx, node, metav1.UpdateOptions{})
		return err
	})
}

func nodeReady(node *corev1.Node) bool {
	for _, c := range node.Status.Conditions {
		if c.Type == corev1.NodeReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}

func ignoreExists(err error) error {
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}
