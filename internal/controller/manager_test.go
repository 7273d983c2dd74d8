// SPDX-License-Identifier: Apache-2.0

package controller_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"
	"sigs.k8s.io/yaml"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	intentv1alpha1 "github.com/nexus-operator/nexus-operator/api/intent/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/api/wellknown"
	"github.com/nexus-operator/nexus-operator/internal/catalog"
	"github.com/nexus-operator/nexus-operator/internal/controller"
	"github.com/nexus-operator/nexus-operator/internal/emulator"
	"github.com/nexus-operator/nexus-operator/internal/options"
	"github.com/nexus-operator/nexus-operator/internal/testkit/extent"
	"github.com/nexus-operator/nexus-operator/internal/testkit/operator"
	"github.com/nexus-operator/nexus-operator/internal/testkit/world"
)

func TestMain(m *testing.M) {
	ctrl.SetLogger(logr.Discard())
	// The plugin refuses an owner reference to those who may not update the owner's finalizers; some clusters
	// run it.
	world.Main(m, world.Options{CRDs: []string{"../../config/crd/bases"},
		APIServerArgs: []string{"--enable-admission-plugins=OwnerReferencesPermissionEnforcement"}})
}

// home is a running manager in this process, so that the race detector and the coverage see it. It has the
// rights that the operator ships with; the test's own client has every right.
type home struct {
	*testing.T
	w *world.World
	c client.Client
	// began is the length of the audit log before the start.
	began int64
	// robbed says that the test takes rights away.
	robbed bool
	// stop ends the operator, and is done at the end of the test.
	stop func()
	// earlier counts the work of the controllers of earlier tests in this process.
	earlier operator.Activity
}

// start runs the operator for tests with capabilities that may do without a provider and have namespaces made for them. An administrator
// has to allow both.
func start(t *testing.T, flags ...string) *home {
	t.Helper()
	return startBare(t, append([]string{"--capability-namespaces=*", "--workload-namespaces=*"}, flags...)...)
}

// startBare runs the operator with the default rights of tenants.
func startBare(t *testing.T, flags ...string) *home {
	t.Helper()
	if err := world.Shared(t).ResetAWS(t.Context()); err != nil {
		t.Fatal(err)
	}
	return startOn(t, flags...)
}

// startOn runs the operator on the objects of an earlier one of the test.
func startOn(t *testing.T, flags ...string) *home {
	t.Helper()
	w := world.Shared(t)
	for k, v := range map[string]string{"AWS_ENDPOINT_URL": w.AWS().URL(), "AWS_REGION": "ap-southeast-1",
		"AWS_ACCESS_KEY_ID": "AKIAIOSFODNN7EXAMPLE", "AWS_SECRET_ACCESS_KEY": "secret"} {
		t.Setenv(k, v)
	}
	args := append([]string{"--leader-elect=false", "--metrics-bind-address=0", "--health-probe-bind-address=0", "--kube-api-qps=500",
		"--stalled-interval=1s", "--retry-first=50ms", "--retry-most=1s", "--aws-rates=ssm.PutParameter=100/200"}, flags...)
	o, err := options.Parse(args, os.Getenv)
	if err != nil {
		t.Fatal(err)
	}
	cfg, err := operator.Config(w)
	if err != nil {
		t.Fatal(err)
	}
	h := &home{T: t, w: w, began: operator.AuditEnd(w), earlier: activity(t)}
	t.Cleanup(h.hasEveryRight)
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	mgr, err := controller.New(ctx, cfg, o, controller.Contents{Kinds: catalog.Kinds(), Engines: catalog.Engines()}, logr.Discard())
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- mgr.Start(ctx) }()
	h.stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("the manager ended with %v", err)
		}
	})
	t.Cleanup(h.stop)
	t.Cleanup(h.explains)
	h.connect()
	return h
}

// connect makes the test's own client.
func (h *home) connect() {
	h.Helper()
	scheme := runtime.NewScheme()
	if err := errors.Join(clientgoscheme.AddToScheme(scheme), v1alpha1.AddToScheme(scheme), nexusv1.AddToScheme(scheme),
		intentv1alpha1.AddToScheme(scheme), apiextensionsv1.AddToScheme(scheme)); err != nil {
		h.Fatal(err)
	}
	var err error
	if h.c, err = client.New(h.w.Config(), client.Options{Scheme: scheme}); err != nil {
		h.Fatal(err)
	}
}

// hasEveryRight fails the test when the API server refused something to the operator. Secrets are left out:
// where it has no right to them is for administrators to say.
func (h *home) hasEveryRight() {
	refused, err := operator.Refused(h.w, h.began)
	refused = slices.DeleteFunc(refused, func(r string) bool { return strings.Contains(r, " secrets ") })
	if err != nil || len(refused) > 0 && !h.robbed {
		h.Errorf("the operator lacks rights (%v):\n%s", err, strings.Join(refused, "\n"))
	}
}

func (h *home) ctx() context.Context { return context.WithoutCancel(h.Context()) }

func (h *home) create(objs ...client.Object) {
	h.Helper()
	for _, o := range objs {
		ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: o.GetNamespace()}}
		if err := h.c.Create(h.ctx(), ns); err != nil && !apierrors.IsAlreadyExists(err) {
			h.Fatal(err)
		}
		if err := h.c.Create(h.ctx(), o); err != nil {
			h.Fatal(err)
		}
	}
}

// activity reads the metrics of every manager of this process.
func activity(t *testing.T) operator.Activity {
	t.Helper()
	families, err := ctrlmetrics.Registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	return operator.ActivityOf(families)
}

// quiet waits until the operator has reconciled every request that is due, and no more come within a fifth of a second.
func (h *home) quiet() {
	h.Helper()
	var last operator.Activity
	var since time.Time
	h.eventually("the operator to be quiet", func() error {
		now := activity(h.T).Since(h.earlier)
		if busy := now.Busy(); busy != "" {
			since = time.Time{}
			return errors.New(busy)
		}
		if since.IsZero() || !maps.Equal(now.Queued, last.Queued) {
			last, since = now, time.Now()
		}
		if time.Since(since) < 200*time.Millisecond {
			return errors.New("more may come")
		}
		return nil
	})
}

// passes does something while the operator is quiet, and waits until a controller has reconciled so many requests after it and the
// operator is quiet again.
func (h *home) passes(controller string, n int, do func()) {
	h.Helper()
	h.quiet()
	before := activity(h.T)
	do()
	h.eventually(fmt.Sprintf("%d reconciliations of %s", n, controller), func() error {
		if done := activity(h.T).Since(before).Reconciled[controller]; done < n {
			return fmt.Errorf("%d of %d", done, n)
		}
		return nil
	})
	h.quiet()
}

// touch gives a namespace a label that nothing selects.
func (h *home) touch(ns string) {
	h.Helper()
	of := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: ns}}
	h.alter(of, func() { of.Labels["looked-at"] = "again" })
}

func (h *home) eventually(what string, check func() error) {
	h.Helper()
	var err error
	for deadline := time.Now().Add(90 * time.Second); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		if err = check(); err == nil {
			return
		}
	}
	h.Fatalf("%s: %v", what, err)
}

// explains logs, once a test has failed, the conditions that capabilities and providers wait for.
func (h *home) explains() {
	if !h.Failed() || h.c == nil {
		return
	}
	for _, l := range []client.ObjectList{&nexusv1.NexusAICapabilityList{}, &v1alpha1.AWSProviderList{}} {
		if err := h.c.List(h.ctx(), l); err != nil {
			h.Log(err)
			continue
		}
		_ = meta.EachListItem(l, func(o runtime.Object) error { // no item is refused
			text, err := yaml.Marshal(o)
			h.Logf("%T: %v\n%s", o, err, text)
			return nil
		})
	}
}

// shows waits for a condition of any object.
func (h *home) shows(o client.Object, kind, state, reason string) string {
	h.Helper()
	var message string
	h.eventually(fmt.Sprintf("%s to show %s=%s/%s", o.GetName(), kind, state, reason), func() error {
		gvk, err := h.c.GroupVersionKindFor(o)
		if err != nil {
			return err
		}
		u := &unstructured.Unstructured{}
		u.SetGroupVersionKind(gvk)
		if err := h.c.Get(h.ctx(), client.ObjectKeyFromObject(o), u); err != nil {
			return err
		}
		list, _, _ := unstructured.NestedSlice(u.Object, "status", "conditions")
		for _, item := range list {
			c := item.(map[string]any)
			if c["type"] == kind && c["status"] == state && c["reason"] == reason && c["observedGeneration"] == u.GetGeneration() {
				message, _ = c["message"].(string)
				return nil
			}
		}
		return fmt.Errorf("%v", list)
	})
	return message
}

func (h *home) remove(objs ...client.Object) {
	h.Helper()
	for _, o := range objs {
		if err := h.c.Delete(h.ctx(), o); client.IgnoreNotFound(err) != nil {
			h.Fatal(err)
		}
	}
	for _, o := range objs {
		h.eventually(o.GetName()+" to be gone", func() error {
			err := h.c.Get(h.ctx(), client.ObjectKeyFromObject(o), o)
			if apierrors.IsNotFound(err) {
				return nil
			}
			if r, ok := o.(v1alpha1.Resource); ok {
				return fmt.Errorf("still there (%v): %+v", err, r.CommonStatus().Conditions)
			}
			if c, ok := o.(*nexusv1.NexusAICapability); ok {
				return fmt.Errorf("still there (%v): %s", err, c.Status.Message)
			}
			return fmt.Errorf("still there (%v)", err)
		})
	}
}

func (h *home) left() string {
	h.Helper()
	inv, err := h.w.AWS().Inventory(h.ctx())
	if err != nil {
		h.Fatal(err)
	}
	var out []string
	for kind, names := range inv {
		for _, n := range names {
			if !strings.HasSuffix(n, "(scheduled for deletion)") && !strings.HasSuffix(n, strings.TrimPrefix(h.w.Issuer(), "https://")) {
				out = append(out, kind+" "+n)
			}
		}
	}
	return strings.Join(out, ", ")
}

func example(namespace string) *nexusv1.NexusAICapability {
	return &nexusv1.NexusAICapability{
		ObjectMeta: metav1.ObjectMeta{Name: "app", Namespace: namespace},
		Spec: nexusv1.NexusAICapabilitySpec{
			CapabilityName: namespace, Version: "1", Environment: "dev",
			Frontend:     nexusv1.FrontendSpec{ComponentSpec: nexusv1.ComponentSpec{Image: "front:1"}},
			Backend:      nexusv1.BackendSpec{ComponentSpec: nexusv1.ComponentSpec{Image: "back:1"}},
			DataServices: &nexusv1.DataServicesSpec{DynamoDB: &nexusv1.DynamoDBSpec{}, S3: &nexusv1.S3Spec{}, Glue: &nexusv1.GlueSpec{}},
		},
	}
}

func TestACapabilityLivesInAnotherNamespaceThanItsWorkloads(t *testing.T) {
	extent.Full(t)
	h := start(t)
	c := example("elsewhere")
	h.create(c)
	h.shows(c, "Ready", "True", "Ready")
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "elsewhere-dev"}}
	if err := h.c.Get(h.ctx(), client.ObjectKeyFromObject(ns), ns); err != nil || ns.Labels["nexus.ai/capability-uid"] != string(c.UID) {
		t.Errorf("the workloads' namespace: %v %v", err, ns.Labels)
	}

	// A data service that is switched off is deleted, with everything that it made.
	h.eventually("an edit", func() error {
		if err := h.c.Get(h.ctx(), client.ObjectKeyFromObject(c), c); err != nil {
			return err
		}
		c.Spec.DataServices.Glue = nil
		return h.c.Update(h.ctx(), c)
	})
	h.eventually("Glue to be gone", func() error {
		if s := h.left(); strings.Contains(s, "glue") {
			return errors.New(s)
		}
		return nil
	})
	h.shows(c, "Ready", "True", "Ready")
	h.remove(c)
	if s := h.left(); s != "" {
		t.Errorf("left in AWS: %s", s)
	}
	h.eventually("the namespace to go", func() error {
		if err := h.c.Get(h.ctx(), client.ObjectKeyFromObject(ns), ns); !apierrors.IsNotFound(err) {
			return fmt.Errorf("still there (%v)", err)
		}
		return nil
	})
}

func TestAForeignNamespaceIsNeverUsed(t *testing.T) {
	extent.Full(t)
	h := start(t)
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "taken-dev"}}
	if err := h.c.Create(h.ctx(), ns); err != nil {
		t.Fatal(err)
	}
	c := example("taken")
	h.create(c)
	if m := h.shows(c, "Stalled", "True", "Conflict"); !strings.Contains(m, "taken-dev") {
		t.Errorf("the message does not name the namespace: %s", m)
	}
	h.remove(c)
	if err := h.c.Get(h.ctx(), client.ObjectKeyFromObject(ns), ns); err != nil || ns.DeletionTimestamp != nil {
		t.Errorf("the foreign namespace was touched: %v", err)
	}
}

func TestCredentialsAreReadWhereTheyAreGivenAndRotateAtOnce(t *testing.T) {
	extent.Full(t)
	h := start(t)
	p := &v1alpha1.AWSProvider{ObjectMeta: metav1.ObjectMeta{Name: "keys", Namespace: "rotation"},
		Spec: v1alpha1.AWSProviderSpec{Region: "ap-southeast-1",
			AccessKeyIDRef:     &v1alpha1.SecretKeyReference{Name: "keys", Key: "id"},
			SecretAccessKeyRef: &v1alpha1.SecretKeyReference{Name: "keys", Key: "secret"}}}
	h.create(p)
	h.shows(p, "Stalled", "True", "CredentialsMissing")
	s := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "keys", Namespace: "rotation"},
		StringData: map[string]string{"id": "AKIAFIRST", "secret": "one"}}
	h.create(s)
	h.shows(p, "Ready", "True", "Authenticated")
	b := &v1alpha1.S3Bucket{ObjectMeta: metav1.ObjectMeta{Name: "rotated", Namespace: "rotation"}, Spec: v1alpha1.S3BucketSpec{
		CommonSpec: v1alpha1.CommonSpec{ProviderRef: v1alpha1.ProviderReference{Name: "keys"}}, BucketName: "rotated"}}
	h.create(b)
	h.shows(b, "Ready", "True", "Ready")
	mark := h.w.AWS().Mark()
	if err := h.c.Patch(h.ctx(), s,
		client.RawPatch("application/merge-patch+json", []byte(`{"stringData":{"id":"AKIASECOND","secret":"two"}}`))); err != nil {
		t.Fatal(err)
	}
	changed := time.Now()
	h.eventually("the new key to be used", func() error {
		used := h.w.AWS().Since(mark).Filter(func(c emulator.Call) bool { return c.AccessKey == "AKIASECOND" })
		if used.Count() == 0 {
			return fmt.Errorf("%s", h.w.AWS().Since(mark))
		}
		return nil
	})
	if took := time.Since(changed); took > time.Minute {
		t.Errorf("the new key was used after %s, by the next check in place of the watch", took)
	}
	h.remove(b, p)
}

func TestAPausedObjectIsLeftAloneAndGoesOnAfterwards(t *testing.T) {
	h := start(t, "--ambient-namespaces=*", "--check-interval=1s")
	p := &v1alpha1.AWSProvider{ObjectMeta: metav1.ObjectMeta{Name: "aws", Namespace: "pause"},
		Spec: v1alpha1.AWSProviderSpec{Region: "ap-southeast-1"}}
	b := &v1alpha1.S3Bucket{ObjectMeta: metav1.ObjectMeta{Name: "paused-bucket", Namespace: "pause",
		Annotations: map[string]string{wellknown.AnnotationPaused: "true"}},
		Spec: v1alpha1.S3BucketSpec{CommonSpec: v1alpha1.CommonSpec{ProviderRef: v1alpha1.ProviderReference{Name: "aws"}},
			BucketName: "paused-bucket"}}
	h.create(p, b)
	h.shows(b, "Paused", "True", "Paused")
	if s := h.left(); s != "" {
		t.Errorf("made though paused: %s", s)
	}
	patch := func(annotations string) {
		t.Helper()
		if err := h.c.Patch(h.ctx(), b,
			client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"annotations":`+annotations+`}}`))); err != nil {
			t.Fatal(err)
		}
	}
	patch(`{"nexus.ai/paused":null}`)
	h.shows(b, "Ready", "True", "Ready")
	patch(`{"nexus.ai/reconcile-requested-at":"now"}`)
	h.eventually("the request to be answered", func() error {
		if err := h.c.Get(h.ctx(), client.ObjectKeyFromObject(b), b); err != nil {
			return err
		}
		if b.Status.LastHandledReconcileAt != "now" {
			return fmt.Errorf("lastHandledReconcileAt is %q", b.Status.LastHandledReconcileAt)
		}
		return nil
	})
	// One that is longer than a status may repeat does not keep the status from being written.
	patch(`{"nexus.ai/reconcile-requested-at":"` + strings.Repeat("long", 40) + `"}`)
	h.eventually("the long request to be answered", func() error {
		if err := h.c.Get(h.ctx(), client.ObjectKeyFromObject(b), b); err != nil ||
			!strings.HasPrefix(b.Status.LastHandledReconcileAt, "longlong") {
			return fmt.Errorf("%v: lastHandledReconcileAt is %q", err, b.Status.LastHandledReconcileAt)
		}
		return nil
	})
	h.remove(b, p)
}

func TestAProviderAtRestIsAskedAgainOnRequest(t *testing.T) {
	extent.Full(t)
	h := start(t, "--ambient-namespaces=*", "--check-interval=1000h")
	p := &v1alpha1.AWSProvider{ObjectMeta: metav1.ObjectMeta{Name: "aws", Namespace: "asking"},
		Spec: v1alpha1.AWSProviderSpec{Region: "ap-southeast-1"}}
	h.create(p)
	h.shows(p, "Ready", "True", "Authenticated")
	asked := func() int { return h.w.AWS().Calls().Match("sts", "GetCallerIdentity", "*").Count() }
	before := asked()
	h.alter(p, func() { p.Annotations = map[string]string{wellknown.AnnotationReconcileAt: "now"} })
	h.eventually("the request to be answered", func() error {
		if err := h.c.Get(h.ctx(), client.ObjectKeyFromObject(p), p); err != nil || p.Status.LastHandledReconcileAt != "now" {
			return fmt.Errorf("%v: lastHandledReconcileAt is %q", err, p.Status.LastHandledReconcileAt)
		}
		return nil
	})
	if n := asked() - before; n != 1 {
		t.Errorf("STS was asked %d times", n)
	}
	h.remove(p)
}

func TestSettingsOfKindsThatThereAreNotAreRefused(t *testing.T) {
	extent.Full(t)
	w := world.Shared(t)
	for flag, want := range map[string]string{"--kind-workers=S3Bukket=2": "--kind-workers",
		"--kind-check-interval=NexusAICapability=1m": "--kind-check-interval", "--adapters=kubearmour": "--adapters",
		"--kinds=*,-S3Bukket": "SSMParameterSet"} {
		o, err := options.Parse([]string{flag}, func(string) string { return "" })
		if err != nil {
			t.Fatal(err)
		}
		_, err = controller.New(t.Context(), w.Config(), o, controller.Contents{Kinds: catalog.Kinds(), Engines: catalog.Engines()},
			logr.Discard())
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "is not one of") {
			t.Errorf("%s: %v", flag, err)
		}
	}
}

func TestReferencesAreWaitedFor(t *testing.T) {
	h := start(t, "--ambient-namespaces=*")
	common := v1alpha1.CommonSpec{ProviderRef: v1alpha1.ProviderReference{Name: "aws"}}
	table := &v1alpha1.GlueTable{ObjectMeta: metav1.ObjectMeta{Name: "calls", Namespace: "refs"},
		Spec: v1alpha1.GlueTableSpec{CommonSpec: common, TableName: "calls", DatabaseRef: &v1alpha1.ObjectReference{Name: "db"}}}
	p := &v1alpha1.AWSProvider{ObjectMeta: metav1.ObjectMeta{Name: "aws", Namespace: "refs"},
		Spec: v1alpha1.AWSProviderSpec{Region: "ap-southeast-1"}}
	h.create(table)
	h.shows(table, "Ready", "False", "ProviderMissing")
	h.create(p)
	h.shows(table, "Ready", "False", "Waiting")
	db := &v1alpha1.GlueDatabase{ObjectMeta: metav1.ObjectMeta{Name: "db", Namespace: "refs"},
		Spec: v1alpha1.GlueDatabaseSpec{CommonSpec: common, DatabaseName: "refs_db"}}
	h.create(db)
	began := time.Now()
	h.shows(table, "Ready", "True", "Ready")
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("the table noticed its database after %s: by its watch it is at once", took)
	}
	// A reference needs the identifier of its target, and not that the target is ready.
	h.alter(db, func() { db.Spec.Parameters = map[string]v1alpha1.GlueParameter{"nexus.ai/reserved": "x"} })
	h.shows(db, "Ready", "False", "InvalidSpec")
	second := table.DeepCopy()
	second.ObjectMeta, second.Status, second.Spec.TableName = metav1.ObjectMeta{Name: "more", Namespace: "refs"},
		v1alpha1.GlueTableStatus{}, "more"
	h.create(second)
	h.shows(second, "Ready", "True", "Ready")
	// The database goes first: the table is found again by its record, not by its reference.
	if err := h.c.Delete(h.ctx(), db); err != nil {
		t.Fatal(err)
	}
	h.remove(table, second, db, p)
	if s := h.left(); s != "" {
		t.Errorf("left in AWS: %s", s)
	}
}

func TestASickWorkloadShowsItsTroubleAndHeals(t *testing.T) {
	extent.Full(t)
	h := start(t)
	c := example("sick")
	c.Spec.DataServices = nil
	c.Spec.Backend.Image = "back:ImagePullBackOff"
	h.create(c)
	if m := h.shows(c, "Stalled", "True", "ImagePullBackOff"); !strings.Contains(m, "back:ImagePullBackOff") {
		t.Errorf("the message does not name the image: %s", m)
	}
	for _, image := range []string{"back:CrashLoopBackOff", "back:CreateContainerConfigError", "back:2"} {
		h.eventually("an edit", func() error {
			if err := h.c.Get(h.ctx(), client.ObjectKeyFromObject(c), c); err != nil {
				return err
			}
			c.Spec.Backend.Image = image
			return h.c.Update(h.ctx(), c)
		})
		switch image {
		case "back:CrashLoopBackOff":
			h.shows(c, "BackendReady", "False", "CrashLoopBackOff")
		case "back:CreateContainerConfigError":
			h.shows(c, "BackendReady", "False", "ImageRunsAsRoot")
		}
	}
	h.shows(c, "Ready", "True", "Ready")
	h.remove(c)
}

func TestAnAbandonedObjectGoesAndItsResourceStays(t *testing.T) {
	extent.Full(t)
	h := start(t, "--ambient-namespaces=*")
	p := &v1alpha1.AWSProvider{ObjectMeta: metav1.ObjectMeta{Name: "aws", Namespace: "abandon"},
		Spec: v1alpha1.AWSProviderSpec{Region: "ap-southeast-1"}}
	b := &v1alpha1.S3Bucket{ObjectMeta: metav1.ObjectMeta{Name: "abandoned", Namespace: "abandon"},
		Spec: v1alpha1.S3BucketSpec{CommonSpec: v1alpha1.CommonSpec{ProviderRef: v1alpha1.ProviderReference{Name: "aws"}},
			BucketName: "abandoned"}}
	h.create(p, b)
	h.shows(b, "Ready", "True", "Ready")
	rule := h.w.AWS().Fault(emulator.Match{Service: "s3"}, emulator.Fail(403, "AccessDenied", "no more"))
	if err := h.c.Delete(h.ctx(), b); err != nil {
		t.Fatal(err)
	}
	h.shows(b, "Stalled", "True", "AccessDenied")
	annotate := func(value string) {
		t.Helper()
		patch := fmt.Sprintf(`{"metadata":{"annotations":{"nexus.ai/abandon":%q}}}`, value)
		if err := h.c.Patch(h.ctx(), b, client.RawPatch("application/merge-patch+json", []byte(patch))); err != nil {
			t.Fatal(err)
		}
	}
	h.passes("s3bucket", 1, func() { annotate("another-uid") })
	if err := h.c.Get(h.ctx(), client.ObjectKeyFromObject(b), b); err != nil {
		t.Fatalf("another object's UID abandoned it: %v", err)
	}
	annotate(string(b.UID))
	h.remove(b)
	rule.Remove()
	if s := h.left(); !strings.Contains(s, "abandoned") {
		t.Errorf("the bucket is gone: %s", s)
	}
	h.remove(p)
}
