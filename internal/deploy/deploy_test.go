// SPDX-License-Identifier: Apache-2.0

package deploy

import (
	"bytes"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/nexus-operator/nexus-operator/api/wellknown"
	"github.com/nexus-operator/nexus-operator/internal/albcontroller"
	"github.com/nexus-operator/nexus-operator/internal/connection"
	"github.com/nexus-operator/nexus-operator/internal/console"
	"github.com/nexus-operator/nexus-operator/internal/enact"
	"github.com/nexus-operator/nexus-operator/internal/install"
	"github.com/nexus-operator/nexus-operator/internal/permissions"
)

// connectionTo is a connection without a cluster's name. It keeps its output.
func connectionTo(out *bytes.Buffer) *connection.Connection {
	return &connection.Connection{
		Console: &console.Console{IOStreams: genericiooptions.IOStreams{Out: out, ErrOut: out}, Getenv: func(string) string { return "" },
			Clock: clock.RealClock{}},
		Cluster: genericclioptions.NewConfigFlags(true),
	}
}

func with(objects ...client.Object) client.Client {
	return fake.NewClientBuilder().WithScheme(clientgoscheme.Scheme).WithObjects(objects...).Build()
}

func TestOptions_RefuseWhatCannotBeInstalled(t *testing.T) {
	good := Options{Replicas: 1, Timeout: time.Minute, Scope: permissions.Scope{Role: "a"}, Chart: albcontroller.ChartSource{Chart: "./chart"}}
	if err := good.Check(); err != nil {
		t.Fatal(err)
	}
	for want, change := range map[string]func(*Options){
		"--timeout":  func(o *Options) { o.Timeout = 0 },
		"--replicas": func(o *Options) { o.Replicas = 0 },
		"--role":     func(o *Options) { o.Scope.Role = "" },
		"the name":   func(o *Options) { o.Chart.Chart = "" },
	} {
		bad := good
		change(&bad)
		if err := bad.Check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

func TestDeploy_InstallsNoSecondLoadBalancerController(t *testing.T) {
	for controller, want := range map[string]bool{albcontroller.IngressController: true, albcontroller.AutoModeController: true,
		"k8s.io/ingress-nginx": false} {
		class := &networkingv1.IngressClass{ObjectMeta: metav1.ObjectMeta{Name: "a"}, Spec: networkingv1.IngressClassSpec{Controller: controller}}
		d := &deployer{Connection: connectionTo(&bytes.Buffer{}), flags: &Options{SkipController: true}, client: with(class)}
		if err := d.lookAtController(t.Context()); err != nil {
			t.Fatal(err)
		}
		if noted := len(d.report.Notes) > 0; noted == want || d.controller != nil {
			t.Errorf("%s: %q", controller, d.report.Notes)
		}
	}
}

// A Secret of the name that the operator did not make is of others.
func TestDelete_TakesTheSigningKeyOfTheOperatorOnly(t *testing.T) {
	for label, want := range map[string]int{wellknown.OperatorName: 1, "another": 0} {
		key := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: install.Namespace, Name: wellknown.SigningKeySecret,
			Labels: map[string]string{"app.kubernetes.io/name": label}}}
		var out bytes.Buffer
		d := &deleter{Connection: connectionTo(&out), flags: &DeleteOptions{DryRun: true}, Removal: enact.Removal{Client: with(key)}}
		if err := d.lookAtSigningKey(t.Context()); err != nil || len(d.Changes) != want {
			t.Errorf("%s: %v, %v", label, d.Changes, err)
		}
		if err := d.print(); err != nil || strings.Contains(out.String(), wellknown.SigningKeySecret) != (want > 0) {
			t.Errorf("%s: %v, printed %q", label, err, &out)
		}
	}
}
