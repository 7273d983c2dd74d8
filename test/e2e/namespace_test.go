// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/testkit/extent"
)

// apart is a small capability whose workloads live in another namespace than its own.
func (b *bed) apart(name string) (*nexusv1.NexusAICapability, *corev1.Namespace) {
	b.Helper()
	c := b.small(name + "-home")
	c.Spec.CapabilityName, c.Name = name, name
	return c, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name + "-dev"}}
}

func TestANamespaceIsMadeClaimedAndDeletedWithItsCapability(t *testing.T) {
	extent.Full(t)
	b := newBed(t)
	c, ns := b.apart("apart")
	b.Create(c)
	b.Running(c)
	if err := b.Get(ns); err != nil || ns.Labels["nexus.ai/capability-uid"] != string(c.UID) ||
		ns.Labels["pod-security.kubernetes.io/enforce"] != "restricted" {
		t.Fatalf("%v, labels %v", err, ns.Labels)
	}
	d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "apart-dev-backend", Namespace: ns.Name}}
	if err := b.Get(d); err != nil || d.Status.AvailableReplicas != 2 || len(d.OwnerReferences) > 0 {
		t.Errorf("%v, %d available, owners %v", err, d.Status.AvailableReplicas, d.OwnerReferences)
	}
	// Objects that are edited or deleted there are restored like those in the capability's namespace.
	if err := b.Client.Delete(b.Ctx(), d); err != nil {
		t.Fatal(err)
	}
	uid := d.UID
	b.Eventually(10*time.Second, "the Deployment to be made again", func() error {
		err := b.Get(d)
		if err == nil && d.UID == uid {
			err = fmt.Errorf("still the old one")
		}
		return err
	})
	b.Running(c)
	b.Remove(c)
	b.Gone(ns)
	if inv := b.Inventory(); len(inv) > 0 {
		t.Errorf("left behind: %v", inv)
	}
}

func TestAForeignNamespaceIsAConflictAndNothingIsMadeByHalves(t *testing.T) {
	b := newBed(t)
	c, ns := b.apart("taken")
	b.Create(ns)
	b.Create(c)
	message := b.Shows(c, "Stalled", metav1.ConditionTrue, "Conflict")
	if !strings.Contains(message, "taken-dev") {
		t.Errorf("the message does not name the namespace: %s", message)
	}
	if c.Status.Phase != nexusv1.PhaseFailed {
		t.Errorf("phase %s, want Failed", c.Status.Phase)
	}
	b.Passes("nexusaicapability", 1, func() {}) // the next retry
	if inv := b.Inventory(); len(inv) > 0 {
		t.Errorf("made in AWS though the namespace is foreign: %v", inv)
	}
	if there := b.children(ns.Name); len(there) > 0 {
		t.Errorf("made in the foreign namespace: %T %s", there[0], there[0].GetName())
	}
	if err := b.Get(ns); err != nil || len(ns.Labels) > 1 || len(ns.Annotations) > 0 { // kubernetes.io/metadata.name is the cluster's
		t.Errorf("the foreign namespace was written: %v %v %v", err, ns.Labels, ns.Annotations)
	}
	b.Remove(ns) // its owner gives it up
	b.Running(c)
	b.Remove(c)
	b.Gone(ns)
}

func TestGuestsKeepTheNamespace(t *testing.T) {
	extent.Full(t)
	meta := metav1.ObjectMeta{Name: "guest"}
	job := batchv1.CronJobSpec{Schedule: "0 3 * * *", Suspend: new(true)}
	job.JobTemplate.Spec.Template.Spec = corev1.PodSpec{RestartPolicy: corev1.RestartPolicyNever,
		Containers: []corev1.Container{{Name: "c", Image: "c"}}}
	for name, guest := range map[string]client.Object{
		"settings": &corev1.ConfigMap{ObjectMeta: meta},
		"jobs":     &batchv1.CronJob{ObjectMeta: meta, Spec: job},
	} {
		t.Run(name, func(t *testing.T) { hosts(t, name, guest) })
	}
}

// A tenant deletes a capability in whose namespace another tenant came to live.
func TestAttack_NamespaceOfAnotherTenantStays(t *testing.T) {
	extent.Full(t)
	b := newBed(t)
	c, ns := b.apart("shared")
	b.Create(c)
	b.Running(c)
	mallory, alice := b.Tenant(c.Namespace), b.Tenant(ns.Name)
	p := provider("aws")
	p.Namespace = ns.Name
	b.Create(p)
	queue := &v1alpha1.SQSQueue{ObjectMeta: metav1.ObjectMeta{Namespace: ns.Name, Name: "orders"},
		Spec: v1alpha1.SQSQueueSpec{CommonSpec: through("aws"), QueueName: "orders"}}
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: ns.Name, Name: "token"}}
	for _, o := range []client.Object{queue, secret} {
		if err := alice.Create(b.Ctx(), o); err != nil {
			t.Fatal(err)
		}
	}
	if err := mallory.Delete(b.Ctx(), c); err != nil {
		t.Fatal(err)
	}
	b.Gone(c)
	for _, o := range []client.Object{ns, queue, secret} {
		if err := b.Get(o); err != nil || o.GetDeletionTimestamp() != nil {
			t.Errorf("%T %s: %v, deletion %v", o, o.GetName(), err, o.GetDeletionTimestamp())
		}
	}
}

// A Secret alone, which the operator may not list, keeps the namespace; its content is never asked for.
func TestAttack_NamespaceWithOneSecretStays(t *testing.T) {
	extent.Full(t)
	hosts(t, "secret", &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "guest"}})
}

func hosts(t *testing.T, name string, guest client.Object) {
	b := newBed(t)
	c, ns := b.apart("hosting-" + name)
	b.Create(c)
	b.Running(c)
	guest.SetNamespace(ns.Name)
	b.Create(guest)
	b.Remove(c)
	if err := b.Get(guest); err != nil {
		t.Fatalf("the guest is gone: %v", err)
	}
	if err := b.Get(ns); err != nil || ns.DeletionTimestamp != nil || ns.Labels["nexus.ai/capability-uid"] != "" {
		t.Errorf("%v, deletion %v, labels %v", err, ns.DeletionTimestamp, ns.Labels)
	}
	for _, o := range b.children(ns.Name) {
		t.Errorf("%T %s is left", o, o.GetName())
	}
	if inv := b.Inventory(); len(inv) > 0 {
		t.Errorf("left behind: %v", inv)
	}
	if err := b.Client.Delete(b.Ctx(), ns); err != nil {
		t.Fatal(err)
	}
}

func TestNamespacesOfTheClusterAreNeverUsed(t *testing.T) {
	extent.Full(t)
	b := newBed(t)
	c, _ := b.apart("kube")
	if err := b.Client.Create(b.Ctx(), c); err == nil || !strings.Contains(err.Error(), "spec.capabilityName") {
		t.Errorf("want a refusal that names the field, got %v", err)
	}
}
