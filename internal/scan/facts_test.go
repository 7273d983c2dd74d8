// SPDX-License-Identifier: Apache-2.0

package scan

import (
	"context"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/meta/testrestmapper"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/nexus-operator/nexus-operator/internal/albcontroller"
	"github.com/nexus-operator/nexus-operator/internal/catalog"
	"github.com/nexus-operator/nexus-operator/internal/check"
	"github.com/nexus-operator/nexus-operator/internal/connection"
	"github.com/nexus-operator/nexus-operator/internal/console"
	"github.com/nexus-operator/nexus-operator/internal/testkit/enginecrds"
)

// scannerOf is a scan without a cluster's name and without AWS.
func scannerOf(c client.Client) *scanner {
	return &scanner{Connection: &connection.Connection{Console: &console.Console{Clock: clock.RealClock{}},
		Product: connection.Product{Engines: catalog.Engines}}, Options: &Options{}, client: c}
}

// builtIn is a scheme of Kubernetes' own kinds. The fake client may add others to it.
func builtIn(t *testing.T) *runtime.Scheme {
	t.Helper()
	s := runtime.NewScheme()
	if err := clientgoscheme.AddToScheme(s); err != nil {
		t.Fatal(err)
	}
	return s
}

// Check returns a check by the beginning of its title.
func (x *scanner) Check(t *testing.T, title string) check.Result {
	t.Helper()
	for _, c := range x.report.Checks {
		if strings.HasPrefix(c.Title, title) {
			return c
		}
	}
	t.Fatalf("no check %q among %+v", title, x.report.Checks)
	return check.Result{}
}

// Each row is a cluster as its owner finds it before the operator is installed.
func TestScanFacts_TellWhatTheOperatorFinds(t *testing.T) {
	first := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "kubernetes"},
		Spec: corev1.ServiceSpec{ClusterIP: "10.100.0.1"}}
	node := func(name, compute string) *corev1.Node {
		return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"eks.amazonaws.com/compute-type": compute}}}
	}
	on := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "amazon-vpc-cni"},
		Data: map[string]string{"enable-network-policy-controller": "true"}}
	const nodes, dns, enforced = "the sort of nodes", "the cluster's DNS", "NetworkPolicies are enforced"
	type seen struct {
		outcome       check.Outcome
		evidence, fix string
	}
	for name, tc := range map[string]struct {
		enabled bool // as EKS says, whatever the nodes say
		objects []client.Object
		want    map[string]seen
	}{
		"Auto Mode, enabled, no node yet": {true, nil, map[string]seen{
			nodes: {check.OutcomePass, "0 nodes of EKS Auto Mode, 0 others; EKS Auto Mode is enabled and starts nodes as pods need them", ""},
			dns:   {check.OutcomePass, "10.100.0.10", ""},
		}},
		"Auto Mode": {false, []client.Object{node("auto", "auto")}, map[string]seen{
			nodes: {check.OutcomePass, "1 nodes of EKS Auto Mode, 0 others; Services have IPv4; pods get credentials of EKS Pod Identity", ""},
			dns:   {check.OutcomePass, "10.100.0.10", ""},
			enforced: {check.OutcomeWarn, "EKS Auto Mode runs with network policies off: run kubectl create configmap amazon-vpc-cni",
				"do what the message says"},
		}},
		"Auto Mode with network policies": {false, []client.Object{node("auto", "auto"), on},
			map[string]seen{enforced: {check.OutcomePass, "by EKS Auto Mode", ""}}},
		"no DNS": {false, []client.Object{node("plain", "")}, map[string]seen{
			nodes:    {check.OutcomePass, "0 nodes of EKS Auto Mode, 1 others; Services have IPv4; no ready EKS Pod Identity Agent", ""},
			dns:      {check.OutcomeWarn, "Service kube-system/kube-dns does not exist", "--cluster-dns-service"},
			enforced: {check.OutcomeWarn, "nothing found that enforces NetworkPolicies", "no intent is Enforced by a NetworkPolicy"},
		}},
		"both sorts of nodes": {false, []client.Object{node("auto", "auto"), node("plain", ""), on}, map[string]seen{
			nodes: {check.OutcomePass,
				"1 nodes of EKS Auto Mode, 1 others; Services have IPv4; pods get no credentials of EKS Pod Identity on plain", ""},
			dns:      {check.OutcomeWarn, "install CoreDNS for node plain", "--cluster-dns-service"},
			enforced: {check.OutcomeWarn, "only EKS Auto Mode enforces NetworkPolicies, on its nodes", "do what the message says"},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			x := scannerOf(fake.NewClientBuilder().WithScheme(builtIn(t)).WithObjects(append(tc.objects, first)...).Build())
			x.autoMode = func(context.Context) bool { return tc.enabled }
			if err := x.scanFacts(t.Context()); err != nil {
				t.Fatal(err)
			}
			for title, want := range tc.want {
				if got := x.Check(t, title); got.Outcome != want.outcome || !strings.Contains(got.Evidence, want.evidence) ||
					!strings.Contains(got.Fix, want.fix) {
					t.Errorf("%+v", got)
				}
				if text := x.Text(); !strings.Contains(text, want.evidence) {
					t.Errorf("people do not read %q:\n%s", want.evidence, text)
				}
			}
		})
	}
}

// The class of a controller that is gone does not make EKS Auto Mode create load balancers, and a second controller is not the remedy.
func TestScanIngress_AsksForTheClassOfAutoMode(t *testing.T) {
	class := &networkingv1.IngressClass{ObjectMeta: metav1.ObjectMeta{Name: "alb"},
		Spec: networkingv1.IngressClassSpec{Controller: albcontroller.IngressController}}
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "auto", Labels: map[string]string{"eks.amazonaws.com/compute-type": "auto"}}}
	for name, tc := range map[string]struct {
		enabled     bool // as EKS says, whatever the nodes say
		objects     []client.Object
		asks, never string
	}{
		"Auto Mode, a class left":            {false, []client.Object{node, class}, albcontroller.AutoModeRemedy, "install-alb-controller"},
		"Auto Mode":                          {false, []client.Object{node}, albcontroller.AutoModeRemedy, "install-alb-controller"},
		"enabled, no node yet":               {true, nil, albcontroller.AutoModeRemedy, "install-alb-controller"},
		"enabled, no node yet, a class left": {true, []client.Object{class}, albcontroller.AutoModeRemedy, "install-alb-controller"},
		"other nodes, Auto Mode not enabled": {false, []client.Object{class}, "nexusctl install-alb-controller", albcontroller.AutoModeRemedy},
	} {
		x := scannerOf(fake.NewClientBuilder().WithScheme(builtIn(t)).WithObjects(tc.objects...).Build())
		x.autoMode = func(context.Context) bool { return tc.enabled }
		if err := x.scanIngress(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := x.Check(t, "a load balancer controller"); got.Outcome != check.OutcomeWarn || !strings.Contains(got.Fix, tc.asks) ||
			strings.Contains(got.Fix, tc.never) {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// withKindsOf maps the kinds of Kubernetes and of an engine.
func withKindsOf(t *testing.T, engine string) meta.RESTMapper {
	t.Helper()
	mapper := meta.NewDefaultRESTMapper(nil)
	for _, d := range enginecrds.Definitions(t, engine) {
		spec := d.Object["spec"].(map[string]any)
		kind := spec["names"].(map[string]any)["kind"].(string)
		for _, v := range spec["versions"].([]any) {
			mapper.Add(schema.GroupVersionKind{Group: spec["group"].(string), Version: v.(map[string]any)["name"].(string), Kind: kind},
				meta.RESTScopeNamespace)
		}
	}
	return meta.MultiRESTMapper{testrestmapper.TestOnlyStaticRESTMapper(builtIn(t)), mapper}
}

// The kinds of an engine that was uninstalled are left. The scan says nothing of an engine that was never installed.
func TestScanFacts_TellOfEnginesOfWhichOnlyTheKindsAreLeft(t *testing.T) {
	x := scannerOf(fake.NewClientBuilder().WithScheme(builtIn(t)).WithRESTMapper(withKindsOf(t, enginecrds.KubeArmor)).Build())
	if err := x.scanFacts(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := x.Check(t, "KubeArmor runs"); got.Outcome != check.OutcomeWarn ||
		!strings.Contains(got.Evidence, "no agent of KubeArmor is ready") || !strings.Contains(got.Fix, "no intent is Enforced by KubeArmor") {
		t.Errorf("%+v", got)
	}
	for _, c := range x.report.Checks {
		if strings.HasPrefix(c.Title, "Kyverno") || strings.HasPrefix(c.Title, "Istio") {
			t.Errorf("%+v", c)
		}
	}
}

// A Kyverno of today serves its policies in CEL only.
func TestScanEngines_KnowsEachReleaseOfKyverno(t *testing.T) {
	for engine, want := range map[string]string{enginecrds.Kyverno: "present", enginecrds.KyvernoCEL: "present",
		enginecrds.KubeArmor: "absent"} {
		x := scannerOf(fake.NewClientBuilder().WithScheme(builtIn(t)).WithRESTMapper(withKindsOf(t, engine)).Build())
		if err := x.scanEngines(t.Context()); err != nil {
			t.Fatal(err)
		}
		evidence := x.Check(t, "policy engines").Evidence
		present, absent, _ := strings.Cut(evidence, "; absent: ")
		if got := map[bool]string{true: "present", false: "absent"}[strings.Contains(present, "Kyverno")]; got != want ||
			strings.Contains(absent, "Kyverno") == (want == "present") {
			t.Errorf("with the kinds of %s: %s", engine, evidence)
		}
	}
}
