// SPDX-License-Identifier: Apache-2.0

package world

import (
	"context"
	"fmt"
	"os"
	"reflect"
	"strings"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/dynamic"

	"github.com/nexus-operator/nexus-operator/api/wellknown"
)

// autoModeVariable makes the nodes those of EKS Auto Mode: DNS and network policies are part of such a node.
const autoModeVariable = "NEXUS_BED_AUTO_MODE"

// AutoMode reports whether the nodes of new worlds are those of EKS Auto Mode.
func AutoMode() bool { return os.Getenv(autoModeVariable) != "" }

// seeder creates the first objects of a cluster.
type seeder struct {
	client                  dynamic.Interface
	nodes                   int
	kwok, controllerManager *process
}

// seed creates the objects that a cluster has before its first use (nodes, the cluster's DNS, the enforcer of NetworkPolicies, signs of
// policy engines, the class of the load balancer controller) and waits for the objects that the controllers add.
func (s *seeder) seed(ctx context.Context) error {
	for i := range s.nodes {
		if err := s.createNode(ctx, i); err != nil {
			return err
		}
	}
	class := &networkingv1.IngressClass{
		ObjectMeta: metav1.ObjectMeta{Name: "alb"},
		Spec:       networkingv1.IngressClassSpec{Controller: "ingress.k8s.aws/alb"},
	}
	if err := s.create(ctx, networkingv1.SchemeGroupVersion, "ingressclasses", class); err != nil {
		return err
	}
	if err := s.createNetwork(ctx); err != nil {
		return err
	}
	if err := s.createEngines(ctx); err != nil {
		return err
	}
	for i := range s.nodes {
		if err := s.waitNode(ctx, nodeName(i)); err != nil {
			return err
		}
	}
	return poll(ctx, s.controllerManager, func(ctx context.Context) error {
		accounts := s.client.Resource(corev1.SchemeGroupVersion.WithResource("serviceaccounts"))
		_, err := accounts.Namespace(metav1.NamespaceDefault).Get(ctx, "default", metav1.GetOptions{})
		return err
	})
}

// createNetwork creates the signs of a cluster's DNS and of an enforcer of NetworkPolicies. The world runs neither.
func (s *seeder) createNetwork(ctx context.Context) error {
	if AutoMode() {
		on := &corev1.ConfigMap{ObjectMeta: inSystem("amazon-vpc-cni", nil), Data: map[string]string{"enable-network-policy-controller": "true"}}
		return s.create(ctx, corev1.SchemeGroupVersion, "configmaps", on)
	}
	dns := &corev1.Service{ObjectMeta: inSystem("kube-dns", map[string]string{"k8s-app": "kube-dns"})}
	dns.Spec.Selector = map[string]string{"k8s-app": "kube-dns"}
	for _, protocol := range []corev1.Protocol{corev1.ProtocolUDP, corev1.ProtocolTCP} {
		dns.Spec.Ports = append(dns.Spec.Ports,
			corev1.ServicePort{Name: "dns-" + strings.ToLower(string(protocol)), Protocol: protocol, Port: 53, TargetPort: intstr.FromInt32(53)})
	}
	if err := s.create(ctx, corev1.SchemeGroupVersion, "services", dns); err != nil {
		return err
	}
	app := map[string]string{"k8s-app": "kube-router"}
	plugin := &appsv1.DaemonSet{ObjectMeta: inSystem("kube-router", app)}
	plugin.Spec.Selector = &metav1.LabelSelector{MatchLabels: app}
	plugin.Spec.Template.Labels = app
	plugin.Spec.Template.Spec.Containers = []corev1.Container{{Name: "kube-router", Image: "kube-router",
		Args: []string{"--run-firewall=true"}}}
	// No node takes a pod of it: tests count pods.
	plugin.Spec.Template.Spec.NodeSelector = map[string]string{"testbed.nexus.ai/network-plugin": "simulated"}
	return s.create(ctx, appsv1.SchemeGroupVersion, "daemonsets", plugin)
}

// Signs that policy engines run.
const (
	// KubeArmorAgents is the DaemonSet of KubeArmor's agents, in namespace kube-system.
	KubeArmorAgents = "kubearmor"
	// KyvernoWebhooks and IstioWebhooks are ValidatingWebhookConfigurations.
	KyvernoWebhooks = "kyverno-policy-validating-webhook-cfg"
	IstioWebhooks   = "istio-validator-istio-system"
)

// createEngines creates the signs that policy engines run, which nothing plays. Tests install the kinds of the engines.
func (s *seeder) createEngines(ctx context.Context) error {
	app := map[string]string{"kubearmor-app": "kubearmor"}
	agents := &appsv1.DaemonSet{ObjectMeta: inSystem(KubeArmorAgents, app)}
	agents.Spec.Selector = &metav1.LabelSelector{MatchLabels: app}
	agents.Spec.Template.Labels = app
	agents.Spec.Template.Spec.Containers = []corev1.Container{{Name: "kubearmor", Image: "kubearmor/kubearmor"}}
	agents.Spec.Template.Spec.NodeSelector = map[string]string{"testbed.nexus.ai/kubearmor": "simulated"} // no node takes a pod of it
	if err := s.create(ctx, appsv1.SchemeGroupVersion, "daemonsets", agents); err != nil {
		return err
	}
	for _, name := range []string{KyvernoWebhooks, IstioWebhooks} {
		// Without rules it is asked about nothing.
		hook := admissionregistrationv1.ValidatingWebhook{Name: "validate." + name + ".example.com", AdmissionReviewVersions: []string{"v1"},
			SideEffects: new(admissionregistrationv1.SideEffectClassNone), FailurePolicy: new(admissionregistrationv1.Ignore),
			ClientConfig: admissionregistrationv1.WebhookClientConfig{URL: new("https://engine.example.com/validate")}}
		c := &admissionregistrationv1.ValidatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: name},
			Webhooks: []admissionregistrationv1.ValidatingWebhook{hook}}
		if err := s.create(ctx, admissionregistrationv1.SchemeGroupVersion, "validatingwebhookconfigurations", c); err != nil {
			return err
		}
	}
	return nil
}

func nodeName(i int) string { return fmt.Sprintf("node-%d", i) }

func (s *seeder) createNode(ctx context.Context, i int) error {
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
	return s.create(ctx, corev1.SchemeGroupVersion, "nodes", node)
}

// waitNode waits until kwok has made the node Ready, and removes the taint that
// admission put on the new node (the controller that would do so is not run).
func (s *seeder) waitNode(ctx context.Context, name string) error {
	nodes := s.client.Resource(corev1.SchemeGroupVersion.WithResource("nodes"))
	return poll(ctx, s.kwok, func(ctx context.Context) error {
		live, err := nodes.Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		node := &corev1.Node{}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(live.Object, node); err != nil {
			return err
		}
		if !nodeReady(node) {
			return fmt.Errorf("%s is not Ready", name)
		}
		if len(node.Spec.Taints) == 0 {
			return nil
		}
		unstructured.RemoveNestedField(live.Object, "spec", "taints")
		_, err = nodes.Update(ctx, live, metav1.UpdateOptions{})
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

func inSystem(name string, labels map[string]string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Name: name, Namespace: metav1.NamespaceSystem, Labels: labels}
}

// create creates an object that may exist already. The dynamic client takes typed objects too: the typed clients of all groups would be
// linked into every test program.
func (s *seeder) create(ctx context.Context, version schema.GroupVersion, resource string, o metav1.Object) error {
	object, err := runtime.DefaultUnstructuredConverter.ToUnstructured(o)
	if err != nil {
		return err
	}
	u := &unstructured.Unstructured{Object: object}
	u.SetGroupVersionKind(version.WithKind(reflect.TypeOf(o).Elem().Name()))
	_, err = s.client.Resource(version.WithResource(resource)).Namespace(o.GetNamespace()).Create(ctx, u, metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("creating %s %s: %w", u.GetKind(), u.GetName(), err)
	}
	return nil
}
