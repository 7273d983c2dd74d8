// SPDX-License-Identifier: Apache-2.0

package controller_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"

	intentv1alpha1 "github.com/nexus-operator/nexus-operator/api/intent/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/testkit/enginecrds"
	"github.com/nexus-operator/nexus-operator/internal/testkit/extent"
	"github.com/nexus-operator/nexus-operator/internal/testkit/world"
)

// without removes an object that every world has, until the test ends.
func without(t *testing.T, w *world.World, o client.Object) {
	t.Helper()
	c, err := client.New(w.Config(), client.Options{Scheme: clientgoscheme.Scheme})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(o), o); err != nil {
		t.Fatal(err)
	}
	if err := c.Delete(t.Context(), o.DeepCopyObject().(client.Object)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		o.SetResourceVersion("")
		o.SetUID("")
		if err := c.Create(context.WithoutCancel(t.Context()), o); err != nil {
			t.Error(err)
		}
	})
}

// An uninstall of an engine leaves its kinds behind, and objects of them hold nothing. They are there for when the engine is again.
func TestKindsThatAnEngineLeft_HoldNothing(t *testing.T) {
	extent.Full(t)
	webhooks := func(name string) client.Object {
		return &admissionregistrationv1.ValidatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: name}}
	}
	for engine, tc := range map[string]struct {
		kinds  string
		sign   client.Object
		intent string
		makes  schema.GroupVersionKind
		says   string
	}{
		"KubeArmor": {enginecrds.KubeArmor,
			&appsv1.DaemonSet{ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceSystem, Name: world.KubeArmorAgents}},
			"swDeploymentTools", kubeArmorPolicy, "no agent of KubeArmor is ready"},
		"Kyverno": {enginecrds.Kyverno, webhooks(world.KyvernoWebhooks), "cocoWorkload", kyvernoPolicy,
			"no webhook of Kyverno leads to a Service that exists"},
		"Istio": {enginecrds.Istio, webhooks(world.IstioWebhooks), "ensureTLS", istioPeer,
			"no webhook of Istio's control plane leads to a Service that exists"},
	} {
		t.Run(engine, func(t *testing.T) {
			without(t, world.Shared(t), tc.sign)
			h := start(t)
			h.install(tc.kinds)
			ns := h.namespace(map[string]string{"istio-injection": "enabled"})
			b := h.binds(ns, "web", app, h.declared(tc.intent, intentv1alpha1.Block, nil))
			h.make(b)
			h.eventually("the claim to say that nothing runs", func() error {
				if err := h.c.Get(h.ctx(), client.ObjectKeyFromObject(b), b); err != nil {
					return err
				}
				for _, c := range b.Status.Coverage {
					if c.Engine == engine && c.Level == "None" && c.Reason == "NoEnforcer" && strings.Contains(c.Message, tc.says) {
						return nil
					}
				}
				return fmt.Errorf("%+v", b.Status.Coverage)
			})
			h.shows(b, "Enforced", "False", "NotEnforced")
			h.areThere(ns, true, tc.makes)
			h.remove(b)
		})
	}
}
