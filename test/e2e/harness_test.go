// SPDX-License-Identifier: Apache-2.0

// Package e2e runs the operator's own binary against a real control plane and an emulated AWS, as a
// user's cluster would: killed with SIGKILL, restarted, refused and throttled.
package e2e

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/discovery"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	kit "github.com/nexus-operator/nexus-operator/internal/testkit/bed"
	"github.com/nexus-operator/nexus-operator/internal/testkit/world"
)

func TestMain(m *testing.M) { world.Main(m, world.Options{CRDs: []string{"../../config/crd/bases"}}) }

// bed is the shared bed, with what only tests of this package need.
type bed struct{ *kit.Bed }

func newBed(t *testing.T, flags ...string) *bed {
	t.Helper()
	return &bed{kit.New(t, flags...)}
}

func provider(name string) *v1alpha1.AWSProvider {
	return &v1alpha1.AWSProvider{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: v1alpha1.AWSProviderSpec{Region: "ap-southeast-1"}}
}

func through(p string) v1alpha1.CommonSpec {
	return v1alpha1.CommonSpec{ProviderRef: v1alpha1.ProviderReference{Name: p}}
}

// discovery lists the kinds of nexus.ai/v1 as the API server tells clients.
func (b *bed) discovery() ([]metav1.APIResource, error) {
	d, err := discovery.NewDiscoveryClientForConfig(b.World.Config())
	if err != nil {
		return nil, err
	}
	l, err := d.ServerResourcesForGroupVersion("nexus.ai/v1")
	if err != nil {
		return nil, err
	}
	return l.APIResources, nil
}
