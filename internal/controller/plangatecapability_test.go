// SPDX-License-Identifier: Apache-2.0

package controller_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/api/wellknown"
	"github.com/nexus-operator/nexus-operator/internal/catalog"
	"github.com/nexus-operator/nexus-operator/internal/controller/reconciler"
	"github.com/nexus-operator/nexus-operator/internal/emulator"
	"github.com/nexus-operator/nexus-operator/internal/status"
	"github.com/nexus-operator/nexus-operator/internal/testkit/extent"
)

// pendingEdit waits until a plan of the capability waits for an approval at its present generation; it returns the hash.
func (h *home) pendingEdit(c *nexusv1.NexusAICapability) (hash string) {
	h.Helper()
	h.eventually("the capability to wait for an approval", func() error {
		if err := h.c.Get(h.ctx(), client.ObjectKeyFromObject(c), c); err != nil {
			return err
		}
		pending, ready := meta.FindStatusCondition(c.Status.Conditions, status.PlanApproved),
			meta.FindStatusCondition(c.Status.Conditions, status.Ready)
		if hash = status.PendingPlan(c.Status.Conditions); hash == "" || pending.ObservedGeneration != c.Generation || ready == nil ||
			ready.Reason != status.ReasonPlanPending || ready.ObservedGeneration != c.Generation {
			return fmt.Errorf("%+v", c.Status.Conditions)
		}
		return nil
	})
	return hash
}

// approvedEdit approves the plan of a capability that waits.
func (h *home) approvedEdit(by client.Client, c *nexusv1.NexusAICapability) {
	h.Helper()
	hash := h.pendingEdit(c)
	if err := h.approve(by, c, hash); err != nil {
		h.Fatal(err)
	}
}

// readyEdit waits until the capability is ready at its present generation.
func (h *home) readyEdit(c *nexusv1.NexusAICapability) {
	h.Helper()
	h.eventually("the capability to be ready", func() error {
		if err := h.c.Get(h.ctx(), client.ObjectKeyFromObject(c), c); err != nil || !c.Status.Ready ||
			c.Status.ObservedGeneration != c.Generation {
			return fmt.Errorf("%s: %s %v; objects that wait: %v", c.Status.Phase, c.Status.Message, err, h.waiting(c.Namespace))
		}
		return nil
	})
}

// An edit of a capability waits as a whole: one approval lets its AWS objects, its workloads and its deletions run, and nothing runs
// before. Until then, the operator keeps up the approved declaration.
func TestPlanGate_ACapabilityWaitsAsAWhole(t *testing.T) {
	extent.Full(t)
	h := start(t, "--plan-gate=gated-app")
	c := example("gated-app")
	mark := h.w.AWS().Mark()
	h.create(c)
	approver, tenant := h.approver(c.Namespace), h.tenant(c.Namespace)
	first := h.pendingEdit(c)
	if err := h.approve(tenant, c, first); !apierrors.IsForbidden(err) {
		t.Errorf("a tenant approves: %v", err)
	}
	h.quiet()
	if w, made := h.w.AWS().Since(mark).Writes(), h.madeFor(c); len(w) > 0 || len(made) > 0 {
		t.Errorf("before an approval, AWS got %s, and the cluster %v", w, made)
	}
	h.approvedEdit(approver, c)
	h.readyEdit(c)
	if h.shows(c, status.PlanApproved, "True", status.ReasonPlanApproved); len(h.waiting(c.Namespace)) > 0 {
		t.Errorf("objects wait on their own: %v", h.waiting(c.Namespace))
	}

	// An edit of a workload, and the end of a data service, wait together. The approved state heals in the meantime, in Kubernetes and in
	// AWS.
	mark = h.w.AWS().Mark()
	h.edit(tenant, c, func() { c.Spec.Backend.Image, c.Spec.DataServices.Glue = "back:2", nil })
	edited := h.pendingEdit(c)
	lost := h.deploymentOf(c, "back:1")
	if lost == nil {
		t.Fatal("an edit that waits changed the Deployment")
	}
	if err := h.c.Delete(h.ctx(), lost); err != nil {
		t.Fatal(err)
	}
	h.eventually("the approved Deployment to be back", func() error {
		if back := h.deploymentOf(c, "back:1"); back == nil || back.UID == lost.UID {
			return fmt.Errorf("%v", back)
		}
		return nil
	})
	if w := h.w.AWS().Since(mark).Writes(); len(w) > 0 {
		t.Errorf("before the approval of an edit, AWS got %s", w)
	}
	h.edit(tenant, c, func() { c.Spec.Backend.Image = "back:3" })
	h.eventually("another plan", func() error {
		if now := h.pendingEdit(c); now == edited {
			return fmt.Errorf("plan %s", now)
		}
		return nil
	})
	if err := h.approve(approver, c, edited); err != nil {
		t.Fatal(err)
	}
	h.pendingEdit(c)
	h.quiet()
	if h.deploymentOf(c, "back:1") == nil {
		t.Error("the approval of a plan that is out of date changed the Deployment")
	}
	if writes := h.writes(func() {
		h.alter(c, func() { metav1.SetMetaDataAnnotation(&c.ObjectMeta, wellknown.AnnotationReconcileAt, "again") })
	}); len(writes) > 1 { // the answer to the request
		t.Errorf("a second look at an edit that waits wrote %v", writes)
	}
	// The operator stops as soon as the approval is recorded: the next one carries the plan out.
	h.approvedEdit(approver, c)
	h.shows(c, status.PlanApproved, "True", status.ReasonPlanApproved)
	h.stop()
	h = startOn(t, "--capability-namespaces=*", "--workload-namespaces=*", "--plan-gate=gated-app")
	h.readyEdit(c)
	if h.deploymentOf(c, "back:3") == nil {
		t.Error("the approved edit did not reach the Deployment")
	}
	h.eventually("Glue to be gone", func() error {
		if s := h.left(); strings.Contains(s, "glue") {
			return fmt.Errorf("%s; waiting: %v", s, h.waiting(c.Namespace))
		}
		return nil
	})

	// So does the deletion.
	mark = h.w.AWS().Mark()
	if err := h.c.Delete(h.ctx(), c); err != nil {
		t.Fatal(err)
	}
	h.pendingEdit(c)
	h.quiet()
	if w := h.w.AWS().Since(mark).Writes(); len(w) > 0 || h.deploymentOf(c, "back:3") == nil {
		t.Errorf("before the deletion was approved, AWS got %s, or a Deployment went", w)
	}
	h.approvedEdit(approver, c)
	h.eventually("the capability to be gone", func() error {
		if err := h.c.Get(h.ctx(), client.ObjectKeyFromObject(c), c); !apierrors.IsNotFound(err) {
			return fmt.Errorf("%s %v; waiting: %v", c.Status.Message, err, h.waiting(c.Namespace))
		}
		return nil
	})
	if s := h.left(); s != "" {
		t.Errorf("left in AWS: %s", s)
	}
}

// Objects that run when the gate is closed need no approval. If a tenant changes or deletes one of them, it waits on its own. An owner
// reference to the capability brings no approval along.
func TestPlanGate_AnApprovalCoversOnlyWhatTheCapabilityCompilesTo(t *testing.T) {
	extent.Full(t)
	h := start(t)
	c := example("gated-late")
	c.Spec.DataServices.Glue, c.Spec.DataServices.DynamoDB = nil, nil
	h.create(c)
	h.readyEdit(c)
	ns := &corev1.Namespace{}
	if err := h.c.Get(h.ctx(), client.ObjectKey{Name: c.Namespace}, ns); err != nil {
		t.Fatal(err)
	}
	h.alter(ns, func() { ns.Labels[wellknown.LabelPlanGate] = wellknown.PlanGateClosed })
	h.eventually("the record of what stands", func() error {
		if err := h.c.Get(h.ctx(), client.ObjectKeyFromObject(c), c); err != nil || c.Status.Approved == nil ||
			c.Status.Approved.Generation != c.Generation {
			return fmt.Errorf("%+v %v", c.Status.Approved, err)
		}
		return nil
	})
	h.readyEdit(c)
	tenant := h.tenant(c.Namespace)
	buckets := &v1alpha1.S3BucketList{}
	if err := h.c.List(h.ctx(), buckets, client.InNamespace(c.Namespace)); err != nil || len(buckets.Items) == 0 {
		t.Fatalf("%v %v", buckets.Items, err)
	}
	provider := buckets.Items[0].Spec.ProviderRef.Name
	mark := h.w.AWS().Mark()
	forged := bucketOf(c.Namespace, "forged")
	forged.Spec.ProviderRef.Name, forged.OwnerReferences = provider, buckets.Items[0].OwnerReferences
	for i := range forged.OwnerReferences {
		forged.OwnerReferences[i].BlockOwnerDeletion = nil // which needs a right to the owner's finalizers
	}
	h.as(tenant, forged)
	h.quiet()
	if w := h.w.AWS().Since(mark).Writes(); len(w) > 0 {
		t.Errorf("an object with an owner reference was made in AWS: %s", w)
	}
	if err := tenant.Delete(h.ctx(), &buckets.Items[0]); err != nil {
		t.Fatal(err)
	}
	h.quiet()
	if w := h.w.AWS().Since(mark).Writes(); slices.ContainsFunc(w, func(call emulator.Call) bool { return call.Op == "DeleteBucket" }) {
		t.Errorf("the deletion of one object ran without an approval: %s", w)
	}
	h.alter(ns, func() { delete(ns.Labels, wellknown.LabelPlanGate) }) // which lets everything go
	h.remove(forged)
	h.remove(c)
}

// madeFor lists the AWS objects and the Deployments of a capability.
func (h *home) madeFor(c *nexusv1.NexusAICapability) (out []string) {
	h.Helper()
	for _, e := range catalog.Kinds() {
		list := reconciler.NewList(h.c, e)
		if err := h.c.List(h.ctx(), list, client.InNamespace(c.Namespace)); err != nil {
			h.Fatal(err)
		}
		_ = meta.EachListItem(list, func(item runtime.Object) error {
			out = append(out, e.Name()+"/"+item.(client.Object).GetName())
			return nil
		})
	}
	deployments := &appsv1.DeploymentList{}
	if err := h.c.List(h.ctx(), deployments, client.MatchingLabels{wellknown.LabelCapabilityUID: string(c.UID)}); err != nil {
		h.Fatal(err)
	}
	for _, d := range deployments.Items {
		out = append(out, "Deployment/"+d.Name)
	}
	return out
}

// deploymentOf returns the capability's Deployment that runs an image; nil for none.
func (h *home) deploymentOf(c *nexusv1.NexusAICapability, image string) *appsv1.Deployment {
	h.Helper()
	list := &appsv1.DeploymentList{}
	if err := h.c.List(h.ctx(), list, client.MatchingLabels{wellknown.LabelCapabilityUID: string(c.UID)}); err != nil {
		h.Fatal(err)
	}
	for i, d := range list.Items {
		if d.Spec.Template.Spec.Containers[0].Image == image {
			return &list.Items[i]
		}
	}
	return nil
}

// waiting lists the AWS objects of a namespace that wait for an approval of their own plans.
func (h *home) waiting(ns string) (out []string) {
	h.Helper()
	for _, e := range catalog.Kinds() {
		list := reconciler.NewList(h.c, e)
		if err := h.c.List(h.ctx(), list, client.InNamespace(ns)); err != nil {
			h.Fatal(err)
		}
		_ = meta.EachListItem(list, func(item runtime.Object) error {
			if o := item.(v1alpha1.Resource); status.PendingPlan(o.CommonStatus().Conditions) != "" {
				out = append(out, e.Name()+"/"+o.GetName())
			}
			return nil
		})
	}
	return out
}

// An object of any AWS type waits as the objects of the catalog do.
func TestPlanGate_AnAWSResourceWaits(t *testing.T) {
	extent.Full(t)
	h := start(t, "--types="+streamType, "--plan-gate=any-type-gated")
	double := h.controls()
	p, s, _ := keyed("any-type-gated")
	stream := streamOf("events", p.Namespace, p.Name)
	h.create(s, p, stream)
	approver := h.approver(p.Namespace)
	created := h.pendingPlan(stream)
	h.quiet()
	if made := double.Identifiers(streamType); len(made) > 0 {
		t.Fatalf("before an approval, AWS has %v", made)
	}
	if err := h.approve(approver, stream, created); err != nil {
		t.Fatal(err)
	}
	h.shows(stream, status.Ready, "True", status.ReasonReady)
	h.hasRetention(double, 48)
	h.alter(stream, func() { stream.Spec.Properties.Raw = []byte(`{"Name":"events","RetentionPeriodHours":72}`) })
	edited := h.pendingPlan(stream)
	h.quiet()
	h.hasRetention(double, 48)
	if edited == created {
		t.Errorf("the edit has the hash of the creation")
	}
	if err := h.approve(approver, stream, edited); err != nil {
		t.Fatal(err)
	}
	h.hasRetention(double, 72)
	if err := h.c.Delete(h.ctx(), stream); err != nil {
		t.Fatal(err)
	}
	deleted := h.pendingPlan(stream)
	if made := double.Identifiers(streamType); len(made) != 1 {
		t.Errorf("before the deletion was approved, AWS has %v", made)
	}
	if err := h.approve(approver, stream, deleted); err != nil {
		t.Fatal(err)
	}
	h.gone(v1alpha1.GroupVersion.WithKind("AWSResource"), stream.Namespace, stream.Name)
	if made := double.Identifiers(streamType); len(made) > 0 {
		t.Errorf("left in AWS: %v", made)
	}
	h.remove(p, s)
}
