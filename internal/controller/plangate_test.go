// SPDX-License-Identifier: Apache-2.0

package controller_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/api/wellknown"
	"github.com/nexus-operator/nexus-operator/internal/emulator"
	"github.com/nexus-operator/nexus-operator/internal/engine"
	"github.com/nexus-operator/nexus-operator/internal/plan"
	"github.com/nexus-operator/nexus-operator/internal/status"
	"github.com/nexus-operator/nexus-operator/internal/testkit/extent"
)

// closedNamespace returns a namespace that requires approval of plans, with a provider that is ready.
func (h *home) closedNamespace() string {
	h.Helper()
	ns := h.namespace(map[string]string{wellknown.LabelPlanGate: wellknown.PlanGateClosed})
	p := &v1alpha1.AWSProvider{ObjectMeta: meta1(ns, "aws"), Spec: v1alpha1.AWSProviderSpec{Region: "ap-southeast-1"}}
	h.make(p)
	h.shows(p, status.Ready, "True", status.ReasonAuthenticated)
	return ns
}

func bucketOf(ns, name string) *v1alpha1.S3Bucket {
	return &v1alpha1.S3Bucket{ObjectMeta: meta1(ns, name), Spec: v1alpha1.S3BucketSpec{
		CommonSpec: v1alpha1.CommonSpec{ProviderRef: v1alpha1.ProviderReference{Name: "aws"}}, BucketName: name + "-" + ns}}
}

// approver returns a client with the rights of ClusterRole nexus-operator-approve in a namespace.
func (h *home) approver(ns string) client.Client {
	h.Helper()
	c := h.userWith(ns, "approver", "nexus-operator-approve")
	h.eventually("the approver to have rights", func() error { return c.List(h.ctx(), &v1alpha1.S3BucketList{}, client.InNamespace(ns)) })
	return c
}

// approve sets the annotation of an approval with the rights of a client.
func (h *home) approve(by client.Client, o client.Object, hash string) error {
	return by.Patch(h.ctx(), o.DeepCopyObject().(client.Object),
		client.RawPatch(types.MergePatchType, fmt.Appendf(nil, `{"metadata":{"annotations":{%q:%q}}}`, wellknown.AnnotationApprovedPlan, hash)))
}

// pendingPlan waits until a plan of the object waits for an approval at its present generation; it returns the hash.
func (h *home) pendingPlan(o client.Object) string {
	h.Helper()
	h.shows(o, status.PlanApproved, "False", status.ReasonPlanPending)
	h.shows(o, status.Ready, "False", status.ReasonPlanPending)
	if err := h.c.Get(h.ctx(), client.ObjectKeyFromObject(o), o); err != nil {
		h.Fatal(err)
	}
	return status.PendingPlan(o.(v1alpha1.Resource).CommonStatus().Conditions)
}

func TestPlanGate_NothingRunsBeforeItsApproval(t *testing.T) {
	h := startBare(t, "--ambient-namespaces=*")
	ns := h.closedNamespace()
	tenant, approver := h.tenant(ns), h.approver(ns)
	mark := h.w.AWS().Mark()
	o := bucketOf(ns, "gated")
	reviewed := h.plannedHash(ns, nexusv1.PlanRequestSpec{Manifests: []nexusv1.PlannedManifest{h.manifestOf(o)}})
	h.as(tenant, o)
	created := h.pendingPlan(o)
	if live := h.plannedHash(ns,
		nexusv1.PlanRequestSpec{Objects: []nexusv1.PlannedObject{{Kind: "S3Bucket", Name: o.Name}}}); reviewed != created || live != created {
		t.Errorf("the plan that waits is %s, that of the manifest was %s, and that of the object is %s", created, reviewed, live)
	}
	if len(o.Finalizers) > 0 || o.Annotations[engine.AnnotationHome] != "" {
		t.Errorf("nothing is in AWS, and the object is marked: %v %v", o.Finalizers, o.Annotations)
	}
	if writes := h.writes(func() { h.touchObject(o) }); len(writes) > 1 { // the answer to the request
		t.Errorf("a second look wrote %v", writes)
	}
	if err := h.approve(tenant, o, created); !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "nexus-operator-approve") {
		t.Errorf("a tenant approves: %v", err)
	}
	forged := bucketOf(ns, "forged")
	forged.Annotations = map[string]string{wellknown.AnnotationApprovedPlan: created}
	if err := tenant.Create(h.ctx(), forged); !apierrors.IsForbidden(err) {
		t.Errorf("a tenant creates an object with an approval: %v", err)
	}
	if err := h.approve(approver, o, strings.Repeat("0", 32)); err != nil {
		t.Fatal(err)
	}
	if again := h.pendingPlan(o); again != created {
		t.Errorf("the plan was %s and is %s", created, again)
	}
	if w := h.w.AWS().Since(mark).Writes(); len(w) > 0 {
		t.Fatalf("before an approval, AWS got %s", w)
	}
	if err := h.approve(approver, o, created); err != nil {
		t.Fatal(err)
	}
	h.shows(o, status.Ready, "True", status.ReasonReady)
	h.shows(o, status.PlanApproved, "True", status.ReasonPlanApproved)

	// An edit waits again, under another hash, also after a second edit.
	mark = h.w.AWS().Mark()
	h.edit(tenant, o, func() { o.Spec.Tags = map[string]v1alpha1.TagValue{"team": "a"} })
	first := h.pendingPlan(o)
	h.edit(tenant, o, func() { o.Spec.Tags = map[string]v1alpha1.TagValue{"team": "b"} })
	h.eventually("another plan", func() error {
		if now := h.pendingPlan(o); now == first || now == created {
			return fmt.Errorf("plan %s", now)
		}
		return nil
	})
	if err := h.approve(approver, o, first); err != nil {
		t.Fatal(err)
	}
	h.pendingPlan(o)
	if w := h.w.AWS().Since(mark).Writes(); len(w) > 0 {
		t.Errorf("the approval of a plan that is out of date let AWS get %s", w)
	}
	if err := h.approve(approver, o, h.pendingPlan(o)); err != nil {
		t.Fatal(err)
	}
	h.shows(o, status.Ready, "True", status.ReasonReady)

	// So does the deletion.
	mark = h.w.AWS().Mark()
	if err := tenant.Delete(h.ctx(), o); err != nil {
		t.Fatal(err)
	}
	deleted := h.pendingPlan(o)
	if w := h.w.AWS().Since(mark).Writes(); len(w) > 0 {
		t.Errorf("before the deletion was approved, AWS got %s", w)
	}
	if err := h.approve(approver, o, deleted); err != nil {
		t.Fatal(err)
	}
	h.gone(v1alpha1.GroupVersion.WithKind("S3Bucket"), ns, o.Name)
}

// manifestOf returns an object as a manifest.
func (h *home) manifestOf(o *v1alpha1.S3Bucket) nexusv1.PlannedManifest {
	h.Helper()
	text, err := json.Marshal(map[string]any{"apiVersion": v1alpha1.GroupVersion.String(), "kind": "S3Bucket",
		"metadata": map[string]any{"name": o.Name, "namespace": o.Namespace}, "spec": o.Spec})
	if err != nil {
		h.Fatal(err)
	}
	return nexusv1.PlannedManifest(text)
}

// plannedHash has the operator plan, and returns the hash of the first plan that needs an approval.
func (h *home) plannedHash(ns string, spec nexusv1.PlanRequestSpec) string {
	h.Helper()
	r := &nexusv1.PlanRequest{ObjectMeta: meta1(ns, ""), Spec: spec}
	r.GenerateName = "review-"
	h.make(r)
	h.shows(r, status.Ready, "True", status.ReasonReady)
	if err := h.c.Get(h.ctx(), client.ObjectKeyFromObject(r), r); err != nil {
		h.Fatal(err)
	}
	var p plan.Plan
	if err := json.Unmarshal([]byte(r.Status.Plan), &p); err != nil || len(p.Items) == 0 || p.Items[0].AWS == nil ||
		p.Items[0].AWS.Approval == nil {
		h.Fatalf("%s: %v", r.Status.Plan, err)
	}
	return p.Items[0].AWS.Approval.Hash
}

// touchObject asks for a check, and waits for the answer.
func (h *home) touchObject(o *v1alpha1.S3Bucket) {
	h.Helper()
	h.alter(o, func() {
		if o.Annotations == nil {
			o.Annotations = map[string]string{}
		}
		o.Annotations[wellknown.AnnotationReconcileAt] = "now"
	})
	h.eventually("the answer to a request", func() error {
		if err := h.c.Get(h.ctx(), client.ObjectKeyFromObject(o), o); err != nil || o.Status.LastHandledReconcileAt != "now" {
			return fmt.Errorf("%q: %v", o.Status.LastHandledReconcileAt, err)
		}
		return nil
	})
}

// The operator stops between two calls of an approved plan: the next one makes the rest, without another approval.
func TestPlanGate_AnApprovedPlanIsFinishedAfterAStop(t *testing.T) {
	extent.Full(t)
	h := startBare(t, "--ambient-namespaces=*")
	ns := h.closedNamespace()
	o := bucketOf(ns, "halfway")
	o.Spec.Versioning = &v1alpha1.S3Versioning{Enabled: true}
	h.make(o)
	rule := h.w.AWS().Fault(emulator.Match{Service: "s3", Op: "PutBucketVersioning"},
		emulator.Fail(403, "AccessDenied", "not authorized to perform: s3:PutBucketVersioning"))
	if err := h.approve(h.approver(ns), o, h.pendingPlan(o)); err != nil {
		t.Fatal(err)
	}
	h.shows(o, status.Ready, "False", status.ReasonAccessDenied) // a right is missing, which is no plan that waits
	h.stop()
	rule.Remove()
	h = startOn(t, "--ambient-namespaces=*")
	h.shows(o, status.Ready, "True", status.ReasonReady)
	h.shows(o, status.PlanApproved, "True", status.ReasonPlanApproved)
}

// Where the admission policy is not enforced, everybody who may edit an object could approve its plan: no approval counts.
func TestPlanGate_ApprovalsCountOnlyWhereTheyAreProtected(t *testing.T) {
	extent.Full(t)
	h := startBare(t, "--ambient-namespaces=*", "--plan-gate=i-*")
	h.robbed = true // of the policy
	ns := h.namespace(nil)
	h.make(&v1alpha1.AWSProvider{ObjectMeta: meta1(ns, "aws"), Spec: v1alpha1.AWSProviderSpec{Region: "ap-southeast-1"}})
	restore := h.withoutApprovalsPolicy()
	mark := h.w.AWS().Mark()
	o := bucketOf(ns, "open")
	h.make(o)
	hash := h.pendingPlan(o)
	tenant := h.tenant(ns)
	// the API server learns of the policy with a delay
	h.eventually("the tenant to approve", func() error { return h.approve(tenant, o, hash) })
	h.eventually("the object to say what is missing", func() error {
		if m := h.shows(o, status.Ready, "False", status.ReasonPlanPending); !strings.Contains(m, wellknown.ApprovalsPolicy) {
			return fmt.Errorf("says %s", m)
		}
		return nil
	})
	if w := h.w.AWS().Since(mark).Writes(); len(w) > 0 {
		t.Errorf("AWS got %s", w)
	}
	restore()
	attempts := 0
	h.eventually("the policy to be in force", func() error {
		attempts++
		err := h.approve(tenant, o, fmt.Sprint(attempts))
		if !apierrors.IsForbidden(err) {
			return fmt.Errorf("a tenant approves: %v", err)
		}
		return nil
	})
}

// withoutApprovalsPolicy takes the binding of the policy away until restore, or the end of the test.
func (h *home) withoutApprovalsPolicy() (restore func()) {
	h.Helper()
	binding := &unstructured.Unstructured{}
	binding.SetGroupVersionKind(admissionv1.SchemeGroupVersion.WithKind("ValidatingAdmissionPolicyBinding"))
	if err := h.c.Get(h.ctx(), client.ObjectKey{Name: wellknown.ApprovalsPolicy}, binding); err != nil {
		h.Fatal(err)
	}
	if err := h.c.Delete(h.ctx(), binding); err != nil {
		h.Fatal(err)
	}
	restore = sync.OnceFunc(func() {
		binding.SetResourceVersion("")
		binding.SetUID("")
		if err := h.c.Create(h.ctx(), binding); err != nil {
			h.Error(err)
		}
	})
	h.Cleanup(restore)
	return restore
}
