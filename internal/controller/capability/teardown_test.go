// SPDX-License-Identifier: Apache-2.0

package capability

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	intentv1alpha1 "github.com/nexus-operator/nexus-operator/api/intent/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/api/wellknown"
	"github.com/nexus-operator/nexus-operator/internal/apply"
	"github.com/nexus-operator/nexus-operator/internal/capability"
	"github.com/nexus-operator/nexus-operator/internal/status"
	"github.com/nexus-operator/nexus-operator/internal/testkit/extent"
)

// deleteCapability deletes a capability as kubectl does.
func (b *bed) deleteCapability(c *nexusv1.NexusAICapability) {
	b.Helper()
	if err := b.person.Delete(b.Context(), c); err != nil {
		b.Fatal(err)
	}
	b.read(c)
	b.written()
	b.emitted()
}

// takenDown reconciles until the capability is gone, and returns the deleted objects, in order.
func (b *bed) takenDown(c *nexusv1.NexusAICapability) []string {
	b.Helper()
	b.eventually("the capability to be gone", func() error {
		b.clock.SetTime(b.clock.Now().Add(2 * time.Minute))
		if _, err := b.reconcile(c); err != nil {
			return err
		}
		err := b.person.Get(b.Context(), client.ObjectKeyFromObject(c), c)
		if apierrors.IsNotFound(err) {
			return nil
		}
		return fmt.Errorf("%w: %s", errors.Join(err, errors.New("still there")), c.Status.Message)
	})
	return slices.DeleteFunc(b.written(), func(w string) bool { return !strings.HasPrefix(w, "delete ") })
}

func TestDelete_GoesStageByStageAndLeavesNothing(t *testing.T) {
	b := newBed(t)
	c := b.capability(withBucket)
	b.run(c)
	b.deleteCapability(c)
	b.pass(c)
	b.is(c, status.Ready, metav1.ConditionFalse, status.ReasonDeleting)
	if c.Status.Phase != nexusv1.PhaseDeleting {
		t.Error(c.Status.Phase)
	}
	var got []int
	for _, w := range append(b.written(), b.takenDown(c)...) {
		kind, name, _ := strings.Cut(strings.TrimPrefix(w, "delete "), "/")
		for i, stage := range capability.DeletionOrder {
			if stage.Includes(kind, name) && strings.HasPrefix(w, "delete ") {
				got = append(got, i)
			}
		}
	}
	if !slices.IsSorted(got) || len(got) < 10 {
		t.Errorf("the stages are deleted in the order %v", got)
	}
	for _, kind := range awsKinds {
		if left, err := b.teardown.anyLeft(t.Context(), c, v1alpha1.GroupVersion.WithKind(kind)); left || err != nil {
			t.Errorf("%s is left: %v, %v", kind, left, err)
		}
	}
	if res, err := b.reconcile(c); err != nil || !res.IsZero() || len(b.memories.all) > 0 {
		t.Errorf("%+v, %v: a capability that is gone is remembered", res, err)
	}
}

func TestDelete_FailuresKeepTheFinalizer(t *testing.T) {
	b := newBed(t)
	c := b.capability()
	b.run(c)
	b.deleteCapability(c)
	for _, tc := range []struct {
		name, verb, kind string
		refusal          error
		reason           string
		stalled          metav1.ConditionStatus
		says             string
	}{
		{"a list without an answer", "list", "Deployment", unavailable, status.ReasonRetrying, metav1.ConditionFalse, "listing Deployment"},
		{"no right to list", "list", "IAMRole", forbidden, status.ReasonAccessDenied, metav1.ConditionTrue, "listing IAMRole"},
		{"no right to delete", "delete", "Deployment", forbidden, status.ReasonAccessDenied, metav1.ConditionTrue, "deleting Deployment"},
		{"a delete without an answer", "delete", "Deployment", unavailable, status.ReasonRetrying, metav1.ConditionFalse, "deleting Deployment"},
	} {
		b.refuseWith(tc.verb, tc.kind, tc.refusal)
		if _, err := b.reconcile(c); err == nil {
			t.Errorf("%s: the work queue does not see the failure", tc.name)
		}
		b.read(c)
		if !slices.Contains(c.Finalizers, Finalizer) || c.Status.Phase != nexusv1.PhaseDeleting {
			t.Errorf("%s: finalizers %q, phase %s", tc.name, c.Finalizers, c.Status.Phase)
		}
		b.is(c, status.Stall, tc.stalled, tc.reason)
		if !strings.Contains(c.Status.Message, tc.says) {
			t.Errorf("%s: the message is %s", tc.name, c.Status.Message)
		}
		b.allowAll()
	}
	b.takenDown(c)
}

func TestDelete_AsksTheAPIServerBeforeTheEnd(t *testing.T) {
	extent.Full(t)
	b := newBed(t)
	c := b.capability()
	b.pass(c)
	b.deleteCapability(c)
	// The caches do not show the provider that was created right before.
	hidden := &v1alpha1.AWSProvider{ObjectMeta: metav1.ObjectMeta{Namespace: b.ns, Name: b.ns + "-dev"}}
	b.hide = func(schema.GroupVersionKind) bool { return true }
	b.pass(c)
	if !slices.Contains(c.Finalizers, Finalizer) || !b.exists(hidden) {
		t.Fatalf("the finalizer is gone while %s exists", hidden.Name)
	}
	b.refuseWith("live", "IAMRole", forbidden)
	if err := b.person.Delete(t.Context(), hidden); err != nil {
		t.Fatal(err)
	}
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: b.ns + "-dev"}}
	_ = b.person.Delete(t.Context(), ns)
	b.eventually("the namespace to be gone", func() error {
		if err := b.person.Get(t.Context(), client.ObjectKeyFromObject(ns), ns); !apierrors.IsNotFound(err) {
			return fmt.Errorf("still there (%v)", err)
		}
		return nil
	})
	if _, err := b.reconcile(c); !apierrors.IsForbidden(err) {
		t.Errorf("without an answer: %v", err)
	}
	b.refuseWith("patch", "NexusAICapability", raced)
	if res, err := b.reconcile(c); err != nil || res.RequeueAfter == 0 {
		t.Errorf("a race at the end: %+v, %v", res, err)
	}
	b.allowAll()
	b.takenDown(c)
}

func TestDelete_FinishesWithoutItsFinalizer(t *testing.T) {
	b := newBed(t)
	c := b.capability()
	b.run(c)
	b.edit(c, func() { c.Finalizers = []string{"example.com/other"} })
	b.deleteCapability(c)
	if res := b.pass(c); !res.IsZero() || len(b.written()) > 0 {
		t.Errorf("a capability whose finalizer somebody removed is written, or looked at again: %+v", res)
	}
	b.edit(c, func() { c.Finalizers = nil })
}

func TestDelete_OrphanKeepsEveryObject(t *testing.T) {
	extent.Full(t)
	for name, tc := range map[string]struct {
		policy  nexusv1.DeletionPolicy
		cascade metav1.DeletionPropagation
	}{
		"deletionPolicy: Orphan": {nexusv1.DeletionOrphan, metav1.DeletePropagationBackground},
		"--cascade=orphan":       {nexusv1.DeletionDelete, metav1.DeletePropagationOrphan},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBed(t)
			c := b.capability(withBucket, func(c *nexusv1.NexusAICapability) { c.Spec.DeletionPolicy = tc.policy })
			b.run(c)
			if err := b.person.Delete(t.Context(), c, client.PropagationPolicy(tc.cascade)); err != nil {
				t.Fatal(err)
			}
			b.written()
			deleted := b.takenDown(c)
			if slices.ContainsFunc(deleted, func(w string) bool { return strings.HasPrefix(w, "delete Deployment/") }) || len(b.deployments(b.ns+"-dev")) != 2 {
				t.Errorf("the workloads are deleted: %q", deleted)
			}
			m := b.configMap()
			if !b.exists(m) || m.Labels[wellknown.LabelCapabilityUID] != "" || m.Annotations[apply.AnnotationOwner] != "" {
				t.Errorf("the ConfigMap is still marked: %v %v", m.Labels, m.Annotations)
			}
			if tc.cascade == metav1.DeletePropagationOrphan && len(deleted) > 0 {
				t.Errorf("deleted %q", deleted)
			}
		})
	}
}

// collected waits for the garbage collector to have cut the references of an orphaning deletion.
func (b *bed) collected(c *nexusv1.NexusAICapability) {
	b.Helper()
	b.eventually("the garbage collector to be done", func() error {
		b.read(c)
		if slices.Contains(c.Finalizers, metav1.FinalizerOrphanDependents) {
			return fmt.Errorf("finalizers %q", c.Finalizers)
		}
		return nil
	})
}

// The operator was busy while the garbage collector orphaned the objects, and its cache still shows their owner references.
func TestDelete_OrphanIsSeenPastACacheThatLags(t *testing.T) {
	extent.Full(t)
	b := newBed(t)
	c := b.capability(withBucket)
	b.run(c)
	if err := b.person.Delete(t.Context(), c, client.PropagationPolicy(metav1.DeletePropagationOrphan)); err != nil {
		t.Fatal(err)
	}
	b.collected(c)
	reference := *metav1.NewControllerRef(c, nexusv1.GroupVersion.WithKind("NexusAICapability"))
	b.listed = func(o client.Object) {
		if o.GetNamespace() == b.ns && o.GetLabels()[wellknown.LabelCapabilityUID] == string(c.UID) {
			o.SetOwnerReferences([]metav1.OwnerReference{reference})
		}
	}
	b.written()
	if deleted := b.takenDown(c); len(deleted) > 0 {
		t.Errorf("deleted %q", deleted)
	}
}

// A write of the operator that was under way restored a reference after the garbage collector had cut it.
func TestDelete_OrphanIsSeenPastARestoredReference(t *testing.T) {
	extent.Full(t)
	b := newBed(t)
	c := b.capability(withBucket)
	b.run(c)
	if err := b.person.Delete(t.Context(), c, client.PropagationPolicy(metav1.DeletePropagationOrphan)); err != nil {
		t.Fatal(err)
	}
	b.collected(c)
	o := b.bucket()
	b.edit(o, func() {
		o.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(c, nexusv1.GroupVersion.WithKind("NexusAICapability"))}
	})
	b.written()
	if deleted := b.takenDown(c); len(deleted) > 0 {
		t.Errorf("deleted %q", deleted)
	}
	if b.read(o); len(o.OwnerReferences) > 0 {
		t.Errorf("the bucket still has an owner: %v", o.OwnerReferences)
	}
}

// A person cut one object off: the others go as they were asked to.
func TestDelete_OneCutReferenceKeepsNoOtherObject(t *testing.T) {
	extent.Full(t)
	b := newBed(t)
	c := b.capability(withBucket)
	b.run(c)
	b.deleteCapability(c)
	o := b.bucket()
	b.edit(o, func() { o.OwnerReferences = nil })
	deleted := b.takenDown(c)
	for _, kind := range []string{"AWSProvider", "IAMRole", "Deployment"} {
		if !slices.ContainsFunc(deleted, func(w string) bool { return strings.HasPrefix(w, "delete "+kind+"/") }) {
			t.Errorf("no %s among what was deleted: %q", kind, deleted)
		}
	}
}

// Objects with a provider of another owner are refused the operator's own identity, also for their deletion.
func TestDelete_RestoresTheReferenceOfItsProvider(t *testing.T) {
	extent.Full(t)
	b := newBed(t)
	c := b.capability(withBucket)
	b.run(c)
	b.deleteCapability(c)
	o := &v1alpha1.AWSProvider{ObjectMeta: metav1.ObjectMeta{Namespace: b.ns, Name: b.ns + "-dev"}}
	b.edit(o, func() { o.OwnerReferences = nil })
	b.pass(c)
	if b.read(o); !metav1.IsControlledBy(o, c) {
		t.Errorf("the provider is controlled by %v", o.OwnerReferences)
	}
	b.takenDown(c)
}

func TestDelete_PoliciesStayUntilThePodsHaveEnded(t *testing.T) {
	extent.Full(t)
	b := newBed(t)
	c := b.capability(func(c *nexusv1.NexusAICapability) {
		c.Spec.Security = &nexusv1.SecuritySpec{Intents: []nexusv1.IntentReference{{Name: b.ns + "-none"}}}
	})
	b.eventually("the workloads", func() error {
		b.answer()
		b.clock.SetTime(b.clock.Now().Add(2 * progressSpacing))
		if b.pass(c); len(b.deployments(b.ns+"-dev")) < 2 {
			return errorf(c)
		}
		return nil
	})
	binding := &intentv1alpha1.SecurityIntentBinding{ObjectMeta: metav1.ObjectMeta{Namespace: b.ns + "-dev", Name: b.ns + "-dev-policies"}}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: b.ns + "-dev", Name: "slow-to-end", Finalizers: []string{holdsData},
		Labels: map[string]string{wellknown.LabelCapabilityUID: string(c.UID)}},
		Spec: *b.deployments(b.ns + "-dev")[0].Spec.Template.Spec.DeepCopy()}
	pod.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "example.com/never"}}
	b.create(pod)
	b.deleteCapability(c)
	b.eventually("the binding to be next", func() error {
		b.clock.SetTime(b.clock.Now().Add(2 * progressSpacing))
		b.pass(c)
		if !strings.Contains(c.Status.Message, "it stays until pod slow-to-end has ended") {
			return errorf(c)
		}
		return nil
	})
	if !b.exists(binding) {
		t.Error("the policies are gone before the pod")
	}
	b.refuseWith("list", "Pod", forbidden)
	if _, err := b.reconcile(c); !apierrors.IsForbidden(err) || !b.exists(binding) {
		t.Errorf("without a look at the pods: %v", err)
	}
	b.allowAll()
	b.edit(pod, func() { pod.Finalizers = nil })
	if err := b.person.Delete(t.Context(), pod); client.IgnoreNotFound(err) != nil {
		t.Fatal(err)
	}
	b.takenDown(c)
}

func TestRemainingState_OfAnIngressNobodyReleases(t *testing.T) {
	b := newBed(t)
	i := &networkingv1.Ingress{ObjectMeta: metav1.ObjectMeta{Namespace: b.ns, Name: "app", Finalizers: []string{"group.ingress.k8s.aws/x"}}}
	i.Spec.IngressClassName = new(b.ns)
	i.Spec.DefaultBackend = &networkingv1.IngressBackend{Service: &networkingv1.IngressServiceBackend{Name: "app", Port: networkingv1.ServiceBackendPort{Number: 80}}}
	b.create(i)
	ref := apply.Ref{Kind: networkingv1.SchemeGroupVersion.WithKind("Ingress"), Namespace: b.ns, Name: "app"}
	look := func() (capability.State, error) { return b.teardown.remainingState(t.Context(), ref) }
	if s, err := look(); err != nil || s.Stalled || s.Reason != status.ReasonDeleting {
		t.Errorf("before its deletion: %+v, %v", s, err)
	}
	if err := b.person.Delete(t.Context(), i); err != nil {
		t.Fatal(err)
	}
	s, err := look()
	if err != nil || !s.Stalled || s.Reason != status.ReasonIngressControllerGone || !strings.Contains(s.Message, "group.ingress.k8s.aws/x") || !strings.Contains(s.Message, "install it again") {
		t.Errorf("without a controller: %+v, %v", s, err)
	}
	b.refuseWith("get", "IngressClass", forbidden)
	if _, err := look(); !apierrors.IsForbidden(err) {
		t.Errorf("without the right to look for one: %v", err)
	}
	b.allowAll()
	class := &networkingv1.IngressClass{ObjectMeta: metav1.ObjectMeta{Name: b.ns}, Spec: networkingv1.IngressClassSpec{Controller: "example.com/alb"}}
	b.create(class)
	if s, err := look(); err != nil || s.Stalled {
		t.Errorf("with a controller: %+v, %v", s, err)
	}
	b.edit(i, func() { i.Finalizers = nil })
	if s, err := look(); err != nil || s.Stalled {
		t.Errorf("once it is gone: %+v, %v", s, err)
	}
}
