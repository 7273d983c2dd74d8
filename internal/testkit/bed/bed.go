// SPDX-License-Identifier: Apache-2.0

// Package bed is the base of a test of the whole operator: an empty AWS, its own namespaces, a running operator, and patient looks at
// objects.
package bed

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	intentv1alpha1 "github.com/nexus-operator/nexus-operator/api/intent/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/api/wellknown"
	"github.com/nexus-operator/nexus-operator/internal/emulator"
	"github.com/nexus-operator/nexus-operator/internal/testkit/kubeproxy"
	"github.com/nexus-operator/nexus-operator/internal/testkit/operator"
	"github.com/nexus-operator/nexus-operator/internal/testkit/world"
)

// Bed is a test's part of the shared world. Tests on it run one after the other: they share AWS.
type Bed struct {
	testing.TB
	World *world.World
	// Client has every right and reads the API server itself.
	Client client.WithWatch
	Op     *operator.Operator
	// Kube stands before the API server for the operator; nil when it goes straight.
	Kube *kubeproxy.Proxy
	// Namespace is the test's own.
	Namespace string
}

var serial atomic.Int64

// New empties AWS, makes a namespace and starts the operator.
func New(t testing.TB, flags ...string) *Bed {
	t.Helper()
	b := prepare(t)
	b.Op = operator.Start(t, b.World, operator.Options{Flags: flags})
	return b
}

// Proxied is New with the operator's calls to the API server led by a proxy, which a test may break.
func Proxied(t testing.TB, flags ...string) *Bed {
	t.Helper()
	b := prepare(t)
	config, err := operator.Config(b.World)
	if err != nil {
		t.Fatal(err)
	}
	if b.Kube, err = kubeproxy.Start(config); err != nil {
		t.Fatal(err)
	}
	b.Op = operator.Start(t, b.World, operator.Options{Flags: flags, Kube: b.Kube})
	return b
}

// Limited is New where AWS asks for rights, and the operator has those of the policies alone.
func Limited(t testing.TB, policies []string, flags ...string) *Bed {
	t.Helper()
	b := prepare(t)
	id, secret, err := b.World.AWS().CreateUser(t.Context(), "operator", policies...)
	if err != nil {
		t.Fatal(err)
	}
	b.World.AWS().EnforceIAM(true)
	b.Op = operator.Start(t, b.World,
		operator.Options{Flags: flags, Env: []string{"AWS_ACCESS_KEY_ID=" + id, "AWS_SECRET_ACCESS_KEY=" + secret}})
	return b
}

func prepare(t testing.TB) *Bed {
	t.Helper()
	b := Empty(t)
	b.Namespace = b.MakeNamespace(fmt.Sprintf("team-%d", serial.Add(1)))
	t.Cleanup(b.clean)
	return b
}

// Empty empties AWS, and starts and makes nothing.
func Empty(t testing.TB) *Bed {
	t.Helper()
	ctrl.SetLogger(logr.Discard()) // of the client of tests, which logs nothing
	w := world.Shared(t)
	if err := w.ResetAWS(t.Context()); err != nil {
		t.Fatal(err)
	}
	scheme := runtime.NewScheme()
	if err := errors.Join(clientgoscheme.AddToScheme(scheme), v1alpha1.AddToScheme(scheme), nexusv1.AddToScheme(scheme),
		intentv1alpha1.AddToScheme(scheme)); err != nil {
		t.Fatal(err)
	}
	c, err := client.NewWithWatch(w.Config(), client.Options{Scheme: scheme})
	if err != nil {
		t.Fatal(err)
	}
	return &Bed{TB: t, World: w, Client: c}
}

// For is the same bed for a subtest.
func (b *Bed) For(t testing.TB) *Bed {
	sub := *b
	sub.TB = t
	return &sub
}

// MakeNamespace makes a namespace unless it is there.
func (b *Bed) MakeNamespace(name string) string {
	b.Helper()
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
	if err := b.Client.Create(b.Ctx(), ns); err != nil && !apierrors.IsAlreadyExists(err) {
		b.Fatal(err)
	}
	return name
}

// Ctx outlives the test's own context, for the cleanup.
func (b *Bed) Ctx() context.Context { return context.WithoutCancel(b.Context()) }

// Lists are empty lists of every kind of ours, dependants first.
func Lists() []client.ObjectList {
	return []client.ObjectList{&nexusv1.NexusAICapabilityList{}, &v1alpha1.S3BucketList{}, &v1alpha1.DynamoDBTableList{},
		&v1alpha1.IAMRoleList{}, &v1alpha1.GlueTableList{},
		&v1alpha1.GlueCrawlerList{}, &v1alpha1.GlueDatabaseList{}, &v1alpha1.SSMParameterSetList{}, &v1alpha1.SecretsManagerSecretList{},
		&v1alpha1.AWSProviderList{}}
}

// leftovers returns the objects that the test has left, AWSProviders last, which the others need.
func (b *Bed) leftovers() []*unstructured.Unstructured {
	var out, providers []*unstructured.Unstructured
	for _, group := range []string{nexusv1.GroupVersion.Group, v1alpha1.GroupVersion.Group} {
		found, err := world.CustomResources(b.Ctx(), b.World, group)
		if err != nil {
			b.Error(err)
		}
		for _, o := range found {
			if o.GetKind() == "AWSProvider" {
				providers = append(providers, o)
			} else {
				out = append(out, o)
			}
		}
	}
	return append(out, providers...)
}

// clean removes all objects that the test left, so that the next test finds none of them. Finalizers are cut: AWS is emptied anyway, and a
// failed test must not fail the next.
func (b *Bed) clean() {
	if b.Op != nil {
		if b.Failed() {
			b.Logf("what is not ready:\n%s", b.unready())
			b.Logf("operator log:\n%s", operator.Tail(b.Op.Log(), 6000))
			b.Logf("writes to AWS:\n%s", operator.Tail(b.writes(), 30000))
		}
		b.Op.Stop()
	}
	b.World.AWS().ClearFaults()
	if b.Kube != nil {
		_ = b.Kube.Close()
	}
	for _, o := range b.leftovers() {
		_ = b.Client.Delete(b.Ctx(), o)
		_ = b.Client.Patch(b.Ctx(), o, client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"finalizers":null}}`)))
	}
	b.forgetDeletions()
}

// forgetDeletions removes the operator's records of deleted capabilities.
func (b *Bed) forgetDeletions() {
	records := &corev1.ConfigMapList{}
	if err := b.Client.List(b.Ctx(), records, client.InNamespace(operator.Namespace)); err != nil {
		b.Error(err)
	}
	for i := range records.Items {
		if o := &records.Items[i]; o.Annotations[wellknown.AnnotationCapability] != "" {
			_ = b.Client.Delete(b.Ctx(), o)
		}
	}
}

// writes lists the calls that changed AWS, without their bodies, which may hold secrets.
func (b *Bed) writes() string {
	var lines strings.Builder
	for _, c := range b.World.AWS().Calls().Writes() {
		fmt.Fprintln(&lines, c.Start.Format("15:04:05.000"), c.Duration.Round(time.Millisecond), c.Label(), c.Status, c.Error, c.Fault,
			c.AccessKey)
	}
	return lines.String()
}

// Restart stops the operator, which may be dead, and starts it again.
func (b *Bed) Restart(flags ...string) {
	b.Helper()
	b.Op = b.Op.Restart(flags...)
}

// Create makes objects, in the bed's namespace when they name none.
func (b *Bed) Create(objs ...client.Object) {
	b.Helper()
	for _, o := range objs {
		if o.GetNamespace() == "" {
			o.SetNamespace(b.Namespace)
		}
		if err := b.Client.Create(b.Ctx(), o); err != nil {
			b.Fatalf("creating %T %s: %v", o, o.GetName(), err)
		}
	}
}

// Get reads an object anew.
func (b *Bed) Get(o client.Object) error {
	return b.Client.Get(b.Ctx(), client.ObjectKeyFromObject(o), o)
}

// Condition reads an object anew and returns a condition of it.
func (b *Bed) Condition(o client.Object, kind string) (metav1.Condition, error) {
	if err := b.Get(o); err != nil {
		return metav1.Condition{}, err
	}
	for _, c := range ConditionsOf(o) {
		if c.Type == kind {
			return c, nil
		}
	}
	return metav1.Condition{}, fmt.Errorf("no condition %s", kind)
}

// ConditionsOf returns the conditions of any object of ours.
func ConditionsOf(o client.Object) []metav1.Condition {
	switch o := o.(type) {
	case v1alpha1.Resource:
		return o.CommonStatus().Conditions
	case *v1alpha1.AWSProvider:
		return o.Status.Conditions
	case *nexusv1.NexusAICapability:
		return o.Status.Conditions
	case *nexusv1.PlanRequest:
		return o.Status.Conditions
	case *unstructured.Unstructured:
		var read struct {
			Status v1alpha1.CommonStatus `json:"status"`
		}
		_ = runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, &read)
		return read.Status.Conditions
	default:
		return nil
	}
}

// Ready waits until objects are Ready at their generation.
func (b *Bed) Ready(objs ...client.Object) {
	b.Helper()
	for _, o := range objs {
		b.Until(o, patience, fmt.Sprintf("%T %s to be ready", o, o.GetName()), func() error {
			c, err := b.Condition(o, "Ready")
			if err == nil && (c.Status != metav1.ConditionTrue || c.ObservedGeneration != o.GetGeneration()) {
				err = fmt.Errorf("condition Ready=%s/%s %s", c.Status, c.Reason, c.Message)
			}
			return err
		})
	}
}

// Shows waits until a condition has a status and reason and a message with all parts, and returns the message. Counts in a message change
// in steps: where one event follows another, the parts belong here, and not in a check of the returned message.
func (b *Bed) Shows(o client.Object, kind string, s metav1.ConditionStatus, reason string, parts ...string) string {
	b.Helper()
	var message string
	b.Until(o, patience, fmt.Sprintf("%T %s to show %s=%s/%s", o, o.GetName(), kind, s, reason), func() error {
		c, err := b.Condition(o, kind)
		isMissing := func(part string) bool { return !strings.Contains(c.Message, part) }
		if err == nil && (c.Status != s || c.Reason != reason || slices.ContainsFunc(parts, isMissing)) {
			err = fmt.Errorf("%s=%s/%s %s", c.Type, c.Status, c.Reason, c.Message)
		}
		message = c.Message
		return err
	})
	return message
}

// Running waits until a capability is Running and tells how long it took.
func (b *Bed) Running(c *nexusv1.NexusAICapability) time.Duration {
	b.Helper()
	return b.RunningWithin(c, patience)
}

// RunningWithin is Running with a limit.
func (b *Bed) RunningWithin(c *nexusv1.NexusAICapability, limit time.Duration) time.Duration {
	b.Helper()
	start := time.Now()
	b.Until(c, limit, c.Name+" to be Running", func() error {
		if err := b.Get(c); err != nil {
			return err
		}
		st := c.Status
		if st.Phase != nexusv1.PhaseRunning || !st.Ready || st.ObservedGeneration != c.Generation {
			var waits []string
			for _, r := range st.Resources {
				if r.State != nexusv1.ResourceReady {
					waits = append(waits, r.Kind+"/"+r.Name+" "+string(r.State)+" "+r.Reason)
				}
			}
			return fmt.Errorf("phase %s, step %v, %s; %s", st.Phase, st.Step, st.Message, strings.Join(waits, ", "))
		}
		return nil
	})
	return time.Since(start)
}

// unready lists the resources of capabilities that are not Ready, and the pods that are not: a test that failed in a busy world has waited
// for them.
func (b *Bed) unready() string {
	var out strings.Builder
	all, pods := &nexusv1.NexusAICapabilityList{}, &corev1.PodList{}
	if err := errors.Join(b.Client.List(b.Ctx(), all), b.Client.List(b.Ctx(), pods)); err != nil {
		return err.Error()
	}
	for _, c := range all.Items {
		fmt.Fprintf(&out, "%s/%s %s: %s\n", c.Namespace, c.Name, c.Status.Phase, c.Status.Message)
		for _, r := range c.Status.Resources {
			if r.State != nexusv1.ResourceReady {
				fmt.Fprintf(&out, "  %s/%s %s %s\n", r.Kind, r.Name, r.State, r.Reason)
			}
		}
	}
	for _, p := range pods.Items {
		if !slices.ContainsFunc(p.Status.Conditions,
			func(c corev1.PodCondition) bool { return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue }) {
			fmt.Fprintf(&out, "pod %s/%s of %s on %q: %s, deleted %v, conditions %+v\n", p.Namespace, p.Name, p.CreationTimestamp, p.Spec.NodeName,
				p.Status.Phase, p.DeletionTimestamp, p.Status.Conditions)
		}
	}
	return out.String()
}

// Remove deletes objects and waits until they are gone. An operator may make the next one of the same name at once.
func (b *Bed) Remove(objs ...client.Object) {
	b.Helper()
	uids := make([]types.UID, len(objs))
	for i, o := range objs {
		if b.Get(o) == nil {
			uids[i] = o.GetUID()
		}
		if err := b.Client.Delete(b.Ctx(), o); client.IgnoreNotFound(err) != nil {
			b.Fatal(err)
		}
	}
	for i, o := range objs {
		b.gone(o, uids[i])
	}
}

// Gone waits until no object has this name.
func (b *Bed) Gone(o client.Object) {
	b.Helper()
	b.gone(o, "")
}

// gone waits until an object is gone, or, when a UID is given, until the object that has it is.
func (b *Bed) gone(o client.Object, uid types.UID) {
	b.Helper()
	b.Until(o, patience, fmt.Sprintf("%T %s to be gone", o, o.GetName()), func() error {
		err := b.Get(o)
		if apierrors.IsNotFound(err) || (err == nil && uid != "" && o.GetUID() != uid) {
			return nil
		}
		if err == nil {
			err = fmt.Errorf("still there: %+v", ConditionsOf(o))
		}
		return err
	})
}

// Inventory lists the resources in AWS, by kind; it leaves out kinds without resources. So are secrets in their recovery window, which is
// how Secrets Manager deletes.
func (b *Bed) Inventory() map[string][]string {
	b.Helper()
	inv, err := b.World.AWS().Inventory(b.Ctx())
	if err != nil {
		b.Fatal(err)
	}
	for k, v := range inv {
		inv[k] = slices.DeleteFunc(v, func(name string) bool {
			return strings.HasSuffix(name, "(scheduled for deletion)") || strings.HasSuffix(name, strings.TrimPrefix(b.World.Issuer(), "https://"))
		})
		if len(inv[k]) == 0 {
			delete(inv, k)
		}
	}
	return inv
}

// Edit changes an object's spec as a user would, again when another write came in between.
func (b *Bed) Edit(o client.Object, change func()) {
	b.Helper()
	b.Eventually(10*time.Second, "editing "+o.GetName(), func() error {
		if err := b.Get(o); err != nil {
			return err
		}
		change()
		return b.Client.Update(b.Ctx(), o)
	})
}

// File reads the manifests of a file below the repository's root, two folders above a test's.
func (b *Bed) File(path string) []*unstructured.Unstructured {
	b.Helper()
	objs, err := world.ReadManifests(filepath.Join("../..", path))
	if err != nil {
		b.Fatal(err)
	}
	return objs
}

// Capability reads one from a file of the repository and gives it its own namespace.
func (b *Bed) Capability(path string) *nexusv1.NexusAICapability {
	b.Helper()
	c := &nexusv1.NexusAICapability{}
	for _, o := range b.File(path) {
		if o.GetKind() == "NexusAICapability" {
			if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, c); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.MakeNamespace(c.Namespace)
	return c
}

// Mark is the present end of the ledger of AWS calls and of the audit log.
func (b *Bed) Mark() (emulator.Mark, world.AuditMark) {
	b.Helper()
	m, err := b.World.Audit().Mark()
	if err != nil {
		b.Fatal(err)
	}
	return b.World.AWS().Mark(), m
}

// KubeWrites are the operator's writes to the API server since a mark, events left out.
func (b *Bed) KubeWrites(m world.AuditMark) []world.AuditEvent {
	b.Helper()
	all, err := b.World.Audit().Since(m, world.AuditFilter{UserAgent: "nexus-operator", Writes: true})
	if err != nil {
		b.Fatal(err)
	}
	return slices.DeleteFunc(all, func(e world.AuditEvent) bool { return e.Resource == "events" })
}

// Items returns the objects of a list.
func Items(l client.ObjectList) []client.Object {
	var out []client.Object
	_ = meta.EachListItem(l, func(o runtime.Object) error {
		out = append(out, o.(client.Object))
		return nil
	})
	return out
}
