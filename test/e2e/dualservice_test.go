// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/internal/testkit/extent"
)

// The two Services of a backend lead to the same pods. The internal one stays inside the cluster when the other becomes a load
// balancer, and is deleted when dualService is false.
func TestDualService_TheInternalServiceStaysInside(t *testing.T) {
	extent.Full(t)
	b := newBed(t)
	c := b.Capability("examples/dual-service-backend.yaml")
	b.Create(c)
	b.Running(c)
	internalURL := func() string {
		m := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: c.Namespace, Name: "relay-dev-config"}}
		if err := b.Get(m); err != nil {
			t.Fatal(err)
		}
		return m.Data["NEXUS_BACKEND_INTERNAL_URL"]
	}
	traffic, internal := b.service(c.Namespace, "relay-dev-backend-svc"), b.service(c.Namespace, "relay-dev-backend-svc-internal")
	for _, s := range []*corev1.Service{traffic, internal} {
		if s.Spec.Type != corev1.ServiceTypeClusterIP || s.Spec.Ports[0].Port != 9000 {
			t.Errorf("%s: type %s, ports %+v", s.Name, s.Spec.Type, s.Spec.Ports)
		}
		b.leadsTo(s, 2)
	}
	if got, want := internalURL(), "http://relay-dev-backend-svc-internal.relay-dev.svc:9000"; got != want {
		t.Errorf("the workloads call %s, want %s", got, want)
	}

	b.Edit(c, func() { c.Spec.Ingress.Enabled = new(false) })
	b.Eventually(time.Minute, "the first Service to be a load balancer", func() error {
		if s := b.service(c.Namespace, traffic.Name); s.Spec.Type != corev1.ServiceTypeLoadBalancer {
			return fmt.Errorf("%s", s.Spec.Type)
		}
		return nil
	})
	if s := b.service(c.Namespace, internal.Name); s.Spec.Type != corev1.ServiceTypeClusterIP || s.UID != internal.UID ||
		s.Spec.ClusterIP != internal.Spec.ClusterIP {
		t.Errorf("the internal Service changed: %+v", s.Spec)
	}

	b.Edit(c, func() { c.Spec.Ingress.Enabled, c.Spec.Backend.DualService = new(true), new(false) })
	b.Eventually(time.Minute, "the internal Service to be gone", func() error {
		if err := b.Get(internal); !apierrors.IsNotFound(err) {
			return fmt.Errorf("it is there: %v", err)
		}
		return nil
	})
	b.Running(c)
	if got, want := internalURL(), "http://relay-dev-backend-svc.relay-dev.svc:9000"; got != want {
		t.Errorf("the workloads call %s, want %s", got, want)
	}
	b.Remove(c)
	b.nothingLeft(c.Namespace)
}

func (b *bed) service(namespace, name string) *corev1.Service {
	b.Helper()
	s := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	if err := b.Get(s); err != nil {
		b.Fatal(err)
	}
	return s
}

// leadsTo waits until a Service has ready endpoints.
func (b *bed) leadsTo(s *corev1.Service, want int) {
	b.Helper()
	b.Eventually(30*time.Second, s.Name+" to lead to its pods", func() error {
		slices, ready := &discoveryv1.EndpointSliceList{}, 0
		if err := b.Client.List(b.Ctx(), slices, client.InNamespace(s.Namespace),
			client.MatchingLabels{discoveryv1.LabelServiceName: s.Name}); err != nil {
			return err
		}
		for _, slice := range slices.Items {
			for _, e := range slice.Endpoints {
				if e.Conditions.Ready != nil && *e.Conditions.Ready {
					ready++
				}
			}
		}
		if ready != want {
			return fmt.Errorf("%d ready endpoints, want %d", ready, want)
		}
		return nil
	})
}
