// SPDX-License-Identifier: Apache-2.0

package world

import (
	"context"
	"fmt"
	"os"
	"strings"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/nexus-operator/nexus-operator/api/wellknown"
)

// autoModeVariable makes the nodes those of EKS Auto Mode, on which DNS and
// network policies are part of the node.
const autoModeVariable = "NEXUS_BED_AUTO_MODE"

// AutoMode reports whether the nodes of new worlds are those of EKS Auto Mode.
func AutoMode() bool { return os.Getenv(autoModeVariable) != "" }

// seed creates what a cluster has before anybody uses it (nodes, the cluster's
// DNS, what enforces NetworkPolicies, signs of policy engines, the class of the load balancer controller)
// and waits for what the controllers add.
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
	if err := w.createNetwork(ctx); err != nil {
		return err
	}
	if err := w.createEngines(ctx); err != nil {
		return err
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

// createNetwork creates the signs of a cluster's DNS and of what enforces
// NetworkPolicies, which nothing plays.
func (w *World) createNetwork(ctx context.Context) error {
	var err error
	if AutoMode() {
		on := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "amazon-vpc-cni"}, Data: map[string]string{"enable-network-policy-controller": "true"}}
		_, err = w.clientset.CoreV1().ConfigMaps(metav1.NamespaceSystem).Create(ctx, on, metav1.CreateOptions{})
		return ignoreExists(err)
	}
	dns := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: "kube-dns", Labels: map[string]string{"k8s-app": "kube-dns"}}}
	dns.Spec.Selector = map[string]string{"k8s-app": "kube-dns"}
	for _, protocol := range []corev1.Protocol{corev1.ProtocolUDP, corev1.ProtocolTCP} {
		dns.Spec.Ports = append(dns.Spec.Ports, corev1.ServicePort{Name: "dns-" + strings.ToLower(string(protocol)), Protocol: protocol, Port: 53, TargetPort: intstr.FromInt32(53)})
	}
	if _, err = w.clientset.CoreV1().Services(metav1.NamespaceSystem).Create(ctx, dns, metav1.CreateOptions{}); ignoreExists(err) != nil {
		return fmt.Errorf("creating the Service kube-dns: %w", err)
	}
	app := map[string]string{"k8s-app": "kube-router"}
	plugin := &appsv1.DaemonSet{ObjectMeta: metav1.ObjectMeta{Name: "kube-router", Labels: app}}
	plugin.Spec.Selector = &metav1.LabelSelector{MatchLabels: app}
	plugin.Spec.Template.Labels = app
	plugin.Spec.Template.Spec.Containers = []corev1.Container{{Name: "kube-router", Image: "kube-router", Args: []string{"--run-firewall=true"}}}
	// No node takes a pod of it: tests count pods.
	plugin.Spec.Template.Spec.NodeSelector = map[string]string{"testbed.nexus.ai/network-plugin": "simulated"}
	if _, err = w.clientset.AppsV1().DaemonSets(metav1.NamespaceSystem).Create(ctx, plugin, metav1.CreateOptions{}); ignoreExists(err) != nil {
		return fmt.Errorf("creating the DaemonSet kube-router: %w", err)
	}
	return nil
}

// What shows that policy engines run.
const (
	// KubeArmorAgents is the DaemonSet of KubeArmor's agents, in namespace kube-system.
	KubeArmorAgents = "kubearmor"
	// KyvernoWebhooks and IstioWebhooks are ValidatingWebhookConfigurations.
	KyvernoWebhooks = "kyverno-policy-validating-webhook-cfg"
	IstioWebhooks   = "istio-validator-istio-system"
)

// createEngines creates the signs that policy engines run, which nothing plays. Tests install the kinds of the engines.
func (w *World) createEngines(ctx context.Context) error {
	app := map[string]string{"kubearmor-app": "kubearmor"}
	agents := &appsv1.DaemonSet{ObjectMeta: metav1.ObjectMeta{Name: KubeArmorAgents, Labels: app}}
	agents.Spec.Selector = &metav1.LabelSelector{MatchLabels: app}
	agents.Spec.Template.Labels = app
	agents.Spec.Template.Spec.Containers = []corev1.Container{{Name: "kubearmor", Image: "kubearmor/kubearmor"}}
	agents.Spec.Template.Spec.NodeSelector = map[string]string{"testbed.nexus.ai/kubearmor": "simulated"} // no node takes a pod of it
	if _, err := w.clientset.AppsV1().DaemonSets(metav1.NamespaceSystem).Create(ctx, agents, metav1.CreateOptions{}); ignoreExists(err) != nil {
		return fmt.Errorf("creating the DaemonSet %s: %w", KubeArmorAgents, err)
	}
	for _, name := range []string{KyvernoWebhooks, IstioWebhooks} {
		// Without rules it is asked about nothing.
		hook := admissionregistrationv1.ValidatingWebhook{Name: "validate." + name + ".example.com", AdmissionReviewVersions: []string{"v1"},
			SideEffects: new(admissionregistrationv1.SideEffectClassNone), FailurePolicy: new(admissionregistrationv1.Ignore),
			ClientConfig: admissionregistrationv1.WebhookClientConfig{URL: new("https://engine.example.com/validate")}}
		c := &admissionregistrationv1.ValidatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: name}, Webhooks: []admissionregistrationv1.ValidatingWebhook{hook}}
		if _, err := w.clientset.AdmissionregistrationV1().ValidatingWebhookConfigurations().Create(ctx, c, metav1.CreateOptions{}); ignoreExists(err) != nil {
			return fmt.Errorf("creating the ValidatingWebhookConfiguration %s: %w", name, err)
		}
	}
	return nil
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
	if AutoMode() {
		node.Labels["eks.amazonaws.com/compute-type"] = "auto"
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
