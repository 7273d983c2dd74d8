// Package e2e runs the operator's own binary against a real control plane and an emulated AWS, as a
// user's cluster would: killed with SIGKILL, restarted, refused and throttled.
package e2e

import (
	"context"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/discovery"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/testkit/awsproxy"
	kit "github.com/nexus-operator/nexus-operator/internal/testkit/bed"
	"github.com/nexus-operator/nexus-operator/internal/testkit/world"
)

func TestMain(m *testing.M) { world.Main(m, world.Options{CRDs: []string{"../../config/crd/bases"}}) }

// bed is the shared bed under the short names of this package.
type bed struct {
	*kit.Bed
	w  *world.World
	c  client.Client
	ns string
}

func newBed(t *testing.T, flags ...string) *bed {
	t.Helper()
	b := kit.New(t, flags...)
	return &bed{Bed: b, w: b.World, c: b.Client, ns: b.Namespace}
}

func (b *bed) namespace(name string) string { b.Helper(); return b.MakeNamespace(name) }
func (b *bed) ctx() context.Context         { return b.Ctx() }
func (b *bed) restart(flags ...string)      { b.Helper(); b.Restart(flags...) }
func (b *bed) create(objs ...client.Object) { b.Helper(); b.Create(objs...) }
func (b *bed) ready(objs ...client.Object)  { b.Helper(); b.Ready(objs...) }
func (b *bed) remove(objs ...client.Object) { b.Helper(); b.Remove(objs...) }
func (b *bed) get(o client.Object) error    { return b.Get(o) }
func (b *bed) gone(o client.Object)         { b.Helper(); b.Gone(o) }

func (b *bed) eventually(within time.Duration, what string, check func() error) {
	b.Helper()
	b.Eventually(within, what, check)
}

func (b *bed) condition(o client.Object, kind string) (metav1.Condition, error) {
	return b.Condition(o, kind)
}

func (b *bed) shows(o client.Object, kind string, s metav1.ConditionStatus, reason string) string {
	b.Helper()
	return b.Shows(o, kind, s, reason)
}

func (b *bed) inventory() map[string][]string                  { b.Helper(); return b.Inventory() }
func (b *bed) edit(o client.Object, change func())             { b.Helper(); b.Edit(o, change) }
func (b *bed) file(path string) []*unstructured.Unstructured   { b.Helper(); return b.File(path) }
func (b *bed) mark() (awsproxy.Mark, world.AuditMark)          { b.Helper(); return b.Mark() }
func (b *bed) kubeWrites(m world.AuditMark) []world.AuditEvent { b.Helper(); return b.KubeWrites(m) }

func (b *bed) capability(path string) *nexusv1.NexusAICapability {
	b.Helper()
	return b.Capability(path)
}
func (b *bed) running(c *nexusv1.NexusAICapability) time.Duration {
	b.Helper()
	return b.Running(c)
}

func provider(name string) *v1alpha1.AWSProvider {
	return &v1alpha1.AWSProvider{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: v1alpha1.AWSProviderSpec{Region: "ap-southeast-1"}}
}

func through(p string) v1alpha1.CommonSpec {
	return v1alpha1.CommonSpec{ProviderRef: v1alpha1.ProviderReference{Name: p}}
}

// discovery lists the kinds of nexus.ai/v1 as the API server tells clients.
func (b *bed) discovery() ([]metav1.APIResource, error) {
	d, err := discovery.NewDiscoveryClientForConfig(b.w.Config())
	if err != nil {
		return nil, err
	}
	l, err := d.ServerResourcesForGroupVersion("nexus.ai/v1")
	if err != nil {
		return nil, err
	}
	return l.APIResources, nil
}
