// SPDX-License-Identifier: Apache-2.0

package capability

import (
	"context"
	"fmt"
	"strings"
	"testing"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/discovery"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/api/wellknown"
	"github.com/nexus-operator/nexus-operator/internal/apply"
	"github.com/nexus-operator/nexus-operator/internal/status"
	"github.com/nexus-operator/nexus-operator/internal/testkit/extent"
)

// guests are objects of other people in a namespace that was made for a capability. Their kind is the first word of the name.
func guests() []guest {
	m := metav1.ObjectMeta{Name: "guest"}
	scaled := autoscalingv2.HorizontalPodAutoscalerSpec{MaxReplicas: 2, ScaleTargetRef: autoscalingv2.CrossVersionObjectReference{APIVersion: "apps/v1", Kind: "Deployment", Name: "x"}}
	routed := networkingv1.IngressBackend{Service: &networkingv1.IngressServiceBackend{Name: "x", Port: networkingv1.ServiceBackendPort{Number: 80}}}
	bucket := &v1alpha1.S3Bucket{ObjectMeta: m, Spec: v1alpha1.S3BucketSpec{CommonSpec: v1alpha1.CommonSpec{ProviderRef: v1alpha1.ProviderReference{Name: "aws"}}, BucketName: "guests-bucket"}}
	return []guest{
		{"S3Bucket", bucket},
		{"Secret", &corev1.Secret{ObjectMeta: m}},
		{"RoleBinding", &rbacv1.RoleBinding{ObjectMeta: m, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "edit"},
			Subjects: []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: "alice"}}}},
		{"ConfigMap", &corev1.ConfigMap{ObjectMeta: m}},
		{"ServiceAccount", &corev1.ServiceAccount{ObjectMeta: m}},
		{"LimitRange", &corev1.LimitRange{ObjectMeta: m}},
		{"Role", &rbacv1.Role{ObjectMeta: m}},
		{"NetworkPolicy", &networkingv1.NetworkPolicy{ObjectMeta: m}},
		{"PodDisruptionBudget", &policyv1.PodDisruptionBudget{ObjectMeta: m}},
		{"HorizontalPodAutoscaler", &autoscalingv2.HorizontalPodAutoscaler{ObjectMeta: m, Spec: scaled}},
		{"Ingress", &networkingv1.Ingress{ObjectMeta: m, Spec: networkingv1.IngressSpec{DefaultBackend: &routed}}},
		{"ConfigMap of another capability", &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "guest",
			Labels: map[string]string{wellknown.LabelManagedBy: apply.FieldOwner, wellknown.LabelCapabilityUID: "another"}}}},
	}
}

type guest struct {
	name   string
	object client.Object
}

func TestDelete_NamespaceWithObjectsOfOthersStays(t *testing.T) {
	for _, g := range extent.Sample(t, guests(), 3) {
		t.Run(g.name, func(t *testing.T) {
			b := newBed(t)
			c := b.capability()
			b.run(c)
			b.refuseWith("live", "Secret", unavailable) // no Secret is ever listed
			ns := b.ns + "-dev"
			g.object.SetNamespace(ns)
			b.create(g.object)
			b.deleteCapability(c)
			b.takenDown(c)
			kind, _, _ := strings.Cut(g.name, " ")
			want := fmt.Sprintf("Normal InUse namespace %s stays: it holds objects that this capability did not create: 1 %s", ns, kind)
			if events := b.emitted(); len(events) != 1 || events[0] != want {
				t.Errorf("events %q", events)
			}
			stays := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: ns}}
			if !b.exists(stays) || stays.Labels[wellknown.LabelCapabilityUID] != "" || !b.exists(g.object) {
				t.Errorf("the namespace is gone, or still marked: %v", stays.Labels)
			}
			if quotas := (&corev1.ResourceQuotaList{}); b.person.List(t.Context(), quotas, client.InNamespace(ns)) != nil || len(quotas.Items) > 0 {
				t.Errorf("quotas are left: %v", quotas.Items)
			}
		})
	}
}

// The objects of an owner that exists in every namespace, such as the default ServiceAccount, are counted.
func TestDelete_ObjectsOwnedByFurnitureAreCounted(t *testing.T) {
	extent.Full(t)
	b := newBed(t)
	c := b.capability()
	b.run(c)
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: b.ns + "-dev", Name: "default"}}
	b.read(account)
	b.create(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: b.ns + "-dev", Name: "guest",
		OwnerReferences: []metav1.OwnerReference{{APIVersion: "v1", Kind: "ServiceAccount", Name: account.Name, UID: account.UID}}}})
	b.deleteCapability(c)
	b.takenDown(c)
	if events := b.emitted(); len(events) != 1 || !strings.HasSuffix(events[0], ": 1 ConfigMap") {
		t.Errorf("events %q", events)
	}
}

// A page of own objects hides no other one, and no object is counted twice.
func TestDelete_ManyOwnObjectsHideNoOther(t *testing.T) {
	extent.Full(t)
	b := newBed(t)
	c := b.capability()
	b.run(c)
	ns := b.ns + "-dev"
	for i := range 520 {
		own := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: fmt.Sprint("a", i), Labels: map[string]string{wellknown.LabelCapabilityUID: string(c.UID)}}}
		b.create(own)
	}
	owner := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "z-guest"}}
	b.create(owner)
	b.create(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "z-dependent", OwnerReferences: []metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: owner.Name, UID: owner.UID}}}})
	b.deleteCapability(c)
	b.takenDown(c)
	if events := b.emitted(); len(events) != 1 || !strings.HasSuffix(events[0], ": 1 ConfigMap") {
		t.Errorf("events %q", events)
	}
}

// silentGroup is an API server with one group that does not answer.
type silentGroup struct {
	discovery.DiscoveryInterfaceWithContext
}

func (s silentGroup) ServerResourcesForGroupVersionWithContext(ctx context.Context, gv string) (*metav1.APIResourceList, error) {
	if gv == "apps/v1" {
		return nil, unavailable
	}
	return s.DiscoveryInterfaceWithContext.ServerResourcesForGroupVersionWithContext(ctx, gv)
}

func TestDelete_UnknownKindsHoldTheNamespace(t *testing.T) {
	extent.Full(t)
	b := newBed(t)
	c := b.capability()
	b.run(c)
	served := b.served
	b.served = silentGroup{served}
	b.Reconciler = b.newReconciler()
	b.deleteCapability(c)
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: b.ns + "-dev"}}
	b.eventually("the namespace to be next", func() error { return b.holds(c, "the API groups apps/v1 do not answer") })
	b.is(c, status.Stall, metav1.ConditionTrue, status.ReasonInUse)
	if !b.exists(ns) {
		t.Error("the namespace is gone")
	}
	b.served = served
	b.Reconciler = b.newReconciler()
	b.takenDown(c)
	if b.exists(ns) {
		t.Error("the namespace stays without a reason")
	}
}

// holds reconciles, and returns an error until the capability says why its deletion is held.
func (b *bed) holds(c *nexusv1.NexusAICapability, why string) error {
	b.clock.SetTime(b.clock.Now().Add(2 * progressSpacing))
	if _, err := b.reconcile(c); err != nil {
		b.Log(err)
	}
	if b.read(c); !strings.Contains(c.Status.Message, why) {
		return errorf(c)
	}
	return nil
}
