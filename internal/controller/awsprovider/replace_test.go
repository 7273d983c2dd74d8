// SPDX-License-Identifier: Apache-2.0

package awsprovider

import (
	"errors"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/api/wellknown"
)

func capabilityOf(name string) *nexusv1.NexusAICapability {
	c := &nexusv1.NexusAICapability{ObjectMeta: metav1.ObjectMeta{Namespace: team, Name: name, UID: "uid-capability"}}
	c.Spec.CapabilityName, c.Spec.Environment = name, "dev"
	return c
}

// generatedBy is a provider that a capability made.
func generatedBy(c *nexusv1.NexusAICapability) *v1alpha1.AWSProvider {
	p := ambient(c.Name + "-dev")
	p.OwnerReferences = []metav1.OwnerReference{{APIVersion: nexusv1.GroupVersion.String(), Kind: "NexusAICapability", Name: c.Name,
		UID: c.UID, Controller: new(true)}}
	return p
}

func TestReconcile_LetsAGeneratedProviderGoOnlyToBeMadeAgain(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(b *bed, c *nexusv1.NexusAICapability, p *v1alpha1.AWSProvider)
		goes   bool
	}{
		{"its capability creates it again", func(*bed, *nexusv1.NexusAICapability, *v1alpha1.AWSProvider) {}, true},
		{"its capability does not vouch for it", func(b *bed, _ *nexusv1.NexusAICapability, _ *v1alpha1.AWSProvider) { b.generated = false },
			false},
		{"its capability is suspended", func(_ *bed, c *nexusv1.NexusAICapability, _ *v1alpha1.AWSProvider) { c.Spec.Suspend = true }, false},
		{"another capability has the name", func(_ *bed, c *nexusv1.NexusAICapability, _ *v1alpha1.AWSProvider) { c.UID = "uid-other" }, false},
		{"nobody owns it", func(_ *bed, _ *nexusv1.NexusAICapability, p *v1alpha1.AWSProvider) { p.OwnerReferences = nil }, false},
		{"something else owns it", func(_ *bed, _ *nexusv1.NexusAICapability, p *v1alpha1.AWSProvider) {
			p.OwnerReferences[0].Kind = "Other"
		}, false},
		{"it has credentials that would be lost", func(_ *bed, _ *nexusv1.NexusAICapability, p *v1alpha1.AWSProvider) {
			p.Spec.CredentialsSecret = &v1alpha1.SecretReference{Name: "keys"}
		}, false},
		{"its capability is being deleted", func(_ *bed, c *nexusv1.NexusAICapability, _ *v1alpha1.AWSProvider) {
			c.Finalizers, c.DeletionTimestamp = []string{"example.com/x"}, &metav1.Time{Time: start}
		}, false},
	} {
		b := newBed(t, secretOf("keys"))
		capability := capabilityOf("app")
		p := generatedBy(capability)
		p.Finalizers = []string{finalizer}
		b.generated, b.used[p.Name] = true, 2
		c.change(b, capability, p)
		withObjects(b, capability, p)
		b.remove(p)
		if free, err := b.isReplaceable(t.Context(), p); free != c.goes || err != nil { // asked of the API server, where the cache may lag
			t.Errorf("%s: replaceable %v, %v", c.name, free, err)
		}
		_, _ = b.pass(p)
		if got := b.gone(p); got != c.goes {
			t.Errorf("%s: gone %v, want %v", c.name, got, c.goes)
		}
	}
}

// withObjects creates objects, also such as are being deleted.
func withObjects(b *bed, objs ...client.Object) {
	b.Helper()
	for _, o := range objs {
		going := o.GetDeletionTimestamp() != nil
		o.SetDeletionTimestamp(nil)
		b.must(b.api.Store.Create(b.Context(), o))
		if going {
			b.remove(o)
		}
	}
}

func TestReconcile_KeepsAGeneratedProviderOfATerminatingNamespace(t *testing.T) {
	capability := capabilityOf("app")
	p := generatedBy(capability)
	p.Finalizers = []string{finalizer}
	b := newBed(t, capability, p)
	b.generated, b.used[p.Name] = true, 2
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: team}}
	b.edit(ns, func() { ns.Finalizers = []string{"example.com/x"} })
	b.remove(ns)
	b.remove(p)
	if b.passed(p); !slices.Contains(p.Finalizers, finalizer) {
		t.Error("nobody creates it again there, and its dependents need it")
	}
	for _, call := range []string{"live get NexusAICapability", "live get Namespace"} {
		b.api.Fail(call, errOutage)
		if free, err := b.isReplaceable(t.Context(), p); free || !errors.Is(err, errOutage) {
			t.Errorf("%s: %v %v", call, free, err)
		}
		b.api.Fail(call, nil)
	}
	b.remove(capability)
	if free, err := b.isReplaceable(t.Context(), p); free || err != nil {
		t.Errorf("without its capability: %v %v", free, err)
	}
}

func TestReconcile_WritesNothingWhileItsCapabilityIsFrozen(t *testing.T) {
	for name, freeze := range map[string]func(c *nexusv1.NexusAICapability){
		"paused": func(c *nexusv1.NexusAICapability) {
			c.Annotations = map[string]string{wellknown.AnnotationPaused: "true"}
		},
		"suspended": func(c *nexusv1.NexusAICapability) { c.Spec.Suspend = true },
	} {
		capability := capabilityOf("app")
		freeze(capability)
		p := generatedBy(capability)
		b := newBed(t, capability, p)
		b.passed(p)
		b.writes()
		if n := b.sts.Calls(); n != 0 {
			t.Errorf("%s: STS is asked %d times", name, n)
		}
		b.api.Fail("get NexusAICapability", errOutage)
		if _, err := b.pass(p); !errors.Is(err, errOutage) {
			t.Errorf("%s: goes on although it may be frozen: %v", name, err)
		}
	}
}
