// SPDX-License-Identifier: Apache-2.0

package albcontroller

import (
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/nexus-operator/nexus-operator/internal/helmrelease"
)

func named(name string, finalizers ...string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: "team-a", Name: name, Finalizers: finalizers}
}

func class(name, controller string) client.Object {
	return &networkingv1.IngressClass{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: networkingv1.IngressClassSpec{Controller: controller}}
}

// Without the controller, nothing would remove the load balancers of these objects.
func TestUsers_AreTheObjectsWithLoadBalancersOfTheController(t *testing.T) {
	ours, other := "alb", "nginx"
	nlb := balancerClass
	objects := []client.Object{
		class(ours, IngressController), class(other, "k8s.io/ingress-nginx"),
		&networkingv1.Ingress{ObjectMeta: named("by-class"), Spec: networkingv1.IngressSpec{IngressClassName: &ours}},
		&networkingv1.Ingress{ObjectMeta: named("by-finalizer", "ingress.k8s.aws/resources")},
		&networkingv1.Ingress{ObjectMeta: named("of-another"), Spec: networkingv1.IngressSpec{IngressClassName: &other}},
		&corev1.Service{ObjectMeta: named("by-balancer-class"),
			Spec: corev1.ServiceSpec{Type: corev1.ServiceTypeLoadBalancer, LoadBalancerClass: &nlb}},
		&corev1.Service{ObjectMeta: named("inside"), Spec: corev1.ServiceSpec{Type: corev1.ServiceTypeClusterIP}},
	}
	users, err := usersOfController(t.Context(), fake.NewClientBuilder().WithScheme(clientgoscheme.Scheme).WithObjects(objects...).Build())
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, u := range users {
		got = append(got, u.GetKind()+"/"+u.GetName())
	}
	if slices.Sort(got); !slices.Equal(got, []string{"Ingress/by-class", "Ingress/by-finalizer", "Service/by-balancer-class"}) {
		t.Errorf("%q", got)
	}
}

func TestForeignController_IsFoundByClassDeploymentAndRelease(t *testing.T) {
	deployment := func(ready int32) client.Object {
		return &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "x", Name: "y",
			Labels: map[string]string{"app.kubernetes.io/name": Release}}, Status: appsv1.DeploymentStatus{ReadyReplicas: ready}}
	}
	for name, c := range map[string]struct {
		objects []client.Object
		release *helmrelease.Release
		by      string
		healthy bool
	}{
		"none":                 {[]client.Object{class("nginx", "k8s.io/ingress-nginx")}, nil, "", false},
		"EKS Auto Mode":        {[]client.Object{class("alb", AutoModeController)}, nil, "EKS Auto Mode", true},
		"a Deployment":         {[]client.Object{deployment(1)}, nil, "another tool", true},
		"one without a pod":    {[]client.Object{deployment(0)}, nil, "another tool", false},
		"a release":            {nil, &helmrelease.Release{}, "Helm, as release " + Namespace + "/" + Release, false},
		"a class that is left": {[]client.Object{class("alb", IngressController)}, nil, "another tool", false},
	} {
		t.Run(name, func(t *testing.T) {
			found, err := findForeignController(t.Context(),
				fake.NewClientBuilder().WithScheme(clientgoscheme.Scheme).WithObjects(c.objects...).Build(), c.release)
			if err != nil {
				t.Fatal(err)
			}
			if found == nil {
				if c.by != "" {
					t.Errorf("none, want one of %s", c.by)
				}
				return
			}
			if found.by != c.by || found.healthy != c.healthy || (found.judge() == nil) != c.healthy {
				t.Errorf("%+v", found)
			}
		})
	}
}

func TestChartSource_RefusesNamesOfNoChart(t *testing.T) {
	for name, want := range map[string]string{"": "the name is empty", "a/b": "neither a name", "oci://A B": "--chart", "./a": "",
		"chart": "", "oci://registry.example.com/a": ""} {
		err := ChartSource{Chart: name, Repo: DefaultChartRepo, Version: DefaultChartVersion, Flag: "--chart"}.Check()
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", name, err, want)
		}
	}
	if ref, err := (ChartSource{Chart: "oci://registry.example.com/a", Version: "1.0.0+b"}).reference(); err != nil ||
		ref.Name() != "registry.example.com/a:1.0.0_b" {
		t.Errorf("%v, %v", ref, err)
	}
}
