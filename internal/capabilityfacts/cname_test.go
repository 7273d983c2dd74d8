// SPDX-License-Identifier: Apache-2.0

package capabilityfacts

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/capability"
)

func TestTraffic_TellsTheCNAMERecordOfTheHost(t *testing.T) {
	c := &nexusv1.NexusAICapability{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "shop", UID: "1"},
		Spec: nexusv1.NexusAICapabilitySpec{Frontend: nexusv1.FrontendSpec{ComponentSpec: nexusv1.ComponentSpec{Image: "frontend:1"}}}}
	c.Spec.CapabilityName, c.Spec.Environment = "shop", "dev"
	c.Spec.Ingress = &nexusv1.IngressSpec{Host: "app.example.com", HostedZoneID: "Z1"}
	f := capability.Facts{}
	f.Balancer.Name = "k8s-1.elb.eu-west-1.amazonaws.com"
	scheme := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	record := func(uid, id string) *v1alpha1.Route53RecordSet {
		r := &v1alpha1.Route53RecordSet{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: capability.CNAMEObject(c, f)}}
		r.Status.ID = id
		r.OwnerReferences = []metav1.OwnerReference{{UID: types.UID(uid), Controller: new(true)}}
		return r
	}
	for name, tc := range map[string]struct {
		record *v1alpha1.Route53RecordSet
		want   bool
	}{
		"one in AWS":           {record("1", "Z1_app_CNAME"), true},
		"one that was refused": {record("1", ""), false},
		"another's":            {record("2", "Z1_app_CNAME"), false},
	} {
		g := Gatherer{Client: fake.NewClientBuilder().WithScheme(scheme).WithObjects(tc.record).Build()}
		if got, err := g.hasCNAME(t.Context(), c, f); err != nil || got != tc.want {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
}
