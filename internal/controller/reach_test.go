// SPDX-License-Identifier: Apache-2.0

package controller_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	intentv1alpha1 "github.com/nexus-operator/nexus-operator/api/intent/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/testkit/extent"
	"github.com/nexus-operator/nexus-operator/internal/testkit/operator"
	"github.com/nexus-operator/nexus-operator/internal/testkit/world"
)

// withEveryRight is a client of the operator's ServiceAccount that RBAC allows everything: only the policy can refuse it.
func (h *home) withEveryRight() client.Client {
	h.Helper()
	if _, err := operator.Config(h.w); err != nil { // which installs the policy
		h.Fatal(err)
	}
	cfg, err := h.w.UserConfig(operator.User, "system:masters")
	if err != nil {
		h.Fatal(err)
	}
	c, err := client.New(cfg, client.Options{Scheme: h.c.Scheme()})
	if err != nil {
		h.Fatal(err)
	}
	return c
}

func meta1(ns, name string) metav1.ObjectMeta { return metav1.ObjectMeta{Namespace: ns, Name: name} }

// marks returns the metadata of an object that the operator created.
func marks(ns, name string) metav1.ObjectMeta {
	m := meta1(ns, name)
	m.Labels = map[string]string{"nexus.ai/capability-uid": "u"}
	m.Annotations = map[string]string{"nexus.ai/owner": "NexusAICapability/a/b"}
	return m
}

func deployment(m metav1.ObjectMeta) *appsv1.Deployment {
	pod := map[string]string{"app": "x"}
	return &appsv1.Deployment{ObjectMeta: m, Spec: appsv1.DeploymentSpec{
		Replicas: new(int32), Selector: &metav1.LabelSelector{MatchLabels: pod},
		Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: pod},
			Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "x", Image: "x"}}}},
	}}
}

func TestReach_DeniesWhatTheOperatorNeverWrites(t *testing.T) {
	h := &home{T: t, w: world.Shared(t)}
	h.connect()
	c, ns := h.withEveryRight(), h.namespace(nil)
	theirs := deployment(meta1(ns, "theirs"))
	policy := &networkingv1.NetworkPolicy{ObjectMeta: meta1(ns, "theirs")}
	secret := &corev1.Secret{ObjectMeta: meta1(ns, "theirs"), StringData: map[string]string{"key": "value"}}
	bucket := &v1alpha1.S3Bucket{ObjectMeta: meta1(ns, "theirs"), Spec: v1alpha1.S3BucketSpec{
		CommonSpec: v1alpha1.CommonSpec{ProviderRef: v1alpha1.ProviderReference{Name: "aws"}}, BucketName: "theirs"}}
	ours := &corev1.Namespace{ObjectMeta: marks("", "ours-"+ns)}
	ours.Labels["pod-security.kubernetes.io/enforce"] = "restricted"
	question := nexusv1.PlanRequestSpec{Objects: []nexusv1.PlannedObject{{Kind: "S3Bucket", Name: "theirs"}}}
	request := &nexusv1.PlanRequest{ObjectMeta: meta1(ns, "theirs"), Spec: question}
	h.make(theirs, policy, secret, bucket, ours, request)
	edit := func(o client.Object, change func(o client.Object)) error {
		was := o.DeepCopyObject().(client.Object)
		next := o.DeepCopyObject().(client.Object)
		change(next)
		return c.Patch(h.ctx(), next, client.MergeFrom(was))
	}
	marked := func(o client.Object) { o.SetLabels(map[string]string{"nexus.ai/capability-uid": "u"}) }
	level := func(v string) func(client.Object) {
		return func(o client.Object) { o.GetLabels()["pod-security.kubernetes.io/enforce"] = v }
	}
	for what, try := range map[string]func() error{
		"edit of a foreign Deployment": func() error {
			return edit(theirs, func(o client.Object) { o.(*appsv1.Deployment).Spec.Replicas = new(int32(3)) })
		},
		"marking of a foreign Deployment": func() error { return edit(theirs, marked) },
		"apply to a foreign Deployment": func() error {
			return c.Patch(h.ctx(), theirs.DeepCopy(),
				client.RawPatch(types.ApplyPatchType, []byte(`{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"annotations":{"note":"x"}}}`)),
				client.FieldOwner("nexus-operator"))
		},
		// Either would leave an entry of the operator in metadata.managedFields, which a child without any mark is known by.
		"apply to a foreign bucket": func() error {
			return c.Patch(h.ctx(), bucket.DeepCopy(), client.RawPatch(types.ApplyPatchType,
				[]byte(`{"apiVersion":"aws-infra-operator.runner.codes/v1alpha1","kind":"S3Bucket","metadata":{"annotations":{"note":"x"}}}`)),
				client.FieldOwner("nexus-operator"))
		},
		"edit of a foreign bucket whose status was applied": func() error {
			if err := c.Status().Patch(h.ctx(), bucket.DeepCopy(), client.RawPatch(types.ApplyPatchType,
				[]byte(`{"apiVersion":"aws-infra-operator.runner.codes/v1alpha1","kind":"S3Bucket","status":{"arn":"x"}}`)),
				client.FieldOwner("nexus-operator")); err != nil {
				h.Error(err)
			}
			return c.Patch(h.ctx(), bucket.DeepCopy(), client.RawPatch(types.MergePatchType, []byte(`{"spec":{"tags":{"a":"b"}}}`)))
		},
		"status of a foreign Deployment": func() error {
			return c.Status().Patch(h.ctx(), theirs.DeepCopy(), client.RawPatch(types.MergePatchType, []byte(`{"status":{"replicas":2}}`)))
		},
		"scale of a foreign Deployment": func() error {
			return c.SubResource("scale").Patch(h.ctx(), theirs, client.RawPatch("application/merge-patch+json", []byte(`{"spec":{"replicas":2}}`)))
		},
		"deletion of a foreign Deployment":    func() error { return c.Delete(h.ctx(), theirs) },
		"deletion of a foreign NetworkPolicy": func() error { return c.Delete(h.ctx(), policy) },
		"deletion of a collection": func() error {
			return c.DeleteAllOf(h.ctx(), &networkingv1.NetworkPolicy{}, client.InNamespace(ns))
		},
		"deletion of a foreign Namespace": func() error { return c.Delete(h.ctx(), &corev1.Namespace{ObjectMeta: meta1("", ns)}) },
		"Deployment without marks":        func() error { return c.Create(h.ctx(), deployment(meta1(ns, "new"))) },
		"Deployment with half of the marks": func() error {
			return c.Create(h.ctx(), deployment(metav1.ObjectMeta{Namespace: ns, Name: "new",
				Labels: map[string]string{"nexus.ai/capability-uid": "u"}}))
		},
		"Deployment in kube-system":      func() error { return c.Create(h.ctx(), deployment(marks("kube-system", "new"))) },
		"Deployment in kube-public":      func() error { return c.Create(h.ctx(), deployment(marks("kube-public", "new"))) },
		"Deployment in kube-node-lease":  func() error { return c.Create(h.ctx(), deployment(marks("kube-node-lease", "new"))) },
		"Deployment beside the operator": func() error { return c.Create(h.ctx(), deployment(marks(operator.Namespace, "new"))) },
		"DaemonSet": func() error {
			d := deployment(marks(ns, "new")).Spec
			return c.Create(h.ctx(), &appsv1.DaemonSet{ObjectMeta: marks(ns, "new"),
				Spec: appsv1.DaemonSetSpec{Selector: d.Selector, Template: d.Template}})
		},
		"Pod": func() error {
			return c.Create(h.ctx(), &corev1.Pod{ObjectMeta: marks(ns, "new"), Spec: deployment(metav1.ObjectMeta{}).Spec.Template.Spec})
		},
		"ClusterRole": func() error { return c.Create(h.ctx(), &rbacv1.ClusterRole{ObjectMeta: marks("", "new-"+ns)}) },
		"RoleBinding": func() error {
			return c.Create(h.ctx(), &rbacv1.RoleBinding{ObjectMeta: marks(ns, "new"),
				RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "view"}})
		},
		"Secret":                     func() error { return c.Create(h.ctx(), &corev1.Secret{ObjectMeta: marks(ns, "new")}) },
		"Secret beside the operator": func() error { return c.Create(h.ctx(), &corev1.Secret{ObjectMeta: marks(operator.Namespace, "new")}) },
		"signing key elsewhere": func() error {
			return c.Create(h.ctx(), &corev1.Secret{ObjectMeta: marks(ns, "nexus-operator-signing-key")})
		},
		"record of a deletion elsewhere": func() error {
			return c.Create(h.ctx(), &corev1.ConfigMap{ObjectMeta: meta1(ns, "nexus-operator-deleted-1")})
		},
		"ConfigMap beside the operator that is no record": func() error {
			return c.Create(h.ctx(), &corev1.ConfigMap{ObjectMeta: marks(operator.Namespace, "nexus-operator-settings")})
		},
		"value of a Secret": func() error {
			return edit(secret, func(o client.Object) { o.(*corev1.Secret).Data = map[string][]byte{"key": nil} })
		},
		"foreign finalizer of a Secret": func() error { return edit(secret, func(o client.Object) { o.SetFinalizers([]string{"a.example/b"}) }) },
		"foreign Lease": func() error {
			return c.Create(h.ctx(), &coordinationv1.Lease{ObjectMeta: meta1(operator.Namespace, "new")})
		},
		"Lease elsewhere": func() error {
			return c.Create(h.ctx(), &coordinationv1.Lease{ObjectMeta: meta1(ns, "nexus-operator.nexus.ai")})
		},
		"spec of a bucket that a person created": func() error {
			return edit(bucket, func(o client.Object) { o.(*v1alpha1.S3Bucket).Spec.ForceDestroy = true })
		},
		"marking of a bucket that a person created": func() error { return edit(bucket, marked) },
		"privileged pods in a namespace of ours":    func() error { return edit(ours, level("privileged")) },
		"no Pod Security level any more": func() error {
			return edit(ours, func(o client.Object) { o.SetLabels(map[string]string{"nexus.ai/capability-uid": "u"}) })
		},
		"privileged pods in a new namespace": func() error {
			n := &corev1.Namespace{ObjectMeta: marks("", "new-"+ns)}
			level("privileged")(n)
			return c.Create(h.ctx(), n)
		},
		"removal of every mark": func() error {
			return edit(ours, func(o client.Object) {
				o.SetLabels(map[string]string{"pod-security.kubernetes.io/enforce": "restricted"})
				o.SetAnnotations(nil)
			})
		},
		"PlanRequest": func() error {
			return c.Create(h.ctx(), &nexusv1.PlanRequest{ObjectMeta: meta1(ns, "new"), Spec: question})
		},
		"edit of a PlanRequest": func() error { return edit(request, marked) },
		"token of a ServiceAccount": func() error {
			return c.SubResource("token").Create(h.ctx(), &corev1.ServiceAccount{ObjectMeta: meta1("kube-system", "default")},
				&authenticationv1.TokenRequest{})
		},
	} {
		t.Run(strings.ReplaceAll(what, " ", "_"), func(t *testing.T) {
			if err := try(); !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "ValidatingAdmissionPolicy '"+operator.Policy+"'") {
				t.Errorf("got %v, want a refusal by the policy %s", err, operator.Policy)
			}
		})
	}
	if err := c.Delete(h.ctx(), request); err != nil {
		t.Errorf("a PlanRequest, which declares nothing, is not deleted: %v", err)
	}
}

// The operator heals edits by people, releases orphaned objects and takes them over again. The end of the test fails when
// the policy refused any of its requests.
func TestReach_AllowsHealingOrphansAndTakeovers(t *testing.T) {
	extent.Full(t)
	h := start(t)
	h.install(allEngines...)
	c := example("reach")
	c.Namespace, c.Spec.DataServices = "reach-dev", nil
	h.create(c)
	h.shows(c, "Ready", "True", "Ready")
	strip := func(o client.Object) {
		h.Helper()
		h.alter(o, func() {
			o.SetLabels(nil)
			o.SetAnnotations(map[string]string{"nexus.ai/owner": o.GetAnnotations()["nexus.ai/owner"]})
		})
	}
	provider := &v1alpha1.AWSProvider{ObjectMeta: meta1(c.Namespace, "reach-dev")}
	strip(provider)
	h.eventually("the label to be back", func() error { return h.labeled(provider, "nexus.ai/capability-uid") })

	ns := h.namespace(nil)
	intent := h.declared("dnsManipulation", intentv1alpha1.Block, nil)
	b := h.binds(ns, "web", app, intent)
	over := h.over("over-"+ns, intentv1alpha1.NamespaceSelector{MatchNames: []intentv1alpha1.NamespaceName{"*"}}, intent)
	h.make(b, over)
	h.shows(b, "Ready", "True", "Ready")
	h.shows(over, "Ready", "True", "Ready")
	nimbus := &intentv1alpha1.NimbusPolicyList{}
	if err := h.c.List(h.ctx(), nimbus, client.InNamespace(ns)); err != nil || len(nimbus.Items) == 0 {
		t.Fatal(err, len(nimbus.Items))
	}
	for i := range nimbus.Items {
		strip(&nimbus.Items[i])
		h.eventually("the label to be back", func() error { return h.labeled(&nimbus.Items[i], "intent.security.nimbus.com/owner-uid") })
	}
	h.remove(b, over)

	if err := h.c.Delete(h.ctx(), c, client.PropagationPolicy(metav1.DeletePropagationOrphan)); err != nil {
		t.Fatal(err)
	}
	h.gone(nexusv1.GroupVersion.WithKind("NexusAICapability"), c.Namespace, c.Name)
	left := &appsv1.DeploymentList{}
	if err := h.c.List(h.ctx(), left, client.InNamespace(c.Namespace)); err != nil || len(left.Items) == 0 ||
		left.Items[0].Annotations["nexus.ai/orphaned-from"] == "" {
		t.Fatalf("%v, %d Deployments are left", err, len(left.Items))
	}
	again := example("reach")
	again.Namespace, again.Spec.DataServices = c.Namespace, nil
	if err := h.c.Create(h.ctx(), again); err != nil {
		t.Fatal(err)
	}
	h.shows(again, "Ready", "True", "Ready")
	h.eventually("the Deployment to be taken over", func() error { return h.labeled(&left.Items[0], "nexus.ai/capability-uid") })
	h.remove(again)
}

func (h *home) labeled(o client.Object, label string) error {
	if err := h.c.Get(h.ctx(), client.ObjectKeyFromObject(o), o); err != nil {
		return err
	}
	if o.GetLabels()[label] == "" {
		return fmt.Errorf("%s has labels %v: %w", o.GetName(), o.GetLabels(), os.ErrNotExist)
	}
	return nil
}

// A capability in kube-system reports the refusal with its remedy, and can be deleted.
func TestReach_TellsOfARefusalAndHowToHelp(t *testing.T) {
	extent.Full(t)
	h := start(t)
	h.robbed = true
	c := example("kube-system")
	c.Spec.CapabilityName, c.Spec.DataServices = "astray", nil
	if err := h.c.Create(h.ctx(), c); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.c.Delete(context.Background(), c) })
	if m := h.shows(c, "Stalled", "True", "AccessDenied"); !strings.Contains(m, operator.Policy) ||
		!strings.Contains(m, "use another namespace") {
		t.Errorf("the message does not name the policy and the remedy: %s", m)
	}
	// The check at the end of every test reports such a refusal.
	if refused, err := operator.Refused(h.w, h.began); err != nil || !strings.Contains(strings.Join(refused, "\n"), operator.Policy) {
		t.Errorf("the refusal is not reported: %v, %q", err, refused)
	}
	h.remove(c)
}
