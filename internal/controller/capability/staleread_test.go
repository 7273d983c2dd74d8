// SPDX-License-Identifier: Apache-2.0

package capability

import (
	"context"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/apply"
	"github.com/nexus-operator/nexus-operator/internal/controller/reconciler"
	"github.com/nexus-operator/nexus-operator/internal/testkit/world"
)

// outdated makes a capability reconciler with a cache that stays at the capability before its last status. One intent is covered in it.
func outdated(t *testing.T) (*Reconciler, *nexusv1.NexusAICapability) {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := clientgoscheme.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	if err := nexusv1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	live, err := client.NewWithWatch(world.Shared(t).Config(), client.Options{Scheme: scheme})
	if err != nil {
		t.Fatal(err)
	}
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "outdated-"}}
	if err := live.Create(t.Context(), ns); err != nil {
		t.Fatal(err)
	}
	c := &nexusv1.NexusAICapability{ObjectMeta: metav1.ObjectMeta{Namespace: ns.Name, Name: "outdated"}}
	c.Spec.CapabilityName, c.Spec.Environment = "outdated", "dev"
	c.Spec.Version, c.Spec.Frontend.Image, c.Spec.Backend.Image = "1.0.0", "registry.example/frontend:1", "registry.example/backend:1"
	if err := live.Create(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { // the operator of a later test must not find it
		if err := live.Delete(context.WithoutCancel(t.Context()), c.DeepCopy()); err != nil {
			t.Error(err)
		}
	})
	old := c.DeepCopy()
	cached := interceptor.NewClient(live, interceptor.Funcs{Get: func(_ context.Context, _ client.WithWatch, _ client.ObjectKey, o client.Object, _ ...client.GetOption) error {
		old.DeepCopyInto(o.(*nexusv1.NexusAICapability))
		return nil
	}})
	applier := &apply.Applier{Client: cached, Live: live}
	r := &Reconciler{Environment: reconciler.Environment{Client: cached, Live: live}, Applier: applier,
		statuses: statuses{client: cached, clock: clock.RealClock{}, applier: applier, spacing: newStatusSpacing(clock.RealClock{})}}
	was := c.DeepCopy()
	c.Status.Coverage = []nexusv1.PolicyCoverage{{Intent: "dnsManipulation", Engine: "NetworkPolicy", Level: "Enforced"}}
	if err := r.statuses.patch(t.Context(), c, was); err != nil {
		t.Fatal(err)
	}
	return r, old
}

func TestAStatusThatRestsOnAnOldOneIsRefused(t *testing.T) {
	r, c := outdated(t)
	was := c.DeepCopy()
	// It says nothing of coverage: as a difference to the old status it would leave the newer coverage standing.
	c.Status.Message = "as before"
	if err := r.statuses.patch(t.Context(), c, was); !apierrors.IsConflict(err) {
		t.Errorf("writing a status that rests on an old one ends with %v", err)
	}
}

func TestACapabilityIsReadPastACacheThatLacksItsLastStatus(t *testing.T) {
	r, old := outdated(t)
	c := &nexusv1.NexusAICapability{}
	if err := r.Newest(t.Context(), r.Applier, capabilityRef(client.ObjectKeyFromObject(old)), c); err != nil {
		t.Fatal(err)
	}
	if len(c.Status.Coverage) != 1 {
		t.Errorf("the last status is not seen: %+v", c.Status)
	}
}
